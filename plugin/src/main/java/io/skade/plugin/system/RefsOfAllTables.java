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
package io.skade.plugin.system;

import com.google.common.collect.ImmutableList;
import com.google.inject.Inject;
import io.skade.plugin.catalog.Transactions;
import io.skade.store.CatalogState;
import io.skade.store.PointerKind;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.InMemoryRecordSet;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.predicate.TupleDomain;

import java.util.Set;
import java.util.TreeMap;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.plugin.catalog.SkadeTables.identifier;
import static io.skade.plugin.catalog.SkadeTables.schemaTableName;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Comparator.comparing;
import static java.util.Objects.requireNonNull;

/**
 * {@code system.refs}: the refs of all tables that the user may see. Opens no metadata file.
 */
public final class RefsOfAllTables
        extends CoordinatorTable
{
    private static final ConnectorTableMetadata METADATA = new ConnectorTableMetadata(
            new SchemaTableName("system", "refs"),
            ImmutableList.of(
                    new ColumnMetadata("table_schema", VARCHAR),
                    new ColumnMetadata("table_name", VARCHAR),
                    new ColumnMetadata("name", VARCHAR),
                    new ColumnMetadata("type", VARCHAR),
                    new ColumnMetadata("snapshot_id", BIGINT)));

    private final Transactions transactions;

    @Inject
    public RefsOfAllTables(Transactions transactions)
    {
        super(METADATA);
        this.transactions = requireNonNull(transactions, "transactions is null");
    }

    @Override
    public RecordCursor cursor(
            ConnectorTransactionHandle transactionHandle,
            ConnectorSession session,
            TupleDomain<Integer> constraint,
            Set<Integer> requiredColumns,
            ConnectorSplit split,
            ConnectorAccessControl accessControl)
    {
        CatalogState state = transactions.load(transactionHandle).get();
        Set<SchemaTableName> tables = state.namespaces().stream()
                .flatMap(state::pointers)
                .filter(entry -> entry.getValue().kind() == PointerKind.TABLE)
                .map(entry -> schemaTableName(entry.getKey()))
                .collect(toImmutableSet());
        InMemoryRecordSet.Builder rows = InMemoryRecordSet.builder(METADATA);
        accessControl.filterTables(null, tables).stream()
                .sorted(comparing(SchemaTableName::getSchemaName).thenComparing(SchemaTableName::getTableName))
                .forEach(table -> state.find(identifier(table)).ifPresent(pointer -> new TreeMap<>(pointer.refs()).forEach((name, ref) ->
                        rows.addRow(table.getSchemaName(), table.getTableName(), name, ref.type().name(), ref.snapshotId()))));
        return rows.build().cursor();
    }
}
