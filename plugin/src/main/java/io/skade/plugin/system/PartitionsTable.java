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
import com.google.common.collect.ImmutableSet;
import io.trino.plugin.iceberg.system.IcebergPartitionColumn;
import io.trino.spi.PageBuilder;
import io.trino.spi.block.BlockBuilder;
import io.trino.spi.block.RowValueBuilder;
import io.trino.spi.block.SqlRow;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ColumnSchema;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorPageSource;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.FixedPageSource;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.type.RowType;
import io.trino.spi.type.TypeManager;
import io.trino.spi.type.TypeUtils;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Comparators;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types.NestedField;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.trino.plugin.iceberg.IcebergTypes.convertIcebergValueToTrino;
import static io.trino.plugin.iceberg.IcebergUtil.getIdentityPartitions;
import static io.trino.plugin.iceberg.TypeConverter.toTrinoType;
import static io.trino.plugin.iceberg.util.SystemTableUtil.getAllPartitionFields;
import static io.trino.plugin.iceberg.util.SystemTableUtil.getPartitionColumnType;
import static io.trino.spi.type.BigintType.BIGINT;
import static java.util.Objects.requireNonNull;

/**
 * {@code "t$partitions"}: what the data files of each partition hold. Trino's Iceberg connector has it as a view, on which a version is
 * accepted and ignored; a table refuses it. As there, it takes rights on the columns of {@code "t$files"} that it sums up.
 */
public final class PartitionsTable
        extends CoordinatorTable
{
    private static final Set<String> FILES_COLUMNS = ImmutableSet.of(
            "partition",
            "record_count",
            "file_size_in_bytes",
            "lower_bounds",
            "upper_bounds",
            "null_value_counts",
            "nan_value_counts");

    private final SchemaTableName filesTable;
    private final List<ColumnSchema> filesColumns;
    private final Table table;
    private final Optional<IcebergPartitionColumn> partitionColumn;
    private final List<PartitionField> partitionFields;
    private final List<NestedField> dataColumns;
    private final Optional<RowType> dataType;

    /**
     * @param filesTable the name of the table's {@code "t$files"}
     * @param filesColumns the columns of it that {@code table} has
     */
    public static PartitionsTable create(SchemaTableName tableName, SchemaTableName filesTable, List<ColumnMetadata> filesColumns, Table table, TypeManager typeManager)
    {
        List<ColumnSchema> summedUp = filesColumns.stream()
                .filter(column -> FILES_COLUMNS.contains(column.getName()))
                .map(ColumnMetadata::getColumnSchema)
                .collect(toImmutableList());
        List<PartitionField> partitionFields = getAllPartitionFields(table);
        Optional<IcebergPartitionColumn> partitionColumn = getPartitionColumnType(typeManager, partitionFields, table.schema());
        Set<Integer> identitySources = getIdentityPartitions(table.spec()).keySet().stream()
                .map(PartitionField::sourceId)
                .collect(toImmutableSet());
        List<NestedField> dataColumns = table.schema().columns().stream()
                .filter(column -> column.type().isPrimitiveType() && !identitySources.contains(column.fieldId()))
                .collect(toImmutableList());
        Optional<RowType> dataType = dataColumns.isEmpty() ? Optional.empty() : Optional.of(RowType.from(dataColumns.stream()
                                                                                                         .map(column -> RowType.field(column.name(), metricsType(column, typeManager)))
                                                                                                         .collect(toImmutableList())));

        ImmutableList.Builder<ColumnMetadata> columns = ImmutableList.builder();
        partitionColumn.ifPresent(column -> columns.add(new ColumnMetadata("partition", column.rowType())));
        columns.add(new ColumnMetadata("record_count", BIGINT));
        columns.add(new ColumnMetadata("file_count", BIGINT));
        columns.add(new ColumnMetadata("total_size", BIGINT));
        dataType.ifPresent(type -> columns.add(new ColumnMetadata("data", type)));
        return new PartitionsTable(new ConnectorTableMetadata(tableName, columns.build()), filesTable, summedUp, table, partitionColumn, partitionFields, dataColumns, dataType);
    }

    private PartitionsTable(
            ConnectorTableMetadata tableMetadata,
            SchemaTableName filesTable,
            List<ColumnSchema> filesColumns,
            Table table,
            Optional<IcebergPartitionColumn> partitionColumn,
            List<PartitionField> partitionFields,
            List<NestedField> dataColumns,
            Optional<RowType> dataType)
    {
        super(tableMetadata);
        this.filesTable = requireNonNull(filesTable, "filesTable is null");
        this.filesColumns = ImmutableList.copyOf(filesColumns);
        this.table = requireNonNull(table, "table is null");
        this.partitionColumn = requireNonNull(partitionColumn, "partitionColumn is null");
        this.partitionFields = ImmutableList.copyOf(partitionFields);
        this.dataColumns = ImmutableList.copyOf(dataColumns);
        this.dataType = requireNonNull(dataType, "dataType is null");
    }

    private static RowType metricsType(NestedField column, TypeManager typeManager)
    {
        io.trino.spi.type.Type type = toTrinoType(column.type(), typeManager);
        return RowType.from(ImmutableList.of(
                RowType.field("min", type),
                RowType.field("max", type),
                RowType.field("null_count", BIGINT),
                RowType.field("nan_count", BIGINT)));
    }

    @Override
    public ConnectorPageSource pageSource(ConnectorTransactionHandle transactionHandle, ConnectorSession session, TupleDomain<Integer> constraint, ConnectorAccessControl accessControl)
    {
        // the engine knows who asks and takes no other context
        accessControl.checkCanSelectFromColumns(null, filesTable, Optional.empty(), filesColumns.stream()
                .map(ColumnSchema::getName)
                .collect(toImmutableSet()));
        Unfiltered.check(accessControl, filesTable, filesColumns, "Table %s".formatted(getTableMetadata().getTable()));
        Map<List<Object>, Partition> partitions = new LinkedHashMap<>();
        try (CloseableIterable<FileScanTask> tasks = table.newScan().includeColumnStats().planFiles()) {
            for (FileScanTask task : tasks) {
                partitions.computeIfAbsent(partitionValues(task.spec(), task.file()), _ -> new Partition()).add(task.file());
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }

        PageBuilder page = new PageBuilder(getTableMetadata().getColumns().stream().map(ColumnMetadata::getType).toList());
        partitions.forEach((values, partition) -> {
            page.declarePosition();
            int channel = 0;
            if (partitionColumn.isPresent()) {
                RowType type = partitionColumn.get().rowType();
                type.writeObject(page.getBlockBuilder(channel++), partitionRow(type, values));
            }
            BIGINT.writeLong(page.getBlockBuilder(channel++), partition.recordCount);
            BIGINT.writeLong(page.getBlockBuilder(channel++), partition.fileCount);
            BIGINT.writeLong(page.getBlockBuilder(channel++), partition.totalSize);
            if (dataType.isPresent()) {
                dataType.get().writeObject(page.getBlockBuilder(channel), partition.dataRow(dataType.get()));
            }
        });
        return new FixedPageSource(ImmutableList.of(page.build()));
    }

    /**
     * The values of a file in the fields that the table's specs have together, null where the file's own spec has no such field.
     */
    private List<Object> partitionValues(PartitionSpec spec, DataFile file)
    {
        List<Object> values = new ArrayList<>();
        for (PartitionField field : partitionFields) {
            int index = indexOf(spec, field.fieldId());
            values.add(index < 0 ? null : file.partition().get(index, Object.class));
        }
        return values;
    }

    private static int indexOf(PartitionSpec spec, int fieldId)
    {
        List<PartitionField> fields = spec.fields();
        for (int i = 0; i < fields.size(); i++) {
            if (fields.get(i).fieldId() == fieldId) {
                return i;
            }
        }
        return -1;
    }

    private SqlRow partitionRow(RowType rowType, List<Object> values)
    {
        return RowValueBuilder.buildRowValue(rowType, builders -> {
            for (int i = 0; i < values.size(); i++) {
                PartitionField field = partitionFields.get(i);
                Type type = field.transform().getResultType(table.schema().findType(field.sourceId()));
                writeValue(rowType.getFields().get(i).getType(), builders.get(i), type, values.get(i));
            }
        });
    }

    private static void writeValue(io.trino.spi.type.Type trinoType, BlockBuilder builder, Type type, Object value)
    {
        TypeUtils.writeNativeValue(trinoType, builder, value == null ? null : convertIcebergValueToTrino(type, widened(type, value)));
    }

    /**
     * A value from a file written before its column got a wider type.
     */
    private static Object widened(Type type, Object value)
    {
        return switch (value) {
            case Integer number when type.typeId() == Type.TypeID.LONG -> number.longValue();
            case Float number when type.typeId() == Type.TypeID.DOUBLE -> number.doubleValue();
            default -> value;
        };
    }

    private final class Partition
    {
        private final List<Metrics> metrics = dataColumns.stream().map(Metrics::new).collect(toImmutableList());
        private long recordCount;
        private long fileCount;
        private long totalSize;

        private void add(DataFile file)
        {
            recordCount += file.recordCount();
            fileCount++;
            totalSize += file.fileSizeInBytes();
            metrics.forEach(column -> column.add(file));
        }

        private SqlRow dataRow(RowType type)
        {
            return RowValueBuilder.buildRowValue(type, builders -> {
                for (int i = 0; i < metrics.size(); i++) {
                    metrics.get(i).write((RowType) type.getFields().get(i).getType(), builders.get(i));
                }
            });
        }
    }

    /**
     * What the files of a partition say of one column, null where none of them says anything.
     */
    private static final class Metrics
    {
        private final NestedField column;
        private final Comparator<Object> comparator;
        private Object min;
        private Object max;
        private Long nullCount;
        private Long nanCount;

        private Metrics(NestedField column)
        {
            this.column = requireNonNull(column, "column is null");
            this.comparator = Comparators.forType(column.type().asPrimitiveType());
        }

        private void add(DataFile file)
        {
            Object lower = bound(file.lowerBounds());
            if (lower != null && (min == null || comparator.compare(lower, min) < 0)) {
                min = lower;
            }
            Object upper = bound(file.upperBounds());
            if (upper != null && (max == null || comparator.compare(upper, max) > 0)) {
                max = upper;
            }
            nullCount = sum(nullCount, file.nullValueCounts());
            nanCount = sum(nanCount, file.nanValueCounts());
        }

        private Object bound(Map<Integer, ByteBuffer> bounds)
        {
            ByteBuffer bound = bounds == null ? null : bounds.get(column.fieldId());
            return bound == null ? null : Conversions.fromByteBuffer(column.type(), bound);
        }

        private Long sum(Long sum, Map<Integer, Long> counts)
        {
            Long count = counts == null ? null : counts.get(column.fieldId());
            if (count == null) {
                return sum;
            }
            return sum == null ? count : Long.valueOf(sum + count);
        }

        private void write(RowType type, BlockBuilder builder)
        {
            if (min == null && max == null && nullCount == null) {
                builder.appendNull();
                return;
            }
            io.trino.spi.type.Type valueType = type.getFields().getFirst().getType();
            type.writeObject(builder, RowValueBuilder.buildRowValue(type, builders -> {
                writeValue(valueType, builders.get(0), column.type(), min);
                writeValue(valueType, builders.get(1), column.type(), max);
                TypeUtils.writeNativeValue(BIGINT, builders.get(2), nullCount);
                TypeUtils.writeNativeValue(BIGINT, builders.get(3), nanCount);
            }));
        }
    }
}
