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

import com.google.common.collect.ImmutableMap;
import com.google.common.hash.HashCode;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.hash.Hashing.sha256;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Bearer tokens and whose they are. Only their digests are kept, so the time of a look-up tells nothing about a token.
 */
final class Tokens
{
    private final Map<HashCode, String> users;

    private Tokens(Map<HashCode, String> users)
    {
        this.users = ImmutableMap.copyOf(users);
    }

    /**
     * @throws IllegalArgumentException if a line is wrong; the message tells which, but not what is in it
     */
    static Tokens parse(List<String> lines)
    {
        Map<HashCode, String> users = new HashMap<>();
        UserLines.parse(lines).forEach((user, token) -> checkArgument(users.put(digest(token), user) == null, "user '%s' has the token of another one", user));
        return new Tokens(users);
    }

    /**
     * The user of a token, empty if there is none.
     */
    Optional<String> findUser(String token)
    {
        return Optional.ofNullable(users.get(digest(token)));
    }

    private static HashCode digest(String token)
    {
        return sha256().hashString(token, UTF_8);
    }
}
