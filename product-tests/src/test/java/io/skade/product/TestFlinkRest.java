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
 * Flink reads and writes the tables of a server, at branches and tags too, with the configuration of {@code docs/engines/flink.md}.
 */
@TestInstance(PER_CLASS)
final class TestFlinkRest
{
    private static final String TOKEN = "token-of-flink";

    // of "secret", as htpasswd -B makes it
    private static final String PASSWORDS = "loader:$2y$08$Skade0Skade0Skade0SkauAzd1yHWBZhxTe4q/kP3m1guguJaorJC\n";

    private SkadeServer server;
    private EngineProcess flink;

    @BeforeAll
    void start(@TempDir Path folder)
            throws IOException, InterruptedException
    {
        Path java = EngineProcess.assumeJava("Flink");
        server = SkadeServer.builder("flink-rest")
                .rest("streams", TOKEN)
                .catalog("lake", "skade.rest.password-file", Files.writeString(folder.resolve("passwords"), PASSWORDS).toString())
                .start();
        flink = EngineProcess.start(java, "flink", "io.skade.flink.FlinkRequests", List.of(), List.of(), Path.of("target/servers/flink-rest.log"));
        flink.ask("CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = '%s', 'token' = '%s')".formatted(server.restUri(), TOKEN));
    }

    @AfterAll
    void stop()
            throws IOException, InterruptedException
    {
        if (flink != null) {
            flink.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Test
    void testTrinoPublishesBranchOfFlink()
            throws Exception
    {
        flink.ask("CREATE DATABASE lake.orchard");
        flink.ask("CREATE TABLE lake.orchard.fruit (id BIGINT, name STRING)");
        flink.ask("INSERT INTO lake.orchard.fruit VALUES (1, 'fig'), (2, 'pear')");
        try (Connection connection = server.connect("lake", "orchard")) {
            assertThat(query(connection, "SELECT id, name FROM fruit ORDER BY id")).containsExactly("1 | fig", "2 | pear");
            execute(connection, "CALL system.create_tag('orchard', 'fruit', 'harvest')");
            execute(connection, "CREATE BRANCH \"audit-1\" IN TABLE fruit");

            flink.ask("INSERT INTO lake.orchard.fruit /*+ OPTIONS('branch' = 'audit-1') */ VALUES (3, 'plum'), (4, 'stone')");
            assertThat(query(connection, "SELECT id FROM fruit ORDER BY id")).containsExactly("1", "2");
            execute(connection, "DELETE FROM fruit@\"audit-1\" WHERE name = 'stone'");
            assertThat(flink.ask("SELECT id, name FROM lake.orchard.fruit /*+ OPTIONS('branch' = 'audit-1') */ ORDER BY id")).containsExactly("1 | fig", "2 | pear", "3 | plum");
            assertThat(flink.ask("SELECT id, name FROM lake.orchard.fruit ORDER BY id")).containsExactly("1 | fig", "2 | pear");

            execute(connection, "CALL system.publish_branch('orchard', 'fruit', 'audit-1')");
            assertThat(flink.ask("SELECT id, name FROM lake.orchard.fruit ORDER BY id")).containsExactly("1 | fig", "2 | pear", "3 | plum");
            assertThat(flink.ask("SELECT id, name FROM lake.orchard.fruit /*+ OPTIONS('tag' = 'harvest') */ ORDER BY id")).containsExactly("1 | fig", "2 | pear");

            assertThat(query(connection, "SELECT ref, operation, changed_by FROM \"fruit$ref_log\" ORDER BY log_id")).containsExactly(
                    "main | append | streams",
                    "harvest | create_tag | test",
                    "audit-1 | create_branch | test",
                    "audit-1 | append | streams",
                    "audit-1 | delete | test",
                    "main | publish_branch | test");
        }
    }

    @Test
    void testProtectedBranch()
            throws Exception
    {
        try (Connection connection = server.connect("lake", "guarded")) {
            execute(connection, "CREATE SCHEMA guarded");
            execute(connection, "CREATE TABLE t AS SELECT BIGINT '1' AS id");
            execute(connection, "CALL system.protect_ref('guarded', 't', 'main')");
            for (String insert : List.of("INSERT INTO", "INSERT OVERWRITE")) {
                assertThatThrownBy(() -> flink.ask(insert + " lake.guarded.t VALUES (CAST(2 AS BIGINT))"))
                        .as(insert)
                        .hasMessageContaining("ForbiddenException")
                        .hasMessageContaining("protected");
            }
            assertThatThrownBy(() -> flink.ask("DROP TABLE lake.guarded.t")).hasMessageContaining("protected");
            assertThat(query(connection, "SELECT id FROM t")).containsExactly("1");
            assertThat(query(connection, "SELECT operation, changed_by FROM \"t$ref_log\"")).containsExactly("create_table | test");
        }
    }

    @Test
    void testUsers()
            throws Exception
    {
        flink.ask("CREATE CATALOG by_password WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = '%s', 'rest.auth.type' = 'basic', 'rest.auth.basic.username' = 'loader', 'rest.auth.basic.password' = 'secret')".formatted(server.restUri()));
        flink.ask("CREATE DATABASE by_password.told");
        flink.ask("CREATE TABLE by_password.told.t (id BIGINT)");
        try (Connection connection = server.connect("lake", "told")) {
            assertThat(query(connection, "SELECT operation, committed_by FROM system.commit_log WHERE table_schema = 'told'")).containsExactly("create_table | loader");
        }
        assertThatThrownBy(() -> flink.ask("CREATE CATALOG stranger WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = '%s', 'token' = 'wrong')".formatted(server.restUri())))
                .hasMessageContaining("NotAuthorizedException");
    }
}
