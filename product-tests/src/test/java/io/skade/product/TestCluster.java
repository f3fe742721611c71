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
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static io.skade.product.Sql.queryLong;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * A coordinator that leaves the work to two workers in processes of their own, with the warehouse in an object store. Every
 * case runs on it.
 */
@TestInstance(PER_CLASS)
final class TestCluster
{
    private static final int SKADE_STORE_ERROR = 0x0534_0007;
    private static final String REFS = "SELECT name, type, snapshot_id FROM \"ship$refs\" ORDER BY name";

    private final List<SkadeServer> workers = new ArrayList<>();
    private S3Endpoint s3;
    private SkadeServer coordinator;

    @BeforeAll
    void start()
            throws IOException, InterruptedException
    {
        s3 = S3Endpoint.start("cluster-s3");
        coordinator = SkadeServer.builder("cluster-coordinator")
                .config("node-scheduler.include-coordinator", "false")
                .warehouse(s3)
                .start();
        for (String name : List.of("cluster-worker-1", "cluster-worker-2")) {
            workers.add(SkadeServer.builder(name).warehouse(s3).workerOf(coordinator).start());
        }
    }

    @AfterAll
    void stop()
            throws IOException, InterruptedException
    {
        for (SkadeServer worker : workers) {
            worker.close();
        }
        if (coordinator != null) {
            coordinator.close();
        }
        if (s3 != null) {
            s3.close();
        }
    }

    @TestFactory
    Stream<DynamicTest> testCases()
            throws IOException
    {
        return SqlCases.tests(coordinator);
    }

    @Test
    void testOnlyTheCoordinatorHasAStore()
            throws Exception
    {
        Sql.runCase(coordinator, Path.of("src/test/resources/cluster.slt"));

        assertThat(coordinator.data().resolve("store")).isDirectory();
        assertThat(coordinator.data().resolve("warehouse")).doesNotExist();
        assertThat(workers).hasSize(2).allSatisfy(worker -> {
            assertThat(worker.data().resolve("store")).doesNotExist();
            assertThat(worker.data().resolve("warehouse")).doesNotExist();
        });
    }

    @Test
    void testBothWorkersReadAndWrite()
            throws Exception
    {
        try (Connection connection = coordinator.connect("lake", "shared_work");
                var _ = Sql.createSchema(connection)) {
            execute(connection, "CREATE TABLE orders WITH (partitioning = ARRAY['orderpriority']) AS SELECT * FROM tpch.tiny.orders");
            assertThat(query(connection, "SELECT count(*), sum(custkey) FROM orders"))
                    .isEqualTo(query(connection, "SELECT count(*), sum(custkey) FROM tpch.tiny.orders"));

            for (String work : List.of("physical_written_bytes", "physical_input_bytes")) {
                assertThat(queryLong(
                        connection,
                        "SELECT count(DISTINCT node_id) FROM system.runtime.tasks JOIN system.runtime.nodes USING (node_id) WHERE NOT coordinator AND %s > 0".formatted(work)))
                        .as("workers with " + work)
                        .isEqualTo(2);
            }
            assertThat(query(
                    connection,
                    "SELECT query_id FROM system.runtime.tasks JOIN system.runtime.nodes USING (node_id) WHERE coordinator AND physical_written_bytes > 0"))
                    .isEmpty();
        }
    }

    /**
     * What moves a pointer is in the store: the bucket has the files that Iceberg names, and none is locked, copied or renamed.
     */
    @Test
    void testBucketHasFilesOfTablesOnly()
            throws Exception
    {
        try (Connection connection = coordinator.connect("lake", "files")) {
            execute(connection, "CREATE SCHEMA files");
            execute(connection, "CREATE TABLE fish AS SELECT nationkey AS id, name FROM tpch.tiny.nation");
            execute(connection, "CREATE BRANCH tank IN TABLE fish");
            execute(connection, "INSERT INTO fish@tank VALUES (100, 'carp')");
            execute(connection, "DELETE FROM fish@tank WHERE id = 3");
            execute(connection, "ANALYZE fish");
            execute(connection, "CREATE VIEW eel AS SELECT * FROM fish");
            List<String> before = s3.listObjects("files");

            execute(connection, "CALL system.publish_branch('files', 'fish', 'tank')");

            List<String> after = s3.listObjects("files");
            assertThat(after).containsAll(before).hasSize(before.size() + 1);
            assertThat(after).filteredOn(object -> !before.contains(object)).singleElement().asString().endsWith(".metadata.json");
            assertThat(after).allMatch(object -> object.matches(
                    "warehouse/files/(fish|eel)-[0-9a-f]{32}/(data/[^/]+\\.parquet|metadata/[^/]+(\\.metadata\\.json|\\.avro|\\.stats|\\.puffin))"));
            assertThat(query(connection, "SELECT count(*) FROM eel")).containsExactly("25");

            execute(connection, "DROP TABLE fish");
            assertThat(s3.listObjects("files")).noneMatch(object -> object.contains("/fish-"));
            execute(connection, "DROP SCHEMA files CASCADE");
        }
        assertThat(s3.operations())
                .contains("GetObject", "PutObject")
                .doesNotContain("CopyObject", "UploadPartCopy");
    }

    @Test
    void testBucketThatCannotBeReached()
            throws Exception
    {
        try (Connection connection = coordinator.connect("lake", "away");
                var _ = Sql.createSchema(connection)) {
            execute(connection, "CREATE TABLE ship AS SELECT nationkey AS id, name FROM tpch.tiny.nation");
            execute(connection, "CREATE BRANCH dock IN TABLE ship");
            execute(connection, "DELETE FROM ship@dock WHERE id < 5");
            List<String> refs = query(connection, REFS);

            s3.kill();
            try {
                for (String verb : List.of("create_tag('away', 'ship', 'launch')", "publish_branch('away', 'ship', 'dock')")) {
                    assertThatThrownBy(() -> execute(connection, "CALL system." + verb))
                            .hasMessageContaining("Cannot write metadata file s3://")
                            .asInstanceOf(type(SQLException.class))
                            .returns(SKADE_STORE_ERROR, SQLException::getErrorCode);
                }
                assertThatThrownBy(() -> execute(connection, "INSERT INTO ship VALUES (100, 'NEW')")).isInstanceOf(SQLException.class);
                assertThat(query(connection, REFS)).isEqualTo(refs);
            }
            finally {
                s3.restart();
            }

            assertThat(query(connection, REFS)).isEqualTo(refs);
            assertThat(query(connection, "SELECT * FROM TABLE(lake.system.check_store())")).isEmpty();
            execute(connection, "CALL system.publish_branch('away', 'ship', 'dock')");
            execute(connection, "INSERT INTO ship VALUES (100, 'NEW')");
            assertThat(query(connection, "SELECT count(*) FROM ship")).containsExactly("21");
        }
    }

    @Test
    void testLostStoreComesBackFromBucket()
            throws Exception
    {
        List<String> refs;
        try (Connection connection = coordinator.connect("lake", "lost")) {
            execute(connection, "CREATE SCHEMA lost");
            execute(connection, "CREATE TABLE ship AS SELECT nationkey AS id, name FROM tpch.tiny.nation");
            execute(connection, "CALL system.create_tag('lost', 'ship', 'launch')");
            execute(connection, "CREATE BRANCH dock IN TABLE ship");
            execute(connection, "DELETE FROM ship@dock WHERE id < 5");
            refs = query(connection, REFS);
        }

        coordinator.kill();
        SkadeServer.deleteRecursively(coordinator.data().resolve("store"));
        coordinator.restart();
        for (SkadeServer worker : workers) {
            worker.awaitJoined(coordinator);
        }

        try (Connection connection = coordinator.connect("lake", "lost")) {
            assertThat(query(connection, "SHOW SCHEMAS")).doesNotContain("lost");
            execute(connection, "CALL system.rebuild_store()");

            assertThat(query(connection, "SELECT * FROM TABLE(lake.system.check_store())")).isEmpty();
            assertThat(query(connection, REFS)).isEqualTo(refs);
            assertThat(query(connection, "SELECT count(*) FROM ship UNION ALL SELECT count(*) FROM ship FOR VERSION AS OF 'dock'"))
                    .containsExactlyInAnyOrder("25", "20");
            execute(connection, "DROP SCHEMA lost CASCADE");
        }
    }
}
