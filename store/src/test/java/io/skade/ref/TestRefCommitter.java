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
import io.skade.ref.RefRefusedException.Reason;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.ref.SnapshotSelector.AtSnapshot;
import io.skade.store.InterceptedPointerStore;
import io.skade.store.LogEntry;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.PointerChange;
import io.skade.store.PointerCommit;
import io.skade.store.PointerStore;
import io.skade.store.RefChange;
import io.skade.store.StoreException;
import io.skade.store.TablePointer;
import org.apache.iceberg.ManageSnapshots;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.util.SnapshotUtil;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import static com.google.common.collect.ImmutableMap.toImmutableMap;
import static io.skade.ref.PublishMode.FAST_FORWARD;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.skade.ref.RefRefusedException.Reason.NOT_ANCESTOR;
import static io.skade.ref.RefRefusedException.Reason.NOT_FAST_FORWARD;
import static io.skade.ref.RefRefusedException.Reason.REF_ALREADY_EXISTS;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static io.skade.ref.RefRefusedException.Reason.UNEXPECTED_SNAPSHOT;
import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.RefUpdates.dropRef;
import static io.skade.ref.RefUpdates.fastForward;
import static io.skade.ref.RefUpdates.ofTable;
import static io.skade.ref.RefUpdates.publishBranch;
import static io.skade.ref.RefUpdates.rollbackTo;
import static io.skade.ref.TestingCatalog.ALICE;
import static io.skade.ref.TestingCatalog.MANY_RETRIES;
import static io.skade.ref.TestingCatalog.SCHEMA;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestRefCommitter
{
    private static final AtRef MAIN = new AtRef("main");
    private static final TableIdentifier T1 = TableIdentifier.of("db", "t1");
    private static final TableIdentifier T2 = TableIdentifier.of("db", "t2");
    private static final TableIdentifier T3 = TableIdentifier.of("db", "t3");

    @TempDir
    private Path warehouse;

    private TestingCatalog lake;

    @BeforeEach
    void createLake()
    {
        lake = new TestingCatalog(warehouse);
    }

    @Test
    void testCommit()
    {
        long snapshotId = createTableWithSnapshot(T);
        TablePointer before = lake.pointer(T);
        TableMetadata metadataBefore = lake.metadata(T);

        TableMove move = lake.commit(T, tag("v1"));

        SnapshotRef tag = SnapshotRef.tagBuilder(snapshotId).build();
        TablePointer after = lake.pointer(T);
        assertThat(after.refs()).isEqualTo(ImmutableMap.of("main", SnapshotRef.branchBuilder(snapshotId).build(), "v1", tag));
        assertThat(after).isEqualTo(before.moveTo(before.uuid(), after.metadataLocation(), after.refs()));
        assertThat(lake.lastLogEntry().author()).isEqualTo(ALICE);
        assertThat(lake.lastLogEntry().tables()).containsExactly(new TableChange(
                T,
                before.id(),
                "create_tag",
                Optional.of(after.metadataLocation()),
                ImmutableList.of(new RefChange("v1", Optional.empty(), Optional.of(tag)))));

        assertThat(move.name()).isEqualTo(T);
        assertThat(move.before()).isSameAs(metadataBefore);
        assertThat(move.after().metadataFileLocation()).isEqualTo(after.metadataLocation()).matches(".*/db/t/metadata/00002-[0-9a-f-]{36}\\.metadata\\.json");
        // what is kept in memory is what is in the file
        TableMetadata read = TableMetadataParser.read(lake.io(), after.metadataLocation());
        assertThat(TableMetadataParser.toJson(move.after())).isEqualTo(TableMetadataParser.toJson(read));
        assertThat(read.previousFiles().getLast().file()).isEqualTo(before.metadataLocation());
        assertThat(lake.metadataFiles()).hasSize(3);
    }

    @Test
    void testNothingToChange()
    {
        createTableWithSnapshot(T);
        lake.commit(T, tag("v1"));
        assertNothingChanges(() -> {
            TableMove move = lake.commit(T, createTag("v1", MAIN, Retention.DEFAULT, IfExists.KEEP));
            assertThat(move.after()).isSameAs(move.before());
            assertThat(lake.committer().commit(lake.io(), ALICE, ImmutableMap.of())).isEmpty();
        });
    }

    @Test
    void testRefused()
    {
        createTableWithSnapshot(T);
        lake.commit(T, tag("v1"));
        assertNothingChanges(() -> assertRefused(
                () -> lake.commit(T, tag("v1")),
                REF_ALREADY_EXISTS,
                "Cannot create tag v1 in db.t: a tag of that name already exists"));
    }

    @Test
    void testMissingTable()
    {
        assertNothingChanges(() -> assertThatThrownBy(() -> lake.commit(T, tag("v1")))
                .isInstanceOf(NoSuchTableException.class)
                .hasMessage("Table does not exist: db.t"));
    }

    /**
     * The log is taken from the metadata, so what Iceberg commits is in it as well.
     */
    @Test
    void testLogOfCommitsByIceberg()
    {
        lake.createTable(T, ImmutableMap.of());
        assertThat(operations()).containsExactly("create_table");
        long first = append(lake.load(T)).snapshotId();
        assertThat(operations()).containsExactly("append");
        assertThat(lake.lastLogEntry().tables().getFirst().refChanges())
                .containsExactly(new RefChange("main", Optional.empty(), Optional.of(SnapshotRef.branchBuilder(first).build())));
        long second = append(lake.load(T)).snapshotId();
        assertThat(lake.lastLogEntry().tables().getFirst().refChanges())
                .containsExactly(new RefChange("main", Optional.of(SnapshotRef.branchBuilder(first).build()), Optional.of(SnapshotRef.branchBuilder(second).build())));

        lake.load(T).updateProperties().set("a", "b").commit();
        assertThat(operations()).containsExactly("set_properties");
        assertThat(lake.lastLogEntry().tables().getFirst().refChanges()).isEmpty();
        lake.load(T).updateSchema().addColumn("c", SCHEMA.findType("id")).commit();
        assertThat(operations()).containsExactly("alter_table");
        lake.load(T).manageSnapshots().createTag("v1", first).commit();
        assertThat(operations()).containsExactly("create_tag");
        lake.load(T).manageSnapshots().removeTag("v1").commit();
        lake.load(T).expireSnapshots().expireSnapshotId(first).commit();
        assertThat(operations()).containsExactly("expire");
        lake.catalog().dropTable(T, false);
        assertThat(operations()).containsExactly("drop_table");
        assertThat(lake.lastLogEntry().tables().getFirst().refChanges())
                .containsExactly(new RefChange("main", Optional.of(SnapshotRef.branchBuilder(second).build()), Optional.empty()));
    }

    /**
     * What Iceberg does to refs has the name of the verb that does the same.
     */
    @Test
    void testLogOfRefMovesByIceberg()
    {
        long first = append(lake.createTable(T, ImmutableMap.of())).snapshotId();
        long second = append(lake.load(T)).snapshotId();
        assertLogged("create_tag", refs -> refs.createTag("v1", first));
        assertLogged("create_branch", refs -> refs.createBranch("dev", first));
        assertLogged("create_branch", refs -> refs.createBranch("audit", first).createBranch("test", second));
        assertLogged("set_ref_retention", refs -> refs.setMaxRefAgeMs("v1", 1000));
        assertLogged("replace_tag", refs -> refs.replaceTag("v1", second));
        assertLogged("fast_forward", refs -> refs.fastForwardBranch("dev", "main"));
        assertLogged("rollback_to", refs -> refs.rollbackTo(first));
        append(lake.load(T));
        assertLogged("replace_branch", refs -> refs.replaceBranch("dev", "main"));
        assertLogged("drop_branch", refs -> refs.removeBranch("dev"));
        assertLogged("drop_tag", refs -> refs.removeTag("v1"));
        assertLogged("set_ref", refs -> refs.createTag("v2", first).removeBranch("test"));
    }

    private void assertLogged(String operation, UnaryOperator<ManageSnapshots> change)
    {
        change.apply(lake.load(T).manageSnapshots()).commit();
        assertThat(operations()).containsExactly(operation);
    }

    @Test
    void testLostRaceIsAppliedToTheNewState()
    {
        long snapshotId = createTableWithSnapshot(T);
        interfering(() -> lake.commit(T, createTag("theirs", MAIN, Retention.DEFAULT, IfExists.REFUSE)))
                .commit(T, tag("ours"));
        SnapshotRef tag = SnapshotRef.tagBuilder(snapshotId).build();
        assertThat(lake.refs(T)).isEqualTo(ImmutableMap.of("main", SnapshotRef.branchBuilder(snapshotId).build(), "theirs", tag, "ours", tag));
        // the file of the lost attempt is gone: creation, append, two tags
        assertThat(lake.metadataFiles()).hasSize(4);
        assertThat(lake.metadata(T).previousFiles()).hasSize(3);
        // each change is logged once, as what it did
        assertThat(lake.lastLogEntry().tables().getFirst().refChanges()).containsExactly(new RefChange("ours", Optional.empty(), Optional.of(tag)));
    }

    @Test
    void testLostRaceAgainstAnInsert()
    {
        createTableWithSnapshot(T);
        interfering(() -> append(lake.load(T))).commit(T, tag("v1"));
        // of what main was when the tag was really made
        assertThat(lake.snapshotId(T, "v1")).isEqualTo(lake.snapshotId(T, "main"));
        assertThat(lake.metadata(T).snapshots()).hasSize(2);
    }

    @Test
    void testFastForwardIsCheckedAgain()
    {
        createTableWithSnapshot(T);
        lake.commit(T, branch("dev"));
        append(lake.loadBranch(T, "dev"));
        long dev = lake.snapshotId(T, "dev");
        assertInterferenceRefuses(
                () -> append(lake.load(T)),
                fastForward("main", new AtRef("dev"), OptionalLong.empty()),
                NOT_FAST_FORWARD,
                () -> "Cannot fast-forward main of db.t to dev: %s is not an ancestor of %s".formatted(lake.snapshotId(T, "main"), dev));
    }

    @Test
    void testRollbackIsCheckedAgain()
    {
        long first = createTableWithSnapshot(T);
        long second = append(lake.load(T)).snapshotId();
        append(lake.load(T));
        assertInterferenceRefuses(
                () -> lake.commit(T, rollbackTo("main", new AtSnapshot(first))),
                rollbackTo("main", new AtSnapshot(second)),
                NOT_ANCESTOR,
                () -> "Cannot roll back main of db.t to snapshot %s: %s is not an ancestor of %s".formatted(second, second, first));
    }

    @Test
    void testExistenceIsCheckedAgain()
    {
        createTableWithSnapshot(T);
        assertInterferenceRefuses(
                () -> lake.commit(T, branch("v1")),
                tag("v1"),
                REF_ALREADY_EXISTS,
                () -> "Cannot create tag v1 in db.t: a branch of that name already exists");
        assertInterferenceRefuses(
                () -> lake.commit(T, dropRef("v1", RefUpdates.IfMissing.REFUSE)),
                dropRef("v1", RefUpdates.IfMissing.REFUSE),
                REF_NOT_FOUND,
                () -> "Ref does not exist in db.t: v1");
    }

    @Test
    void testExpectedSnapshotIsCheckedAgain()
    {
        long first = createTableWithSnapshot(T);
        lake.commit(T, branch("dev"));
        append(lake.loadBranch(T, "dev"));
        assertInterferenceRefuses(
                () -> lake.commit(T, fastForward("main", new AtRef("dev"), OptionalLong.empty())),
                publishBranch("dev", "main", FAST_FORWARD, OptionalLong.of(first)),
                UNEXPECTED_SNAPSHOT,
                () -> "Cannot move main of db.t: expected at snapshot %s, but it is at %s".formatted(first, lake.snapshotId(T, "main")));
    }

    @Test
    void testTableDroppedMeanwhile()
    {
        createTableWithSnapshot(T);
        Set<Path> files = lake.metadataFiles();
        TestingCatalog interfered = interfering(() -> lake.catalog().dropTable(T, false));
        assertThatThrownBy(() -> interfered.commit(T, tag("v1")))
                .isInstanceOf(NoSuchTableException.class)
                .hasMessage("Table does not exist: db.t");
        assertThat(lake.metadataFiles()).isEqualTo(files);
        assertThat(lake.store().state().find(T)).isEmpty();
    }

    @Test
    void testEveryAttemptLost()
    {
        createTableWithSnapshot(T);
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store());
        for (int i = 0; i < 100; i++) {
            String value = String.valueOf(i);
            store.interfere(() -> lake.load(T).updateProperties().set("attempt", value).commit());
        }
        assertThatThrownBy(() -> lake.over(store).commit(T, tag("v1")))
                .isInstanceOf(CommitFailedException.class)
                .hasMessage("Cannot commit: other commits won 100 times in a row: db.t");
        assertThat(lake.refs(T)).containsOnlyKeys("main");
        assertThat(lake.load(T).properties()).containsEntry("attempt", "99");
        assertThat(lake.metadataFiles()).hasSize(102);
    }

    /**
     * A rebuild of the store takes the file of a commit that is under way. The commit loses, and must not delete it.
     */
    @Test
    void testFileThatARebuildTook()
    {
        createTableWithSnapshot(T);
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store());
        store.intercept(commits -> {
            PointerChange change = commits.getFirst().pointers().getFirst();
            lake.store().commit(PointerCommit.of(ALICE, new PointerChange(T, change.expected(), change.next(), "rebuild", change.refChanges())));
            return lake.store().commit(commits);
        });
        assertThatThrownBy(() -> lake.over(store).commit(T, tag("v1")))
                .isInstanceOf(RefRefusedException.class)
                .hasMessageContaining("already exists");
        assertThat(TableMetadataParser.read(lake.io(), lake.pointer(T).metadataLocation()).refs()).containsOnlyKeys("main", "v1");
    }

    @Test
    void testStoreThatCannotWrite()
    {
        createTableWithSnapshot(T);
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store())
                .intercept(_ -> {
                    throw new StoreException("The disk is gone");
                });
        assertNothingChanges(() -> assertThatThrownBy(() -> lake.over(store).commit(T, tag("v1")))
                .isInstanceOf(StoreException.class)
                .hasMessage("The disk is gone"));
    }

    @Test
    void testUnknownOutcomeOfACommitThatWasMade()
    {
        long snapshotId = createTableWithSnapshot(T);
        PointerStore store = new InterceptedPointerStore(lake.store()).failAfter();
        assertThatThrownBy(() -> lake.over(store).commit(T, tag("v1"))).isInstanceOf(CommitStateUnknownException.class);
        assertThat(lake.snapshotId(T, "v1")).isEqualTo(snapshotId);
        assertThat(lake.metadataFiles()).hasSize(3);
        // it can be read from its file
        assertThat(TableMetadataParser.read(lake.io(), lake.pointer(T).metadataLocation()).refs()).containsOnlyKeys("main", "v1");
    }

    @Test
    void testUnknownOutcomeOfACommitThatWasNotMade()
    {
        createTableWithSnapshot(T);
        TablePointer before = lake.pointer(T);
        PointerStore store = new InterceptedPointerStore(lake.store()).failBefore();
        assertThatThrownBy(() -> lake.over(store).commit(T, tag("v1"))).isInstanceOf(CommitStateUnknownException.class);
        assertThat(lake.pointer(T)).isEqualTo(before);
        // nobody could know: the file stays
        assertThat(lake.metadataFiles()).hasSize(3);
        lake.commit(T, tag("v1"));
    }

    @Test
    void testUnknownOutcomeOfAnInsert()
    {
        createTableWithSnapshot(T);
        PointerStore store = new InterceptedPointerStore(lake.store()).failAfter();
        assertThatThrownBy(() -> append(lake.over(store).load(T))).isInstanceOf(CommitStateUnknownException.class);
        Table table = lake.load(T);
        assertThat(table.snapshots()).hasSize(2);
        assertThat(table.currentSnapshot().addedDataFiles(table.io())).hasSize(1);
        assertThat(table.newScan().planFiles()).hasSize(2);
    }

    @Test
    void testUnknownOutcomeOfACreation()
    {
        PointerStore made = new InterceptedPointerStore(lake.store()).failAfter();
        assertThatThrownBy(() -> lake.over(made).createTable(T, ImmutableMap.of())).isInstanceOf(CommitStateUnknownException.class);
        assertThat(lake.load(T).schema().sameSchema(SCHEMA)).isTrue();

        PointerStore notMade = new InterceptedPointerStore(lake.store()).failBefore();
        assertThatThrownBy(() -> lake.over(notMade).createTable(T1, ImmutableMap.of())).isInstanceOf(CommitStateUnknownException.class);
        assertThat(lake.store().state().find(T1)).isEmpty();
        assertThat(lake.metadataFiles()).hasSize(2);
    }

    @Test
    void testCreationThatLostARace()
    {
        TestingCatalog interfered = interfering(() -> lake.createTable(T, ImmutableMap.of("owner", "bob")));
        assertThatThrownBy(() -> interfered.createTable(T, ImmutableMap.of("owner", "alice")))
                .isInstanceOf(AlreadyExistsException.class)
                .hasMessage("Requirement failed: table already exists: db.t");
        assertThat(lake.load(T).properties()).containsEntry("owner", "bob");
        assertThat(lake.metadataFiles()).hasSize(1);
    }

    @Test
    void testCreationInMissingNamespace()
    {
        TableMetadata metadata = TableMetadata.newTableMetadata(SCHEMA, PartitionSpec.unpartitioned(), warehouse.resolve("x").toString(), ImmutableMap.of());
        TableIdentifier name = TableIdentifier.of("missing", "t");
        assertNothingChanges(() -> assertThatThrownBy(() -> lake.committer().create(lake.io(), ALICE, name, metadata))
                .isInstanceOf(NoSuchNamespaceException.class)
                .hasMessage("Cannot create table missing.t. Namespace does not exist: missing"));
    }

    /**
     * The file belongs to somebody else.
     */
    @Test
    void testFailedRegistrationKeepsTheFile()
    {
        createTableWithSnapshot(T);
        createTableWithSnapshot(T1);
        TableMetadata metadata = lake.metadata(T1);
        assertNothingChanges(() -> assertThatThrownBy(() -> lake.committer().create(lake.io(), ALICE, T, metadata))
                .isInstanceOf(AlreadyExistsException.class)
                .hasMessage("Requirement failed: table already exists: db.t"));

        lake.commit(T1, tag("v1"));
        lake.catalog().unregisterTable(T1);
        lake.committer().create(lake.io(), ALICE, T2, metadata);
        assertThat(lake.refs(T2)).isEqualTo(metadata.refs());
        assertThat(operations()).containsExactly("register_table");
    }

    @Test
    void testManyTables()
    {
        for (TableIdentifier name : List.of(T1, T2, T3)) {
            createTableWithSnapshot(name);
            lake.commit(name, branch("dev"));
            append(lake.loadBranch(name, "dev"));
        }
        long logId = lake.store().state().lastLogId();
        // t2 is there already
        lake.commit(T2, publishBranch("dev", "main", FAST_FORWARD, OptionalLong.empty()));
        TableMetadata second = lake.metadata(T2);

        RefUpdate publish = publishBranch("dev", "main", FAST_FORWARD, OptionalLong.empty());
        List<TableMove> moves = lake.committer().commit(lake.io(), ALICE, ImmutableMap.of(T3, publish, T2, publish, T1, publish));

        assertThat(moves).extracting(TableMove::name).containsExactly(T3, T2, T1);
        assertThat(moves.get(1).before()).isSameAs(second);
        assertThat(moves.get(1).after()).isSameAs(second);
        assertThat(lake.store().state().lastLogId()).isEqualTo(logId + 2);
        assertThat(lake.lastLogEntry().tables()).extracting(TableChange::name).containsExactly(T3, T1);
        for (TableIdentifier name : List.of(T1, T2, T3)) {
            assertThat(lake.snapshotId(name, "main")).isEqualTo(lake.snapshotId(name, "dev"));
        }
    }

    @Test
    void testManyTablesOfWhichOneIsRefused()
    {
        createTableWithSnapshot(T1);
        createTableWithSnapshot(T2);
        createTableWithSnapshot(T3);
        lake.commit(T2, tag("v1"));
        assertNothingChanges(() -> assertRefused(
                () -> lake.committer().commit(lake.io(), ALICE, ImmutableMap.of(T1, tag("v1"), T2, tag("v1"), T3, tag("v1"))),
                REF_ALREADY_EXISTS,
                "Cannot create tag v1 in db.t2: a tag of that name already exists"));
        assertNothingChanges(() -> assertThatThrownBy(() -> lake.committer().commit(lake.io(), ALICE, ImmutableMap.of(T1, tag("v2"), T, tag("v2"))))
                .isInstanceOf(NoSuchTableException.class)
                .hasMessage("Table does not exist: db.t"));
    }

    @Test
    void testManyTablesOfWhichSomeAreRefused()
    {
        for (TableIdentifier name : List.of(T1, T2, T3)) {
            createTableWithSnapshot(name);
            lake.commit(name, branch("dev"));
        }
        append(lake.load(T1));
        append(lake.load(T3));
        RefUpdate publish = publishBranch("main", "dev", FAST_FORWARD, OptionalLong.empty());
        lake.committer().commit(lake.io(), ALICE, ImmutableMap.of(T1, publish, T2, publish, T3, publish));
        long first = lake.snapshotId(T2, "dev");
        lake.commit(T1, rollbackTo("main", new AtSnapshot(lake.metadata(T1).currentSnapshot().parentId())));
        lake.commit(T3, rollbackTo("main", new AtSnapshot(lake.metadata(T3).currentSnapshot().parentId())));
        append(lake.load(T1));
        append(lake.load(T3));
        String conflict = "Cannot fast-forward dev of %s to main: %s is not an ancestor of %s";
        assertNothingChanges(() -> assertRefused(
                () -> lake.committer().commit(lake.io(), ALICE, ImmutableMap.of(T1, publish, T2, publish, T3, publish)),
                NOT_FAST_FORWARD,
                conflict.formatted("db.t1", lake.snapshotId(T1, "dev"), lake.snapshotId(T1, "main")) + "; " +
                        conflict.formatted("db.t3", lake.snapshotId(T3, "dev"), lake.snapshotId(T3, "main"))));
        assertThat(lake.snapshotId(T2, "dev")).isEqualTo(first);
    }

    @Test
    void testManyTablesThatNeverWin()
    {
        createTableWithSnapshot(T1);
        createTableWithSnapshot(T2);
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store());
        List<Long> heads = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            store.interfere(() -> {
                heads.add(lake.snapshotId(T2, "main"));
                append(lake.load(T2));
            });
        }
        assertThatThrownBy(() -> lake.over(store).committer().commit(lake.io(), ALICE, ImmutableMap.of(T1, tag("v1"), T2, tag("v1"))))
                .isInstanceOf(CommitFailedException.class)
                .hasMessage("Cannot commit: other commits won 100 times in a row: db.t2 (main went from %s to %s)", heads.getLast(), lake.snapshotId(T2, "main"));
        assertThat(lake.refs(T1)).containsOnlyKeys("main");
    }

    @Test
    void testStats()
    {
        createTableWithSnapshot(T);
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store());
        RefCommitter committer = lake.over(store).committer();
        committer.commit(lake.io(), ALICE, ImmutableMap.of(T, tag("v1")));
        store.interfere(() -> lake.commit(T, tag("v2")));
        committer.commit(lake.io(), ALICE, ImmutableMap.of(T, tag("v3")));
        // nothing to do is no commit
        committer.commit(lake.io(), ALICE, ImmutableMap.of(T, createTag("v3", new AtRef("main"), Retention.DEFAULT, IfExists.KEEP)));
        assertThatThrownBy(() -> committer.commit(lake.io(), ALICE, ImmutableMap.of(T, tag("v3")))).isInstanceOf(RefRefusedException.class);
        store.failAfter();
        assertThatThrownBy(() -> committer.commit(lake.io(), ALICE, ImmutableMap.of(T, tag("v4")))).isInstanceOf(CommitStateUnknownException.class);

        CommitStats stats = committer.getStats();
        assertThat(stats.getCommits().getTotalCount()).isEqualTo(2);
        assertThat(stats.getConflicts().getTotalCount()).isEqualTo(1);
        assertThat(stats.getFailures().getTotalCount()).isEqualTo(1);
        assertThat(stats.getUnknownOutcomes().getTotalCount()).isEqualTo(1);
    }

    @Test
    void testDryRun()
    {
        createTableWithSnapshot(T1);
        createTableWithSnapshot(T2);
        assertNothingChanges(() -> {
            List<TableMove> moves = lake.committer().dryRun(lake.io(), ImmutableMap.of(T1, tag("v1"), T2, branch("dev")));
            assertThat(moves).extracting(TableMove::name).containsExactly(T1, T2);
            assertThat(moves.getFirst().refChanges()).extracting(RefChange::ref).containsExactly("v1");
            assertThat(moves.getLast().refChanges()).extracting(RefChange::ref).containsExactly("dev");
            assertThatThrownBy(() -> lake.committer().dryRun(lake.io(), ImmutableMap.of(T1, tag("main")))).isInstanceOf(RefRefusedException.class);
        });
    }

    @Test
    void testTableOfAnotherUuid()
    {
        createTableWithSnapshot(T1);
        createTableWithSnapshot(T2);
        RefUpdate update = ofTable(lake.metadata(T1).uuid(), tag("v1"));
        assertNothingChanges(() -> assertRefused(
                () -> lake.committer().commit(lake.io(), ALICE, ImmutableMap.of(T1, update, T2, update)),
                INVALID_VALUE,
                "Cannot change db.t2: it was dropped and created again meanwhile"));
        lake.commit(T1, update);
        assertThat(lake.lastLogEntry().tables().getFirst().operation()).isEqualTo("create_tag");
    }

    @Test
    void testManyTablesOfWhichOneMoved()
    {
        for (TableIdentifier name : List.of(T1, T2, T3)) {
            createTableWithSnapshot(name);
            lake.commit(name, branch("dev"));
            append(lake.loadBranch(name, "dev"));
        }
        Map<TableIdentifier, RefUpdate> publish = ImmutableMap.of(
                T1, publishBranch("dev", "main", FAST_FORWARD, OptionalLong.empty()),
                T2, publishBranch("dev", "main", FAST_FORWARD, OptionalLong.empty()),
                T3, publishBranch("dev", "main", FAST_FORWARD, OptionalLong.empty()));

        // what does not stand in the way is taken in
        TestingCatalog harmless = interfering(() -> lake.commit(T2, tag("v1")));
        TestingCatalog harmful = interfering(() -> append(lake.load(T2)));
        long dev = lake.snapshotId(T2, "dev");
        assertRefused(
                () -> harmful.committer().commit(lake.io(), ALICE, publish),
                NOT_FAST_FORWARD,
                () -> "Cannot fast-forward main of db.t2 to dev: %s is not an ancestor of %s".formatted(lake.snapshotId(T2, "main"), dev));
        for (TableIdentifier name : List.of(T1, T3)) {
            assertThat(lake.snapshotId(name, "main")).isNotEqualTo(lake.snapshotId(name, "dev"));
            assertThat(lake.metadataFiles()).filteredOn(path -> path.toString().contains("/" + name.name() + "/")).hasSize(4);
        }
        long first = lake.metadata(T2).snapshotLog().getFirst().snapshotId();
        lake.commit(T2, rollbackTo("main", new AtSnapshot(first)));
        harmless.committer().commit(lake.io(), ALICE, publish);
        for (TableIdentifier name : List.of(T1, T2, T3)) {
            assertThat(lake.snapshotId(name, "main")).isEqualTo(lake.snapshotId(name, "dev"));
        }
        assertThat(lake.snapshotId(T2, "v1")).isEqualTo(first);
    }

    @Test
    void testUnknownOutcomeOfManyTables()
    {
        createTableWithSnapshot(T1);
        createTableWithSnapshot(T2);
        PointerStore store = new InterceptedPointerStore(lake.store()).failAfter();
        assertThatThrownBy(() -> lake.over(store).committer().commit(lake.io(), ALICE, ImmutableMap.of(T1, tag("v1"), T2, tag("v1"))))
                .isInstanceOf(CommitStateUnknownException.class);
        assertThat(lake.metadataFiles()).hasSize(6);
        assertThat(lake.refs(T1)).containsKey("v1");
        assertThat(lake.refs(T2)).containsKey("v1");
    }

    @Test
    void testFailedWriteOfAMetadataFile()
    {
        createTableWithSnapshot(T1);
        createTableWithSnapshot(T2);
        AtomicInteger writes = new AtomicInteger();
        FileIO failing = new DelegatingFileIO(lake.io())
        {
            @Override
            public OutputFile newOutputFile(String path)
            {
                if (writes.incrementAndGet() == 2) {
                    throw new UncheckedIOException(new IOException("The bucket is full"));
                }
                return super.newOutputFile(path);
            }
        };
        assertNothingChanges(() -> assertThatThrownBy(() -> lake.committer().commit(failing, ALICE, ImmutableMap.of(T1, tag("v1"), T2, tag("v1"))))
                .isInstanceOf(StoreException.class)
                .hasMessageMatching("Cannot write metadata file .*\\.metadata\\.json: java.io.IOException: The bucket is full"));
        assertThat(writes).hasValue(2);
    }

    /**
     * A file that cannot be deleted is litter, not a failure.
     */
    @Test
    void testFailedDeletionOfAMetadataFile()
    {
        createTableWithSnapshot(T);
        FileIO failing = new DelegatingFileIO(lake.io())
        {
            @Override
            public void deleteFile(String path)
            {
                throw new IllegalStateException("Not allowed");
            }
        };
        TestingCatalog interfered = interfering(() -> lake.commit(T, tag("theirs")));
        interfered.committer().commit(failing, ALICE, ImmutableMap.of(T, tag("ours")));
        assertThat(lake.refs(T)).containsOnlyKeys("main", "theirs", "ours");
        assertThat(lake.metadataFiles()).hasSize(5);
    }

    @Test
    void testOldMetadataFilesAreDeletedIfTheTableWantsIt()
    {
        lake.createTable(T, ImmutableMap.of(TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED, "true", TableProperties.METADATA_PREVIOUS_VERSIONS_MAX, "2"));
        append(lake.load(T));
        for (int i = 0; i < 5; i++) {
            lake.commit(T, tag("v" + i));
        }
        assertThat(lake.metadataFiles()).hasSize(3);
        assertThat(lake.refs(T)).hasSize(6);
    }

    /**
     * Threads append to {@code main} and {@code dev}, publish, and roll back as they like. Afterwards the log shows that each publish went forward,
     * each rollback went back, and each move began where the one before ended.
     */
    @Test
    void testFastForwardOnlyAndRewindOnlyHoldInRaces()
            throws Exception
    {
        long seed = Long.getLong("skade.test.seed", System.nanoTime());
        System.out.println("TestRefCommitter: seed " + seed);
        lake.createTable(T, MANY_RETRIES);
        append(lake.load(T));
        lake.commit(T, branch("dev"));

        int threads = 4;
        AtomicInteger done = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        run(threads, thread -> {
            Random random = new Random(seed + thread);
            for (int i = 0; i < 25; i++) {
                try {
                    switch (random.nextInt(6)) {
                        case 0 -> append(lake.load(T));
                        case 1 -> append(lake.loadBranch(T, "dev"));
                        case 2 -> lake.commit(T, publishBranch("dev", "main", FAST_FORWARD, OptionalLong.empty()));
                        case 3 -> lake.commit(T, fastForward("dev", MAIN, OptionalLong.empty()));
                        case 4 -> lake.commit(T, createBranch("dev", MAIN, Retention.DEFAULT, IfExists.REPLACE));
                        default -> {
                            List<Long> line = SnapshotUtil.ancestorIds(lake.load(T).currentSnapshot(), lake.metadata(T)::snapshot);
                            lake.commit(T, rollbackTo("main", new AtSnapshot(line.get(random.nextInt(Math.min(3, line.size()))))));
                        }
                    }
                    done.incrementAndGet();
                }
                catch (RefRefusedException e) {
                    assertThat(e.reason()).isIn(NOT_FAST_FORWARD, NOT_ANCESTOR);
                    refused.incrementAndGet();
                }
            }
            return null;
        });
        assertThat(done.get() + refused.get()).as("seed %s", seed).isEqualTo(threads * 25);

        TableMetadata metadata = lake.metadata(T);
        Optional<SnapshotRef> main = Optional.empty();
        Optional<SnapshotRef> dev = Optional.empty();
        for (LogEntry entry : lake.store().log(Integer.MAX_VALUE).reversed()) {
            TableChange table = entry.tables().getFirst();
            for (RefChange change : table.refChanges()) {
                String where = "seed %s, log id %s, %s of %s".formatted(seed, entry.logId(), table.operation(), change.ref());
                assertThat(change.before()).as(where).isEqualTo(change.ref().equals("main") ? main : dev);
                if (change.ref().equals("main")) {
                    main = change.after();
                }
                else {
                    dev = change.after();
                }
                if (change.before().isPresent()) {
                    long before = change.before().get().snapshotId();
                    long after = change.after().orElseThrow().snapshotId();
                    switch (table.operation()) {
                        case "publish_branch", "fast_forward" -> assertThat(SnapshotUtil.isAncestorOf(after, before, metadata::snapshot)).as(where).isTrue();
                        case "rollback_to" -> assertThat(SnapshotUtil.isAncestorOf(before, after, metadata::snapshot)).as(where).isTrue();
                        case "append" -> assertThat(metadata.snapshot(after).parentId()).as(where).isEqualTo(before);
                        default -> assertThat(table.operation()).as(where).isEqualTo("create_branch");
                    }
                }
            }
        }
        assertThat(lake.refs(T)).isEqualTo(ImmutableMap.of("main", main.orElseThrow(), "dev", dev.orElseThrow()));
        // no file of a lost attempt is left: one for each commit
        assertThat(lake.metadataFiles()).hasSize((int) lake.store().state().lastLogId());
    }

    /**
     * Two publishes that share a table, at once: never one table of the first with another of the second.
     */
    @Test
    void testOverlappingCommitsOfManyTables()
            throws Exception
    {
        for (TableIdentifier name : List.of(T1, T2, T3)) {
            createTableWithSnapshot(name);
        }
        int rounds = 25;
        AtomicInteger left = new AtomicInteger();
        AtomicInteger right = new AtomicInteger();
        run(2, thread -> {
            for (int round = 0; round < rounds; round++) {
                Map<TableIdentifier, RefUpdate> updates = thread == 0
                        ? ImmutableMap.of(T1, tag("v" + round), T2, tag("v" + round))
                        : ImmutableMap.of(T3, tag("v" + round), T2, tag("v" + round));
                try {
                    lake.committer().commit(lake.io(), ALICE, updates);
                    (thread == 0 ? left : right).incrementAndGet();
                }
                catch (RefRefusedException e) {
                    assertThat(e.reason()).isEqualTo(REF_ALREADY_EXISTS);
                }
            }
            return null;
        });
        assertThat(left.get() + right.get()).isEqualTo(rounds);
        assertThat(lake.refs(T1)).hasSize(1 + left.get());
        assertThat(lake.refs(T2)).hasSize(1 + rounds);
        assertThat(lake.refs(T3)).hasSize(1 + right.get());
        for (int round = 0; round < rounds; round++) {
            assertThat(lake.refs(T1).containsKey("v" + round)).isNotEqualTo(lake.refs(T3).containsKey("v" + round));
        }
    }

    private long createTableWithSnapshot(TableIdentifier name)
    {
        lake.createTable(name, ImmutableMap.of());
        return append(lake.load(name)).snapshotId();
    }

    private static RefUpdate tag(String name)
    {
        return createTag(name, MAIN, Retention.DEFAULT, IfExists.REFUSE);
    }

    private static RefUpdate branch(String name)
    {
        return createBranch(name, MAIN, Retention.DEFAULT, IfExists.REFUSE);
    }

    private TestingCatalog interfering(Runnable action)
    {
        return lake.over(new InterceptedPointerStore(lake.store()).interfere(action));
    }

    private List<String> operations()
    {
        return lake.lastLogEntry().tables().stream().map(TableChange::operation).toList();
    }

    /**
     * The update, allowed when it begins, is refused since another commit comes first; of the update nothing is left.
     */
    private void assertInterferenceRefuses(Runnable action, RefUpdate update, Reason reason, Supplier<String> message)
    {
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store());
        TablePointer[] afterwards = new TablePointer[1];
        int[] files = new int[1];
        store.interfere(() -> {
            action.run();
            afterwards[0] = lake.pointer(T);
            // less the one of the attempt that is about to fail
            files[0] = lake.metadataFiles().size() - 1;
        });
        assertRefused(() -> lake.over(store).commit(T, update), reason, message);
        assertThat(lake.pointer(T)).isEqualTo(afterwards[0]);
        assertThat(lake.metadataFiles()).hasSize(files[0]);
    }

    private static void assertRefused(ThrowingCallable call, Reason reason, String message)
    {
        assertRefused(call, reason, () -> message);
    }

    private static void assertRefused(ThrowingCallable call, Reason reason, Supplier<String> message)
    {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> {
                    assertThat(refused.reason()).isEqualTo(reason);
                    assertThat(refused).hasMessage(message.get());
                });
    }

    private void assertNothingChanges(Runnable action)
    {
        List<LogEntry> log = lake.store().log(Integer.MAX_VALUE);
        Map<TableIdentifier, TablePointer> pointers = pointers();
        Set<Path> files = lake.metadataFiles();
        action.run();
        assertThat(lake.store().log(Integer.MAX_VALUE)).isEqualTo(log);
        assertThat(pointers()).isEqualTo(pointers);
        assertThat(lake.metadataFiles()).isEqualTo(files);
    }

    private Map<TableIdentifier, TablePointer> pointers()
    {
        return lake.store().state().pointers(T.namespace()).collect(toImmutableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    static void run(int threads, Task task)
            throws Exception
    {
        CyclicBarrier start = new CyclicBarrier(threads);
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Callable<Void>> calls = IntStream.range(0, threads)
                    .mapToObj(thread -> (Callable<Void>) () -> {
                        start.await();
                        return task.run(thread);
                    })
                    .toList();
            for (Future<Void> future : executor.invokeAll(calls)) {
                future.get();
            }
        }
    }

    interface Task
    {
        Void run(int thread)
                throws Exception;
    }

    private static class DelegatingFileIO
            implements FileIO
    {
        private final FileIO io;

        private DelegatingFileIO(FileIO io)
        {
            this.io = io;
        }

        @Override
        public InputFile newInputFile(String path)
        {
            return io.newInputFile(path);
        }

        @Override
        public OutputFile newOutputFile(String path)
        {
            return io.newOutputFile(path);
        }

        @Override
        public void deleteFile(String path)
        {
            io.deleteFile(path);
        }
    }
}
