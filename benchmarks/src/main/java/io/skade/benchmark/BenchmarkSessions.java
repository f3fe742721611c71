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
package io.skade.benchmark;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static io.skade.benchmark.TrinoServer.SKADE;
import static io.skade.benchmark.TrinoServer.STOCK;
import static java.util.Objects.requireNonNull;

/**
 * Sessions that read a table at tags while others write to tables of their own.
 */
final class BenchmarkSessions
        implements Part
{
    private static final int READERS = 64;
    private static final int WRITERS = 4;
    private static final int TAGS = 16;

    private final LazyServer lazyServer;

    BenchmarkSessions(LazyServer lazyServer)
    {
        this.lazyServer = requireNonNull(lazyServer, "lazyServer is null");
    }

    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        TrinoServer server = lazyServer.get();
        createTables(server);
        Duration turn = Duration.ofSeconds(scale.quick() ? 3 : 10);
        Map<String, List<Double>> reads = new LinkedHashMap<>();
        Map<String, List<Double>> writes = new LinkedHashMap<>();
        try (Sessions sessions = new Sessions(server);
                ExecutorService executor = Executors.newFixedThreadPool(READERS + WRITERS)) {
            List<String> catalogs = new ArrayList<>();
            Map<String, List<Work>> works = new LinkedHashMap<>();
            for (String catalog : List.of(SKADE, STOCK)) {
                if (server.hasCatalog(catalog)) {
                    catalogs.add(catalog);
                    works.put(catalog, works(sessions, catalog));
                    reads.put(server.subject(catalog), new ArrayList<>());
                    writes.put(server.subject(catalog), new ArrayList<>());
                    turn(executor, works.get(catalog), turn);
                }
            }
            for (int round = 0; round < (scale.quick() ? 3 : 7); round++) {
                for (int place = 0; place < catalogs.size(); place++) {
                    String catalog = catalogs.get((round + place) % catalogs.size());
                    Latencies latencies = turn(executor, works.get(catalog), turn);
                    reads.get(server.subject(catalog)).add(latencies.read());
                    writes.get(server.subject(catalog)).add(latencies.write());
                }
            }
        }
        report.add("sessions: %s read at tags, latency".formatted(READERS), "ms", reads);
        report.add("sessions: %s write meanwhile, latency".formatted(WRITERS), "ms", writes);
    }

    private static void createTables(TrinoServer server)
            throws SQLException
    {
        server.run(SKADE, "CREATE TABLE shared AS SELECT * FROM tpch.tiny.nation");
        for (int tag = 0; tag < TAGS; tag++) {
            server.run(SKADE, "INSERT INTO shared SELECT * FROM tpch.tiny.nation");
            server.run(SKADE, "CALL lake.system.create_tag('%s', 'shared', 'tag_%s')".formatted(TrinoServer.SCHEMA, tag));
        }
        for (String catalog : List.of(SKADE, STOCK)) {
            if (!server.hasCatalog(catalog)) {
                continue;
            }
            if (catalog.equals(STOCK)) {
                server.register(STOCK, "shared", server.metadataFile(SKADE, "shared"));
            }
            for (int writer = 0; writer < WRITERS; writer++) {
                server.run(catalog, "CREATE TABLE written_%s (id bigint)".formatted(writer));
            }
        }
    }

    private static List<Work> works(Sessions sessions, String catalog)
            throws SQLException
    {
        List<Work> works = new ArrayList<>();
        for (int reader = 0; reader < READERS; reader++) {
            works.add(new Work(sessions.open(catalog), "SELECT count(*) FROM shared FOR VERSION AS OF 'tag_%s'".formatted(reader % TAGS), false));
        }
        for (int writer = 0; writer < WRITERS; writer++) {
            works.add(new Work(sessions.open(catalog), "INSERT INTO written_%s VALUES 1".formatted(writer), true));
        }
        return works;
    }

    /**
     * The mean times of a statement.
     */
    private static Latencies turn(ExecutorService executor, List<Work> works, Duration duration)
            throws Exception
    {
        CyclicBarrier start = new CyclicBarrier(works.size());
        List<Future<Double>> turns = new ArrayList<>();
        for (Work work : works) {
            turns.add(executor.submit(() -> {
                start.await();
                return work.run(duration);
            }));
        }
        double read = 0;
        double write = 0;
        for (int session = 0; session < works.size(); session++) {
            double latency;
            try {
                latency = turns.get(session).get();
            }
            catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
            if (works.get(session).writes()) {
                write += latency / WRITERS;
            }
            else {
                read += latency / READERS;
            }
        }
        return new Latencies(read, write);
    }

    private record Latencies(double read, double write) {}

    private record Work(Connection connection, String sql, boolean writes)
    {
        /**
         * The mean milliseconds of a statement.
         */
        double run(Duration duration)
                throws SQLException
        {
            long begin = System.nanoTime();
            long now = begin;
            int statements = 0;
            while (statements == 0 || now - begin < duration.toNanos()) {
                Sql.run(connection, sql);
                statements++;
                now = System.nanoTime();
            }
            return (now - begin) / 1e6 / statements;
        }
    }
}
