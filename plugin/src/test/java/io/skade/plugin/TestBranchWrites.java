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

import io.trino.Session;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.MaterializedRow;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static com.google.common.collect.ImmutableMap.toImmutableMap;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every statement that writes, on a branch.
 */
class TestBranchWrites
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder().setWorkerCount(0).build();
    }

    @ParameterizedTest
    @CsvSource({"2, false", "2, true", "3, false", "3, true"})
    void everyStatementAddsOneSnapshotToTheBranch(int formatVersion, boolean partitioned)
    {
        String table = "statements_%s_%s".formatted(formatVersion, partitioned);
        assertUpdate("CREATE TABLE %s (id int, part int, v varchar) WITH (format_version = %s%s)".formatted(table, formatVersion, partitioned ? ", partitioning = ARRAY['part']" : ""));
        assertUpdate("INSERT INTO %s VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c')".formatted(table), 3);
        assertUpdate("CALL system.create_branch(schema_name => 'tpch', table_name => '%s', branch => 'Audit', min_snapshots_to_keep => 5, max_ref_age => '9d')".formatted(table));
        assertUpdate("CALL system.create_tag('tpch', '%s', 'before')".formatted(table));
        assertUpdate("INSERT INTO %s VALUES (4, 2, 'main')".formatted(table), 1);
        long main = snapshotId(table, "main");

        for (String statement : List.of(
                "INSERT INTO %s@\"Audit\" VALUES (5, 2, 'e')",
                "UPDATE %s@\"Audit\" SET v = v || '!' WHERE id IN (1, 5)",
                "DELETE FROM %s@\"Audit\" WHERE id = 2",
                "MERGE INTO %s@\"Audit\" t USING (VALUES (3, 'merged'), (6, 'new')) s(id, v) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, 3, s.v)",
                "DELETE FROM %s@\"Audit\" WHERE part = 3")) {
            long head = snapshotId(table, "Audit");
            long snapshots = (long) computeScalar("SELECT count(*) FROM \"%s$snapshots\"".formatted(table));
            getQueryRunner().execute(statement.formatted(table));
            assertThat(computeScalar("SELECT count(*) FROM \"%s$snapshots\"".formatted(table))).as(statement).isEqualTo(snapshots + 1);
            assertThat(computeScalar("SELECT parent_id FROM \"%s$snapshots\" WHERE snapshot_id = %s".formatted(table, snapshotId(table, "Audit")))).as(statement).isEqualTo(head);
            assertThat(snapshotId(table, "main")).as(statement).isEqualTo(main);
        }
        assertQuery("SELECT * FROM %s FOR VERSION AS OF 'Audit'".formatted(table), "VALUES (1, 1, 'a!'), (3, 2, 'merged'), (5, 2, 'e!')");
        assertQuery("SELECT * FROM %s".formatted(table), "VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 2, 'main')");
        assertQuery("SELECT * FROM %s FOR VERSION AS OF 'before'".formatted(table), "VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c')");
        assertQuery(
                "SELECT name, type, max_reference_age_in_ms, min_snapshots_to_keep FROM \"%s$refs\"".formatted(table),
                "VALUES ('Audit', 'BRANCH', 777600000, 5), ('before', 'TAG', NULL, NULL), ('main', 'BRANCH', NULL, NULL)");

        // the whole of it
        assertUpdate("DELETE FROM %s@\"Audit\"".formatted(table), 3);
        assertQueryReturnsEmptyResult("SELECT * FROM %s FOR VERSION AS OF 'Audit'".formatted(table));
        assertQuery("SELECT count(*) FROM %s".formatted(table), "VALUES 4");
        assertUpdate("DROP TABLE " + table);
    }

    @Test
    void aBranchOfATableWithoutRows()
    {
        assertUpdate("CREATE TABLE empty_start (n int)");
        assertUpdate("CREATE BRANCH first IN TABLE empty_start");
        assertUpdate("INSERT INTO empty_start@first VALUES 1, 2", 2);
        assertQueryReturnsEmptyResult("SELECT * FROM empty_start");
        assertUpdate("CALL system.publish_branch(schema_name => 'tpch', table_name => 'empty_start', branch => 'first', drop_branch => true)");
        assertQuery("SELECT * FROM empty_start", "VALUES 1, 2");
        assertQuery("SELECT name FROM \"empty_start$refs\"", "VALUES 'main'");
        assertUpdate("DROP TABLE empty_start");
    }

    @Test
    void writersOnFiveBranchesDoNotMeet()
            throws Exception
    {
        int statements = 25;
        assertUpdate("CREATE TABLE lanes (lane varchar, n int)");
        List<String> branches = List.of("l1", "l2", "l3", "l4");
        for (String branch : branches) {
            assertUpdate("CREATE BRANCH %s IN TABLE lanes".formatted(branch));
        }
        List<Callable<Void>> writers = new ArrayList<>();
        for (String branch : List.of("main", "l1", "l2", "l3", "l4")) {
            writers.add(() -> {
                for (int i = 0; i < statements; i++) {
                    getQueryRunner().execute("INSERT INTO lanes@%s VALUES ('%s', %s)".formatted(branch, branch, i));
                }
                return null;
            });
        }
        runAtOnce(writers);
        assertQuery("SELECT lane, count(*), count(DISTINCT n) FROM lanes GROUP BY lane", "VALUES ('main', 25, 25)");
        for (String branch : branches) {
            assertQuery(
                    "SELECT lane, count(*), count(DISTINCT n) FROM lanes FOR VERSION AS OF '%s' GROUP BY lane".formatted(branch),
                    "VALUES ('%s', 25, 25)".formatted(branch));
        }
        // files that share a sequence number were added by one snapshot
        assertQueryReturnsEmptyResult("SELECT sequence_number FROM \"lanes$all_entries\" WHERE status = 1 GROUP BY sequence_number HAVING count(DISTINCT snapshot_id) > 1");
        assertUpdate("DROP TABLE lanes");
    }

    @Test
    void mergesOfTheSameKeysOnTwoBranchesDoNotConflict()
            throws Exception
    {
        assertUpdate("CREATE TABLE duel (id int, n int)");
        assertUpdate("INSERT INTO duel VALUES (1, 0), (2, 0), (3, 0)", 3);
        assertUpdate("CREATE BRANCH side IN TABLE duel");
        List<Callable<Void>> writers = new ArrayList<>();
        for (String branch : List.of("main", "side")) {
            writers.add(() -> {
                for (int i = 0; i < 8; i++) {
                    getQueryRunner().execute("MERGE INTO duel@%s t USING (VALUES 1, 2, 3) s(id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + 1".formatted(branch));
                }
                return null;
            });
        }
        runAtOnce(writers);
        assertQuery("SELECT id, n FROM duel", "VALUES (1, 8), (2, 8), (3, 8)");
        assertQuery("SELECT id, n FROM duel FOR VERSION AS OF 'side'", "VALUES (1, 8), (2, 8), (3, 8)");
        assertUpdate("DROP TABLE duel");
    }

    @Test
    void metadataTablesAtARef()
    {
        assertUpdate("CREATE TABLE looked_at (part int, n int) WITH (partitioning = ARRAY['part'])");
        assertUpdate("INSERT INTO looked_at VALUES (1, 10)", 1);
        assertUpdate("CALL system.create_tag('tpch', 'looked_at', 'Gold')");
        assertUpdate("CREATE BRANCH b IN TABLE looked_at");
        assertUpdate("INSERT INTO looked_at@b VALUES (2, 20), (3, 30)", 2);

        assertQuery("SELECT partition.part, record_count, data.n.min FROM \"looked_at$partitions\"", "VALUES (1, 1, 10)");
        assertQuery("SELECT partition.part, record_count, data.n.max FROM \"looked_at@b$partitions\"", "VALUES (1, 1, 10), (2, 1, 20), (3, 1, 30)");
        assertQuery("SELECT count(*) FROM \"looked_at@b$files\"", "VALUES 3");
        assertQuery("SELECT count(*) FROM \"looked_at@gold$files\"", "VALUES 1");
        assertQuery("SELECT sum(added_rows_count) FROM \"looked_at@b$manifests\"", "VALUES 3");
        assertQuery("SELECT count(*) FROM \"looked_at@b$history\"", "VALUES 3");
        assertQuery("SELECT count(*) FROM \"looked_at@gold$history\"", "VALUES 2");
        for (String table : List.of("files", "partitions", "manifests", "history", "refs", "ref_log")) {
            assertQueryFails("SELECT * FROM \"looked_at$%s\" FOR VERSION AS OF 'b'".formatted(table), ".*does not support versioned tables.*");
            assertQueryFails("SELECT * FROM \"looked_at@none$%s\"".formatted(table), "Ref does not exist in tpch.looked_at: none");
        }
        assertUpdate("DROP TABLE looked_at");
    }

    @Test
    void statisticsOfARefAreItsOwn()
    {
        assertUpdate("CREATE TABLE counted AS SELECT 1 AS n", 1);
        assertUpdate("CREATE BRANCH b IN TABLE counted");
        assertUpdate("INSERT INTO counted@b VALUES 7, 8, 9", 3);
        assertQuery("SHOW STATS FOR counted", "VALUES ('n', NULL, 1e0, 0e0, NULL, '1', '1'), (NULL, NULL, NULL, NULL, 1e0, NULL, NULL)");
        assertQuery("SHOW STATS FOR (SELECT * FROM counted FOR VERSION AS OF 'b')", "VALUES ('n', NULL, 4e0, 0e0, NULL, '1', '9'), (NULL, NULL, NULL, NULL, 4e0, NULL, NULL)");
        assertUpdate("DROP TABLE counted");
    }

    @Test
    void maintenanceKeepsEveryRow()
    {
        assertUpdate("CREATE TABLE kept (n int)");
        for (int i = 0; i < 3; i++) {
            assertUpdate("INSERT INTO kept VALUES " + i, 1);
        }
        assertUpdate("CALL system.create_tag('tpch', 'kept', 'three')");
        assertUpdate("CREATE BRANCH b IN TABLE kept");
        assertUpdate("INSERT INTO kept@b VALUES 100", 1);
        assertUpdate("DELETE FROM kept@b WHERE n = 0", 1);
        assertUpdate("DELETE FROM kept WHERE n = 1", 1);
        assertUpdate("CALL system.protect_ref('tpch', 'kept', 'main')");

        for (String statement : List.of(
                "ALTER TABLE kept EXECUTE optimize",
                "ALTER TABLE kept EXECUTE optimize_manifests",
                "ANALYZE kept",
                "ALTER TABLE kept EXECUTE expire_snapshots(retention_threshold => '7d')",
                "ALTER TABLE kept EXECUTE remove_orphan_files(retention_threshold => '7d')")) {
            getQueryRunner().execute(statement);
            assertQuery("SELECT * FROM kept", "VALUES 0, 2");
            assertQuery("SELECT * FROM kept FOR VERSION AS OF 'three'", "VALUES 0, 1, 2");
            assertQuery("SELECT * FROM kept FOR VERSION AS OF 'b'", "VALUES 1, 2, 100");
        }
        assertUpdate("CALL system.unprotect_ref('tpch', 'kept', 'main')");
        assertUpdate("TRUNCATE TABLE kept");
        assertUpdate("CREATE OR REPLACE TABLE kept (z varchar)");
        assertQuery("SELECT * FROM kept FOR VERSION AS OF 'three'", "VALUES 0, 1, 2");
        assertQuery("SELECT count(*) FROM kept FOR VERSION AS OF 'b'", "VALUES 3");
        assertUpdate("DROP TABLE kept");
    }

    /**
     * A Puffin file holds the deletion vectors of several data files, and lives as long as one of them.
     */
    @ParameterizedTest
    @ValueSource(strings = {"", ", partitioning = ARRAY['p']"})
    void expiryKeepsDeletionVectors(String partitioning)
    {
        assertUpdate("CREATE TABLE vectors (id integer, p integer) WITH (format_version = 3%s)".formatted(partitioning));
        assertUpdate("INSERT INTO vectors SELECT x, x % 3 FROM UNNEST(sequence(1, 12)) u(x)", 12);
        assertUpdate("INSERT INTO vectors SELECT x, x % 3 FROM UNNEST(sequence(13, 24)) u(x)", 12);
        assertUpdate("CREATE BRANCH work IN TABLE vectors");
        assertUpdate("DELETE FROM vectors@work WHERE id IN (1, 2, 13, 14)", 4);
        assertUpdate("DELETE FROM vectors@work WHERE id IN (4)", 1);
        assertUpdate("CALL system.publish_branch(schema_name => 'tpch', table_name => 'vectors', branch => 'work', drop_branch => true)");
        assertUpdate("INSERT INTO vectors VALUES (100, 0)", 1);
        assertUpdate(withoutRetention(), "ALTER TABLE vectors EXECUTE expire_snapshots(retention_threshold => '0s')");
        assertUpdate(withoutRetention(), "ALTER TABLE vectors EXECUTE remove_orphan_files(retention_threshold => '0s')");
        assertQuery("SELECT count(*), sum(id) FROM vectors", "VALUES (20, 366)");
        assertQuery("SELECT count(*) FROM \"vectors$snapshots\"", "VALUES 1");
        assertUpdate("DROP TABLE vectors");
    }

    private Session withoutRetention()
    {
        return Session.builder(getSession())
                .setCatalogSessionProperty("lake", "expire_snapshots_min_retention", "0s")
                .setCatalogSessionProperty("lake", "remove_orphan_files_min_retention", "0s")
                .build();
    }

    @Test
    void logsAreReadAtTheStateOfTheTransaction()
    {
        assertUpdate("CREATE TABLE steady (n integer)");
        inTransaction(session -> {
            assertQuery(session, "SELECT name FROM \"steady$refs\"", "VALUES 'main'");
            assertUpdate("CALL system.create_tag('tpch', 'steady', 'x')");
            assertQuery(session, "SELECT name FROM \"steady$refs\"", "VALUES 'main'");
            assertQuery(session, "SELECT operation FROM \"steady$ref_log\"", "VALUES 'create_table'");
            assertQuery(session, "SELECT operation FROM system.commit_log WHERE table_name = 'steady'", "VALUES 'create_table'");
        });
        assertQuery("SELECT operation FROM \"steady$ref_log\"", "VALUES 'create_tag', 'create_table'");
        assertUpdate("DROP TABLE steady");
    }

    @Test
    void aProtectedBranchMovesByPublishOnly()
    {
        assertUpdate("CREATE TABLE guarded (n int)");
        assertUpdate("INSERT INTO guarded VALUES 1", 1);
        assertUpdate("CALL system.create_tag('tpch', 'guarded', 'g')");
        assertUpdate("INSERT INTO guarded VALUES 2", 1);
        assertUpdate("CREATE BRANCH release IN TABLE guarded");
        assertUpdate("CREATE BRANCH work IN TABLE guarded");
        assertUpdate("INSERT INTO guarded@work VALUES 4", 1);
        assertUpdate("CALL system.protect_ref('tpch', 'guarded', 'main')");
        assertUpdate("CALL system.protect_ref('tpch', 'guarded', 'release')");
        assertUpdate("CALL system.protect_ref('tpch', 'guarded', 'release')");
        assertQuery("SELECT name, is_protected FROM \"guarded$refs\"", "VALUES ('g', false), ('main', true), ('release', true), ('work', false)");
        List<MaterializedRow> refs = computeActual("SELECT * FROM \"guarded$refs\"").getMaterializedRows();

        for (String statement : List.of(
                "INSERT INTO guarded VALUES 3",
                "INSERT INTO guarded@release VALUES 3",
                "UPDATE guarded@release SET n = 5",
                "DELETE FROM guarded WHERE n = 1",
                "DELETE FROM guarded",
                "TRUNCATE TABLE guarded",
                "CREATE OR REPLACE TABLE guarded (z int)",
                "DROP TABLE guarded",
                "DROP BRANCH release IN TABLE guarded",
                "CREATE OR REPLACE BRANCH release IN TABLE guarded FROM work",
                "CALL system.unregister_table('tpch', 'guarded')",
                "CALL system.rollback_to('tpch', 'guarded', 'g')",
                "CALL system.rollback_to_snapshot('tpch', 'guarded', (SELECT 1))".replace("(SELECT 1)", Long.toString(snapshotId("guarded", "g"))),
                "CALL system.drop_ref('tpch', 'guarded', 'release')",
                "CALL system.rename_ref('tpch', 'guarded', 'release', 'other')",
                "CALL system.set_current_snapshot(schema_name => 'tpch', table_name => 'guarded', ref => 'g')",
                "CALL system.replace_branch(schema_name => 'tpch', table_name => 'guarded', branch => 'release', ref => 'g')",
                "CALL system.publish_branch(schema_name => 'tpch', table_name => 'guarded', branch => 'release', to => 'work', drop_branch => true)",
                "ALTER TABLE guarded SET PROPERTIES extra_properties = MAP(ARRAY['skade.protected-refs'], ARRAY[''])")) {
            assertQueryFails(statement, "(?s).*(protected|skade.protected-refs).*");
            assertThat(computeActual("SELECT * FROM \"guarded$refs\"").getMaterializedRows()).as(statement).isEqualTo(refs);
        }

        assertUpdate("CALL system.publish_branch('tpch', 'guarded', 'work')");
        assertUpdate("ALTER BRANCH release IN TABLE guarded FAST FORWARD TO work");
        assertQuery("SELECT n FROM guarded", "VALUES 1, 2, 4");
        // protection belongs to the table's refs: what replaces main keeps that of others
        assertUpdate("CALL system.unprotect_ref('tpch', 'guarded', 'main')");
        assertUpdate("CREATE OR REPLACE TABLE guarded (n int)");
        assertQuery("SELECT name, is_protected FROM \"guarded$refs\"", "VALUES ('g', false), ('main', false), ('release', true), ('work', false)");
        assertUpdate("CALL system.unprotect_ref('tpch', 'guarded', 'release')");
        assertUpdate("DROP TABLE guarded");
    }

    @Test
    void verbsOnATableSayWhereTheRefWasAndIs()
    {
        assertUpdate("CREATE TABLE gear (n int)");
        assertUpdate("INSERT INTO gear VALUES 1", 1);
        long first = snapshotId("gear", "main");
        assertUpdate("INSERT INTO gear VALUES 2", 1);
        long second = snapshotId("gear", "main");
        assertMetrics("create_branch(branch => 'b')", Map.of("current_snapshot_id", second));
        assertMetrics("rollback_to(snapshot_id => %s)".formatted(first), Map.of("previous_snapshot_id", second, "current_snapshot_id", first));
        assertMetrics("publish_branch(branch => 'b')", Map.of("previous_snapshot_id", first, "current_snapshot_id", second));
        assertMetrics("set_current_snapshot(snapshot_id => %s)".formatted(first), Map.of("previous_snapshot_id", second, "current_snapshot_id", first));
        assertMetrics("fast_forward(branch => 'main', to => 'b')", Map.of("previous_snapshot_id", first, "current_snapshot_id", second));
        assertMetrics("drop_ref(ref => 'b')", Map.of("previous_snapshot_id", second));
        assertQueryFails("ALTER TABLE gear EXECUTE drop_ref(ref => 'b')", "Ref does not exist in tpch.gear: b");
        assertQueryFails("ALTER TABLE gear EXECUTE create_tag()", "tag cannot be null or empty");
        assertUpdate("DROP TABLE gear");
    }

    private void assertMetrics(String verb, Map<String, Long> expected)
    {
        assertThat(computeActual("ALTER TABLE gear EXECUTE " + verb).getMaterializedRows().stream()
                .collect(toImmutableMap(row -> (String) row.getField(0), row -> (Long) row.getField(1))))
                .as(verb)
                .isEqualTo(expected);
    }

    private long snapshotId(String table, String ref)
    {
        return (long) computeScalar("SELECT snapshot_id FROM \"%s$refs\" WHERE name = '%s'".formatted(table, ref));
    }

    private static void runAtOnce(List<Callable<Void>> tasks)
            throws Exception
    {
        try (ExecutorService executor = Executors.newFixedThreadPool(tasks.size())) {
            for (Future<Void> future : executor.invokeAll(tasks)) {
                future.get();
            }
        }
    }
}
