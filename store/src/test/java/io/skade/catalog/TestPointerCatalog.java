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
import org.apache.iceberg.catalog.CatalogTests;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Iceberg's own conformance suite of a catalog.
 */
class TestPointerCatalog
        extends CatalogTests<PointerCatalog>
{
    @TempDir
    private Path folder;

    private RocksDbPointerStore store;
    private PointerCatalog catalog;

    @BeforeEach
    void open()
    {
        store = RocksDbPointerStore.open(folder.resolve("store"));
        catalog = initCatalog("lake", ImmutableMap.of());
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
    protected PointerCatalog initCatalog(String catalogName, Map<String, String> additionalProperties)
    {
        Map<String, String> properties = ImmutableMap.<String, String>builder()
                .put(CatalogProperties.WAREHOUSE_LOCATION, folder.resolve("warehouse").toString())
                .put(CatalogProperties.TABLE_DEFAULT_PREFIX + "default-key1", "catalog-default-key1")
                .put(CatalogProperties.TABLE_DEFAULT_PREFIX + "default-key2", "catalog-default-key2")
                .put(CatalogProperties.TABLE_DEFAULT_PREFIX + "override-key3", "catalog-default-key3")
                .put(CatalogProperties.TABLE_OVERRIDE_PREFIX + "override-key3", "catalog-override-key3")
                .put(CatalogProperties.TABLE_OVERRIDE_PREFIX + "override-key4", "catalog-override-key4")
                .putAll(additionalProperties)
                .buildKeepingLast();
        return new PointerCatalog(
                catalogName,
                // one test takes a metadata file away and expects to be told
                new RefCommitter(store, new MetadataFiles(0), LocalDisk.NONE),
                new LocalFileIO(),
                new CommitAuthor("alice", Optional.empty()),
                properties);
    }

    @Override
    protected boolean requiresNamespaceCreate()
    {
        return true;
    }

    @Override
    protected boolean supportsNestedNamespaces()
    {
        return true;
    }

    @Override
    protected boolean supportsServerSideRetry()
    {
        return true;
    }

    @Override
    protected boolean supportsNamesWithSlashes()
    {
        return true;
    }

    @Override
    protected boolean supportsNamesWithDot()
    {
        return true;
    }

    @Override
    protected boolean supportsEmptyNamespace()
    {
        return true;
    }
}
