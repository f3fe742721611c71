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

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.sql.Connection;
import java.util.Arrays;
import java.util.List;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Half of the rows of TPC-H on {@code main}, the other half on a branch, audited with the 22 queries, published, and queried again.
 */
final class TestTpchPublish
{
    private static final List<String> TABLES = List.of("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier");

    @Test
    void testHalfOnMainHalfOnABranch()
            throws Exception
    {
        try (SkadeServer server = SkadeServer.builder("tpch-publish")
                .catalog("tpch", "tpch.column-naming", "STANDARD")
                .catalog("audit", "connector.name", "skade")
                .catalog("audit", "skade.store.path", "${ENV:SKADE_DATA}/store")
                .catalog("audit", "skade.warehouse", "file://${ENV:SKADE_DATA}/warehouse")
                .catalog("audit", "skade.read-ref", "load")
                .catalog("audit", "fs.local.enabled", "true")
                .catalog("audit", "local.location", "/")
                .start();
                Connection tpch = server.connect("lake", "sales");
                Connection lake = server.connect("lake", "sales");
                Connection audit = server.connect("audit", "sales")) {
            tpch.setCatalog("tpch");
            tpch.setSchema("tiny");
            execute(lake, "CREATE SCHEMA sales");
            for (String table : TABLES) {
                String key = query(tpch, "SHOW COLUMNS FROM " + table).getFirst().split(" \\| ")[0];
                execute(lake, "CREATE TABLE %s AS SELECT * FROM tpch.tiny.%s WHERE %s %% 2 = 0".formatted(table, table, key));
                execute(lake, "CREATE BRANCH load IN TABLE " + table);
                execute(lake, "INSERT INTO %s@load SELECT * FROM tpch.tiny.%s WHERE %s %% 2 = 1".formatted(table, table, key));
            }
            List<String> queries = queries();
            assertThat(queries).hasSize(22);
            for (String sql : queries) {
                assertSameRows(sql, query(audit, sql), query(tpch, sql));
            }
            for (String table : TABLES) {
                execute(lake, "CALL lake.system.publish_branch(schema_name => 'sales', table_name => '%s', branch => 'load', drop_branch => true)".formatted(table));
            }
            for (String sql : queries) {
                assertSameRows(sql, query(lake, sql), query(tpch, sql));
            }
            assertThat(query(audit, "SHOW TABLES")).isEmpty();
        }
    }

    private static List<String> queries()
            throws IOException
    {
        try (InputStream stream = TestTpchPublish.class.getResourceAsStream("/tpch/queries.sql")) {
            return Arrays.stream(new String(stream.readAllBytes(), UTF_8).split(";"))
                    .map(String::strip)
                    .filter(sql -> !sql.isEmpty())
                    .toList();
        }
    }

    /**
     * Sums of doubles depend on the order in which they are added, so numbers are the same if they are so to ten digits.
     */
    private static void assertSameRows(String sql, List<String> actual, List<String> expected)
    {
        assertThat(actual).as(sql).hasSameSizeAs(expected);
        for (int row = 0; row < expected.size(); row++) {
            String[] actualValues = actual.get(row).split(" \\| ", -1);
            String[] expectedValues = expected.get(row).split(" \\| ", -1);
            assertThat(actualValues).as(sql).hasSameSizeAs(expectedValues);
            for (int column = 0; column < expectedValues.length; column++) {
                if (expectedValues[column].matches("-?\\d+\\.\\d+(E-?\\d+)?")) {
                    double number = Double.parseDouble(expectedValues[column]);
                    assertThat(Double.parseDouble(actualValues[column])).as(sql).isCloseTo(number, within(Math.abs(number) * 1e-10));
                }
                else {
                    assertThat(actualValues[column]).as(sql).isEqualTo(expectedValues[column]);
                }
            }
        }
    }
}
