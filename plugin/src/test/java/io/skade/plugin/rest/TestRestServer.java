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
package io.skade.plugin.rest;

import at.favre.lib.crypto.bcrypt.BCrypt;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryRunner;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableCommit;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.ForbiddenException;
import org.apache.iceberg.exceptions.NotAuthorizedException;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.rest.responses.ErrorResponse;
import org.apache.iceberg.rest.responses.ErrorResponseParser;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Locale.ENGLISH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * What SQL and other engines see of each other.
 */
@TestInstance(PER_CLASS)
class TestRestServer
        extends AbstractTestQueryFramework
{
    private static final String ALICE = "alices-token";

    private final HttpClient http = HttpClient.newHttpClient();
    private Path tokens;
    private RestQueryRunner server;
    private RESTCatalog alice;

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        Path folder = Files.createTempDirectory("rest");
        tokens = Files.writeString(folder.resolve("tokens"), "alice:%s\n".formatted(ALICE));
        Path passwords = Files.writeString(folder.resolve("passwords"), "bob:" + BCrypt.with(BCrypt.Version.VERSION_2Y).hashToString(8, "secret".toCharArray()));
        server = closeAfterClass(RestQueryRunner.start(folder, ImmutableMap.of(
                "skade.rest.token-file", tokens.toString(),
                "skade.rest.password-file", passwords.toString())));
        alice = closeAfterClass(server.connect(ImmutableMap.of("token", ALICE)));
        return server.queryRunner();
    }

    @AfterAll
    void closeClient()
    {
        http.close();
    }

    @Test
    void everyMoveIsInTheLogUnderItsUser()
            throws IOException
    {
        assertUpdate("CREATE TABLE logged (n integer)");
        assertUpdate("INSERT INTO logged VALUES 1", 1);
        Table table = table("logged");
        table.manageSnapshots().createBranch("audit").createTag("v1", table.currentSnapshot().snapshotId()).commit();
        try (RESTCatalog bob = server.connect(ImmutableMap.of("rest.auth.type", "basic", "rest.auth.basic.username", "bob", "rest.auth.basic.password", "secret"))) {
            bob.loadTable(TableIdentifier.of("tpch", "logged")).manageSnapshots().removeTag("v1").commit();
        }

        assertQuery(
                "SELECT ref, operation, changed_by, query_id IS NULL FROM \"logged$ref_log\" WHERE ref <> 'main'",
                "VALUES ('v1', 'drop_tag', 'bob', true), ('audit', 'set_ref', 'alice', true), ('v1', 'set_ref', 'alice', true)");
        // what another engine did is taken back as anything else
        assertUpdate("CALL lake.system.undo_ref('tpch', 'logged', 'v1')");
        assertQuery("SELECT name FROM \"logged$refs\" WHERE type = 'TAG'", "VALUES 'v1'");
        assertUpdate("DROP TABLE logged");
    }

    @Test
    void tablesAreTheSameOnBothSides()
    {
        Namespace namespace = Namespace.of("shared");
        alice.createNamespace(namespace, ImmutableMap.of("comment", "by another engine"));
        assertQuery("SHOW SCHEMAS LIKE 'shared'", "VALUES 'shared'");
        assertThat((String) computeScalar("SHOW CREATE SCHEMA shared")).startsWith("CREATE SCHEMA lake.shared");
        assertUpdate("CREATE TABLE shared.orders (id bigint, price decimal(10,2)) WITH (partitioning = ARRAY['bucket(id, 4)'])");
        TableIdentifier name = TableIdentifier.of(namespace, "orders");
        Table table = alice.loadTable(name);
        assertThat(table.schema().findField("price").type()).hasToString("decimal(10, 2)");

        table.updateSchema().renameColumn("price", "amount").commit();
        table.updateProperties().set("owner-team", "sales").commit();
        assertUpdate("INSERT INTO shared.orders VALUES (1, 2.50)", 1);
        assertQuery("SELECT id, amount FROM shared.orders", "VALUES (1, 2.50)");
        table.refresh();
        assertThat(table.currentSnapshot().summary()).containsEntry("added-records", "1");
        assertThat(table.properties()).containsEntry("owner-team", "sales");

        TableIdentifier renamed = TableIdentifier.of(namespace, "sales");
        alice.renameTable(name, renamed);
        assertQuery("SELECT count(*) FROM shared.sales", "VALUES 1");
        assertThat(alice.dropTable(renamed, true)).isTrue();
        assertQueryFails("SELECT * FROM shared.sales", ".*'lake.shared.sales' does not exist");
        assertUpdate("DROP SCHEMA shared");
        assertThat(alice.namespaceExists(namespace)).isFalse();
    }

    @Test
    void protectedBranches()
    {
        assertUpdate("CREATE TABLE guarded (n integer)");
        assertUpdate("INSERT INTO guarded VALUES 1", 1);
        assertUpdate("CREATE BRANCH audit IN TABLE guarded");
        assertUpdate("INSERT INTO guarded@audit VALUES 2", 1);
        assertUpdate("CALL lake.system.protect_ref('tpch', 'guarded', 'main')");
        long before = table("guarded").currentSnapshot().snapshotId();

        assertThatThrownBy(() -> table("guarded").newDelete().deleteFromRowFilter(Expressions.alwaysTrue()).commit())
                .isInstanceOf(ForbiddenException.class)
                .hasMessage("Forbidden: Cannot change main of tpch.guarded by delete: it is protected, only publish_branch and fast_forward move it");
        assertThatThrownBy(() -> table("guarded").updateProperties().set("skade.protected-refs", "").commit())
                .isInstanceOf(ForbiddenException.class)
                .hasMessageContaining("only protect_ref and unprotect_ref do");
        assertThatThrownBy(() -> alice.dropTable(TableIdentifier.of("tpch", "guarded")))
                .isInstanceOf(ForbiddenException.class)
                .hasMessage("Forbidden: Cannot drop tpch.guarded: it has protected branches: main");
        assertUpdate("CREATE BRANCH side IN TABLE guarded");
        assertUpdate("INSERT INTO guarded@side VALUES 3", 1);
        assertThat(table("guarded").currentSnapshot().snapshotId()).isEqualTo(before);

        // a fast-forward is what protection is for
        table("guarded").manageSnapshots().fastForwardBranch("main", "audit").commit();
        assertQuery("SELECT n FROM guarded", "VALUES 1, 2");
        assertThatThrownBy(() -> table("guarded").manageSnapshots().replaceBranch("main", "side").commit())
                .isInstanceOf(ForbiddenException.class);
        assertQuery("SELECT n FROM guarded", "VALUES 1, 2");
        assertUpdate("CALL lake.system.unprotect_ref('tpch', 'guarded', 'main')");
        assertThat(alice.dropTable(TableIdentifier.of("tpch", "guarded"))).isTrue();
    }

    @Test
    void transactionChangesAllTablesOrNone()
    {
        for (String table : List.of("one", "two", "three")) {
            assertUpdate("CREATE TABLE %s (n integer)".formatted(table));
        }
        List<Table> tables = ImmutableList.of(table("one"), table("two"), table("three"));
        long lastCommit = lastCommit();
        alice.commitTransaction(tables.stream().map(table -> setProperty(table, "round", "1")).toList());
        assertQuery(
                "SELECT DISTINCT log_id - %s, operation, committed_by FROM lake.system.commit_log WHERE log_id > %s".formatted(lastCommit, lastCommit),
                "VALUES (1, 'set_properties', 'alice')");
        assertThat(rounds()).containsExactly("1", "1", "1");

        // the last of them was changed since the transaction began
        List<Table> stale = ImmutableList.of(table("one"), table("two"), table("three"));
        assertUpdate("ALTER TABLE three ADD COLUMN m integer");
        long changed = lastCommit();
        assertThatThrownBy(() -> alice.commitTransaction(stale.stream().map(table -> addColumn(table, "other")).toList()))
                .isInstanceOf(CommitFailedException.class)
                .hasMessageContaining("last assigned field id changed");
        assertThat(lastCommit()).isEqualTo(changed);
        assertThat(table("one").schema().findField("other")).isNull();

        assertThatThrownBy(() -> alice.commitTransaction(ImmutableList.of(setProperty(table("one"), "round", "2"), setProperty(table("one"), "round", "3"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tpch.one twice");
        assertThat(rounds()).containsExactly("1", "1", "1");
        for (String table : List.of("one", "two", "three")) {
            assertUpdate("DROP TABLE " + table);
        }
    }

    private static TableCommit setProperty(Table table, String key, String value)
    {
        TableMetadata base = metadata(table);
        return TableCommit.create(TableIdentifier.of("tpch", tableName(table)), base, TableMetadata.buildFrom(base).setProperties(ImmutableMap.of(key, value)).build());
    }

    private static TableCommit addColumn(Table table, String column)
    {
        TableMetadata base = metadata(table);
        Schema schema = new Schema(ImmutableList.<Types.NestedField>builder()
                .addAll(base.schema().columns())
                .add(Types.NestedField.optional(base.lastColumnId() + 1, column, Types.StringType.get()))
                .build());
        return TableCommit.create(TableIdentifier.of("tpch", tableName(table)), base, base.updateSchema(schema));
    }

    private static TableMetadata metadata(Table table)
    {
        return ((BaseTable) table).operations().current();
    }

    private static String tableName(Table table)
    {
        return table.name().substring(table.name().lastIndexOf('.') + 1);
    }

    private List<String> rounds()
    {
        return Stream.of("one", "two", "three").map(name -> table(name).properties().get("round")).toList();
    }

    private long lastCommit()
    {
        return (long) computeScalar("SELECT max(log_id) FROM lake.system.commit_log");
    }

    @Test
    void nobodyComesInWithoutCredentials()
            throws IOException, InterruptedException
    {
        for (String authorization : List.of(
                "Bearer wrong",
                "Bearer " + ALICE + "x",
                "Basic " + base64("bob:wrong"),
                "Basic " + base64("bob"),
                "Basic not-base-64",
                "Basic " + base64("bob:" + "x".repeat(100)),
                "Basic " + base64("alice:" + ALICE),
                ALICE)) {
            HttpResponse<String> response = send("GET", "/v1/namespaces", authorization, Optional.empty());
            assertThat(response.statusCode()).as(authorization).isEqualTo(401);
            assertThat(response.body()).contains("NotAuthorizedException").doesNotContain("tpch");
            assertThat(response.headers().allValues("WWW-Authenticate")).containsExactly("Bearer realm=\"skade\"", "Basic realm=\"skade\"");
        }
        assertThatThrownBy(() -> server.connect(ImmutableMap.of("token", "wrong"))).isInstanceOf(NotAuthorizedException.class);
        assertThatThrownBy(() -> server.connect(ImmutableMap.of())).isInstanceOf(NotAuthorizedException.class);

        // who is added to the file comes in at once
        Files.writeString(tokens, "alice:%s\ncarol:carols-token\n".formatted(ALICE));
        Files.setLastModifiedTime(tokens, FileTime.from(Instant.now().plusSeconds(10)));
        assertThat(send("GET", "/v1/namespaces", "bearer carols-token", Optional.empty()).statusCode()).isEqualTo(200);

        // while the file is not there nobody is let in, and nobody is told that the token is wrong
        Path moved = Files.move(tokens, tokens.resolveSibling("moved"));
        assertError("GET", "/v1/namespaces", "", 503, "ServiceUnavailableException");
        Files.move(moved, tokens);
        assertThat(send("GET", "/v1/namespaces", "bearer carols-token", Optional.empty()).statusCode()).isEqualTo(200);
    }

    /**
     * Who is refused before the body is there can still send it, and the next request.
     */
    @Test
    void refusedBeforeTheBodyCame()
            throws IOException
    {
        try (Socket socket = new Socket(server.uri().getHost(), server.uri().getPort())) {
            socket.setSoTimeout(10_000);
            OutputStream out = socket.getOutputStream();
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
            out.write("POST /v1/namespaces HTTP/1.1\r\nHost: lake\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n".getBytes(UTF_8));
            out.flush();
            assertThat(readStatus(in)).contains("401");
            out.write("{}GET /v1/config HTTP/1.1\r\nHost: lake\r\nAuthorization: Bearer %s\r\n\r\n".formatted(ALICE).getBytes(UTF_8));
            out.flush();
            assertThat(readStatus(in)).contains("200");
        }
    }

    /**
     * The status line of a response, of which the rest is read as well.
     */
    private static String readStatus(BufferedReader in)
            throws IOException
    {
        String status = in.readLine();
        assertThat(status).as("status line").isNotNull();
        int length = 0;
        for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
            if (line.toLowerCase(ENGLISH).startsWith("content-length:")) {
                length = Integer.parseInt(line.substring("content-length:".length()).strip());
            }
        }
        assertThat(length).isPositive();
        for (int i = 0; i < length; i++) {
            in.read();
        }
        return status;
    }

    @Test
    void badRequests()
            throws IOException, InterruptedException
    {
        assertError("GET", "/v1/nothing", "", 404, "NotFoundException");
        assertError("PUT", "/v1/config", "{}", 405, "NotAllowedException");
        assertError("POST", "/v1/namespaces", "{\"namespace\": ", 400, "BadRequestException");
        assertError("POST", "/v1/namespaces", "", 400, "BadRequestException");
        assertError("POST", "/v1/namespaces", "{\"namespace\": [\"tpch\"]}", 409, "AlreadyExistsException");
        assertError("DELETE", "/v1/namespaces/nowhere", "", 404, "NoSuchNamespaceException");
        assertError("GET", "/v1/namespaces/tpch/tables/nothing", "", 404, "NoSuchTableException");
        assertError("GET", "/v1/namespaces/nowhere/tables", "", 404, "NoSuchNamespaceException");
        assertError("GET", "/v1/namespaces/tpch/views/nothing", "", 404, "NoSuchViewException");
        assertError("GET", "/v1/namespaces/tpch/tables?pageSize=0", "", 400, "IllegalArgumentException");
        assertError("GET", "/v1/namespaces/tpch/tables?pageSize=2&pageToken=x", "", 400, "IllegalArgumentException");
        assertError("POST", "/v1/namespaces/tpch/register", "{\"name\": \"t\", \"metadata-location\": \"file:///nowhere/v1.metadata.json\"}", 404, "NotFoundException");
        assertError("POST", "/v1/transactions/commit", "{\"table-changes\": []}", 400, "BadRequestException");
        assertError(
                "POST",
                "/v1/transactions/commit",
                "{\"table-changes\": [{\"identifier\": {\"namespace\": [\"tpch\"], \"name\": \"made\"}, \"requirements\": [{\"type\": \"assert-create\"}], \"updates\": []}]}",
                406,
                "UnsupportedOperationException");
        for (String name : List.of("", "\"\"", "\"a\", \"\"", "\"a\\u001fb\"", "\"a\\u0007b\"")) {
            assertError("POST", "/v1/namespaces", "{\"namespace\": [%s]}".formatted(name), 400, "IllegalArgumentException");
        }
        assertError("POST", "/v1/namespaces", "{\"namespace\": [\"\\ud800\"]}", 400, "BadRequestException");
        assertError("POST", "/v1/namespaces", "{\"namespace\": [\"n\"], \"properties\": {\"k\": null}}", 400, "BadRequestException");
        assertError("POST", "/v1/namespaces/tpch/properties", "{\"updates\": {\"k\": null}}", 400, "BadRequestException");
        assertError("POST", "/v1/namespaces/tpch/properties", "{\"updates\": {\"k\": \"v\"}, \"removals\": [\"k\"]}", 422, "UnprocessableEntityException");
        assertError("POST", "/v1/namespaces/tpch/tables", "{\"name\": \"t\", \"schema\": {\"type\": \"struct\", \"fields\": []}, \"properties\": {\"k\": null}}", 400, "BadRequestException");
        assertError(
                "POST",
                "/v1/namespaces/tpch/views",
                "{\"name\": \"v\", \"schema\": {\"type\": \"struct\", \"fields\": []}, \"properties\": {}, \"view-version\": " +
                        "{\"version-id\": 1, \"timestamp-ms\": 1, \"schema-id\": 0, \"summary\": {}, \"default-namespace\": [], \"representations\": []}}",
                400,
                "IllegalArgumentException");
        // creations whose updates make no table
        for (String update : List.of("", "{\"action\": \"set-properties\", \"updates\": {\"k\": \"v\"}}")) {
            assertError("POST", "/v1/namespaces/tpch/tables/created", "{\"requirements\": [{\"type\": \"assert-create\"}], \"updates\": [%s]}".formatted(update), 400, "ValidationException");
        }
        for (String name : List.of("t@b", "t$refs", "t\\u001eb61", "t\\u0000", "t\\ud800")) {
            assertError("POST", "/v1/namespaces/tpch/tables", "{\"name\": \"%s\", \"schema\": {\"type\": \"struct\", \"fields\": []}}".formatted(name), 400, "BadRequestException");
        }

        assertUpdate("CREATE TABLE kept (n integer)");
        assertUpdate("INSERT INTO kept VALUES 1", 1);
        assertError("GET", "/v1/namespaces/tpch/tables/kept?snapshots=some", "", 400, "IllegalArgumentException");
        assertError("DELETE", "/v1/namespaces/tpch", "", 409, "NamespaceNotEmptyException");
        assertError("POST", "/v1/tables/rename", "{\"source\": {\"namespace\": [\"tpch\"], \"name\": \"kept\"}, \"destination\": {\"namespace\": [\"tpch\"], \"name\": \"k@b\"}}", 400, "BadRequestException");
        long snapshot = table("kept").currentSnapshot().snapshotId();
        for (String name : List.of("", " b", "a\\u0007b")) {
            assertError(
                    "POST",
                    "/v1/namespaces/tpch/tables/kept",
                    "{\"requirements\": [], \"updates\": [{\"action\": \"set-snapshot-ref\", \"ref-name\": \"%s\", \"type\": \"branch\", \"snapshot-id\": %s}]}".formatted(name, snapshot),
                    400,
                    "BadRequestException");
        }
        assertError(
                "POST",
                "/v1/namespaces/tpch/tables/kept",
                "{\"requirements\": [], \"updates\": [{\"action\": \"set-snapshot-ref\", \"ref-name\": \"b\", \"type\": \"branch\", \"snapshot-id\": 1}]}",
                400,
                "ValidationException");
        assertError(
                "POST",
                "/v1/namespaces/tpch/tables/kept",
                "{\"requirements\": [{\"type\": \"assert-ref-snapshot-id\", \"ref\": \"main\", \"snapshot-id\": 1}], \"updates\": [{\"action\": \"set-properties\", \"updates\": {\"k\": \"v\"}}]}",
                409,
                "CommitFailedException");
        for (String update : List.of(
                "{\"action\": \"set-default-spec\", \"spec-id\": 9}",
                "{\"action\": \"set-default-sort-order\", \"sort-order-id\": 9}",
                "{\"action\": \"assign-uuid\", \"uuid\": \"00000000-0000-0000-0000-000000000000\"}",
                ("{\"action\": \"add-snapshot\", \"snapshot\": {\"snapshot-id\": 7, \"parent-snapshot-id\": 7, \"sequence-number\": 9, \"timestamp-ms\": %s, " +
                        "\"manifest-list\": \"file:///snap-7.avro\", \"summary\": {\"operation\": \"append\"}}}").formatted(table("kept").currentSnapshot().timestampMillis()))) {
            assertError("POST", "/v1/namespaces/tpch/tables/kept", "{\"requirements\": [], \"updates\": [%s]}".formatted(update), 400, "ValidationException");
        }
        assertError(
                "POST",
                "/v1/namespaces/tpch/tables/kept",
                "{\"requirements\": [], \"updates\": [{\"action\": \"set-snapshot-ref\", \"ref-name\": \"main\", \"type\": \"tag\", \"snapshot-id\": %s}]}".formatted(snapshot),
                400,
                "BadRequestException");
        assertQuery("SELECT name, type FROM \"kept$refs\"", "VALUES ('main', 'BRANCH')");
        assertThat(table("kept").properties()).doesNotContainKey("k");
        assertUpdate("DROP TABLE kept");
    }

    private void assertError(String method, String path, String body, int status, String type)
            throws IOException, InterruptedException
    {
        HttpResponse<String> response = send(method, path, "Bearer " + ALICE, body.isEmpty() ? Optional.empty() : Optional.of(body));
        assertThat(response.statusCode()).as("%s %s %s: %s", method, path, body, response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
        ErrorResponse error = ErrorResponseParser.fromJson(response.body());
        assertThat(error.code()).isEqualTo(status);
        assertThat(error.type()).as(error.message()).isEqualTo(type);
        assertThat(error.message()).isNotEmpty();
    }

    @Test
    void listsComeInPages()
            throws IOException
    {
        try (RESTCatalog paging = server.connect(ImmutableMap.of("token", ALICE, "rest-page-size", "2"))) {
            assertUpdate("CREATE SCHEMA pages");
            for (int i = 0; i < 5; i++) {
                assertUpdate("CREATE TABLE pages.t%s (n integer)".formatted(i));
            }
            assertThat(paging.listTables(Namespace.of("pages"))).extracting(TableIdentifier::name).containsExactly("t0", "t1", "t2", "t3", "t4");
            assertThat(paging.listNamespaces()).contains(Namespace.of("pages"), Namespace.of("tpch"));
            assertUpdate("DROP SCHEMA pages CASCADE");
        }
    }

    @Test
    void unchangedTableIsNotSentAgain()
            throws IOException, InterruptedException
    {
        assertUpdate("CREATE TABLE tagged (n integer)");
        assertUpdate("INSERT INTO tagged VALUES 1", 1);
        HttpResponse<String> first = send("GET", "/v1/namespaces/tpch/tables/tagged", "Bearer " + ALICE, Optional.empty());
        String tag = first.headers().firstValue("ETag").orElseThrow();
        HttpRequest again = HttpRequest.newBuilder(server.uri().resolve("/v1/namespaces/tpch/tables/tagged"))
                .header("Authorization", "Bearer " + ALICE)
                .header("If-None-Match", tag)
                .build();
        HttpResponse<String> unchanged = http.send(again, BodyHandlers.ofString());
        assertThat(unchanged.statusCode()).isEqualTo(304);
        assertThat(unchanged.body()).isEmpty();
        assertUpdate("CALL lake.system.create_tag('tpch', 'tagged', 'v1')");
        HttpResponse<String> changed = http.send(again, BodyHandlers.ofString());
        assertThat(changed.statusCode()).isEqualTo(200);
        assertThat(changed.body()).contains("\"v1\"");
        assertUpdate("DROP TABLE tagged");
    }

    private Table table(String name)
    {
        return alice.loadTable(TableIdentifier.of("tpch", name));
    }

    private HttpResponse<String> send(String method, String path, String authorization, Optional<String> body)
            throws IOException, InterruptedException
    {
        return http.send(
                HttpRequest.newBuilder(server.uri().resolve(path))
                        .header("Authorization", authorization)
                        .header("Content-Type", "application/json")
                        .method(method, body.map(BodyPublishers::ofString).orElseGet(BodyPublishers::noBody))
                        .build(),
                BodyHandlers.ofString());
    }

    private static String base64(String value)
    {
        return Base64.getEncoder().encodeToString(value.getBytes(UTF_8));
    }
}
