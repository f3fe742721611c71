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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import com.google.inject.Inject;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.Transactions;
import io.skade.ref.Divergence;
import io.skade.ref.RefTarget;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.function.table.ConnectorTableFunctionHandle;
import io.trino.spi.function.table.Descriptor;
import io.trino.spi.function.table.TableFunctionAnalysis;
import io.trino.spi.type.Type;
import io.trino.spi.type.TypeManager;
import org.apache.iceberg.DataOperations;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.types.Types.NestedField;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.plugin.catalog.SkadeTables.schemaTableName;
import static io.trino.plugin.iceberg.IcebergColumnHandle.DATA_CHANGE_ORDINAL_NAME;
import static io.trino.plugin.iceberg.IcebergColumnHandle.DATA_CHANGE_TIMESTAMP_NAME;
import static io.trino.plugin.iceberg.IcebergColumnHandle.DATA_CHANGE_TYPE_NAME;
import static io.trino.plugin.iceberg.IcebergColumnHandle.DATA_CHANGE_VERSION_NAME;
import static io.trino.plugin.iceberg.TypeConverter.toTrinoType;
import static io.trino.spi.StandardErrorCode.INVALID_FUNCTION_ARGUMENT;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.function.table.ReturnTypeSpecification.GenericTable.GENERIC_TABLE;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.IntegerType.INTEGER;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;

/**
 * {@code ref_diff}: the rows that each snapshot of {@code to_ref} inserted and deleted since the merge base, the nearest snapshot that {@code to_ref}
 * and {@code from_ref} have in common. Snapshots that only rewrite files are left out.
 *
 * <p>The rows have the columns of {@code to_ref}, followed by those of Trino's {@code table_changes}.
 */
public final class RefDiffFunction
        extends RefFunction
{
    private static final Map<String, Type> CHANGE_COLUMNS = ImmutableMap.of(
            DATA_CHANGE_TYPE_NAME, VARCHAR,
            DATA_CHANGE_VERSION_NAME, BIGINT,
            DATA_CHANGE_TIMESTAMP_NAME, TIMESTAMP_TZ_MILLIS,
            DATA_CHANGE_ORDINAL_NAME, INTEGER);

    private final TypeManager typeManager;

    @Inject
    public RefDiffFunction(Transactions transactions, SkadeTables tables, TypeManager typeManager)
    {
        super(transactions, tables, "ref_diff", GENERIC_TABLE, required("schema_name"), required("table_name"), required("from_ref"), required("to_ref"));
        this.typeManager = requireNonNull(typeManager, "typeManager is null");
    }

    @Override
    TableFunctionAnalysis analyze(Call call)
    {
        RefTarget target = call.target();
        TableMetadata metadata = target.metadata();
        SchemaTableName table = schemaTableName(target.name());
        String from = call.string("from_ref");
        String to = call.string("to_ref");
        OptionalLong fromSnapshotId = call.snapshotId(target, "from_ref");
        OptionalLong toSnapshotId = call.snapshotId(target, "to_ref");
        Schema schema = schema(metadata, to);
        call.checkCanSelect(table, schema, Optional.of(from));
        call.checkCanSelect(table, schema, Optional.of(to));
        // those on columns that were renamed since count, too
        call.checkNoFiltersOrMasks(table, columns(metadata.schema()));
        call.checkNoFiltersOrMasks(table, columns(schema));
        SnapshotRef ref = metadata.ref(to);
        if (ref != null && ref.isBranch()) {
            call.checkReadable(target, to);
        }
        return TableFunctionAnalysis.builder()
                .returnedType(returnedType(table, to, schema))
                .handle(new Handle(
                        table,
                        SchemaParser.toJson(schema),
                        SchemaParser.toJson(metadata.schema()),
                        ImmutableMap.copyOf(Maps.transformValues(metadata.specsById(), PartitionSpecParser::toJson)),
                        Optional.ofNullable(metadata.property(TableProperties.DEFAULT_NAME_MAPPING, null)),
                        changes(target, from, fromSnapshotId, to, toSnapshotId)))
                .build();
    }

    /**
     * A branch has the present schema of the table, a tag that of its snapshot.
     */
    private static Schema schema(TableMetadata metadata, String name)
    {
        SnapshotRef ref = metadata.ref(name);
        if (ref == null || ref.isBranch()) {
            return metadata.schema();
        }
        Integer schemaId = metadata.snapshot(ref.snapshotId()).schemaId();
        return schemaId == null ? metadata.schema() : metadata.schemasById().getOrDefault(schemaId, metadata.schema());
    }

    private Map<String, Type> columns(Schema schema)
    {
        ImmutableMap.Builder<String, Type> columns = ImmutableMap.builder();
        for (NestedField column : schema.columns()) {
            columns.put(column.name().toLowerCase(ENGLISH), toTrinoType(column.type(), typeManager));
        }
        return columns.buildOrThrow();
    }

    private Descriptor returnedType(SchemaTableName table, String to, Schema schema)
    {
        ImmutableList.Builder<Descriptor.Field> fields = ImmutableList.builder();
        columns(schema).forEach((name, type) -> {
            if (CHANGE_COLUMNS.containsKey(name)) {
                throw new TrinoException(NOT_SUPPORTED, "Function ref_diff gives a column %s, but %s has one of that name at %s".formatted(name, table, to));
            }
            fields.add(new Descriptor.Field(name, Optional.of(type)));
        });
        CHANGE_COLUMNS.forEach((name, type) -> fields.add(new Descriptor.Field(name, Optional.of(type))));
        return new Descriptor(fields.build());
    }

    /**
     * The snapshots since the merge base that change rows, oldest first.
     */
    private static List<Long> changes(RefTarget target, String from, OptionalLong fromSnapshotId, String to, OptionalLong toSnapshotId)
    {
        if (toSnapshotId.isEmpty()) {
            return ImmutableList.of();
        }
        Divergence divergence = Divergence.between(target.metadata(), toSnapshotId.getAsLong(), fromSnapshotId);
        // what has no snapshot yet is before all others
        boolean fromTheStart = fromSnapshotId.isEmpty() && divergence.branch().stoppedAt().isEmpty();
        if (divergence.mergeBase().isPresent() || fromTheStart) {
            return divergence.branch().snapshots().stream()
                    .filter(snapshot -> !DataOperations.REPLACE.equals(snapshot.operation()))
                    .map(Snapshot::snapshotId)
                    .collect(toImmutableList());
        }
        throw new TrinoException(INVALID_FUNCTION_ARGUMENT, "Cannot compare %s of %s with %s: no common ancestor of %s and %s is left".formatted(
                to,
                target.name(),
                from,
                toSnapshotId.getAsLong(),
                fromSnapshotId.isPresent() ? fromSnapshotId.getAsLong() : "no snapshot"));
    }

    /**
     * @param schemaJson the schema of the rows
     * @param tableSchemaJson the present schema of the table, to which the partition specs are bound
     * @param partitionSpecJsons by their ids
     * @param snapshotIds the snapshots to show, oldest first
     */
    public record Handle(
            SchemaTableName table,
            String schemaJson,
            String tableSchemaJson,
            Map<Integer, String> partitionSpecJsons,
            Optional<String> nameMappingJson,
            List<Long> snapshotIds)
            implements ConnectorTableFunctionHandle
    {
        public Handle
        {
            requireNonNull(table, "table is null");
            requireNonNull(schemaJson, "schemaJson is null");
            requireNonNull(tableSchemaJson, "tableSchemaJson is null");
            partitionSpecJsons = ImmutableMap.copyOf(partitionSpecJsons);
            requireNonNull(nameMappingJson, "nameMappingJson is null");
            snapshotIds = ImmutableList.copyOf(snapshotIds);
        }
    }
}
