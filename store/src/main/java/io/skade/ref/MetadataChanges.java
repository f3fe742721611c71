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

import com.google.common.collect.ImmutableMap;
import io.skade.store.RefChange;
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.RetryableValidationException;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.UpdateRequirement;
import org.apache.iceberg.UpdateRequirements;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.ValidationException;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

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
    private final MetadataUpdates changes;
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
        this.changes = new MetadataUpdates(next.changes());
        this.branch = requireNonNull(branch, "branch is null");
    }

    @Override
    public String operation(TableMetadata before)
    {
        return changes.operation(before);
    }

    @Override
    public boolean mayMoveProtected(RefChange move, TableMetadata before, TableMetadata after)
    {
        return ProtectedRefs.isForward(move, before, after);
    }

    @Override
    public TableMetadata apply(RefTarget target)
    {
        TableMetadata result = applyTo(target);
        String protectedRefs = target.metadata().properties().get(ProtectedRefs.PROPERTY);
        if (changes.isReplaceTable() && protectedRefs != null && !result.properties().containsKey(ProtectedRefs.PROPERTY)) {
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
        if (branch.isPresent() && (changes.has(MetadataUpdate.RemoveSnapshots.class) || changes.isReplaceTable())) {
            throw new RefRefusedException(INVALID_VALUE, "Cannot commit %s to branch %s of %s: it would change the whole table", operation(base), branch.get(), target.name());
        }
        if (origin.ref(MAIN_BRANCH) == null && base.ref(MAIN_BRANCH) != null && changes.has(MetadataUpdate.SetCurrentSchema.class)) {
            // the replacement of a table without snapshots does not show among the changes, and would give the new rows the columns of another table
            throw new CommitFailedException("Cannot commit: %s got its first snapshot since the commit was built", target.name());
        }
        if (changes.has(MetadataUpdate.RemoveSnapshots.class) || (changes.has(MetadataUpdate.RemoveSnapshotRef.class) && !changes.isReplaceTable())) {
            throw new CommitFailedException("Cannot commit: %s was changed since the commit was built", target.name());
        }
        branch.ifPresent(name -> checkBranch(target, name));
        checkRequirements(base);
        TableMetadata start = changes.start(target);
        TableMetadata.Builder builder = TableMetadata.buildFrom(start);
        try {
            if (changes.isReplaceTable()) {
                setWhatStayed(builder);
            }
            for (MetadataUpdate change : changes.toApply(base, start)) {
                if (branch.isPresent() && MetadataUpdates.isMain(change)) {
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
        List<MetadataUpdate> conditional = changes.list().stream()
                .filter(change -> branch.isEmpty() || !MetadataUpdates.isMain(change))
                .toList();
        List<UpdateRequirement> requirements = changes.isReplaceTable()
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
        if (!changes.has(MetadataUpdate.SetCurrentSchema.class)) {
            builder.setCurrentSchema(next.currentSchemaId());
        }
        if (!changes.has(MetadataUpdate.SetDefaultPartitionSpec.class)) {
            builder.setDefaultPartitionSpec(next.defaultSpecId());
        }
        if (!changes.has(MetadataUpdate.SetDefaultSortOrder.class)) {
            builder.setDefaultSortOrder(next.defaultSortOrderId());
        }
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
}
