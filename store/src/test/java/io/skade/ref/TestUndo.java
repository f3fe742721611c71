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
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.RefUpdates.IfMissing;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.ref.SnapshotSelector.AtSnapshot;
import io.skade.store.LogEntry.TableChange;
import org.apache.iceberg.SnapshotRef;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.skade.ref.RefRefusedException.Reason.PROTECTED;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.RefUpdates.dropRef;
import static io.skade.ref.RefUpdates.protect;
import static io.skade.ref.RefUpdates.rename;
import static io.skade.ref.RefUpdates.rollbackTo;
import static io.skade.ref.RefUpdates.setCurrentSnapshot;
import static io.skade.ref.RefUpdates.setRetention;
import static io.skade.ref.RefUpdates.undo;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestUndo
{
    @TempDir
    private Path warehouse;

    private TestingCatalog lake;
    private long first;
    private long second;
    private long third;

    @BeforeEach
    void createTable()
    {
        lake = new TestingCatalog(warehouse);
        lake.createTable(T, ImmutableMap.of());
        first = append(lake.load(T)).snapshotId();
        second = append(lake.load(T)).snapshotId();
        third = append(lake.load(T)).snapshotId();
    }

    private void rollBack(String branch, long snapshotId)
    {
        lake.commit(T, rollbackTo(branch, new AtSnapshot(snapshotId)));
    }

    private void undoes(String ref, long steps, long snapshotId)
    {
        lake.commit(T, undo(ref, steps));
        assertThat(lake.snapshotId(T, ref)).isEqualTo(snapshotId);
    }

    private void refuses(String ref, long steps, String message)
    {
        assertRefused(() -> lake.commit(T, undo(ref, steps)), INVALID_VALUE, message);
    }

    @Test
    void testUndoOfARollback()
    {
        rollBack("main", first);
        undoes("main", 1, third);
        TableChange change = lake.lastLogEntry().tables().getFirst();
        assertThat(change.operation()).isEqualTo("undo_ref");
        assertThat(change.undoSteps()).isEqualTo(1);
        assertThat(change.refChanges()).hasSize(1);
    }

    @Test
    void testTwoUndosGoTwoChangesBack()
    {
        undoes("main", 1, second);
        undoes("main", 1, first);
        refuses("main", 1, "Cannot undo 1 change of main of db.t: there was no main before append, and an undo does not drop it");
        refuses("main", 2, "Cannot undo 2 changes of main of db.t: the log holds only 1");
    }

    @Test
    void testRedo()
    {
        undoes("main", 2, first);
        undoes("main", -1, second);
        undoes("main", 1, first);
        undoes("main", -2, third);
        refuses("main", -1, "Cannot redo 1 change of main of db.t: only 0 were undone");
    }

    @Test
    void testNothingIsRedoneAfterAnotherChange()
    {
        undoes("main", 2, first);
        long fourth = append(lake.load(T)).snapshotId();
        refuses("main", -1, "Cannot redo 1 change of main of db.t: only 0 were undone");
        undoes("main", 1, first);
        undoes("main", -1, fourth);
        // what was undone for good does not count
        refuses("main", 3, "Cannot undo 3 changes of main of db.t: the log holds only 2");
    }

    /**
     * How far the undo went is logged, not found out by where the ref was.
     */
    @Test
    void testBackAndForthBetweenTwoSnapshots()
    {
        SnapshotSelector toFirst = new AtSnapshot(first);
        SnapshotSelector toThird = new AtSnapshot(third);
        lake.commit(T, setCurrentSnapshot("main", toFirst));
        lake.commit(T, setCurrentSnapshot("main", toThird));
        lake.commit(T, setCurrentSnapshot("main", toFirst));
        undoes("main", 3, third);
        undoes("main", 1, second);
        undoes("main", -1, third);
        undoes("main", -1, first);
        undoes("main", -1, third);
        undoes("main", -1, first);
    }

    @Test
    void testForcedMoveThatLeftTheLine()
    {
        rollBack("main", first);
        long other = append(lake.load(T)).snapshotId();
        lake.commit(T, setCurrentSnapshot("main", new AtSnapshot(third)));
        undoes("main", 1, other);
    }

    @Test
    void testDroppedRefsComeBack()
    {
        Retention retention = new Retention(Optional.of(Duration.ofDays(9)), Optional.of(3), Optional.of(Duration.ofDays(2)));
        lake.commit(T, createBranch("dev", new AtRef("main"), retention, IfExists.REFUSE));
        lake.commit(T, createTag("v1", new AtSnapshot(second), new Retention(Optional.of(Duration.ofDays(5)), Optional.empty(), Optional.empty()), IfExists.REFUSE));
        lake.commit(T, dropRef("dev", IfMissing.REFUSE));
        lake.commit(T, dropRef("v1", IfMissing.REFUSE));

        undoes("v1", 1, second);
        undoes("dev", 1, third);
        assertThat(lake.refs(T)).containsEntry("v1", SnapshotRef.tagBuilder(second).maxRefAgeMs(Duration.ofDays(5).toMillis()).build());
        assertThat(lake.refs(T)).containsEntry("dev", SnapshotRef.branchBuilder(third)
                .maxRefAgeMs(Duration.ofDays(9).toMillis())
                .minSnapshotsToKeep(3)
                .maxSnapshotAgeMs(Duration.ofDays(2).toMillis())
                .build());

        // the drop made again
        lake.commit(T, undo("dev", -1));
        assertThat(lake.refs(T)).containsOnlyKeys("main", "v1");
        undoes("dev", 1, third);
    }

    @Test
    void testDropAndCreateAgain()
    {
        lake.commit(T, createTag("v1", new AtSnapshot(first), Retention.DEFAULT, IfExists.REFUSE));
        lake.commit(T, dropRef("v1", IfMissing.REFUSE));
        lake.commit(T, createBranch("v1", new AtSnapshot(second), Retention.DEFAULT, IfExists.REFUSE));
        refuses("v1", 1, "Cannot undo 1 change of v1 of db.t: there was no v1 before create_branch, and an undo does not drop it");
        undoes("v1", 2, first);
        assertThat(lake.refs(T).get("v1").isTag()).isTrue();
    }

    @Test
    void testRetention()
    {
        lake.commit(T, setRetention("main", new Retention(Optional.of(Duration.ofDays(1)), Optional.empty(), Optional.empty())));
        append(lake.load(T));
        undoes("main", 1, third);
        assertThat(lake.refs(T).get("main").maxRefAgeMs()).isEqualTo(Duration.ofDays(1).toMillis());
        undoes("main", 1, third);
        assertThat(lake.refs(T).get("main").maxRefAgeMs()).isNull();
    }

    @Test
    void testRename()
    {
        lake.commit(T, createTag("v1", new AtSnapshot(first), Retention.DEFAULT, IfExists.REFUSE));
        lake.commit(T, rename("v1", "v2"));
        refuses("v2", 1, "Cannot undo 1 change of v2 of db.t: there was no v2 before rename_ref, and an undo does not drop it");
        undoes("v1", 1, first);
        assertThat(lake.refs(T)).containsOnlyKeys("main", "v1", "v2");
    }

    @Test
    void testRefThatNeverWas()
    {
        assertRefused(() -> lake.commit(T, undo("nobody", 1)), REF_NOT_FOUND, "Ref does not exist in db.t, and its log does not know it: nobody");
        assertRefused(() -> lake.commit(T, undo("MAIN", 1)), REF_NOT_FOUND, "Ref does not exist in db.t, and its log does not know it: MAIN");
    }

    @Test
    void testSteps()
    {
        refuses("main", 0, "steps cannot be 0");
        refuses("main", Long.MAX_VALUE, "Cannot undo 9223372036854775807 changes of main of db.t: the log holds only 3");
        refuses("main", Long.MIN_VALUE, "Cannot redo 9223372036854775808 changes of main of db.t: only 0 were undone");
    }

    @Test
    void testExpiredSnapshot()
    {
        rollBack("main", first);
        lake.load(T).expireSnapshots().expireSnapshotId(third).cleanExpiredFiles(false).commit();
        refuses("main", 1, "Cannot undo 1 change of main of db.t: it was at snapshot %s, which is expired".formatted(third));
    }

    @Test
    void testProtectedRef()
    {
        lake.commit(T, protect("main"));
        assertRefused(() -> lake.commit(T, undo("main", 1)), PROTECTED, "Cannot change main of db.t by undo_ref: it is protected, only publish_branch and fast_forward move it");
    }

    /**
     * What is left of a log may begin in the middle.
     */
    @Test
    void testTrimmedLog()
    {
        undoes("main", 2, first);
        lake.store().trimLog(Instant.MAX);
        refuses("main", 1, "Cannot undo 1 change of main of db.t: the log holds only 0");
        refuses("main", -1, "Cannot redo 1 change of main of db.t: only 0 were undone");
        append(lake.load(T));
        undoes("main", 1, first);
    }

    private static void assertRefused(ThrowingCallable callable, RefRefusedException.Reason reason, String message)
    {
        assertThatThrownBy(callable)
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(reason))
                .hasMessage(message);
    }
}
