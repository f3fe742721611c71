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
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static io.skade.product.Sql.queryLong;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Trino and Spark write the same table at the same time, without pause. What they acknowledge is there, once, and nothing else is.
 */
final class TestRestConcurrency
{
    private static final String TOKEN = "token-of-spark";
    private static final int THREADS = 2;
    private static final int INSERTS = 50;

    /**
     * @param failure the message, if the insert failed
     */
    private record Outcome(String row, Optional<String> failure)
    {
        boolean isAcknowledged()
        {
            return failure.isEmpty();
        }
    }

    @Test
    void testEveryAcknowledgedRowIsThereOnce(@TempDir Path folder)
            throws Exception
    {
        Path java = EngineProcess.assumeJava("Spark");
        try (SkadeServer server = SkadeServer.builder("rest-concurrency").rest("etl", TOKEN).start();
                SparkProcess spark = SparkProcess.start(java, folder, Path.of("target/servers/rest-concurrency-spark.log"), server, TOKEN);
                Connection connection = server.connect("lake", "busy")) {
            execute(connection, "CREATE SCHEMA busy");
            execute(connection, "CREATE TABLE t (writer varchar, n integer)");
            // both have begun when the race does
            execute(connection, "INSERT INTO t VALUES ('trino', -1)");
            spark.sql("INSERT INTO lake.busy.t VALUES ('spark', -1)");
            long snapshots = queryLong(connection, "SELECT count(*) FROM \"t$snapshots\"");
            long lastEntry = queryLong(connection, "SELECT max(log_id) FROM \"t$ref_log\"");

            List<Outcome> outcomes = insertAtOnce(server, spark);

            assertThat(outcomes).hasSize(2 * INSERTS);
            for (Outcome outcome : outcomes) {
                outcome.failure().ifPresent(message -> assertThat(message).as("failure of %s", outcome.row()).matches(TestRestConcurrency::isConflict));
            }
            List<String> acknowledged = outcomes.stream().filter(Outcome::isAcknowledged).map(Outcome::row).toList();
            assertThat(acknowledged).isNotEmpty();
            assertThat(query(connection, "SELECT writer, n FROM t WHERE n >= 0")).containsExactlyInAnyOrderElementsOf(acknowledged);
            assertThat(spark.sql("SELECT writer, n FROM lake.busy.t WHERE n >= 0")).containsExactlyInAnyOrderElementsOf(acknowledged);
            assertThat(queryLong(connection, "SELECT count(*) FROM \"t$snapshots\"") - snapshots).isEqualTo(acknowledged.size());
            // the log has each of them, under the name of its writer
            List<String> writers = query(connection, "SELECT if(changed_by = 'etl', 'spark', 'trino') FROM \"t$ref_log\" WHERE ref = 'main' AND log_id > %s".formatted(lastEntry));
            assertThat(writers).containsExactlyInAnyOrderElementsOf(acknowledged.stream().map(row -> row.split(" ")[0]).toList());
            assertThat(query(connection, "SELECT * FROM TABLE(lake.system.check_store())")).isEmpty();
            System.out.printf("%s inserts, not acknowledged: %s%n", outcomes.size(), outcomes.stream().filter(outcome -> !outcome.isAcknowledged()).map(Outcome::row).toList());
        }
    }

    private static List<Outcome> insertAtOnce(SkadeServer server, SparkProcess spark)
            throws Exception
    {
        List<Callable<List<Outcome>>> writers = new ArrayList<>();
        writers.add(() -> insertWithSpark(spark));
        for (int thread = 0; thread < THREADS; thread++) {
            int remainder = thread;
            writers.add(() -> insertWithTrino(server, IntStream.range(0, INSERTS).filter(n -> n % THREADS == remainder).toArray()));
        }
        List<Outcome> outcomes = new ArrayList<>();
        try (ExecutorService executor = Executors.newCachedThreadPool()) {
            for (Future<List<Outcome>> writer : executor.invokeAll(writers)) {
                outcomes.addAll(writer.get());
            }
        }
        return outcomes;
    }

    private static List<Outcome> insertWithSpark(SparkProcess spark)
            throws Exception
    {
        List<String> lines = spark.together(THREADS, IntStream.range(0, INSERTS)
                .mapToObj("INSERT INTO lake.busy.t VALUES ('spark', %s)"::formatted)
                .toList());
        List<Outcome> outcomes = new ArrayList<>();
        for (String line : lines) {
            outcomes.add(new Outcome("spark | " + outcomes.size(), Optional.of(line).filter(message -> !message.equals("ok"))));
        }
        return outcomes;
    }

    private static List<Outcome> insertWithTrino(SkadeServer server, int[] numbers)
            throws SQLException
    {
        List<Outcome> outcomes = new ArrayList<>();
        try (Connection connection = server.connect("lake", "busy")) {
            for (int n : numbers) {
                Optional<String> failure = Optional.empty();
                try {
                    execute(connection, "INSERT INTO t VALUES ('trino', %s)".formatted(n));
                }
                catch (SQLException e) {
                    failure = Optional.of(e.getMessage());
                }
                outcomes.add(new Outcome("trino | " + n, failure));
            }
        }
        return outcomes;
    }

    /**
     * Whether a failure says that another commit was first. After too many of them Iceberg stops to try again.
     */
    private static boolean isConflict(String message)
    {
        return message.contains("branch main has changed") && (message.contains("CommitFailedException") || message.contains("Failed to commit"));
    }
}
