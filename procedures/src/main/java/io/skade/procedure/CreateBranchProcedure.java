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

import io.skade.ref.RefUpdates;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.SnapshotSelector;

import static io.skade.procedure.RefRequest.creating;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code create_branch}: a new branch at a ref, a snapshot or a time, by default where {@code main} is.
 */
final class CreateBranchProcedure
        extends RefProcedure
{
    CreateBranchProcedure()
    {
        super("create_branch",
                required("branch", VARCHAR),
                optional("ref", VARCHAR),
                optional("snapshot_id", BIGINT),
                optional("timestamp", VARCHAR),
                optional("max_ref_age", VARCHAR),
                optional("min_snapshots_to_keep", BIGINT),
                optional("max_snapshot_age", VARCHAR),
                flag("if_not_exists"),
                flag("or_replace"));
    }

    @Override
    RefRequest read(ArgumentValues values)
    {
        String branch = values.string("branch");
        SnapshotSelector from = values.atMostOne("ref", "snapshot_id", "timestamp").orElse(new SnapshotSelector.AtRef(MAIN_BRANCH));
        IfExists ifExists = values.ifExists();
        return creating(branch, ifExists, RefUpdates.createBranch(branch, from, values.retention(), ifExists));
    }
}
