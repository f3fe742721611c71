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

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * Every case of {@code cases/}, each in a schema of its own, on one server. Those that wait for something are skipped by
 * {@code cases/not-yet.txt}. {@code -Dskade.cases=PATTERN} runs only the files whose name matches.
 */
@TestInstance(PER_CLASS)
final class TestSqlCases
{
    private static final Path CASES = Path.of("src/test/resources/cases");

    private SkadeServer server;

    @BeforeAll
    void startServer()
            throws IOException, InterruptedException
    {
        server = SkadeServer.builder("sql-cases").start();
    }

    @AfterAll
    void stopServer()
            throws IOException, InterruptedException
    {
        if (server != null) {
            server.close();
        }
    }

    @TestFactory
    Stream<DynamicTest> testCases()
            throws IOException
    {
        Map<String, String> notYet = readNotYet();
        String pattern = System.getProperty("skade.cases", ".*");
        return listCases().stream()
                .filter(file -> file.matches(pattern))
                .map(file -> DynamicTest.dynamicTest(file, () -> {
                    if (notYet.containsKey(file)) {
                        abort("waits for " + notYet.get(file));
                    }
                    Sql.runCase(server, CASES.resolve(file));
                }));
    }

    @Test
    void testNotYetNamesCases()
            throws IOException
    {
        assertThat(listCases()).containsAll(readNotYet().keySet());
    }

    private static List<String> listCases()
            throws IOException
    {
        try (Stream<Path> files = Files.list(CASES)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".slt"))
                    .sorted()
                    .toList();
        }
    }

    private static Map<String, String> readNotYet()
            throws IOException
    {
        return Files.readAllLines(CASES.resolve("not-yet.txt")).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(line -> line.split("\\s+", 2))
                .collect(toMap(parts -> parts[0], parts -> parts[1]));
    }
}
