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
import io.skade.store.RocksDbPointerStore;
import io.trino.Session;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static io.trino.testing.TestingAccessControlManager.TestingPrivilegeType.CREATE_TABLE;
import static io.trino.testing.TestingAccessControlManager.TestingPrivilegeType.CREATE_VIEW;
import static io.trino.testing.TestingAccessControlManager.TestingPrivilegeType.DELETE_TABLE;
import static io.trino.testing.TestingAccessControlManager.branchPrivilege;
import static io.trino.testing.TestingAccessControlManager.privilege;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an operator does with the store as a whole.
 */
@Execution(ExecutionMode.SAME_THREAD)
class TestStoreOperations
        extends AbstractTestQueryFramework
{
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

    @AfterEach
    void reset()
    {
        getQueryRunner().getAccessControl().reset();
        for (Object table : computeActual("SELECT DISTINCT table_name FROM information_schema.tables WHERE table_schema = 'tpch' AND table_type = 'BASE TABLE'").getOnlyColumnAsSet()) {
            assertUpdate("DROP TABLE \"%s\"".formatted(table));
        }
    }

    private void createCatalog(String name, Map<String, String> properties)
    {
        getQueryRunner().createCatalog(name, "skade", ImmutableMap.<String, String>builder()
                .putAll(SkadeQueryRunner.catalogProperties(data))
                .put("iceberg.register-table-procedure.enabled", "true")
                .putAll(properties)
                .buildKeepingLast());
    }

    private static Session session(String catalog)
    {
        return testSessionBuilder().setCatalog(catalog).setSchema("tpch").build();
    }

    private List<?> rows(Session session, String sql)
    {
        return computeActual(session, sql).getMaterializedRows();
    }

    private String metadataLocation(String table, int commitsAgo)
    {
        return (String) computeScalar("SELECT metadata_location FROM system.commit_log WHERE table_name = '%s' ORDER BY log_id DESC OFFSET %s LIMIT 1".formatted(table, commitsAgo));
    }

    /**
     * The store forgets the last commits to a table, as it would if its log were cut.
     */
    private void forgetLastCommits(String table, int commits)
    {
        String file = metadataLocation(table, commits);
        int folder = file.indexOf("/metadata/");
        assertUpdate("CALL system.unregister_table('tpch', '%s')".formatted(table));
        assertUpdate("CALL system.register_table('tpch', '%s', '%s', '%s')".formatted(table, file.substring(0, folder), file.substring(file.lastIndexOf('/') + 1)));
    }

    @Test
    void rebuildOfALostStore()
    {
        createCatalog("lost", ImmutableMap.of("skade.store.path", data.resolve("first").toString(), "skade.warehouse", "file:///lost"));
        Session lost = session("lost");
        assertUpdate(lost, "CREATE SCHEMA tpch");
        assertUpdate(lost, "CREATE SCHEMA sales");
        assertUpdate(lost, "CREATE TABLE sales.orders (id bigint, day date) WITH (partitioning = ARRAY['day'])");
        assertUpdate(lost, "INSERT INTO sales.orders VALUES (1, DATE '2026-01-01'), (2, DATE '2026-01-02')", 2);
        assertUpdate(lost, "CREATE BRANCH audit IN TABLE sales.orders");
        assertUpdate(lost, "CREATE BRANCH kept IN TABLE sales.orders");
        assertUpdate(lost, "CALL system.create_tag(schema_name => 'sales', table_name => 'orders', tag => 'Eoy', max_ref_age => '400d')");
        assertUpdate(lost, "INSERT INTO sales.orders@audit VALUES (3, DATE '2026-01-03')", 1);
        assertUpdate(lost, "DELETE FROM sales.orders WHERE id = 1", 1);
        assertUpdate(lost, "CALL system.protect_ref('sales', 'orders', 'kept')");
        assertUpdate(lost, "CREATE TABLE empty (n int)");
        assertUpdate(lost, "CREATE TABLE dropped AS SELECT 1 AS n", 1);
        assertUpdate(lost, "DROP TABLE dropped");
        assertUpdate(lost, "CREATE TABLE before_rename AS SELECT 7 AS n", 1);
        assertUpdate(lost, "ALTER TABLE before_rename RENAME TO after_rename");
        assertUpdate(lost, "CREATE VIEW sales.shown AS SELECT id FROM sales.orders WHERE id > 1");
        assertUpdate(lost, "CREATE OR REPLACE VIEW sales.shown AS SELECT id + 100 AS id FROM sales.orders");
        List<?> refs = rows(lost, "SELECT * FROM sales.\"orders$refs\"");
        assertThat(refs).hasSize(4);

        // the same catalog with an empty folder for its store
        getQueryRunner().execute("DROP CATALOG lost");
        createCatalog("lost", ImmutableMap.of("skade.store.path", data.resolve("second").toString(), "skade.warehouse", "file:///lost"));
        assertQuery(lost, "SHOW SCHEMAS LIKE 'sales'", "SELECT 'x' WHERE false");
        // the file system lists file: locations as local: ones
        assertQuery(
                lost,
                "SELECT table_schema, table_name, outcome, message FROM TABLE(system.rebuild_preview())",
                """
                VALUES
                    ('sales', 'orders', 'created', NULL),
                    ('sales', 'shown', 'created', NULL),
                    ('tpch', 'before_rename', 'created', NULL),
                    ('tpch', 'empty', 'created', NULL)
                """);
        assertUpdate(lost, "CALL system.rebuild_store(dry_run => true)");
        assertQuery(lost, "SHOW SCHEMAS LIKE 'sales'", "SELECT 'x' WHERE false");

        assertUpdate(lost, "CALL system.rebuild_store()");
        assertThat(rows(lost, "SELECT * FROM sales.\"orders$refs\"")).isEqualTo(refs);
        assertQuery(lost, "SELECT id FROM sales.orders", "VALUES 2");
        assertQuery(lost, "SELECT id FROM sales.orders FOR VERSION AS OF 'audit'", "VALUES 1, 2, 3");
        assertQuery(lost, "SELECT id FROM sales.orders FOR VERSION AS OF 'Eoy'", "VALUES 1, 2");
        assertQuery(lost, "SELECT id FROM sales.shown", "VALUES 102");
        assertQuery(lost, "SELECT n FROM before_rename", "VALUES 7");
        assertQueryReturnsEmptyResult(lost, "SELECT n FROM empty");
        assertQueryFails(lost, "INSERT INTO sales.orders@kept VALUES (4, DATE '2026-01-04')", "Cannot change kept of sales.orders .*");
        assertQuery(lost, "SELECT DISTINCT operation, log_id FROM system.commit_log", "VALUES ('rebuild', 1)");
        assertQuery(lost, "SELECT DISTINCT outcome FROM TABLE(system.rebuild_preview())", "VALUES 'up_to_date'");
        assertQueryReturnsEmptyResult(lost, "SELECT * FROM TABLE(system.check_store())");
        assertUpdate(lost, "INSERT INTO sales.orders VALUES (5, DATE '2026-01-05')", 1);
        getQueryRunner().execute("DROP CATALOG lost");
    }

    @Test
    void rebuildBringsBackForgottenCommits()
    {
        assertUpdate("CREATE TABLE cut (n int)");
        assertUpdate("INSERT INTO cut VALUES 1", 1);
        assertUpdate("INSERT INTO cut VALUES 2", 1);
        assertUpdate("CREATE BRANCH b IN TABLE cut");
        String newest = metadataLocation("cut", 0);
        String earlier = metadataLocation("cut", 2);
        forgetLastCommits("cut", 2);
        assertQuery("SELECT n FROM cut", "VALUES 1");
        assertQuery("SELECT table_name, problem, metadata_location FROM TABLE(system.check_store())", "VALUES ('cut', 'newer_metadata', '%s')".formatted(newest));
        assertQuery(
                "SELECT outcome, metadata_location, message FROM TABLE(system.rebuild_preview('local:///warehouse/tpch')) WHERE table_name = 'cut'",
                "VALUES ('moved', '%s', 'It descends from %s, where the pointer is')".formatted(newest, earlier));

        getQueryRunner().getAccessControl().deny(branchPrivilege("cut", "b", DELETE_TABLE));
        assertQueryFails("CALL system.rebuild_store()", "Access Denied: .*");
        getQueryRunner().getAccessControl().reset();
        assertQuery("SELECT n FROM cut", "VALUES 1");

        assertUpdate("CALL system.rebuild_store()");
        assertQuery("SELECT n FROM cut", "VALUES 1, 2");
        assertQuery("SELECT n FROM cut FOR VERSION AS OF 'b'", "VALUES 1, 2");
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.check_store())");
    }

    @Test
    void rebuildTakesWhatIsLeftOfADamagedTable()
            throws IOException
    {
        assertUpdate("CREATE TABLE hurt (n int)");
        assertUpdate("INSERT INTO hurt VALUES 1", 1);
        assertUpdate("INSERT INTO hurt VALUES 2", 1);
        String newest = metadataLocation("hurt", 0);
        // a catalog that starts puts back what it can
        createCatalog("fresh", ImmutableMap.of());
        Files.write(data.resolve(newest.replace("local:///", "")), new byte[0]);
        assertQueryFails(session("fresh"), "SELECT * FROM hurt", "The metadata file of tpch.hurt is damaged: .*");
        assertQuery("SELECT outcome, message FROM TABLE(system.rebuild_preview()) WHERE table_name = 'hurt'", "VALUES ('moved', '%s')".formatted(
                "The file where the pointer is, %1$s, is gone or damaged: this is the newest that is left. What was newer is damaged: %1$s".formatted(newest)));
        assertUpdate("CALL system.rebuild_store()");
        assertQuery(session("fresh"), "SELECT n FROM hurt", "VALUES 1");
        assertUpdate(session("fresh"), "INSERT INTO hurt VALUES 3", 1);
        getQueryRunner().execute("DROP CATALOG fresh");
    }

    @Test
    void rightsOfARebuild()
    {
        assertUpdate("CREATE TABLE secret (n int)");
        assertUpdate("CREATE VIEW secret_view AS SELECT 1 AS n");
        String file = metadataLocation("secret", 0);
        assertUpdate("CALL system.unregister_table('tpch', 'secret')");
        assertUpdate("DROP VIEW secret_view");

        getQueryRunner().getAccessControl().deny(privilege("secret", CREATE_TABLE));
        assertQueryFails("CALL system.rebuild_store()", "Access Denied: Cannot create table .*secret");
        assertQueryFails("CALL system.rebuild_store(dry_run => true)", "Access Denied: Cannot create table .*secret");
        getQueryRunner().getAccessControl().reset();
        getQueryRunner().getAccessControl().deny(privilege("secret_view", CREATE_VIEW));
        assertQueryFails("CALL system.rebuild_store()", "Access Denied: Cannot create view .*secret_view");
        getQueryRunner().getAccessControl().reset();
        assertQueryReturnsEmptyResult("SHOW TABLES LIKE 'secret%'");

        assertUpdate("CALL system.rebuild_store()");
        assertThat(metadataLocation("secret", 0)).isEqualTo(file);
        assertUpdate("DROP VIEW secret_view");

        // who does not see a table does not see its problems
        assertUpdate("INSERT INTO secret VALUES 1", 1);
        forgetLastCommits("secret", 1);
        assertQuery("SELECT table_name FROM TABLE(system.check_store())", "VALUES 'secret'");
        getQueryRunner().getAccessControl().denyTables(table -> !table.getTableName().equals("secret"));
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.check_store())");
    }

    @Test
    void locationsOfARebuild()
    {
        assertUpdate("CREATE TABLE inside (n int)");
        for (String location : List.of("local:///../outside", "local:///warehouse/../../outside", "nowhere:///x", "/etc", "nonsense", "s3://bucket/x")) {
            assertQueryFails("CALL system.rebuild_store('%s')".formatted(location), "The catalog's file system cannot reach %s: .*".formatted(location));
            assertQueryFails("SELECT * FROM TABLE(system.rebuild_preview('%s'))".formatted(location), "The catalog's file system cannot reach %s: .*".formatted(location));
        }
        assertQueryFails("CALL system.rebuild_store('')", "location cannot be null or empty");
        assertQueryFails("CALL system.rebuild_store('local:///warehouse/none')", "There is no metadata of a table or view under local:///warehouse/none");
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.rebuild_preview('local:///warehouse/none'))");

        createCatalog("bound", ImmutableMap.of("iceberg.register-table-procedure.enabled", "false"));
        assertQuery("SELECT table_name, outcome FROM TABLE(bound.system.rebuild_preview('local:///warehouse/tpch/')) WHERE table_name = 'inside'", "VALUES ('inside', 'up_to_date')");
        for (String location : List.of("local:///", "local:///warehouse2", "local:///warehouse/../warehouse2")) {
            assertQueryFails(
                    "CALL bound.system.rebuild_store('%s')".formatted(location),
                    "local:.* is not in the warehouse, local:///warehouse: that takes iceberg.register-table-procedure.enabled=true");
        }
        getQueryRunner().execute("DROP CATALOG bound");
    }

    @Test
    void backup()
    {
        assertUpdate("CREATE TABLE saved (n int)");
        assertUpdate("INSERT INTO saved VALUES 1", 1);
        assertQueryFails("CALL system.backup_store('daily')", "Backups are off: skade.backup.path has to name the folder on the coordinator's disk that takes them");

        createCatalog("safe", ImmutableMap.of("skade.backup.path", data.resolve("backups").toString()));
        for (String location : List.of("/tmp/daily", "..", "../daily", "a/../../daily", ".", "a/..")) {
            assertQueryFails("CALL safe.system.backup_store('%s')".formatted(location), "location must be the path of a folder under skade.backup.path, as 'daily': .*");
        }
        assertQueryFails("CALL safe.system.backup_store('')", "location cannot be null or empty");
        assertThat(data.resolve("backups")).doesNotExist();

        assertUpdate("CALL safe.system.backup_store('daily')");
        assertUpdate("INSERT INTO saved VALUES 2", 1);
        assertUpdate("CALL safe.system.backup_store('a/b')");
        getQueryRunner().execute("DROP CATALOG safe");

        RocksDbPointerStore.restore(data.resolve("backups/daily"), data.resolve("restored"));
        createCatalog("restored", ImmutableMap.of("skade.store.path", data.resolve("restored").toString()));
        assertQuery(session("restored"), "SELECT n FROM saved", "VALUES 1");
        assertQuery("SELECT problem FROM TABLE(restored.system.check_store()) WHERE table_name = 'saved'", "VALUES 'newer_metadata'");
        assertUpdate("CALL restored.system.rebuild_store()");
        assertQuery(session("restored"), "SELECT n FROM saved", "VALUES 1, 2");
        getQueryRunner().execute("DROP CATALOG restored");

        createCatalog("wrong", ImmutableMap.of("skade.backup.path", data.resolve("store/backups").toString()));
        assertQueryFails("CALL wrong.system.backup_store('daily')", "skade.backup.path is in the folder of the store: .*");
        getQueryRunner().execute("DROP CATALOG wrong");
    }
}
