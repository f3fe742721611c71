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

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * A file with a user in each line.
 */
final class UserLines
{
    private UserLines() {}

    /**
     * What follows the first colon of each line, by what stands before it. Empty lines are left out.
     *
     * @throws IllegalArgumentException if a line has no user or nothing else, or a user stands twice; the message tells of which line
     */
    static Map<String, String> parse(List<String> lines)
    {
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty()) {
                continue;
            }
            int colon = line.indexOf(':');
            checkArgument(colon > 0 && colon < line.length() - 1, "line %s is not 'user:value'", i + 1);
            String user = line.substring(0, colon);
            checkArgument(values.put(user, line.substring(colon + 1)) == null, "line %s: user '%s' stands twice", i + 1, user);
        }
        return values;
    }
}
