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
import io.skade.ref.SnapshotSelector.AtSnapshot;
import io.skade.store.InterceptedPointerStore;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.TablePointer;
import org.apache.iceberg.GenericStatisticsFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.Transaction;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.types.Types;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;

import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.RefUpdates.dropTag;
import static io.skade.ref.RefUpdates.protect;
import static io.skade.ref.TestingCatalog.MANY_RETRIES;
import static io.skade.ref.TestingCatalog.NO_RETRIES;
import static io.skade.ref.TestingCatalog.SCHEMA;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static io.skade.ref.TestingCatalog.dataFile;
import static org.apache.iceberg.types.Types.NestedField.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Commits by Iceberg that are built from a version of the table that is not the newest any more. Iceberg itself tries none of them again, unless a test
 * says so.
 */
class TestMetadataChanges
{
    private static final AtRef MAIN = new AtRef("main");
    private static final Schema OTHER_SCHEMA = new Schema(optional(1, "z", Types.StringType.get()));

    @TempDir
    private Path warehouse;

    private TestingCatalog lake;
    private long first;

    @BeforeEach
    void createTable()
    {
        lake = new TestingCatalog(warehouse);
        first = append(lake.createTable(T, NO_RETRIES)).snapshotId();
    }

    /**
     * On the version that it was built from, the result is what Iceberg built, byte for byte.
     */
    @Test
    void testOnTheSameVersion()
    {
        TableMetadata origin = lake.metadata(T);
        TableMetadata next = TableMetadata.buildFrom(origin).setProperties(ImmutableMap.of("a", "b")).build();
        assertThat(MetadataChanges.onTable(origin, next).apply(target(origin))).isSameAs(next);
    }

    @Test
    void testOperations()
    {
        TableMetadata origin = lake.metadata(T);
        assertOperation("set_properties", TableMetadata.buildFrom(origin).setProperties(ImmutableMap.of("a", "b")));
        assertOperation("set_properties", TableMetadata.buildFrom(origin).removeProperties(NO_RETRIES.keySet()));
        assertOperation("alter_table", TableMetadata.buildFrom(origin).setLocation("/elsewhere"));
        assertOperation("alter_table", TableMetadata.buildFrom(origin).upgradeFormatVersion(3));
        assertOperation("alter_table", TableMetadata.buildFrom(origin).setCurrentSchema(OTHER_SCHEMA, 3));
        assertOperation("set_statistics", TableMetadata.buildFrom(origin).setStatistics(new GenericStatisticsFile(first, "/stats", 1, 1, ImmutableList.of())));
    }

    private void assertOperation(String operation, TableMetadata.Builder builder)
    {
        assertThat(MetadataChanges.onTable(lake.metadata(T), builder.build()).operation(lake.metadata(T))).isEqualTo(operation);
    }

    @Test
    void testChangesThatHaveNothingInCommon()
    {
        interfering(() -> lake.load(T).updateProperties().set("theirs", "1").commit())
                .load(T).updateProperties().set("ours", "1").commit();
        assertThat(lake.load(T).properties()).containsEntry("theirs", "1").containsEntry("ours", "1");

        append(interfering(() -> lake.load(T).updateProperties().set("theirs", "2").commit()).load(T));
        assertThat(lake.load(T).properties()).containsEntry("theirs", "2");
        assertThat(lake.load(T).newScan().planFiles()).hasSize(2);

        // an insert does not stand in the way of a column
        interfering(() -> append(lake.load(T)))
                .load(T).updateSchema().addColumn("c", Types.LongType.get()).commit();
        assertThat(lake.load(T).schema().findField("c")).isNotNull();
        assertThat(lake.load(T).newScan().planFiles()).hasSize(3);

        // nor a column in that of an insert, whose rows lack it
        append(interfering(() -> lake.load(T).updateSchema().addColumn("d", Types.LongType.get()).commit()).load(T));
        assertThat(lake.load(T).schema().findField("d")).isNotNull();
        assertThat(lake.load(T).newScan().planFiles()).hasSize(4);
    }

    @Test
    void testTwoInserts()
    {
        long[] theirs = new long[1];
        TestingCatalog interfered = interfering(() -> theirs[0] = append(lake.load(T)).snapshotId());
        assertConflict(
                () -> append(interfered.load(T)),
                () -> "Commit failed: Requirement failed: branch main has changed: expected id %s != %s".formatted(first, theirs[0]));
        assertThat(lake.load(T).newScan().planFiles()).hasSize(2);
    }

    @Test
    void testTwoInsertsWithRetries()
    {
        lake.load(T).updateProperties().set("commit.retry.num-retries", "1").commit();
        append(interfering(() -> append(lake.load(T))).load(T));
        assertThat(lake.load(T).newScan().planFiles()).hasSize(3);
        assertThat(lake.load(T).currentSnapshot().parentId()).isEqualTo(lake.metadata(T).snapshotLog().get(1).snapshotId());
    }

    /**
     * A branch's commit takes the next sequence number, which the insert has too.
     */
    @Test
    void testInsertAndCommitToABranch()
    {
        lake.commit(T, createBranch("audit", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        assertConflict(
                () -> append(interfering(() -> append(lake.loadBranch(T, "audit"))).load(T)),
                () -> "Cannot commit: db.t was changed since the commit was built");

        lake.load(T).updateProperties().set("commit.retry.num-retries", "1").commit();
        append(interfering(() -> append(lake.loadBranch(T, "audit"))).load(T));
        assertThat(lake.metadata(T).snapshots()).extracting(Snapshot::sequenceNumber).containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
        assertThat(lake.load(T).newScan().planFiles()).hasSize(2);
    }

    @Test
    void testTwoChangesOfTheSchema()
    {
        assertConflict(
                () -> interfering(() -> lake.load(T).updateSchema().addColumn("theirs", Types.LongType.get()).commit())
                        .load(T).updateSchema().addColumn("ours", Types.LongType.get()).commit(),
                () -> "Commit failed: Requirement failed: last assigned field id changed: expected id 2 != 3");
        assertThat(lake.load(T).schema().columns()).extracting(Types.NestedField::name).containsExactly("id", "name", "theirs");
    }

    /**
     * An insert built on a table that was dropped and made again meanwhile.
     */
    @Test
    void testTableThatWasMadeAgain()
    {
        String uuid = lake.metadata(T).uuid();
        TestingCatalog interfered = interfering(() -> {
            lake.catalog().dropTable(T, false);
            lake.createTable(T, NO_RETRIES);
        });
        assertConflict(
                () -> append(interfered.load(T)),
                () -> "Commit failed: Requirement failed: UUID does not match: expected %s != %s".formatted(lake.metadata(T).uuid(), uuid));
        assertThat(lake.metadata(T).snapshots()).isEmpty();
    }

    @Test
    void testExpiryAndNewTag()
    {
        append(lake.load(T));
        TestingCatalog interfered = interfering(() -> lake.commit(T, createTag("v1", new AtSnapshot(first), Retention.DEFAULT, IfExists.REFUSE)));
        assertConflict(
                () -> interfered.load(T).expireSnapshots().expireSnapshotId(first).commit(),
                () -> "Cannot commit: db.t was changed since the commit was built");
        assertThat(lake.snapshotId(T, "v1")).isEqualTo(first);
        assertThat(lake.load(T).newScan().useRef("v1").planFiles()).hasSize(1);
        assertThat(lake.load(T).snapshot(first).allManifests(lake.io())).hasSize(1);
    }

    /**
     * With retries the expiry looks again, and sees the tag.
     */
    @Test
    void testExpiryAndNewTagWithRetries()
    {
        lake.load(T).updateProperties().set("commit.retry.num-retries", "1").commit();
        append(lake.load(T));
        TestingCatalog interfered = interfering(() -> lake.commit(T, createTag("v1", new AtSnapshot(first), Retention.DEFAULT, IfExists.REFUSE)));
        assertThatThrownBy(() -> interfered.load(T).expireSnapshots().expireSnapshotId(first).commit())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Cannot expire %s. Still referenced by refs: [v1]", first);
        assertThat(lake.load(T).newScan().useRef("v1").planFiles()).hasSize(1);

        // an expiry by age keeps to what it found first
        lake.commit(T, dropTag("v1", IfMissing.REFUSE));
        TestingCatalog byAge = interfering(() -> lake.commit(T, createTag("v2", new AtSnapshot(first), Retention.DEFAULT, IfExists.REFUSE)));
        assertThatThrownBy(() -> byAge.load(T).expireSnapshots().expireOlderThan(Long.MAX_VALUE).commit())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Cannot expire %s. Still referenced by refs: [v2]", first);
        assertThat(lake.load(T).newScan().useRef("v2").planFiles()).hasSize(1);
    }

    @Test
    void testExpiryAndInsert()
    {
        long second = append(lake.load(T)).snapshotId();
        assertConflict(
                () -> interfering(() -> append(lake.load(T))).load(T).expireSnapshots().expireSnapshotId(first).commit(),
                () -> "Cannot commit: db.t was changed since the commit was built");
        assertThat(lake.metadata(T).snapshots()).hasSize(3);
        assertThat(lake.load(T).snapshot(second)).isNotNull();
    }

    @Test
    void testDropOfATagByIceberg()
    {
        lake.commit(T, createTag("v1", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        append(lake.load(T));
        assertConflict(
                () -> interfering(() -> lake.commit(T, createTag("v1", MAIN, Retention.DEFAULT, IfExists.REPLACE)))
                        .load(T).manageSnapshots().removeTag("v1").commit(),
                () -> "Cannot commit: db.t was changed since the commit was built");
        assertThat(lake.snapshotId(T, "v1")).isEqualTo(lake.snapshotId(T, "main"));
    }

    @Test
    void testCreationOfATagByIceberg()
    {
        append(lake.load(T));
        assertConflict(
                () -> interfering(() -> lake.commit(T, createTag("v1", MAIN, Retention.DEFAULT, IfExists.REFUSE)))
                        .load(T).manageSnapshots().createTag("v1", first).commit(),
                () -> "Commit failed: Requirement failed: tag v1 was created concurrently");
        assertThat(lake.snapshotId(T, "v1")).isEqualTo(lake.snapshotId(T, "main"));

        interfering(() -> lake.commit(T, createTag("v2", MAIN, Retention.DEFAULT, IfExists.REFUSE)))
                .load(T).manageSnapshots().createTag("v3", first).commit();
        assertThat(lake.refs(T)).containsOnlyKeys("main", "v1", "v2", "v3");
    }

    /**
     * Whether the other commits come before the replacement's last look at the table or after it: tag, branch and snapshots stay.
     */
    @Test
    void testReplaceTable()
    {
        for (boolean afterLastLook : new boolean[] {false, true}) {
            lake.catalog().dropTable(T, false);
            first = append(lake.createTable(T, MANY_RETRIES)).snapshotId();
            lake.commit(T, createTag("v0", MAIN, Retention.DEFAULT, IfExists.REFUSE));
            long[] inserted = new long[2];
            Runnable others = () -> {
                inserted[0] = append(lake.load(T)).snapshotId();
                lake.commit(T, createTag("v1", MAIN, Retention.DEFAULT, IfExists.REFUSE));
                lake.commit(T, createBranch("audit", MAIN, Retention.DEFAULT, IfExists.REFUSE));
                inserted[1] = append(lake.loadBranch(T, "audit")).snapshotId();
                lake.load(T).updateProperties().set("theirs", "1").commit();
            };
            TestingCatalog replacing = afterLastLook ? interfering(others) : lake;
            Transaction transaction = replacing.catalog().newReplaceTableTransaction(T, OTHER_SCHEMA, PartitionSpec.unpartitioned(), null, MANY_RETRIES, false);
            transaction.newAppend().appendFile(dataFile()).commit();
            if (!afterLastLook) {
                others.run();
            }
            transaction.commitTransaction();

            TableMetadata metadata = lake.metadata(T);
            long replaced = metadata.currentSnapshot().snapshotId();
            assertThat(metadata.refs()).isEqualTo(ImmutableMap.of(
                    "main", SnapshotRef.branchBuilder(replaced).build(),
                    "v0", SnapshotRef.tagBuilder(first).build(),
                    "v1", SnapshotRef.tagBuilder(inserted[0]).build(),
                    "audit", SnapshotRef.branchBuilder(inserted[1]).build()));
            assertThat(metadata.snapshots()).extracting(Snapshot::snapshotId).containsExactlyInAnyOrder(first, inserted[0], inserted[1], replaced);
            assertThat(metadata.properties()).containsEntry("theirs", "1");
            assertThat(metadata.schema().columns()).extracting(Types.NestedField::name).containsExactly("z");
            assertThat(metadata.currentSnapshot().parentId()).isNull();
            assertThat(lake.lastLogEntry().tables()).extracting(TableChange::operation).containsExactly("replace_table");
            assertThat(lake.lastLogEntry().tables().getFirst().refChanges()).extracting(change -> change.ref()).containsExactly("main");

            // only main begins anew
            assertThat(lake.load(T).newScan().planFiles()).hasSize(1);
            assertThat(lake.load(T).newScan().useRef("v1").planFiles()).hasSize(2);
            assertThat(lake.loadBranch(T, "audit").newScan().planFiles()).hasSize(3);
            // numbers go on above all that were given
            long highest = metadata.snapshots().stream().mapToLong(Snapshot::sequenceNumber).max().orElseThrow();
            assertThat(metadata.lastSequenceNumber()).isEqualTo(highest);
            assertThat(append(lake.load(T)).sequenceNumber()).isEqualTo(highest + 1);
            assertThat(append(lake.loadBranch(T, "audit")).sequenceNumber()).isEqualTo(highest + 2);
        }
    }

    /**
     * Format version 3 gives each row a number: the replacement fails, and nothing is lost.
     */
    @Test
    void testReplaceTableWithRowIds()
    {
        lake.load(T).updateProperties().set(TableProperties.FORMAT_VERSION, "3").commit();
        Transaction transaction = lake.catalog().newReplaceTableTransaction(T, OTHER_SCHEMA, false);
        transaction.newAppend().appendFile(dataFile()).commit();
        append(lake.load(T));
        append(lake.load(T));
        assertConflict(transaction::commitTransaction, () -> "Cannot commit: db.t was changed since the commit was built");
        assertThat(lake.load(T).schema().sameSchema(SCHEMA)).isTrue();
        assertThat(lake.load(T).newScan().planFiles()).hasSize(3);
    }

    @Test
    void testReplaceTableWithoutRows()
    {
        TestingCatalog replacing = interfering(() -> append(lake.load(T)));
        replacing.catalog().newReplaceTableTransaction(T, OTHER_SCHEMA, false).commitTransaction();
        TableMetadata metadata = lake.metadata(T);
        assertThat(metadata.currentSnapshot()).isNull();
        assertThat(metadata.refs()).isEmpty();
        assertThat(metadata.snapshots()).hasSize(2);
        assertThat(metadata.schema().columns()).extracting(Types.NestedField::name).containsExactly("z");
        append(lake.load(T));
        assertThat(lake.load(T).newScan().planFiles()).hasSize(1);
    }

    /**
     * The columns get numbers that no other column has: two replacements, or one and a new column, cannot both be.
     */
    @Test
    void testReplaceTableAndNewColumn()
    {
        TestingCatalog replacing = interfering(() -> lake.load(T).updateSchema().addColumn("theirs", Types.LongType.get()).commit());
        assertConflict(
                () -> replacing.catalog().newReplaceTableTransaction(T, OTHER_SCHEMA, false).commitTransaction(),
                () -> "Commit failed: Requirement failed: last assigned field id changed: expected id 2 != 3");
        assertThat(lake.load(T).schema().columns()).extracting(Types.NestedField::name).containsExactly("id", "name", "theirs");
        assertThat(lake.load(T).newScan().planFiles()).hasSize(1);
    }

    @Test
    void testReplaceTableThatWasMadeAgain()
    {
        Transaction transaction = lake.catalog().newReplaceTableTransaction(T, OTHER_SCHEMA, false);
        String uuid = lake.metadata(T).uuid();
        lake.catalog().dropTable(T, false);
        lake.createTable(T, NO_RETRIES);
        assertConflict(
                transaction::commitTransaction,
                () -> "Table db.t was dropped and created again: uuid %s is now %s".formatted(uuid, lake.metadata(T).uuid()));
        assertThat(lake.load(T).schema().sameSchema(SCHEMA)).isTrue();
    }

    @Test
    void testReplaceTableThatWasDropped()
    {
        Transaction transaction = lake.catalog().newReplaceTableTransaction(T, OTHER_SCHEMA, false);
        lake.catalog().dropTable(T, false);
        assertThatThrownBy(transaction::commitTransaction).isInstanceOf(NoSuchTableException.class);
        assertThat(lake.store().state().find(T)).isEmpty();
    }

    /**
     * A table without snapshots is replaced, and the first insert comes first: its rows must not be read with columns that they never had.
     */
    @Test
    void testReplaceTableAndFirstInsert()
    {
        for (boolean afterLastLook : new boolean[] {false, true}) {
            lake.catalog().dropTable(T, false);
            lake.createTable(T, NO_RETRIES);
            Runnable insert = () -> append(lake.load(T));
            TestingCatalog replacing = afterLastLook ? interfering(insert) : lake;
            Transaction transaction = replacing.catalog().newReplaceTableTransaction(T, OTHER_SCHEMA, PartitionSpec.unpartitioned(), null, NO_RETRIES, false);
            if (!afterLastLook) {
                insert.run();
            }
            assertConflict(transaction::commitTransaction, () -> "Cannot commit: db.t got its first snapshot since the commit was built");
            assertThat(lake.load(T).schema().sameSchema(SCHEMA)).isTrue();
            assertThat(lake.load(T).newScan().planFiles()).hasSize(1);
        }
    }

    /**
     * Protection belongs to the refs, which stay.
     */
    @Test
    void testReplaceTableKeepsProtection()
    {
        lake.commit(T, createBranch("release", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        lake.commit(T, protect("release"));
        lake.catalog().newReplaceTableTransaction(T, OTHER_SCHEMA, false).commitTransaction();
        assertThat(ProtectedRefs.of(lake.metadata(T))).containsExactly("release");
    }

    @Test
    void testCreateOrReplaceTableThatWasCreatedMeanwhile()
    {
        lake.catalog().dropTable(T, false);
        Transaction transaction = lake.catalog().newReplaceTableTransaction(T, OTHER_SCHEMA, true);
        append(lake.createTable(T, NO_RETRIES));
        Table table = lake.load(T);
        TablePointer before = lake.pointer(T);
        assertThatThrownBy(transaction::commitTransaction)
                .isInstanceOf(AlreadyExistsException.class)
                .hasMessage("Requirement failed: table already exists: db.t");
        assertThat(lake.pointer(T)).isEqualTo(before);
        assertThat(table.newScan().planFiles()).hasSize(1);
    }

    private TestingCatalog interfering(Runnable action)
    {
        return lake.over(new InterceptedPointerStore(lake.store()).interfere(action));
    }

    private static RefTarget target(TableMetadata metadata)
    {
        return new RefTarget(T, metadata, new InMemoryFileIO());
    }

    /**
     * The call fails, and the table is as the last other commit left it.
     */
    private void assertConflict(ThrowingCallable call, Supplier<String> message)
    {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(CommitFailedException.class, failed -> assertThat(failed).hasMessage(message.get()));
        Map<String, SnapshotRef> refs = lake.refs(T);
        assertThat(lake.pointer(T).refs()).isEqualTo(refs);
        // of the failed commit no metadata file is left: one for each entry of the log, drops aside
        long written = lake.store().log(Integer.MAX_VALUE).stream()
                .filter(entry -> entry.tables().getFirst().metadataLocation().isPresent())
                .count();
        assertThat(lake.metadataFiles()).hasSize((int) written);
    }
}
