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
 * Runs the parts that are named, or all. Arguments: a folder for everything that is written, {@code --quick}, names of parts.
 */
public final class Benchmarks
{
    private static final Map<String, Part> PARTS = ImmutableMap.<String, Part>builder()
            .put("disk", new BenchmarkDisk())
            .put("lookup", new BenchmarkRefLookups())
            .put("moves", new BenchmarkRefMoves())
            .put("publish", new BenchmarkPublish())
            .put("history", new BenchmarkHistory())
            .buildOrThrow();

    private Benchmarks() {}

    public static void main(String[] args)
            throws Exception
    {
        PrintStream out = new PrintStream(System.out, true, UTF_8);
        Logger.getLogger("").setLevel(Level.SEVERE);

        Path folder = Path.of(args[0]).toAbsolutePath();
        List<String> names = new ArrayList<>(List.of(args).subList(1, args.length));
        Scale scale = names.remove("--quick") ? Scale.QUICK : Scale.FULL;
        for (String name : names) {
            if (!PARTS.containsKey(name)) {
                System.err.println("No such part: %s. There are %s".formatted(name, String.join(", ", PARTS.keySet())));
                System.exit(2);
            }
        }
        run(scale, names.isEmpty() ? List.copyOf(PARTS.keySet()) : names, folder, out);
        // what a part has left running does not keep the process
        System.exit(0);
    }

    private static void run(Scale scale, List<String> names, Path folder, PrintStream out)
            throws Exception
    {
        Path data = Workspace.create(folder.resolve("data"));
        Instant start = Instant.now();
        Optional<PostgreSql> postgreSql = startPostgreSql(data, out);
        try {
            Report report = new Report(out, facts(scale, data, start));
            if (postgreSql.isEmpty()) {
                report.note(Peers.POSTGRESQL, "not measured: PostgreSQL is not installed, or does not start");
            }
            for (String name : names) {
                Path own = Workspace.create(data.resolve(name));
                PARTS.get(name).run(scale, own, report);
                Workspace.delete(own);
            }
            Path file = folder.resolve("results").resolve(start.toString().replace(':', '-') + ".json");
            report.write(file);
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
