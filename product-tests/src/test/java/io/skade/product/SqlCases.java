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
package io.skade.product;

import org.junit.jupiter.api.DynamicTest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assumptions.abort;

/**
 * The case files of {@code cases/}. Those that wait for something are skipped by {@code cases/not-yet.txt}.
 */
final class SqlCases
{
    private static final Path CASES = Path.of("src/test/resources/cases");

    private SqlCases() {}

    /**
     * Each case as a test that runs it on the server, in a schema of its own. {@code -Dskade.cases=PATTERN} takes only the
     * files whose name matches.
     */
    static Stream<DynamicTest> tests(SkadeServer server)
            throws IOException
    {
        Map<String, String> notYet = readNotYet();
        String pattern = System.getProperty("skade.cases", ".*");
        return list().stream()
                .filter(file -> file.matches(pattern))
                .map(file -> DynamicTest.dynamicTest(file, () -> {
                    if (notYet.containsKey(file)) {
                        abort("waits for " + notYet.get(file));
                    }
                    Sql.runCase(server, CASES.resolve(file));
                }));
    }

    static List<String> list()
            throws IOException
    {
        try (Stream<Path> files = Files.list(CASES)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".slt"))
                    .sorted()
                    .toList();
        }
    }

    /**
     * What a case waits for, by its file.
     */
    static Map<String, String> readNotYet()
            throws IOException
    {
        return Files.readAllLines(CASES.resolve("not-yet.txt")).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(line -> line.split("\\s+", 2))
                .collect(toMap(parts -> parts[0], parts -> parts[1]));
    }
}
