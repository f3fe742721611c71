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
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import static io.skade.product.Sql.createSchema;
import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static io.skade.product.Sql.queryLong;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two publishes at once, one of the tables t1 and t2, the other of t2 and t3, while readers count the rows of all three in one query. Each publish adds
 * a row to each of its tables, so that t2 always has as many as t1 and t3 together.
 */
final class TestConcurrentPublishes
{
    private static final int ROUNDS = Integer.getInteger("skade.publish-rounds", 100);
    private static final int READERS = 2;

    @Test
    void testOverlappingPublishes()
            throws Exception
    {
        try (SkadeServer server = SkadeServer.builder("concurrent-publishes").start();
                Connection connection = server.connect("lake", "publishes");
                Sql.TemporarySchema _ = createSchema(connection)) {
            for (String table : List.of("t1", "t2", "t3")) {
                execute(connection, "CREATE TABLE %s (n bigint)".formatted(table));
            }
            AtomicBoolean done = new AtomicBoolean();
            try (ExecutorService executor = Executors.newCachedThreadPool()) {
                List<Future<Integer>> readers = Collections.nCopies(READERS, (Callable<Integer>) () -> read(server, done)).stream()
                        .map(executor::submit)
                        .toList();
                try {
                    publish(server, connection, executor);
                }
                finally {
                    done.set(true);
                }
                for (Future<Integer> reader : readers) {
                    assertThat(reader.get()).isGreaterThan(ROUNDS / 2);
                }
            }
        }
    }

    private static int read(SkadeServer server, AtomicBoolean done)
            throws SQLException
    {
        int count = 0;
        try (Connection connection = server.connect("lake", "publishes")) {
            while (!done.get()) {
                assertThat(queryLong(connection, "SELECT (SELECT count(*) FROM t2) - (SELECT count(*) FROM t1) - (SELECT count(*) FROM t3)")).isZero();
                count++;
            }
        }
        return count;
    }

    private static void publish(SkadeServer server, Connection connection, ExecutorService executor)
            throws Exception
    {
        try (Connection first = server.connect("lake", "publishes");
                Connection second = server.connect("lake", "publishes")) {
            int published = 0;
            int rebased = 0;
            for (int round = 0; round < ROUNDS; round++) {
                // a fast-forward of t2 excludes the other one, two appends can be rebased on each other
                String mode = round % 2 == 0 ? "fast_forward" : "rebase";
                stage(connection, "one", "t1", "t2", round);
                stage(connection, "two", "t2", "t3", round);
                CyclicBarrier start = new CyclicBarrier(2);
                Future<Boolean> one = executor.submit(() -> publish(first, start, "one", mode));
                Future<Boolean> two = executor.submit(() -> publish(second, start, "two", mode));
                int successes = (one.get() ? 1 : 0) + (two.get() ? 1 : 0);

                assertThat(successes).as("round %s, %s", round, mode).isEqualTo(mode.equals("rebase") ? 2 : 1);
                published += successes;
                rebased += mode.equals("rebase") ? 1 : 0;
                assertThat(queryLong(connection, "SELECT count(*) FROM t2")).isEqualTo(published);
                drop(connection, "one", "t1", one.get());
                drop(connection, "two", "t3", two.get());
            }
            assertThat(queryLong(connection, "SELECT (SELECT count(*) FROM t1) + (SELECT count(*) FROM t3)")).isEqualTo(published);
            assertThat(query(connection, "SELECT DISTINCT name FROM system.refs WHERE table_schema = 'publishes'")).containsExactly("main");
            assertThat(rebased).isEqualTo(ROUNDS / 2);
        }
    }

    private static void stage(Connection connection, String branch, String table, String other, int round)
            throws SQLException
    {
        execute(connection, "CALL system.create_branches(schema_name => 'publishes', branch => '%s', tables => ARRAY['%s', '%s'])".formatted(branch, table, other));
        for (String name : List.of(table, other)) {
            execute(connection, "INSERT INTO %s@%s VALUES %s".formatted(name, branch, round));
        }
    }

    /**
     * Whether the publish was accepted. A refused one says which table stands in its way.
     */
    private static boolean publish(Connection connection, CyclicBarrier start, String branch, String mode)
            throws Exception
    {
        start.await();
        try {
            execute(connection, "CALL system.publish_branches(schema_name => 'publishes', branch => '%s', mode => '%s', drop_branch => true)".formatted(branch, mode));
            return true;
        }
        catch (SQLException e) {
            assertThat(e.getMessage()).contains("Cannot fast-forward main of publishes.t2 to %s".formatted(branch));
            return false;
        }
    }

    private static void drop(Connection connection, String branch, String table, boolean published)
            throws SQLException
    {
        if (!published) {
            execute(connection, "CALL system.drop_refs(schema_name => 'publishes', ref => '%s', tables => ARRAY['%s', 't2'])".formatted(branch, table));
        }
    }
}
