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

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import org.apache.iceberg.DataOperations;
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SnapshotRefType;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.util.SnapshotUtil;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * What a list of Iceberg's metadata updates does to a table.
 */
record MetadataUpdates(List<MetadataUpdate> list)
{
    MetadataUpdates
    {
        list = ImmutableList.copyOf(list);
    }

    /**
     * The name under which the log shows them: that of the verb, if all they do is what a verb does to refs.
     */
    String operation(TableMetadata before)
    {
        if (isReplaceTable()) {
            return "replace_table";
        }
        Optional<Snapshot> added = addedSnapshots().stream().reduce((_, last) -> last);
        if (added.isPresent()) {
            return Objects.requireNonNullElse(added.get().operation(), DataOperations.OVERWRITE);
        }
        if (has(MetadataUpdate.RemoveSnapshots.class)) {
            return "expire";
        }
        if (has(MetadataUpdate.AddSchema.class) || has(MetadataUpdate.SetCurrentSchema.class) || has(MetadataUpdate.AddPartitionSpec.class) || has(MetadataUpdate.SetDefaultPartitionSpec.class)
                || has(MetadataUpdate.SetDefaultSortOrder.class) || has(MetadataUpdate.SetLocation.class) || has(MetadataUpdate.UpgradeFormatVersion.class)) {
            return "alter_table";
        }
        if (has(MetadataUpdate.SetProperties.class) || has(MetadataUpdate.RemoveProperties.class)) {
            return "set_properties";
        }
        List<String> verbs = list.stream()
                .flatMap(update -> verb(before, update).stream())
                .distinct()
                .toList();
        return switch (verbs.size()) {
            case 0 -> "set_statistics";
            case 1 -> verbs.getFirst();
            default -> "set_ref";
        };
    }

    private static Optional<String> verb(TableMetadata before, MetadataUpdate update)
    {
        return switch (update) {
            case MetadataUpdate.SetSnapshotRef set -> Optional.of(verb(before, set));
            case MetadataUpdate.RemoveSnapshotRef removed -> Optional.of(before.ref(removed.name()) instanceof SnapshotRef ref && ref.isTag() ? "drop_tag" : "drop_branch");
            default -> Optional.empty();
        };
    }

    private static String verb(TableMetadata before, MetadataUpdate.SetSnapshotRef update)
    {
        boolean isTag = update.type().equalsIgnoreCase(SnapshotRefType.TAG.name());
        SnapshotRef ref = before.ref(update.name());
        if (ref == null) {
            return isTag ? "create_tag" : "create_branch";
        }
        if (ref.snapshotId() == update.snapshotId()) {
            return "set_ref_retention";
        }
        if (isTag) {
            return "replace_tag";
        }
        if (isAncestor(before, ref.snapshotId(), update.snapshotId())) {
            return "fast_forward";
        }
        return isAncestor(before, update.snapshotId(), ref.snapshotId()) ? "rollback_to" : "replace_branch";
    }

    private static boolean isAncestor(TableMetadata metadata, long ancestorId, long snapshotId)
    {
        return metadata.snapshot(snapshotId) != null && SnapshotUtil.isAncestorOf(snapshotId, ancestorId, metadata::snapshot);
    }

    /**
     * The version of a table to begin with when they are applied: the newest. If the sequence numbers of the snapshots of a replacement were outrun, they are
     * in it already. That does no harm, since the first of them has no parent: no file of theirs meets one of other snapshots. Iceberg's builder
     * takes every snapshot without a parent, but would go back to its number as the table's last one.
     *
     * @throws CommitFailedException if other snapshots were outrun: they have to be built anew
     */
    TableMetadata start(RefTarget target)
    {
        TableMetadata base = target.metadata();
        if (base.formatVersion() == 1 || addedSnapshots().stream().allMatch(snapshot -> snapshot.sequenceNumber() > base.lastSequenceNumber())) {
            return base;
        }
        // with version 3 the row ids may be given as well
        if (!isReplaceTable() || base.formatVersion() >= 3) {
            throw new CommitFailedException("Cannot commit: %s was changed since the commit was built", target.name());
        }
        long lastSequenceNumber = addedSnapshots().stream()
                .mapToLong(Snapshot::sequenceNumber)
                .reduce(base.lastSequenceNumber(), Math::max);
        ObjectNode json = MetadataJson.of(base);
        json.put("last-sequence-number", lastSequenceNumber);
        ArrayNode snapshots = (ArrayNode) json.get("snapshots");
        addedSnapshots().forEach(snapshot -> snapshots.add(MetadataJson.parse(SnapshotParser.toJson(snapshot))));
        return TableMetadataParser.fromJson(base.metadataFileLocation(), json);
    }

    /**
     * What is left to apply to {@code start}.
     */
    List<MetadataUpdate> toApply(TableMetadata base, TableMetadata start)
    {
        return start == base ? list : list.stream().filter(update -> !(update instanceof MetadataUpdate.AddSnapshot)).toList();
    }

    /**
     * Whether all that they do to refs and their protection is to take {@code main} to an added snapshot that holds the rows of its parent in other files.
     */
    boolean areRewrite()
    {
        List<Snapshot> added = addedSnapshots();
        return !added.isEmpty() &&
                added.stream().allMatch(snapshot -> DataOperations.REPLACE.equals(snapshot.operation())) &&
                list.stream().allMatch(update -> keepsProtection(update) && (!(update instanceof MetadataUpdate.SetSnapshotRef ref) ||
                        (isMain(ref) && added.stream().anyMatch(snapshot -> snapshot.snapshotId() == ref.snapshotId()))));
    }

    /**
     * Whether all that they do to refs is to take branches of {@code before} to descendants that the table has already.
     */
    boolean areFastForward(TableMetadata before)
    {
        return has(MetadataUpdate.SetSnapshotRef.class) &&
                addedSnapshots().isEmpty() &&
                list.stream().allMatch(update -> keepsProtection(update) && (!(update instanceof MetadataUpdate.SetSnapshotRef ref) || isFastForward(before, ref)));
    }

    private static boolean isFastForward(TableMetadata before, MetadataUpdate.SetSnapshotRef update)
    {
        SnapshotRef ref = before.ref(update.name());
        return ref != null &&
                ref.isBranch() &&
                update.type().equalsIgnoreCase(ref.type().name()) &&
                Objects.equals(update.minSnapshotsToKeep(), ref.minSnapshotsToKeep()) &&
                Objects.equals(update.maxSnapshotAgeMs(), ref.maxSnapshotAgeMs()) &&
                Objects.equals(update.maxRefAgeMs(), ref.maxRefAgeMs()) &&
                isAncestor(before, ref.snapshotId(), update.snapshotId());
    }

    private static boolean keepsProtection(MetadataUpdate update)
    {
        return switch (update) {
            case MetadataUpdate.SetProperties _, MetadataUpdate.RemoveProperties _, MetadataUpdate.RemoveSnapshotRef _, MetadataUpdate.RemoveSnapshots _ -> false;
            default -> true;
        };
    }

    static boolean isMain(MetadataUpdate update)
    {
        return update instanceof MetadataUpdate.SetSnapshotRef ref && ref.name().equals(MAIN_BRANCH);
    }

    boolean isReplaceTable()
    {
        return removes(MAIN_BRANCH);
    }

    /**
     * The names of the refs that they set.
     */
    Stream<String> refs()
    {
        return list.stream()
                .filter(MetadataUpdate.SetSnapshotRef.class::isInstance)
                .map(update -> ((MetadataUpdate.SetSnapshotRef) update).name());
    }

    boolean removes(String ref)
    {
        return list.stream().anyMatch(update -> update instanceof MetadataUpdate.RemoveSnapshotRef removed && removed.name().equals(ref));
    }

    List<Snapshot> addedSnapshots()
    {
        return list.stream()
                .filter(MetadataUpdate.AddSnapshot.class::isInstance)
                .map(update -> ((MetadataUpdate.AddSnapshot) update).snapshot())
                .collect(toImmutableList());
    }

    boolean has(Class<? extends MetadataUpdate> type)
    {
        return list.stream().anyMatch(type::isInstance);
    }
}
