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

import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Several catalogs in one server, and how they are configured.
 */
@Execution(ExecutionMode.SAME_THREAD)
class TestCatalogs
        extends AbstractTestQueryFramework
{
    private static final List<String> PROCEDURES = List.of(
            "create_branch('tpch', 'guarded', 'b')",
            "create_tag('tpch', 'guarded', 'g')",
            "drop_ref('tpch', 'guarded', 'side')",
            "drop_branch('tpch', 'guarded', 'side')",
            "drop_tag('tpch', 'guarded', 'gold')",
            "rename_ref('tpch', 'guarded', 'side', 'other')",
            "replace_branch(schema_name => 'tpch', table_name => 'guarded', branch => 'side', ref => 'main')",
            "replace_tag(schema_name => 'tpch', table_name => 'guarded', tag => 'gold', ref => 'main')",
            "set_ref_retention(schema_name => 'tpch', table_name => 'guarded', ref => 'side', max_ref_age => '1d')",
            "fast_forward('tpch', 'guarded', 'side', 'main')",
            "publish_branch('tpch', 'guarded', 'side')",
            "rollback_to('tpch', 'guarded', 'gold')",
            "set_current_snapshot(schema_name => 'tpch', table_name => 'guarded', ref => 'gold')",
            "cherrypick_snapshot('tpch', 'guarded', 1)",
            "publish_changes('tpch', 'guarded', 'w')",
            "protect_ref('tpch', 'guarded', 'main')",
            "unprotect_ref('tpch', 'guarded', 'main')",
            "undo_ref('tpch', 'guarded', 'main')",
            "expire_refs('tpch', 'guarded')",
            "create_branches('tpch', 'b')",
            "create_tags(schema_name => 'tpch', tag => 'g', tables => ARRAY['guarded'])",
            "drop_refs('tpch', 'side')",
            "publish_branches('tpch', 'side')",
            "rollback_tables('tpch', 'gold')",
            "rollback_to_snapshot('tpch', 'guarded', 1)",
            "backup_store('daily')",
            "rebuild_store()",
            "register_table('tpch', 'again', 'local:///nowhere')",
            "unregister_table('tpch', 'guarded')");

    private Path data;

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        DistributedQueryRunner queryRunner = SkadeQueryRunner.builder().setWorkerCount(0).build();
        data = queryRunner.getCoordinator().getBaseDataDir().resolve("skade");
        return queryRunner;
    }

    private Map<String, String> properties(Map<String, String> more)
    {
        return ImmutableMap.<String, String>builder()
                .putAll(SkadeQueryRunner.catalogProperties(data))
                .putAll(more)
                .buildKeepingLast();
    }

    private static Session session(String catalog)
    {
        return testSessionBuilder().setCatalog(catalog).setSchema("tpch").build();
    }

    @Test
    void catalogsOnOneFolderShareTheStore()
    {
        // the second name of the folder is another one of the same folder
        getQueryRunner().createCatalog("second", "skade", properties(Map.of("skade.store.path", data.resolve("x/../store").toString())));
        assertUpdate("CREATE TABLE shared (n int)");
        assertUpdate(session("second"), "INSERT INTO shared VALUES 1", 1);
        assertQuery("SELECT n FROM shared", "VALUES 1");
        assertUpdate(session("second"), "CALL system.create_tag('tpch', 'shared', 'g')");
        getQueryRunner().execute("DROP CATALOG second");

        // the first catalog still has the store
        assertUpdate("INSERT INTO shared VALUES 2", 1);
        assertQuery("SELECT count(*) FROM shared FOR VERSION AS OF 'g'", "VALUES 1");
        for (int round = 0; round < 3; round++) {
            getQueryRunner().createCatalog("second", "skade", properties(Map.of()));
            assertQuery(session("second"), "SELECT count(*) FROM shared", "VALUES 2");
            getQueryRunner().execute("DROP CATALOG second");
        }
        assertUpdate("DROP TABLE shared");
    }

    @Test
    void readOnlyCatalogRefusesEveryChange()
    {
        assertUpdate("CREATE TABLE guarded (n int)");
        assertUpdate("INSERT INTO guarded VALUES 1", 1);
        assertUpdate("CREATE BRANCH side IN TABLE guarded");
        assertUpdate("CALL system.create_tag('tpch', 'guarded', 'gold')");
        assertUpdate("INSERT INTO guarded VALUES 2", 1);
        Object refs = computeActual("SELECT * FROM \"guarded$refs\"").getMaterializedRows();

        getQueryRunner().createCatalog("frozen", "skade", properties(Map.of("iceberg.security", "read_only", "iceberg.register-table-procedure.enabled", "true")));
        Session frozen = session("frozen");
        assertQuery(frozen, "SELECT n FROM guarded FOR VERSION AS OF 'gold'", "VALUES 1");
        for (String procedure : PROCEDURES) {
            assertQueryFails(frozen, "CALL frozen.system." + procedure, "Access Denied: .*");
        }
        for (String statement : List.of(
                "CREATE BRANCH b IN TABLE guarded",
                "DROP BRANCH side IN TABLE guarded",
                "ALTER BRANCH side IN TABLE guarded FAST FORWARD TO main",
                "INSERT INTO guarded@side VALUES 3",
                "DELETE FROM guarded@side",
                "ALTER TABLE guarded EXECUTE create_tag('h')",
                "ALTER TABLE guarded EXECUTE rollback_to(ref => 'gold')")) {
            assertQueryFails(frozen, statement, "Access Denied: .*");
        }
        assertThat(computeActual("SELECT * FROM \"guarded$refs\"").getMaterializedRows()).isEqualTo(refs);
        getQueryRunner().execute("DROP CATALOG frozen");
        assertUpdate("DROP TABLE guarded");
    }

    @Test
    void commitsAreCounted()
            throws JMException
    {
        ObjectName committer = new ObjectName("io.skade.ref:type=RefCommitter,name=lake");
        ObjectName files = new ObjectName("io.skade.ref:type=MetadataFiles,name=lake");
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        long before = (long) server.getAttribute(committer, "Commits.TotalCount");
        assertUpdate("CREATE TABLE counted (n int)");
        assertUpdate("CALL system.create_tag('tpch', 'counted', 'g')");
        assertThat((long) server.getAttribute(committer, "Commits.TotalCount")).isEqualTo(before + 2);
        assertThat(server.getAttribute(committer, "SyncTime.AllTime.P99")).isNotNull();
        assertThat((long) server.getAttribute(files, "SizeBytes")).isPositive();
        assertThat((double) server.getAttribute(files, "HitRate")).isBetween(0.0, 1.0);
        assertUpdate("DROP TABLE counted");
    }

    @Test
    void refsExpireByThemselves()
            throws InterruptedException
    {
        assertUpdate("CREATE TABLE aging (n int)");
        assertUpdate("INSERT INTO aging VALUES 1", 1);
        assertUpdate("CREATE TABLE empty_aging (n int)");
        for (String table : List.of("aging", "empty_aging")) {
            assertUpdate("CALL system.create_branch(schema_name => 'tpch', table_name => '%s', branch => 'kept', max_ref_age => '1ms')".formatted(table));
            assertUpdate("CALL system.protect_ref('tpch', '%s', 'kept')".formatted(table));
            assertUpdate("CALL system.create_branch(schema_name => 'tpch', table_name => '%s', branch => 'old', max_ref_age => '1ms')".formatted(table));
            assertUpdate("CALL system.create_tag(schema_name => 'tpch', table_name => '%s', tag => 'young', max_ref_age => '1d')".formatted(table));
        }
        getQueryRunner().createCatalog("sweeping", "skade", properties(Map.of("skade.ref-expiry.interval", "1s")));
        Instant deadline = Instant.now().plusSeconds(60);
        while (computeScalar("SELECT count(*) FROM system.refs WHERE name = 'old'").equals(2L)) {
            assertThat(Instant.now()).isBefore(deadline);
            Thread.sleep(100);
        }
        getQueryRunner().execute("DROP CATALOG sweeping");
        assertQuery("SELECT name FROM \"aging$refs\"", "VALUES 'kept', 'main', 'young'");
        assertQuery(
                "SELECT ref, type, operation, new_snapshot_id, changed_by, query_id FROM \"aging$ref_log\" ORDER BY log_id DESC LIMIT 1",
                "VALUES ('old', 'BRANCH', 'expire_refs', NULL, 'skade', NULL)");
        assertUpdate("CALL system.undo_ref('tpch', 'aging', 'old')");
        assertQuery("SELECT count(*) FROM aging FOR VERSION AS OF 'old'", "VALUES 1");
        assertUpdate("CALL system.unprotect_ref('tpch', 'aging', 'kept')");
        assertUpdate("CALL system.unprotect_ref('tpch', 'empty_aging', 'kept')");
        assertUpdate("DROP TABLE aging");
        assertUpdate("DROP TABLE empty_aging");
    }

    @Test
    void aCatalogTypeIsRefused()
    {
        assertThatThrownBy(() -> getQueryRunner().createCatalog("wrong", "skade", properties(Map.of("iceberg.catalog.type", "rest"))))
                .hasStackTraceContaining("Configuration property 'iceberg.catalog.type' cannot be used with connector.name=skade");
    }

    @Test
    void aStoreThatCannotBeOpenedSaysWhy()
            throws IOException
    {
        Path file = Files.writeString(data.resolve("no-folder"), "a file");
        assertQueryFails(
                "CREATE CATALOG wrong USING skade WITH (\"skade.store.path\" = '%s', \"skade.warehouse\" = 'local:///w', \"fs.local.enabled\" = 'true', \"local.location\" = '%s')".formatted(file, data),
                "Cannot create the store folder %1$s: %1$s is a file".formatted(file));
        Files.delete(file);
    }

    @Test
    void anUnknownPropertyIsRefused()
    {
        assertThatThrownBy(() -> getQueryRunner().createCatalog("wrong", "skade", properties(Map.of("skade.stroe.path", "x"))))
                .hasStackTraceContaining("skade.stroe.path");
        // the failed attempt left no store open
        assertQuery("SELECT count(*) FROM system.refs WHERE table_name = 'none'", "VALUES 0");
    }
}
