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
package io.skade.plugin;

import com.google.common.collect.ImmutableList;
import com.google.inject.Key;
import io.trino.Session;
import io.trino.connector.CatalogPruneTask;
import io.trino.server.testing.TestingTrinoServer;
import io.trino.spi.connector.Connector;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.TestingTrinoClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static com.google.common.base.Throwables.getCausalChain;
import static com.google.common.base.Throwables.getStackTraceAsString;
import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A catalog that is dropped and created again on the same folder, or shut down, again and again while clients use it in every way, and at last the end of the
 * server. All of it in a Java process of its own: a native call on what is closed would end the process.
 *
 * <p>{@code -Dskade.test.catalog-rounds=..} sets how often.
 */
class TestCatalogLifeCycle
{
    @TempDir
    private Path temporary;

    @Test
    void testDropAndShutDownUnderLoad()
            throws Exception
    {
        int rounds = Integer.getInteger("skade.test.catalog-rounds", 20);
        Path crashes = temporary.resolve("crash");
        Path log = temporary.resolve("log");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-XX:TieredStopAtLevel=1",
                "-XX:ErrorFile=" + crashes,
                "-Djava.io.tmpdir=" + Files.createDirectories(temporary.resolve("tmp")),
                "-Dairlift.quiet=true",
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                Load.class.getName(),
                Files.createDirectories(temporary.resolve("data")).toString(),
                String.valueOf(rounds));
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        Process process = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            int exitCode = process.waitFor();
            List<String> lines = Files.readAllLines(log);
            assertThat(exitCode).as(() -> String.join("\n", lines.subList(Math.max(0, lines.size() - 200), lines.size()))).isZero();
            lines.stream().filter(line -> line.contains(Load.REPORT)).forEach(System.out::println);
        }
        finally {
            process.destroyForcibly();
        }
        assertThat(crashes).doesNotExist();
    }

    static final class Load
    {
        private static final String REPORT = "life cycle: ";
        private static final int CLIENTS = 6;
        private static final int ROUNDS_A_TABLE = 10;
        private static final Session SESSION = testSessionBuilder().setCatalog("cycle").setSchema("life").build();

        private final Path data;
        private final Map<String, Acknowledged> tables = new ConcurrentHashMap<>();
        private final Semaphore successes = new Semaphore(0);
        private final Map<String, AtomicInteger> errors = new ConcurrentHashMap<>();
        private int version; // catalogs with equal properties are one to the engine, until it has shut down the first
        private volatile String table;
        private volatile boolean ending;

        private Load(Path data)
        {
            this.data = data;
        }

        static void main(String[] arguments)
        {
            try {
                new Load(Path.of(arguments[0])).run(Integer.parseInt(arguments[1]));
            }
            catch (Throwable e) {
                e.printStackTrace();
                // threads of the server are left
                Runtime.getRuntime().halt(1);
            }
        }

        private void run(int rounds)
                throws Exception
        {
            try (DistributedQueryRunner queryRunner = startServer();
                    ExecutorService executor = Executors.newFixedThreadPool(CLIENTS)) {
                createCatalog(queryRunner);
                queryRunner.execute(SESSION, "CREATE SCHEMA life");
                createTable(queryRunner, 0);
                List<Future<Void>> clients = IntStream.range(0, CLIENTS)
                        .mapToObj(client -> executor.submit(client(queryRunner.getCoordinator(), client)))
                        .collect(toImmutableList());
                List<WeakReference<Connector>> connectors = new ArrayList<>();
                int filesBefore = 0;
                for (int round = 0; round < rounds; round++) {
                    if (round % ROUNDS_A_TABLE == ROUNDS_A_TABLE - 1) {
                        createTable(queryRunner, round);
                    }
                    successes.drainPermits();
                    assertThat(successes.tryAcquire(CLIENTS + round % 10, 5, MINUTES)).isTrue();
                    connectors.add(new WeakReference<>(queryRunner.getCoordinator().getConnector("cycle")));
                    end(queryRunner, round);
                    checkAcknowledged(queryRunner);
                    if (round == rounds / 10) {
                        filesBefore = openFiles(Path.of("/")).size();
                    }
                }
                // clients open files and connections of their own
                assertThat(openFiles(Path.of("/"))).hasSizeLessThan(filesBefore + 50);
                System.gc();
                assertThat(connectors).filteredOn(connector -> connector.get() != null).hasSizeLessThanOrEqualTo(rounds / 4);

                ending = true;
                queryRunner.getCoordinator().close();
                // a client would go on asking for the result of its statement
                executor.shutdownNow();
                for (Future<Void> client : clients) {
                    client.get();
                }
                assertThat(openFiles()).isEmpty();
            }
            new TreeMap<>(errors).forEach((message, count) -> System.out.println("%s%s times: %s".formatted(REPORT, count, message)));

            try (DistributedQueryRunner queryRunner = startServer()) {
                createCatalog(queryRunner);
                checkAcknowledged(queryRunner);
                checkRows(queryRunner);
                assertThat(queryRunner.execute(SESSION, "SELECT * FROM TABLE(system.check_store())").getMaterializedRows()).isEmpty();
            }
            assertThat(openFiles()).isEmpty();
        }

        private static DistributedQueryRunner startServer()
                throws Exception
        {
            DistributedQueryRunner queryRunner = DistributedQueryRunner.builder(SESSION).setWorkerCount(0).build();
            queryRunner.installPlugin(new SkadePlugin());
            return queryRunner;
        }

        private void createCatalog(DistributedQueryRunner queryRunner)
        {
            queryRunner.execute(SESSION,
                    """
                    CREATE CATALOG cycle USING skade WITH (
                        "skade.store.path" = '%1$s/store',
                        "skade.backup.path" = '%1$s/backups',
                        "skade.warehouse" = 'local:///warehouse',
                        "skade.log.retention" = '%2$sd',
                        "fs.local.enabled" = 'true',
                        "local.location" = '%1$s')
                    """.formatted(data, 365 + version));
        }

        private void createTable(DistributedQueryRunner queryRunner, int round)
        {
            String name = "t" + round;
            tables.put(name, new Acknowledged());
            queryRunner.execute(SESSION, "CREATE TABLE %s (n bigint)".formatted(name));
            for (int client = 0; client < CLIENTS; client++) {
                queryRunner.execute(SESSION, "CREATE BRANCH b%s IN TABLE %s".formatted(client, name));
                queryRunner.execute(SESSION, "CREATE BRANCH f%s IN TABLE %s FROM b%s".formatted(client, name, client));
            }
            table = name;
        }

        /**
         * Drops the catalog and creates it again: at once, with equal or with other properties, when the engine has shut it down, or after it was shut down in use.
         */
        private void end(DistributedQueryRunner queryRunner, int round)
                throws Exception
        {
            if (round % 4 == 3) {
                // as the end of the server does it, whoever uses it
                queryRunner.getCoordinator().getConnector("cycle").shutdown();
            }
            queryRunner.execute(SESSION, "DROP CATALOG cycle");
            if (round % 4 >= 2) {
                awaitClosed(queryRunner);
            }
            if (round % 4 > 0) {
                version++;
            }
            createCatalog(queryRunner);
        }

        /**
         * Waits until the engine has shut down every dropped catalog: no file of the store is open then, and no thread of it is left.
         */
        private void awaitClosed(DistributedQueryRunner queryRunner)
                throws Exception
        {
            CatalogPruneTask prune = queryRunner.getCoordinator().getInstance(Key.get(CatalogPruneTask.class));
            Instant limit = Instant.now().plusSeconds(60);
            while (!openFiles().isEmpty() || !threads().isEmpty()) {
                assertThat(Instant.now()).as(() -> "of a dropped catalog is left: %s %s".formatted(openFiles(), threads())).isBefore(limit);
                prune.pruneCatalogs();
                Thread.sleep(10);
            }
        }

        /**
         * The threads of the catalog.
         */
        private static List<String> threads()
        {
            return Thread.getAllStackTraces().keySet().stream()
                    .map(Thread::getName)
                    .filter(name -> name.contains("-cycle-"))
                    .collect(toImmutableList());
        }

        private void checkAcknowledged(DistributedQueryRunner queryRunner)
        {
            Map<String, Set<String>> expected = new TreeMap<>();
            tables.forEach((name, acknowledged) -> expected.put(name, new HashSet<>(acknowledged.tags)));
            Set<String> found = queryRunner.execute(SESSION, "SELECT table_name || ' ' || name FROM system.refs WHERE type = 'TAG'").getOnlyColumnAsSet().stream()
                    .map(String.class::cast)
                    .collect(toImmutableSet());
            expected.forEach((name, tags) -> {
                // clients may have begun to drop some meanwhile
                tags.retainAll(tables.get(name).tags);
                assertThat(found).containsAll(tags.stream().map(tag -> name + " " + tag).toList());
            });
        }

        private void checkRows(DistributedQueryRunner queryRunner)
        {
            tables.forEach((name, acknowledged) -> {
                for (int client = 0; client < CLIENTS; client++) {
                    long rows = (long) queryRunner.execute(SESSION, "SELECT count(*) FROM %s FOR VERSION AS OF 'b%s'".formatted(name, client)).getOnlyValue();
                    assertThat(rows).isBetween((long) acknowledged.inserts[client], (long) acknowledged.attempts[client]);
                }
            });
        }

        private Callable<Void> client(TestingTrinoServer server, int client)
        {
            return () -> {
                try (TestingTrinoClient trino = new TestingTrinoClient(server, SESSION)) {
                    for (int number = 0; !ending; number++) {
                        try {
                            use(trino, table, client, number);
                            successes.release();
                        }
                        catch (RuntimeException e) {
                            if (!ending) {
                                checkExpected(e);
                            }
                            errors.computeIfAbsent(String.valueOf(e.getMessage()).replaceAll("\\d[\\da-f]*", "#"), _ -> new AtomicInteger()).incrementAndGet();
                        }
                    }
                }
                return null;
            };
        }

        /**
         * A catalog that is gone, its closed store, or a thread of it that was ended.
         */
        private static void checkExpected(RuntimeException failure)
        {
            assertThat(getCausalChain(failure)).as(() -> getStackTraceAsString(failure))
                    .extracting(cause -> String.valueOf(cause.getMessage()))
                    .anyMatch(message -> message.contains("Catalog 'cycle' not found") || message.endsWith("/store is closed") || message.contains(" rejected from ") || message.endsWith(" interrupted"));
        }

        private void use(TestingTrinoClient trino, String name, int client, int number)
        {
            Acknowledged acknowledged = tables.get(name);
            switch (ThreadLocalRandom.current().nextInt(12)) {
                case 0, 1 -> {
                    String tag = "g%s_%s".formatted(client, number);
                    trino.execute("CALL system.create_tag('life', '%s', '%s', 'b%s')".formatted(name, tag, client));
                    acknowledged.tags.add(tag);
                }
                case 2 -> {
                    Optional<String> tag = acknowledged.tags.stream().filter(candidate -> candidate.startsWith("g%s_".formatted(client))).findFirst();
                    if (tag.isPresent()) {
                        acknowledged.tags.remove(tag.get());
                        trino.execute("CALL system.drop_ref('life', '%s', '%s')".formatted(name, tag.get()));
                    }
                }
                case 3 -> trino.execute("CALL system.fast_forward('life', '%1$s', 'f%2$s', 'b%2$s')".formatted(name, client));
                case 4, 5 -> {
                    acknowledged.attempts[client]++;
                    trino.execute("INSERT INTO %s@b%s VALUES %s".formatted(name, client, number));
                    acknowledged.inserts[client]++;
                }
                case 6 -> trino.execute("SELECT * FROM %s FOR VERSION AS OF 'b%s'".formatted(name, client));
                case 7 -> trino.execute("SELECT * FROM \"%s$ref_log\"".formatted(name));
                case 8 -> trino.execute("SELECT * FROM system.commit_log LIMIT 100");
                case 9 -> trino.execute("SELECT * FROM TABLE(system.ref_graph('life', '%s'))".formatted(name));
                case 10 -> trino.execute("SELECT * FROM TABLE(system.ref_diff('life', '%s', 'main', 'b%s'))".formatted(name, client));
                default -> trino.execute("CALL system.backup_store('daily')");
            }
        }

        /**
         * The files of the store that this process has open.
         */
        private List<Path> openFiles()
        {
            return openFiles(data.resolve("store"));
        }

        private static List<Path> openFiles(Path folder)
        {
            Path open = Path.of("/proc/self/fd");
            if (!Files.isDirectory(open)) {
                // it cannot be seen here
                return ImmutableList.of();
            }
            try (Stream<Path> descriptors = Files.list(open)) {
                return descriptors.flatMap(descriptor -> readLink(descriptor).stream())
                        .filter(file -> file.startsWith(folder))
                        .collect(toImmutableList());
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static Optional<Path> readLink(Path descriptor)
        {
            try {
                return Optional.of(Files.readSymbolicLink(descriptor));
            }
            catch (IOException _) {
                // closed meanwhile
                return Optional.empty();
            }
        }
    }

    /**
     * What clients were told is there in a table.
     */
    private static final class Acknowledged
    {
        private final Set<String> tags = ConcurrentHashMap.newKeySet();
        private final int[] inserts = new int[Load.CLIENTS]; // each client has its own branch
        private final int[] attempts = new int[Load.CLIENTS];
    }
}
