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
import io.skade.ref.PublishMode;
import io.skade.ref.RefUpdate;
import io.skade.ref.RefUpdates;

import java.util.OptionalLong;

import static io.skade.procedure.RefRequest.changing;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code publish_branch}: brings another branch, by default {@code main}, to what the published one has. Takes rights on the branch that moves, and on
 * the published one if it is to be dropped or may move by a rebase.
 */
final class PublishBranchProcedure
        extends RefProcedure
{
    PublishBranchProcedure()
    {
        super("publish_branch",
                required("branch", VARCHAR),
                withDefault("to", MAIN_BRANCH),
                withDefault("mode", "fast_forward"),
                optional("expected_snapshot_id", BIGINT),
                flag("drop_branch"));
    }

    @Override
    RefRequest read(ArgumentValues values)
    {
        return publish(values, values.findBigint("expected_snapshot_id"));
    }

    /**
     * The request of {@code publish_branch} and {@code publish_branches}.
     */
    static RefRequest publish(ArgumentValues values, OptionalLong expectedSnapshotId)
    {
        String branch = values.string("branch");
        String to = values.string("to");
        PublishMode mode = values.publishMode();
        if (values.flag("drop_branch")) {
            return changing(ImmutableSet.of(to, branch), RefUpdates.publishAndDropBranch(branch, to, mode, expectedSnapshotId));
        }
        RefUpdate update = RefUpdates.publishBranch(branch, to, mode, expectedSnapshotId);
        return switch (mode) {
            case FAST_FORWARD -> changing(to, update);
            case REBASE -> changing(ImmutableSet.of(to, branch), update);
        };
    }
}
