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
package io.skade.plugin.rest;

import com.google.common.collect.ImmutableMap;
import io.skade.plugin.SkadeQueryRunner;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Map;

import static io.trino.testing.assertions.Assert.assertEventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Catalogs on one store, each with an endpoint of its own.
 */
class TestRestSettings
        extends AbstractTestQueryFramework
{
    @TempDir
    private Path folder;

    private Path data;

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        DistributedQueryRunner queryRunner = SkadeQueryRunner.builder().setWorkerCount(0).build();
        data = queryRunner.getCoordinator().getBaseDataDir().resolve("skade");
        return queryRunner;
    }

    private void createCatalog(String name, Map<String, String> properties)
    {
        getQueryRunner().createCatalog(name, "skade", ImmutableMap.<String, String>builder()
                .putAll(SkadeQueryRunner.catalogProperties(data))
                .put("skade.rest.enabled", "true")
                .putAll(properties)
                .buildOrThrow());
    }

    @Test
    void offByDefault()
    {
        assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName).noneMatch(name -> name.startsWith("skade-rest-lake"));
        createCatalog("served", ImmutableMap.of("skade.rest.port", "0"));
        assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName).anyMatch(name -> name.startsWith("skade-rest-served"));
        getQueryRunner().execute("DROP CATALOG served");
    }

    @Test
    void withoutAuthenticationTheUserIsWhoTheRequestSays()
            throws IOException, InterruptedException
    {
        int port = RestQueryRunner.findFreePort();
        createCatalog("open", ImmutableMap.of("skade.rest.port", String.valueOf(port)));
        assertUpdate("CREATE TABLE anybodys (n integer)");
        URI table = URI.create("http://127.0.0.1:%s/v1/namespaces/tpch/tables/anybodys".formatted(port));
        assertThat(setProperty(table, HttpRequest.newBuilder(), "1").statusCode()).isEqualTo(200);
        assertThat(setProperty(table, HttpRequest.newBuilder().header("X-Trino-User", "carol"), "2").statusCode()).isEqualTo(200);
        assertQuery(
                "SELECT committed_by FROM lake.system.commit_log WHERE table_name = 'anybodys' AND operation = 'set_properties' ORDER BY log_id",
                "VALUES 'rest', 'carol'");
        getQueryRunner().execute("DROP CATALOG open");
        assertUpdate("DROP TABLE anybodys");
    }

    @Test
    void missingFilesAreErrors()
    {
        String absent = folder.resolve("absent").toString();
        for (String property : new String[] {"skade.rest.password-file", "skade.rest.token-file", "skade.rest.https.keystore.path"}) {
            assertThatThrownBy(() -> createCatalog("wrong", ImmutableMap.of("skade.rest.port", "0", property, absent)))
                    .as(property)
                    .hasStackTraceContaining(absent);
        }
        assertThat(computeActual("SHOW CATALOGS").getOnlyColumnAsSet()).doesNotContain("wrong");
    }

    private static HttpResponse<String> setProperty(URI table, HttpRequest.Builder request, String value)
            throws IOException, InterruptedException
    {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    request.uri(table)
                            .header("Content-Type", "application/json")
                            .POST(BodyPublishers.ofString("{\"requirements\": [], \"updates\": [{\"action\": \"set-properties\", \"updates\": {\"k\": \"%s\"}}]}".formatted(value)))
                            .build(),
                    BodyHandlers.ofString());
        }
    }

    @Test
    void readOnlyCatalogRefusesEveryChange()
            throws IOException, InterruptedException
    {
        int port = RestQueryRunner.findFreePort();
        createCatalog("frozen", ImmutableMap.of("skade.rest.port", String.valueOf(port), "iceberg.security", "read_only"));
        assertUpdate("CREATE TABLE fixed (n integer)");
        assertUpdate("CREATE TABLE metrics (n integer)");
        URI table = URI.create("http://127.0.0.1:%s/v1/namespaces/tpch/tables/fixed".formatted(port));
        try (HttpClient http = HttpClient.newHttpClient()) {
            assertThat(get(http, table).statusCode()).isEqualTo(200);
            assertThat(setProperty(table, HttpRequest.newBuilder(), "1").statusCode()).isEqualTo(403);
            assertThat(http.send(HttpRequest.newBuilder(table).DELETE().build(), BodyHandlers.ofString()).body()).contains("The catalog is read-only");
            assertThat(get(http, table).statusCode()).isEqualTo(200);

            // the name of a table is not the end of a path
            URI metrics = table.resolve("metrics");
            assertThat(setProperty(metrics, HttpRequest.newBuilder(), "1").statusCode()).isEqualTo(403);
            assertThat(http.send(HttpRequest.newBuilder(metrics).DELETE().build(), BodyHandlers.ofString()).statusCode()).isEqualTo(403);
            HttpRequest report = HttpRequest.newBuilder(URI.create(table + "/metrics"))
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{\"report-type\": \"commit-report\", \"table-name\": \"fixed\", \"snapshot-id\": 1, \"sequence-number\": 1, \"operation\": \"append\", \"metrics\": {}}"))
                    .build();
            assertThat(http.send(report, BodyHandlers.ofString()).statusCode()).isEqualTo(204);
        }
        getQueryRunner().execute("DROP CATALOG frozen");
        assertUpdate("DROP TABLE metrics");
        assertUpdate("DROP TABLE fixed");
    }

    @Test
    void portIsTaken()
            throws IOException, InterruptedException
    {
        int port;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = taken.getLocalPort();
            assertThatThrownBy(() -> createCatalog("late", ImmutableMap.of("skade.rest.port", String.valueOf(port))))
                    .hasStackTraceContaining("Cannot start the REST catalog at 127.0.0.1:" + port);
        }
        // what failed left nothing behind
        assertEventually(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName).doesNotContain("skade-maintenance-late-0"));
        createCatalog("late", ImmutableMap.of("skade.rest.port", String.valueOf(port)));
        try (HttpClient http = HttpClient.newHttpClient()) {
            assertThat(get(http, URI.create("http://127.0.0.1:%s/v1/config".formatted(port))).statusCode()).isEqualTo(200);
        }
        getQueryRunner().execute("DROP CATALOG late");
    }

    /**
     * Trino closes a dropped catalog some seconds later.
     */
    @Test
    void catalogCreatedAgainTakesOverThePort()
            throws IOException, InterruptedException
    {
        int port = RestQueryRunner.findFreePort();
        try (HttpClient http = HttpClient.newHttpClient()) {
            for (int round = 0; round < 2; round++) {
                createCatalog("again", ImmutableMap.of("skade.rest.port", String.valueOf(port)));
                assertThat(get(http, URI.create("http://127.0.0.1:%s/v1/config".formatted(port))).statusCode()).isEqualTo(200);
                getQueryRunner().execute("DROP CATALOG again");
            }
        }
    }

    @Test
    void rulesThatTheEndpointDoesNotApply()
            throws IOException
    {
        Path rules = Files.writeString(folder.resolve("rules.json"), "{\"tables\": []}");
        assertThatThrownBy(() -> createCatalog("ruled", ImmutableMap.of("iceberg.security", "file", "security.config-file", rules.toString())))
                .hasStackTraceContaining("skade.rest.enabled cannot be used with iceberg.security=file");
        assertThatThrownBy(() -> createCatalog("pinned", ImmutableMap.of("skade.read-ref", "gold")))
                .hasStackTraceContaining("skade.rest.enabled cannot be used with skade.read-ref");
        Path tokens = Files.writeString(folder.resolve("tokens"), "alice\n");
        assertThatThrownBy(() -> createCatalog("mistaken", ImmutableMap.of("skade.rest.port", "0", "skade.rest.token-file", tokens.toString())))
                .hasStackTraceContaining("line 1 is not 'user:value'");
    }

    @Test
    void encryptedWithTheKeystore()
            throws Exception
    {
        Path keystore = folder.resolve("keystore.p12");
        Process keytool = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin/keytool").toString(),
                "-genkeypair",
                "-alias",
                "rest",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-storepass",
                "changeit",
                "-keystore",
                keystore.toString())
                .inheritIO()
                .start();
        assertThat(keytool.waitFor()).isZero();
        int port = RestQueryRunner.findFreePort();
        assertThatThrownBy(() -> createCatalog("secure", ImmutableMap.of(
                "skade.rest.port", String.valueOf(port),
                "skade.rest.https.keystore.path", keystore.toString())))
                .hasStackTraceContaining("skade.rest.https.keystore.key is required for the Java keystore " + keystore);
        assertThatThrownBy(() -> createCatalog("secure", ImmutableMap.of(
                "skade.rest.port", String.valueOf(port),
                "skade.rest.https.keystore.path", keystore.toString(),
                "skade.rest.https.keystore.key", "mistaken")))
                .hasStackTraceContaining("Cannot read the keystore " + keystore);
        // on the same port
        createCatalog("secure", ImmutableMap.of(
                "skade.rest.port", String.valueOf(port),
                "skade.rest.https.keystore.path", keystore.toString(),
                "skade.rest.https.keystore.key", "changeit"));

        URI config = URI.create("https://127.0.0.1:%s/v1/config".formatted(port));
        KeyStore trusted = KeyStore.getInstance(keystore.toFile(), "changeit".toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        try (HttpClient http = HttpClient.newBuilder().sslContext(context).build(); HttpClient stranger = HttpClient.newHttpClient()) {
            assertThat(get(http, config).body()).contains("POST /v1/{prefix}/transactions/commit");
            assertThatThrownBy(() -> get(stranger, config)).isInstanceOf(SSLHandshakeException.class);
            assertThatThrownBy(() -> get(stranger, URI.create("http://127.0.0.1:%s/v1/config".formatted(port)))).isInstanceOf(IOException.class);
        }
        getQueryRunner().execute("DROP CATALOG secure");
    }

    private static HttpResponse<String> get(HttpClient http, URI uri)
            throws IOException, InterruptedException
    {
        return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
}
