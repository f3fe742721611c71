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
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.catalog.CatalogTests;
import org.apache.iceberg.rest.RESTCatalog;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;

/**
 * Iceberg's suite for catalogs, through its own REST client.
 */
class TestRestCatalog
        extends CatalogTests<RESTCatalog>
{
    @TempDir
    private static Path folder;

    private static RestQueryRunner server;

    private RESTCatalog catalog;

    @BeforeAll
    static void start()
            throws Exception
    {
        // one test takes a metadata file away and expects to be told: nothing may have its content in another place
        server = RestQueryRunner.start(folder, ImmutableMap.of("skade.metadata-cache.max-size", "0B", "skade.local-sync", "false", "iceberg.metadata-cache.enabled", "false"));
        server.queryRunner().execute("DROP SCHEMA lake.tpch");
    }

    @AfterAll
    static void stop()
    {
        server.close();
    }

    @BeforeEach
    void open()
    {
        catalog = initCatalog("lake", ImmutableMap.of());
    }

    @AfterEach
    void clean()
            throws Exception
    {
        RestCatalogCleaner.dropAll(catalog);
        catalog.close();
    }

    @Override
    protected RESTCatalog catalog()
    {
        return catalog;
    }

    @Override
    protected RESTCatalog initCatalog(String catalogName, Map<String, String> additionalProperties)
    {
        return server.connect(ImmutableMap.<String, String>builder()
                .put(CatalogProperties.TABLE_DEFAULT_PREFIX + "default-key1", "catalog-default-key1")
                .put(CatalogProperties.TABLE_DEFAULT_PREFIX + "default-key2", "catalog-default-key2")
                .put(CatalogProperties.TABLE_DEFAULT_PREFIX + "override-key3", "catalog-default-key3")
                .put(CatalogProperties.TABLE_OVERRIDE_PREFIX + "override-key3", "catalog-override-key3")
                .put(CatalogProperties.TABLE_OVERRIDE_PREFIX + "override-key4", "catalog-override-key4")
                .putAll(additionalProperties)
                .buildKeepingLast());
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
}
