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
import com.google.common.collect.ImmutableMap;
import org.apache.iceberg.DataOperations;
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.RetryableValidationException;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.UpdateRequirement;
import org.apache.iceberg.UpdateRequirements;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.ValidationException;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * A commit made by Iceberg itself, as a ref update: the metadata that it built from an older version of the table.
 *
 * <p>On the version that it was built from, the result is exactly what Iceberg built. On a newer version, or at a branch, the list of its
 * changes is applied, if nothing that they rely on was changed: the same rule by which a REST catalog takes commits
 * ({@link UpdateRequirements}). Otherwise {@link CommitFailedException} makes Iceberg build the commit anew.
 */
final class MetadataChanges
        implements RefUpdate
{
    private final TableMetadata origin;
    private final TableMetadata next;
    private final Optional<String> branch;

    /**
     * @param origin the version that {@code next} was built from
     */
    static MetadataChanges onTable(TableMetadata origin, TableMetadata next)
    {
        return new MetadataChanges(origin, next, Optional.empty());
    }

    /**
     * @param origin the view of the branch that {@code next} was built from; what it calls {@code main} is the branch
     */
    static MetadataChanges onBranch(String branch, TableMetadata origin, TableMetadata next)
    {
        return new MetadataChanges(origin, next, Optional.of(branch));
    }

    private MetadataChanges(TableMetadata origin, TableMetadata next, Optional<String> branch)
    {
        this.origin = requireNonNull(origin, "origin is null");
        this.next = requireNonNull(next, "next is null");
        this.branch = requireNonNull(branch, "branch is null");
    }

    @Override
    public String operation(TableMetadata before)
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
        if (has(MetadataUpdate.SetSnapshotRef.class) || has(MetadataUpdate.RemoveSnapshotRef.class)) {
            return "set_ref";
        }
        return "set_statistics";
    }

    @Override
    public boolean mayMoveProtected(TableMetadata before)
    {
        List<Snapshot> added = addedSnapshots();
        // such a snapshot holds the rows of its parent in other files
        return !added.isEmpty() &&
                added.stream().allMatch(snapshot -> DataOperations.REPLACE.equals(snapshot.operation())) &&
                next.changes().stream().noneMatch(change -> mayChangeProtection(change, added));
    }

    /**
     * Whether a change does more to refs or their protection than to take {@code main} to one of the added snapshots.
     */
    private static boolean mayChangeProtection(MetadataUpdate change, List<Snapshot> added)
    {
        return switch (change) {
            case MetadataUpdate.SetProperties _, MetadataUpdate.RemoveProperties _, MetadataUpdate.RemoveSnapshotRef _, MetadataUpdate.RemoveSnapshots _ -> true;
            case MetadataUpdate.SetSnapshotRef ref -> !isMain(ref) || added.stream().noneMatch(snapshot -> snapshot.snapshotId() == ref.snapshotId());
            default -> false;
        };
    }

    @Override
    public TableMetadata apply(RefTarget target)
    {
        TableMetadata result = applyTo(target);
        String protectedRefs = target.metadata().properties().get(ProtectedRefs.PROPERTY);
        if (isReplaceTable() && protectedRefs != null && !result.properties().containsKey(ProtectedRefs.PROPERTY)) {
            // the new properties are those of the statement, but protection belongs to the refs, which stay
            return TableMetadata.buildFrom(result).setProperties(ImmutableMap.of(ProtectedRefs.PROPERTY, protectedRefs)).build();
        }
        return result;
    }

    private TableMetadata applyTo(RefTarget target)
    {
        TableMetadata base = target.metadata();
        if (branch.isEmpty() && Objects.equals(base.metadataFileLocation(), origin.metadataFileLocation())) {
            return next;
        }
        if (branch.isPresent() && (has(MetadataUpdate.RemoveSnapshots.class) || isReplaceTable())) {
            throw new RefRefusedException(INVALID_VALUE, "Cannot commit %s to branch %s of %s: it would change the whole table", operation(base), branch.get(), target.name());
        }
        if (origin.ref(MAIN_BRANCH) == null && base.ref(MAIN_BRANCH) != null && has(MetadataUpdate.SetCurrentSchema.class)) {
            // the replacement of a table without snapshots does not show among the changes, and would give the new rows the columns of another table
            throw new CommitFailedException("Cannot commit: %s got its first snapshot since the commit was built", target.name());
        }
        if (has(MetadataUpdate.RemoveSnapshots.class) || (has(MetadataUpdate.RemoveSnapshotRef.class) && !isReplaceTable())) {
            throw new CommitFailedException("Cannot commit: %s was changed since the commit was built", target.name());
        }
        branch.ifPresent(name -> checkBranch(target, name));
        checkRequirements(base);
        boolean snapshotsBehind = isReplaceTable() && addedSnapshots().stream().anyMatch(snapshot -> snapshot.sequenceNumber() < base.lastSequenceNumber());
        TableMetadata.Builder builder = TableMetadata.buildFrom(snapshotsBehind ? withAddedSnapshots(target) : base);
        try {
            if (isReplaceTable()) {
                setWhatStayed(builder);
            }
            for (MetadataUpdate change : next.changes()) {
                if (snapshotsBehind && change instanceof MetadataUpdate.AddSnapshot) {
                    continue;
                }
                if (branch.isPresent() && isMain(change)) {
                    // keeps the retention of the branch
                    builder.setBranchSnapshot(((MetadataUpdate.SetSnapshotRef) change).snapshotId(), branch.get());
                }
                else {
                    change.applyTo(builder);
                }
            }
            return builder.build();
        }
        catch (RetryableValidationException e) {
            throw new CommitFailedException(e, "Cannot commit: %s was changed since the commit was built: %s", target.name(), e.getMessage());
        }
        catch (ValidationException | IllegalArgumentException e) {
            throw new CommitFailedException(e, "Cannot commit: the changes no longer fit %s: %s", target.name(), e.getMessage());
        }
    }

    private void checkRequirements(TableMetadata base)
    {
        List<MetadataUpdate> conditional = next.changes().stream()
                .filter(change -> branch.isEmpty() || !isMain(change))
                .toList();
        List<UpdateRequirement> requirements = isReplaceTable()
                ? UpdateRequirements.forReplaceTable(origin, conditional)
                : UpdateRequirements.forUpdateTable(origin, conditional);
        try {
            requirements.forEach(requirement -> requirement.validate(base));
        }
        catch (CommitFailedException e) {
            throw new CommitFailedException(e, "Commit failed: %s", e.getMessage());
        }
    }

    /**
     * What a replacing commit left as it was in its origin is not among its changes, but may have changed since.
     */
    private void setWhatStayed(TableMetadata.Builder builder)
    {
        if (!has(MetadataUpdate.SetCurrentSchema.class)) {
            builder.setCurrentSchema(next.currentSchemaId());
        }
        if (!has(MetadataUpdate.SetDefaultPartitionSpec.class)) {
            builder.setDefaultPartitionSpec(next.defaultSpecId());
        }
        if (!has(MetadataUpdate.SetDefaultSortOrder.class)) {
            builder.setDefaultSortOrder(next.defaultSortOrderId());
        }
    }

    /**
     * The newest version with the snapshots of a replacement whose sequence numbers were outrun. That does no harm, since the first of them has no
     * parent: no file of theirs meets one of other snapshots. Iceberg's builder takes them, but would go back to their number as the last one.
     */
    private TableMetadata withAddedSnapshots(RefTarget target)
    {
        TableMetadata base = target.metadata();
        if (base.formatVersion() >= 3) {
            // the row ids may be given as well
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

    private void checkBranch(RefTarget target, String name)
    {
        SnapshotRef ref = target.metadata().ref(name);
        if (ref == null || !ref.isBranch()) {
            throw new RefRefusedException(REF_NOT_FOUND, "Branch does not exist in %s: %s", target.name(), name);
        }
        if (ref.snapshotId() != origin.ref(MAIN_BRANCH).snapshotId()) {
            throw new CommitFailedException("Cannot commit: branch %s of %s moved from %s to %s", name, target.name(), origin.ref(MAIN_BRANCH).snapshotId(), ref.snapshotId());
        }
    }

    private static boolean isMain(MetadataUpdate change)
    {
        return change instanceof MetadataUpdate.SetSnapshotRef ref && ref.name().equals(MAIN_BRANCH);
    }

    private boolean isReplaceTable()
    {
        return next.changes().stream().anyMatch(change -> change instanceof MetadataUpdate.RemoveSnapshotRef ref && ref.name().equals(MAIN_BRANCH));
    }

    private List<Snapshot> addedSnapshots()
    {
        return next.changes().stream()
                .filter(MetadataUpdate.AddSnapshot.class::isInstance)
                .map(change -> ((MetadataUpdate.AddSnapshot) change).snapshot())
                .collect(toImmutableList());
    }

    private boolean has(Class<? extends MetadataUpdate> type)
    {
        return next.changes().stream().anyMatch(type::isInstance);
    }
}
