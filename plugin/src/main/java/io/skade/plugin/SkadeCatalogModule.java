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

import com.google.common.collect.ImmutableSet;
import com.google.inject.Binder;
import com.google.inject.Binding;
import com.google.inject.Injector;
import com.google.inject.Key;
import com.google.inject.Module;
import com.google.inject.Provides;
import com.google.inject.Scopes;
import com.google.inject.Singleton;
import io.skade.plugin.catalog.SkadeStoreOperations;
import io.skade.plugin.catalog.SkadeTableOperationsProvider;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.SkadeTrinoCatalogFactory;
import io.skade.plugin.catalog.StoreMaintenance;
import io.skade.plugin.catalog.Transactions;
import io.skade.plugin.rest.RestCatalogs;
import io.skade.plugin.rest.RestConfig;
import io.skade.plugin.rest.RestServer;
import io.skade.ref.LocalDisk;
import io.skade.ref.LocalDocuments;
import io.skade.ref.MetadataFiles;
import io.skade.ref.RefCommitter;
import io.skade.ref.RefViews;
import io.skade.store.PointerStore;
import io.trino.filesystem.Location;
import io.trino.filesystem.local.LocalFileSystem;
import io.trino.filesystem.local.LocalFileSystemConfig;
import io.trino.plugin.iceberg.catalog.IcebergTableOperationsProvider;
import io.trino.plugin.iceberg.catalog.TrinoCatalogFactory;
import io.trino.spi.type.TypeManager;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import static io.airlift.configuration.ConfigBinder.configBinder;
import static io.trino.plugin.iceberg.TypeConverter.toTrinoType;
import static java.util.Objects.requireNonNull;
import static org.weakref.jmx.guice.ExportBinder.newExporter;

/**
 * What stands in the place of a metastore.
 */
class SkadeCatalogModule
        implements Module
{
    private static final Set<String> LOCAL_SCHEMES = ImmutableSet.of("local", "file");

    private final Function<Path, PointerStore> storeOpener;
    private final boolean coordinator;

    SkadeCatalogModule(Function<Path, PointerStore> storeOpener, boolean coordinator)
    {
        this.coordinator = coordinator;
        this.storeOpener = requireNonNull(storeOpener, "storeOpener is null");
    }

    @Override
    public void configure(Binder binder)
    {
        configBinder(binder).bindConfig(SkadeConfig.class);
        configBinder(binder).bindConfig(RestConfig.class);
        binder.bind(IcebergTableOperationsProvider.class).to(SkadeTableOperationsProvider.class).in(Scopes.SINGLETON);
        binder.bind(TrinoCatalogFactory.class).to(SkadeTrinoCatalogFactory.class).in(Scopes.SINGLETON);
        binder.bind(SkadeTables.class).in(Scopes.SINGLETON);
        binder.bind(SkadeStoreOperations.class).in(Scopes.SINGLETON);
        binder.bind(Transactions.class).in(Scopes.SINGLETON);
        newExporter(binder).export(RefCommitter.class).withGeneratedName();
        newExporter(binder).export(MetadataFiles.class).withGeneratedName();
        if (coordinator) {
            binder.bind(StoreMaintenance.class).in(Scopes.SINGLETON);
            binder.bind(RestCatalogs.class).in(Scopes.SINGLETON);
            binder.bind(RestServer.class).in(Scopes.SINGLETON);
        }
    }

    @Provides
    @Singleton
    PointerStore createStore(SkadeConfig config)
    {
        return storeOpener.apply(config.getStorePath());
    }

    @Provides
    @Singleton
    static MetadataFiles createMetadataFiles(SkadeConfig config, PointerStore store)
    {
        return new MetadataFiles(config.getMetadataCacheMaxSize().toBytes(), location -> LocalDocuments.find(store, location));
    }

    @Provides
    @Singleton
    static LocalDisk createLocalDisk(SkadeConfig config, Injector injector)
    {
        // there only if local locations are served
        Binding<LocalFileSystemConfig> local = injector.getExistingBinding(Key.get(LocalFileSystemConfig.class));
        if (local == null || !config.isLocalSync()) {
            return LocalDisk.NONE;
        }
        Path root = local.getProvider().get().getLocation();
        LocalFileSystem fileSystem = new LocalFileSystem(root);
        Function<String, Optional<Path>> paths = location -> Optional.of(Location.of(location))
                .filter(value -> value.scheme().filter(LOCAL_SCHEMES::contains).isPresent())
                .map(fileSystem::toFilePath);
        return new LocalDisk(paths, paths.apply(config.getWarehouse()).orElse(root));
    }

    @Provides
    @Singleton
    static RefCommitter createRefCommitter(PointerStore store, MetadataFiles files, LocalDisk disk)
    {
        return new RefCommitter(store, files, disk);
    }

    @Provides
    @Singleton
    static LocalDocuments createLocalDocuments(PointerStore store, LocalDisk disk)
    {
        return new LocalDocuments(store, disk);
    }

    @Provides
    @Singleton
    static RefViews createRefViews(MetadataFiles files, TypeManager typeManager)
    {
        return new RefViews(files, type -> toTrinoType(type, typeManager).getDisplayName());
    }
}
