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
import io.skade.ref.RefRefusedException;
import io.skade.ref.RefUpdates;
import io.trino.spi.TrinoException;

import java.util.OptionalLong;

import static io.skade.procedure.RefRequest.changing;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code publish_branch}: brings another branch, by default {@code main}, to where the published one is. Takes rights on the branch that moves, and on
 * the published one if it is to be dropped.
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
        String mode = values.string("mode");
        boolean dropBranch = values.flag("drop_branch");
        switch (mode) {
            case "fast_forward" -> {}
            case "rebase" -> throw new TrinoException(NOT_SUPPORTED, "publish_branch does not support mode rebase yet");
            default -> throw new RefRefusedException(INVALID_VALUE, "Invalid mode: '%s' is neither fast_forward nor rebase", mode);
        }
        if (dropBranch) {
            return changing(ImmutableSet.of(to, branch), RefUpdates.publishAndDropBranch(branch, to, expectedSnapshotId));
        }
        return changing(to, RefUpdates.publishBranch(branch, to, expectedSnapshotId));
    }
}
