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
import io.trino.Session;
import io.trino.spi.type.TimeZoneKey;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;

import java.util.List;

import static java.util.Locale.ENGLISH;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code ancestors_of} and {@code ref_graph}, and what the functions share.
 */
class TestRefFunctions
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder().setWorkerCount(2).build();
    }

    @Test
    void ancestorsAreTheLineBehindARef()
    {
        assertUpdate("CREATE TABLE tree (n int)");
        long created = snapshotId("tree", "main");
        assertUpdate("INSERT INTO tree VALUES 1", 1);
        long first = snapshotId("tree", "main");
        assertUpdate("CREATE BRANCH \"Twig\" IN TABLE tree");
        assertUpdate("INSERT INTO tree@\"Twig\" VALUES 20", 1);
        assertUpdate("INSERT INTO tree VALUES 2", 1);
        long second = snapshotId("tree", "main");
        assertUpdate("CALL system.create_tag('tpch', 'tree', 'ring')");
        assertUpdate("INSERT INTO tree VALUES 3", 1);

        assertThat(ancestors("tree", "main")).containsExactly(snapshotId("tree", "main"), second, first, created);
        assertThat(ancestors("tree", "Twig")).containsExactly(snapshotId("tree", "Twig"), first, created);
        assertThat(ancestors("tree", "ring")).containsExactly(second, first, created);

        // a value of the zone of the session, as the snapshots table has it
        Session vienna = Session.builder(getSession()).setTimeZoneKey(TimeZoneKey.getTimeZoneKey("Europe/Vienna")).build();
        assertThat(computeActual(vienna, "SELECT snapshot_id, committed_at FROM TABLE(lake.system.ancestors_of(table_name => 'tree', schema_name => 'tpch', ref => 'main'))").getMaterializedRows())
                .containsExactlyInAnyOrderElementsOf(computeActual(vienna, "SELECT snapshot_id, committed_at FROM \"tree$snapshots\" WHERE snapshot_id <> %s".formatted(snapshotId("tree", "Twig"))).getMaterializedRows());

        assertUpdate("CALL system.rollback_to(schema_name => 'tpch', table_name => 'tree', snapshot_id => %s)".formatted(first));
        assertThat(ancestors("tree", "main")).containsExactly(first, created);
        assertThat(ancestors("tree", "ring")).containsExactly(second, first, created);
        assertUpdate("DROP TABLE tree");
    }

    @Test
    void ancestorsEndWhereSnapshotsAreExpired()
    {
        Session noRetention = Session.builder(getSession()).setCatalogSessionProperty("lake", "expire_snapshots_min_retention", "0s").build();
        assertUpdate("CREATE TABLE trimmed (n int)");
        assertUpdate("INSERT INTO trimmed VALUES 1", 1);
        assertUpdate("INSERT INTO trimmed VALUES 2", 1);
        assertThat(ancestors("trimmed", "main")).hasSize(3);
        assertUpdate(noRetention, "ALTER TABLE trimmed EXECUTE expire_snapshots(retention_threshold => '0s')");
        assertThat(ancestors("trimmed", "main")).containsExactly(snapshotId("trimmed", "main"));
        assertThat(graph("trimmed")).containsExactly("* main");
        assertUpdate("DROP TABLE trimmed");
    }

    @Test
    void manyAncestorsKeepTheirOrder()
    {
        assertUpdate("CREATE TABLE long_line (n int)");
        for (int i = 0; i < 40; i++) {
            assertUpdate("INSERT INTO long_line VALUES " + i, 1);
        }
        assertThat(computeActual("SELECT snapshot_id FROM TABLE(system.ancestors_of('tpch', 'long_line', 'main'))").getOnlyColumn())
                .containsExactlyElementsOf(computeActual("SELECT snapshot_id FROM \"long_line$snapshots\" ORDER BY committed_at DESC, snapshot_id").getOnlyColumn().toList());
        assertUpdate("DROP TABLE long_line");
    }

    @Test
    void graphIsThePictureOfGit()
    {
        assertUpdate("CREATE TABLE forest (n int)");
        assertUpdate("CALL system.create_tag('tpch', 'forest', 'v0')");
        assertUpdate("INSERT INTO forest VALUES 1, 2", 2);
        assertUpdate("CREATE BRANCH audit IN TABLE forest");
        assertUpdate("CREATE BRANCH \"Old\" IN TABLE forest");
        assertUpdate("INSERT INTO forest@audit VALUES 3", 1);
        assertUpdate("INSERT INTO forest VALUES 4", 1);
        assertUpdate("DELETE FROM forest@audit", 3);
        assertUpdate("CALL system.create_tag('tpch', 'forest', 'v1')");
        assertUpdate("CALL system.create_tag('tpch', 'forest', 'A')");
        assertThat(graph("forest")).containsExactly(
                "* audit",
                "* ",
                "| * main, tag: A, tag: v1",
                "|/ ",
                "* Old",
                "* tag: v0");
        assertQuery(
                """
                SELECT g.graph, s.operation, s.committed_at IS NOT NULL AND s.committed_at = g.committed_at, g.operation = s.operation, added_records, deleted_records
                FROM TABLE(system.ref_graph('tpch', 'forest')) g LEFT JOIN "forest$snapshots" s ON g.snapshot_id = s.snapshot_id
                """,
                """
                VALUES
                    ('*', 'delete', true, true, NULL, 3),
                    ('*', 'append', true, true, 1, NULL),
                    ('| *', 'append', true, true, 1, NULL),
                    ('|/', NULL, false, NULL, NULL, NULL),
                    ('*', 'append', true, true, 2, NULL),
                    ('*', 'append', true, true, NULL, NULL)
                """);

        // what no ref reaches is not drawn
        assertUpdate("DROP BRANCH audit IN TABLE forest");
        assertThat(graph("forest")).containsExactly("* main, tag: A, tag: v1", "* Old", "* tag: v0");
        assertUpdate("DROP TABLE forest");
    }

    @Test
    void functionsReadWhatTheTransactionReads()
    {
        assertUpdate("CREATE TABLE pinned (n int)");
        newTransaction().execute(getSession(), session -> {
            int before = computeActual(session, "SELECT * FROM TABLE(system.ancestors_of('tpch', 'pinned', 'main'))").getRowCount();
            assertUpdate("INSERT INTO pinned VALUES 1", 1);
            assertUpdate("CREATE BRANCH later IN TABLE pinned");
            assertThat(computeActual(session, "SELECT * FROM TABLE(system.ancestors_of('tpch', 'pinned', 'main'))").getRowCount()).isEqualTo(before);
            assertThat(computeActual(session, "SELECT refs FROM TABLE(system.ref_graph('tpch', 'pinned'))").getOnlyColumn()).containsExactly("main");
        });
        assertThat(graph("pinned")).containsExactly("* main, later", "* ");
        assertUpdate("DROP TABLE pinned");
    }

    @Test
    void argumentsThatCannotBeUsed()
    {
        assertUpdate("CREATE TABLE some (n int)");
        assertUpdate("CREATE BRANCH \"Dev\" IN TABLE some");
        assertUpdate("CREATE VIEW some_view AS SELECT * FROM some");
        assertFails("ancestors_of('tpch', 'some', 'nobody')", "Ref does not exist in tpch.some: nobody");
        assertFails("ancestors_of('tpch', 'some', 'dev')", "Ref does not exist in tpch.some: dev");
        for (String table : List.of("none", "some$refs", "some@Dev", "some_view", "some\u001eb446576")) {
            String message = ".*Table 'tpch.%s' not found.*".formatted(table.toLowerCase(ENGLISH).replace("$", "\\$"));
            assertFails("ancestors_of('tpch', '%s', 'Dev')".formatted(table), message);
            assertFails("ref_graph('tpch', '%s')".formatted(table), message);
        }
        assertFails("ancestors_of('nowhere', 'some', 'Dev')", ".*Table 'nowhere.some' not found.*");
        assertFails("ancestors_of(NULL, 'some', 'Dev')", "schema_name cannot be null or empty");
        assertFails("ancestors_of('tpch', '', 'Dev')", "table_name cannot be null or empty");
        assertFails("ancestors_of('tpch', 'some', NULL)", "ref cannot be null or empty");
        assertFails("ref_graph('tpch', NULL)", "table_name cannot be null or empty");
        assertUpdate("DROP VIEW some_view");
        assertUpdate("DROP TABLE some");
    }

    private void assertFails(String call, String message)
    {
        assertQueryFails("SELECT * FROM TABLE(system.%s)".formatted(call), message);
    }

    private List<Object> ancestors(String table, String ref)
    {
        return computeActual("SELECT snapshot_id FROM TABLE(system.ancestors_of('tpch', '%s', '%s'))".formatted(table, ref)).getOnlyColumn().toList();
    }

    /**
     * The drawing with the refs.
     */
    private List<Object> graph(String table)
    {
        return computeActual("SELECT graph || ' ' || coalesce(refs, '') FROM TABLE(system.ref_graph('tpch', '%s'))".formatted(table)).getOnlyColumn().toList();
    }

    private long snapshotId(String table, String ref)
    {
        return (long) computeScalar("SELECT snapshot_id FROM \"%s$refs\" WHERE name = '%s'".formatted(table, ref));
    }
}
