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

import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;

import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import static io.skade.benchmark.TrinoServer.SKADE;
import static io.skade.benchmark.TrinoServer.STOCK;
import static java.util.Objects.requireNonNull;

/**
 * Queries that read next to nothing, on tables with a long history.
 */
final class BenchmarkPlanning
        implements Part
{
    private static final int[] SNAPSHOTS = {64, 1_000, 10_000};
    private static final int REFS = 256;
    private static final int STATEMENTS = 5;
    private static final List<String> CATALOGS = List.of(SKADE, STOCK);

    private final LazyServer lazyServer;

    BenchmarkPlanning(LazyServer lazyServer)
    {
        this.lazyServer = requireNonNull(lazyServer, "lazyServer is null");
    }

    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        TrinoServer server = lazyServer.get();
        server.run(SKADE, "CREATE TABLE seed AS SELECT 1 AS id");
        String seed = server.metadataFile(SKADE, "seed");
        for (int snapshots : SNAPSHOTS) {
            TableShape shape = new TableShape(snapshots, REFS);
            String table = "history_" + snapshots;
            String file = grow(seed, shape);
            for (String catalog : CATALOGS) {
                if (server.hasCatalog(catalog)) {
                    server.register(catalog, table, file);
                }
            }
            String count = "SELECT count(*) FROM %s FOR VERSION AS OF '%s'".formatted(table, shape.ref(REFS - 1));
            report.add("planning: count(*) at a tag, its planning, %s snapshots".formatted(snapshots), "ms", planningTimes(scale, server, count));
            measure(scale, report, server, "planning: EXPLAIN count(*) at a tag, %s snapshots".formatted(snapshots), "EXPLAIN " + count);
            measure(scale, report, server, "planning: count(*) at a tag, %s snapshots".formatted(snapshots), count);
            measure(scale, report, server, "planning: \"t$refs\", %s snapshots".formatted(snapshots), "SELECT * FROM \"%s$refs\"".formatted(table));
        }
    }

    /**
     * What the server says that planning took; the rest of a statement is the same for all.
     */
    private static Map<String, List<Double>> planningTimes(Scale scale, TrinoServer server, String sql)
            throws Exception
    {
        Map<String, List<Double>> samples = new LinkedHashMap<>();
        try (Sessions sessions = new Sessions(server)) {
            Map<String, Connection> connections = new LinkedHashMap<>();
            for (String catalog : CATALOGS) {
                if (server.hasCatalog(catalog)) {
                    connections.put(server.subject(catalog), sessions.open(catalog));
                }
            }
            for (int round = -scale.rounds(); round < scale.rounds(); round++) {
                for (Map.Entry<String, Connection> connection : connections.entrySet()) {
                    double sum = 0;
                    for (int i = 0; i < STATEMENTS; i++) {
                        sum += server.planningMillis(connection.getValue(), sql);
                    }
                    // the first half is for warming up
                    if (round >= 0) {
                        samples.computeIfAbsent(connection.getKey(), _ -> new ArrayList<>()).add(sum / STATEMENTS);
                    }
                }
            }
        }
        return samples;
    }

    private static void measure(Scale scale, Report report, TrinoServer server, String work, String sql)
            throws Exception
    {
        try (Sessions sessions = new Sessions(server)) {
            report.add(work, "ms", Rounds.run(scale.statements(), 1, sessions.contenders(CATALOGS, sql)));
        }
    }

    /**
     * Writes a metadata file in which a table has a history and refs, and every snapshot its present rows.
     */
    private static String grow(String metadataFile, TableShape shape)
    {
        LocalFiles io = new LocalFiles();
        TableMetadata table = TableMetadataParser.read(io, metadataFile);
        String grown = "%s/metadata/00001-%s.metadata.json".formatted(table.location(), UUID.randomUUID());
        TableMetadataParser.write(shape.of(table, table.currentSnapshot().manifestListLocation()), io.newOutputFile(grown));
        return grown;
    }
}
