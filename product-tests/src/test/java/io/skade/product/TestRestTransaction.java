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
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static io.skade.product.Sql.queryLong;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * A transaction over REST changes all of its tables or none, also when the server is killed meanwhile. {@code -Dskade.kill-rounds} and
 * {@code -Dskade.kill-seed} say how often and which moments.
 */
@TestInstance(PER_CLASS)
final class TestRestTransaction
{
    private static final String TOKEN = "token-of-clerk";
    private static final List<String> TABLES = List.of("a", "b", "c");

    private SkadeServer server;
    private HttpClient client;

    @BeforeAll
    void start()
            throws IOException, InterruptedException
    {
        server = SkadeServer.builder("rest-transaction").rest("clerk", TOKEN).start();
        client = HttpClient.newHttpClient();
    }

    @AfterAll
    void stop()
            throws IOException, InterruptedException
    {
        if (client != null) {
            client.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Test
    void testAllOrNothingAfterKill()
            throws Exception
    {
        int kills = Integer.getInteger("skade.kill-rounds", 5);
        long seed = Long.getLong("skade.kill-seed", System.nanoTime());
        System.out.printf("%s kills with -Dskade.kill-seed=%s%n", kills, seed);
        RandomGenerator random = new Random(seed);
        TransactionClient transactions = new TransactionClient(createTables("killed"));

        for (int kill = 1; kill <= kills; kill++) {
            int before = transactions.acknowledged;
            killWhileBusy(transactions, random.nextLong(50, 2000));
            server.restart();
            try (Connection connection = server.connect("lake", "killed")) {
                transactions.checkRecovered(connection);
                assertThat(query(connection, "SELECT * FROM TABLE(lake.system.check_store())")).isEmpty();
            }
            System.out.printf("kill %s: %s transactions acknowledged and found%n", kill, transactions.acknowledged - before);
        }
    }

    private void killWhileBusy(TransactionClient transactions, long millis)
            throws Exception
    {
        try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
            int before = transactions.acknowledged;
            Future<Void> running = executor.submit(transactions::commitUntilKilled);
            // from the first acknowledged transaction on, so that each kill ends a server at work
            while (transactions.acknowledged == before && !running.isDone()) {
                Thread.sleep(5);
            }
            assertThat(transactions.acknowledged).as("transactions before the kill").isGreaterThan(before);
            Thread.sleep(millis);
            server.kill();
            running.get();
        }
    }

    @Test
    void testRefusedTransactionChangesNothing()
            throws Exception
    {
        Map<String, Long> snapshots = createTables("refused");
        try (Connection connection = server.connect("lake", "refused")) {
            execute(connection, "CREATE BRANCH frozen IN TABLE c");
            execute(connection, "CALL lake.system.protect_ref('refused', 'c', 'frozen')");
            List<String> before = state(connection);

            String a = change("refused", "a", "", setRound(1));
            String b = change("refused", "b", "", setRound(1));
            // another one moved main, or made the ref
            checkRefused(a, b, change("refused", "c", requireRef("main", snapshots.get("a")), setRound(1)), 409, "CommitFailedException", "main");
            checkRefused(a, b, change("refused", "c", requireNoRef("round-0"), setRound(1)), 409, "CommitFailedException", "round-0");
            checkRefused(a, b, change("refused", "d", "", setRound(1)), 404, "NoSuchTableException", "refused.d");
            checkRefused(a, b, change("refused", "c", "", removeRef("frozen")), 403, "ForbiddenException", "protected");
            assertThat(state(connection)).isEqualTo(before);

            HttpResponse<String> unknown = client.send(
                    HttpRequest.newBuilder(server.restUri().resolve("/v1/transactions/commit"))
                            .header("Content-Type", "application/json")
                            .header("Authorization", "Bearer wrong")
                            .POST(BodyPublishers.ofString(transaction(a, b)))
                            .build(),
                    BodyHandlers.ofString());
            assertThat(unknown.statusCode()).isEqualTo(401);
            assertThat(post("/v1/transactions/commit", "{\"table-changes\": [").statusCode()).isEqualTo(400);
            assertThat(state(connection)).isEqualTo(before);

            assertThat(post("/v1/transactions/commit", transaction(a, b)).statusCode()).isEqualTo(204);
            assertThat(query(connection, "SELECT count(*), count(DISTINCT log_id), min(committed_by) FROM system.commit_log WHERE table_schema = 'refused' AND operation = 'set_properties'"))
                    .containsExactly("2 | 1 | clerk");
        }
    }

    private void checkRefused(String first, String second, String third, int status, String type, String message)
            throws IOException, InterruptedException
    {
        HttpResponse<String> response = post("/v1/transactions/commit", transaction(first, second, third));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.body()).contains(type).contains(message);
    }

    private static List<String> state(Connection connection)
            throws SQLException
    {
        return query(connection, "SELECT log_id, table_name, metadata_location FROM system.commit_log WHERE table_schema = 'refused' ORDER BY log_id, table_name");
    }

    /**
     * Clients at work at the same time whose transactions have tables in common: none waits for ever, and none undoes what another did.
     */
    @Test
    void testOverlappingTransactions()
            throws Exception
    {
        createTables("shared");
        Map<String, List<String>> clients = Map.of("x", List.of("a", "b"), "y", List.of("b", "c"), "z", List.of("c", "a"));
        int last = 50;
        try (ExecutorService executor = Executors.newFixedThreadPool(clients.size())) {
            List<Callable<Void>> calls = clients.entrySet().stream()
                    .<Callable<Void>>map(entry -> () -> {
                        for (int n = 1; n <= last; n++) {
                            String update = setProperty(entry.getKey(), n);
                            HttpResponse<String> response = post("/v1/transactions/commit", transaction(entry.getValue().stream()
                                    .map(table -> change("shared", table, "", update))
                                    .toArray(String[]::new)));
                            assertThat(response.statusCode()).as(response.body()).isEqualTo(204);
                        }
                        return null;
                    })
                    .toList();
            for (Future<Void> call : executor.invokeAll(calls)) {
                call.get();
            }
        }
        try (Connection connection = server.connect("lake", "shared")) {
            assertThat(query(connection, "SELECT key, value FROM \"a$properties\" WHERE key IN ('x', 'y', 'z') ORDER BY key")).containsExactly("x | " + last, "z | " + last);
            assertThat(query(connection, "SELECT key, value FROM \"b$properties\" WHERE key IN ('x', 'y', 'z') ORDER BY key")).containsExactly("x | " + last, "y | " + last);
            assertThat(query(connection, "SELECT key, value FROM \"c$properties\" WHERE key IN ('x', 'y', 'z') ORDER BY key")).containsExactly("y | " + last, "z | " + last);
            assertThat(query(connection, "SELECT count(*), count(DISTINCT log_id) FROM system.commit_log WHERE table_schema = 'shared' AND operation = 'set_properties'"))
                    .containsExactly("%s | %s".formatted(2 * clients.size() * last, clients.size() * last));
        }
    }

    /**
     * What was built to remove a snapshot must not take away a ref that was made on it meanwhile.
     */
    @Test
    void testRemovalOfSnapshotWithNewRef()
            throws Exception
    {
        long snapshot = createTables("removed").get("a");
        try (Connection connection = server.connect("lake", "removed")) {
            execute(connection, "INSERT INTO a VALUES 7");
            execute(connection, "CALL lake.system.drop_tag('removed', 'a', 'round-0')");
            String removal = "{\"requirements\":[],\"updates\":[{\"action\":\"remove-snapshots\",\"snapshot-ids\":[%s]}]}".formatted(snapshot);

            execute(connection, "CALL lake.system.create_tag(schema_name => 'removed', table_name => 'a', tag => 'kept', snapshot_id => %s)".formatted(snapshot));
            HttpResponse<String> refused = post("/v1/namespaces/removed/tables/a", removal);
            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(409);
            assertThat(query(connection, "SELECT n FROM a FOR VERSION AS OF 'kept'")).containsExactly("1");

            execute(connection, "CALL lake.system.drop_tag('removed', 'a', 'kept')");
            HttpResponse<String> removed = post("/v1/namespaces/removed/tables/a", removal);
            assertThat(removed.statusCode()).as(removed.body()).isEqualTo(200);
            assertThat(query(connection, "SELECT count(*) FROM \"a$snapshots\" WHERE snapshot_id = %s".formatted(snapshot))).containsExactly("0");
            assertThat(query(connection, "SELECT n FROM a ORDER BY n")).containsExactly("1", "7");
        }
    }

    /**
     * Gives the snapshot of each table. Each has a tag {@code round-0} on it.
     */
    private Map<String, Long> createTables(String schema)
            throws SQLException
    {
        Map<String, Long> snapshots = new HashMap<>();
        try (Connection connection = server.connect("lake", schema)) {
            execute(connection, "CREATE SCHEMA " + schema);
            for (String table : TABLES) {
                execute(connection, "CREATE TABLE %s AS SELECT 1 AS n".formatted(table));
                snapshots.put(table, queryLong(connection, "SELECT snapshot_id FROM \"%s$refs\"".formatted(table)));
            }
            execute(connection, "CALL lake.system.create_tags('%s', 'round-0')".formatted(schema));
        }
        return snapshots;
    }

    private HttpResponse<String> post(String path, String body)
            throws IOException, InterruptedException
    {
        return client.send(
                HttpRequest.newBuilder(server.restUri().resolve(path))
                        .header("Content-Type", "application/json")
                        .header("Authorization", "Bearer " + TOKEN)
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private static String transaction(String... changes)
    {
        return "{\"table-changes\":[%s]}".formatted(String.join(",", changes));
    }

    private static String change(String schema, String table, String requirements, String updates)
    {
        return """
               {"identifier":{"namespace":["%s"],"name":"%s"},"requirements":[%s],"updates":[%s]}\
               """.formatted(schema, table, requirements, updates);
    }

    private static String requireRef(String ref, long snapshotId)
    {
        return "{\"type\":\"assert-ref-snapshot-id\",\"ref\":\"%s\",\"snapshot-id\":%s}".formatted(ref, snapshotId);
    }

    private static String requireNoRef(String ref)
    {
        return "{\"type\":\"assert-ref-snapshot-id\",\"ref\":\"%s\",\"snapshot-id\":null}".formatted(ref);
    }

    private static String setRound(int round)
    {
        return setProperty("round", round);
    }

    private static String setProperty(String key, int value)
    {
        return "{\"action\":\"set-properties\",\"updates\":{\"%s\":\"%s\"}}".formatted(key, value);
    }

    private static String setTag(String tag, long snapshotId)
    {
        return "{\"action\":\"set-snapshot-ref\",\"ref-name\":\"%s\",\"type\":\"tag\",\"snapshot-id\":%s}".formatted(tag, snapshotId);
    }

    private static String removeRef(String ref)
    {
        return "{\"action\":\"remove-snapshot-ref\",\"ref-name\":\"%s\"}".formatted(ref);
    }

    /**
     * Takes all tables from one round to the next, again and again. The number of the round is a property and in the name of the only tag.
     */
    private final class TransactionClient
    {
        private final Map<String, Long> snapshots;
        private volatile int acknowledged;

        private TransactionClient(Map<String, Long> snapshots)
        {
            this.snapshots = snapshots;
        }

        Void commitUntilKilled()
                throws InterruptedException
        {
            while (true) {
                HttpResponse<String> response;
                try {
                    response = post("/v1/transactions/commit", toRound(acknowledged + 1));
                }
                catch (IOException _) {
                    // the server is gone; any answer would have been one to a client
                    return null;
                }
                assertThat(response.statusCode()).as(response.body()).isEqualTo(204);
                acknowledged++;
            }
        }

        private String toRound(int round)
        {
            String before = "round-" + (round - 1);
            String after = "round-" + round;
            return transaction(TABLES.stream()
                    .map(table -> change(
                            "killed",
                            table,
                            requireRef(before, snapshots.get(table)) + "," + requireNoRef(after),
                            setRound(round) + "," + removeRef(before) + "," + setTag(after, snapshots.get(table))))
                    .toArray(String[]::new));
        }

        void checkRecovered(Connection connection)
                throws SQLException
        {
            int round = Integer.parseInt(query(connection, "SELECT value FROM \"a$properties\" WHERE key = 'round'").getFirst());
            // the transaction under way may be there, wholly
            assertThat(round).as("round").isBetween(acknowledged, acknowledged + 1);
            acknowledged = round;
            for (String table : TABLES) {
                assertThat(query(connection, "SELECT value FROM \"%s$properties\" WHERE key = 'round'".formatted(table))).as(table).containsExactly(String.valueOf(round));
                assertThat(query(connection, "SELECT name, snapshot_id FROM \"%s$refs\" WHERE type = 'TAG'".formatted(table))).as(table)
                        .containsExactly("round-%s | %s".formatted(round, snapshots.get(table)));
                assertThat(query(connection, "SELECT n FROM %s FOR VERSION AS OF 'round-%s'".formatted(table, round))).as(table).containsExactly("1");
            }
            // each transaction is in the log once, with all its tables
            String tables = TABLES.stream().map("'%s'"::formatted).collect(joining(", "));
            assertThat(query(connection,
                    """
                    SELECT count(*), count_if(tables = %s) FROM (
                        SELECT log_id, count(*) AS tables FROM system.commit_log
                        WHERE table_schema = 'killed' AND table_name IN (%s) AND committed_by = 'clerk' GROUP BY log_id)
                    """.formatted(TABLES.size(), tables))).containsExactly("%1$s | %1$s".formatted(round));
        }
    }
}
