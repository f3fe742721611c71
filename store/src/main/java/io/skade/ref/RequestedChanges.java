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
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.RetryableValidationException;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.UpdateRequirement;
import org.apache.iceberg.exceptions.CommitFailedException;

import java.util.List;

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
     * @throws CommitFailedException if the table does not meet a requirement, or is past what an update was made for
     */
    @Override
    public TableMetadata apply(RefTarget target)
    {
        TableMetadata base = target.metadata();
        requirements.forEach(requirement -> requirement.validate(base));
        updates.refs().filter(ref -> base.ref(ref) == null).forEach(RefNames::check);
        TableMetadata start = updates.start(target);
        TableMetadata.Builder builder = TableMetadata.buildFrom(start);
        try {
            updates.toApply(base, start).forEach(update -> update.applyTo(builder));
        }
        catch (RetryableValidationException e) {
            throw new CommitFailedException(e, "Cannot commit: %s was changed since the commit was built: %s", target.name(), e.getMessage());
        }
        TableMetadata next = builder.build();
        checkRefsRemain(target, next);
        return start == base && next.changes().isEmpty() ? base : next;
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
    public boolean mayMoveProtected(TableMetadata before)
    {
        return updates.areRewrite() || updates.areFastForward(before);
    }
}
