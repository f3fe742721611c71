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
import java.util.ArrayList;
import java.util.List;

import static io.skade.benchmark.TrinoServer.SKADE;
import static io.skade.benchmark.TrinoServer.STOCK;
import static io.skade.benchmark.TrinoServer.UNSYNCED;
import static java.util.Objects.requireNonNull;

/**
 * Statements that write a row or two, on {@code main} and on a branch, durably and not.
 */
final class BenchmarkWrites
        implements Part
{
    // when it warms up, whoever is faster must not make its table much larger
    private static final int MAX_STEPS = 10;

    private final LazyServer lazyServer;

    BenchmarkWrites(LazyServer lazyServer)
    {
        this.lazyServer = requireNonNull(lazyServer, "lazyServer is null");
    }

    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        TrinoServer server = lazyServer.get();
        createTable(server, SKADE, "on_main");
        createTable(server, SKADE, "on_branch");
        server.run(SKADE, "CREATE BRANCH work IN TABLE on_branch");
        createTable(server, UNSYNCED, "on_main");
        if (server.hasCatalog(STOCK)) {
            createTable(server, STOCK, "on_main");
        }
        try (RawDisk disk = new RawDisk(folder)) {
            measure(scale, report, server, disk, "INSERT", "INSERT INTO %s VALUES (-1, 'one row')");
            measure(scale, report, server, disk, "UPDATE", "UPDATE %s SET v = 'changed' WHERE id = 7");
            measure(scale, report, server, disk, "MERGE", "MERGE INTO %s t USING (VALUES 33, -5) s(id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'new')");
        }
    }

    private static void createTable(TrinoServer server, String catalog, String name)
            throws Exception
    {
        server.run(catalog, "CREATE TABLE %s (id bigint, v varchar)".formatted(name));
        server.run(catalog, "INSERT INTO %s SELECT o_orderkey, o_comment FROM tpch.tiny.orders".formatted(name));
    }

    private static void measure(Scale scale, Report report, TrinoServer server, RawDisk disk, String work, String sql)
            throws Exception
    {
        try (Sessions sessions = new Sessions(server)) {
            List<Contender> contenders = new ArrayList<>(sessions.contenders(List.of(SKADE, UNSYNCED, STOCK), sql.formatted("on_main")));
            contenders.add(1, sessions.contender("skade, on a branch", SKADE, sql.formatted("on_branch@work")));
            contenders.replaceAll(contender -> contender.withMaxSteps(MAX_STEPS));
            contenders.add(new Contender(RawDisk.NAME, (_, _) -> disk.append()));
            report.add("writes: " + work, "ms", Rounds.run(scale.statements(), 1, contenders));
        }
    }
}
