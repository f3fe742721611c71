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

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;
import io.airlift.units.Duration;
import io.trino.jdbc.TrinoResultSet;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * A Trino server as a process of its own, put together from what {@code bin/skade build} made. It has these catalogs, each with a schema
 * {@value #SCHEMA}:
 * <ul>
 * <li>{@value #SKADE}: skade with its defaults
 * <li>{@value #RELEASED}: the same store, read at the tag {@value #RELEASE}
 * <li>{@value #UNSYNCED}: skade with {@code skade.local-sync=false}
 * <li>{@value #STOCK}: Trino's own Iceberg connector, with Iceberg's {@code JdbcCatalog} on PostgreSQL; absent if there is no PostgreSQL
 * </ul>
 */
final class TrinoServer
        implements AutoCloseable
{
    static final String SKADE = "lake";
    static final String RELEASED = "released";
    static final String UNSYNCED = "unsynced";
    static final String STOCK = "stock";

    static final String SCHEMA = "bench";
    static final String RELEASE = "release";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long START_LIMIT_NANOS = TimeUnit.MINUTES.toNanos(5);
    private static final Map<String, String> LOCAL_FILES = ImmutableMap.of(
            "fs.local.enabled", "true",
            "local.location", "/",
            "iceberg.register-table-procedure.enabled", "true");

    private final Process process;
    private final HttpClient http = HttpClient.newHttpClient();
    private final int port;
    private final Path log;
    private final Map<String, String> catalogs;
    private final Thread killAtExit;

    private TrinoServer(Process process, int port, Path log, Map<String, String> catalogs)
    {
        this.process = requireNonNull(process, "process is null");
        this.port = port;
        this.log = requireNonNull(log, "log is null");
        this.catalogs = requireNonNull(catalogs, "catalogs is null");
        this.killAtExit = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(killAtExit);
    }

    /**
     * @param root of the project
     * @param folder a new one
     */
    static TrinoServer start(Path root, Path folder)
            throws IOException, InterruptedException, SQLException
    {
        Path assembled = root.resolve("product-tests/target/server");
        Map<String, String> catalogs = writeCatalogs(folder);
        Files.copy(root.resolve("etc/config.properties"), folder.resolve("etc/config.properties"));
        linkPlugins(assembled, folder);

        int port = PostgreSql.findFreePort();
        Path log = folder.resolve("server.log");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "@" + root.resolve("etc/jvm.config"),
                // memory that is touched for the first time would make statements slow that come early
                "-Xms4g",
                "-Xmx4g",
                "-XX:+AlwaysPreTouch",
                "-Djava.io.tmpdir=" + Files.createDirectories(folder.resolve("tmp")),
                "-Dconfig=" + folder.resolve("etc/config.properties"),
                "-Dlog.levels-file=" + root.resolve("etc/log.properties"),
                "-cp",
                assembled.resolve("classes") + ":" + assembled.resolve("lib/*"),
                "io.skade.product.LocalServer");
        builder.directory(folder.toFile());
        builder.environment().putAll(ImmutableMap.of(
                "SKADE_DATA", folder.toString(),
                "SKADE_ETC", folder.resolve("etc").toString(),
                "SKADE_SERVER", folder.toString(),
                "SKADE_PORT", String.valueOf(port),
                "NO_COLOR", "1"));
        TrinoServer server = new TrinoServer(builder.redirectErrorStream(true).redirectOutput(Redirect.to(log.toFile())).start(), port, log, catalogs);
        try {
            server.awaitStart();
            for (String catalog : List.of(SKADE, UNSYNCED, STOCK)) {
                if (server.hasCatalog(catalog)) {
                    server.run(catalog, "CREATE SCHEMA " + SCHEMA);
                }
            }
        }
        catch (IOException | InterruptedException | SQLException | RuntimeException e) {
            server.close();
            throw e;
        }
        return server;
    }

    private static Map<String, String> writeCatalogs(Path folder)
            throws IOException
    {
        Map<String, String> names = new LinkedHashMap<>();
        Path etc = Files.createDirectories(folder.resolve("etc/catalog"));
        write(etc, "tpch", ImmutableMap.of("connector.name", "tpch", "tpch.column-naming", "STANDARD"));
        write(etc, SKADE, skade(folder, SKADE).buildOrThrow());
        names.put(SKADE, "skade");
        write(etc, RELEASED, skade(folder, SKADE).put("skade.read-ref", RELEASE).buildOrThrow());
        names.put(RELEASED, "skade, at a tag");
        write(etc, UNSYNCED, skade(folder, UNSYNCED).put("skade.local-sync", "false").buildOrThrow());
        names.put(UNSYNCED, "skade, no local-sync");
        String postgreSql = System.getProperty(Peers.POSTGRESQL_URL, "");
        if (!postgreSql.isEmpty()) {
            // Trino does not make the tables
            Peers.jdbc(folder, postgreSql).close();
            write(etc, STOCK, ImmutableMap.<String, String>builder()
                    .putAll(LOCAL_FILES)
                    .put("connector.name", "iceberg")
                    .put("iceberg.catalog.type", "jdbc")
                    .put("iceberg.jdbc-catalog.driver-class", "org.postgresql.Driver")
                    .put("iceberg.jdbc-catalog.connection-url", postgreSql)
                    .put("iceberg.jdbc-catalog.catalog-name", "trino")
                    .put("iceberg.jdbc-catalog.default-warehouse-dir", "file://" + folder.resolve(STOCK))
                    .buildOrThrow());
            names.put(STOCK, "stock, postgresql");
        }
        return names;
    }

    private static ImmutableMap.Builder<String, String> skade(Path folder, String name)
    {
        return ImmutableMap.<String, String>builder()
                .putAll(LOCAL_FILES)
                .put("connector.name", "skade")
                .put("skade.store.path", folder.resolve(name + "-store").toString())
                .put("skade.warehouse", "file://" + folder.resolve(name));
    }

    private static void write(Path etc, String catalog, Map<String, String> values)
            throws IOException
    {
        Properties properties = new Properties();
        properties.putAll(values);
        try (var writer = Files.newBufferedWriter(etc.resolve(catalog + ".properties"))) {
            properties.store(writer, null);
        }
    }

    private static void linkPlugins(Path assembled, Path folder)
            throws IOException
    {
        Path plugins = Files.createDirectories(folder.resolve("plugin"));
        for (String plugin : List.of("skade", "tpch")) {
            Files.createSymbolicLink(plugins.resolve(plugin), assembled.resolve("plugin").resolve(plugin));
        }
        // skade's plugin has all of the Iceberg plugin's jars
        Path iceberg = Files.createDirectories(plugins.resolve("iceberg"));
        try (Stream<Path> jars = Files.list(assembled.resolve("plugin/skade"))) {
            for (Path jar : jars.filter(jar -> !jar.getFileName().toString().startsWith("skade-")).toList()) {
                Files.createSymbolicLink(iceberg.resolve(jar.getFileName()), jar);
            }
        }
        Path services = Files.createDirectories(iceberg.resolve("services/META-INF/services"));
        Files.writeString(services.resolve("io.trino.spi.Plugin"), "io.trino.plugin.iceberg.IcebergPlugin\n");
    }

    private void awaitStart()
            throws IOException, InterruptedException
    {
        long end = System.nanoTime() + START_LIMIT_NANOS;
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:%s/v1/info".formatted(port))).build();
        while (true) {
            try {
                if (http.send(request, BodyHandlers.ofString()).body().contains("\"starting\":false")) {
                    return;
                }
            }
            catch (IOException _) {
                // not yet
            }
            if (!process.isAlive() || System.nanoTime() > end) {
                List<String> lines = Files.readAllLines(log);
                throw new IOException("Server does not start:\n" + String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size())));
            }
            Thread.sleep(200);
        }
    }

    boolean hasCatalog(String catalog)
    {
        return catalogs.containsKey(catalog);
    }

    /**
     * Who answers for a catalog, for the report.
     */
    String subject(String catalog)
    {
        return catalogs.get(catalog);
    }

    /**
     * Opens a session of its own.
     */
    Connection connect(String catalog)
            throws SQLException
    {
        return DriverManager.getConnection("jdbc:trino://127.0.0.1:%s/%s/%s?user=benchmark".formatted(port, catalog, SCHEMA));
    }

    /**
     * Runs a statement in a session of its own, and gives the first column.
     */
    List<String> run(String catalog, String sql)
            throws SQLException
    {
        try (Connection connection = connect(catalog)) {
            return Sql.run(connection, sql);
        }
    }

    /**
     * Runs a query and gives the milliseconds that the server says its analysis and planning took: the part in which a table's metadata is read.
     */
    double planningMillis(Connection connection, String sql)
            throws SQLException, IOException, InterruptedException
    {
        String queryId;
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                rows.getString(1);
            }
            queryId = rows.unwrap(TrinoResultSet.class).getQueryId();
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:%s/v1/query/%s".formatted(port, queryId)))
                .header("X-Trino-User", "benchmark")
                .build();
        JsonNode stats = JSON.readTree(http.send(request, BodyHandlers.ofString()).body()).get("queryStats");
        return Duration.valueOf(stats.get("analysisTime").asText()).getValue(MILLISECONDS) + Duration.valueOf(stats.get("planningTime").asText()).getValue(MILLISECONDS);
    }

    /**
     * Takes a table into a catalog by its metadata file.
     */
    void register(String catalog, String table, String metadataFile)
            throws SQLException
    {
        int folder = metadataFile.lastIndexOf("/metadata/");
        run(catalog, "CALL %s.system.register_table(schema_name => '%s', table_name => '%s', table_location => '%s', metadata_file_name => '%s')".formatted(
                catalog,
                SCHEMA,
                table,
                metadataFile.substring(0, folder),
                metadataFile.substring(folder + "/metadata/".length())));
    }

    /**
     * The location of a table's present metadata file.
     */
    String metadataFile(String catalog, String table)
            throws SQLException
    {
        return run(catalog, "SELECT file FROM \"%s$metadata_log_entries\" ORDER BY timestamp DESC LIMIT 1".formatted(table)).getFirst();
    }

    @Override
    public void close()
            throws InterruptedException
    {
        http.close();
        process.destroy();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        Runtime.getRuntime().removeShutdownHook(killAtExit);
    }
}
