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
package io.skade.ref;

import com.google.common.collect.ImmutableList;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataOperations;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotChanges;
import org.apache.iceberg.Table;

import java.util.List;
import java.util.Objects;

import static java.util.Objects.requireNonNull;

/**
 * The files that one snapshot added and removed. Removed ones come without their statistics.
 */
record FileChanges(Snapshot snapshot, List<DataFile> addedDataFiles, List<DataFile> removedDataFiles, List<DeleteFile> addedDeleteFiles, List<DeleteFile> removedDeleteFiles)
{
    FileChanges
    {
        requireNonNull(snapshot, "snapshot is null");
        addedDataFiles = ImmutableList.copyOf(addedDataFiles);
        removedDataFiles = ImmutableList.copyOf(removedDataFiles);
        addedDeleteFiles = ImmutableList.copyOf(addedDeleteFiles);
        removedDeleteFiles = ImmutableList.copyOf(removedDeleteFiles);
    }

    static FileChanges of(Table table, Snapshot snapshot)
    {
        SnapshotChanges changes = SnapshotChanges.builderFor(table).snapshot(snapshot).build();
        return new FileChanges(
                snapshot,
                ImmutableList.copyOf(changes.addedDataFiles()),
                ImmutableList.copyOf(changes.removedDataFiles()),
                ImmutableList.copyOf(changes.addedDeleteFiles()),
                ImmutableList.copyOf(changes.removedDeleteFiles()));
    }

    long snapshotId()
    {
        return snapshot.snapshotId();
    }

    /**
     * What the snapshot did to the table, one of {@link DataOperations}. The first version of the format does not always say it.
     */
    String operation()
    {
        return Objects.requireNonNullElse(snapshot.operation(), DataOperations.OVERWRITE);
    }

    boolean isEmpty()
    {
        return all().isEmpty();
    }

    /**
     * Whether rows were only added.
     */
    boolean isAppend()
    {
        return operation().equals(DataOperations.APPEND) && removedDataFiles.isEmpty() && addedDeleteFiles.isEmpty() && removedDeleteFiles.isEmpty();
    }

    /**
     * Whether the snapshot has the rows of its parent, in other files.
     */
    boolean isReplace()
    {
        return operation().equals(DataOperations.REPLACE);
    }

    List<ContentFile<?>> added()
    {
        return ImmutableList.<ContentFile<?>>builder().addAll(addedDataFiles).addAll(addedDeleteFiles).build();
    }

    List<ContentFile<?>> removed()
    {
        return ImmutableList.<ContentFile<?>>builder().addAll(removedDataFiles).addAll(removedDeleteFiles).build();
    }

    List<ContentFile<?>> all()
    {
        return ImmutableList.<ContentFile<?>>builder().addAll(removed()).addAll(added()).build();
    }
}
