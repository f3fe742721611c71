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
package io.skade.plugin;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.Closer;
import com.google.inject.CreationException;
import com.google.inject.spi.Message;
import io.skade.plugin.rest.RestServer;
import io.skade.store.PointerStore;
import io.skade.store.RocksDbPointerStore;
import io.skade.store.StoreException;
import io.trino.plugin.iceberg.IcebergConnector;
import io.trino.plugin.iceberg.IcebergConnectorFactory;
import io.trino.spi.TrinoException;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;

import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Throwables.getCausalChain;
import static io.skade.procedure.SkadeErrorCode.SKADE_STORE_ERROR;
import static io.trino.plugin.base.Versions.checkStrictSpiVersionMatch;
import static io.trino.plugin.base.util.Closables.closeAllSuppress;

/**
 * Makes a connector by composing Trino's Iceberg connector: the pointer store is its catalog.
 */
public class SkadeConnectorFactory
        implements ConnectorFactory
{
    private static final String CATALOG_TYPE = "iceberg.catalog.type";
    private static final String READ_REF = "skade.read-ref";
    private static final String SECURITY = "iceberg.security";
    private static final String READ_ONLY = "read_only";

    private final SharedStores stores;

    public SkadeConnectorFactory()
    {
        this(RocksDbPointerStore::open);
    }

    /**
     * @param storeOpener opens the store in a folder
     */
    SkadeConnectorFactory(Function<Path, PointerStore> storeOpener)
    {
        this.stores = new SharedStores(storeOpener);
    }

    @Override
    public String getName()
    {
        return "skade";
    }

    @Override
    public Connector create(String catalogName, Map<String, String> config, ConnectorContext context)
    {
        checkStrictSpiVersionMatch(context, this);
        checkArgument(!config.containsKey(CATALOG_TYPE), "Configuration property '%s' cannot be used with connector.name=skade: the pointer store in skade.store.path is the catalog", CATALOG_TYPE);
        Map<String, String> properties = withReadOnlySecurity(config);
        boolean coordinator = context.getCurrentNode().isCoordinator();
        Closer opened = Closer.create();
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            IcebergConnector iceberg = (IcebergConnector) IcebergConnectorFactory.createConnector(
                    catalogName,
                    properties,
                    context,
                    new SkadeModule(),
                    Optional.of(new SkadeCatalogModule(coordinator ? folder -> opened.register(stores.open(folder)) : _ -> new WorkerStore(), coordinator)));
            if (coordinator) {
                startRestServer(iceberg);
            }
            return iceberg.getInjector().getInstance(SkadeConnector.class);
        }
        catch (Throwable e) {
            // nobody else will
            closeAllSuppress(e, opened);
            Optional<StoreException> store = findStoreException(e);
            if (store.isPresent()) {
                throw new TrinoException(SKADE_STORE_ERROR, store.get().getMessage(), store.get());
            }
            throw e;
        }
    }

    private static void startRestServer(IcebergConnector iceberg)
    {
        try {
            iceberg.getInjector().getInstance(RestServer.class).start();
        }
        catch (Throwable e) {
            // what runs in the background already
            closeAllSuppress(e, iceberg::shutdown);
            throw e;
        }
    }

    /**
     * Why the store cannot be opened, out of what dependency injection made of it.
     */
    private static Optional<StoreException> findStoreException(Throwable thrown)
    {
        Stream<Throwable> causes = thrown instanceof CreationException creation ? creation.getErrorMessages().stream().map(Message::getCause) : Stream.of(thrown);
        return causes
                .filter(Objects::nonNull)
                .flatMap(cause -> getCausalChain(cause).stream())
                .filter(StoreException.class::isInstance)
                .map(StoreException.class::cast)
                .findFirst();
    }

    /**
     * A catalog bound to a ref changes nothing.
     */
    private static Map<String, String> withReadOnlySecurity(Map<String, String> config)
    {
        if (!config.containsKey(READ_REF)) {
            return config;
        }
        checkArgument(
                config.getOrDefault(SECURITY, READ_ONLY).equalsIgnoreCase(READ_ONLY),
                "Configuration property '%s' makes a read-only catalog, '%s' cannot be '%s'",
                READ_REF,
                SECURITY,
                config.get(SECURITY));
        return ImmutableMap.<String, String>builder()
                .putAll(config)
                .put(SECURITY, READ_ONLY)
                .buildKeepingLast();
    }
}
