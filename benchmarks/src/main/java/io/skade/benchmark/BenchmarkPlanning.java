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

import com.google.common.collect.Maps;
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
    private static final List<Integer> SNAPSHOTS = List.of(64, 1_000, 10_000);
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
        List<String> catalogs = CATALOGS.stream().filter(server::hasCatalog).toList();
        for (int snapshots : SNAPSHOTS) {
            String file = grow(seed, shape(snapshots));
            for (String catalog : catalogs) {
                server.register(catalog, table(snapshots), file);
            }
        }
        measurePlanning(scale, report, server, catalogs);
        for (int snapshots : SNAPSHOTS) {
            String count = countAtTag(snapshots);
            measure(scale, report, server, "planning: EXPLAIN count(*) at a tag, %s snapshots".formatted(snapshots), "EXPLAIN " + count);
            measure(scale, report, server, "planning: count(*) at a tag, %s snapshots".formatted(snapshots), count);
            measure(scale, report, server, "planning: \"t$refs\", %s snapshots".formatted(snapshots), "SELECT * FROM \"%s$refs\"".formatted(table(snapshots)));
        }
    }

    private static TableShape shape(int snapshots)
    {
        return new TableShape(snapshots, 256);
    }

    private static String table(int snapshots)
    {
        return "history_" + snapshots;
    }

    private static String countAtTag(int snapshots)
    {
        TableShape shape = shape(snapshots);
        return "SELECT count(*) FROM %s FOR VERSION AS OF '%s'".formatted(table(snapshots), shape.ref(shape.refs() - 1));
    }

    /**
     * Reports what the server says that planning took; the rest of a statement is the same for all. The last subject is the same query on a table that
     * costs its connector nothing: what the engine needs itself.
     */
    private static void measurePlanning(Scale scale, Report report, TrinoServer server, List<String> catalogs)
            throws Exception
    {
        Map<Integer, Map<String, Planning>> plannings = new LinkedHashMap<>();
        try (Sessions sessions = new Sessions(server)) {
            Planning engine = new Planning(sessions.open(SKADE), "SELECT count(*) FROM tpch.tiny.nation", new ArrayList<>());
            List<Planning> turns = new ArrayList<>(List.of(engine));
            for (int snapshots : SNAPSHOTS) {
                Map<String, Planning> subjects = new LinkedHashMap<>();
                for (String catalog : catalogs) {
                    Planning planning = new Planning(sessions.open(catalog), countAtTag(snapshots), new ArrayList<>());
                    subjects.put(server.subject(catalog), planning);
                    turns.add(planning);
                }
                subjects.put("the engine alone", engine);
                plannings.put(snapshots, subjects);
            }
            takeTurns(scale, server, turns);
        }
        plannings.forEach((snapshots, subjects) -> report.add(
                "planning: count(*) at a tag, its planning, %s snapshots".formatted(snapshots),
                "ms",
                Maps.transformValues(subjects, Planning::millis)));
        Map<String, List<Double>> bySnapshots = new LinkedHashMap<>();
        plannings.forEach((snapshots, subjects) -> bySnapshots.put("%s snapshots".formatted(snapshots), subjects.get(server.subject(SKADE)).millis()));
        report.add("planning: count(*) at a tag, its planning, ours", "ms", bySnapshots);
    }

    /**
     * In each round every statement has a turn, so that tables of all sizes meet the same server. The first rounds are for warming up: the server's
     * compiler is not done with planning before some thousand statements.
     */
    private static void takeTurns(Scale scale, TrinoServer server, List<Planning> turns)
            throws Exception
    {
        int warmUp = scale.quick() ? 200 : 1_000;
        int rounds = scale.quick() ? 51 : 301;
        for (int round = 0; round < warmUp + rounds; round++) {
            for (int place = 0; place < turns.size(); place++) {
                Planning planning = turns.get((round + place) % turns.size());
                double millis = server.planningMillis(planning.connection(), planning.sql());
                if (round >= warmUp) {
                    planning.millis().add(millis);
                }
            }
        }
    }

    private record Planning(Connection connection, String sql, List<Double> millis) {}

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
