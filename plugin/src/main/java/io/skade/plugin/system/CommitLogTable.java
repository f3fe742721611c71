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
import io.skade.store.LogEntry;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.PointerStore;
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

import java.util.List;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.plugin.catalog.SkadeTables.schemaTableName;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code system.commit_log}: a row a table a commit, newest first, of the tables that the user may see. The tables of one commit share its
 * {@code log_id}.
 */
public final class CommitLogTable
        extends CoordinatorTable
{
    private static final ConnectorTableMetadata METADATA = new ConnectorTableMetadata(
            new SchemaTableName("system", "commit_log"),
            ImmutableList.of(
                    new ColumnMetadata("log_id", BIGINT),
                    new ColumnMetadata("table_schema", VARCHAR),
                    new ColumnMetadata("table_name", VARCHAR),
                    new ColumnMetadata("operation", VARCHAR),
                    new ColumnMetadata("metadata_location", VARCHAR),
                    new ColumnMetadata("committed_at", TIMESTAMP_TZ_MILLIS),
                    new ColumnMetadata("committed_by", VARCHAR),
                    new ColumnMetadata("query_id", VARCHAR)));

    private final PointerStore store;
    private final Transactions transactions;

    @Inject
    public CommitLogTable(PointerStore store, Transactions transactions)
    {
        super(METADATA);
        this.transactions = requireNonNull(transactions, "transactions is null");
        this.store = requireNonNull(store, "store is null");
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
        long lastLogId = transactions.load(transactionHandle).get().lastLogId();
        List<LogEntry> entries = store.log(Integer.MAX_VALUE).stream()
                .filter(entry -> entry.logId() <= lastLogId)
                .toList();
        Set<SchemaTableName> visible = accessControl.filterTables(null, entries.stream()
                .flatMap(entry -> entry.tables().stream())
                .map(table -> schemaTableName(table.name()))
                .collect(toImmutableSet()));
        InMemoryRecordSet.Builder rows = InMemoryRecordSet.builder(METADATA);
        for (LogEntry entry : entries) {
            for (TableChange table : entry.tables()) {
                SchemaTableName name = schemaTableName(table.name());
                if (visible.contains(name)) {
                    rows.addRow(
                            entry.logId(),
                            name.getSchemaName(),
                            name.getTableName(),
                            table.operation(),
                            table.metadataLocation().orElse(null),
                            packDateTimeWithZone(entry.committedAt().toEpochMilli(), UTC_KEY),
                            entry.author().user(),
                            entry.author().queryId().orElse(null));
                }
            }
        }
        return rows.build().cursor();
    }
}
