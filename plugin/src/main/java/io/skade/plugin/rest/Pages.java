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
package io.skade.plugin.rest;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * The protocol's way to ask for a long list in parts.
 */
final class Pages
{
    private Pages() {}

    /**
     * Whether only a part is asked for: a page size is given.
     *
     * @throws IllegalArgumentException if the page size or token is not a number
     */
    static boolean isPaged(String pageToken, String pageSize)
    {
        if (pageSize == null) {
            return false;
        }
        checkArgument(isNumber(pageSize) && Integer.parseInt(pageSize) > 0, "Invalid pageSize: %s", pageSize);
        checkArgument(pageToken == null || pageToken.isEmpty() || isNumber(pageToken), "Invalid pageToken: %s", pageToken);
        return true;
    }

    private static boolean isNumber(String value)
    {
        return value.matches("[0-9]{1,9}");
    }
}
