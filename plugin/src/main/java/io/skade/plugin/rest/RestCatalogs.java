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
import com.google.inject.Inject;
import io.skade.catalog.PointerCatalog;
import io.skade.plugin.SkadeConfig;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.store.CommitAuthor;
import io.trino.plugin.iceberg.IcebergConfig;
import io.trino.spi.catalog.CatalogName;
import jakarta.ws.rs.core.SecurityContext;
import org.apache.iceberg.CatalogProperties;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The catalog as the sender of a request has it: what it does stands in the log under their name.
 */
public final class RestCatalogs
{
    private final String name;
    private final SkadeTables tables;
    private final ImmutableMap<String, String> properties;

    @Inject
    public RestCatalogs(CatalogName name, SkadeTables tables, SkadeConfig config, IcebergConfig icebergConfig)
    {
        this.name = name.toString();
        this.tables = requireNonNull(tables, "tables is null");
        this.properties = ImmutableMap.of(
                CatalogProperties.WAREHOUSE_LOCATION, config.getWarehouse(),
                CatalogProperties.UNIQUE_TABLE_LOCATION, String.valueOf(icebergConfig.isUniqueTableLocation()));
    }

    PointerCatalog open(SecurityContext sender)
    {
        String user = sender.getUserPrincipal().getName();
        return new PointerCatalog(name, tables.committer(), tables.fileIo(user), new CommitAuthor(user, Optional.empty()), properties);
    }
}
