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
package io.skade.plugin.function;

import io.skade.plugin.SkadeQueryRunner;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryRunner;
import io.trino.tpch.TpchTable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code ref_diff} on a cluster with workers.
 */
class TestRefDiff
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder()
                .setWorkerCount(2)
                .setInitialTables(List.of(TpchTable.LINE_ITEM))
                .build();
    }

    @ParameterizedTest
    @CsvSource({
            "1, PARQUET, ''",
            "1, PARQUET, part",
            "2, PARQUET, ''",
            "2, PARQUET, part",
            "2, ORC, part",
            "2, AVRO, ''",
            "3, PARQUET, ''",
            "3, PARQUET, part",
            "3, ORC, ''",
            "3, AVRO, part",
    })
    void everyWriteOnABranch(int formatVersion, String format, String partitioning)
    {
        String table = "every_write_%s_%s_%s".formatted(formatVersion, format, partitioning);
        assertUpdate("CREATE TABLE %s (id bigint, part varchar, v varchar) WITH (format_version = %s, format = '%s', partitioning = ARRAY[%s])"
                .formatted(table, formatVersion, format, partitioning.isEmpty() ? "" : "'" + partitioning + "'"));
        assertUpdate("INSERT INTO %s VALUES (1, 'a', 'one'), (2, 'a', 'two'), (3, 'b', 'three'), (4, 'b', NULL), (5, NULL, 'five'), (6, 'c', 'six')".formatted(table), 6);
        assertUpdate("CREATE BRANCH base IN TABLE " + table);
        assertUpdate("CREATE BRANCH edit IN TABLE " + table);
        assertDiff(table, "");

        assertUpdate("INSERT INTO %s@edit VALUES (10, 'a', 'ten'), (11, 'd', 'eleven')".formatted(table), 2);
        String changes = "(10, 'a', 'ten', 'insert', 0), (11, 'd', 'eleven', 'insert', 0)";
        assertDiff(table, changes);

        // all rows of a partition
        if (formatVersion > 1 || !partitioning.isEmpty()) {
            assertUpdate("DELETE FROM %s@edit WHERE part = 'c'".formatted(table), 1);
            changes += ", (6, 'c', 'six', 'delete', 1)";
            assertDiff(table, changes);
        }

        if (formatVersion > 1) {
            assertUpdate("UPDATE %s@edit SET v = 'two!' WHERE id = 2".formatted(table), 1);
            changes += ", (2, 'a', 'two', 'delete', 2), (2, 'a', 'two!', 'insert', 2)";
            assertDiff(table, changes);

            // of the same file, in which a row is gone already
            assertUpdate("DELETE FROM %s@edit WHERE id IN (1, 5, 10)".formatted(table), 3);
            changes += ", (1, 'a', 'one', 'delete', 3), (5, NULL, 'five', 'delete', 3), (10, 'a', 'ten', 'delete', 3)";
            assertDiff(table, changes);

            assertUpdate("MERGE INTO %s@edit t USING (VALUES (3, 'x'), (4, NULL), (7, 'new')) s (id, v) ON t.id = s.id WHEN MATCHED AND s.v IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET part = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'b', s.v)".formatted(table), 3);
            changes += ", (3, 'b', 'three', 'delete', 4), (3, 'x', 'three', 'insert', 4), (4, 'b', NULL, 'delete', 4), (7, 'b', 'new', 'insert', 4)";
            assertDiff(table, changes);

            // all rows of a partition, while other files have lost some of theirs
            assertUpdate("DELETE FROM %s@edit WHERE part = 'd'".formatted(table), 1);
            changes += ", (11, 'd', 'eleven', 'delete', 5)";
            assertDiff(table, changes);
        }

        // what keeps every row is not shown, and takes no ordinal; branches cannot be optimized
        assertUpdate("CALL system.publish_branch('tpch', '%s', 'edit')".formatted(table));
        getQueryRunner().execute("ALTER TABLE %s EXECUTE optimize".formatted(table));
        assertUpdate("CALL system.fast_forward('tpch', '%s', 'edit', 'main')".formatted(table));
        assertDiff(table, changes);

        // all rows, of files that were rewritten
        long left = (long) computeScalar("SELECT count(*) FROM " + table);
        assertUpdate("DELETE FROM %s@edit".formatted(table), left);
        assertQuery("SELECT count(*) FROM TABLE(system.ref_diff('tpch', '%s', 'main', 'edit')) WHERE _change_type = 'delete' AND _change_ordinal = 0".formatted(table), "VALUES " + left);
        assertExplains(table, "base", "edit", "id, part, v");
        assertUpdate("DROP TABLE " + table);
    }

    /**
     * The rows of the difference of {@code base} and {@code edit}, which explains how the one becomes the other.
     */
    private void assertDiff(String table, String expected)
    {
        String diff = "SELECT id, part, v, _change_type, _change_ordinal FROM TABLE(system.ref_diff('tpch', '%s', 'base', 'edit'))".formatted(table);
        if (expected.isEmpty()) {
            assertQueryReturnsEmptyResult(diff);
        }
        else {
            assertQuery(diff, "VALUES " + expected);
        }
        assertExplains(table, "base", "edit", "id, part, v");
    }

    private void assertExplains(String table, String base, String ref, String columns)
    {
        assertThat(computeActual(
                """
                SELECT %1$s, sum(c) FROM (
                    SELECT %1$s, 1 c FROM %2$s FOR VERSION AS OF '%3$s'
                    UNION ALL SELECT %1$s, if(_change_type = 'insert', 1, -1) FROM TABLE(system.ref_diff('tpch', '%2$s', '%3$s', '%4$s')))
                GROUP BY %1$s HAVING sum(c) <> 0
                """.formatted(columns, table, base, ref)))
                .containsExactlyInAnyOrderElementsOf(computeActual("SELECT %1$s, count(*) FROM %2$s FOR VERSION AS OF '%3$s' GROUP BY %1$s".formatted(columns, table, ref)));
    }

    @Test
    void columnsAreThoseOfTableChanges()
    {
        assertUpdate("CREATE TABLE same_columns (n int)");
        assertUpdate("CREATE BRANCH base IN TABLE same_columns");
        assertUpdate("INSERT INTO same_columns VALUES 1", 1);
        assertUpdate("INSERT INTO same_columns VALUES 2", 1);
        assertUpdate("DELETE FROM same_columns", 2);
        String tableChanges = "SELECT * FROM TABLE(system.table_changes('tpch', 'same_columns', %s, %s))".formatted(snapshotId("same_columns", "base"), snapshotId("same_columns", "main"));
        String refDiff = "SELECT * FROM TABLE(system.ref_diff('tpch', 'same_columns', 'base', 'main'))";
        assertThat(computeActual(refDiff).getColumnNames()).isEqualTo(computeActual(tableChanges).getColumnNames());
        assertThat(computeActual(refDiff).getTypes()).isEqualTo(computeActual(tableChanges).getTypes());
        assertThat(computeActual(refDiff)).hasSize(4).containsExactlyInAnyOrderElementsOf(computeActual(tableChanges));
        assertUpdate("DROP TABLE same_columns");
    }

    @Test
    void refsInAnyOrder()
    {
        assertUpdate("CREATE TABLE crossed (n int)");
        assertUpdate("INSERT INTO crossed VALUES 1", 1);
        assertUpdate("CALL system.create_tag('tpch', 'crossed', 'Start')");
        assertUpdate("CREATE BRANCH edit IN TABLE crossed");
        assertUpdate("INSERT INTO crossed@edit VALUES 2", 1);
        assertUpdate("INSERT INTO crossed VALUES 3", 1);
        assertDiffOf("crossed", "main", "edit", "(2, 'insert')");
        assertDiffOf("crossed", "edit", "main", "(3, 'insert')");
        assertDiffOf("crossed", "Start", "main", "(3, 'insert')");
        assertDiffOf("crossed", "main", "Start", "");
        assertDiffOf("crossed", "main", "main", "");
        assertQuery(
                "SELECT count(*) FROM TABLE(system.ref_diff('tpch', 'crossed', 'main', 'edit')) d JOIN \"crossed$snapshots\" s ON d._change_version_id = s.snapshot_id AND d._change_timestamp = s.committed_at",
                "VALUES 1");

        // two lines of the same depth, and a branch of a branch
        assertUpdate("CREATE BRANCH deep IN TABLE crossed FROM edit");
        assertUpdate("INSERT INTO crossed@deep VALUES 4", 1);
        assertDiffOf("crossed", "edit", "deep", "(4, 'insert')");
        assertDiffOf("crossed", "main", "deep", "(2, 'insert'), (4, 'insert')");
        assertUpdate("DROP TABLE crossed");
    }

    private void assertDiffOf(String table, String from, String to, String expected)
    {
        String diff = "SELECT n, _change_type FROM TABLE(system.ref_diff(schema_name => 'tpch', table_name => '%s', from_ref => '%s', to_ref => '%s'))".formatted(table, from, to);
        if (expected.isEmpty()) {
            assertQueryReturnsEmptyResult(diff);
        }
        else {
            assertQuery(diff, "VALUES " + expected);
        }
    }

    @Test
    void schemaOfTheSecondRef()
    {
        assertUpdate("CREATE TABLE shaped (id int, name varchar, gone varchar, price real, nested ROW(x int, y int)) WITH (format_version = 2)");
        assertUpdate("INSERT INTO shaped VALUES (1, 'a', 'g1', REAL '1.5', ROW(1, 2)), (2, 'b', 'g2', REAL '2.5', ROW(3, 4))", 2);
        assertUpdate("CREATE BRANCH base IN TABLE shaped");
        assertUpdate("DELETE FROM shaped WHERE id = 1", 1);
        assertUpdate("INSERT INTO shaped VALUES (3, 'c', 'g3', REAL '3.5', ROW(5, 6))", 1);
        assertUpdate("CALL system.create_tag('tpch', 'shaped', 'Old')");
        assertUpdate("ALTER TABLE shaped RENAME COLUMN name TO label");
        assertUpdate("ALTER TABLE shaped DROP COLUMN gone");
        assertUpdate("ALTER TABLE shaped ALTER COLUMN id SET DATA TYPE bigint");
        assertUpdate("ALTER TABLE shaped ALTER COLUMN price SET DATA TYPE double");
        assertUpdate("ALTER TABLE shaped ADD COLUMN nested.z int");
        assertUpdate("ALTER TABLE shaped ADD COLUMN gone int");
        assertUpdate("INSERT INTO shaped VALUES (5000000000, 'd', DOUBLE '4.5', ROW(7, 8, 9), 10)", 1);
        assertQuery(
                "SELECT id, label, price, nested.x, nested.z, gone, _change_type, _change_ordinal FROM TABLE(system.ref_diff('tpch', 'shaped', 'base', 'main'))",
                """
                VALUES
                    (1, 'a', 1.5e0, 1, NULL, NULL, 'delete', 0),
                    (3, 'c', 3.5e0, 5, NULL, NULL, 'insert', 1),
                    (5000000000, 'd', 4.5e0, 7, 9, 10, 'insert', 2)
                """);
        assertQuery(
                "SELECT id, name, gone, price, nested.y, _change_type FROM TABLE(system.ref_diff('tpch', 'shaped', 'base', 'Old'))",
                "VALUES (1, 'a', 'g1', 1.5e0, 2, 'delete'), (3, 'c', 'g3', 3.5e0, 6, 'insert')");
        assertUpdate("DROP TABLE shaped");
    }

    @Test
    void partitionsOfEveryKind()
    {
        assertUpdate("CREATE TABLE parts (n bigint, s varchar, d date, t timestamp(6), u uuid, b varbinary, dec decimal(20, 2), w int) WITH (partitioning = ARRAY['s', 'u', 'b', 'dec', 'w', 'month(d)', 'hour(t)', 'bucket(n, 4)'])");
        String row = "(%s, %s, DATE '2026-11-30', TIMESTAMP '2026-11-30 10:11:12.123456', UUID '12151fd2-7586-11e9-8f9e-2a86e4085a59', X'0af0', DECIMAL '123456789012345678.25', 7)";
        assertUpdate("INSERT INTO parts VALUES %s, (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)".formatted(row.formatted(1, "'a'")), 2);
        assertUpdate("CREATE BRANCH base IN TABLE parts");
        assertUpdate("CALL system.create_tag('tpch', 'parts', 'narrow')");
        assertUpdate("CREATE BRANCH edit IN TABLE parts");
        assertUpdate("INSERT INTO parts@edit VALUES %s, %s".formatted(row.formatted(1, "'a'"), row.formatted(2, "'b'")), 2);
        assertUpdate("DELETE FROM parts@edit WHERE n IS NULL", 1);
        assertUpdate("DELETE FROM parts@edit WHERE n = 1", 2);
        String columns = "n, s, d, t, u, b, dec, w";
        assertExplains("parts", "base", "edit", columns);
        assertThat(computeActual("SELECT * FROM TABLE(system.ref_diff('tpch', 'parts', 'base', 'edit'))")).hasSize(5);

        // a partition column that was widened since, and a new spec
        assertUpdate("CALL system.create_tag('tpch', 'parts', 'edited', 'edit')");
        assertUpdate("ALTER TABLE parts ALTER COLUMN w SET DATA TYPE bigint");
        assertUpdate("ALTER TABLE parts SET PROPERTIES partitioning = ARRAY['s']");
        assertUpdate("UPDATE parts@edit SET w = 5000000000", 1);
        assertExplains("parts", "base", "edit", columns);
        assertExplains("parts", "narrow", "edited", columns);
        assertUpdate("DROP TABLE parts");
    }

    @Test
    void largeFiles()
    {
        for (int formatVersion : List.of(2, 3)) {
            assertUpdate("CREATE TABLE large WITH (format_version = %s) AS SELECT * FROM lineitem".formatted(formatVersion), 60175);
            assertUpdate("CREATE BRANCH edit IN TABLE large");
            assertUpdate("DELETE FROM large@edit WHERE orderkey % 2 = 0", "SELECT count(*) FROM lineitem WHERE orderkey % 2 = 0");
            assertUpdate("DELETE FROM large@edit WHERE orderkey % 3 = 0", "SELECT count(*) FROM lineitem WHERE orderkey % 3 = 0 AND orderkey % 2 <> 0");
            assertQuery(
                    "SELECT _change_type, _change_ordinal, count(*), sum(orderkey), sum(linenumber), min(comment), max(comment) FROM TABLE(system.ref_diff('tpch', 'large', 'main', 'edit')) GROUP BY 1, 2",
                    """
                    SELECT 'delete', 0, count(*), sum(orderkey), sum(linenumber), min(comment), max(comment) FROM lineitem WHERE orderkey % 2 = 0
                    UNION ALL SELECT 'delete', 1, count(*), sum(orderkey), sum(linenumber), min(comment), max(comment) FROM lineitem WHERE orderkey % 3 = 0 AND orderkey % 2 <> 0
                    """);
            assertUpdate("DELETE FROM large@edit WHERE true", "SELECT count(*) FROM lineitem WHERE orderkey % 3 <> 0 AND orderkey % 2 <> 0");
            assertQuery(
                    "SELECT count(*), sum(orderkey) FROM TABLE(system.ref_diff('tpch', 'large', 'main', 'edit')) WHERE _change_ordinal = 2",
                    "SELECT count(*), sum(orderkey) FROM lineitem WHERE orderkey % 3 <> 0 AND orderkey % 2 <> 0");
            assertUpdate("DROP TABLE large");
        }
    }

    @Test
    void whatCannotBeCompared()
    {
        assertUpdate("CREATE TABLE odd (n int)");
        assertUpdate("CREATE BRANCH edit IN TABLE odd");
        assertFails("'tpch', 'odd', 'main', 'nobody'", "Ref does not exist in tpch.odd: nobody");
        assertFails("'tpch', 'odd', 'Main', 'edit'", "Ref does not exist in tpch.odd: Main");
        assertFails("'tpch', 'no_table', 'main', 'main'", ".*Table 'tpch.no_table' not found.*");
        assertFails("'tpch', 'odd', NULL, 'main'", "from_ref cannot be null or empty");
        assertFails("'tpch', 'odd', 'main', ''", "to_ref cannot be null or empty");

        long edit = snapshotId("odd", "edit");
        assertUpdate("CREATE OR REPLACE TABLE odd (n int, _change_type varchar)");
        assertFails("'tpch', 'odd', 'main', 'main'", "Function ref_diff gives a column _change_type, but tpch.odd has one of that name at main");
        assertUpdate("CREATE OR REPLACE TABLE odd (n int)");
        long main = snapshotId("odd", "main");
        assertFails("'tpch', 'odd', 'main', 'edit'", "Cannot compare edit of tpch.odd with main: no common ancestor of %s and %s is left".formatted(edit, main));
        assertUpdate("DROP TABLE odd");
    }

    private void assertFails(String arguments, String message)
    {
        assertQueryFails("SELECT * FROM TABLE(system.ref_diff(%s))".formatted(arguments), message);
    }

    private long snapshotId(String table, String ref)
    {
        return (long) computeScalar("SELECT snapshot_id FROM \"%s$refs\" WHERE name = '%s'".formatted(table, ref));
    }
}
