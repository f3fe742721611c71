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
import com.google.common.collect.Iterators;
import com.google.common.collect.Sets;
import io.skade.plugin.function.RefDiffSplit.ChangeType;
import io.trino.plugin.iceberg.IcebergFileFormat;
import io.trino.plugin.iceberg.IcebergSplit.ParquetFileDecryptionData;
import io.trino.plugin.iceberg.IcebergSplitSource;
import io.trino.plugin.iceberg.delete.DeleteFile;
import io.trino.spi.TrinoException;
import io.trino.spi.block.Block;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.DynamicFilterSnapshot;
import io.trino.spi.type.TypeManager;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotChanges;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Type.TypeID;
import org.apache.iceberg.types.Types.NestedField;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.plugin.function.RefDiffSplit.ChangeType.DELETE;
import static io.skade.plugin.function.RefDiffSplit.ChangeType.INSERT;
import static io.trino.plugin.iceberg.IcebergTypes.convertIcebergValueToTrino;
import static io.trino.plugin.iceberg.TypeConverter.toTrinoType;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.type.TypeUtils.writeNativeValue;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.CompletableFuture.completedFuture;

/**
 * What each snapshot changed, file by file. A snapshot is looked at when all before it are given out.
 */
final class RefDiffSplitSource
        implements ConnectorSplitSource
{
    private final Table table;
    private final Schema schema;
    private final TypeManager typeManager;
    private final Iterator<RefDiffSplit> splits;

    /**
     * @param schema the schema of the rows
     * @param snapshotIds the snapshots to show, oldest first
     */
    RefDiffSplitSource(Table table, Schema schema, List<Long> snapshotIds, TypeManager typeManager)
    {
        this.table = requireNonNull(table, "table is null");
        this.schema = requireNonNull(schema, "schema is null");
        this.typeManager = requireNonNull(typeManager, "typeManager is null");
        Iterator<Integer> ordinals = IntStream.range(0, snapshotIds.size()).iterator();
        this.splits = Iterators.concat(Iterators.transform(ordinals, ordinal -> changes(table.snapshot(snapshotIds.get(ordinal)), ordinal).iterator()));
    }

    @Override
    public CompletableFuture<List<ConnectorSplit>> getNextBatch(int maxSize, DynamicFilterSnapshot dynamicFilterSnapshot)
    {
        return completedFuture(ImmutableList.copyOf(Iterators.limit(splits, maxSize)));
    }

    @Override
    public boolean isFinished()
    {
        return !splits.hasNext();
    }

    @Override
    public void close() {}

    private List<RefDiffSplit> changes(Snapshot snapshot, int ordinal)
    {
        SnapshotChanges changes = SnapshotChanges.builderFor(table).snapshot(snapshot).build();
        Collection<DataFile> added = ImmutableList.copyOf(changes.addedDataFiles());
        Collection<DataFile> removed = ImmutableList.copyOf(changes.removedDataFiles());
        boolean deletesChanged = changes.addedDeleteFiles().iterator().hasNext() || changes.removedDeleteFiles().iterator().hasNext();
        Optional<Snapshot> parent = Optional.ofNullable(snapshot.parentId()).map(table::snapshot);
        Map<String, FileWithDeletes> before = parent
                .filter(value -> (deletesChanged || !removed.isEmpty()) && !value.deleteManifests(table.io()).isEmpty())
                .map(this::filesWithDeletes)
                .orElseGet(ImmutableMap::of);
        // no delete file is older than the files that it applies to
        Map<String, FileWithDeletes> after = deletesChanged ? filesWithDeletes(snapshot) : ImmutableMap.of();

        ImmutableList.Builder<RefDiffSplit> result = ImmutableList.builder();
        for (DataFile file : added) {
            result.add(split(INSERT, snapshot, ordinal, file, deletes(after, file.location()), Optional.empty()));
        }
        for (DataFile file : removed) {
            result.add(split(DELETE, snapshot, ordinal, file, deletes(before, file.location()), Optional.empty()));
        }
        if (deletesChanged) {
            Set<String> whole = Sets.union(locations(added), locations(removed));
            for (String path : Sets.difference(Sets.union(before.keySet(), after.keySet()), whole)) {
                DataFile file = after.containsKey(path) ? after.get(path).file() : before.get(path).file();
                List<DeleteFile> deletesBefore = deletes(before, path);
                List<DeleteFile> deletesAfter = deletes(after, path);
                if (!deletesBefore.containsAll(deletesAfter)) {
                    result.add(split(DELETE, snapshot, ordinal, file, deletesBefore, Optional.of(deletesAfter)));
                }
                if (!deletesAfter.containsAll(deletesBefore)) {
                    // replaced by others that hold the same rows, most likely: then nothing comes back
                    result.add(split(INSERT, snapshot, ordinal, file, deletesAfter, Optional.of(deletesBefore)));
                }
            }
        }
        return result.build();
    }

    private static Set<String> locations(Collection<DataFile> files)
    {
        return files.stream().map(DataFile::location).collect(toImmutableSet());
    }

    private record FileWithDeletes(DataFile file, List<DeleteFile> deletes) {}

    private static List<DeleteFile> deletes(Map<String, FileWithDeletes> files, String path)
    {
        return files.containsKey(path) ? files.get(path).deletes() : ImmutableList.of();
    }

    /**
     * The data files of a snapshot to which delete files apply.
     */
    private Map<String, FileWithDeletes> filesWithDeletes(Snapshot snapshot)
    {
        Map<String, FileWithDeletes> files = new HashMap<>();
        try (CloseableIterable<FileScanTask> tasks = table.newScan().useSnapshot(snapshot.snapshotId()).planFiles()) {
            for (FileScanTask task : tasks) {
                if (!task.deletes().isEmpty()) {
                    files.put(task.file().location(), new FileWithDeletes(task.file(), task.deletes().stream().map(this::deleteFile).collect(toImmutableList())));
                }
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return files;
    }

    private DeleteFile deleteFile(org.apache.iceberg.DeleteFile file)
    {
        if (file.equalityFieldIds() != null && file.equalityFieldIds().stream().anyMatch(id -> schema.findField(id) == null)) {
            throw new TrinoException(NOT_SUPPORTED, "Function ref_diff does not support equality deletes by a column that is not there any more: %s".formatted(file.location()));
        }
        return DeleteFile.fromIceberg(file, decryptionData(file));
    }

    private RefDiffSplit split(ChangeType changeType, Snapshot snapshot, int ordinal, DataFile file, List<DeleteFile> deletes, Optional<List<DeleteFile>> otherDeletes)
    {
        return new RefDiffSplit(
                changeType,
                snapshot.snapshotId(),
                ordinal,
                snapshot.timestampMillis(),
                file.location(),
                file.fileSizeInBytes(),
                file.recordCount(),
                IcebergFileFormat.fromIceberg(file.format()),
                file.specId(),
                partitionValues(file),
                file.dataSequenceNumber() == null ? OptionalLong.empty() : OptionalLong.of(file.dataSequenceNumber()),
                deletes,
                otherDeletes,
                decryptionData(file));
    }

    private List<Block> partitionValues(DataFile file)
    {
        List<NestedField> fields = table.specs().get(file.specId()).partitionType().fields();
        return IntStream.range(0, fields.size())
                .mapToObj(i -> {
                    Type type = fields.get(i).type();
                    return writeNativeValue(toTrinoType(type, typeManager), convertIcebergValueToTrino(type, partitionValue(type, file.partition().get(i, Object.class))));
                })
                .collect(toImmutableList());
    }

    /**
     * A manifest that is older than the type of a column has values of the narrower type.
     */
    private static Object partitionValue(Type type, Object value)
    {
        return switch (value) {
            case Integer narrow when type.typeId() == TypeID.LONG -> narrow.longValue();
            case Float narrow when type.typeId() == TypeID.DOUBLE -> narrow.doubleValue();
            case byte[] bytes -> ByteBuffer.wrap(bytes);
            case null, default -> value;
        };
    }

    private Optional<ParquetFileDecryptionData> decryptionData(ContentFile<?> file)
    {
        return IcebergSplitSource.parquetFileDecryptionData(file.format(), file.location(), file.fileSizeInBytes(), file.keyMetadata(), table.io(), table.encryption());
    }
}
