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
import com.google.common.collect.ImmutableMap;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.RefUpdates.IfMissing;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.store.InterceptedPointerStore;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.PointerStore;
import io.skade.store.RefChange;
import io.skade.store.TablePointer;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.Transaction;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.SnapshotUtil;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.Streams.stream;
import static io.skade.ref.PublishMode.FAST_FORWARD;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.RefUpdates.dropRef;
import static io.skade.ref.RefUpdates.publishBranch;
import static io.skade.ref.TestingCatalog.MANY_RETRIES;
import static io.skade.ref.TestingCatalog.NO_RETRIES;
import static io.skade.ref.TestingCatalog.SCHEMA;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static io.skade.ref.TestingCatalog.dataFile;
import static io.skade.ref.TestingCatalog.positionDeletes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Commits that Iceberg makes on the view of a branch {@code audit}, which starts at the only snapshot of {@code main}.
 */
class TestBranchTableOperations
{
    private static final AtRef MAIN = new AtRef("main");
    private static final Retention RETENTION = new Retention(Optional.of(Duration.ofMillis(1)), Optional.of(2), Optional.of(Duration.ofMillis(3)));

    @TempDir
    private Path warehouse;

    private TestingCatalog lake;
    private long first;

    @BeforeEach
    void createLake()
    {
        lake = new TestingCatalog(warehouse);
        createTable(NO_RETRIES);
    }

    private void createTable(Map<String, String> properties)
    {
        lake.catalog().dropTable(T, false);
        first = append(lake.createTable(T, properties)).snapshotId();
        lake.commit(T, createBranch("audit", MAIN, RETENTION, IfExists.REFUSE));
    }

    private static SnapshotRef audit(long snapshotId)
    {
        return SnapshotRef.branchBuilder(snapshotId).maxRefAgeMs(1L).minSnapshotsToKeep(2).maxSnapshotAgeMs(3L).build();
    }

    @Test
    void testView()
    {
        Table branch = lake.loadBranch(T, "audit");
        append(branch);
        append(lake.load(T));
        branch.refresh();
        assertThat(branch.currentSnapshot().snapshotId()).isEqualTo(lake.snapshotId(T, "audit"));
        assertThat(branch.newScan().planFiles()).hasSize(2);
        assertThat(branch.schema().sameSchema(SCHEMA)).isTrue();
        assertThat(branch.location()).isEqualTo(lake.load(T).location());
        assertThat(branch.uuid()).isEqualTo(lake.load(T).uuid());
        assertThat(branch.snapshots()).hasSize(3);
        assertThat(branch.refs()).containsOnlyKeys("main", "audit");
    }

    @Test
    void testAppend()
    {
        TablePointer before = lake.pointer(T);
        Snapshot snapshot = append(lake.loadBranch(T, "audit"));

        assertThat(snapshot.parentId()).isEqualTo(first);
        assertThat(lake.refs(T)).isEqualTo(ImmutableMap.of("main", SnapshotRef.branchBuilder(first).build(), "audit", audit(snapshot.snapshotId())));
        assertThat(lake.metadata(T).currentSnapshot().snapshotId()).isEqualTo(first);
        // the history of main says nothing of it
        assertThat(lake.metadata(T).snapshotLog()).extracting(entry -> entry.snapshotId()).containsExactly(first);
        assertThat(lake.pointer(T).version()).isEqualTo(before.version() + 1);
        assertThat(lake.metadata(T).previousFiles().getLast().file()).isEqualTo(before.metadataLocation());
        assertThat(lake.lastLogEntry().tables()).containsExactly(new TableChange(
                T,
                before.id(),
                "append",
                Optional.of(lake.pointer(T).metadataLocation()),
                ImmutableList.of(new RefChange("audit", Optional.of(audit(first)), Optional.of(audit(snapshot.snapshotId()))))));
        assertThat(lake.load(T).newScan().planFiles()).hasSize(1);
        assertThat(lake.load(T).newScan().useRef("audit").planFiles()).hasSize(2);

        // and on from there
        Snapshot second = append(lake.loadBranch(T, "audit"));
        assertThat(second.parentId()).isEqualTo(snapshot.snapshotId());
        assertThat(second.sequenceNumber()).isGreaterThan(snapshot.sequenceNumber());
    }

    @Test
    void testManyCommitsOfOneTableObject()
    {
        Table branch = lake.loadBranch(T, "audit");
        for (int i = 0; i < 5; i++) {
            append(branch);
            append(lake.load(T));
        }
        assertThat(line("audit")).hasSize(6);
        assertThat(line("main")).hasSize(6);
        assertSequenceNumbersUnique();
    }

    /**
     * What Trino does for UPDATE and MERGE.
     */
    @Test
    void testRowDelta()
    {
        Table branch = lake.loadBranch(T, "audit");
        DataFile added = dataFile();
        DeleteFile deletes = positionDeletes();
        branch.newRowDelta()
                .addRows(added)
                .addDeletes(deletes)
                .validateFromSnapshot(first)
                .validateNoConflictingDataFiles()
                .validateNoConflictingDeleteFiles()
                .commit();
        Snapshot snapshot = lake.metadata(T).snapshot(lake.snapshotId(T, "audit"));
        assertThat(snapshot.parentId()).isEqualTo(first);
        assertThat(snapshot.operation()).isEqualTo("overwrite");
        assertThat(snapshot.addedDeleteFiles(lake.io())).hasSize(1);
        assertThat(lake.refs(T).get("audit")).isEqualTo(audit(snapshot.snapshotId()));
        assertThat(lake.snapshotId(T, "main")).isEqualTo(first);
        assertThat(lake.load(T).newScan().planFiles()).allSatisfy(task -> assertThat(task.deletes()).isEmpty());
    }

    /**
     * The conflict check of a row delta looks at the branch, and at nothing else.
     */
    @Test
    void testConflictCheckOfARowDelta()
    {
        Table branch = lake.loadBranch(T, "audit");
        var delta = branch.newRowDelta()
                .addDeletes(positionDeletes())
                .validateFromSnapshot(first)
                .validateNoConflictingDataFiles();
        append(lake.load(T));
        delta.commit();

        var late = lake.loadBranch(T, "audit").newRowDelta()
                .addDeletes(positionDeletes())
                .validateFromSnapshot(lake.snapshotId(T, "audit"))
                .validateNoConflictingDataFiles();
        append(lake.loadBranch(T, "audit"));
        assertNothingChanges(() -> assertThatThrownBy(late::commit)
                .isInstanceOf(ValidationException.class)
                .hasMessageStartingWith("Found conflicting files that can contain records matching true"));
    }

    @Test
    void testDelete()
    {
        DataFile file = lake.metadata(T).snapshot(first).addedDataFiles(lake.io()).iterator().next();
        lake.loadBranch(T, "audit").newDelete().deleteFile(file).commit();
        assertThat(lake.load(T).newScan().useRef("audit").planFiles()).isEmpty();
        assertThat(lake.load(T).newScan().planFiles()).hasSize(1);
    }

    @Test
    void testTransactionOfSeveralSnapshots()
    {
        Transaction transaction = lake.loadBranch(T, "audit").newTransaction();
        transaction.newAppend().appendFile(dataFile()).commit();
        transaction.newAppend().appendFile(dataFile()).commit();
        transaction.updateProperties().set("a", "b").commit();
        transaction.commitTransaction();
        assertThat(line("audit")).hasSize(3);
        assertThat(lake.snapshotId(T, "main")).isEqualTo(first);
        assertThat(lake.load(T).properties()).containsEntry("a", "b");
        assertThat(lake.lastLogEntry().tables().getFirst().refChanges()).hasSize(1);
    }

    @Test
    void testEmptyTransaction()
    {
        assertNothingChanges(() -> lake.loadBranch(T, "audit").newTransaction().commitTransaction());
    }

    @Test
    void testBranchThatMoved()
    {
        Table late = lake.loadBranch(T, "audit");
        late.currentSnapshot();
        long moved = append(lake.loadBranch(T, "audit")).snapshotId();
        assertNothingChanges(() -> assertThatThrownBy(() -> commitFromLoadedBase(late))
                .isInstanceOf(CommitFailedException.class)
                .hasMessage("Cannot commit: branch audit of db.t moved from %s to %s", first, moved));
    }

    @Test
    void testBranchThatMovedIsTriedAgain()
    {
        createTable(MANY_RETRIES);
        AtomicBoolean once = new AtomicBoolean();
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store())
                .interfere(() -> {
                    append(lake.loadBranch(T, "audit"));
                    once.set(true);
                });
        append(lake.over(store).loadBranch(T, "audit"));
        assertThat(once).isTrue();
        assertThat(line("audit")).hasSize(3);
        assertThat(lake.load(T).newScan().useRef("audit").planFiles()).hasSize(3);
        assertSequenceNumbersUnique();
    }

    @Test
    void testBranchThatWasDropped()
    {
        Table late = lake.loadBranch(T, "audit");
        late.currentSnapshot();
        lake.commit(T, dropRef("audit", IfMissing.REFUSE));
        assertNothingChanges(() -> assertRefNotFound(() -> commitFromLoadedBase(late), "Branch does not exist in db.t: audit"));
        assertRefNotFound(late::refresh, "Branch does not exist in db.t: audit");
    }

    @Test
    void testMissingBranch()
    {
        assertRefNotFound(() -> lake.loadBranch(T, "nope").schema(), "Branch does not exist in db.t: nope");
        lake.commit(T, createTag("v1", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        assertRefNotFound(() -> lake.loadBranch(T, "v1").schema(), "Branch does not exist in db.t: v1");
    }

    /**
     * No retries are allowed here: a tag, another branch's commit or a publish of something else is no reason for one.
     */
    @Test
    void testOtherRefsThatMoved()
    {
        Table branch = lake.loadBranch(T, "audit");
        branch.currentSnapshot();
        lake.commit(T, createTag("v1", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        lake.commit(T, createBranch("dev", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        commitFromLoadedBase(branch);
        assertThat(lake.refs(T)).containsOnlyKeys("main", "audit", "v1", "dev");
        assertThat(line("audit")).hasSize(2);
    }

    /**
     * The branch's own retention may be changed meanwhile as well; it is that of the branch, not of the commit.
     */
    @Test
    void testRetentionThatChanged()
    {
        Table branch = lake.loadBranch(T, "audit");
        branch.currentSnapshot();
        lake.commit(T, RefUpdates.setRetention("audit", Retention.DEFAULT));
        commitFromLoadedBase(branch);
        assertThat(lake.refs(T).get("audit")).isEqualTo(SnapshotRef.branchBuilder(lake.snapshotId(T, "audit")).build());
    }

    @Test
    void testTagsOnAnotherThread()
            throws Exception
    {
        TestRefCommitter.run(2, thread -> {
            Table branch = lake.loadBranch(T, "audit");
            for (int i = 0; i < 20; i++) {
                if (thread == 0) {
                    append(branch);
                }
                else {
                    lake.commit(T, createTag("v" + i, new AtRef("audit"), Retention.DEFAULT, IfExists.REFUSE));
                }
            }
            return null;
        });
        assertThat(line("audit")).hasSize(21);
        assertThat(lake.refs(T)).hasSize(22);
        assertThat(lake.refs(T).get("audit")).isEqualTo(audit(lake.snapshotId(T, "audit")));
        assertSequenceNumbersUnique();
    }

    @Test
    void testRacesOnSeveralBranches()
            throws Exception
    {
        createTable(MANY_RETRIES);
        lake.commit(T, createBranch("dev", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        List<String> branches = ImmutableList.of("main", "audit", "dev");
        int commits = 6;
        TestRefCommitter.run(6, thread -> {
            for (int i = 0; i < commits; i++) {
                append(lake.loadBranch(T, branches.get(thread % 3)));
            }
            return null;
        });
        for (String branch : branches) {
            assertThat(line(branch)).as(branch).hasSize(2 * commits + 1);
            assertThat(lake.load(T).newScan().useRef(branch).planFiles()).as(branch).hasSize(2 * commits + 1);
        }
        assertThat(lake.metadata(T).snapshots()).hasSize(6 * commits + 1);
        assertThat(lake.refs(T).get("audit")).isEqualTo(audit(lake.snapshotId(T, "audit")));
        assertSequenceNumbersUnique();
    }

    /**
     * A branch has the schema of the table; a change of it by way of the branch is one of the table.
     */
    @Test
    void testSchemaChange()
    {
        lake.loadBranch(T, "audit").updateSchema().addColumn("c", Types.LongType.get()).commit();
        assertThat(lake.load(T).schema().findField("c")).isNotNull();
        assertThat(lake.snapshotId(T, "main")).isEqualTo(first);
        assertThat(lake.snapshotId(T, "audit")).isEqualTo(first);
        lake.load(T).updateSchema().addColumn("d", Types.LongType.get()).commit();
        assertThat(lake.loadBranch(T, "audit").schema().findField("d")).isNotNull();
    }

    /**
     * Iceberg's own verbs on the view mean the branch by {@code main}.
     */
    @Test
    void testRollbackOfTheView()
    {
        append(lake.loadBranch(T, "audit"));
        append(lake.load(T));
        long main = lake.snapshotId(T, "main");
        lake.loadBranch(T, "audit").manageSnapshots().rollbackTo(first).commit();
        assertThat(lake.refs(T)).isEqualTo(ImmutableMap.of("main", SnapshotRef.branchBuilder(main).build(), "audit", audit(first)));
    }

    /**
     * What would take the view for the whole table is refused.
     */
    @Test
    void testExpiryAndReplacement()
    {
        append(lake.loadBranch(T, "audit"));
        assertInvalid(
                () -> lake.loadBranch(T, "audit").expireSnapshots().expireSnapshotId(first).cleanExpiredFiles(false).commit(),
                "Cannot commit expire to branch audit of db.t: it would change the whole table");
        assertInvalid(
                () -> {
                    BaseTable branch = (BaseTable) lake.loadBranch(T, "audit");
                    TableMetadata view = branch.operations().current();
                    branch.operations().commit(view, view.buildReplacement(SCHEMA, view.spec(), view.sortOrder(), view.location(), ImmutableMap.of()));
                },
                "Cannot commit replace_table to branch audit of db.t: it would change the whole table");
    }

    @Test
    void testCreationAtABranch()
    {
        assertNothingChanges(() -> assertThatThrownBy(() -> ((BaseTable) lake.loadBranch(T, "audit")).operations().commit(null, lake.metadata(T)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A table cannot be created at a branch: audit"));
    }

    @Test
    void testUnknownOutcome()
    {
        PointerStore store = new InterceptedPointerStore(lake.store()).failAfter();
        assertThatThrownBy(() -> append(lake.over(store).loadBranch(T, "audit"))).isInstanceOf(CommitStateUnknownException.class);
        // it was made, and no file of it is gone
        Table branch = lake.loadBranch(T, "audit");
        assertThat(line("audit")).hasSize(2);
        assertThat(branch.currentSnapshot().addedDataFiles(branch.io())).hasSize(1);
        assertThat(branch.newScan().planFiles()).hasSize(2);
    }

    @Test
    void testPublishOfWhatWasWritten()
    {
        append(lake.loadBranch(T, "audit"));
        lake.commit(T, publishBranch("audit", "main", FAST_FORWARD, OptionalLong.of(first)));
        assertThat(lake.load(T).newScan().planFiles()).hasSize(2);
        // on from main, whose own retention it keeps
        append(lake.load(T));
        assertThat(lake.refs(T).get("main")).isEqualTo(SnapshotRef.branchBuilder(lake.snapshotId(T, "main")).build());
    }

    /**
     * The first insert into a branch of a table without snapshots, and into {@code main}.
     */
    @Test
    void testBranchOfATableWithoutSnapshots()
    {
        lake.catalog().dropTable(T, false);
        lake.createTable(T, NO_RETRIES);
        lake.commit(T, createBranch("audit", MAIN, RETENTION, IfExists.REFUSE));
        append(lake.loadBranch(T, "audit"));
        assertThat(line("audit")).hasSize(2);
        assertThat(lake.metadata(T).currentSnapshot()).isNull();
        append(lake.load(T));
        assertThat(line("main")).hasSize(1);
        assertThat(lake.load(T).newScan().planFiles()).hasSize(1);
        assertThat(lake.load(T).newScan().useRef("audit").planFiles()).hasSize(1);
        assertSequenceNumbersUnique();
    }

    /**
     * Commits an append built from what the table has loaded, without the refresh that Iceberg makes before each commit.
     */
    private static void commitFromLoadedBase(Table table)
    {
        BaseTable loaded = (BaseTable) table;
        TableMetadata base = loaded.operations().current();
        Snapshot snapshot = new BaseTable(new SnapshotTableOperations(base, table.io()), table.name()).newFastAppend().appendFile(dataFile()).apply();
        loaded.operations().commit(base, TableMetadata.buildFrom(base).setBranchSnapshot(snapshot, "main").build());
    }

    private List<Long> line(String branch)
    {
        TableMetadata metadata = lake.metadata(T);
        return stream(SnapshotUtil.ancestorsOf(metadata.ref(branch).snapshotId(), metadata::snapshot))
                .map(Snapshot::snapshotId)
                .collect(toImmutableList());
    }

    private void assertSequenceNumbersUnique()
    {
        TableMetadata metadata = lake.metadata(T);
        assertThat(metadata.snapshots()).extracting(Snapshot::sequenceNumber).doesNotHaveDuplicates();
        assertThat(metadata.snapshots()).allSatisfy(snapshot -> assertThat(snapshot.sequenceNumber()).isLessThanOrEqualTo(metadata.lastSequenceNumber()));
    }

    private static void assertRefNotFound(ThrowingCallable call, String message)
    {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(REF_NOT_FOUND))
                .hasMessage(message);
    }

    private void assertInvalid(ThrowingCallable call, String message)
    {
        assertNothingChanges(() -> assertThatThrownBy(call)
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(INVALID_VALUE))
                .hasMessage(message));
    }

    private void assertNothingChanges(Runnable action)
    {
        TablePointer pointer = lake.pointer(T);
        long logId = lake.store().state().lastLogId();
        action.run();
        assertThat(lake.pointer(T)).isEqualTo(pointer);
        assertThat(lake.store().state().lastLogId()).isEqualTo(logId);
    }
}
