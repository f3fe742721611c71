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

import com.google.common.base.Splitter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

import static io.skade.benchmark.TrinoServer.RELEASE;
import static io.skade.benchmark.TrinoServer.RELEASED;
import static io.skade.benchmark.TrinoServer.SKADE;
import static io.skade.benchmark.TrinoServer.STOCK;
import static java.util.Objects.requireNonNull;

/**
 * The queries of TPC-H at scale 1, or three of them at a tenth of it, on {@code main} and at a tag. All catalogs read the same data files.
 */
final class BenchmarkTpch
        implements Part
{
    private static final List<String> TABLES = List.of("lineitem", "orders", "customer", "part", "partsupp", "supplier", "nation", "region");

    private final Path root;
    private final LazyServer lazyServer;

    BenchmarkTpch(Path root, LazyServer lazyServer)
    {
        this.root = requireNonNull(root, "root is null");
        this.lazyServer = requireNonNull(lazyServer, "lazyServer is null");
    }

    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        TrinoServer server = lazyServer.get();
        String size = scale.quick() ? "sf0.1" : "sf1";
        // the three queries need the first three tables
        List<String> tables = scale.quick() ? TABLES.subList(0, 3) : TABLES;
        List<Integer> numbers = scale.quick() ? List.of(1, 3, 6) : IntStream.rangeClosed(1, 22).boxed().toList();
        for (String table : tables) {
            server.run(SKADE, "CREATE TABLE %1$s AS SELECT * FROM tpch.\"%2$s\".%1$s".formatted(table, size));
            server.run(SKADE, "CALL lake.system.create_tag('%s', '%s', '%s')".formatted(TrinoServer.SCHEMA, table, RELEASE));
            if (server.hasCatalog(STOCK)) {
                server.register(STOCK, table, server.metadataFile(SKADE, table));
            }
        }
        Scale runs = new Scale(scale.quick(), scale.warmUp(), scale.statements().turn(), scale.quick() ? 3 : 7);
        List<String> queries = queries();
        for (int number : numbers) {
            try (Sessions sessions = new Sessions(server)) {
                report.add("tpch: query %s, %s".formatted(number, size), "ms", Rounds.run(runs, 1, sessions.contenders(List.of(SKADE, RELEASED, STOCK), queries.get(number - 1))));
            }
        }
    }

    private List<String> queries()
            throws IOException
    {
        return Splitter.on(';').trimResults().omitEmptyStrings().splitToList(Files.readString(root.resolve("product-tests/src/test/resources/tpch/queries.sql")));
    }
}
