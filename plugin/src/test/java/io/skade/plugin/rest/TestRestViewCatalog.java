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
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.view.ViewCatalogTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

/**
 * Iceberg's suite for catalogs with views, through its own REST client.
 */
class TestRestViewCatalog
        extends ViewCatalogTests<RESTCatalog>
{
    @TempDir
    private static Path folder;

    private static RestQueryRunner server;

    private RESTCatalog catalog;

    @BeforeAll
    static void start()
            throws Exception
    {
        server = RestQueryRunner.start(folder, ImmutableMap.of());
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
        catalog = server.connect(ImmutableMap.<String, String>builder()
                .put(CatalogProperties.VIEW_DEFAULT_PREFIX + "key1", "catalog-default-key1")
                .put(CatalogProperties.VIEW_DEFAULT_PREFIX + "key2", "catalog-default-key2")
                .put(CatalogProperties.VIEW_DEFAULT_PREFIX + "key3", "catalog-default-key3")
                .put(CatalogProperties.VIEW_OVERRIDE_PREFIX + "key3", "catalog-override-key3")
                .put(CatalogProperties.VIEW_OVERRIDE_PREFIX + "key4", "catalog-override-key4")
                .buildOrThrow());
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
}
