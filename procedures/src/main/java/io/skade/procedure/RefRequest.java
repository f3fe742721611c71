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
package io.skade.procedure;

import com.google.common.collect.ImmutableSet;
import io.skade.ref.RefUpdate;
import io.skade.ref.RefUpdates.IfExists;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.SchemaTableName;

import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * A ref update as a user asks for it, with the rights on refs that it takes.
 *
 * @param inserted the refs on which the user must be allowed to insert
 * @param deleted the refs on which the user must be allowed to delete
 */
public record RefRequest(RefUpdate update, Set<String> inserted, Set<String> deleted)
{
    public RefRequest
    {
        requireNonNull(update, "update is null");
        inserted = ImmutableSet.copyOf(inserted);
        deleted = ImmutableSet.copyOf(deleted);
    }

    /**
     * A request for a new ref; to replace one that is there is a change of it.
     */
    static RefRequest creating(String ref, IfExists ifExists, RefUpdate update)
    {
        return switch (ifExists) {
            case REFUSE, KEEP -> new RefRequest(update, ImmutableSet.of(ref), ImmutableSet.of());
            case REPLACE -> changing(ref, update);
        };
    }

    /**
     * A request that moves, replaces, renames or drops refs, or changes what holds for them.
     */
    static RefRequest changing(Set<String> refs, RefUpdate update)
    {
        return new RefRequest(update, refs, refs);
    }

    static RefRequest changing(String ref, RefUpdate update)
    {
        return changing(ImmutableSet.of(ref), update);
    }

    /**
     * @throws io.trino.spi.security.AccessDeniedException if the user lacks one of the rights
     */
    public void checkAccess(ConnectorAccessControl accessControl, SchemaTableName table)
    {
        // the engine knows who asks and takes no other context
        inserted.forEach(ref -> accessControl.checkCanInsertIntoTable(null, table, Optional.of(ref)));
        deleted.forEach(ref -> accessControl.checkCanDeleteFromTable(null, table, Optional.of(ref)));
    }
}
