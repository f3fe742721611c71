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

import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.util.ContentFileUtil;
import org.apache.iceberg.util.PartitionMap;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * What a row of snapshots did to a table taken together: the files that are there after the last but were not before the first, and those that no
 * longer are, each with the snapshot that did it.
 */
final class NetChange
{
    private final Map<Integer, PartitionSpec> specs;
    private final Map<FileKey, FileChange> added = new LinkedHashMap<>();
    private final Map<FileKey, FileChange> removed = new LinkedHashMap<>();
    private final PartitionMap<Long> partitions;
    private final Map<Integer, Long> changedSpecs = new HashMap<>();

    /**
     * @param changes oldest first
     */
    NetChange(Map<Integer, PartitionSpec> specs, List<FileChanges> changes)
    {
        this.specs = requireNonNull(specs, "specs is null");
        this.partitions = PartitionMap.create(specs);
        for (FileChanges change : changes) {
            change.removed().forEach(file -> put(change, file, added, removed));
            change.added().forEach(file -> put(change, file, removed, added));
        }
        Stream.concat(removed.values().stream(), added.values().stream()).forEach(change -> {
            partitions.put(change.file().specId(), change.file().partition(), change.snapshotId());
            changedSpecs.put(change.file().specId(), change.snapshotId());
        });
    }

    private static void put(FileChanges change, ContentFile<?> file, Map<FileKey, FileChange> opposite, Map<FileKey, FileChange> changes)
    {
        FileKey key = FileKey.of(file);
        if (opposite.remove(key) == null) {
            changes.put(key, new FileChange(change.snapshotId(), file));
        }
    }

    Collection<FileChange> added()
    {
        return Collections.unmodifiableCollection(added.values());
    }

    Collection<FileChange> removed()
    {
        return Collections.unmodifiableCollection(removed.values());
    }

    Optional<FileChange> findAdded(ContentFile<?> file)
    {
        return Optional.ofNullable(added.get(FileKey.of(file)));
    }

    Optional<FileChange> findRemoved(ContentFile<?> file)
    {
        return Optional.ofNullable(removed.get(FileKey.of(file)));
    }

    Optional<FileChange> findRemovedDataFile(String location)
    {
        return Optional.ofNullable(removed.get(FileKey.ofDataFile(location)));
    }

    /**
     * A delete file that was added and may delete rows of a data file.
     *
     * @param sibling the data file, or a delete file of its partition
     */
    Optional<FileChange> findDeletes(String dataFile, ContentFile<?> sibling)
    {
        return added.values().stream()
                .filter(change -> change.file() instanceof DeleteFile deletes && mayDelete(deletes, dataFile, sibling))
                .findFirst();
    }

    private boolean mayDelete(DeleteFile deletes, String dataFile, ContentFile<?> sibling)
    {
        if (deletes.content() == FileContent.EQUALITY_DELETES && specs.get(deletes.specId()).isUnpartitioned()) {
            return true;
        }
        String referenced = ContentFileUtil.referencedDataFileLocation(deletes);
        if (referenced != null) {
            return referenced.equals(dataFile);
        }
        PartitionMap<Boolean> partition = PartitionMap.create(specs);
        partition.put(sibling.specId(), sibling.partition(), true);
        return partition.containsKey(deletes.specId(), deletes.partition());
    }

    /**
     * A snapshot that added or removed a file of the partition of {@code file}.
     */
    Optional<Long> findChangeOfPartition(ContentFile<?> file)
    {
        return Optional.ofNullable(partitions.get(file.specId(), file.partition()));
    }

    /**
     * A snapshot that added or removed a file of another spec than that of {@code file}.
     */
    Optional<Long> findChangeOfOtherSpec(ContentFile<?> file)
    {
        return changedSpecs.entrySet().stream()
                .filter(entry -> entry.getKey() != file.specId())
                .map(Map.Entry::getValue)
                .findFirst();
    }

    record FileChange(long snapshotId, ContentFile<?> file) {}

    /**
     * What tells files apart: several deletion vectors may be in one Puffin file.
     */
    private record FileKey(String location, Optional<Long> contentOffset)
    {
        static FileKey of(ContentFile<?> file)
        {
            return switch (file) {
                case DeleteFile deletes -> new FileKey(deletes.location(), Optional.ofNullable(deletes.contentOffset()));
                case DataFile data -> ofDataFile(data.location());
                default -> throw new IllegalArgumentException("Neither a data file nor a delete file: " + file);
            };
        }

        static FileKey ofDataFile(String location)
        {
            return new FileKey(location, Optional.empty());
        }
    }
}
