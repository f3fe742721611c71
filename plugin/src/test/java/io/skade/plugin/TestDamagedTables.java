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

import com.google.common.collect.ImmutableMap;
import io.trino.Session;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

import static io.trino.testing.TestingSession.testSessionBuilder;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * One damaged table or view errors with its path and the way back. All others work.
 */
@Execution(ExecutionMode.SAME_THREAD)
class TestDamagedTables
        extends AbstractTestQueryFramework
{
    private static final String WAY_BACK = "\\. Put the file back, or see TABLE\\(system\\.rebuild_preview\\(\\)\\) .*";

    private Path data;

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        DistributedQueryRunner queryRunner = SkadeQueryRunner.builder()
                // a metadata file that is damaged at once would be read from the store
                .addCatalogProperty("skade.local-sync", "false")
                .setWorkerCount(0)
                .build();
        data = queryRunner.getCoordinator().getBaseDataDir().resolve("skade");
        return queryRunner;
    }

    /**
     * A session of a new catalog on the same store, which has no metadata in memory.
     */
    private Session newCatalog(String name)
    {
        getQueryRunner().createCatalog(name, "skade", ImmutableMap.<String, String>builder()
                .putAll(SkadeQueryRunner.catalogProperties(data))
                .put("iceberg.register-table-procedure.enabled", "true")
                .buildOrThrow());
        return testSessionBuilder().setCatalog(name).setSchema("tpch").build();
    }

    private String metadataLocation(String table)
    {
        return (String) computeScalar("SELECT metadata_location FROM system.commit_log WHERE table_name = '%s' ORDER BY log_id DESC LIMIT 1".formatted(table));
    }

    private Path metadataFile(String table)
    {
        return data.resolve(metadataLocation(table).replace("local:///", ""));
    }

    private void createTable(String name)
    {
        assertUpdate("CREATE TABLE %s (n int)".formatted(name));
        assertUpdate("INSERT INTO %s VALUES 1".formatted(name), 1);
        assertUpdate("CREATE BRANCH side IN TABLE " + name);
    }

    private void damage(String missing, String empty, String cut)
            throws IOException
    {
        Files.delete(metadataFile(missing));
        Files.write(metadataFile(empty), new byte[0]);
        byte[] content = Files.readAllBytes(metadataFile(cut));
        Files.write(metadataFile(cut), Arrays.copyOf(content, content.length / 2));
    }

    @Test
    void oneDamagedTableLeavesTheOthersAlone()
            throws IOException
    {
        List<String> damaged = List.of("gone", "empty", "cut");
        damaged.forEach(this::createTable);
        createTable("whole");
        // a catalog that starts puts back what it can
        Session fresh = newCatalog("fresh");
        damage("gone", "empty", "cut");

        assertQuery(fresh, "SHOW TABLES", "VALUES 'gone', 'empty', 'cut', 'whole'");
        assertQuery(fresh, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'tpch'", "VALUES ('whole', 'n')");
        assertQuery(fresh, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'tpch'", "VALUES 'gone', 'empty', 'cut', 'whole'");
        assertQuery(fresh, "SELECT count(*) FROM system.refs", "VALUES 8");
        assertQuery(fresh, "SELECT n FROM whole FOR VERSION AS OF 'side'", "VALUES 1");
        assertUpdate(fresh, "INSERT INTO whole VALUES 2", 1);

        for (String table : damaged) {
            String error = "The metadata file of tpch.%s is %s: %s".formatted(table, table.equals("gone") ? "missing: Failed to open input stream for file" : "damaged", Pattern.quote(metadataLocation(table))) + WAY_BACK;
            for (String statement : List.of(
                    "SELECT * FROM %s",
                    "SELECT * FROM %s FOR VERSION AS OF 'side'",
                    "SELECT * FROM \"%s@side\"",
                    "SELECT * FROM \"%s$refs\"",
                    "DESCRIBE %s",
                    "INSERT INTO %s VALUES 2",
                    "INSERT INTO %s@side VALUES 2",
                    "CREATE BRANCH b IN TABLE %s",
                    "DROP BRANCH side IN TABLE %s",
                    "ALTER TABLE %s RENAME TO other",
                    "CREATE OR REPLACE TABLE %s (z varchar)",
                    "CALL system.create_tag('tpch', '%s', 'g')",
                    "ALTER TABLE %s EXECUTE create_tag('g')",
                    "SELECT * FROM TABLE(system.ref_graph('tpch', '%s'))")) {
                assertQueryFails(fresh, statement.formatted(table), error);
            }
        }
        assertUpdate(fresh, "DROP TABLE gone");
        assertUpdate(fresh, "DROP TABLE empty");
        assertUpdate(fresh, "CALL system.unregister_table('tpch', 'cut')");
        assertQuery(fresh, "SHOW TABLES", "VALUES 'whole'");
        assertUpdate("DROP TABLE whole");
        getQueryRunner().execute("DROP CATALOG fresh");
    }

    @Test
    void oneDamagedViewLeavesTheOthersAlone()
            throws IOException
    {
        for (String view : List.of("gone_view", "empty_view", "cut_view", "whole_view")) {
            assertUpdate("CREATE VIEW %s AS SELECT 1 AS n".formatted(view));
        }
        damage("gone_view", "empty_view", "cut_view");

        assertQuery("SHOW TABLES LIKE '%view'", "VALUES 'gone_view', 'empty_view', 'cut_view', 'whole_view'");
        assertQuery("SELECT table_name, column_name FROM information_schema.columns WHERE table_name LIKE '%view'", "VALUES ('whole_view', 'n')");
        assertQuery("SELECT table_name FROM information_schema.views WHERE table_name LIKE '%view'", "VALUES 'whole_view'");
        for (String view : List.of("gone_view", "empty_view", "cut_view")) {
            String error = "The metadata file of tpch.%s is %s: %s".formatted(view, view.equals("gone_view") ? "missing: Failed to open input stream for file" : "damaged", Pattern.quote(metadataLocation(view))) + WAY_BACK;
            assertQueryFails("SELECT * FROM " + view, error);
            assertQueryFails("CREATE OR REPLACE VIEW %s AS SELECT 2 AS n".formatted(view), error);
            assertUpdate("DROP VIEW " + view);
        }
        assertQuery("SELECT n FROM whole_view", "VALUES 1");
        assertUpdate("DROP VIEW whole_view");
    }

    @Test
    void checkStoreListsProblems()
            throws IOException
    {
        List.of("gone", "empty", "cut", "old", "swapped", "whole").forEach(this::createTable);
        assertUpdate("CREATE VIEW shown AS SELECT n FROM whole");
        assertUpdate("CREATE VIEW lost AS SELECT n FROM whole");
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.check_store())");

        damage("gone", "empty", "cut");
        Files.delete(metadataFile("lost"));
        String newest = metadataLocation("old");
        String older = (String) computeScalar("SELECT metadata_location FROM system.commit_log WHERE table_name = 'old' ORDER BY log_id DESC OFFSET 1 LIMIT 1");
        String location = newest.substring(0, newest.indexOf("/metadata/"));
        assertUpdate("CALL system.unregister_table('tpch', 'old')");
        assertUpdate("CALL system.register_table('tpch', 'old', '%s', '%s')".formatted(location, older.substring(older.lastIndexOf('/') + 1)));
        String uuid = uuid(metadataFile("swapped"));
        Files.copy(metadataFile("whole"), metadataFile("swapped"), REPLACE_EXISTING);

        assertThat(computeActual("SELECT table_schema, table_name, problem, metadata_location, message FROM TABLE(system.check_store())").getMaterializedRows().stream()
                .map(row -> "%s.%s %s %s: %s".formatted(row.getFields().toArray()))
                // the parser's words, and Iceberg's for a ref
                .map(row -> row.replaceFirst("((unreadable|refs_differ) [^ ]*) .*", "$1 .."))
                .toList())
                .containsExactly(
                        "tpch.cut unreadable %s: ..".formatted(metadataLocation("cut")),
                        "tpch.empty unreadable %s: ..".formatted(metadataLocation("empty")),
                        "tpch.gone missing %s: There is no such file".formatted(metadataLocation("gone")),
                        "tpch.lost missing %s: There is no such file".formatted(metadataLocation("lost")),
                        "tpch.old newer_metadata %s: It descends from %s, where the pointer is: a commit that the store has lost, or one that was cut off before it was acknowledged".formatted(newest, older),
                        "tpch.swapped uuid_differs %s: The uuid is %s in the file and %s in the store".formatted(metadataLocation("swapped"), uuid(metadataFile("whole")), uuid),
                        "tpch.swapped refs_differ %s: ..".formatted(metadataLocation("swapped")));
        for (String table : List.of("gone", "empty", "cut", "old", "swapped")) {
            assertUpdate("CALL system.unregister_table('tpch', '%s')".formatted(table));
        }
        assertUpdate("DROP VIEW lost");
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.check_store())");
        assertUpdate("DROP VIEW shown");
        assertUpdate("DROP TABLE whole");
    }

    private static String uuid(Path metadataFile)
            throws IOException
    {
        return Files.readString(metadataFile).replaceFirst("(?s).*\"table-uuid\"\\s*:\\s*\"([^\"]*)\".*", "$1");
    }
}
