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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.inject.Inject;
import io.skade.plugin.catalog.SkadeStoreOperations;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.SkadeTrinoCatalogFactory;
import io.skade.plugin.catalog.TransactionState;
import io.skade.plugin.catalog.Transactions;
import io.skade.plugin.function.SkadeFunctionProvider;
import io.skade.plugin.function.SkadeSplitManager;
import io.skade.procedure.RefProcedure;
import io.skade.procedure.RefProcedures;
import io.skade.procedure.StoreProcedures;
import io.trino.plugin.iceberg.IcebergConnector;
import io.trino.plugin.iceberg.IcebergTransactionManager;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorCapabilities;
import io.trino.spi.connector.ConnectorMetadata;
import io.trino.spi.connector.ConnectorNodePartitioningProvider;
import io.trino.spi.connector.ConnectorPageSinkProvider;
import io.trino.spi.connector.ConnectorPageSourceProviderFactory;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.connector.TableProcedureMetadata;
import io.trino.spi.function.FunctionProvider;
import io.trino.spi.function.table.ConnectorTableFunction;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.session.PropertyMetadata;
import io.trino.spi.transaction.IsolationLevel;
import io.trino.spi.type.TypeManager;

import java.util.List;
import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;

/**
 * Trino's Iceberg connector, with {@link SkadeMetadata} in front of its metadata, and the verbs and the functions that show refs added to its own.
 */
public class SkadeConnector
        implements Connector
{
    private final IcebergConnector iceberg;
    private final IcebergTransactionManager transactionManager;
    private final Transactions transactions;
    private final SkadeTables tables;
    private final SkadeStoreOperations storeOperations;
    private final CatalogName catalogName;
    private final TypeManager typeManager;
    private final BranchProperties branchProperties;
    private final SkadeSplitManager splitManager;
    private final SkadeFunctionProvider functionProvider;

    @Inject
    public SkadeConnector(
            IcebergConnector iceberg,
            IcebergTransactionManager transactionManager,
            Transactions transactions,
            SkadeTables tables,
            SkadeStoreOperations storeOperations,
            CatalogName catalogName,
            TypeManager typeManager,
            BranchProperties branchProperties,
            SkadeSplitManager splitManager,
            SkadeFunctionProvider functionProvider)
    {
        this.iceberg = requireNonNull(iceberg, "iceberg is null");
        this.transactionManager = requireNonNull(transactionManager, "transactionManager is null");
        this.transactions = requireNonNull(transactions, "transactions is null");
        this.tables = requireNonNull(tables, "tables is null");
        this.storeOperations = requireNonNull(storeOperations, "storeOperations is null");
        this.catalogName = requireNonNull(catalogName, "catalogName is null");
        this.typeManager = requireNonNull(typeManager, "typeManager is null");
        this.branchProperties = requireNonNull(branchProperties, "branchProperties is null");
        this.splitManager = requireNonNull(splitManager, "splitManager is null");
        this.functionProvider = requireNonNull(functionProvider, "functionProvider is null");
    }

    @Override
    public ConnectorTransactionHandle beginTransaction(IsolationLevel isolationLevel, boolean readOnly, boolean autoCommit)
    {
        ConnectorTransactionHandle transaction = iceberg.beginTransaction(isolationLevel, readOnly, autoCommit);
        transactions.begin(transaction);
        return transaction;
    }

    @Override
    public void commit(ConnectorTransactionHandle transaction)
    {
        transactions.end(transaction);
        iceberg.commit(transaction);
    }

    @Override
    public void rollback(ConnectorTransactionHandle transaction)
    {
        transactions.end(transaction);
        iceberg.rollback(transaction);
    }

    @Override
    public ConnectorMetadata getMetadata(ConnectorSession session, ConnectorTransactionHandle transaction)
    {
        TransactionState state = transactions.load(transaction);
        ConnectorMetadata metadata = ScopedValue.where(SkadeTrinoCatalogFactory.TRANSACTION_STATE, state)
                .call(() -> transactionManager.get(transaction, session.getIdentity()));
        return new SkadeMetadata(metadata, tables, state, catalogName, typeManager);
    }

    @Override
    public Set<Procedure> getProcedures()
    {
        Set<Procedure> own = ImmutableSet.<Procedure>builder()
                .addAll(RefProcedures.all(tables))
                .addAll(StoreProcedures.all(storeOperations))
                .build();
        Set<String> names = own.stream().map(Procedure::getName).collect(toImmutableSet());
        return ImmutableSet.<Procedure>builder()
                .addAll(own)
                .addAll(iceberg.getProcedures().stream()
                        .filter(procedure -> !names.contains(procedure.getName()))
                        .map(GuardedProcedures::guard)
                        .iterator())
                .build();
    }

    @Override
    public Set<TableProcedureMetadata> getTableProcedures()
    {
        List<TableProcedureMetadata> verbs = RefProcedures.tableVerbs().stream()
                .map(RefTableProcedures::metadata)
                .toList();
        Set<String> names = RefProcedures.tableVerbs().stream()
                .map(RefProcedure::name)
                .collect(toImmutableSet());
        return ImmutableSet.<TableProcedureMetadata>builder()
                .addAll(verbs)
                .addAll(iceberg.getTableProcedures().stream()
                        .filter(procedure -> !names.contains(procedure.getName().toLowerCase(ENGLISH)))
                        .iterator())
                .build();
    }

    @Override
    public List<PropertyMetadata<?>> getBranchProperties()
    {
        return branchProperties.getBranchProperties();
    }

    @Override
    public ConnectorSplitManager getSplitManager()
    {
        return splitManager;
    }

    @Override
    public ConnectorPageSourceProviderFactory getPageSourceProviderFactory()
    {
        return iceberg.getPageSourceProviderFactory();
    }

    @Override
    public ConnectorPageSinkProvider getPageSinkProvider()
    {
        return iceberg.getPageSinkProvider();
    }

    @Override
    public ConnectorNodePartitioningProvider getNodePartitioningProvider()
    {
        return iceberg.getNodePartitioningProvider();
    }

    @Override
    public Set<SystemTable> getSystemTables()
    {
        return iceberg.getSystemTables();
    }

    @Override
    public Optional<FunctionProvider> getFunctionProvider()
    {
        return Optional.of(functionProvider);
    }

    @Override
    public Set<ConnectorTableFunction> getTableFunctions()
    {
        return iceberg.getTableFunctions().stream()
                .map(function -> function.getName().equals(GuardedTableChanges.NAME) ? new GuardedTableChanges(function) : function)
                .collect(toImmutableSet());
    }

    @Override
    public List<PropertyMetadata<?>> getSessionProperties()
    {
        return iceberg.getSessionProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getSchemaProperties()
    {
        return iceberg.getSchemaProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getAnalyzeProperties()
    {
        return iceberg.getAnalyzeProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getTableProperties()
    {
        return iceberg.getTableProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getViewProperties()
    {
        return iceberg.getViewProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getMaterializedViewProperties()
    {
        return iceberg.getMaterializedViewProperties();
    }

    @Override
    public List<PropertyMetadata<?>> getColumnProperties()
    {
        return ImmutableList.copyOf(iceberg.getColumnProperties());
    }

    @Override
    public ConnectorAccessControl getAccessControl()
    {
        return iceberg.getAccessControl();
    }

    @Override
    public boolean isSingleStatementWritesOnly()
    {
        return iceberg.isSingleStatementWritesOnly();
    }

    @Override
    public Set<ConnectorCapabilities> getCapabilities()
    {
        return iceberg.getCapabilities();
    }

    @Override
    public void shutdown()
    {
        iceberg.shutdown();
    }
}
