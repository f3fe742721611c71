/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package io.skade.ref;

import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;

/**
 * What may be the name of a ref: 1 to 255 characters, none of them a control character, no blank at either end.
 * Branches and tags share one name space; names are case-sensitive.
 */
public final class RefNames
{
    private static final int MAX_LENGTH = 255;

    private RefNames() {}

    /**
     * @throws RefRefusedException if {@code name} cannot be the name of a ref
     */
    public static void check(String name)
    {
        if (name.isEmpty()) {
            throw new RefRefusedException(INVALID_VALUE, "Invalid ref name: it is empty");
        }
        int length = name.codePointCount(0, name.length());
        if (length > MAX_LENGTH) {
            throw new RefRefusedException(INVALID_VALUE, "Invalid ref name: it has %s characters, at most %s are allowed: %s...", length, MAX_LENGTH, name.substring(0, 20));
        }
        if (name.codePoints().anyMatch(Character::isISOControl)) {
            throw new RefRefusedException(INVALID_VALUE, "Invalid ref name: it contains a control character: %s", printable(name));
        }
        if (isBlank(name.codePointAt(0)) || isBlank(name.codePointBefore(name.length()))) {
            throw new RefRefusedException(INVALID_VALUE, "Invalid ref name: it begins or ends with a blank: '%s'", name);
        }
        if (!isWellFormed(name)) {
            throw new RefRefusedException(INVALID_VALUE, "Invalid ref name: it is not well-formed Unicode");
        }
    }

    /**
     * Whether a name is Unicode, without half of a surrogate pair.
     */
    public static boolean isWellFormed(String name)
    {
        return name.codePoints().noneMatch(point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
    }

    private static boolean isBlank(int point)
    {
        return Character.isWhitespace(point) || Character.isSpaceChar(point);
    }

    private static String printable(String name)
    {
        StringBuilder result = new StringBuilder();
        name.codePoints().forEach(point -> {
            if (Character.isISOControl(point)) {
                result.append("\\u%04x".formatted(point));
            }
            else {
                result.appendCodePoint(point);
            }
        });
        return result.toString();
    }
}
