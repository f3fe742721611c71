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
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.util.SnapshotUtil;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import static io.skade.plugin.catalog.SkadeTables.schemaTableName;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static java.util.Objects.requireNonNull;

/**
 * {@code ancestors_of}: the snapshot of a ref and those behind it, newest first, as far back as they are not expired.
 */
public final class AncestorsOfFunction
        extends RefFunction
{
    private static final Map<String, Type> COLUMNS = ImmutableMap.of(
            "snapshot_id", BIGINT,
            "committed_at", TIMESTAMP_TZ_MILLIS);

    @Inject
    public AncestorsOfFunction(Transactions transactions, SkadeTables tables)
    {
        super(transactions, tables, "ancestors_of", rows(COLUMNS), required("schema_name"), required("table_name"), required("ref"));
    }

    @Override
    TableFunctionAnalysis analyze(Call call)
    {
        RefTarget target = call.target();
        SchemaTableName table = schemaTableName(target.name());
        call.checkCanSelect(table, target.metadata().schema(), Optional.of(call.string("ref")));
        return TableFunctionAnalysis.builder()
                .handle(new Handle(table, call.snapshotId(target, "ref")))
                .build();
    }

    public record Handle(SchemaTableName table, OptionalLong snapshotId)
            implements RowsHandle
    {
        public Handle
        {
            requireNonNull(table, "table is null");
            requireNonNull(snapshotId, "snapshotId is null");
        }

        @Override
        public RowsSplit rows(ConnectorSession session, SkadeTables tables, TransactionState state)
        {
            TableMetadata metadata = tables.findMetadata(session, table, state).orElseThrow(() -> new TableNotFoundException(table));
            List<List<Object>> rows = new ArrayList<>();
            if (snapshotId.isPresent()) {
                for (Snapshot snapshot : SnapshotUtil.ancestorsOf(snapshotId.getAsLong(), metadata::snapshot)) {
                    rows.add(Arrays.asList(snapshot.snapshotId(), packDateTimeWithZone(snapshot.timestampMillis(), session.getTimeZoneKey())));
                }
            }
            return RowsSplit.of(COLUMNS.values(), rows);
        }
    }
}
