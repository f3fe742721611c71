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
package io.skade.plugin.catalog;

import com.google.inject.Inject;
import io.trino.plugin.iceberg.catalog.IcebergTableOperations;
import io.trino.plugin.iceberg.catalog.IcebergTableOperationsProvider;
import io.trino.plugin.iceberg.catalog.TrinoCatalog;
import io.trino.plugin.iceberg.encryption.EncryptionManagerFactory;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

public final class SkadeTableOperationsProvider
        implements IcebergTableOperationsProvider
{
    private final SkadeTables tables;
    private final EncryptionManagerFactory encryptionManagerFactory;

    @Inject
    public SkadeTableOperationsProvider(SkadeTables tables, EncryptionManagerFactory encryptionManagerFactory)
    {
        this.tables = requireNonNull(tables, "tables is null");
        this.encryptionManagerFactory = requireNonNull(encryptionManagerFactory, "encryptionManagerFactory is null");
    }

    @Override
    public IcebergTableOperations createTableOperations(
            TrinoCatalog catalog,
            ConnectorSession session,
            String database,
            String table,
            Optional<String> owner,
            Optional<String> location)
    {
        TransactionState state = ((SkadeTrinoCatalog) catalog).state();
        SchemaTableName name = new SchemaTableName(database, table);
        SchemaTableName plainName = RefTableName.parse(name).map(RefTableName::table).orElse(name);
        return new SkadeTableOperations(
                tables.fileIo(session),
                session,
                name,
                owner,
                location,
                encryptionManagerFactory,
                tables.operations(session, name, state::get),
                () -> state.committed(SkadeTables.identifier(plainName)));
    }
}
