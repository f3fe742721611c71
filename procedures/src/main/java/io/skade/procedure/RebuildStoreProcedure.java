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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.skade.catalog.RebuildPlan;
import io.skade.ref.RefRefusedException;
import io.skade.store.PointerChange;
import io.skade.store.PointerKind;
import io.skade.store.RefChange;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code rebuild_store}: puts into the store what the metadata files in the warehouse say that it should have. Takes the right to create each schema, table
 * and view that comes back, and rights on each ref of a table that is moved, as a forced move does.
 */
final class RebuildStoreProcedure
        extends CallProcedure<StoreOperations>
{
    RebuildStoreProcedure()
    {
        super("rebuild_store", ImmutableList.of(
                optional("location", VARCHAR),
                flag("dry_run")));
    }

    @Override
    void call(StoreOperations operations, ConnectorAccessControl accessControl, ConnectorSession session, ArgumentValues values)
    {
        Optional<String> location = values.findString("location");
        boolean dryRun = values.flag("dry_run");
        try {
            RebuildPlan plan = operations.planRebuild(session, location);
            if (plan.steps().isEmpty()) {
                throw new RefRefusedException(INVALID_VALUE, "There is no metadata of a table or view under %s", location.orElse("the warehouse"));
            }
            // the engine knows who asks and takes no other context
            plan.namespaces().forEach(namespace -> accessControl.checkCanCreateSchema(null, namespace.toString(), ImmutableMap.of()));
            plan.changes().forEach(change -> checkAccess(accessControl, change));
            if (!dryRun) {
                operations.rebuild(session, plan);
            }
        }
        catch (RuntimeException e) {
            throw ProcedureErrors.translate(e);
        }
    }

    private static void checkAccess(ConnectorAccessControl accessControl, PointerChange change)
    {
        SchemaTableName name = new SchemaTableName(change.name().namespace().toString(), change.name().name());
        if (change.next().orElseThrow().kind() == PointerKind.VIEW) {
            accessControl.checkCanCreateView(null, name);
            return;
        }
        if (change.expected().isEmpty()) {
            accessControl.checkCanCreateTable(null, name, ImmutableMap.of());
            return;
        }
        Set<String> refs = change.refChanges().stream()
                .map(RefChange::ref)
                .collect(toImmutableSet());
        for (String ref : refs.isEmpty() ? Set.of(MAIN_BRANCH) : refs) {
            accessControl.checkCanInsertIntoTable(null, name, Optional.of(ref));
            accessControl.checkCanDeleteFromTable(null, name, Optional.of(ref));
        }
    }
}
