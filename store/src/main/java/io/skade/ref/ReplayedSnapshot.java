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

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;
import org.apache.iceberg.BaseRowDelta;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.EnvironmentContext;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotSummary;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.util.ContentFileUtil;
import org.apache.iceberg.util.PropertyUtil;
import org.apache.iceberg.util.WapUtil;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * A new snapshot with the files that another one added and removed, and with its operation. Rows that are added again get new row ids.
 */
final class ReplayedSnapshot
        extends BaseRowDelta
{
    // what Iceberg counts anew
    private static final Set<String> COUNTS = ImmutableSet.of(
            SnapshotSummary.ADDED_FILES_PROP,
            SnapshotSummary.DELETED_FILES_PROP,
            SnapshotSummary.TOTAL_DATA_FILES_PROP,
            SnapshotSummary.ADDED_DELETE_FILES_PROP,
            SnapshotSummary.ADD_EQ_DELETE_FILES_PROP,
            SnapshotSummary.REMOVED_EQ_DELETE_FILES_PROP,
            SnapshotSummary.ADD_POS_DELETE_FILES_PROP,
            SnapshotSummary.REMOVED_POS_DELETE_FILES_PROP,
            SnapshotSummary.ADDED_DVS_PROP,
            SnapshotSummary.REMOVED_DVS_PROP,
            SnapshotSummary.REMOVED_DELETE_FILES_PROP,
            SnapshotSummary.TOTAL_DELETE_FILES_PROP,
            SnapshotSummary.ADDED_RECORDS_PROP,
            SnapshotSummary.DELETED_RECORDS_PROP,
            SnapshotSummary.TOTAL_RECORDS_PROP,
            SnapshotSummary.ADDED_FILE_SIZE_PROP,
            SnapshotSummary.REMOVED_FILE_SIZE_PROP,
            SnapshotSummary.TOTAL_FILE_SIZE_PROP,
            SnapshotSummary.ADDED_POS_DELETES_PROP,
            SnapshotSummary.REMOVED_POS_DELETES_PROP,
            SnapshotSummary.TOTAL_POS_DELETES_PROP,
            SnapshotSummary.ADDED_EQ_DELETES_PROP,
            SnapshotSummary.REMOVED_EQ_DELETES_PROP,
            SnapshotSummary.TOTAL_EQ_DELETES_PROP,
            SnapshotSummary.DELETED_DUPLICATE_FILES,
            SnapshotSummary.CHANGED_PARTITION_COUNT_PROP,
            SnapshotSummary.PARTITION_SUMMARY_PROP,
            SnapshotSummary.CREATED_MANIFESTS_COUNT,
            SnapshotSummary.REPLACED_MANIFESTS_COUNT,
            SnapshotSummary.KEPT_MANIFESTS_COUNT,
            SnapshotSummary.PROCESSED_MANIFEST_ENTRY_COUNT);

    private final TableOperations operations;
    private final FileChanges changes;

    /**
     * @param operations the table whose current snapshot becomes the parent
     * @param sequenceNumbers where the data sequence numbers of the replayed snapshot's files are now
     */
    ReplayedSnapshot(String tableName, TableOperations operations, FileChanges changes, SequenceNumbers sequenceNumbers)
    {
        super(tableName, operations);
        this.operations = requireNonNull(operations, "operations is null");
        this.changes = requireNonNull(changes, "changes is null");
        validateFromSnapshot(operations.current().currentSnapshot().snapshotId());
        changes.removedDataFiles().forEach(this::removeRows);
        changes.removedDeleteFiles().forEach(this::removeDeletes);
        for (DataFile file : changes.addedDataFiles()) {
            addRows(file);
            if (hasOwnSequenceNumber(changes.snapshot(), file)) {
                setNewDataFilesDataSequenceNumber(sequenceNumbers.replayed(file.dataSequenceNumber()));
            }
        }
        for (DeleteFile file : changes.addedDeleteFiles()) {
            if (hasOwnSequenceNumber(changes.snapshot(), file)) {
                add(file, sequenceNumbers.replayed(file.dataSequenceNumber()));
            }
            else {
                addDeletes(file);
            }
        }
        setSummary(changes.snapshot());
    }

    /**
     * Whether a file's data sequence number is another than that of the snapshot which added it.
     */
    private static boolean hasOwnSequenceNumber(Snapshot snapshot, ContentFile<?> file)
    {
        return file.dataSequenceNumber() != null && file.dataSequenceNumber() != snapshot.sequenceNumber();
    }

    /**
     * The snapshot whose changes a snapshot has: itself, or the one from which it was picked or replayed.
     */
    static String source(Snapshot snapshot)
    {
        return summary(snapshot).getOrDefault(SnapshotSummary.SOURCE_SNAPSHOT_ID_PROP, String.valueOf(snapshot.snapshotId()));
    }

    private void setSummary(Snapshot snapshot)
    {
        Set<String> setByIceberg = Sets.union(COUNTS, EnvironmentContext.get().keySet());
        summary(snapshot).forEach((key, value) -> {
            if (!setByIceberg.contains(key) && !key.startsWith(SnapshotSummary.CHANGED_PARTITION_PREFIX) && !key.equals(SnapshotSummary.STAGED_WAP_ID_PROP)) {
                set(key, value);
            }
        });
        if (WapUtil.stagedWapId(snapshot) != null) {
            set(SnapshotSummary.PUBLISHED_WAP_ID_PROP, WapUtil.stagedWapId(snapshot));
        }
        ReadFilter.property(operations.current(), snapshot).ifPresent(filter -> set(ReadFilter.PROPERTY, filter));
        set(SnapshotSummary.SOURCE_SNAPSHOT_ID_PROP, source(snapshot));
    }

    static Map<String, String> summary(Snapshot snapshot)
    {
        return Objects.requireNonNullElse(snapshot.summary(), Map.of());
    }

    @Override
    protected String operation()
    {
        return changes.operation();
    }

    /**
     * @throws ValidationException if the table did not have all the files to remove, though its history says so
     */
    @Override
    public void commit()
    {
        super.commit();
        Map<String, String> summary = operations.current().currentSnapshot().summary();
        checkRemoved(summary, SnapshotSummary.DELETED_FILES_PROP, changes.removedDataFiles().size());
        checkRemoved(summary, SnapshotSummary.REMOVED_DVS_PROP, (int) changes.removedDeleteFiles().stream().filter(ContentFileUtil::isDV).count());
    }

    private static void checkRemoved(Map<String, String> summary, String property, int expected)
    {
        int removed = PropertyUtil.propertyAsInt(summary, property, 0);
        ValidationException.check(removed >= expected, "only %s of %s files to remove are there", removed, expected);
    }
}
