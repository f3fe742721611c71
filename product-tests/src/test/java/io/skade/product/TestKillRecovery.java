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

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static io.skade.product.Sql.queryLong;
import static java.util.Locale.ENGLISH;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Kills the server, or asks it to end, at random moments while clients move refs, and checks after each restart that every acknowledged move is
 * there and none is half there. {@code -Dskade.kill-rounds}, {@code -Dskade.shutdown-rounds} and {@code -Dskade.kill-seed} say how often and which moments.
 */
final class TestKillRecovery
{
    private static final int CLIENTS = 3;
    private static final int MARKS = 12;

    private final long seed = Long.getLong("skade.kill-seed", System.nanoTime());

    @Test
    void testAcknowledgedMovesSurviveKill()
            throws Exception
    {
        testAcknowledgedMovesSurvive(End.KILL, Integer.getInteger("skade.kill-rounds", 5));
    }

    @Test
    void testAcknowledgedMovesSurviveShutdown()
            throws Exception
    {
        testAcknowledgedMovesSurvive(End.SHUTDOWN, Integer.getInteger("skade.shutdown-rounds", 2));
    }

    private void testAcknowledgedMovesSurvive(End end, int rounds)
            throws Exception
    {
        System.out.printf("%s rounds with -Dskade.kill-seed=%s%n", rounds, seed);
        RandomGenerator random = new Random(seed);
        try (SkadeServer server = SkadeServer.builder(end.name().toLowerCase(ENGLISH) + "-recovery").start()) {
            List<Long> marks = createTable(server);
            List<RefClient> clients = IntStream.range(0, CLIENTS)
                    .mapToObj(number -> new RefClient(server, "b" + number, marks, random.nextLong(), end))
                    .toList();
            WriteClient writer = new WriteClient(server, end);
            PublishClient publisher = new PublishClient(server, end);

            int acknowledged = 0;
            for (int round = 1; round <= rounds; round++) {
                endWhileBusy(server, end, clients, writer, publisher, random.nextLong(200, 4000));
                assertThat(server.data()).isDirectoryNotContaining("glob:**/hs_err*");
                server.restart();
                try (Connection connection = server.connect("lake", "kill")) {
                    Map<String, Long> refs = readRefs(connection);
                    for (RefClient client : clients) {
                        client.checkRecovered(connection, refs);
                    }
                    writer.checkRecovered(connection);
                    publisher.checkRecovered(connection);
                    checkListingsAgree(connection, refs);
                    assertThat(query(connection, "SELECT * FROM TABLE(lake.system.check_store())")).isEmpty();
                    checkEveryRefReads(connection, refs, marks);
                }
                int total = clients.stream().mapToInt(RefClient::acknowledged).sum() + (int) (writer.acknowledgedRows + publisher.acknowledged);
                System.out.printf("round %s: %s moves, writes and publishes acknowledged and found%n", round, total - acknowledged);
                acknowledged = total;
            }
            assertThat(acknowledged).as("acknowledged moves and writes").isPositive();
        }
    }

    /**
     * A table with a line of snapshots, each with a tag {@code p0}, {@code p1}, .., the n-th with n rows, and a branch for each client.
     */
    private static List<Long> createTable(SkadeServer server)
            throws SQLException
    {
        List<Long> marks = new ArrayList<>();
        try (Connection connection = server.connect("lake", "kill")) {
            execute(connection, "CREATE SCHEMA kill");
            execute(connection, "CREATE TABLE t (n bigint)");
            for (int mark = 0; mark < MARKS; mark++) {
                execute(connection, "INSERT INTO t VALUES " + mark);
                execute(connection, "CALL system.create_tag('kill', 't', 'p%s')".formatted(mark));
                marks.add(queryLong(connection, "SELECT snapshot_id FROM \"t$refs\" WHERE name = 'main'"));
            }
            for (int number = 0; number < CLIENTS; number++) {
                execute(connection, "CALL system.create_branch('kill', 't', 'b%s', 'p0')".formatted(number));
            }
            execute(connection, "CREATE BRANCH written IN TABLE t");
            execute(connection, "CREATE TABLE u1 (n bigint)");
            execute(connection, "CREATE TABLE u2 (n bigint)");
        }
        return marks;
    }

    private static void endWhileBusy(SkadeServer server, End end, List<RefClient> clients, WriteClient writer, PublishClient publisher, long millis)
            throws Exception
    {
        try (ExecutorService executor = Executors.newCachedThreadPool()) {
            List<Future<Void>> running = new ArrayList<>();
            for (RefClient client : clients) {
                running.add(executor.submit(client::moveUntilEnded));
            }
            running.add(executor.submit(writer::writeUntilEnded));
            running.add(executor.submit(publisher::publishUntilEnded));
            // from the first acknowledged move on, so that each round ends a server at work
            int before = clients.stream().mapToInt(RefClient::acknowledged).sum();
            while (clients.stream().mapToInt(RefClient::acknowledged).sum() == before && running.stream().noneMatch(Future::isDone)) {
                Thread.sleep(5);
            }
            Thread.sleep(millis);
            end.end(server);
            // a client would go on asking for the result of its call
            executor.shutdownNow();
            for (Future<Void> client : running) {
                client.get();
            }
        }
    }

    private static Map<String, Long> readRefs(Connection connection)
            throws SQLException
    {
        return query(connection, "SELECT name, snapshot_id FROM \"t$refs\"").stream()
                .map(line -> line.split(" \\| "))
                .collect(toMap(parts -> parts[0], parts -> Long.parseLong(parts[1])));
    }

    private static void checkListingsAgree(Connection connection, Map<String, Long> refs)
            throws SQLException
    {
        List<String> listed = query(connection, "SELECT name, snapshot_id FROM lake.system.refs WHERE table_schema = 'kill' AND table_name = 't'");
        assertThat(listed).containsExactlyInAnyOrderElementsOf(refs.entrySet().stream()
                .map(ref -> ref.getKey() + " | " + ref.getValue())
                .toList());
    }

    private static void checkEveryRefReads(Connection connection, Map<String, Long> refs, List<Long> marks)
            throws SQLException
    {
        for (int number = 0; number < CLIENTS; number++) {
            String branch = "b" + number;
            assertThat(queryLong(connection, "SELECT count(*) FROM t FOR VERSION AS OF '%s'".formatted(branch)))
                    .isEqualTo(marks.indexOf(refs.get(branch)) + 1);
        }
        assertThat(queryLong(connection, "SELECT count(*) FROM t")).isEqualTo(MARKS);
    }

    private enum End
    {
        KILL {
            @Override
            void end(SkadeServer server)
            {
                server.kill();
            }

            @Override
            void check(Exception exception)
            {
                // the driver also throws this one, undeclared
                if (!(exception instanceof InterruptedException)) {
                    assertThat(exception).isInstanceOf(SQLException.class);
                    // an answer of the server is not what a kill gives
                    assertThat(exception.getMessage()).doesNotStartWith("Query failed");
                }
            }
        },
        SHUTDOWN {
            @Override
            void end(SkadeServer server)
                    throws InterruptedException
            {
                // as a process ends of itself on a signal
                assertThat(server.terminate()).isEqualTo(128 + SIGTERM);
            }

            @Override
            void check(Exception exception)
            {
                if (!(exception instanceof InterruptedException)) {
                    assertThat(exception).isInstanceOf(SQLException.class);
                }
            }
        };

        private static final int SIGTERM = 15;

        abstract void end(SkadeServer server)
                throws InterruptedException;

        /**
         * Checks what a client gets whose statement did not end before the server did.
         */
        abstract void check(Exception exception);
    }

    /**
     * Moves one branch along the line and tags it. Nobody else moves this branch, so what it acknowledged is the only thing
     * to be found, but for the one move that was under way at the end.
     */
    private static final class RefClient
    {
        private final SkadeServer server;
        private final String branch;
        private final List<Long> marks;
        private final RandomGenerator random;
        private final End end;
        private final Map<String, Integer> tags = new HashMap<>();
        private volatile int acknowledged;
        private int position;
        private Optional<Move> underWay = Optional.empty();

        private RefClient(SkadeServer server, String branch, List<Long> marks, long seed, End end)
        {
            this.server = server;
            this.branch = branch;
            this.marks = marks;
            this.random = new Random(seed);
            this.end = end;
        }

        private sealed interface Move
        {
            record Tag(String name)
                    implements Move {}

            record To(int position)
                    implements Move {}
        }

        int acknowledged()
        {
            return acknowledged;
        }

        Void moveUntilEnded()
        {
            try (Connection connection = server.connect("lake", "kill")) {
                while (true) {
                    Move move = choose();
                    underWay = Optional.of(move);
                    execute(connection, statement(move));
                    apply(move);
                }
            }
            catch (Exception e) {
                end.check(e);
            }
            return null;
        }

        private Move choose()
        {
            if (random.nextInt(3) == 0) {
                return new Move.Tag("%s_%s".formatted(branch, tags.size()));
            }
            int to = random.nextInt(marks.size() - 1);
            return new Move.To(to < position ? to : to + 1);
        }

        private String statement(Move move)
        {
            return switch (move) {
                case Move.Tag(String name) -> "CALL system.create_tag('kill', 't', '%s', '%s')".formatted(name, branch);
                case Move.To(int to) when to > position -> "CALL system.fast_forward('kill', 't', '%s', 'p%s')".formatted(branch, to);
                case Move.To(int to) -> "CALL system.rollback_to(schema_name => 'kill', table_name => 't', ref => 'p%s', branch => '%s')".formatted(to, branch);
            };
        }

        private void apply(Move move)
        {
            switch (move) {
                case Move.Tag(String name) -> tags.put(name, position);
                case Move.To(int to) -> position = to;
            }
            underWay = Optional.empty();
            acknowledged++;
        }

        void checkRecovered(Connection connection, Map<String, Long> refs)
                throws SQLException
        {
            // the move under way may be there, wholly: then it counts as made
            underWay.filter(move -> isMade(move, refs)).ifPresent(this::apply);
            underWay = Optional.empty();

            Map<String, Long> expected = new HashMap<>();
            expected.put(branch, marks.get(position));
            tags.forEach((name, mark) -> expected.put(name, marks.get(mark)));
            Map<String, Long> actual = new HashMap<>(refs);
            actual.keySet().removeIf(name -> !name.equals(branch) && !name.startsWith(branch + "_"));
            assertThat(actual).as("refs of %s", branch).isEqualTo(expected);

            // the log has each move once, the branch's creation too
            List<String> log = query(connection, "SELECT ref, new_snapshot_id FROM \"t$ref_log\" WHERE ref = '%1$s' OR ref LIKE '%1$s\\_%%' ESCAPE '\\' ORDER BY log_id".formatted(branch));
            assertThat(log).as("log of %s", branch).hasSize(acknowledged + 1);
            Map<String, Long> replayed = new HashMap<>();
            for (String line : log) {
                String[] parts = line.split(" \\| ");
                replayed.put(parts[0], Long.parseLong(parts[1]));
            }
            assertThat(replayed).as("refs that the log of %s gives", branch).isEqualTo(expected);
        }

        private boolean isMade(Move move, Map<String, Long> refs)
        {
            return switch (move) {
                case Move.Tag(String name) -> refs.containsKey(name);
                case Move.To(int to) -> refs.get(branch).equals(marks.get(to));
            };
        }
    }

    /**
     * Adds rows to a branch, one a statement.
     */
    private static final class WriteClient
    {
        private final SkadeServer server;
        private final End end;
        private volatile long acknowledgedRows;

        private WriteClient(SkadeServer server, End end)
        {
            this.server = server;
            this.end = end;
        }

        Void writeUntilEnded()
        {
            try (Connection connection = server.connect("lake", "kill")) {
                while (true) {
                    execute(connection, "INSERT INTO t@written VALUES 100");
                    acknowledgedRows++;
                }
            }
            catch (Exception e) {
                end.check(e);
            }
            return null;
        }

        void checkRecovered(Connection connection)
                throws SQLException
        {
            long rows = queryLong(connection, "SELECT count(*) FROM t FOR VERSION AS OF 'written' WHERE n = 100");
            assertThat(rows).as("rows of the branch that is written").isBetween(acknowledgedRows, acknowledgedRows + 1);
            acknowledgedRows = rows;
        }
    }

    /**
     * Publishes one row in each of two tables at once, again and again. It is in both of them or in none.
     */
    private static final class PublishClient
    {
        private final SkadeServer server;
        private final End end;
        private volatile long acknowledged;

        private PublishClient(SkadeServer server, End end)
        {
            this.server = server;
            this.end = end;
        }

        Void publishUntilEnded()
        {
            try (Connection connection = server.connect("lake", "kill")) {
                while (true) {
                    execute(connection, "CALL system.create_branches(schema_name => 'kill', branch => 'rel', tables => ARRAY['u1', 'u2'])");
                    execute(connection, "INSERT INTO u1@rel VALUES 1");
                    execute(connection, "INSERT INTO u2@rel VALUES 1");
                    execute(connection, "CALL system.publish_branches(schema_name => 'kill', branch => 'rel', drop_branch => true)");
                    acknowledged++;
                }
            }
            catch (Exception e) {
                end.check(e);
            }
            return null;
        }

        void checkRecovered(Connection connection)
                throws SQLException
        {
            long rows = queryLong(connection, "SELECT count(*) FROM u1");
            assertThat(rows).as("publishes").isBetween(acknowledged, acknowledged + 1);
            assertThat(queryLong(connection, "SELECT count(*) FROM u2")).isEqualTo(rows);
            acknowledged = rows;
            long branches = queryLong(connection, "SELECT count(*) FROM lake.system.refs WHERE table_schema = 'kill' AND name = 'rel'");
            assertThat(branches).as("tables with the branch").isIn(0L, 2L);
            if (branches > 0) {
                execute(connection, "CALL system.drop_refs('kill', 'rel')");
            }
        }
    }
}
