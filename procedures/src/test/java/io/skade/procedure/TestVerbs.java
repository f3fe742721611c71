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

import io.skade.ref.ProtectedRefs;
import org.apache.iceberg.SnapshotRef;
import org.junit.jupiter.api.Test;

import static io.skade.procedure.SkadeErrorCode.REF_ALREADY_EXISTS;
import static io.skade.procedure.SkadeErrorCode.REF_COMMIT_CONFLICT;
import static io.skade.procedure.SkadeErrorCode.REF_NOT_ANCESTOR;
import static io.skade.procedure.SkadeErrorCode.REF_NOT_FOUND;
import static io.skade.procedure.TestRefProcedure.assertInvalid;
import static io.skade.procedure.TestRefProcedure.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What each verb makes of its arguments, and on which refs it asks for rights.
 */
class TestVerbs
{
    private final ProcedureRunner runner = new ProcedureRunner();

    @Test
    void testCreateBranch()
    {
        runner.call("create_branch", "branch", "b");
        assertThat(runner.takeEvents()).containsExactly("insert b", "commit create_branch");
        assertThat(runner.ref("b")).isEqualTo(SnapshotRef.branchBuilder(3).build());

        runner.call("create_branch", "branch", "of_ref", "ref", "eoy", "if_not_exists", true);
        assertThat(runner.takeEvents()).containsExactly("insert of_ref", "commit create_branch");
        runner.call("create_branch", "branch", "of_snapshot", "snapshot_id", 2L);
        runner.call("create_branch", "branch", "of_time", "timestamp", "2026-01-01 01:00:01.999999999999 Europe/Vienna");
        assertThat(runner.refs()).isEqualTo("audit=4 b=3 eoy=1 main=3 of_ref=1 of_snapshot=2 of_time=1");

        runner.call("create_branch", "branch", "kept", "max_ref_age", "30d", "min_snapshots_to_keep", 3L, "max_snapshot_age", "12h");
        assertThat(runner.ref("kept")).isEqualTo(SnapshotRef.branchBuilder(3)
                .maxRefAgeMs(2_592_000_000L)
                .minSnapshotsToKeep(3)
                .maxSnapshotAgeMs(43_200_000L)
                .build());
    }

    @Test
    void testCreateExistingBranch()
    {
        assertRefused(() -> runner.call("create_branch", "branch", "audit"), REF_ALREADY_EXISTS, "Cannot create branch audit in sales.orders: a branch of that name already exists");
        runner.call("create_branch", "branch", "audit", "if_not_exists", true);
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=3");
        runner.takeEvents();

        runner.call("create_branch", "branch", "audit", "snapshot_id", 1L, "or_replace", true);
        assertThat(runner.takeEvents()).containsExactly("insert audit", "delete audit", "commit create_branch");
        assertThat(runner.refs()).isEqualTo("audit=1 eoy=1 main=3");
    }

    @Test
    void testCreateBranchArguments()
    {
        String atMostOne = "At most one of ref, snapshot_id, timestamp can be given";
        assertInvalid(() -> runner.call("create_branch", "branch", "b", "ref", "main", "snapshot_id", 1L), atMostOne);
        assertInvalid(() -> runner.call("create_branch", "branch", "b", "ref", "main", "timestamp", "2026-01-01 UTC"), atMostOne);
        assertInvalid(() -> runner.call("create_branch", "branch", "b", "snapshot_id", 1L, "timestamp", "2026-01-01 UTC"), atMostOne);
        assertInvalid(() -> runner.call("create_branch", "branch", "b", "ref", ""), "ref cannot be null or empty");
        assertInvalid(() -> runner.call("create_branch", "branch", "b", "if_not_exists", true, "or_replace", true), "At most one of if_not_exists, or_replace can be true");
        assertInvalid(() -> runner.call("create_branch", "branch", "b", "max_ref_age", "later"), "Invalid max_ref_age: 'later' is not a duration such as '7d' or '12h'");
        assertInvalid(() -> runner.call("create_branch", "branch", "b", "max_snapshot_age", "0s"), "Invalid max_snapshot_age: '0s' is shorter than 1ms");
        assertInvalid(() -> runner.call("create_branch", "branch", "b", "min_snapshots_to_keep", 0L), "Invalid min_snapshots_to_keep: 0 is not between 1 and 2147483647");
        assertInvalid(() -> runner.call("create_branch", "branch", " b"), "Invalid ref name: it begins or ends with a blank: ' b'");
        assertThat(runner.takeEvents()).isEmpty();

        runner.call("create_branch", "branch", "b", "ref", null, "snapshot_id", null, "timestamp", null, "max_ref_age", null);
        assertThat(runner.ref("b")).isEqualTo(SnapshotRef.branchBuilder(3).build());
    }

    @Test
    void testCreateTag()
    {
        runner.call("create_tag", "tag", "t");
        assertThat(runner.takeEvents()).containsExactly("insert t", "commit create_tag");
        runner.call("create_tag", "tag", "of_ref", "ref", "audit");
        runner.call("create_tag", "tag", "of_snapshot", "snapshot_id", 2L, "max_ref_age", "7d");
        runner.call("create_tag", "tag", "of_time", "timestamp", "2026-01-01 00:00:02 UTC");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=3 of_ref=4 of_snapshot=2 of_time=2 t=3");
        assertThat(runner.ref("of_snapshot")).isEqualTo(SnapshotRef.tagBuilder(2).maxRefAgeMs(604_800_000L).build());
        runner.takeEvents();

        runner.call("create_tag", "tag", "eoy", "snapshot_id", 2L, "or_replace", true);
        assertThat(runner.takeEvents()).containsExactly("insert eoy", "delete eoy", "commit create_tag");
        assertThat(runner.ref("eoy")).isEqualTo(SnapshotRef.tagBuilder(2).build());
        runner.call("create_tag", "tag", "eoy", "if_not_exists", true);
        assertThat(runner.ref("eoy")).isEqualTo(SnapshotRef.tagBuilder(2).build());

        assertInvalid(() -> runner.call("create_tag", "tag", "t2", "ref", "main", "snapshot_id", 1L), "At most one of ref, snapshot_id, timestamp can be given");
        assertInvalid(() -> runner.call("create_tag", "tag", "t2", "max_ref_age", "-1d"), "Invalid max_ref_age: '-1d' is not a duration such as '7d' or '12h'");
    }

    @Test
    void testDrop()
    {
        assertRefused(() -> runner.call("drop_branch", "branch", "eoy", "if_exists", true), REF_NOT_FOUND, "Branch does not exist in sales.orders: eoy is a tag");
        assertRefused(() -> runner.call("drop_tag", "tag", "audit", "if_exists", true), REF_NOT_FOUND, "Tag does not exist in sales.orders: audit is a branch");
        assertRefused(() -> runner.call("drop_branch", "branch", "b"), REF_NOT_FOUND, "Branch does not exist in sales.orders: b");
        runner.call("drop_branch", "branch", "b", "if_exists", true);
        runner.call("drop_tag", "tag", "b", "if_exists", true);
        runner.call("drop_ref", "ref", "b", "if_exists", true);
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=3");
        runner.takeEvents();

        runner.call("drop_branch", "branch", "audit");
        assertThat(runner.takeEvents()).containsExactly("insert audit", "delete audit", "commit drop_branch");
        runner.call("drop_tag", "tag", "eoy");
        assertThat(runner.takeEvents()).containsExactly("insert eoy", "delete eoy", "commit drop_tag");
        assertThat(runner.refs()).isEqualTo("main=3");
        runner.call("expire_refs");
        assertThat(runner.takeEvents()).containsExactly("insert main", "delete main", "commit expire_refs");
    }

    @Test
    void testRenameRef()
    {
        runner.call("rename_ref", "ref", "audit", "to", "Audit");
        assertThat(runner.takeEvents()).containsExactly("insert audit", "insert Audit", "delete audit", "delete Audit", "commit rename_ref");
        assertThat(runner.refs()).isEqualTo("Audit=4 eoy=1 main=3");
        assertRefused(() -> runner.call("rename_ref", "ref", "Audit", "to", "Audit"), REF_ALREADY_EXISTS, "Cannot rename Audit of sales.orders to Audit: a branch of that name already exists");
    }

    @Test
    void testReplace()
    {
        runner.call("replace_branch", "branch", "audit", "ref", "eoy");
        assertThat(runner.takeEvents()).containsExactly("insert audit", "delete audit", "commit replace_branch");
        runner.call("replace_tag", "tag", "eoy", "snapshot_id", 2L, "expected_snapshot_id", 1L);
        assertThat(runner.takeEvents()).containsExactly("insert eoy", "delete eoy", "commit replace_tag");
        assertThat(runner.refs()).isEqualTo("audit=1 eoy=2 main=3");

        assertRefused(
                () -> runner.call("replace_branch", "branch", "audit", "ref", "main", "expected_snapshot_id", 4L),
                REF_COMMIT_CONFLICT,
                "Cannot move audit of sales.orders: expected at snapshot 4, but it is at 1");
        assertInvalid(() -> runner.call("replace_branch", "branch", "audit"), "Exactly one of ref, snapshot_id must be given");
        assertInvalid(() -> runner.call("replace_tag", "tag", "eoy", "ref", "main", "snapshot_id", 1L), "Exactly one of ref, snapshot_id must be given");
        assertInvalid(() -> runner.call("replace_tag", "tag", "eoy", "ref", ""), "ref cannot be null or empty");
        assertThat(runner.refs()).isEqualTo("audit=1 eoy=2 main=3");
    }

    @Test
    void testSetRefRetention()
    {
        runner.call("set_ref_retention", "ref", "audit", "max_ref_age", "12h", "min_snapshots_to_keep", 4L, "max_snapshot_age", "1d");
        assertThat(runner.takeEvents()).containsExactly("insert audit", "delete audit", "commit set_ref_retention");
        assertThat(runner.ref("audit")).isEqualTo(SnapshotRef.branchBuilder(4).maxRefAgeMs(43_200_000L).minSnapshotsToKeep(4).maxSnapshotAgeMs(86_400_000L).build());

        runner.call("set_ref_retention", "ref", "audit", "min_snapshots_to_keep", null, "max_snapshot_age", "2d");
        assertThat(runner.ref("audit")).isEqualTo(SnapshotRef.branchBuilder(4).maxSnapshotAgeMs(172_800_000L).build());

        assertInvalid(
                () -> runner.call("set_ref_retention", "ref", "eoy", "min_snapshots_to_keep", 1L),
                "A tag has a max_ref_age only: min_snapshots_to_keep and max_snapshot_age are for branches");
        assertInvalid(() -> runner.call("set_ref_retention", "ref", "audit", "max_ref_age", ""), "max_ref_age cannot be null or empty");
        assertThat(runner.ref("eoy")).isEqualTo(SnapshotRef.tagBuilder(1).build());
    }

    @Test
    void testFastForward()
    {
        runner.call("fast_forward", "branch", "main", "to", "audit", "expected_snapshot_id", 3L);
        assertThat(runner.takeEvents()).containsExactly("insert main", "delete main", "commit fast_forward");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=4");

        runner.call("create_branch", "branch", "b", "snapshot_id", 1L);
        runner.call("fast_forward", "branch", "b", "snapshot_id", 2L);
        assertThat(runner.refs()).isEqualTo("audit=4 b=2 eoy=1 main=4");

        assertInvalid(() -> runner.call("fast_forward", "branch", "b"), "Exactly one of to, snapshot_id must be given");
        assertInvalid(() -> runner.call("fast_forward", "branch", "b", "to", "main", "snapshot_id", 4L), "Exactly one of to, snapshot_id must be given");
        assertInvalid(() -> runner.call("fast_forward", "branch", "b", "to", ""), "to cannot be null or empty");
        assertRefused(
                () -> runner.call("fast_forward", "branch", "b", "to", "main", "expected_snapshot_id", 1L),
                REF_COMMIT_CONFLICT,
                "Cannot move b of sales.orders: expected at snapshot 1, but it is at 2");
        assertThat(runner.refs()).isEqualTo("audit=4 b=2 eoy=1 main=4");
    }

    @Test
    void testPublishBranch()
    {
        runner.call("publish_branch", "branch", "audit");
        assertThat(runner.takeEvents()).containsExactly("insert main", "delete main", "commit publish_branch");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=4");

        runner.call("create_branch", "branch", "b", "snapshot_id", 1L);
        runner.takeEvents();
        runner.call("publish_branch", "branch", "audit", "to", "b", "mode", "fast_forward", "expected_snapshot_id", 1L, "drop_branch", true);
        assertThat(runner.takeEvents()).containsExactly("insert b", "insert audit", "delete b", "delete audit", "commit publish_branch");
        assertThat(runner.refs()).isEqualTo("b=4 eoy=1 main=4");
    }

    @Test
    void testPublishBranchModes()
    {
        assertInvalid(() -> runner.call("publish_branch", "branch", "audit", "mode", "merge"), "Invalid mode: 'merge' is neither fast_forward nor rebase");
        assertInvalid(() -> runner.call("publish_branch", "branch", "audit", "mode", ""), "mode cannot be null or empty");
        assertInvalid(() -> runner.call("publish_branch", "branch", "main"), "Cannot publish main of sales.orders to itself");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=3");

        // may move both
        runner.takeEvents();
        runner.call("publish_branch", "branch", "audit", "mode", "rebase");
        assertThat(runner.takeEvents()).containsExactly("insert main", "insert audit", "delete main", "delete audit", "commit publish_branch");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=4");
    }

    @Test
    void testRollbackTo()
    {
        runner.call("rollback_to", "snapshot_id", 2L);
        assertThat(runner.takeEvents()).containsExactly("insert main", "delete main", "commit rollback_to");
        runner.call("rollback_to", "timestamp", "2026-01-01 00:00:03.5 UTC", "branch", "audit");
        assertThat(runner.takeEvents()).containsExactly("insert audit", "delete audit", "commit rollback_to");
        assertThat(runner.refs()).isEqualTo("audit=3 eoy=1 main=2");
        runner.call("rollback_to", "ref", "eoy");
        assertThat(runner.refs()).isEqualTo("audit=3 eoy=1 main=1");

        String exactlyOne = "Exactly one of ref, snapshot_id, timestamp must be given";
        assertInvalid(() -> runner.call("rollback_to"), exactlyOne);
        assertInvalid(() -> runner.call("rollback_to", "ref", null), exactlyOne);
        assertInvalid(() -> runner.call("rollback_to", "ref", "eoy", "snapshot_id", 1L), exactlyOne);
        assertInvalid(() -> runner.call("rollback_to", "ref", "eoy", "timestamp", "2026-01-01 UTC"), exactlyOne);
        assertInvalid(
                () -> runner.call("rollback_to", "timestamp", "2026-01-01 00:00:03"),
                "Invalid timestamp: '2026-01-01 00:00:03' has no time zone. Expected a time with its zone, such as '2026-11-30 10:00:00 UTC'");
        assertRefused(() -> runner.call("rollback_to", "ref", "audit"), REF_NOT_ANCESTOR, "Cannot roll back main of sales.orders to audit: 3 is not an ancestor of 1");
        assertThat(runner.refs()).isEqualTo("audit=3 eoy=1 main=1");
    }

    @Test
    void testSetCurrentSnapshot()
    {
        runner.call("set_current_snapshot", "snapshot_id", 4L);
        assertThat(runner.takeEvents()).containsExactly("insert main", "delete main", "commit set_current_snapshot");
        runner.call("set_current_snapshot", "ref", "eoy", "branch", "audit");
        assertThat(runner.takeEvents()).containsExactly("insert audit", "delete audit", "commit set_current_snapshot");
        assertThat(runner.refs()).isEqualTo("audit=1 eoy=1 main=4");

        assertInvalid(() -> runner.call("set_current_snapshot"), "Exactly one of snapshot_id, ref must be given");
        assertInvalid(() -> runner.call("set_current_snapshot", "snapshot_id", 1L, "ref", "eoy"), "Exactly one of snapshot_id, ref must be given");
        assertInvalid(() -> runner.call("set_current_snapshot", "snapshot_id", 42L), "Snapshot does not exist in sales.orders: 42");
        assertThat(runner.refs()).isEqualTo("audit=1 eoy=1 main=4");
    }

    @Test
    void testProtectRef()
    {
        runner.call("protect_ref", "ref", "main");
        assertThat(runner.takeEvents()).containsExactly("insert main", "delete main", "commit protect_ref");
        assertThat(ProtectedRefs.of(runner.metadata())).containsExactly("main");
        runner.call("unprotect_ref", "ref", "main");
        assertThat(runner.takeEvents()).containsExactly("insert main", "delete main", "commit unprotect_ref");
        assertThat(ProtectedRefs.of(runner.metadata())).isEmpty();
    }

    @Test
    void testUndoRef()
    {
        runner.call("undo_ref", "ref", "main");
        assertThat(runner.takeEvents()).containsExactly("insert main", "delete main", "commit undo_ref");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=2");
        assertInvalid(() -> runner.call("undo_ref", "ref", "main", "steps", 0L), "steps cannot be 0");
        assertInvalid(() -> runner.call("undo_ref", "ref", "main", "steps", 2L), "Cannot undo 2 changes of main of sales.orders: the log holds only 1");
        assertInvalid(() -> runner.call("undo_ref", "ref", "main", "steps", -1L), "Cannot redo 1 change of main of sales.orders: only 0 were undone");
        assertRefused(() -> runner.call("undo_ref", "ref", "nobody"), REF_NOT_FOUND, "Ref does not exist in sales.orders, and its log does not know it: nobody");
    }

    @Test
    void testExpireRefs()
    {
        runner.call("expire_refs", "dry_run", true);
        assertThat(runner.takeEvents()).containsExactly("insert audit", "insert eoy", "delete audit", "delete eoy");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=3");
        runner.call("expire_refs");
        assertThat(runner.takeEvents()).containsExactly("insert audit", "insert eoy", "delete audit", "delete eoy", "commit expire_refs");
        assertThat(runner.refs()).isEqualTo("main=3");
    }

    @Test
    void testRollbackToSnapshot()
    {
        runner.call("rollback_to_snapshot", "snapshot_id", 2L);
        assertThat(runner.takeEvents()).containsExactly("insert main", "delete main", "commit rollback_to_snapshot");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=2");
        assertRefused(
                () -> runner.call("rollback_to_snapshot", "snapshot_id", 4L),
                REF_NOT_ANCESTOR,
                "Cannot roll back main of sales.orders to snapshot 4: 4 is not an ancestor of 2");
        assertInvalid(() -> runner.call("rollback_to_snapshot", "snapshot_id", 42L), "Snapshot does not exist in sales.orders: 42");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=2");
    }

    /**
     * The other door: only what is given is named, and the rest has its default.
     */
    @Test
    void testRead()
    {
        RefRequest request = RefProcedures.verb("publish_branch").read(ProcedureRunner.map("branch", "audit"));
        assertThat(request.inserted()).containsExactly("main");
        assertThat(request.deleted()).containsExactly("main");
        assertThat(request.update().operation(runner.metadata())).isEqualTo("publish_branch");

        request = RefProcedures.verb("create_branch").read(ProcedureRunner.map("branch", "b"));
        assertThat(request.inserted()).containsExactly("b");
        assertThat(request.deleted()).isEmpty();

        assertInvalid(() -> RefProcedures.verb("create_tag").read(ProcedureRunner.map()), "tag cannot be null or empty");
        assertInvalid(() -> RefProcedures.verb("publish_branch").read(ProcedureRunner.map("branch", "audit", "to", null)), "to cannot be null or empty");
        assertInvalid(() -> RefProcedures.verb("create_tag").read(ProcedureRunner.map("tag", "a\nb")), "Invalid ref name: it contains a control character: a\\u000ab");
        assertThatThrownBy(() -> RefProcedures.verb("drop_ref").read(ProcedureRunner.map("ref", "eoy", "cascade", true)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("No such argument of drop_ref: cascade");
    }
}
