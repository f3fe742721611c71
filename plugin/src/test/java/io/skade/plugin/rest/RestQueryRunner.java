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
import io.skade.catalog.LocalFileIO;
import io.skade.plugin.SkadeQueryRunner;
import io.trino.testing.DistributedQueryRunner;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.rest.RESTCatalog;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;

/**
 * A server whose catalog {@code lake} other engines reach, and the same files as it.
 */
final class RestQueryRunner
        implements AutoCloseable
{
    private final DistributedQueryRunner queryRunner;
    private final URI uri;

    private RestQueryRunner(DistributedQueryRunner queryRunner, URI uri)
    {
        this.queryRunner = queryRunner;
        this.uri = uri;
    }

    /**
     * @param folder of the tables
     * @param catalogProperties besides those of the endpoint
     */
    static RestQueryRunner start(Path folder, Map<String, String> catalogProperties)
            throws Exception
    {
        int port = findFreePort();
        SkadeQueryRunner.Builder builder = SkadeQueryRunner.builder()
                .addCatalogProperty("skade.rest.enabled", "true")
                .addCatalogProperty("skade.rest.port", String.valueOf(port))
                // locations that are true outside the server too
                .addCatalogProperty("skade.warehouse", "file://" + folder.resolve("warehouse"))
                .addCatalogProperty("local.location", "/");
        catalogProperties.forEach(builder::addCatalogProperty);
        return new RestQueryRunner(
                builder.setWorkerCount(0).build(),
                URI.create("%s://127.0.0.1:%s".formatted(catalogProperties.containsKey("skade.rest.https.keystore.path") ? "https" : "http", port)));
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

    DistributedQueryRunner queryRunner()
    {
        return queryRunner;
    }

    URI uri()
    {
        return uri;
    }

    /**
     * Iceberg's own client of the endpoint.
     */
    RESTCatalog connect(Map<String, String> properties)
    {
        RESTCatalog catalog = new RESTCatalog();
        catalog.initialize("lake", ImmutableMap.<String, String>builder()
                .put(CatalogProperties.URI, uri.toString())
                .put(CatalogProperties.FILE_IO_IMPL, LocalFileIO.class.getName())
                .putAll(properties)
                .buildKeepingLast());
        return catalog;
    }

    @Override
    public void close()
    {
        queryRunner.close();
    }
}
