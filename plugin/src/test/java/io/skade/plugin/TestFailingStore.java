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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.skade.store.CommitResult;
import io.skade.store.CommitResult.Conflict;
import io.skade.store.CommitResult.PointerMismatch;
import io.skade.store.ForwardingPointerStore;
import io.skade.store.PointerChange;
import io.skade.store.PointerCommit;
import io.skade.store.PointerStore;
import io.skade.store.RocksDbPointerStore;
import io.skade.store.StoreException;
import io.trino.spi.connector.ConnectorFactory;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryFailedException;
import io.trino.testing.QueryRunner;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Every kind of statement, when the store fails its commit before the write, after it, or by a race. Whatever the statement reports: all refs read, and what was
 * acknowledged or may be durable has all its files.
 */
@Execution(ExecutionMode.SAME_THREAD)
class TestFailingStore
        extends AbstractTestQueryFramework
{
    private static final Map<String, String> STATEMENTS = ImmutableMap.<String, String>builder()
            .put("insert", "INSERT INTO t VALUES (7, 'g')")
            .put("insert on a branch", "INSERT INTO t@dev VALUES (7, 'g')")
            .put("update", "UPDATE t SET v = 'x' WHERE id = 1 OR v = 'b'")
            .put("delete of a row", "DELETE FROM t WHERE v = 'b'")
            .put("delete of a partition", "DELETE FROM t WHERE id = 2")
            .put("merge on a branch", "MERGE INTO t@dev USING (VALUES 1, 8) s(id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'n')")
            .put("truncate", "TRUNCATE TABLE t")
            .put("add column", "ALTER TABLE t ADD COLUMN w integer")
            .put("set properties", "ALTER TABLE t SET PROPERTIES format_version = 3")
            .put("optimize", "ALTER TABLE t EXECUTE optimize")
            .put("optimize manifests", "ALTER TABLE t EXECUTE optimize_manifests")
            .put("expire snapshots", "ALTER TABLE t EXECUTE expire_snapshots(retention_threshold => '0s')")
            .put("analyze", "ANALYZE t")
            .put("replace table", "CREATE OR REPLACE TABLE t AS SELECT id FROM t")
            .put("create table", "CREATE TABLE made AS SELECT * FROM t")
            .put("create tag", "CALL system.create_tag('tpch', 't', 'v2')")
            .put("create branch", "CREATE BRANCH other IN TABLE t")
            .put("publish", "CALL system.publish_branch('tpch', 't', 'dev')")
            .put("publish many", "CALL system.publish_branches(schema_name => 'tpch', branch => 'dev', drop_branch => true)")
            .put("rebase", "CALL system.publish_branch(schema_name => 'tpch', table_name => 't', branch => 'late', mode => 'rebase')")
            .put("cherry-pick", "CALL system.cherrypick_snapshot('tpch', 't', (SELECT 1))")
            .put("roll back", "CALL system.rollback_to('tpch', 't', 'v1')")
            .put("undo", "CALL system.undo_ref('tpch', 't', 'main')")
            .put("drop ref", "CALL system.drop_ref('tpch', 't', 'dev')")
            .put("protect", "CALL system.protect_ref('tpch', 't', 'dev')")
            .buildOrThrow();

    private enum Fault
    {
        /**
         * The store takes no commit.
         */
        REFUSED,
        /**
         * The outcome is unknown, and the commit was not made.
         */
        LOST,
        /**
         * The outcome is unknown, and the commit was made.
         */
        MADE,
        /**
         * Another commit was first.
         */
        CONFLICT,
    }

    private final FaultyStores stores = new FaultyStores();

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder()
                .setPlugin(new SkadePlugin()
                {
                    @Override
                    public Iterable<ConnectorFactory> getConnectorFactories()
                    {
                        return ImmutableList.of(new SkadeConnectorFactory(folder -> stores.new FaultyStore(RocksDbPointerStore.open(folder))));
                    }
                })
                .addCatalogProperty("iceberg.expire-snapshots.min-retention", "0s")
                .setWorkerCount(0)
                .build();
    }

    @Test
    void everyRefReadsAfterAFault()
    {
        List<String> failures = new ArrayList<>();
        STATEMENTS.forEach((name, sql) -> {
            for (Fault fault : Fault.values()) {
                createTable();
                try {
                    check(sql, fault);
                }
                catch (AssertionError | RuntimeException e) {
                    failures.add("%s, %s: %s".formatted(name, fault, e));
                }
                stores.next = Optional.empty();
                dropTables();
            }
        });
        assertThat(failures).isEmpty();
    }

    private void check(String sql, Fault fault)
    {
        String statement = sql.contains("(SELECT 1)")
                ? sql.replace("(SELECT 1)", computeScalar("SELECT snapshot_id FROM \"t$refs\" WHERE name = 'late'").toString())
                : sql;
        List<String> rows = rows();
        Object lastCommit = lastCommit();
        stores.next = Optional.of(fault);
        // who creates a table does not try again when another was first
        boolean retried = fault == Fault.CONFLICT && !sql.startsWith("CREATE TABLE");
        if (retried) {
            computeActual(statement);
        }
        else {
            assertThatThrownBy(() -> computeActual(statement))
                    .isInstanceOf(QueryFailedException.class)
                    .hasMessageContaining(switch (fault) {
                        case REFUSED -> "takes no commit";
                        case LOST, MADE -> "the disk does not answer";
                        case CONFLICT -> "already exists";
                    });
        }
        assertThat(stores.next).as("the fault was met").isEmpty();
        if (retried || fault == Fault.MADE) {
            assertThat((long) lastCommit()).isGreaterThan((long) lastCommit);
            assertThat(rows()).isNotEmpty();
        }
        else {
            assertThat(lastCommit()).isEqualTo(lastCommit);
            assertThat(rows()).isEqualTo(rows);
        }
        // and the table takes the next statement
        assertUpdate("INSERT INTO t (id) VALUES 99", 1);
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.check_store())");
    }

    private void createTable()
    {
        assertUpdate("CREATE TABLE t (id integer, v varchar) WITH (partitioning = ARRAY['id'])");
        assertUpdate("INSERT INTO t VALUES (1, 'a'), (1, 'b')", 2);
        assertUpdate("CALL system.create_tag('tpch', 't', 'v1')");
        assertUpdate("CREATE BRANCH late IN TABLE t");
        assertUpdate("INSERT INTO t@late VALUES (5, 'e')", 1);
        assertUpdate("INSERT INTO t VALUES (2, 'c')", 1);
        assertUpdate("INSERT INTO t VALUES (1, 'd')", 1);
        assertUpdate("CREATE BRANCH dev IN TABLE t");
        assertUpdate("INSERT INTO t@dev VALUES (3, 'f')", 1);
    }

    private void dropTables()
    {
        if (computeActual("SHOW BRANCHES IN TABLE t").getOnlyColumnAsSet().contains("dev")) {
            computeActual("CALL system.unprotect_ref('tpch', 't', 'dev')");
        }
        assertUpdate("DROP TABLE t");
        assertUpdate("DROP TABLE IF EXISTS made");
    }

    private Object lastCommit()
    {
        return computeScalar("SELECT max(log_id) FROM system.commit_log");
    }

    /**
     * All rows at all refs of all tables, read from their files.
     */
    private List<String> rows()
    {
        return computeActual("SELECT table_name, name FROM system.refs WHERE table_schema = 'tpch' ORDER BY 1, 2").getMaterializedRows().stream()
                .map(ref -> "%s %s".formatted(ref, computeActual("SELECT * FROM %s FOR VERSION AS OF '%s'".formatted(ref.getField(0), ref.getField(1))).getMaterializedRows().stream()
                        .map(Object::toString)
                        .sorted()
                        .toList()))
                .toList();
    }

    private static final class FaultyStores
    {
        private volatile Optional<Fault> next = Optional.empty();

        private final class FaultyStore
                extends ForwardingPointerStore
        {
            private FaultyStore(PointerStore store)
            {
                super(store);
            }

            @Override
            public CommitResult commit(List<PointerCommit> commits)
            {
                Optional<Fault> fault = next;
                next = Optional.empty();
                if (fault.isEmpty()) {
                    return delegate().commit(commits);
                }
                return switch (fault.get()) {
                    case REFUSED -> throw new StoreException("The store takes no commit");
                    case LOST -> throw new CommitStateUnknownException(new RuntimeException("the disk does not answer"));
                    case MADE -> {
                        delegate().commit(commits);
                        throw new CommitStateUnknownException(new RuntimeException("the disk does not answer"));
                    }
                    case CONFLICT -> {
                        PointerChange change = commits.getFirst().pointers().getFirst();
                        yield new Conflict(ImmutableList.of(new PointerMismatch(change.name(), change.expected(), change.expected())));
                    }
                };
            }
        }
    }
}
