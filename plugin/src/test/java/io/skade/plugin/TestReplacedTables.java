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
package io.skade.plugin;

import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.testing.assertions.TrinoExceptionAssert.assertThatTrinoException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Branches of a table that was replaced since, read and written with its present columns.
 */
class TestReplacedTables
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder().setWorkerCount(0).build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PARQUET", "ORC", "AVRO"})
    void widerTypesReadRight(String format)
    {
        assertUpdate("CREATE TABLE wider (i integer, r real, d decimal(5, 2), w row(a integer, gone varchar), z varchar) WITH (format = '%s', partitioning = ARRAY['i'])".formatted(format));
        assertUpdate("INSERT INTO wider VALUES (1, REAL '1.5', 1.25, ROW(10, 'x'), 'y'), (NULL, NULL, NULL, NULL, NULL)", 2);
        assertUpdate("CREATE BRANCH b IN TABLE wider");
        assertUpdate("CREATE OR REPLACE TABLE wider (d decimal(18, 2), r double, i bigint, w row(a bigint, new varchar), more varchar) WITH (format = '%s')".formatted(format));

        assertQuery("SELECT i, r, d, w.a, w.new, more FROM wider FOR VERSION AS OF 'b'", "VALUES (1, 1.5, 1.25, 10, NULL, NULL), (NULL, NULL, NULL, NULL, NULL, NULL)");
        assertQuery("SELECT d FROM wider FOR VERSION AS OF 'b' WHERE i = 1 AND r > 1 AND d < 2", "VALUES 1.25");
        assertUpdate("INSERT INTO wider@b VALUES (1234567890123456.78, 1e300, 3000000000, ROW(3000000000, 'n'), 'm')", 1);
        assertUpdate("UPDATE wider@b SET r = 2 WHERE i = 1", 1);
        assertQuery("SELECT i, r, d, w.a FROM wider FOR VERSION AS OF 'b' WHERE i IS NOT NULL", "VALUES (1, 2.0, 1.25, 10), (3000000000, 1e300, 1234567890123456.78, 3000000000)");
        assertQuery("SELECT count(*) FROM wider", "VALUES 0");
        assertUpdate("DROP TABLE wider");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PARQUET", "ORC", "AVRO"})
    void anotherTypeIsRefused(String format)
    {
        assertUpdate("CREATE TABLE other (k integer, x varchar, w row(a integer)) WITH (format = '%s')".formatted(format));
        assertUpdate("INSERT INTO other VALUES (1, 'one', ROW(10))", 1);
        assertUpdate("CREATE BRANCH c IN TABLE other");
        assertUpdate("CREATE BRANCH b IN TABLE other");
        assertUpdate("INSERT INTO other@b VALUES (2, 'two', ROW(20))", 1);
        assertUpdate("CREATE OR REPLACE TABLE other (k integer, x bigint, w row(a integer))");
        assertUpdate("INSERT INTO other VALUES (3, 3, ROW(30))", 1);
        assertRefused("other", "column x has type varchar in it, and bigint since the table was replaced");

        // what does not read it goes on
        assertQuery("SELECT name FROM \"other$refs\"", "VALUES 'main', 'b', 'c'");
        assertUpdate("CALL system.publish_branch('tpch', 'other', 'b', 'c')");
        assertUpdate("CALL system.create_tag('tpch', 'other', 'g', 'c')");
        assertQuery("SELECT k, x, w.a FROM other FOR VERSION AS OF 'g'", "VALUES (1, 'one', 10), (2, 'two', 20)");
        assertQuery("SELECT k, x, w.a FROM other FOR VERSION AS OF %s".formatted(snapshotId("other")), "VALUES (1, 'one', 10), (2, 'two', 20)");
        assertQuery("SELECT k, x, w.a FROM \"other@g\" WHERE x = 'two'", "VALUES (2, 'two', 20)");
        assertQuery("SELECT k, x, w.a FROM other", "VALUES (3, 3, 30)");

        assertUpdate("CREATE OR REPLACE TABLE other (x varchar, w row(a varchar))");
        assertRefused("other", "column w.a has type integer in it, and varchar since the table was replaced");
        assertUpdate("CREATE OR REPLACE TABLE other (x varchar, y double)");
        assertQuery("SELECT x, y FROM other FOR VERSION AS OF 'b'", "VALUES ('one', NULL), ('two', NULL)");
        assertUpdate("DROP TABLE other");
    }

    @ParameterizedTest
    @ValueSource(strings = {"p", "bucket(p, 4)", "truncate(p, 1)"})
    void filesPartitionedByAColumnThatIsGoneAreRefused(String partitioning)
    {
        assertUpdate("CREATE TABLE parted (k integer, p varchar) WITH (partitioning = ARRAY['%s'])".formatted(partitioning));
        assertUpdate("CREATE BRANCH c IN TABLE parted");
        assertUpdate("INSERT INTO parted VALUES (1, 'a'), (2, 'b')", 2);
        assertUpdate("CREATE BRANCH b IN TABLE parted");
        assertUpdate("CREATE OR REPLACE TABLE parted (k integer, q varchar) WITH (partitioning = ARRAY['q'])");
        String field = partitioning.equals("p") ? "p" : "p_" + partitioning.substring(0, partitioning.indexOf('(')).replace("truncate", "trunc");
        assertRefused("parted", "its files are partitioned by %s, and the table does not have the column of that any more".formatted(field));
        assertQuery("SELECT k, p FROM parted FOR VERSION AS OF %s".formatted(snapshotId("parted")), "VALUES (1, 'a'), (2, 'b')");

        // a branch without files takes the new rows
        assertUpdate("INSERT INTO parted@c VALUES (3, 'c')", 1);
        assertQuery("SELECT k, q FROM parted FOR VERSION AS OF 'c'", "VALUES (3, 'c')");
        assertUpdate("DROP TABLE parted");
    }

    /**
     * Another partitioning on columns that stay is no obstacle.
     */
    @Test
    void otherPartitioningReadsRight()
    {
        assertUpdate("CREATE TABLE again (k integer, p integer) WITH (partitioning = ARRAY['p'])");
        assertUpdate("INSERT INTO again VALUES (1, 10), (2, 20)", 2);
        assertUpdate("CREATE BRANCH b IN TABLE again");
        assertUpdate("CREATE OR REPLACE TABLE again (p bigint, k bigint) WITH (partitioning = ARRAY['bucket(k, 2)'])");
        assertQuery("SELECT k, p FROM again FOR VERSION AS OF 'b' WHERE p = 20", "VALUES (2, 20)");
        assertUpdate("INSERT INTO again@b VALUES (30, 3)", 1);
        assertUpdate("DELETE FROM again@b WHERE p = 10", 1);
        assertQuery("SELECT k, p FROM again FOR VERSION AS OF 'b'", "VALUES (2, 20), (3, 30)");
        assertUpdate("DROP TABLE again");
    }

    /**
     * Every statement on branch {@code b} gives one error, and branch {@code c} goes with it in {@code ref_diff}.
     */
    private void assertRefused(String table, String conflict)
    {
        String message = "Cannot read branch b of tpch.%s: %s. Read it by its snapshot id, FOR VERSION AS OF %s, or through a tag".formatted(table, conflict, snapshotId(table));
        for (String statement : List.of(
                "SELECT * FROM %s FOR VERSION AS OF 'b'",
                "SELECT count(*) FROM %s FOR VERSION AS OF 'b'",
                "SELECT * FROM \"%s@b\"",
                "SELECT * FROM \"%s@b$partitions\"",
                "SELECT * FROM \"%s@b$files\"",
                "SELECT * FROM TABLE(system.ref_diff('tpch', '%s', 'c', 'b'))",
                "INSERT INTO %1$s@b SELECT * FROM %1$s",
                "DELETE FROM %s@b",
                "MERGE INTO %s@b USING (VALUES 1) s(i) ON false WHEN MATCHED THEN DELETE")) {
            assertThatTrinoException(catchThrowable(() -> computeActual(statement.formatted(table)))).as(statement)
                    .hasErrorCode(NOT_SUPPORTED)
                    .hasMessage(message);
        }
    }

    private long snapshotId(String table)
    {
        return (long) computeScalar("SELECT snapshot_id FROM \"%s$refs\" WHERE name = 'b'".formatted(table));
    }
}
