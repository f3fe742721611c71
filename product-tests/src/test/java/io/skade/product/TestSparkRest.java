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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static io.skade.product.Sql.queryLong;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * Spark commits through the server that owns the tables: each side sees what the other did at once, and the rules of refs hold for both.
 */
@TestInstance(PER_CLASS)
final class TestSparkRest
{
    private static final String TOKEN = "token-of-spark";

    private SkadeServer server;
    private SparkProcess spark;

    @BeforeAll
    void start(@TempDir Path folder)
            throws IOException, InterruptedException
    {
        Path java = EngineProcess.assumeJava("Spark");
        server = SkadeServer.builder("spark-rest").rest("etl", TOKEN).start();
        spark = SparkProcess.start(java, folder, Path.of("target/servers/spark-rest.log"), server, TOKEN);
    }

    @AfterAll
    void stop()
            throws IOException, InterruptedException
    {
        if (spark != null) {
            spark.close();
        }
        if (server != null) {
            server.close();
        }
    }

    /**
     * Spark writes on a branch, Trino audits and publishes.
     */
    @Test
    void testTrinoPublishesBranchOfSpark()
            throws Exception
    {
        spark.sql("CREATE NAMESPACE lake.audited");
        spark.sql("CREATE TABLE lake.audited.orders (id bigint, note string) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true')");
        spark.sql("INSERT INTO lake.audited.orders VALUES (1, 'old')");
        spark.sql("ALTER TABLE lake.audited.orders CREATE BRANCH audit");
        spark.sql("SET spark.wap.branch = audit");
        try (Connection connection = server.connect("lake", "audited")) {
            spark.sql("INSERT INTO lake.audited.orders VALUES (2, 'good'), (3, 'bad')");
            assertThat(query(connection, "SELECT id FROM orders")).containsExactly("1");
            assertThat(query(connection, "SELECT id, note FROM orders FOR VERSION AS OF 'audit' ORDER BY id")).containsExactly("1 | old", "2 | good", "3 | bad");

            execute(connection, "DELETE FROM orders@audit WHERE note = 'bad'");
            spark.sql("UPDATE lake.audited.orders SET note = 'better' WHERE id = 2");
            assertThat(query(connection, "SELECT id FROM orders")).containsExactly("1");

            execute(connection, "CALL lake.system.publish_branch('audited', 'orders', 'audit')");
            assertThat(query(connection, "SELECT id, note FROM orders ORDER BY id")).containsExactly("1 | old", "2 | better");
        }
        finally {
            spark.sql("RESET spark.wap.branch");
        }
        assertThat(spark.sql("SELECT id, note FROM lake.audited.orders ORDER BY id")).containsExactly("1 | old", "2 | better");
    }

    /**
     * Trino writes on a branch, Spark audits and publishes.
     */
    @Test
    void testSparkPublishesBranchOfTrino()
            throws Exception
    {
        try (Connection connection = server.connect("lake", "back")) {
            execute(connection, "CREATE SCHEMA back");
            execute(connection, "CREATE TABLE t (id bigint, name varchar)");
            execute(connection, "INSERT INTO t VALUES (1, 'oak'), (2, 'elm')");
            execute(connection, "CREATE BRANCH audit IN TABLE t");
            execute(connection, "INSERT INTO t@audit VALUES (3, 'yew')");
            execute(connection, "UPDATE t@audit SET name = 'elder' WHERE id = 2");

            assertThat(spark.sql("SELECT id, name FROM lake.back.t ORDER BY id")).containsExactly("1 | oak", "2 | elm");
            assertThat(spark.sql("SELECT id, name FROM lake.back.t VERSION AS OF 'audit' ORDER BY id")).containsExactly("1 | oak", "2 | elder", "3 | yew");
            spark.sql("CALL lake.system.fast_forward('back.t', 'main', 'audit')");
            assertThat(query(connection, "SELECT id, name FROM t ORDER BY id")).containsExactly("1 | oak", "2 | elder", "3 | yew");

            // main goes on by itself, and both refuse to lose what it has
            execute(connection, "INSERT INTO t@audit VALUES (4, 'ash')");
            spark.sql("INSERT INTO lake.back.t VALUES (5, 'fir')");
            assertThatThrownBy(() -> spark.sql("CALL lake.system.fast_forward('back.t', 'main', 'audit')")).hasMessageContaining("main is not an ancestor of audit");
            assertThatThrownBy(() -> execute(connection, "CALL lake.system.fast_forward('back', 't', 'main', 'audit')")).hasMessageContaining("is not an ancestor");
            assertThat(query(connection, "SELECT id FROM t ORDER BY id")).containsExactly("1", "2", "3", "5");
        }
    }

    @Test
    void testLogTellsWhatSparkDid()
            throws Exception
    {
        spark.sql("CREATE NAMESPACE lake.logged");
        spark.sql("CREATE TABLE lake.logged.t (id bigint) USING iceberg");
        spark.sql("INSERT INTO lake.logged.t VALUES 1");
        spark.sql("ALTER TABLE lake.logged.t CREATE TAG first");
        spark.sql("ALTER TABLE lake.logged.t CREATE BRANCH dev RETAIN 7 DAYS");
        spark.sql("INSERT INTO lake.logged.t.branch_dev VALUES 2");
        try (Connection connection = server.connect("lake", "logged")) {
            execute(connection, "INSERT INTO t@dev VALUES 3");
            spark.sql("CALL lake.system.fast_forward('logged.t', 'main', 'dev')");
            spark.sql("DELETE FROM lake.logged.t WHERE id = 3");
            long first = queryLong(connection, "SELECT snapshot_id FROM \"t$refs\" WHERE name = 'first'");
            spark.sql("CALL lake.system.rollback_to_snapshot('logged.t', %s)".formatted(first));
            spark.sql("ALTER TABLE lake.logged.t DROP BRANCH dev");

            assertThat(query(connection, "SELECT ref, type, operation, changed_by FROM \"t$ref_log\" ORDER BY log_id")).containsExactly(
                    "main | BRANCH | append | etl",
                    "first | TAG | create_tag | etl",
                    "dev | BRANCH | create_branch | etl",
                    "dev | BRANCH | append | etl",
                    "dev | BRANCH | append | test",
                    "main | BRANCH | fast_forward | etl",
                    "main | BRANCH | delete | etl",
                    "main | BRANCH | rollback_to | etl",
                    "dev | BRANCH | drop_branch | etl");
            assertThat(query(connection, "SELECT id FROM t")).containsExactly("1");

            // what is in the log can be taken back, whoever did it
            execute(connection, "CALL lake.system.undo_ref('logged', 't', 'dev')");
            execute(connection, "CALL lake.system.undo_ref('logged', 't', 'main')");
            assertThat(spark.sql("SELECT id FROM lake.logged.t ORDER BY id")).containsExactly("1", "2");
            assertThat(spark.sql("SELECT id FROM lake.logged.t.branch_dev ORDER BY id")).containsExactly("1", "2", "3");

            spark.sql("ALTER TABLE lake.logged.t RENAME TO logged.u");
            spark.sql("DROP TABLE lake.logged.u");
            assertThat(query(connection, "SELECT table_name, operation, committed_by FROM system.commit_log WHERE table_schema = 'logged' ORDER BY log_id DESC LIMIT 2")).containsExactly(
                    "u | drop_table | etl",
                    "u | rename_table | etl");
            assertThat(query(connection, "SHOW TABLES")).isEmpty();
        }
    }

    @Test
    void testProtectedBranch()
            throws Exception
    {
        spark.sql("CREATE NAMESPACE lake.guarded");
        spark.sql("CREATE TABLE lake.guarded.t (id bigint) USING iceberg");
        spark.sql("INSERT INTO lake.guarded.t VALUES 1");
        spark.sql("INSERT INTO lake.guarded.t VALUES 2");
        spark.sql("ALTER TABLE lake.guarded.t CREATE BRANCH dev");
        try (Connection connection = server.connect("lake", "guarded")) {
            long first = queryLong(connection, "SELECT snapshot_id FROM \"t$snapshots\" ORDER BY committed_at LIMIT 1");
            execute(connection, "CALL lake.system.protect_ref('guarded', 't', 'main')");
            State before = State.of(connection);

            for (String statement : List.of(
                    "INSERT INTO lake.guarded.t VALUES 3",
                    "INSERT OVERWRITE lake.guarded.t VALUES 3",
                    "DELETE FROM lake.guarded.t WHERE id = 1",
                    "UPDATE lake.guarded.t SET id = 4 WHERE id = 1",
                    "CALL lake.system.rollback_to_snapshot('guarded.t', %s)".formatted(first),
                    "CALL lake.system.set_current_snapshot('guarded.t', %s)".formatted(first),
                    "ALTER TABLE lake.guarded.t UNSET TBLPROPERTIES ('skade.protected-refs')",
                    "ALTER TABLE lake.guarded.t SET TBLPROPERTIES ('skade.protected-refs' = 'dev')",
                    "REPLACE TABLE lake.guarded.t (id bigint) USING iceberg",
                    "DROP TABLE lake.guarded.t")) {
                assertThatThrownBy(() -> spark.sql(statement))
                        .as(statement)
                        .hasMessageContaining("ForbiddenException")
                        .hasMessageContaining("protect");
                assertThat(State.of(connection)).as(statement).isEqualTo(before);
            }

            // what keeps every row is allowed, and so is a way forward
            spark.sql("CALL lake.system.rewrite_data_files(table => 'guarded.t', options => map('rewrite-all', 'true'))");
            assertThat(queryLong(connection, "SELECT count(*) FROM \"t$files\"")).isEqualTo(1);
            assertThat(query(connection, "SELECT id FROM t ORDER BY id")).containsExactly("1", "2");
            spark.sql("ALTER TABLE lake.guarded.t REPLACE BRANCH dev");
            spark.sql("INSERT INTO lake.guarded.t.branch_dev VALUES 3");
            spark.sql("CALL lake.system.fast_forward('guarded.t', 'main', 'dev')");
            assertThat(query(connection, "SELECT id FROM t ORDER BY id")).containsExactly("1", "2", "3");
        }
    }

    /**
     * What a refused statement must leave as it was.
     */
    private record State(List<String> rows, List<String> refs, List<String> properties, List<String> log)
    {
        static State of(Connection connection)
                throws SQLException
        {
            return new State(
                    query(connection, "SELECT id FROM t ORDER BY id"),
                    query(connection, "SELECT name, snapshot_id FROM \"t$refs\" ORDER BY name"),
                    query(connection, "SELECT key, value FROM \"t$properties\" ORDER BY key"),
                    query(connection, "SELECT log_id FROM system.commit_log WHERE table_schema = 'guarded' ORDER BY log_id"));
        }
    }

    /**
     * Columns and partitions that one side changes are those of the other.
     */
    @Test
    void testSchemaAndPartitionChanges()
            throws Exception
    {
        spark.sql("CREATE NAMESPACE lake.shaped");
        spark.sql("CREATE TABLE lake.shaped.t (id bigint, day date) USING iceberg PARTITIONED BY (months(day))");
        spark.sql("INSERT INTO lake.shaped.t VALUES (1, DATE '2026-01-31')");
        try (Connection connection = server.connect("lake", "shaped")) {
            execute(connection, "CALL lake.system.create_tag('shaped', 't', 'narrow')");
            execute(connection, "ALTER TABLE t ADD COLUMN name varchar");
            spark.sql("INSERT INTO lake.shaped.t VALUES (2, DATE '2026-02-01', 'two')");
            spark.sql("ALTER TABLE lake.shaped.t RENAME COLUMN name TO title");
            spark.sql("ALTER TABLE lake.shaped.t REPLACE PARTITION FIELD months(day) WITH days(day)");
            execute(connection, "INSERT INTO t VALUES (3, DATE '2026-02-02', 'three')");
            spark.sql("MERGE INTO lake.shaped.t USING (SELECT 1 AS id, 'one' AS title UNION ALL SELECT 4, 'four') s ON t.id = s.id " +
                    "WHEN MATCHED THEN UPDATE SET title = s.title WHEN NOT MATCHED THEN INSERT (id, day, title) VALUES (s.id, DATE '2026-02-03', s.title)");

            List<String> rows = List.of("1 | 2026-01-31 | one", "2 | 2026-02-01 | two", "3 | 2026-02-02 | three", "4 | 2026-02-03 | four");
            assertThat(query(connection, "SELECT id, day, title FROM t ORDER BY id")).isEqualTo(rows);
            assertThat(spark.sql("SELECT id, day, title FROM lake.shaped.t ORDER BY id")).isEqualTo(rows);
            assertThat(query(connection, "SELECT * FROM t FOR VERSION AS OF 'narrow'")).containsExactly("1 | 2026-01-31");
            assertThat(spark.sql("SELECT * FROM lake.shaped.t VERSION AS OF 'narrow'")).containsExactly("1 | 2026-01-31");
        }
    }

    @Test
    void testReplaceKeepsRefs()
            throws Exception
    {
        spark.sql("CREATE NAMESPACE lake.replaced");
        spark.sql("CREATE TABLE lake.replaced.t USING iceberg AS SELECT 1 AS id, 'oak' AS name");
        try (Connection connection = server.connect("lake", "replaced")) {
            execute(connection, "CALL lake.system.create_tag('replaced', 't', 'before')");
            spark.sql("CREATE OR REPLACE TABLE lake.replaced.t USING iceberg AS SELECT 'elm' AS tree");
            assertThat(query(connection, "SELECT * FROM t")).containsExactly("elm");
            assertThat(query(connection, "SELECT * FROM t FOR VERSION AS OF 'before'")).containsExactly("1 | oak");
            assertThat(spark.sql("SELECT * FROM lake.replaced.t VERSION AS OF 'before'")).containsExactly("1 | oak");

            execute(connection, "CREATE OR REPLACE TABLE t AS SELECT 2 AS n");
            assertThat(spark.sql("SELECT * FROM lake.replaced.t")).containsExactly("2");
            assertThat(spark.sql("SELECT * FROM lake.replaced.t VERSION AS OF 'before'")).containsExactly("1 | oak");
            assertThat(query(connection, "SELECT ref, operation, changed_by FROM \"t$ref_log\" ORDER BY log_id")).containsExactly(
                    "main | create_table | etl",
                    "before | create_tag | test",
                    "main | replace_table | etl",
                    "main | replace_table | test");
        }
    }

    /**
     * What Spark staged without a ref is published by its id.
     */
    @Test
    void testTrinoPublishesWhatSparkStaged()
            throws Exception
    {
        spark.sql("CREATE NAMESPACE lake.staged");
        spark.sql("CREATE TABLE lake.staged.t (id bigint) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true')");
        spark.sql("INSERT INTO lake.staged.t VALUES 1");
        spark.sql("SET spark.wap.id = load-1");
        try (Connection connection = server.connect("lake", "staged")) {
            spark.sql("INSERT INTO lake.staged.t VALUES 2");
            execute(connection, "INSERT INTO t VALUES 3");
            assertThat(query(connection, "SELECT id FROM t ORDER BY id")).containsExactly("1", "3");
            execute(connection, "CALL lake.system.publish_changes('staged', 't', 'load-1')");
            assertThat(query(connection, "SELECT id FROM t ORDER BY id")).containsExactly("1", "2", "3");
        }
        finally {
            spark.sql("RESET spark.wap.id");
        }
        assertThat(spark.sql("SELECT id FROM lake.staged.t ORDER BY id")).containsExactly("1", "2", "3");
    }

    /**
     * Tables whose rows have ids, and whose deleted rows are in deletion vectors.
     */
    @Test
    void testFormatVersion3()
            throws Exception
    {
        spark.sql("CREATE NAMESPACE lake.third");
        spark.sql("CREATE TABLE lake.third.t (id bigint) USING iceberg TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')");
        spark.sql("INSERT INTO lake.third.t VALUES 1, 2, 3");
        spark.sql("DELETE FROM lake.third.t WHERE id = 2");
        try (Connection connection = server.connect("lake", "third")) {
            assertThat(query(connection, "SELECT id FROM t ORDER BY id")).containsExactly("1", "3");
            execute(connection, "CREATE BRANCH dev IN TABLE t");
            execute(connection, "INSERT INTO t@dev VALUES 4");
            execute(connection, "DELETE FROM t@dev WHERE id = 1");
            assertThat(spark.sql("SELECT id FROM lake.third.t.branch_dev ORDER BY id")).containsExactly("3", "4");
            spark.sql("CALL lake.system.fast_forward('third.t', 'main', 'dev')");
            assertThat(query(connection, "SELECT id FROM t ORDER BY id")).containsExactly("3", "4");
            // each row that there ever was has an id of its own
            assertThat(spark.sql("SELECT id, _row_id FROM lake.third.t ORDER BY id")).containsExactly("3 | 2", "4 | 3");
        }
    }

    /**
     * What Spark removes as old is not what a ref of Trino's needs.
     */
    @Test
    void testExpiryKeepsRefs()
            throws Exception
    {
        try (Connection connection = server.connect("lake", "expired")) {
            execute(connection, "CREATE SCHEMA expired");
            execute(connection, "CREATE TABLE t (id bigint)");
            execute(connection, "INSERT INTO t VALUES 1");
            execute(connection, "CALL lake.system.create_tag('expired', 't', 'one')");
            execute(connection, "INSERT INTO t VALUES 2");
            execute(connection, "DELETE FROM t WHERE id = 1");
            execute(connection, "INSERT INTO t VALUES 3");
            long snapshots = queryLong(connection, "SELECT count(*) FROM \"t$snapshots\"");

            spark.sql("CALL lake.system.expire_snapshots(table => 'expired.t', older_than => TIMESTAMP '2999-01-01 00:00:00')");
            assertThat(queryLong(connection, "SELECT count(*) FROM \"t$snapshots\"")).isLessThan(snapshots).isEqualTo(2);
            assertThat(query(connection, "SELECT id FROM t ORDER BY id")).containsExactly("2", "3");
            assertThat(query(connection, "SELECT id FROM t FOR VERSION AS OF 'one'")).containsExactly("1");
            assertThat(query(connection, "SELECT operation, committed_by FROM system.commit_log WHERE table_schema = 'expired' ORDER BY log_id DESC LIMIT 1")).containsExactly("expire | etl");
        }
    }

    /**
     * Both list all views; each reads those whose SQL it understands.
     */
    @Test
    void testViews()
            throws Exception
    {
        spark.sql("CREATE NAMESPACE lake.viewed");
        spark.sql("CREATE TABLE lake.viewed.t (id bigint, name string) USING iceberg");
        spark.sql("INSERT INTO lake.viewed.t VALUES (1, 'oak'), (2, 'elm')");
        spark.sql("CREATE VIEW lake.viewed.of_spark AS SELECT name FROM lake.viewed.t WHERE id > 1");
        try (Connection connection = server.connect("lake", "viewed")) {
            execute(connection, "CREATE VIEW of_trino AS SELECT name FROM t WHERE id < 2");

            assertThat(query(connection, "SHOW TABLES")).containsExactlyInAnyOrder("t", "of_spark", "of_trino");
            assertThat(spark.sql("SHOW VIEWS IN lake.viewed")).containsExactlyInAnyOrder("viewed | of_spark | false", "viewed | of_trino | false");
            assertThat(spark.sql("SHOW TABLES IN lake.viewed")).containsExactly("viewed | t | false");

            assertThat(spark.sql("SELECT * FROM lake.viewed.of_spark")).containsExactly("elm");
            assertThat(query(connection, "SELECT * FROM of_trino")).containsExactly("oak");
            // the catalog has the same name on both sides, and the query is plain SQL
            assertThat(spark.sql("SELECT * FROM lake.viewed.of_trino")).containsExactly("oak");
            assertThatThrownBy(() -> query(connection, "SELECT * FROM of_spark")).hasMessageContaining("Cannot read unsupported dialect 'spark' for view 'viewed.of_spark'");

            // one name space for tables and views
            assertThatThrownBy(() -> spark.sql("CREATE TABLE lake.viewed.of_trino (id bigint) USING iceberg")).hasMessageContaining("already exists");
            assertThatThrownBy(() -> spark.sql("CREATE VIEW lake.viewed.t AS SELECT 1 AS id")).hasMessageContaining("already exists");

            spark.sql("CREATE OR REPLACE VIEW lake.viewed.of_spark AS SELECT id FROM lake.viewed.t");
            assertThat(spark.sql("SELECT * FROM lake.viewed.of_spark ORDER BY id")).containsExactly("1", "2");
            spark.sql("ALTER VIEW lake.viewed.of_spark RENAME TO lake.viewed.renamed");
            assertThat(query(connection, "SHOW TABLES")).containsExactlyInAnyOrder("t", "renamed", "of_trino");
            execute(connection, "ALTER VIEW of_trino RENAME TO moved");
            assertThat(spark.sql("SELECT * FROM lake.viewed.moved")).containsExactly("oak");
            execute(connection, "DROP VIEW moved");
            spark.sql("DROP VIEW lake.viewed.renamed");
            assertThat(spark.sql("SHOW VIEWS IN lake.viewed")).isEmpty();
            assertThat(query(connection, "SHOW TABLES")).containsExactly("t");
        }
    }
}
