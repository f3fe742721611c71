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
import io.airlift.slice.SizeOf;
import io.trino.plugin.iceberg.IcebergFileFormat;
import io.trino.plugin.iceberg.IcebergSplit.ParquetFileDecryptionData;
import io.trino.plugin.iceberg.delete.DeleteFile;
import io.trino.spi.block.Block;
import io.trino.spi.connector.ConnectorSplit;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

import static io.airlift.slice.SizeOf.estimatedSizeOf;
import static io.airlift.slice.SizeOf.sizeOf;
import static java.util.Objects.requireNonNull;

/**
 * The rows of a data file that a snapshot inserted or deleted: those that are left with one set of delete files and, if there is another set, are gone
 * with that.
 *
 * @param ordinal the place of the snapshot among those that are shown
 * @param committedAtMillis when the snapshot was committed, since the epoch
 * @param deletes the delete files with which the rows are there
 * @param otherDeletes the delete files with which the rows are gone; empty if the file as a whole was added or removed
 */
public record RefDiffSplit(
        ChangeType changeType,
        long snapshotId,
        int ordinal,
        long committedAtMillis,
        String path,
        long fileSize,
        long recordCount,
        IcebergFileFormat fileFormat,
        int specId,
        List<Block> partitionValues,
        OptionalLong dataSequenceNumber,
        List<DeleteFile> deletes,
        Optional<List<DeleteFile>> otherDeletes,
        Optional<ParquetFileDecryptionData> decryptionData)
        implements ConnectorSplit
{
    private static final int INSTANCE_SIZE = SizeOf.instanceSize(RefDiffSplit.class);

    /**
     * What became of the rows, with the names that Trino's {@code table_changes} gives it.
     */
    public enum ChangeType
    {
        INSERT("insert"),
        DELETE("delete"),
        /**/;

        private final String value;

        ChangeType(String value)
        {
            this.value = value;
        }

        String value()
        {
            return value;
        }
    }

    public RefDiffSplit
    {
        requireNonNull(changeType, "changeType is null");
        requireNonNull(path, "path is null");
        requireNonNull(fileFormat, "fileFormat is null");
        partitionValues = ImmutableList.copyOf(partitionValues);
        requireNonNull(dataSequenceNumber, "dataSequenceNumber is null");
        deletes = ImmutableList.copyOf(deletes);
        otherDeletes = otherDeletes.map(ImmutableList::copyOf);
        requireNonNull(decryptionData, "decryptionData is null");
    }

    @Override
    public long getRetainedSizeInBytes()
    {
        return INSTANCE_SIZE
                + estimatedSizeOf(path)
                + estimatedSizeOf(partitionValues, Block::getRetainedSizeInBytes)
                + estimatedSizeOf(deletes, DeleteFile::retainedSizeInBytes)
                + sizeOf(otherDeletes, files -> estimatedSizeOf(files, DeleteFile::retainedSizeInBytes))
                + sizeOf(decryptionData, ParquetFileDecryptionData::getRetainedSizeInBytes);
    }
}
