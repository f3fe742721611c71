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
import io.airlift.slice.Slices;
import io.trino.plugin.iceberg.IcebergColumnHandle;
import io.trino.plugin.iceberg.IcebergPageSourceProviderFactory;
import io.trino.plugin.iceberg.IcebergTableCredentials;
import io.trino.plugin.iceberg.PartitionData;
import io.trino.plugin.iceberg.delete.DeleteFile;
import io.trino.plugin.iceberg.delete.DeletionVector;
import io.trino.spi.Page;
import io.trino.spi.block.Block;
import io.trino.spi.block.RunLengthEncodedBlock;
import io.trino.spi.connector.ConnectorPageSource;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.DynamicFilter;
import io.trino.spi.connector.SourcePage;
import io.trino.spi.function.table.TableFunctionProcessorState;
import io.trino.spi.function.table.TableFunctionSplitProcessor;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.type.TypeManager;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.mapping.NameMappingParser;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types.NestedField;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongPredicate;

import static io.trino.memory.context.AggregatedMemoryContext.newSimpleAggregatedMemoryContext;
import static io.trino.plugin.iceberg.IcebergUtil.getColumnHandle;
import static io.trino.plugin.iceberg.IcebergUtil.getTopLevelColumns;
import static io.trino.spi.function.table.TableFunctionProcessorState.Finished.FINISHED;
import static io.trino.spi.function.table.TableFunctionProcessorState.Processed.produced;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.IntegerType.INTEGER;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.TypeUtils.writeNativeValue;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.MetadataColumns.ROW_POSITION;

/**
 * Reads the rows of a {@link RefDiffSplit}, with the reader of Trino's Iceberg connector: it leaves out what delete files delete. To find the rows that
 * are gone with other delete files, the positions of the rows that stay are read first.
 */
final class RefDiffProcessor
        implements TableFunctionSplitProcessor
{
    private final ConnectorSession session;
    private final IcebergPageSourceProviderFactory pageSources;
    private final TypeManager typeManager;
    private final RefDiffFunction.Handle handle;
    private final RefDiffSplit split;
    private final IcebergTableCredentials credentials;
    private final Schema schema;
    private final List<IcebergColumnHandle> columns;
    private final IcebergColumnHandle positionColumn;
    private final List<Block> changeValues;

    // null until the first call
    private ConnectorPageSource rows;
    private LongPredicate stays;

    RefDiffProcessor(
            ConnectorSession session,
            IcebergPageSourceProviderFactory pageSources,
            TypeManager typeManager,
            RefDiffFunction.Handle handle,
            RefDiffSplit split,
            IcebergTableCredentials credentials)
    {
        this.session = requireNonNull(session, "session is null");
        this.pageSources = requireNonNull(pageSources, "pageSources is null");
        this.typeManager = requireNonNull(typeManager, "typeManager is null");
        this.handle = requireNonNull(handle, "handle is null");
        this.split = requireNonNull(split, "split is null");
        this.credentials = requireNonNull(credentials, "credentials is null");
        this.schema = SchemaParser.fromJson(handle.schemaJson());
        this.columns = getTopLevelColumns(schema, typeManager);
        this.positionColumn = getColumnHandle(ROW_POSITION, typeManager);
        this.changeValues = ImmutableList.of(
                writeNativeValue(VARCHAR, Slices.utf8Slice(split.changeType().value())),
                writeNativeValue(BIGINT, split.snapshotId()),
                writeNativeValue(TIMESTAMP_TZ_MILLIS, packDateTimeWithZone(split.committedAtMillis(), UTC_KEY)),
                writeNativeValue(INTEGER, (long) split.ordinal()));
    }

    @Override
    public TableFunctionProcessorState process()
    {
        if (rows == null) {
            stays = split.otherDeletes().map(this::readPositions).orElse(_ -> false);
            rows = open(split.otherDeletes().isEmpty() ? columns : ImmutableList.<IcebergColumnHandle>builder().addAll(columns).add(positionColumn).build(), split.deletes());
        }
        while (!rows.isFinished()) {
            SourcePage page = rows.getNextSourcePage();
            if (page == null) {
                continue;
            }
            if (split.otherDeletes().isPresent()) {
                selectGone(page);
            }
            if (page.getPositionCount() > 0) {
                return produced(withChange(page));
            }
        }
        return FINISHED;
    }

    /**
     * The positions of the rows that are left with some delete files.
     */
    private LongPredicate readPositions(List<DeleteFile> deletes)
    {
        DeletionVector.Builder positions = DeletionVector.builder();
        try (ConnectorPageSource source = open(ImmutableList.of(positionColumn), deletes)) {
            while (!source.isFinished()) {
                SourcePage page = source.getNextSourcePage();
                if (page == null) {
                    continue;
                }
                Block block = page.getBlock(0);
                for (int i = 0; i < block.getPositionCount(); i++) {
                    positions.add(BIGINT.getLong(block, i));
                }
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // a set of positions, here of those that are not deleted
        Optional<DeletionVector> set = positions.build();
        return position -> set.isPresent() && set.get().isRowDeleted(position);
    }

    private void selectGone(SourcePage page)
    {
        Block positions = page.getBlock(columns.size());
        int[] gone = new int[page.getPositionCount()];
        int count = 0;
        for (int i = 0; i < gone.length; i++) {
            if (!stays.test(BIGINT.getLong(positions, i))) {
                gone[count++] = i;
            }
        }
        page.selectPositions(gone, 0, count);
    }

    private Page withChange(SourcePage page)
    {
        Block[] blocks = new Block[columns.size() + changeValues.size()];
        for (int i = 0; i < columns.size(); i++) {
            blocks[i] = page.getBlock(i);
        }
        for (int i = 0; i < changeValues.size(); i++) {
            blocks[columns.size() + i] = RunLengthEncodedBlock.create(changeValues.get(i), page.getPositionCount());
        }
        return new Page(page.getPositionCount(), blocks);
    }

    private ConnectorPageSource open(List<IcebergColumnHandle> columns, List<DeleteFile> deletes)
    {
        PartitionSpec spec = PartitionSpecParser.fromJson(SchemaParser.fromJson(handle.tableSchemaJson()), handle.partitionSpecJsons().get(split.specId()));
        Type[] partitionTypes = spec.partitionType().fields().stream().map(NestedField::type).toArray(Type[]::new);
        // a provider of its own: one keeps the equality deletes that it has read and applies all of them
        return pageSources.createPageSourceProvider().createPageSource(
                session,
                columns,
                schema,
                spec,
                PartitionData.fromBlocks(split.partitionValues(), partitionTypes, typeManager),
                deletes,
                DynamicFilter.EMPTY,
                TupleDomain.all(),
                TupleDomain.all(),
                split.path(),
                0,
                split.fileSize(),
                split.fileSize(),
                split.recordCount(),
                split.fileFormat(),
                credentials,
                split.dataSequenceNumber(),
                OptionalLong.empty(),
                handle.nameMappingJson().map(NameMappingParser::fromJson),
                newSimpleAggregatedMemoryContext(),
                split.decryptionData());
    }

    @Override
    public void close()
            throws IOException
    {
        if (rows != null) {
            rows.close();
        }
    }
}
