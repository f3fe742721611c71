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

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Runs the parts that are named, or all. Arguments: the root of the project, {@code --quick}, names of parts.
 */
public final class Benchmarks
{
    private Benchmarks() {}

    public static void main(String[] args)
            throws Exception
    {
        PrintStream out = new PrintStream(System.out, true, UTF_8);
        Logger.getLogger("").setLevel(Level.SEVERE);

        Path root = Path.of(args[0]).toAbsolutePath();
        Path folder = root.resolve("benchmarks/target/bench");
        List<String> names = new ArrayList<>(List.of(args).subList(1, args.length));
        Scale scale = names.remove("--quick") ? Scale.QUICK : Scale.FULL;
        Path data = Workspace.create(folder.resolve("data"));
        try (LazyServer server = new LazyServer(root, data.resolve("server"))) {
            Map<String, Part> parts = parts(root, server);
            for (String name : names) {
                if (!parts.containsKey(name)) {
                    System.err.println("No such part: %s. There are %s".formatted(name, String.join(", ", parts.keySet())));
                    System.exit(2);
                }
            }
            run(scale, names.isEmpty() ? parts : Maps.filterKeys(parts, names::contains), folder, data, out);
        }
        Workspace.delete(data);
        // what a part has left running does not keep the process
        System.exit(0);
    }

    private static Map<String, Part> parts(Path root, LazyServer server)
    {
        return ImmutableMap.<String, Part>builder()
                .put("disk", new BenchmarkDisk())
                .put("lookup", new BenchmarkRefLookups())
                .put("moves", new BenchmarkRefMoves())
                .put("publish", new BenchmarkPublish())
                .put("history", new BenchmarkHistory())
                .put("open", new BenchmarkOpen())
                .put("planning", new BenchmarkPlanning(server))
                .put("writes", new BenchmarkWrites(server))
                .put("tpch", new BenchmarkTpch(root, server))
                .put("sessions", new BenchmarkSessions(server))
                .buildOrThrow();
    }

    private static void run(Scale scale, Map<String, Part> parts, Path folder, Path data, PrintStream out)
            throws Exception
    {
        Instant start = Instant.now();
        Optional<PostgreSql> postgreSql = startPostgreSql(data, out);
        try {
            Report report = new Report(out, facts(scale, data, start));
            if (postgreSql.isEmpty()) {
                report.note(Peers.POSTGRESQL, "not measured: PostgreSQL is not installed, or does not start");
            }
            Path file = folder.resolve("results").resolve(start.toString().replace(':', '-') + ".json");
            for (Map.Entry<String, Part> part : parts.entrySet()) {
                // it is deleted at the end: ext4 without a journal passes over inodes that were deleted some minutes ago, which makes new files slow
                part.getValue().run(scale, Workspace.create(data.resolve(part.getKey())), report);
                // what was measured stays, whatever comes
                report.write(file);
            }
            out.println("\nThe same as JSON: " + file);
        }
        finally {
            if (postgreSql.isPresent()) {
                postgreSql.get().close();
            }
        }
    }

    private static Optional<PostgreSql> startPostgreSql(Path data, PrintStream out)
            throws InterruptedException
    {
        try {
            Optional<PostgreSql> server = PostgreSql.start(data.resolve("postgresql"));
            server.ifPresent(started -> System.setProperty(Peers.POSTGRESQL_URL, started.url()));
            return server;
        }
        catch (IOException e) {
            out.println(e.getMessage());
            return Optional.empty();
        }
    }

    private static Map<String, String> facts(Scale scale, Path data, Instant start)
            throws IOException
    {
        return ImmutableMap.of(
                "started", start.toString(),
                "scale", scale.quick() ? "quick" : "full",
                "processors", String.valueOf(Runtime.getRuntime().availableProcessors()),
                "java", Runtime.version().toString(),
                "file system", Files.getFileStore(data).toString());
    }
}
