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

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.Properties;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What may share a server or a store, and what may not. The other tests run servers without Trino's own Iceberg plugin.
 */
final class TestNeighbours
{
    @Test
    void testBesideStockIceberg()
            throws Exception
    {
        try (SkadeServer server = SkadeServer.builder("beside-stock-iceberg")
                .stockIceberg()
                .catalog("stock", "connector.name", "iceberg")
                .catalog("stock", "iceberg.catalog.type", "TESTING_FILE_METASTORE")
                .catalog("stock", "hive.metastore.catalog.dir", "local://${ENV:SKADE_DATA}/stock")
                .catalog("stock", "fs.local.enabled", "true")
                .catalog("stock", "local.location", "/")
                .start();
                Connection lake = server.connect("lake", "s");
                Connection stock = server.connect("stock", "s")) {
            // statistics are collected on write by a function that each of the plugins registers
            for (Connection connection : new Connection[] {lake, stock}) {
                execute(connection, "CREATE SCHEMA s");
                execute(connection, "CREATE TABLE nation AS SELECT * FROM tpch.tiny.nation");
                execute(connection, "ANALYZE nation");
                assertThat(query(connection, "SHOW STATS FOR (SELECT regionkey FROM nation)")).contains("regionkey | null | 5.0 | 0.0 | null | 0 | 4");
            }
            execute(lake, "CREATE BRANCH dev IN TABLE nation");
            execute(lake, "DELETE FROM nation@dev WHERE regionkey = 0");
            assertThat(query(lake, "SELECT count(*) FROM nation FOR VERSION AS OF 'dev'")).containsExactly("20");
            assertThat(query(stock, "SELECT count(*) FROM nation n JOIN lake.s.nation l ON n.nationkey = l.nationkey")).containsExactly("25");
        }
    }

    @Test
    void testTwoCatalogsOnOneStore()
            throws Exception
    {
        try (SkadeServer server = SkadeServer.builder("two-catalogs")
                .catalog("pond", "connector.name", "skade")
                .catalog("pond", "skade.store.path", "${ENV:SKADE_DATA}/store")
                .catalog("pond", "skade.warehouse", "file://${ENV:SKADE_DATA}/warehouse")
                .catalog("pond", "fs.local.enabled", "true")
                .catalog("pond", "local.location", "/")
                .start();
                Connection lake = server.connect("lake", "s");
                Connection pond = server.connect("pond", "s")) {
            execute(lake, "CREATE SCHEMA s");
            execute(lake, "CREATE TABLE t AS SELECT 1 AS n");
            execute(pond, "CREATE BRANCH dev IN TABLE t");
            execute(lake, "INSERT INTO t@dev VALUES 2");
            assertThat(query(pond, "SELECT n FROM t FOR VERSION AS OF 'dev' ORDER BY n")).containsExactly("1", "2");
        }
    }

    /**
     * The example for a cluster is a catalog that Trino loads; nothing listens where its tables would be.
     */
    @Test
    void testExampleConfiguration()
            throws Exception
    {
        Properties example = new Properties();
        try (var reader = Files.newBufferedReader(Path.of("../etc/example/lake.properties"))) {
            example.load(reader);
        }
        assertThat(example.stringPropertyNames()).contains("skade.store.path", "skade.warehouse");
        SkadeServer.Builder builder = SkadeServer.builder("example-configuration");
        example.stringPropertyNames().forEach(name -> builder.catalog("example", name, example.getProperty(name)));
        try (SkadeServer server = builder.catalog("example", "skade.store.path", "${ENV:SKADE_DATA}/example").start();
                Connection connection = server.connect("example", "s")) {
            assertThat(query(connection, "SHOW SCHEMAS")).contains("information_schema", "system");
        }
    }

    @Test
    void testSecondServerOnOneStoreIsRefused()
            throws Exception
    {
        try (SkadeServer owner = SkadeServer.builder("store-owner").start();
                Connection connection = owner.connect("lake", "s")) {
            execute(connection, "CREATE SCHEMA s");
            execute(connection, "CREATE TABLE t AS SELECT 1 AS n");

            String store = owner.data().resolve("store").toString();
            assertThatThrownBy(() -> openSecond(store))
                    .hasMessageContaining(store)
                    .hasMessageContaining("process");

            execute(connection, "INSERT INTO t VALUES 2");
            assertThat(query(connection, "SELECT n FROM t ORDER BY n")).containsExactly("1", "2");
        }
    }

    private static void openSecond(String store)
            throws IOException, InterruptedException
    {
        try (SkadeServer _ = SkadeServer.builder("store-second").catalog("lake", "skade.store.path", store).start()) {
            throw new AssertionError("A second server opened the store");
        }
    }
}
