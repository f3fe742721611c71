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

import com.google.common.collect.ImmutableSet;
import com.google.common.net.InetAddresses;
import com.google.inject.Inject;
import io.airlift.http.server.HttpConfig;
import io.airlift.http.server.HttpServer;
import io.airlift.http.server.HttpServer.ClientCertificate;
import io.airlift.http.server.HttpServerConfig;
import io.airlift.http.server.HttpServerConfig.ProcessForwardedMode;
import io.airlift.http.server.HttpServerInfo;
import io.airlift.http.server.HttpsConfig;
import io.airlift.http.server.ServerFeature;
import io.airlift.log.Logger;
import io.airlift.node.NodeConfig;
import io.airlift.node.NodeInfo;
import io.airlift.security.pem.PemReader;
import io.skade.plugin.catalog.SkadeTables;
import io.trino.plugin.iceberg.IcebergSecurityConfig;
import io.trino.plugin.iceberg.IcebergSecurityConfig.IcebergSecurity;
import io.trino.spi.TrinoException;
import io.trino.spi.catalog.CatalogName;
import jakarta.annotation.PreDestroy;
import jakarta.ws.rs.container.DynamicFeature;
import org.glassfish.jersey.inject.hk2.AbstractBinder;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.server.ServerProperties;
import org.glassfish.jersey.servlet.ServletContainer;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

import static com.google.common.base.Preconditions.checkState;
import static io.trino.spi.StandardErrorCode.CONFIGURATION_INVALID;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * The HTTP server of the REST catalog, if it is enabled.
 */
public final class RestServer
{
    private static final Logger log = Logger.get(RestServer.class);

    private static final long BIND_NANOS = SECONDS.toNanos(10);
    private static final long BIND_PAUSE_NANOS = MILLISECONDS.toNanos(100);

    private final CatalogName catalogName;
    private final RestConfig config;
    private final RestCatalogs catalogs;
    private final boolean readOnly;
    private Optional<HttpServer> server = Optional.empty();
    private Optional<URI> uri = Optional.empty();

    /**
     * @throws TrinoException if the endpoint would show what the catalog's own access control hides
     */
    @Inject
    public RestServer(CatalogName catalogName, RestConfig config, RestCatalogs catalogs, SkadeTables tables, IcebergSecurityConfig security)
    {
        this.catalogName = requireNonNull(catalogName, "catalogName is null");
        this.config = requireNonNull(config, "config is null");
        this.catalogs = requireNonNull(catalogs, "catalogs is null");
        this.readOnly = security.getSecuritySystem() == IcebergSecurity.READ_ONLY;
        if (config.isEnabled() && security.getSecuritySystem() == IcebergSecurity.FILE) {
            throw new TrinoException(CONFIGURATION_INVALID, "skade.rest.enabled cannot be used with iceberg.security=file: the REST catalog does not apply its rules");
        }
        if (config.isEnabled() && tables.readRef().isPresent()) {
            throw new TrinoException(CONFIGURATION_INVALID, "skade.rest.enabled cannot be used with skade.read-ref: the REST catalog serves tables with all their refs");
        }
    }

    /**
     * Begins to listen, if the endpoint is enabled.
     *
     * @throws TrinoException if a file of the configuration cannot be read or is wrong; the port is not taken then
     * @throws IllegalStateException if the server cannot listen, as when the port is taken
     */
    public void start()
    {
        if (!config.isEnabled()) {
            return;
        }
        checkState(server.isEmpty(), "the REST catalog is started already");
        Authentication authentication = new Authentication(config);
        config.getKeystorePath().ifPresent(keystore -> checkKeystore(keystore, config.getKeystoreKey()));
        NodeInfo node = new NodeInfo(new NodeConfig()
                .setEnvironment("skade")
                .setNodeInternalAddress(config.getBindAddress().getHostAddress())
                .setNodeBindIp(config.getBindAddress()));
        boolean secure = config.getKeystorePath().isPresent();
        HttpServerConfig serverConfig = new HttpServerConfig()
                .setHttpEnabled(!secure)
                .setHttpsEnabled(secure)
                .setProcessForwarded(ProcessForwardedMode.IGNORE)
                .setLogEnabled(false)
                .setShowStackTrace(false);
        Optional<HttpConfig> http = secure ? Optional.empty() : Optional.of(new HttpConfig().setHttpPort(config.getPort()));
        Optional<HttpsConfig> https = config.getKeystorePath().map(this::httpsConfig);
        HttpServerInfo info = bind(serverConfig, http, https, node);
        try {
            HttpServer created = new HttpServer(
                    "skade-rest-" + catalogName,
                    info,
                    node,
                    serverConfig,
                    http,
                    https,
                    new ServletContainer(resources(authentication)),
                    ImmutableSet.of(new UnreadBodyFilter()),
                    ImmutableSet.of(),
                    // the names of tables and namespaces stand in the path, whatever is in them
                    ImmutableSet.of(ServerFeature.LEGACY_URI_COMPLIANCE),
                    ClientCertificate.NONE,
                    Optional.empty(),
                    Optional.empty());
            server = Optional.of(created);
            created.start();
        }
        catch (Exception e) {
            throw new IllegalStateException("Cannot start the REST catalog at " + address(), e);
        }
        uri = Optional.of(secure ? info.getHttpsUri() : info.getHttpUri());
        if (!secure && !config.getBindAddress().isLoopbackAddress()) {
            log.warn("The REST catalog of %s is not encrypted: set skade.rest.https.keystore.path, or let only a proxy that encrypts reach it", catalogName);
        }
        log.info("REST catalog of %s at %s", catalogName, uri.get());
    }

    /**
     * @throws TrinoException if the HTTP server could not read the keystore. It would only say so when it has the port
     */
    private static void checkKeystore(Path path, Optional<String> key)
    {
        File file = path.toFile();
        try {
            if (PemReader.isPem(file)) {
                PemReader.loadKeyStore(file, file, key);
                return;
            }
            if (key.isEmpty()) {
                throw new TrinoException(CONFIGURATION_INVALID, "skade.rest.https.keystore.key is required for the Java keystore " + path);
            }
            KeyStore.getInstance(file, key.get().toCharArray());
        }
        catch (IOException | GeneralSecurityException e) {
            throw new TrinoException(CONFIGURATION_INVALID, "Cannot read the keystore %s: %s".formatted(path, e.getMessage()), e);
        }
    }

    /**
     * Binds the port. A catalog of this server that was dropped may still have it for some seconds.
     */
    private HttpServerInfo bind(HttpServerConfig serverConfig, Optional<HttpConfig> http, Optional<HttpsConfig> https, NodeInfo node)
    {
        long end = System.nanoTime() + BIND_NANOS;
        while (true) {
            try {
                return new HttpServerInfo(serverConfig, http, https, node);
            }
            catch (UncheckedIOException e) {
                if (System.nanoTime() - end > 0 || Thread.interrupted()) {
                    throw new IllegalStateException("Cannot start the REST catalog at " + address(), e);
                }
                LockSupport.parkNanos(BIND_PAUSE_NANOS);
            }
        }
    }

    private String address()
    {
        return InetAddresses.toUriString(config.getBindAddress()) + ":" + config.getPort();
    }

    private HttpsConfig httpsConfig(Path keystore)
    {
        HttpsConfig https = new HttpsConfig()
                .setHttpsPort(config.getPort())
                .setKeystorePath(keystore.toString());
        config.getKeystoreKey().ifPresent(https::setKeystorePassword);
        return https;
    }

    private ResourceConfig resources(Authentication authentication)
    {
        ResourceConfig resources = new ResourceConfig()
                .property(ServerProperties.FEATURE_AUTO_DISCOVERY_DISABLE, true)
                .property(ServerProperties.WADL_FEATURE_DISABLE, true)
                .register(new RestMessages())
                .register(new RestErrors())
                .register(authentication)
                .registerClasses(ConfigResource.class, NamespaceResource.class, TableResource.class, ViewResource.class)
                .register(new ResourceBinder());
        return readOnly ? resources.register(new ReadOnlyFilter(), DynamicFeature.class) : resources;
    }

    /**
     * Lets Jersey use one instance of each resource.
     */
    private class ResourceBinder
            extends AbstractBinder
    {
        @Override
        protected void configure()
        {
            bind(new ConfigResource()).to(ConfigResource.class);
            bind(new NamespaceResource(catalogs)).to(NamespaceResource.class);
            bind(new TableResource(catalogs)).to(TableResource.class);
            bind(new ViewResource(catalogs)).to(ViewResource.class);
        }
    }

    /**
     * Where it listens, empty if it does not.
     */
    public Optional<URI> uri()
    {
        return uri;
    }

    @PreDestroy
    public void stop()
            throws Exception
    {
        if (server.isPresent()) {
            server.get().stop();
        }
    }
}
