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

import io.trino.jdbc.TrinoStatement;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static io.skade.product.Sql.queryLong;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sessions that move the same refs at the same time, without pause. What they acknowledge must be one history: the one that
 * the ref log tells, move by move.
 */
final class TestConcurrentVerbs
{
    private static final int SESSIONS = 4;
    private static final int CALLS = 50;
    private static final int MARKS = 10;

    private sealed interface Call
    {
        record CreateTag(String name)
                implements Call {}

        record FastForward(int mark)
                implements Call {}

        record RollbackTo(int mark)
                implements Call {}

        default String sql()
        {
            return switch (this) {
                case CreateTag(String name) -> "CALL system.create_tag('verbs', 't', '%s')".formatted(name);
                case FastForward(int mark) -> "CALL system.fast_forward('verbs', 't', 'main', 'p%s')".formatted(mark);
                case RollbackTo(int mark) -> "CALL system.rollback_to('verbs', 't', 'p%s')".formatted(mark);
            };
        }
    }

    /**
     * @param refusal the server's message, if it refused the call
     */
    private record Answer(Call call, String queryId, Optional<String> refusal) {}

    private record LogEntry(String ref, String operation, Optional<Long> before, long after, String queryId) {}

    @Test
    void testOneHistory()
            throws Exception
    {
        long seed = Long.getLong("skade.verbs-seed", System.nanoTime());
        System.out.printf("calls in the order of -Dskade.verbs-seed=%s%n", seed);
        try (SkadeServer server = SkadeServer.builder("concurrent-verbs").start();
                Connection connection = server.connect("lake", "verbs")) {
            List<Long> marks = createTable(connection);
            long lastEntry = queryLong(connection, "SELECT max(log_id) FROM \"t$ref_log\"");

            List<Answer> answers = callAtOnce(server, chooseCalls(seed));

            answers.forEach(TestConcurrentVerbs::checkClear);
            List<LogEntry> log = readLog(connection, lastEntry);
            checkOneHistory(connection, marks, answers, log);
            long refused = answers.stream().filter(answer -> answer.refusal().isPresent()).count();
            System.out.printf("%s calls, %s of them refused, %s log entries%n", answers.size(), refused, log.size());
        }
    }

    /**
     * A table with a line of snapshots, each with a tag {@code p0}, {@code p1}, ..; main is at the last.
     */
    private static List<Long> createTable(Connection connection)
            throws SQLException
    {
        List<Long> marks = new ArrayList<>();
        execute(connection, "CREATE SCHEMA verbs");
        execute(connection, "CREATE TABLE t (n bigint)");
        for (int mark = 0; mark < MARKS; mark++) {
            execute(connection, "INSERT INTO t VALUES " + mark);
            execute(connection, "CALL system.create_tag('verbs', 't', 'p%s')".formatted(mark));
            marks.add(queryLong(connection, "SELECT snapshot_id FROM \"t$refs\" WHERE name = 'main'"));
        }
        return marks;
    }

    private static List<Call> chooseCalls(long seed)
    {
        Random random = new Random(seed);
        List<Call> calls = new ArrayList<>();
        for (int number = 0; number < CALLS; number++) {
            calls.add(new Call.CreateTag("g" + number));
            calls.add(new Call.FastForward(random.nextInt(MARKS)));
            calls.add(new Call.RollbackTo(random.nextInt(MARKS)));
        }
        Collections.shuffle(calls, random);
        return calls;
    }

    private static List<Answer> callAtOnce(SkadeServer server, List<Call> calls)
            throws Exception
    {
        Queue<Call> waiting = new ConcurrentLinkedQueue<>(calls);
        CountDownLatch ready = new CountDownLatch(SESSIONS);
        Callable<List<Answer>> session = () -> {
            List<Answer> answers = new ArrayList<>();
            try (Connection connection = server.connect("lake", "verbs")) {
                ready.countDown();
                ready.await();
                for (Call call = waiting.poll(); call != null; call = waiting.poll()) {
                    answers.add(call(connection, call));
                }
            }
            return answers;
        };
        try (ExecutorService executor = Executors.newFixedThreadPool(SESSIONS)) {
            List<Answer> answers = new ArrayList<>();
            for (Future<List<Answer>> result : executor.invokeAll(Collections.nCopies(SESSIONS, session))) {
                answers.addAll(result.get());
            }
            return answers;
        }
    }

    private static Answer call(Connection connection, Call call)
            throws SQLException
    {
        AtomicReference<String> queryId = new AtomicReference<>();
        try (Statement statement = connection.createStatement()) {
            statement.unwrap(TrinoStatement.class).setProgressMonitor(stats -> queryId.set(stats.getQueryId()));
            statement.execute(call.sql());
            return new Answer(call, queryId.get(), Optional.empty());
        }
        catch (SQLException e) {
            if (!e.getMessage().startsWith("Query failed")) {
                throw e;
            }
            return new Answer(call, queryId.get(), Optional.of(e.getMessage()));
        }
    }

    /**
     * A refusal says which rule the call breaks on the refs as they are, or that it lost a race and may be tried again.
     */
    private static void checkClear(Answer answer)
    {
        answer.refusal().ifPresent(message -> assertThat(message).as("refusal of %s", answer.call()).containsPattern(switch (answer.call()) {
            case Call.CreateTag _ -> "(?i)conflict";
            case Call.FastForward _ -> "(?i)conflict|is not an ancestor";
            case Call.RollbackTo _ -> "(?i)conflict|is not an ancestor";
        }));
    }

    private static List<LogEntry> readLog(Connection connection, long after)
            throws SQLException
    {
        return query(connection, "SELECT ref, operation, old_snapshot_id, new_snapshot_id, query_id FROM \"t$ref_log\" WHERE log_id > %s ORDER BY log_id".formatted(after)).stream()
                .map(line -> line.split(" \\| "))
                .map(parts -> new LogEntry(
                        parts[0],
                        parts[1],
                        parts[2].equals("null") ? Optional.empty() : Optional.of(Long.parseLong(parts[2])),
                        Long.parseLong(parts[3]),
                        parts[4]))
                .toList();
    }

    private static void checkOneHistory(Connection connection, List<Long> marks, List<Answer> answers, List<LogEntry> log)
            throws SQLException
    {
        Map<String, Answer> byQuery = new HashMap<>();
        answers.forEach(answer -> byQuery.put(answer.queryId(), answer));
        assertThat(byQuery).hasSameSizeAs(answers);

        // each entry is what its call does to the refs that the entries before it left
        Map<String, Long> refs = new HashMap<>();
        for (int mark = 0; mark < MARKS; mark++) {
            refs.put("p" + mark, marks.get(mark));
        }
        refs.put("main", marks.getLast());
        Set<Integer> reached = new HashSet<>(Set.of(MARKS - 1));
        Set<String> logged = new HashSet<>();
        for (LogEntry entry : log) {
            Answer answer = byQuery.get(entry.queryId());
            assertThat(answer).as("call of %s", entry).isNotNull();
            assertThat(answer.refusal()).as("refusal of a logged %s", answer.call()).isEmpty();
            assertThat(logged.add(entry.queryId())).as("first entry of %s", answer).isTrue();
            assertThat(entry.before()).as("before %s", entry).isEqualTo(Optional.ofNullable(refs.get(entry.ref())));
            int main = marks.indexOf(refs.get("main"));
            switch (answer.call()) {
                case Call.CreateTag(String name) -> assertThat(entry).isEqualTo(new LogEntry(name, "create_tag", Optional.empty(), marks.get(main), entry.queryId()));
                case Call.FastForward(int mark) -> {
                    assertThat(mark).isGreaterThan(main);
                    assertThat(entry).isEqualTo(new LogEntry("main", "fast_forward", Optional.of(marks.get(main)), marks.get(mark), entry.queryId()));
                    reached.add(mark);
                }
                case Call.RollbackTo(int mark) -> {
                    assertThat(mark).isLessThan(main);
                    assertThat(entry).isEqualTo(new LogEntry("main", "rollback_to", Optional.of(marks.get(main)), marks.get(mark), entry.queryId()));
                    reached.add(mark);
                }
            }
            refs.put(entry.ref(), entry.after());
        }

        // a call that succeeded and is not in the log found main where it should go
        for (Answer answer : answers) {
            if (answer.refusal().isEmpty() && !logged.contains(answer.queryId())) {
                switch (answer.call()) {
                    case Call.CreateTag _ -> throw new AssertionError("Not in the log: " + answer);
                    case Call.FastForward(int mark) -> assertThat(reached).contains(mark);
                    case Call.RollbackTo(int mark) -> assertThat(reached).contains(mark);
                }
            }
        }

        assertThat(query(connection, "SELECT name, snapshot_id FROM \"t$refs\""))
                .containsExactlyInAnyOrderElementsOf(refs.entrySet().stream().map(ref -> ref.getKey() + " | " + ref.getValue()).toList());
    }
}
