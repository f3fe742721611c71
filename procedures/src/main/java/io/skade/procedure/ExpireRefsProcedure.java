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
import io.skade.ref.RefUpdates;
import io.skade.ref.TableMove;
import io.skade.store.RefChange;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.time.Instant;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.procedure.RefRequest.changing;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code expire_refs}: drops the refs of a table that are older than their {@code max_ref_age}. Takes rights on each of them, and on {@code main} where
 * there is none, so that who may change nothing is always told so.
 */
final class ExpireRefsProcedure
        extends CallProcedure<TableLoader>
{
    ExpireRefsProcedure()
    {
        super("expire_refs", ImmutableList.of(
                required("schema_name", VARCHAR),
                required("table_name", VARCHAR),
                flag("dry_run")));
    }

    @Override
    void call(TableLoader tables, ConnectorAccessControl accessControl, ConnectorSession session, ArgumentValues values)
    {
        SchemaTableName table = values.table("schema_name", "table_name");
        boolean dryRun = values.flag("dry_run");
        Instant now = Instant.now();
        try {
            TableMove move = tables.dryRun(session, ImmutableMap.of(identifier(table), RefUpdates.expireRefs(now, _ -> true))).getFirst();
            Set<String> expired = move.refChanges().stream()
                    .map(RefChange::ref)
                    .collect(toImmutableSet());
            RefRequest request = changing(expired, RefUpdates.expireRefs(now, expired::contains));
            (expired.isEmpty() ? changing(MAIN_BRANCH, request.update()) : request).checkAccess(accessControl, table);
            if (!dryRun) {
                tables.commit(session, ImmutableMap.of(identifier(table), request.update()));
            }
        }
        catch (RuntimeException e) {
            throw ProcedureErrors.translate(e, table);
        }
    }
}
