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
import io.skade.store.LogEntry;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.PointerStore;
import io.skade.store.RefChange;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.InMemoryRecordSet;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.predicate.TupleDomain;
import org.apache.iceberg.SnapshotRef;

import java.util.List;
import java.util.UUID;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code "t$ref_log"}: every change of every ref of a table, newest first.
 */
public final class RefLogTable
        extends CoordinatorTable
{
    private static final List<ColumnMetadata> COLUMNS = ImmutableList.of(
            new ColumnMetadata("log_id", BIGINT),
            new ColumnMetadata("ref", VARCHAR),
            new ColumnMetadata("type", VARCHAR),
            new ColumnMetadata("operation", VARCHAR),
            new ColumnMetadata("old_snapshot_id", BIGINT),
            new ColumnMetadata("new_snapshot_id", BIGINT),
            new ColumnMetadata("changed_at", TIMESTAMP_TZ_MILLIS),
            new ColumnMetadata("changed_by", VARCHAR),
            new ColumnMetadata("query_id", VARCHAR));

    private final PointerStore store;
    private final UUID pointerId;
    private final long lastLogId;

    /**
     * @param lastLogId the newest commit that the transaction sees
     */
    public RefLogTable(SchemaTableName tableName, PointerStore store, UUID pointerId, long lastLogId)
    {
        super(new ConnectorTableMetadata(tableName, COLUMNS));
        this.store = requireNonNull(store, "store is null");
        this.pointerId = requireNonNull(pointerId, "pointerId is null");
        this.lastLogId = lastLogId;
    }

    @Override
    public RecordCursor cursor(ConnectorTransactionHandle transactionHandle, ConnectorSession session, TupleDomain<Integer> constraint)
    {
        InMemoryRecordSet.Builder rows = InMemoryRecordSet.builder(COLUMNS);
        for (LogEntry entry : store.log(pointerId, Integer.MAX_VALUE)) {
            if (entry.logId() > lastLogId) {
                continue;
            }
            for (TableChange table : entry.tables()) {
                if (!table.pointerId().equals(pointerId)) {
                    continue;
                }
                for (RefChange change : table.refChanges()) {
                    rows.addRow(
                            entry.logId(),
                            change.ref(),
                            change.after().or(change::before).orElseThrow().type().name(),
                            table.operation(),
                            change.before().map(SnapshotRef::snapshotId).orElse(null),
                            change.after().map(SnapshotRef::snapshotId).orElse(null),
                            packDateTimeWithZone(entry.committedAt().toEpochMilli(), UTC_KEY),
                            entry.author().user(),
                            entry.author().queryId().orElse(null));
                }
            }
        }
        return rows.build().cursor();
    }
}
