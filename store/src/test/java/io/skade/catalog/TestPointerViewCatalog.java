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
package io.skade.catalog;

import com.google.common.collect.ImmutableMap;
import io.skade.ref.LocalDisk;
import io.skade.ref.MetadataFiles;
import io.skade.ref.RefCommitter;
import io.skade.store.CommitAuthor;
import io.skade.store.RocksDbPointerStore;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.view.ViewCatalogTests;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Iceberg's own conformance suite of a catalog with views.
 */
class TestPointerViewCatalog
        extends ViewCatalogTests<PointerCatalog>
{
    @TempDir
    private Path folder;

    private RocksDbPointerStore store;
    private PointerCatalog catalog;

    @BeforeEach
    void open()
    {
        store = RocksDbPointerStore.open(folder);
        catalog = new PointerCatalog(
                "lake",
                new RefCommitter(store, new MetadataFiles(10_000_000), LocalDisk.NONE),
                new InMemoryFileIO(),
                new CommitAuthor("alice", Optional.empty()),
                ImmutableMap.<String, String>builder()
                        .put(CatalogProperties.WAREHOUSE_LOCATION, "memory:/warehouse")
                        .put(CatalogProperties.VIEW_DEFAULT_PREFIX + "key1", "catalog-default-key1")
                        .put(CatalogProperties.VIEW_DEFAULT_PREFIX + "key2", "catalog-default-key2")
                        .put(CatalogProperties.VIEW_DEFAULT_PREFIX + "key3", "catalog-default-key3")
                        .put(CatalogProperties.VIEW_OVERRIDE_PREFIX + "key3", "catalog-override-key3")
                        .put(CatalogProperties.VIEW_OVERRIDE_PREFIX + "key4", "catalog-override-key4")
                        .buildOrThrow());
    }

    @AfterEach
    void close()
    {
        store.close();
    }

    @Override
    protected PointerCatalog catalog()
    {
        return catalog;
    }

    @Override
    protected Catalog tableCatalog()
    {
        return catalog;
    }

    @Override
    protected boolean requiresNamespaceCreate()
    {
        return true;
    }

    @Override
    protected boolean supportsServerSideRetry()
    {
        return true;
    }

    @Override
    protected boolean supportsEmptyNamespace()
    {
        return true;
    }
}
