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
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static java.util.stream.Collectors.toSet;

/**
 * An S3 endpoint with one bucket, as a process of its own on a free loopback port: S3Proxy over a folder of
 * {@code target/servers}, which goes when it is closed. It takes signed requests only. Its jars are those of the module
 * {@code product-tests/s3}.
 */
final class S3Endpoint
        implements AutoCloseable
{
    private static final Path CLASSPATH = Path.of("s3/target/classpath").toAbsolutePath();
    private static final Duration START_LIMIT = Duration.ofMinutes(1);
    private static final Pattern OPERATION = Pattern.compile("s3_operation=\"(\\w+)\"");
    private static final String BUCKET = "lake";
    private static final String ACCESS_KEY = "test-access-key";
    private static final String SECRET_KEY = "test-secret-key";

    private final Path data;
    private final URI uri;
    private final Thread killAtExit = new Thread(this::destroy);
    private final HttpClient client = HttpClient.newHttpClient();
    private Process process;

    private S3Endpoint(Path data, URI uri)
    {
        this.data = data;
        this.uri = uri;
    }

    /**
     * Gives an endpoint that answers.
     *
     * @param name of the folder of its data
     */
    static S3Endpoint start(String name)
            throws IOException, InterruptedException
    {
        Path data = Path.of("target/servers").resolve(name).toAbsolutePath();
        SkadeServer.deleteRecursively(data);
        Files.createDirectories(data.resolve("buckets").resolve(BUCKET));
        URI uri = URI.create("http://127.0.0.1:" + SkadeServer.findFreePort());

        Properties properties = new Properties();
        properties.putAll(Map.of(
                "s3proxy.endpoint", uri.toString(),
                "s3proxy.authorization", "aws-v4",
                "s3proxy.identity", ACCESS_KEY,
                "s3proxy.credential", SECRET_KEY,
                "s3proxy.ignore-unknown-headers", "true",
                "s3proxy.metrics.enabled", "true",
                "jclouds.provider", "filesystem",
                "jclouds.filesystem.basedir", data.resolve("buckets").toString()));
        try (var writer = Files.newBufferedWriter(config(data))) {
            properties.store(writer, null);
        }
        S3Endpoint endpoint = new S3Endpoint(data, uri);
        endpoint.launch();
        Runtime.getRuntime().addShutdownHook(endpoint.killAtExit);
        try {
            endpoint.awaitStart();
        }
        catch (IOException | InterruptedException | RuntimeException e) {
            endpoint.destroy();
            throw e;
        }
        return endpoint;
    }

    /**
     * The lines of a catalog whose warehouse is in the bucket.
     */
    Map<String, String> catalogProperties()
    {
        return Map.of(
                "fs.s3.enabled", "true",
                "s3.endpoint", uri.toString(),
                "s3.region", "us-east-1",
                "s3.path-style-access", "true",
                "s3.aws-access-key", ACCESS_KEY,
                "s3.aws-secret-key", SECRET_KEY,
                // nothing waits long for an endpoint that was ended
                "s3.max-error-retries", "1",
                "skade.warehouse", "s3://%s/warehouse".formatted(BUCKET));
    }

    /**
     * The keys of all objects under a folder of the warehouse, also of those that are not complete.
     */
    List<String> listObjects(String folder)
            throws IOException
    {
        Path bucket = data.resolve("buckets").resolve(BUCKET);
        Path start = bucket.resolve("warehouse").resolve(folder);
        if (!Files.exists(start)) {
            return List.of();
        }
        try (Stream<Path> paths = Files.walk(start)) {
            return paths.filter(Files::isRegularFile)
                    .map(path -> bucket.relativize(path).toString())
                    .sorted()
                    .toList();
        }
    }

    /**
     * The names of the operations that were asked for so far, as in {@code PutObject}.
     */
    Set<String> operations()
            throws IOException, InterruptedException
    {
        return OPERATION.matcher(readMetrics().body()).results()
                .map((MatchResult operation) -> operation.group(1))
                .collect(toSet());
    }

    /**
     * Ends the process: nothing answers any more when this returns.
     */
    void kill()
            throws InterruptedException
    {
        process.destroyForcibly().waitFor();
    }

    /**
     * Starts a process that was ended on the same bucket and port.
     */
    void restart()
            throws IOException, InterruptedException
    {
        launch();
        awaitStart();
    }

    /**
     * Ends the process, and removes the bucket but not the log.
     */
    @Override
    public void close()
            throws IOException, InterruptedException
    {
        kill();
        Runtime.getRuntime().removeShutdownHook(killAtExit);
        client.close();
        SkadeServer.deleteRecursively(data.resolve("buckets"));
    }

    private void destroy()
    {
        process.destroyForcibly();
    }

    private void launch()
            throws IOException
    {
        process = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-Xmx512m",
                "-XX:TieredStopAtLevel=1",
                // its standard error goes to the log
                "-Dorg.slf4j.simpleLogger.logFile=System.out",
                "-cp",
                Files.readString(CLASSPATH).strip(),
                "org.gaul.s3proxy.Main",
                "--properties",
                config(data).toString())
                .redirectErrorStream(true)
                .redirectOutput(Redirect.appendTo(log(data).toFile()))
                .start();
    }

    private void awaitStart()
            throws IOException, InterruptedException
    {
        Instant limit = Instant.now().plus(START_LIMIT);
        while (!answers()) {
            if (!process.isAlive() || Instant.now().isAfter(limit)) {
                throw new IllegalStateException("The S3 endpoint does not start, see " + log(data));
            }
            Thread.sleep(100);
        }
    }

    private boolean answers()
            throws InterruptedException
    {
        try {
            return readMetrics().statusCode() == 200;
        }
        catch (IOException _) {
            return false;
        }
    }

    private HttpResponse<String> readMetrics()
            throws IOException, InterruptedException
    {
        return client.send(HttpRequest.newBuilder(uri.resolve("/metrics")).build(), BodyHandlers.ofString());
    }

    private static Path config(Path data)
    {
        return data.resolve("s3proxy.properties");
    }

    private static Path log(Path data)
    {
        return data.resolve("s3proxy.log");
    }
}
