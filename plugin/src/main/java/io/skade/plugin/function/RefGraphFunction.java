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

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedMap;
import com.google.common.primitives.Longs;
import com.google.inject.Inject;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.TransactionState;
import io.skade.plugin.catalog.Transactions;
import io.skade.ref.RefTarget;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableNotFoundException;
import io.trino.spi.function.table.TableFunctionAnalysis;
import io.trino.spi.type.Type;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SnapshotSummary;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.util.SnapshotUtil;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import static com.google.common.base.Strings.nullToEmpty;
import static io.skade.plugin.catalog.SkadeTables.schemaTableName;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code ref_graph}: the snapshots that the refs of a table reach, drawn as {@code git log --graph --all --decorate} draws commits. Lines that only draw
 * edges have nothing but the drawing.
 */
public final class RefGraphFunction
        extends RefFunction
{
    private static final Map<String, Type> COLUMNS = ImmutableMap.<String, Type>builder()
            .put("graph", VARCHAR)
            .put("snapshot_id", BIGINT)
            .put("refs", VARCHAR)
            .put("operation", VARCHAR)
            .put("committed_at", TIMESTAMP_TZ_MILLIS)
            .put("added_records", BIGINT)
            .put("deleted_records", BIGINT)
            .buildOrThrow();

    @Inject
    public RefGraphFunction(Transactions transactions, SkadeTables tables)
    {
        super(transactions, tables, "ref_graph", rows(COLUMNS), required("schema_name"), required("table_name"));
    }

    @Override
    TableFunctionAnalysis analyze(Call call)
    {
        RefTarget target = call.target();
        SchemaTableName table = schemaTableName(target.name());
        call.checkCanSelect(table, target.metadata().schema(), Optional.empty());
        return TableFunctionAnalysis.builder()
                .handle(new Handle(table))
                .build();
    }

    public record Handle(SchemaTableName table)
            implements RowsHandle
    {
        public Handle
        {
            requireNonNull(table, "table is null");
        }

        @Override
        public RowsSplit rows(ConnectorSession session, SkadeTables tables, TransactionState state)
        {
            TableMetadata metadata = tables.findMetadata(session, table, state).orElseThrow(() -> new TableNotFoundException(table));
            List<List<Object>> rows = new ArrayList<>();
            for (SnapshotGraph.Line line : SnapshotGraph.draw(reachable(metadata))) {
                if (line.snapshot().isEmpty()) {
                    rows.add(Arrays.asList(line.drawing(), null, null, null, null, null, null));
                    continue;
                }
                Snapshot snapshot = line.snapshot().get();
                rows.add(Arrays.asList(
                        line.drawing(),
                        snapshot.snapshotId(),
                        refs(metadata, snapshot.snapshotId()),
                        snapshot.operation(),
                        packDateTimeWithZone(snapshot.timestampMillis(), session.getTimeZoneKey()),
                        count(snapshot, SnapshotSummary.ADDED_RECORDS_PROP),
                        count(snapshot, SnapshotSummary.DELETED_RECORDS_PROP)));
            }
            return RowsSplit.of(COLUMNS.values(), rows);
        }
    }

    private static Collection<Snapshot> reachable(TableMetadata metadata)
    {
        Map<Long, Snapshot> reachable = new LinkedHashMap<>();
        for (SnapshotRef ref : metadata.refs().values()) {
            for (Snapshot snapshot : SnapshotUtil.ancestorsOf(ref.snapshotId(), metadata::snapshot)) {
                if (reachable.putIfAbsent(snapshot.snapshotId(), snapshot) != null) {
                    break;
                }
            }
        }
        return reachable.values();
    }

    /**
     * The refs at a snapshot, {@code main} first, then by name; null if there is none.
     */
    private static String refs(TableMetadata metadata, long snapshotId)
    {
        Map<String, SnapshotRef> sorted = ImmutableSortedMap.copyOf(metadata.refs());
        String refs = Stream.concat(
                        sorted.entrySet().stream().filter(ref -> ref.getKey().equals(MAIN_BRANCH)),
                        sorted.entrySet().stream().filter(ref -> !ref.getKey().equals(MAIN_BRANCH)))
                .filter(ref -> ref.getValue().snapshotId() == snapshotId)
                .map(ref -> ref.getValue().isTag() ? "tag: " + ref.getKey() : ref.getKey())
                .collect(joining(", "));
        return refs.isEmpty() ? null : refs;
    }

    private static Long count(Snapshot snapshot, String property)
    {
        return Longs.tryParse(nullToEmpty(snapshot.summary().get(property)));
    }
}
