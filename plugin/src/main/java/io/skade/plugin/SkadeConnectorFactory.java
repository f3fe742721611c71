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

import io.trino.plugin.iceberg.IcebergConnector;
import io.trino.plugin.iceberg.IcebergConnectorFactory;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;

import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static io.trino.plugin.base.Versions.checkStrictSpiVersionMatch;

/**
 * Makes a connector by composing Trino's Iceberg connector: the pointer store is its catalog.
 */
public class SkadeConnectorFactory
        implements ConnectorFactory
{
    private static final String CATALOG_TYPE = "iceberg.catalog.type";

    private final SharedStores stores = new SharedStores();

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
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            IcebergConnector iceberg = (IcebergConnector) IcebergConnectorFactory.createConnector(
                    catalogName,
                    config,
                    context,
                    new SkadeModule(),
                    Optional.of(new SkadeCatalogModule(context.getCurrentNode().isCoordinator() ? stores::open : _ -> new WorkerStore())));
            return iceberg.getInjector().getInstance(SkadeConnector.class);
        }
    }
}
