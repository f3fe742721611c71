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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * A Trino server as a process of its own, with the packaged plugin and the configuration of {@code etc/}, on a free loopback
 * port. Its data and its log are in a folder of {@code target/servers}; of a closed server only the log stays.
 * <p>
 * Killing it leaves its data as they are; a restart runs on the same data and port.
 */
final class SkadeServer
        implements AutoCloseable
{
    private static final Duration START_LIMIT = Duration.ofMinutes(5);
    private static final Duration STOP_LIMIT = Duration.ofMinutes(1);
    private static final Path ASSEMBLED = Path.of("target/server").toAbsolutePath();
    private static final Path ETC = Path.of("../etc").toAbsolutePath().normalize();

    private final Path data;
    private final int port;
    private final int restPort;
    private final Thread killAtExit = new Thread(this::kill);
    private Process process;

    private SkadeServer(Path data, int port, int restPort)
    {
        this.data = requireNonNull(data, "data is null");
        this.port = port;
        this.restPort = restPort;
    }

    /**
     * @param name of the folder of its data
     */
    static Builder builder(String name)
    {
        return new Builder(name);
    }

    static final class Builder
    {
        private final String name;
        private final Map<String, String> config = new HashMap<>();
        private final Map<String, Map<String, String>> catalogs = new HashMap<>();
        private final Map<String, Set<String>> removedCatalogLines = new HashMap<>();
        private final Map<String, String> branchRules = new HashMap<>();
        private final List<String> restTokens = new ArrayList<>();
        private Optional<SkadeServer> coordinator = Optional.empty();
        private boolean stockIceberg;

        private Builder(String name)
        {
            this.name = requireNonNull(name, "name is null");
        }

        /**
         * Adds a line to {@code config.properties}, or replaces it.
         */
        Builder config(String key, String value)
        {
            config.put(key, value);
            return this;
        }

        /**
         * Adds a line to the file of a catalog, or replaces it. A catalog without a file gets one.
         */
        Builder catalog(String catalog, String key, String value)
        {
            catalogs.computeIfAbsent(catalog, _ -> new HashMap<>()).put(key, value);
            return this;
        }

        /**
         * Takes a line out of the file of a catalog.
         */
        Builder withoutCatalogLine(String catalog, String key)
        {
            catalogs.computeIfAbsent(catalog, _ -> new HashMap<>()).remove(key);
            removedCatalogLines.computeIfAbsent(catalog, _ -> new HashSet<>()).add(key);
            return this;
        }

        /**
         * Puts the warehouse of {@code lake} into the bucket. The catalog has no local file system then.
         */
        Builder warehouse(S3Endpoint s3)
        {
            s3.catalogProperties().forEach((key, value) -> catalog("lake", key, value));
            return withoutCatalogLine("lake", "fs.local.enabled")
                    .withoutCatalogLine("lake", "local.location");
        }

        /**
         * Installs Trino's own Iceberg plugin beside skade.
         */
        Builder stockIceberg()
        {
            stockIceberg = true;
            return this;
        }

        /**
         * Serves the tables of {@code lake} over REST, at {@link #restUri}, to the users that were given a token.
         */
        Builder rest(String user, String token)
        {
            restTokens.add(user + ":" + token);
            return this;
        }

        /**
         * Makes {@link BranchRules} the server's access control, and adds a rule to it.
         */
        Builder branchRule(String key, String value)
        {
            branchRules.put(key, value);
            return this;
        }

        /**
         * Makes it a worker of this coordinator.
         */
        Builder workerOf(SkadeServer coordinator)
        {
            this.coordinator = Optional.of(coordinator);
            return this;
        }

        /**
         * Gives a server that answers queries, or that has joined its coordinator.
         */
        SkadeServer start()
                throws IOException, InterruptedException
        {
            Path data = Path.of("target/servers").resolve(name).toAbsolutePath();
            deleteRecursively(data);
            copyRecursively(ETC, data.resolve("etc"));
            int port = findFreePort();
            int restPort = findFreePort();

            coordinator.ifPresent(coordinator -> config.putAll(Map.of(
                    "coordinator", "false",
                    "discovery.uri", "http://127.0.0.1:" + coordinator.port)));
            change(data.resolve("etc/config.properties"), config, Set.of());
            if (!restTokens.isEmpty()) {
                Path tokens = Files.write(data.resolve("etc/rest-tokens"), restTokens);
                catalog("lake", "skade.rest.enabled", "true");
                catalog("lake", "skade.rest.port", String.valueOf(restPort));
                catalog("lake", "skade.rest.token-file", tokens.toString());
            }
            for (Map.Entry<String, Map<String, String>> catalog : catalogs.entrySet()) {
                change(data.resolve("etc/catalog/" + catalog.getKey() + ".properties"),
                        catalog.getValue(),
                        removedCatalogLines.getOrDefault(catalog.getKey(), Set.of()));
            }
            if (!branchRules.isEmpty()) {
                branchRules.put("access-control.name", BranchRules.Factory.NAME);
                change(data.resolve("etc/access-control.properties"), branchRules, Set.of());
            }
            linkPlugins(data.resolve("plugin"));

            SkadeServer server = new SkadeServer(data, port, restPort);
            Runtime.getRuntime().addShutdownHook(server.killAtExit);
            try {
                server.launch();
                if (coordinator.isPresent()) {
                    server.awaitJoined(coordinator.get());
                }
                else {
                    server.awaitStart();
                }
            }
            catch (IOException | InterruptedException | RuntimeException e) {
                server.kill();
                throw e;
            }
            return server;
        }

        private void linkPlugins(Path plugins)
                throws IOException
        {
            Files.createDirectories(plugins);
            for (String plugin : List.of("skade", "tpch")) {
                Files.createSymbolicLink(plugins.resolve(plugin), ASSEMBLED.resolve("plugin").resolve(plugin));
            }
            if (stockIceberg) {
                Path iceberg = Files.createDirectories(plugins.resolve("iceberg"));
                linkTrinoJars(iceberg);
                Path services = Files.createDirectories(iceberg.resolve("services/META-INF/services"));
                Files.writeString(services.resolve("io.trino.spi.Plugin"), "io.trino.plugin.iceberg.IcebergPlugin\n");
            }
            if (!branchRules.isEmpty()) {
                Path rules = Files.createDirectories(plugins.resolve(BranchRules.Factory.NAME));
                linkTrinoJars(rules);
                Files.createSymbolicLink(rules.resolve("classes"), Path.of("target/test-classes").toAbsolutePath());
            }
        }

        /**
         * Puts the jars of skade's plugin that are not its own into the folder of another plugin.
         */
        private static void linkTrinoJars(Path plugin)
                throws IOException
        {
            try (Stream<Path> jars = Files.list(ASSEMBLED.resolve("plugin/skade"))) {
                for (Path jar : jars.filter(jar -> !jar.getFileName().toString().startsWith("skade-")).toList()) {
                    Files.createSymbolicLink(plugin.resolve(jar.getFileName()), jar);
                }
            }
        }
    }

    /**
     * The folder with the store, in {@code store}, and the tables, in {@code warehouse}.
     */
    Path data()
    {
        return data;
    }

    /**
     * Where the tables are served to other engines, see {@link Builder#rest}.
     */
    URI restUri()
    {
        return URI.create("http://127.0.0.1:" + restPort);
    }

    Path log()
    {
        return data.resolve("server.log");
    }

    /**
     * Opens a session of its own. The catalog's lower limits for the age of what maintenance removes are off.
     */
    Connection connect(String catalog, String schema)
            throws SQLException
    {
        return connect("test", catalog, schema);
    }

    Connection connect(String user, String catalog, String schema)
            throws SQLException
    {
        Properties properties = new Properties();
        properties.setProperty("user", user);
        if (!catalog.equals("system")) {
            properties.setProperty(
                    "sessionProperties",
                    "%1$s.expire_snapshots_min_retention:0s;%1$s.remove_orphan_files_min_retention:0s".formatted(catalog));
        }
        return DriverManager.getConnection("jdbc:trino://127.0.0.1:%s/%s/%s".formatted(port, catalog, schema), properties);
    }

    /**
     * Ends the process as {@code kill -9} does: nothing of it runs any more when this returns.
     */
    void kill()
    {
        if (process == null) {
            return;
        }
        process.destroyForcibly();
        boolean interrupted = false;
        while (process.isAlive()) {
            try {
                process.waitFor();
            }
            catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Asks the process to end, as {@code kill} does, and waits until it has ended.
     *
     * @return its exit code
     */
    int terminate()
            throws InterruptedException
    {
        process.destroy();
        if (!process.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new IllegalStateException("Server does not end, see " + log());
        }
        return process.exitValue();
    }

    /**
     * Starts a server that was ended on the same data and port.
     */
    void restart()
            throws IOException, InterruptedException
    {
        if (process.isAlive()) {
            throw new IllegalStateException("Server runs: " + data);
        }
        launch();
        awaitStart();
    }

    /**
     * Stops the process, and removes its data but not its log.
     */
    @Override
    public void close()
            throws IOException, InterruptedException
    {
        process.destroy();
        if (!process.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            kill();
        }
        Runtime.getRuntime().removeShutdownHook(killAtExit);
        try (Stream<Path> entries = Files.list(data)) {
            for (Path entry : entries.filter(entry -> !entry.equals(log())).toList()) {
                deleteRecursively(entry);
            }
        }
    }

    private void launch()
            throws IOException
    {
        // what a killed server left, a native library among it
        Path temporary = data.resolve("tmp");
        deleteRecursively(temporary);
        Files.createDirectories(temporary);

        Path etc = data.resolve("etc");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "@" + etc.resolve("jvm.config"),
                // for a short life, the quick compiler is the better one
                "-XX:TieredStopAtLevel=1",
                "-Duser.timezone=UTC",
                "-Djava.io.tmpdir=" + temporary,
                "-Dconfig=" + etc.resolve("config.properties"),
                "-Dlog.levels-file=" + etc.resolve("log.properties"),
                "-cp",
                ASSEMBLED.resolve("classes") + ":" + ASSEMBLED.resolve("lib/*"),
                LocalServer.class.getName());
        builder.directory(data.toFile());
        builder.environment().putAll(Map.of(
                "SKADE_DATA", data.toString(),
                "SKADE_ETC", etc.toString(),
                "SKADE_PORT", String.valueOf(port),
                "SKADE_SERVER", data.toString(),
                "NO_COLOR", "1"));
        builder.redirectErrorStream(true);
        builder.redirectOutput(Redirect.appendTo(log().toFile()));
        process = builder.start();
    }

    /**
     * Waits until the server takes queries, or work as a worker.
     */
    private void awaitStart()
            throws IOException, InterruptedException
    {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:%s/v1/info".formatted(port))).build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            await(() -> {
                try {
                    return client.send(request, BodyHandlers.ofString()).body().contains("\"starting\":false");
                }
                catch (IOException _) {
                    return false;
                }
            });
        }
    }

    void awaitJoined(SkadeServer coordinator)
            throws IOException, InterruptedException
    {
        awaitStart();
        await(() -> {
            try (Connection connection = coordinator.connect("system", "runtime")) {
                return !Sql.query(connection, "SELECT 1 FROM nodes WHERE state = 'active' AND http_uri = 'http://127.0.0.1:%s'".formatted(port)).isEmpty();
            }
            catch (SQLException e) {
                throw new IOException(e);
            }
        });
    }

    private void await(Condition condition)
            throws IOException, InterruptedException
    {
        Instant limit = Instant.now().plus(START_LIMIT);
        while (!condition.holds()) {
            if (!process.isAlive() || Instant.now().isAfter(limit)) {
                String errors = Files.readAllLines(log()).stream()
                        .dropWhile(line -> !line.contains("\tERROR\t"))
                        .limit(40)
                        .collect(joining("\n"));
                throw new IllegalStateException("Server does not start, see %s\n%s".formatted(log(), errors));
            }
            Thread.sleep(200);
        }
    }

    private interface Condition
    {
        boolean holds()
                throws IOException, InterruptedException;
    }

    private static void change(Path file, Map<String, String> changes, Set<String> removed)
            throws IOException
    {
        Properties properties = new Properties();
        if (Files.exists(file)) {
            try (var reader = Files.newBufferedReader(file)) {
                properties.load(reader);
            }
        }
        properties.keySet().removeAll(removed);
        properties.putAll(changes);
        try (var writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
    }

    static int findFreePort()
            throws IOException
    {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void copyRecursively(Path from, Path to)
            throws IOException
    {
        try (Stream<Path> paths = Files.walk(from)) {
            for (Path path : paths.toList()) {
                Path target = to.resolve(from.relativize(path).toString());
                if (Files.isDirectory(path)) {
                    Files.createDirectories(target);
                }
                else {
                    Files.copy(path, target);
                }
            }
        }
    }

    static void deleteRecursively(Path path)
            throws IOException
    {
        if (!Files.exists(path)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(path)) {
            paths.sorted(Comparator.reverseOrder()).forEach(entry -> {
                try {
                    Files.delete(entry);
                }
                catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
