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
import io.skade.ref.ProtectedRefs;
import io.skade.ref.Retention;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.InMemoryRecordSet;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.type.Type;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;

import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.BooleanType.BOOLEAN;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.IntegerType.INTEGER;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code "t$refs"}: the refs of a table, in the order of their names.
 */
public final class RefsTable
        extends CoordinatorTable
{
    private static final List<ColumnMetadata> COLUMNS = ImmutableList.of(
            new ColumnMetadata("name", VARCHAR),
            new ColumnMetadata("type", VARCHAR),
            new ColumnMetadata("snapshot_id", BIGINT),
            new ColumnMetadata("max_reference_age_in_ms", BIGINT),
            new ColumnMetadata("min_snapshots_to_keep", INTEGER),
            new ColumnMetadata("max_snapshot_age_in_ms", BIGINT),
            hidden("committed_at", TIMESTAMP_TZ_MILLIS),
            hidden("expires_at", TIMESTAMP_TZ_MILLIS),
            hidden("is_protected", BOOLEAN));

    private final TableMetadata metadata;

    public RefsTable(SchemaTableName tableName, TableMetadata metadata)
    {
        super(new ConnectorTableMetadata(tableName, COLUMNS));
        this.metadata = requireNonNull(metadata, "metadata is null");
    }

    private static ColumnMetadata hidden(String name, Type type)
    {
        return ColumnMetadata.builder().setName(name).setType(type).setHidden(true).build();
    }

    @Override
    public RecordCursor cursor(ConnectorTransactionHandle transactionHandle, ConnectorSession session, TupleDomain<Integer> constraint)
    {
        Set<String> protectedRefs = ProtectedRefs.of(metadata);
        InMemoryRecordSet.Builder rows = InMemoryRecordSet.builder(COLUMNS);
        new TreeMap<>(metadata.refs()).forEach((name, ref) -> {
            Snapshot snapshot = metadata.snapshot(ref.snapshotId());
            Long committedAt = snapshot == null ? null : snapshot.timestampMillis();
            rows.addRow(
                    name,
                    ref.type().name(),
                    ref.snapshotId(),
                    ref.maxRefAgeMs(),
                    ref.minSnapshotsToKeep(),
                    ref.maxSnapshotAgeMs(),
                    committedAt == null ? null : packDateTimeWithZone(committedAt, UTC_KEY),
                    expiresAt(name),
                    protectedRefs.contains(name));
        });
        return rows.build().cursor();
    }

    /**
     * Null if the ref never expires, and for a time that a timestamp cannot hold.
     */
    private Long expiresAt(String name)
    {
        OptionalLong expiresAt = Retention.expiresAt(metadata, name);
        try {
            return expiresAt.isEmpty() ? null : packDateTimeWithZone(expiresAt.getAsLong(), UTC_KEY);
        }
        catch (IllegalArgumentException _) {
            return null;
        }
    }
}
