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
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.InMemoryRecordSet;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.predicate.TupleDomain;
import org.apache.iceberg.HistoryEntry;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.util.SnapshotUtil;

import java.util.List;
import java.util.Set;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static com.google.common.collect.Streams.stream;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.BooleanType.BOOLEAN;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code "t$history"}: for {@code main} Iceberg's snapshot log, where a snapshot made current twice stands twice; for another ref, of which
 * Iceberg keeps no such log, the line of its snapshots.
 */
public final class HistoryTable
        extends CoordinatorTable
{
    private static final List<ColumnMetadata> COLUMNS = ImmutableList.of(
            new ColumnMetadata("made_current_at", TIMESTAMP_TZ_MILLIS),
            new ColumnMetadata("snapshot_id", BIGINT),
            new ColumnMetadata("parent_id", BIGINT),
            new ColumnMetadata("is_current_ancestor", BOOLEAN));

    private final TableMetadata metadata;
    private final String ref;

    public HistoryTable(SchemaTableName tableName, TableMetadata metadata, String ref)
    {
        super(new ConnectorTableMetadata(tableName, COLUMNS));
        this.metadata = requireNonNull(metadata, "metadata is null");
        this.ref = requireNonNull(ref, "ref is null");
    }

    @Override
    public RecordCursor cursor(ConnectorTransactionHandle transactionHandle, ConnectorSession session, TupleDomain<Integer> constraint)
    {
        InMemoryRecordSet.Builder rows = InMemoryRecordSet.builder(COLUMNS);
        List<Snapshot> line = line();
        if (ref.equals(MAIN_BRANCH)) {
            Set<Long> ancestors = line.stream().map(Snapshot::snapshotId).collect(toImmutableSet());
            for (HistoryEntry entry : metadata.snapshotLog()) {
                Snapshot snapshot = metadata.snapshot(entry.snapshotId());
                addRow(rows, entry.timestampMillis(), entry.snapshotId(), snapshot == null ? null : snapshot.parentId(), ancestors.contains(entry.snapshotId()));
            }
        }
        else {
            for (Snapshot snapshot : line.reversed()) {
                addRow(rows, snapshot.timestampMillis(), snapshot.snapshotId(), snapshot.parentId(), true);
            }
        }
        return rows.build().cursor();
    }

    private static void addRow(InMemoryRecordSet.Builder rows, long timestampMillis, long snapshotId, Long parentId, boolean isCurrentAncestor)
    {
        rows.addRow(packDateTimeWithZone(timestampMillis, UTC_KEY), snapshotId, parentId, isCurrentAncestor);
    }

    /**
     * The snapshots of the ref, newest first.
     */
    private List<Snapshot> line()
    {
        SnapshotRef present = metadata.ref(ref);
        return present == null ? ImmutableList.of() : stream(SnapshotUtil.ancestorsOf(present.snapshotId(), metadata::snapshot)).collect(toImmutableList());
    }
}
