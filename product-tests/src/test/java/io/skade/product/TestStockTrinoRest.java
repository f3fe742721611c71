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

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.SQLException;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static io.skade.product.Sql.queryLong;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * Another Trino, with the Iceberg connector as it is, works on the tables through the server that owns them.
 */
@TestInstance(PER_CLASS)
final class TestStockTrinoRest
{
    private SkadeServer owner;
    private SkadeServer other;

    @BeforeAll
    void start()
            throws IOException, InterruptedException
    {
        // a view names the catalog that it was made in, so the owner has one of that name as well
        owner = SkadeServer.builder("rest-owner")
                .rest("other", "token-of-other")
                .catalog("stock", "connector.name", "skade")
                .catalog("stock", "skade.store.path", "${ENV:SKADE_DATA}/store")
                .catalog("stock", "skade.warehouse", "file://${ENV:SKADE_DATA}/warehouse")
                .catalog("stock", "fs.local.enabled", "true")
                .catalog("stock", "local.location", "/")
                .start();
        SkadeServer.Builder builder = SkadeServer.builder("stock-trino").stockIceberg();
        addCatalog(builder, "stock", "token-of-other");
        addCatalog(builder, "stranger", "wrong");
        other = builder.start();
    }

    private void addCatalog(SkadeServer.Builder builder, String name, String token)
    {
        builder.catalog(name, "connector.name", "iceberg")
                .catalog(name, "iceberg.catalog.type", "rest")
                .catalog(name, "iceberg.rest-catalog.uri", owner.restUri().toString())
                .catalog(name, "iceberg.rest-catalog.security", "OAUTH2")
                .catalog(name, "iceberg.rest-catalog.oauth2.token", token)
                .catalog(name, "fs.local.enabled", "true")
                .catalog(name, "local.location", "/");
    }

    @AfterAll
    void stop()
            throws IOException, InterruptedException
    {
        if (other != null) {
            other.close();
        }
        if (owner != null) {
            owner.close();
        }
    }

    @Test
    void testBothWrite()
            throws Exception
    {
        try (Connection lake = owner.connect("lake", "shop");
                Connection stock = other.connect("stock", "shop")) {
            execute(stock, "CREATE SCHEMA shop");
            execute(stock, "CREATE TABLE orders (id bigint, status varchar) WITH (partitioning = ARRAY['status'])");
            execute(stock, "INSERT INTO orders VALUES (1, 'open'), (2, 'open'), (3, 'done')");
            assertThat(query(lake, "SELECT id, status FROM orders ORDER BY id")).containsExactly("1 | open", "2 | open", "3 | done");

            execute(lake, "CALL lake.system.create_tag('shop', 'orders', 'opening')");
            execute(lake, "CREATE BRANCH dev IN TABLE orders");
            execute(lake, "UPDATE orders@dev SET status = 'lost' WHERE id = 1");
            assertThat(query(stock, "SELECT id, status FROM orders FOR VERSION AS OF 'dev' ORDER BY id")).containsExactly("1 | lost", "2 | open", "3 | done");

            execute(stock, "UPDATE orders SET status = 'done' WHERE id = 2");
            execute(stock, "MERGE INTO orders USING (VALUES (1, 'sent'), (4, 'new')) s (id, status) ON orders.id = s.id " +
                    "WHEN MATCHED THEN UPDATE SET status = s.status WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.status)");
            execute(stock, "DELETE FROM orders WHERE id = 3");
            assertThat(query(lake, "SELECT id, status FROM orders ORDER BY id")).containsExactly("1 | sent", "2 | done", "4 | new");
            assertThat(query(stock, "SELECT id, status FROM orders FOR VERSION AS OF 'opening' ORDER BY id")).containsExactly("1 | open", "2 | open", "3 | done");
            assertThat(query(lake, "SELECT id, status FROM orders FOR VERSION AS OF 'opening' ORDER BY id")).containsExactly("1 | open", "2 | open", "3 | done");

            execute(stock, "ALTER TABLE orders ADD COLUMN clerk varchar");
            execute(lake, "INSERT INTO orders VALUES (5, 'new', 'ann')");
            execute(stock, "ALTER TABLE orders RENAME COLUMN clerk TO person");
            execute(stock, "ALTER TABLE orders SET PROPERTIES partitioning = ARRAY[]");
            execute(stock, "COMMENT ON TABLE orders IS 'what was ordered'");
            assertThat(query(lake, "SELECT id, person FROM orders WHERE person IS NOT NULL")).containsExactly("5 | ann");
            assertThat(query(lake, "SHOW CREATE TABLE orders").getFirst()).contains("COMMENT 'what was ordered'").doesNotContain("partitioning");

            execute(lake, "CALL lake.system.rollback_to('shop', 'orders', 'opening')");
            assertThat(query(stock, "SELECT id FROM orders ORDER BY id")).containsExactly("1", "2", "3");
            execute(stock, "ALTER TABLE orders EXECUTE optimize");
            assertThat(query(lake, "SELECT id FROM orders ORDER BY id")).containsExactly("1", "2", "3");

            assertThat(query(lake, "SELECT ref, operation, changed_by FROM \"orders$ref_log\" WHERE operation <> 'replace' ORDER BY log_id")).endsWith(
                    "opening | create_tag | test",
                    "dev | create_branch | test",
                    "dev | overwrite | test",
                    "main | overwrite | other",
                    "main | overwrite | other",
                    "main | delete | other",
                    "main | append | test",
                    "main | rollback_to | test");
            assertThat(query(lake, "SELECT DISTINCT changed_by FROM \"orders$ref_log\" WHERE operation = 'replace'")).containsExactly("other");
        }
    }

    @Test
    void testTablesComeAndGo()
            throws Exception
    {
        try (Connection lake = owner.connect("lake", "yard");
                Connection stock = other.connect("stock", "yard")) {
            execute(stock, "CREATE SCHEMA yard");
            assertThat(query(lake, "SHOW SCHEMAS")).contains("yard");
            execute(stock, "CREATE TABLE nation AS SELECT nationkey, name FROM tpch.tiny.nation");
            execute(lake, "CALL lake.system.create_tag('yard', 'nation', 'all')");
            execute(stock, "CREATE OR REPLACE TABLE nation AS SELECT nationkey, name FROM tpch.tiny.nation WHERE nationkey < 5");
            assertThat(queryLong(lake, "SELECT count(*) FROM nation")).isEqualTo(5);
            assertThat(queryLong(lake, "SELECT count(*) FROM nation FOR VERSION AS OF 'all'")).isEqualTo(25);

            assertThatThrownBy(() -> execute(stock, "CREATE TABLE nation (a integer)")).hasMessageContaining("already exists");
            assertThatThrownBy(() -> execute(stock, "DROP SCHEMA yard")).hasMessageContaining("Cannot drop non-empty schema");
            execute(stock, "ALTER TABLE nation RENAME TO country");
            assertThat(query(lake, "SHOW TABLES")).containsExactly("country");
            assertThat(queryLong(stock, "SELECT count(*) FROM country FOR VERSION AS OF 'all'")).isEqualTo(25);
            assertThatThrownBy(() -> query(stock, "SELECT * FROM nation")).hasMessageContaining("does not exist");

            execute(stock, "DROP TABLE country");
            assertThat(query(lake, "SHOW TABLES")).isEmpty();
            execute(lake, "CREATE TABLE country (n bigint)");
            assertThat(query(stock, "SELECT * FROM country")).isEmpty();
            execute(lake, "DROP TABLE country");
            assertThat(query(stock, "SHOW TABLES")).isEmpty();
            execute(stock, "DROP SCHEMA yard");
            assertThat(query(lake, "SHOW SCHEMAS")).doesNotContain("yard");
        }
    }

    @Test
    void testProtectedBranch()
            throws Exception
    {
        try (Connection lake = owner.connect("lake", "safe");
                Connection stock = other.connect("stock", "safe")) {
            execute(lake, "CREATE SCHEMA safe");
            execute(lake, "CREATE TABLE t AS SELECT 1 AS n");
            execute(lake, "CALL lake.system.protect_ref('safe', 't', 'main')");
            for (String statement : new String[] {"INSERT INTO t VALUES 2", "DELETE FROM t", "UPDATE t SET n = 2", "DROP TABLE t"}) {
                assertThatThrownBy(() -> execute(stock, statement)).as(statement).hasStackTraceContaining("protected");
                assertThat(query(stock, "SELECT n FROM t")).as(statement).containsExactly("1");
            }
            assertThat(query(lake, "SELECT operation, changed_by FROM \"t$ref_log\"")).containsExactly("create_table | test");
        }
    }

    @Test
    void testViews()
            throws Exception
    {
        try (Connection lake = owner.connect("stock", "views");
                Connection stock = other.connect("stock", "views")) {
            execute(lake, "CREATE SCHEMA views");
            execute(lake, "CREATE TABLE t AS SELECT * FROM (VALUES (1, 'oak'), (2, 'elm')) v (id, name)");
            execute(lake, "CREATE VIEW of_owner AS SELECT name FROM t WHERE id = 1");
            execute(stock, "CREATE VIEW of_other COMMENT 'other trees' AS SELECT name FROM t WHERE id = 2");
            assertThat(query(stock, "SHOW TABLES")).containsExactlyInAnyOrder("t", "of_owner", "of_other");
            assertThat(query(stock, "SELECT * FROM of_owner UNION ALL SELECT * FROM of_other")).containsExactlyInAnyOrder("oak", "elm");
            assertThat(query(lake, "SELECT * FROM of_owner UNION ALL SELECT * FROM of_other")).containsExactlyInAnyOrder("oak", "elm");
            assertThat(query(lake, "SHOW CREATE VIEW of_other").getFirst()).contains("COMMENT 'other trees'");

            execute(stock, "CREATE OR REPLACE VIEW of_owner AS SELECT id FROM t");
            assertThat(query(lake, "SELECT * FROM of_owner ORDER BY id")).containsExactly("1", "2");
            execute(stock, "ALTER VIEW of_owner RENAME TO renamed");
            execute(lake, "DROP VIEW of_other");
            assertThat(query(lake, "SHOW TABLES")).containsExactlyInAnyOrder("t", "renamed");
            execute(stock, "DROP VIEW renamed");
            assertThat(query(stock, "SHOW TABLES")).containsExactly("t");
            assertThat(query(lake, "SHOW TABLES")).containsExactly("t");
        }
    }

    @Test
    void testWrongTokenIsRefused()
            throws Exception
    {
        try (Connection connection = other.connect("stranger", "shop")) {
            assertThatThrownBy(() -> query(connection, "SHOW SCHEMAS"))
                    .isInstanceOf(SQLException.class)
                    .hasStackTraceContaining("NotAuthorizedException");
        }
        for (String authorization : new String[] {"Bearer wrong", "Bearer ", "Basic b3RoZXI6dG9rZW4tb2Ytb3RoZXI=", "token-of-other"}) {
            assertThat(get("/v1/namespaces", "Authorization", authorization).statusCode()).as(authorization).isEqualTo(401);
        }
        // a name alone is not a proof
        assertThat(get("/v1/namespaces", "X-Trino-User", "other").statusCode()).isEqualTo(401);
        assertThat(get("/v1/namespaces", "Authorization", "Bearer token-of-other").statusCode()).isEqualTo(200);
    }

    private HttpResponse<String> get(String path, String header, String value)
            throws IOException, InterruptedException
    {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(owner.restUri().resolve(path)).header(header, value).build(), BodyHandlers.ofString());
        }
    }
}
