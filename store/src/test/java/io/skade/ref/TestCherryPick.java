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

import io.skade.ref.RefRefusedException.Reason;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.ref.SnapshotSelector.AtSnapshot;
import io.skade.store.InterceptedPointerStore;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.TablePointer;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static io.skade.ref.RefUpdates.cherrypickSnapshot;
import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.RefUpdates.publishChanges;
import static io.skade.ref.TestingCatalog.NO_RETRIES;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static io.skade.ref.TestingCatalog.dataFile;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Cherry-picks of the snapshot that the branch {@code dev} is ahead of {@code main}, and of staged ones.
 */
class TestCherryPick
{
    private static final AtRef MAIN = new AtRef("main");

    @TempDir
    private Path warehouse;

    private TestingCatalog lake;
    private long first;
    private long picked;

    @BeforeEach
    void createTable()
    {
        lake = new TestingCatalog(warehouse);
        first = append(lake.createTable(T, NO_RETRIES)).snapshotId();
        lake.commit(T, createBranch("dev", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        picked = append(lake.loadBranch(T, "dev")).snapshotId();
    }

    @Test
    void testPick()
    {
        long second = append(lake.load(T)).snapshotId();
        lake.commit(T, cherrypickSnapshot(picked, "main"));
        Snapshot snapshot = lake.load(T).currentSnapshot();
        assertThat(snapshot.parentId()).isEqualTo(second);
        assertThat(snapshot.summary()).containsEntry("source-snapshot-id", String.valueOf(picked));
        assertThat(lake.load(T).newScan().planFiles()).hasSize(3);
        assertThat(lake.snapshotId(T, "dev")).isEqualTo(picked);
        assertThat(lake.lastLogEntry().tables()).extracting(TableChange::operation).containsExactly("cherrypick_snapshot");
        assertThat(lake.lastLogEntry().tables().getFirst().refChanges()).extracting(change -> change.ref()).containsExactly("main");
        // and on from there
        assertThat(append(lake.load(T)).parentId()).isEqualTo(snapshot.snapshotId());
    }

    /**
     * Where the branch is at the parent of the snapshot, it becomes the snapshot itself.
     */
    @Test
    void testPickOfTheNextSnapshot()
    {
        lake.commit(T, cherrypickSnapshot(picked, "main"));
        assertThat(lake.snapshotId(T, "main")).isEqualTo(picked);
        assertThat(lake.metadata(T).snapshots()).hasSize(2);
    }

    @Test
    void testPickToABranch()
    {
        lake.commit(T, createBranch("audit", MAIN, new Retention(Optional.of(Duration.ofMillis(1)), Optional.of(2), Optional.of(Duration.ofMillis(3))), IfExists.REFUSE));
        long second = append(lake.loadBranch(T, "audit")).snapshotId();
        lake.commit(T, cherrypickSnapshot(picked, "audit"));
        SnapshotRef audit = lake.refs(T).get("audit");
        assertThat(audit).isEqualTo(SnapshotRef.branchBuilder(audit.snapshotId()).maxRefAgeMs(1L).minSnapshotsToKeep(2).maxSnapshotAgeMs(3L).build());
        assertThat(lake.metadata(T).snapshot(audit.snapshotId()).parentId()).isEqualTo(second);
        assertThat(lake.loadBranch(T, "audit").newScan().planFiles()).hasSize(3);
        assertThat(lake.snapshotId(T, "main")).isEqualTo(first);
        assertThat(lake.snapshotId(T, "dev")).isEqualTo(picked);
        assertThat(lake.metadata(T).snapshots()).extracting(Snapshot::sequenceNumber).doesNotHaveDuplicates();
    }

    @Test
    void testPickTwice()
    {
        append(lake.load(T));
        lake.commit(T, cherrypickSnapshot(picked, "main"));
        long main = lake.snapshotId(T, "main");
        assertRefused(
                () -> lake.commit(T, cherrypickSnapshot(picked, "main")),
                INVALID_VALUE,
                "Cannot cherry-pick %s to main of db.t: Cannot cherrypick snapshot %s: already picked to create ancestor %s".formatted(picked, picked, main));
        assertRefused(
                () -> lake.commit(T, cherrypickSnapshot(first, "main")),
                INVALID_VALUE,
                "Cannot cherry-pick %s to main of db.t: Cannot cherrypick snapshot %s: already an ancestor".formatted(first, first));
    }

    @Test
    void testPickOfADelete()
    {
        lake.loadBranch(T, "dev").newDelete().deleteFile(lake.metadata(T).snapshot(picked).addedDataFiles(lake.io()).iterator().next()).commit();
        long delete = lake.snapshotId(T, "dev");
        append(lake.load(T));
        assertRefused(
                () -> lake.commit(T, cherrypickSnapshot(delete, "main")),
                INVALID_VALUE,
                "Cannot cherry-pick %s to main of db.t: Cannot cherry-pick snapshot %s: not append, dynamic overwrite, or fast-forward".formatted(delete, delete));
    }

    /**
     * The new snapshot would have the present schema, with which nobody can read the files.
     */
    @Test
    void testPickOfASnapshotOfAReplacedTable()
    {
        lake.commit(T, createBranch("audit", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        append(lake.loadBranch(T, "audit"));
        replaceTable(Types.LongType.get(), Types.StringType.get());
        lake.commit(T, cherrypickSnapshot(picked, "main"));
        assertThat(lake.load(T).newScan().planFiles()).hasSize(1);

        replaceTable(Types.StringType.get(), Types.StringType.get());
        for (String branch : new String[] {"main", "audit"}) {
            assertRefused(
                    () -> lake.commit(T, cherrypickSnapshot(picked, branch)),
                    INVALID_VALUE,
                    "Cannot cherry-pick %1$s to %2$s of db.t: %1$s cannot be read: column id has type long in it, and string since the table was replaced".formatted(picked, branch));
        }
        // nothing is made anew here
        lake.commit(T, createBranch("behind", new AtSnapshot(first), Retention.DEFAULT, IfExists.REFUSE));
        lake.commit(T, cherrypickSnapshot(picked, "behind"));
        assertThat(lake.snapshotId(T, "behind")).isEqualTo(picked);
    }

    private void replaceTable(Type id, Type name)
    {
        lake.catalog().buildTable(T, new Schema(Types.NestedField.required(1, "id", id), Types.NestedField.optional(2, "name", name), Types.NestedField.optional(3, "c", name)))
                .replaceTransaction()
                .commitTransaction();
        lake.load(T).newAppend().commit();
    }

    @Test
    void testMissing()
    {
        lake.commit(T, createTag("v1", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        assertRefused(() -> lake.commit(T, cherrypickSnapshot(99, "main")), INVALID_VALUE, "Snapshot does not exist in db.t: 99");
        assertRefused(() -> lake.commit(T, cherrypickSnapshot(picked, "nope")), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
        assertRefused(() -> lake.commit(T, cherrypickSnapshot(picked, "v1")), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
    }

    /**
     * An insert comes first: the pick is made anew on top of it.
     */
    @Test
    void testRace()
    {
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store()).interfere(() -> append(lake.load(T)));
        lake.over(store).commit(T, cherrypickSnapshot(picked, "main"));
        assertThat(lake.load(T).newScan().planFiles()).hasSize(3);
        assertThat(lake.metadata(T).snapshots()).extracting(Snapshot::sequenceNumber).doesNotHaveDuplicates();
    }

    @Test
    void testPublishChanges()
    {
        stage("w1");
        stage("w2");
        stage("w2");
        assertThat(lake.load(T).newScan().planFiles()).hasSize(1);
        append(lake.load(T));
        lake.commit(T, publishChanges("w1"));
        assertThat(lake.load(T).newScan().planFiles()).hasSize(3);
        assertThat(lake.load(T).currentSnapshot().summary()).containsEntry("published-wap-id", "w1");
        assertThat(lake.lastLogEntry().tables()).extracting(TableChange::operation).containsExactly("publish_changes");

        assertRefused(
                () -> lake.commit(T, publishChanges("nope")),
                INVALID_VALUE,
                "Cannot publish changes of db.t: no snapshots are staged with wap_id nope");
        assertRefused(
                () -> lake.commit(T, publishChanges("w2")),
                INVALID_VALUE,
                "Cannot publish changes of db.t: 2 snapshots are staged with wap_id w2");
        assertThatThrownBy(() -> lake.commit(T, publishChanges("w1")))
                .isInstanceOf(RefRefusedException.class)
                .hasMessageContaining("w1");
        assertThat(lake.load(T).newScan().planFiles()).hasSize(3);
    }

    private void stage(String wapId)
    {
        lake.load(T).newAppend().appendFile(dataFile()).set("wap.id", wapId).stageOnly().commit();
    }

    private void assertRefused(ThrowingCallable call, Reason reason, String message)
    {
        TablePointer pointer = lake.pointer(T);
        Set<Path> files = lake.metadataFiles();
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(reason))
                .hasMessage(message);
        assertThat(lake.pointer(T)).isEqualTo(pointer);
        assertThat(lake.metadataFiles()).isEqualTo(files);
    }
}
