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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestRefNames
{
    @ParameterizedTest
    @ValueSource(strings = {"main", "a", "A", "feature/x", "v1.0", "a b", "@", "t$history", "'", "\"", "\\", "ä", "😀", "日本", "-", "..", "HEAD", "1", "null", "%", "a\u00a0b"})
    void testAllowed(String name)
    {
        RefNames.check(name);
    }

    @Test
    void testEmpty()
    {
        assertRefused("", "Invalid ref name: it is empty");
    }

    @Test
    void testLength()
    {
        RefNames.check("a".repeat(255));
        // characters, not the two halves of one
        RefNames.check("😀".repeat(255));
        assertRefused("a".repeat(256), "Invalid ref name: it has 256 characters, at most 255 are allowed: aaaaaaaaaaaaaaaaaaaa...");
        assertRefused("😀".repeat(256), "Invalid ref name: it has 256 characters, at most 255 are allowed: 😀😀😀😀😀😀😀😀😀😀...");
    }

    @Test
    void testControlCharacters()
    {
        assertRefused("a\nb", "Invalid ref name: it contains a control character: a\\u000ab");
        assertRefused("\u0000", "Invalid ref name: it contains a control character: \\u0000");
        assertRefused("a\u007f", "Invalid ref name: it contains a control character: a\\u007f");
        assertRefused("\u0085a", "Invalid ref name: it contains a control character: \\u0085a");
    }

    @ParameterizedTest
    @ValueSource(strings = {" a", "a ", " ", "\u00a0a", "a\u2003", "\u3000"})
    void testBlankAtAnEnd(String name)
    {
        assertRefused(name, "Invalid ref name: it begins or ends with a blank: '" + name + "'");
    }

    @Test
    void testHalfCharacters()
    {
        assertRefused("a\ud83d", "Invalid ref name: it is not well-formed Unicode");
        assertRefused("\ude00a", "Invalid ref name: it is not well-formed Unicode");
        assertRefused("\ude00\ud83d", "Invalid ref name: it is not well-formed Unicode");
    }

    private static void assertRefused(String name, String message)
    {
        assertThatThrownBy(() -> RefNames.check(name))
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(INVALID_VALUE))
                .hasMessage(message);
    }
}
