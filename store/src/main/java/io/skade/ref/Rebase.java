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

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableList;
import io.skade.ref.Divergence.History;
import io.skade.ref.NetChange.FileChange;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.util.ContentFileUtil;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableMap.toImmutableMap;
import static io.skade.ref.RefRefusedException.Reason.PROTECTED;
import static io.skade.ref.RefRefusedException.Reason.REBASE_CONFLICT;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * The replay of what a branch has since its merge base with another branch, on top of that one: each snapshot becomes a new one with the same changes of
 * files. Afterwards both branches are at the last of them.
 *
 * <p>A replay is as good as its statements run again only if they would have done the same. Iceberg has no record of statements, so this is judged by files:
 *
 * <ul>
 * <li>An append can always be replayed.
 * <li>Anything else that changed rows must not have touched a partition that the other branch touched.
 * <li>If the {@link ReadFilter} of a snapshot was recorded, the other branch must not have added rows that may match, nor removed ones if the snapshot added
 * rows.
 * <li>A replacement of files by others with the same rows only needs its files as they were.
 * <li>What the other branch has got already by a cherry-pick or an earlier replay is left out.
 * </ul>
 *
 * {@link #plan} decides, and writes nothing. {@link #apply} writes manifests.
 */
final class Rebase
{
    /**
     * The property of a summary that marks the empty snapshot at which a branch of a table without snapshots starts. The first snapshot of a new table may be
     * empty too, but after a replacement of the table a branch that begins with that one has the rows of another table.
     */
    static final String START_OF_BRANCH = "skade.start-of-branch";
    private static final int MAX_CONFLICTS = 10;

    private final RefTarget target;
    private final String branch;
    private final String to;
    private final long mergeBaseSequenceNumber;
    private final List<Step> steps;

    private Rebase(RefTarget target, String branch, String to, long mergeBaseSequenceNumber, List<Step> steps)
    {
        this.target = requireNonNull(target, "target is null");
        this.branch = requireNonNull(branch, "branch is null");
        this.to = requireNonNull(to, "to is null");
        this.mergeBaseSequenceNumber = mergeBaseSequenceNumber;
        this.steps = ImmutableList.copyOf(steps);
    }

    /**
     * @param divergence that of two branches of which each has snapshots of its own
     * @throws RefRefusedException if the branch cannot be replayed
     */
    static Rebase plan(RefTarget target, String branch, String to, Divergence divergence)
    {
        if (ProtectedRefs.of(target.metadata()).contains(branch)) {
            throw new RefRefusedException(PROTECTED, "Cannot rebase %s of %s: it is protected", branch, target.name());
        }
        return new Planner(target, branch, to, divergence).plan();
    }

    /**
     * How many snapshots there are to replay.
     */
    long replayed()
    {
        return steps.stream().filter(Replay.class::isInstance).count();
    }

    /**
     * The table with both branches at the last replayed snapshot.
     *
     * @throws RefRefusedException if Iceberg refuses a snapshot that was found good; manifests of those before may have been written
     */
    TableMetadata apply()
    {
        TableMetadata view = RefViews.viewBranch(target.metadata(), to);
        BuildingTableOperations operations = new BuildingTableOperations(view, target.io());
        SequenceNumbers sequenceNumbers = new SequenceNumbers(mergeBaseSequenceNumber);
        for (Step step : steps) {
            switch (step) {
                case Picked(Snapshot snapshot, Snapshot picked) -> sequenceNumbers.put(snapshot.sequenceNumber(), picked.sequenceNumber());
                case Replay(FileChanges changes) -> {
                    try {
                        new ReplayedSnapshot(target.name().toString(), operations, changes, sequenceNumbers).commit();
                    }
                    catch (ValidationException | IllegalArgumentException e) {
                        throw refused(target, branch, to, "%s: %s".formatted(changes.snapshotId(), e.getMessage()));
                    }
                    sequenceNumbers.put(changes.snapshot().sequenceNumber(), operations.current().currentSnapshot().sequenceNumber());
                }
            }
        }
        return TableMetadata.buildFrom(moveTo(view, operations.current()))
                .setBranchSnapshot(operations.current().currentSnapshot().snapshotId(), branch)
                .build();
    }

    private TableMetadata moveTo(TableMetadata view, TableMetadata replayed)
    {
        if (replayed == view) {
            return target.metadata();
        }
        return to.equals(MAIN_BRANCH) ? replayed : MetadataChanges.onBranch(to, view, replayed).apply(target);
    }

    private static RefRefusedException refused(RefTarget target, String branch, String to, String why)
    {
        return new RefRefusedException(REBASE_CONFLICT, "Cannot rebase %s of %s onto %s: %s", branch, target.name(), to, why);
    }

    private sealed interface Step {}

    private record Replay(FileChanges changes)
            implements Step {}

    /**
     * A snapshot whose changes the other branch has by one of its own.
     */
    private record Picked(Snapshot snapshot, Snapshot picked)
            implements Step {}

    private static final class Planner
    {
        private final RefTarget target;
        private final String branch;
        private final String to;
        private final Divergence divergence;
        private final TableMetadata metadata;
        private final Table table;
        private final Set<String> conflicts = new LinkedHashSet<>();

        Planner(RefTarget target, String branch, String to, Divergence divergence)
        {
            this.target = target;
            this.branch = branch;
            this.to = to;
            this.divergence = divergence;
            this.metadata = target.metadata();
            this.table = new BaseTable(new SnapshotTableOperations(metadata, target.io()), target.name().toString());
        }

        Rebase plan()
        {
            List<Snapshot> snapshots = snapshotsToReplay();
            // the new snapshots have the present schema
            checkReadable(branch);
            checkReadable(to);
            Map<String, Snapshot> picked = divergence.to().snapshots().stream()
                    .collect(toImmutableMap(ReplayedSnapshot::source, snapshot -> snapshot, (_, last) -> last));
            List<FileChanges> others = divergence.to().snapshots().stream()
                    .map(snapshot -> FileChanges.of(table, snapshot))
                    .collect(toImmutableList());
            NetChange other = new NetChange(metadata.specsById(), others);
            ImmutableList.Builder<Step> steps = ImmutableList.builder();
            for (Snapshot snapshot : snapshots) {
                Snapshot pick = picked.get(ReplayedSnapshot.source(snapshot));
                if (pick != null) {
                    steps.add(new Picked(snapshot, pick));
                    // from here on it is no change of the other branch alone
                    others = others.stream()
                            .filter(changes -> changes.snapshotId() != pick.snapshotId())
                            .collect(toImmutableList());
                    other = new NetChange(metadata.specsById(), others);
                    continue;
                }
                FileChanges changes = FileChanges.of(table, snapshot);
                if (changes.isReplace() && changes.isEmpty()) {
                    // has its parent's files in other manifests
                    continue;
                }
                check(changes, other);
                steps.add(new Replay(changes));
            }
            if (!conflicts.isEmpty()) {
                throw refused(target, branch, to, describeConflicts());
            }
            return new Rebase(target, branch, to, divergence.mergeBase().map(Snapshot::sequenceNumber).orElse(0L), steps.build());
        }

        private String describeConflicts()
        {
            String listed = Joiner.on("; ").join(conflicts.stream().limit(MAX_CONFLICTS).iterator());
            return conflicts.size() <= MAX_CONFLICTS ? listed : "%s; and %s more".formatted(listed, conflicts.size() - MAX_CONFLICTS);
        }

        private List<Snapshot> snapshotsToReplay()
        {
            List<Snapshot> snapshots = divergence.branch().snapshots();
            if (divergence.mergeBase().isPresent()) {
                return snapshots;
            }
            checkNotExpired(branch, divergence.branch());
            checkNotExpired(to, divergence.to());
            if (!ReplayedSnapshot.summary(snapshots.getFirst()).containsKey(START_OF_BRANCH)) {
                throw refused(target, branch, to, "they have no snapshot in common, %s begins with %s and %s with %s".formatted(
                        branch,
                        snapshots.getFirst().snapshotId(),
                        to,
                        divergence.to().snapshots().getFirst().snapshotId()));
            }
            return snapshots.subList(1, snapshots.size());
        }

        private void checkNotExpired(String name, History history)
        {
            if (history.stoppedAt().isPresent()) {
                throw refused(target, branch, to, "the history of %s is expired, its snapshot %s is gone".formatted(name, history.stoppedAt().getAsLong()));
            }
        }

        private void checkReadable(String name)
        {
            SchemaConflict.find(target.io(), metadata, metadata.snapshot(metadata.ref(name).snapshotId()), Type::toString)
                    .ifPresent(conflict -> conflict("%s cannot be read: %s", name, conflict));
        }

        private void check(FileChanges changes, NetChange other)
        {
            long id = changes.snapshotId();
            checkReplayable(changes);
            for (DataFile file : changes.addedDataFiles()) {
                other.findAdded(file).ifPresent(change -> conflict("%s and %s both added data file %s", id, change.snapshotId(), file.location()));
            }
            if (changes.isReplace()) {
                checkFiles(changes, other);
                return;
            }
            if (!changes.isAppend()) {
                checkPartitions(changes, other);
            }
            ReadFilter.of(metadata, changes.snapshot()).ifPresent(filter -> checkRead(filter, changes, other));
        }

        /**
         * That Iceberg can write the changes as they are.
         */
        private void checkReplayable(FileChanges changes)
        {
            if (metadata.formatVersion() >= 3 && changes.addedDeleteFiles().stream().anyMatch(file -> file.content() == FileContent.POSITION_DELETES && !ContentFileUtil.isDV(file))) {
                conflict("%s added position deletes that are not deletion vectors, format version %s takes no more of them", changes.snapshotId(), metadata.formatVersion());
            }
            Set<Long> sequenceNumbers = new HashSet<>();
            changes.addedDataFiles().forEach(file -> sequenceNumbers.add(file.dataSequenceNumber()));
            if (sequenceNumbers.size() > 1) {
                conflict("%s added data files with several data sequence numbers", changes.snapshotId());
            }
        }

        private void checkPartitions(FileChanges changes, NetChange other)
        {
            long id = changes.snapshotId();
            for (ContentFile<?> file : changes.all()) {
                Optional<Long> samePartition = other.findChangeOfPartition(file);
                if (samePartition.isPresent()) {
                    PartitionSpec spec = metadata.spec(file.specId());
                    if (spec.isUnpartitioned()) {
                        conflict("%s and %s both changed the table, which is not partitioned", id, samePartition.get());
                    }
                    else {
                        conflict("%s and %s both changed partition %s", id, samePartition.get(), spec.partitionToPath(file.partition()));
                    }
                }
                other.findChangeOfOtherSpec(file).ifPresent(otherId -> conflict("%s and %s changed files of different partition specs", id, otherId));
            }
        }

        private void checkFiles(FileChanges changes, NetChange other)
        {
            for (DataFile file : changes.removedDataFiles()) {
                checkDataFile(changes, file.location(), file, other);
            }
            for (DeleteFile file : changes.addedDeleteFiles()) {
                String referenced = ContentFileUtil.referencedDataFileLocation(file);
                if (referenced != null) {
                    checkDataFile(changes, referenced, file, other);
                }
            }
            for (DeleteFile file : changes.removedDeleteFiles()) {
                other.findRemoved(file).ifPresent(change -> conflict("%s rewrote delete file %s, which %s removed", changes.snapshotId(), file.location(), change.snapshotId()));
            }
        }

        private void checkDataFile(FileChanges changes, String dataFile, ContentFile<?> sibling, NetChange other)
        {
            other.findRemovedDataFile(dataFile).ifPresent(change -> conflict("%s rewrote data file %s, which %s removed", changes.snapshotId(), dataFile, change.snapshotId()));
            other.findDeletes(dataFile, sibling).ifPresent(change -> conflict("%s rewrote data file %s, of which %s deleted rows", changes.snapshotId(), dataFile, change.snapshotId()));
        }

        private void checkRead(ReadFilter filter, FileChanges changes, NetChange other)
        {
            for (FileChange change : other.added()) {
                if (change.file() instanceof DataFile file && filter.mayMatch(file)) {
                    conflict("%s may have had to read rows that %s added", changes.snapshotId(), change.snapshotId());
                }
            }
            if (changes.addedDataFiles().isEmpty()) {
                // what another one deletes as well makes no difference to a delete
                return;
            }
            for (FileChange change : other.removed()) {
                if (change.file() instanceof DataFile file && filter.mayMatch(file)) {
                    conflict("%s may have read rows that %s deleted", changes.snapshotId(), change.snapshotId());
                }
            }
            for (FileChange change : other.added()) {
                if (change.file() instanceof DeleteFile file && filter.mayMatch(file)) {
                    conflict("%s may have read rows that %s deleted", changes.snapshotId(), change.snapshotId());
                }
            }
        }

        private void conflict(String text, Object... arguments)
        {
            conflicts.add(text.formatted(arguments));
        }
    }
}
