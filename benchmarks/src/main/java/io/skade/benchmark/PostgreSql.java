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
import com.google.common.collect.ImmutableList;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * A PostgreSQL server of our own on a free loopback port, with its data in a new folder and its usual settings: a commit is durable when it returns.
 */
final class PostgreSql
        implements AutoCloseable
{
    private static final String USER = "postgres";
    private static final long START_LIMIT_MILLIS = 30_000;

    private final Process process;
    private final String url;
    private final Thread killAtExit;

    private PostgreSql(Process process, String url)
    {
        this.process = requireNonNull(process, "process is null");
        this.url = requireNonNull(url, "url is null");
        this.killAtExit = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(killAtExit);
    }

    /**
     * Starts a server if PostgreSQL is installed.
     *
     * @param folder which must not exist
     */
    static Optional<PostgreSql> start(Path folder)
            throws IOException, InterruptedException
    {
        Optional<Path> programs = findPrograms();
        if (programs.isEmpty()) {
            return Optional.empty();
        }
        Files.createDirectories(folder);
        Path data = folder.resolve("data");
        Path log = folder.resolve("server.log");
        Files.createFile(log);
        if (isRoot()) {
            // it refuses to run as root
            await(new ProcessBuilder("chown", "-R", USER, folder.toString()), log);
        }
        await(command(programs.get().resolve("initdb"), "-D", data.toString(), "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C"), log);
        int port = findFreePort();
        Process process = command(
                programs.get().resolve("postgres"),
                "-D",
                data.toString(),
                "-p",
                String.valueOf(port),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=")
                .redirectErrorStream(true)
                .redirectOutput(Redirect.appendTo(log.toFile()))
                .start();
        PostgreSql server = new PostgreSql(process, "jdbc:postgresql://127.0.0.1:%s/postgres?user=%s".formatted(port, USER));
        try {
            server.awaitStart(log);
        }
        catch (IOException | InterruptedException | RuntimeException e) {
            server.close();
            throw e;
        }
        return Optional.of(server);
    }

    String url()
    {
        return url;
    }

    private static Optional<Path> findPrograms()
            throws IOException
    {
        for (String folder : Splitter.on(File.pathSeparatorChar).omitEmptyStrings().split(System.getenv("PATH"))) {
            if (Files.isExecutable(Path.of(folder, "initdb")) && Files.isExecutable(Path.of(folder, "postgres"))) {
                return Optional.of(Path.of(folder));
            }
        }
        Path installed = Path.of("/usr/lib/postgresql");
        if (!Files.isDirectory(installed)) {
            return Optional.empty();
        }
        try (Stream<Path> versions = Files.list(installed)) {
            return versions
                    .map(version -> version.resolve("bin"))
                    .filter(programs -> Files.isExecutable(programs.resolve("initdb")))
                    .max(Comparator.naturalOrder());
        }
    }

    private static boolean isRoot()
    {
        return System.getProperty("user.name").equals("root");
    }

    private static ProcessBuilder command(Path program, String... arguments)
    {
        List<String> user = isRoot() ? List.of("setpriv", "--reuid=" + USER, "--regid=" + USER, "--init-groups", "--") : List.of();
        return new ProcessBuilder(ImmutableList.<String>builder().addAll(user).add(program.toString()).add(arguments).build())
                .directory(Path.of("/").toFile());
    }

    private static void await(ProcessBuilder command, Path log)
            throws IOException, InterruptedException
    {
        Process process = command.redirectErrorStream(true).redirectOutput(Redirect.appendTo(log.toFile())).start();
        if (process.waitFor() != 0) {
            throw new IOException("%s failed:\n%s".formatted(command.command(), Files.readString(log)));
        }
    }

    private void awaitStart(Path log)
            throws IOException, InterruptedException
    {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_LIMIT_MILLIS);
        while (true) {
            try (Connection _ = DriverManager.getConnection(url)) {
                return;
            }
            catch (SQLException e) {
                if (!process.isAlive() || System.nanoTime() > end) {
                    throw new IOException("PostgreSQL does not start: %s\n%s".formatted(e.getMessage(), Files.readString(log)), e);
                }
            }
            Thread.sleep(50);
        }
    }

    static int findFreePort()
    {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close()
            throws InterruptedException
    {
        process.destroy();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        Runtime.getRuntime().removeShutdownHook(killAtExit);
    }
}
