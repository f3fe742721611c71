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
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * Every case on one server, with the warehouse on its own disk.
 */
@TestInstance(PER_CLASS)
final class TestSqlCases
{
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
        return SqlCases.tests(server);
    }

    @Test
    void testNotYetNamesCases()
            throws IOException
    {
        assertThat(SqlCases.list()).containsAll(SqlCases.readNotYet().keySet());
    }
}
