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
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * Refs are part of the Iceberg table: what Spark makes of them is there for Trino, and the other way round.
 */
@TestInstance(PER_CLASS)
final class TestSparkInterop
{
    private SkadeServer server;
    private SparkProcess spark;
    private Path warehouse;

    @BeforeAll
    void start(@TempDir Path folder)
            throws IOException, InterruptedException
    {
        warehouse = folder;
        Path java = EngineProcess.assumeJava("Spark");
        spark = SparkProcess.start(java, warehouse, Files.createDirectories(Path.of("target/servers")).resolve("spark.log"));
        server = SkadeServer.builder("spark-interop").start();
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

    @Test
    void testTrinoReadsRefsOfSpark()
            throws Exception
    {
        spark.sql("CREATE TABLE db.fruit (id bigint, name string) USING iceberg");
        spark.sql("INSERT INTO db.fruit VALUES (1, 'fig'), (2, 'pear')");
        spark.sql("ALTER TABLE db.fruit CREATE TAG harvest RETAIN 365 DAYS");
        spark.sql("ALTER TABLE db.fruit CREATE BRANCH `audit-1` RETAIN 7 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS 2 DAYS");
        spark.sql("INSERT INTO db.fruit.`branch_audit-1` VALUES (3, 'plum')");
        spark.sql("ALTER TABLE db.fruit RENAME COLUMN name TO kind");
        spark.sql("INSERT INTO db.fruit VALUES (4, 'lime')");
        String metadata = spark.sql("SELECT file FROM db.fruit.metadata_log_entries ORDER BY timestamp DESC LIMIT 1").getFirst();

        try (Connection connection = server.connect("lake", "from_spark")) {
            execute(connection, "CREATE SCHEMA from_spark");
            execute(connection, "CALL system.register_table('from_spark', 'fruit', '%s', '%s')".formatted(
                    warehouse.resolve("db/fruit").toUri(), metadata.substring(metadata.lastIndexOf('/') + 1)));

            assertThat(query(connection, "SELECT name, type, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms FROM \"fruit$refs\" ORDER BY name")).containsExactly(
                    "audit-1 | BRANCH | 604800000 | 3 | 172800000",
                    "harvest | TAG | 31536000000 | null | null",
                    "main | BRANCH | null | null | null");
            assertThat(query(connection, "SELECT id, kind FROM fruit ORDER BY id")).containsExactly("1 | fig", "2 | pear", "4 | lime");
            assertThat(query(connection, "SELECT id, kind FROM fruit FOR VERSION AS OF 'audit-1' ORDER BY id")).containsExactly("1 | fig", "2 | pear", "3 | plum");
            assertThat(query(connection, "SELECT id, name FROM fruit FOR VERSION AS OF 'harvest' ORDER BY id")).containsExactly("1 | fig", "2 | pear");

            execute(connection, "INSERT INTO fruit@\"audit-1\" VALUES (5, 'kiwi')");
            execute(connection, "CALL system.rollback_to('from_spark', 'fruit', 'harvest')");
            execute(connection, "CALL system.publish_branch('from_spark', 'fruit', 'audit-1')");
            assertThat(query(connection, "SELECT id, kind FROM fruit ORDER BY id")).containsExactly("1 | fig", "2 | pear", "3 | plum", "5 | kiwi");
        }
    }

    @Test
    void testSparkReadsRefsOfTrino()
            throws Exception
    {
        try (Connection connection = server.connect("lake", "for_spark")) {
            execute(connection, "CREATE SCHEMA for_spark");
            execute(connection, "CREATE TABLE tree (id bigint, name varchar)");
            execute(connection, "INSERT INTO tree VALUES (1, 'oak'), (2, 'elm')");
            execute(connection, "CALL system.create_tag('for_spark', 'tree', 'first')");
            execute(connection, "CREATE BRANCH \"fix/1\" IN TABLE tree");
            execute(connection, "INSERT INTO tree@\"fix/1\" VALUES (3, 'yew')");
            execute(connection, "DELETE FROM tree@\"fix/1\" WHERE id = 1");
            execute(connection, "UPDATE tree@\"fix/1\" SET name = 'elder' WHERE id = 2");
            execute(connection, "INSERT INTO tree VALUES (4, 'ash')");
            String metadata = query(connection, "SELECT file FROM \"tree$metadata_log_entries\" ORDER BY timestamp DESC, file DESC LIMIT 1").getFirst();

            assertThat(spark.readBranch("main", metadata)).containsExactly("1 | oak", "2 | elm", "4 | ash");
            assertThat(spark.readBranch("fix/1", metadata)).containsExactly("2 | elder", "3 | yew");
            assertThat(spark.readTag("first", metadata)).containsExactly("1 | oak", "2 | elm");

            execute(connection, "CALL system.rollback_to('for_spark', 'tree', 'first')");
            execute(connection, "CALL system.fast_forward('for_spark', 'tree', 'main', 'fix/1')");
            String moved = query(connection, "SELECT file FROM \"tree$metadata_log_entries\" ORDER BY timestamp DESC, file DESC LIMIT 1").getFirst();
            assertThat(spark.readBranch("main", moved)).containsExactly("2 | elder", "3 | yew");
        }
    }

    /**
     * What Spark staged for audit is published once.
     */
    @Test
    void testTrinoPublishesWhatSparkStaged()
            throws Exception
    {
        spark.sql("CREATE TABLE db.staged (id bigint) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true')");
        spark.sql("INSERT INTO db.staged VALUES 1");
        spark.sql("SET spark.wap.id = load-1");
        spark.sql("INSERT INTO db.staged VALUES 2");
        spark.sql("SET spark.wap.id = load-2");
        spark.sql("INSERT INTO db.staged VALUES 3");
        spark.sql("RESET spark.wap.id");
        String metadata = spark.sql("SELECT file FROM db.staged.metadata_log_entries ORDER BY timestamp DESC LIMIT 1").getFirst();

        try (Connection connection = server.connect("lake", "staged")) {
            execute(connection, "CREATE SCHEMA staged");
            execute(connection, "CALL system.register_table('staged', 'staged', '%s', '%s')".formatted(
                    warehouse.resolve("db/staged").toUri(), metadata.substring(metadata.lastIndexOf('/') + 1)));
            assertThat(query(connection, "SELECT id FROM staged")).containsExactly("1");
            execute(connection, "CALL system.publish_changes('staged', 'staged', 'load-2')");
            assertThat(query(connection, "SELECT id FROM staged ORDER BY id")).containsExactly("1", "3");
            execute(connection, "CALL system.publish_changes('staged', 'staged', 'load-1')");
            assertThat(query(connection, "SELECT id FROM staged ORDER BY id")).containsExactly("1", "2", "3");
            for (String wapId : List.of("load-1", "load-2")) {
                assertThatThrownBy(() -> execute(connection, "CALL system.publish_changes('staged', 'staged', '%s')".formatted(wapId)))
                        .hasMessageContaining(wapId);
            }
            assertThatThrownBy(() -> execute(connection, "CALL system.publish_changes('staged', 'staged', 'load-3')"))
                    .hasMessageContaining("Cannot publish changes of staged.staged: no snapshots are staged with wap_id load-3");
            assertThat(query(connection, "SELECT id FROM staged ORDER BY id")).containsExactly("1", "2", "3");
        }
    }
}
