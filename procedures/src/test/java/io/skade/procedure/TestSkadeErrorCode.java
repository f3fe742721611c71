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
package io.skade.procedure;

import io.trino.spi.ErrorCode;
import org.junit.jupiter.api.Test;

import java.util.stream.Stream;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

class TestSkadeErrorCode
{
    @Test
    void testCodes()
    {
        assertThat(Stream.of(SkadeErrorCode.values())
                .map(SkadeErrorCode::toErrorCode)
                .map(TestSkadeErrorCode::describe)
                .collect(joining("\n", "", "\n")))
                .isEqualTo(
                        """
                        05340000 REF_NOT_FOUND USER_ERROR fatal
                        05340001 REF_ALREADY_EXISTS USER_ERROR fatal
                        05340002 REF_NOT_FAST_FORWARD USER_ERROR fatal
                        05340003 REF_NOT_ANCESTOR USER_ERROR fatal
                        05340004 REF_PROTECTED USER_ERROR fatal
                        05340005 REF_COMMIT_CONFLICT EXTERNAL
                        05340006 REF_COMMIT_STATE_UNKNOWN EXTERNAL fatal
                        05340007 SKADE_STORE_ERROR EXTERNAL
                        05340008 REF_REBASE_CONFLICT USER_ERROR fatal
                        """);
    }

    private static String describe(ErrorCode code)
    {
        return "%08x %s %s%s".formatted(code.getCode(), code.getName(), code.getType(), code.isFatal() ? " fatal" : "");
    }
}
