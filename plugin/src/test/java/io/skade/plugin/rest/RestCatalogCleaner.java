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

import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.rest.RESTCatalog;

import java.util.List;

final class RestCatalogCleaner
{
    private RestCatalogCleaner() {}

    /**
     * Drops everything.
     */
    static void dropAll(RESTCatalog catalog)
    {
        dropAll(catalog, Namespace.empty());
    }

    private static void dropAll(RESTCatalog catalog, Namespace parent)
    {
        List<Namespace> namespaces = parent.isEmpty() ? catalog.listNamespaces() : catalog.listNamespaces(parent);
        for (Namespace namespace : namespaces) {
            dropAll(catalog, namespace);
            dropContent(catalog, namespace);
            catalog.dropNamespace(namespace);
        }
    }

    private static void dropContent(RESTCatalog catalog, Namespace namespace)
    {
        catalog.listTables(namespace).forEach(table -> catalog.dropTable(table, false));
        catalog.listViews(namespace).forEach(catalog::dropView);
    }
}
