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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Spark in a process of its own, on Java 17, with Iceberg's runtime: {@code io.skade.spark.SparkRequests} of the module
 * {@code product-tests/spark}.
 */
final class SparkProcess
        implements AutoCloseable
{
    private static final Path MODULE = Path.of("spark/target").toAbsolutePath();

    // Spark's own list of what it needs of a Java newer than 8
    private static final List<String> OPENED = List.of(
            "java.base/java.io",
            "java.base/java.lang",
            "java.base/java.lang.invoke",
            "java.base/java.lang.reflect",
            "java.base/java.net",
            "java.base/java.nio",
            "java.base/java.util",
            "java.base/java.util.concurrent",
            "java.base/java.util.concurrent.atomic",
            "java.base/sun.nio.ch",
            "java.base/sun.nio.cs",
            "java.base/sun.security.action",
            "java.base/sun.util.calendar");

    private final Process process;
    private final Writer requests;
    private final BufferedReader answers;
    private final Path log;

    private SparkProcess(Process process, Path log)
    {
        this.process = process;
        this.requests = new OutputStreamWriter(process.getOutputStream(), UTF_8);
        this.answers = process.inputReader(UTF_8);
        this.log = log;
    }

    /**
     * The JDK or JRE 17 of this machine: {@code SPARK_JAVA_HOME}, or one in the usual places.
     */
    static Optional<Path> findJava()
            throws IOException
    {
        List<Path> candidates = new ArrayList<>();
        Optional.ofNullable(System.getenv("SPARK_JAVA_HOME")).map(Path::of).ifPresent(candidates::add);
        for (Path folder : List.of(Path.of("/usr/lib/jvm"), Path.of(System.getProperty("user.home"), ".sdkman/candidates/java"))) {
            if (Files.isDirectory(folder)) {
                try (Stream<Path> homes = Files.list(folder)) {
                    homes.sorted().forEach(candidates::add);
                }
            }
        }
        for (Path home : candidates) {
            if (Files.isExecutable(home.resolve("bin/java")) && Files.isReadable(home.resolve("release"))) {
                Properties release = new Properties();
                try (var reader = Files.newBufferedReader(home.resolve("release"))) {
                    release.load(reader);
                }
                if (release.getProperty("JAVA_VERSION", "").startsWith("\"17")) {
                    return Optional.of(home.resolve("bin/java"));
                }
            }
        }
        return Optional.empty();
    }

    /**
     * @param warehouse folder of the Hadoop catalog that is Spark's current one
     */
    static SparkProcess start(Path java, Path warehouse, Path log)
            throws IOException
    {
        return start(java, warehouse, log, Map.of());
    }

    /**
     * Starts a Spark that also has a catalog {@code lake}: the tables that a server serves over REST.
     *
     * @param token of the user that Spark is for the server
     */
    static SparkProcess start(Path java, Path warehouse, Path log, SkadeServer server, String token)
            throws IOException
    {
        return start(java, warehouse, log, Map.of(
                "spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog",
                "spark.sql.catalog.lake.type", "rest",
                "spark.sql.catalog.lake.uri", server.restUri().toString(),
                "spark.sql.catalog.lake.token", token,
                // it is to see what others do at once
                "spark.sql.catalog.lake.cache-enabled", "false"));
    }

    private static SparkProcess start(Path java, Path warehouse, Path log, Map<String, String> settings)
            throws IOException
    {
        List<String> command = new ArrayList<>();
        command.add(java.toString());
        command.add("-Xmx1g");
        command.add("-Duser.timezone=UTC");
        OPENED.forEach(opened -> command.add("--add-opens=" + opened + "=ALL-UNNAMED"));
        command.addAll(List.of(
                "-cp",
                MODULE.resolve("classes") + ":" + Files.readString(MODULE.resolve("classpath")).strip(),
                "io.skade.spark.SparkRequests",
                warehouse.toUri().toString()));
        settings.forEach((key, value) -> command.add(key + "=" + value));
        Process process = new ProcessBuilder(command)
                .redirectError(Redirect.to(log.toFile()))
                .start();
        return new SparkProcess(process, log);
    }

    /**
     * Gives the rows of a statement of Spark SQL.
     */
    List<String> sql(String statement)
            throws IOException
    {
        return ask("sql " + statement);
    }

    /**
     * Runs statements of Spark SQL, {@code count} at the same time.
     *
     * @return a line for each, in their order: {@code ok}, or the message of its failure
     */
    List<String> together(int count, List<String> statements)
            throws IOException
    {
        return ask("together %s %s".formatted(count, String.join(";", statements)));
    }

    /**
     * Gives the rows of a table at a branch, in the order of its first column, read from its metadata file alone.
     */
    List<String> readBranch(String branch, String metadataLocation)
            throws IOException
    {
        return ask("branch %s %s".formatted(branch, metadataLocation));
    }

    List<String> readTag(String tag, String metadataLocation)
            throws IOException
    {
        return ask("tag %s %s".formatted(tag, metadataLocation));
    }

    private List<String> ask(String request)
            throws IOException
    {
        requests.write(request + "\n");
        requests.flush();
        List<String> rows = new ArrayList<>();
        for (String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.equals(".")) {
                return rows;
            }
            if (line.startsWith("!")) {
                throw new AssertionError("Spark refused: %s: %s".formatted(request, line));
            }
            rows.add(line);
        }
        throw new IllegalStateException("Spark ended at: %s, see %s".formatted(request, log));
    }

    @Override
    public void close()
            throws IOException, InterruptedException
    {
        requests.close();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }
}
