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
package io.skade.plugin.function;

import com.google.inject.Inject;
import io.skade.plugin.catalog.SkadeStoreOperations;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.SkadeTrinoCatalogFactory;
import io.skade.plugin.catalog.Transactions;
import io.trino.plugin.base.classloader.ClassLoaderSafeConnectorSplitSource;
import io.trino.plugin.iceberg.catalog.TrinoCatalogFactory;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.Constraint;
import io.trino.spi.connector.FixedSplitSource;
import io.trino.spi.function.table.ConnectorTableFunctionHandle;
import io.trino.spi.type.TypeManager;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.Table;

import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * The splits of Trino's Iceberg connector, and those of {@link RefFunction}s.
 */
public final class SkadeSplitManager
        implements ConnectorSplitManager
{
    private final ConnectorSplitManager iceberg;
    private final Transactions transactions;
    private final SkadeTables tables;
    private final SkadeStoreOperations storeOperations;
    private final TrinoCatalogFactory catalogFactory;
    private final TypeManager typeManager;

    @Inject
    public SkadeSplitManager(
            ConnectorSplitManager iceberg,
            Transactions transactions,
            SkadeTables tables,
            SkadeStoreOperations storeOperations,
            TrinoCatalogFactory catalogFactory,
            TypeManager typeManager)
    {
        this.iceberg = requireNonNull(iceberg, "iceberg is null");
        this.transactions = requireNonNull(transactions, "transactions is null");
        this.tables = requireNonNull(tables, "tables is null");
        this.storeOperations = requireNonNull(storeOperations, "storeOperations is null");
        this.catalogFactory = requireNonNull(catalogFactory, "catalogFactory is null");
        this.typeManager = requireNonNull(typeManager, "typeManager is null");
    }

    @Override
    public ConnectorSplitSource getSplits(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            ConnectorTableHandle table,
            Set<ColumnHandle> dynamicFilterColumns,
            Constraint constraint)
    {
        return iceberg.getSplits(transaction, session, table, dynamicFilterColumns, constraint);
    }

    @Override
    public ConnectorSplitSource getSplits(ConnectorTransactionHandle transaction, ConnectorSession session, ConnectorTableFunctionHandle function)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            return switch (function) {
                case RowsHandle handle -> new FixedSplitSource(handle.rows(session, tables, transactions.load(transaction)));
                case StoreRowsHandle handle -> new FixedSplitSource(handle.rows(session, storeOperations));
                case RefDiffFunction.Handle handle -> new ClassLoaderSafeConnectorSplitSource(
                        new RefDiffSplitSource(loadTable(transaction, session, handle), SchemaParser.fromJson(handle.schemaJson()), handle.snapshotIds(), typeManager),
                        getClass().getClassLoader());
                default -> iceberg.getSplits(transaction, session, function);
            };
        }
    }

    /**
     * The table as Trino's connector loads it, which can decrypt its files.
     */
    private Table loadTable(ConnectorTransactionHandle transaction, ConnectorSession session, RefDiffFunction.Handle handle)
    {
        return ScopedValue.where(SkadeTrinoCatalogFactory.TRANSACTION_STATE, transactions.load(transaction))
                .call(() -> catalogFactory.create(session.getIdentity()))
                .loadTable(session, handle.table());
    }
}
