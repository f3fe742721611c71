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
import io.skade.store.RefChange;
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.RetryableValidationException;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.UpdateRequirement;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.ValidationException;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static com.google.common.base.Preconditions.checkArgument;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * Metadata updates that another process asks for, under the requirements that it has checked its work against.
 */
public final class RequestedChanges
        implements RefUpdate
{
    private final List<UpdateRequirement> requirements;
    private final MetadataUpdates updates;

    public RequestedChanges(List<UpdateRequirement> requirements, List<MetadataUpdate> updates)
    {
        this.requirements = ImmutableList.copyOf(requirements);
        this.updates = new MetadataUpdates(updates);
    }

    @Override
    public String operation(TableMetadata before)
    {
        return updates.operation(before);
    }

    /**
     * @throws RefRefusedException if a new ref would have a name that is no name of a ref
     * @throws ValidationException if an update cannot be applied to any table, or to none with this content
     * @throws CommitFailedException if the table does not meet a requirement, or is past what an update was made for
     */
    @Override
    public TableMetadata apply(RefTarget target)
    {
        TableMetadata base = target.metadata();
        requirements.forEach(requirement -> requirement.validate(base));
        updates.refs().filter(ref -> base.ref(ref) == null).forEach(RefNames::check);
        TableMetadata start = updates.start(target);
        TableMetadata next = build(target.name(), TableMetadata.buildFrom(start), updates.toApply(base, start));
        ValidationException.check(base.uuid() == null || base.uuid().equals(next.uuid()), "Cannot change the uuid of %s", target.name());
        checkRefsRemain(target, next);
        return start == base && next.changes().isEmpty() ? base : next;
    }

    /**
     * The metadata of a new table.
     *
     * @throws IllegalArgumentException if there are requirements that a table cannot meet before it is there
     * @throws RefRefusedException if a ref has a name that is no name of a ref
     * @throws ValidationException if the updates do not make a table
     */
    public TableMetadata create(TableIdentifier name)
    {
        checkArgument(requirements.stream().allMatch(UpdateRequirement.AssertTableDoesNotExist.class::isInstance), "Invalid requirements of a new table %s: only that it does not exist can be one", name);
        updates.refs().forEach(RefNames::check);
        TableMetadata.Builder builder = updates.list().stream()
                .filter(MetadataUpdate.UpgradeFormatVersion.class::isInstance)
                .map(update -> ((MetadataUpdate.UpgradeFormatVersion) update).formatVersion())
                .findFirst()
                .map(TableMetadata::buildFromEmpty)
                .orElseGet(TableMetadata::buildFromEmpty);
        return build(name, builder, updates.list());
    }

    private TableMetadata build(TableIdentifier name, TableMetadata.Builder builder, List<MetadataUpdate> list)
    {
        TableMetadata next;
        try {
            list.forEach(update -> update.applyTo(builder));
            next = builder.build();
        }
        catch (RetryableValidationException e) {
            throw new CommitFailedException(e, "Cannot commit: %s was changed since the commit was built: %s", name, e.getMessage());
        }
        catch (NullPointerException e) {
            // Iceberg's builder does not check every id
            throw new ValidationException(e, "Cannot commit to %s: an update needs a schema, partition spec or sort order that is not there", name);
        }
        ValidationException.check(next != null, "Cannot create %s: there are no updates", name);
        if (updates.refs().anyMatch(MAIN_BRANCH::equals) && next.ref(MAIN_BRANCH) != null && next.ref(MAIN_BRANCH).isTag()) {
            throw new RefRefusedException(INVALID_VALUE, "Cannot make main of %s a tag: main is a branch", name);
        }
        updates.addedSnapshots().forEach(snapshot -> ValidationException.check(!isOwnAncestor(snapshot, next), "Cannot add snapshot %s to %s: it is its own ancestor", snapshot.snapshotId(), name));
        return next;
    }

    private static boolean isOwnAncestor(Snapshot snapshot, TableMetadata metadata)
    {
        Set<Long> seen = new HashSet<>();
        Snapshot ancestor = snapshot;
        while (ancestor != null && ancestor.parentId() != null) {
            if (!seen.add(ancestor.snapshotId())) {
                return true;
            }
            ancestor = metadata.snapshot(ancestor.parentId());
        }
        return false;
    }

    /**
     * With a snapshot Iceberg's builder removes the refs on it. Those that the sender knew of are named among the updates; others were made since.
     */
    private void checkRefsRemain(RefTarget target, TableMetadata next)
    {
        for (String ref : target.metadata().refs().keySet()) {
            if (next.ref(ref) == null && !updates.removes(ref)) {
                throw new CommitFailedException("Cannot commit: %s of %s is at a snapshot that would be removed", ref, target.name());
            }
        }
    }

    @Override
    public boolean readsFiles()
    {
        return false;
    }

    @Override
    public boolean mayMoveProtected(RefChange move, TableMetadata before, TableMetadata after)
    {
        return ProtectedRefs.isForward(move, before, after);
    }
}
