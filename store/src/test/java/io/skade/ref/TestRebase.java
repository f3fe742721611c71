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
import io.skade.ref.PublishPreview.Outcome;
import io.skade.ref.RefRefusedException.Reason;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.store.InterceptedPointerStore;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.SnapshotUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import static com.google.common.collect.MoreCollectors.onlyElement;
import static io.skade.ref.PublishMode.FAST_FORWARD;
import static io.skade.ref.PublishMode.REBASE;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.skade.ref.RefRefusedException.Reason.NOT_FAST_FORWARD;
import static io.skade.ref.RefRefusedException.Reason.PROTECTED;
import static io.skade.ref.RefRefusedException.Reason.REBASE_CONFLICT;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static io.skade.ref.RefRefusedException.Reason.UNEXPECTED_SNAPSHOT;
import static io.skade.ref.RefUpdates.cherrypickSnapshot;
import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.RefUpdates.protect;
import static io.skade.ref.RefUpdates.publishAndDropBranch;
import static io.skade.ref.RefUpdates.publishBranch;
import static io.skade.ref.RefUpdates.replace;
import static io.skade.ref.RefUpdates.setCurrentSnapshot;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;
import static org.apache.iceberg.SnapshotRefType.BRANCH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Publishes of the branch {@code audit} to {@code main}, which both went on from a snapshot with the files {@code a1} to {@code a3} in partition
 * {@code p=a}, {@code b1} in {@code p=b}, and a delete file of {@code a3}.
 */
class TestRebase
{
    private static final TableIdentifier NAME = TableIdentifier.of("sales", "orders");
    private static final Schema SCHEMA = new Schema(
            Types.NestedField.required(1, "id", Types.LongType.get()),
            Types.NestedField.optional(2, "p", Types.StringType.get()));
    private static final PartitionSpec BY_P = PartitionSpec.builderFor(SCHEMA).identity("p").build();
    private static final Retention RETENTION = new Retention(Optional.of(Duration.ofMillis(1)), Optional.of(2), Optional.of(Duration.ofMillis(3)));

    private final FileIO io = new InMemoryFileIO();

    private BuildingTableOperations operations;
    private Table table;
    private DataFile a1;
    private DataFile a2;
    private DataFile a3;
    private DataFile b1;
    private DeleteFile deletesOfA3;

    private void create(int formatVersion, PartitionSpec spec)
    {
        set(TableMetadata.newTableMetadata(SCHEMA, spec, "/warehouse/" + UUID.randomUUID(), ImmutableMap.of(TableProperties.FORMAT_VERSION, String.valueOf(formatVersion))));
        a1 = file("a1", "a", 1, 10);
        a2 = file("a2", "a", 11, 20);
        a3 = file("a3", "a", 21, 30);
        b1 = file("b1", "b", 31, 40);
        table.newAppend().appendFile(a1).appendFile(a2).appendFile(a3).appendFile(b1).commit();
        if (formatVersion >= 2) {
            deletesOfA3 = deletes("a3-deletes", a3);
            table.newRowDelta().addDeletes(deletesOfA3).commit();
        }
        apply(createBranch("audit", new AtRef("main"), RETENTION, IfExists.REFUSE));
        apply(createTag("v1", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
    }

    private void create()
    {
        create(2, BY_P);
    }

    @Test
    void testAppends()
    {
        for (int formatVersion : new int[] {1, 2, 3}) {
            create(formatVersion, BY_P);
            long base = snapshotId("main");
            long first = append("audit", file("x1", "a", 41, 50));
            long second = append("audit", file("x2", "c", 51, 60));
            long main = append("main", file("m1", "a", 61, 70));
            String before = files("main");
            Map<String, SnapshotRef> refs = operations.current().refs();

            apply(publishBranch("audit", "main", REBASE, OptionalLong.of(main)));

            List<Snapshot> replayed = since("main", main);
            assertThat(replayed).extracting(Snapshot::operation).containsExactly("append", "append");
            assertThat(replayed.getFirst().parentId()).isEqualTo(main);
            assertThat(replayed).extracting(snapshot -> snapshot.summary().get("source-snapshot-id")).containsExactly(String.valueOf(first), String.valueOf(second));
            assertThat(replayed.getLast().summary())
                    .containsEntry("added-data-files", "1")
                    .containsEntry("total-data-files", "7");
            assertThat(files("main")).isEqualTo(before + " x1 x2");
            assertThat(files("audit")).isEqualTo(before + " x1 x2");
            assertThat(operations.current().snapshots()).extracting(Snapshot::snapshotId).contains(first, second);
            assertThat(operations.current().refs()).isEqualTo(ImmutableMap.of(
                    "main", SnapshotRef.branchBuilder(replayed.getLast().snapshotId()).build(),
                    "audit", SnapshotRef.builderFrom(refs.get("audit"), replayed.getLast().snapshotId()).build(),
                    "v1", SnapshotRef.tagBuilder(base).build()));
            assertThat(operations.current().currentSnapshot()).isEqualTo(replayed.getLast());
            if (formatVersion >= 2) {
                assertThat(operations.current().snapshots()).extracting(Snapshot::sequenceNumber).doesNotHaveDuplicates();
            }
            // and on from there
            assertUnchanged(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
            append("audit", file("x3", "a", 71, 80));
            apply(publishBranch("audit", "main", FAST_FORWARD, OptionalLong.empty()));
        }
    }

    /**
     * The new rows of {@code main} and of the branch all have row ids of their own.
     */
    @Test
    void testRowIds()
    {
        create(3, BY_P);
        append("audit", file("x1", "c", 41, 50));
        append("main", file("m1", "d", 61, 70));
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(tasks("main")).extracting(task -> task.file().firstRowId()).doesNotContainNull().doesNotHaveDuplicates();
        assertThat(operations.current().currentSnapshot().firstRowId()).isEqualTo(operations.current().nextRowId() - 10);
    }

    @Test
    void testDrop()
    {
        create();
        append("audit", file("x1", "a", 41, 50));
        append("main", file("m1", "a", 61, 70));
        apply(publishAndDropBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(operations.current().refs()).containsOnlyKeys("main", "v1");
        assertThat(files("main")).endsWith("m1 x1");
    }

    /**
     * Here {@code main} is the one that is rewritten.
     */
    @Test
    void testOntoAnotherBranch()
    {
        create();
        append("audit", file("x1", "a", 41, 50));
        append("main", file("m1", "a", 61, 70));
        SnapshotRef audit = operations.current().ref("audit");
        apply(publishBranch("main", "audit", REBASE, OptionalLong.of(audit.snapshotId())));
        assertThat(files("audit")).endsWith("m1 x1");
        assertThat(snapshotId("main")).isEqualTo(snapshotId("audit"));
        assertThat(operations.current().ref("audit")).isEqualTo(SnapshotRef.builderFrom(audit, snapshotId("audit")).build());
        assertThat(since("main", audit.snapshotId())).hasSize(1);
        assertThat(operations.current().snapshotLog().getLast().snapshotId()).isEqualTo(snapshotId("main"));
    }

    /**
     * Each kind of change, one after the other, on files that {@code main} left alone and on files of the branch itself.
     */
    @Test
    void testOperations()
    {
        for (int formatVersion : new int[] {2, 3}) {
            create(formatVersion, BY_P);
            DataFile x1 = file("x1", "a", 41, 50);
            DataFile x2 = file("x2", "a", 51, 60);
            DeleteFile deletesOfX1 = deletes("x1-deletes", x1);
            DeleteFile moreDeletesOfX1 = deletes("x1-more", x1);
            DataFile rewritten = file("x1x2", "a", 41, 60);
            table.newFastAppend().toBranch("audit").appendFile(x1).appendFile(x2).commit();
            table.newRowDelta().toBranch("audit").addDeletes(deletesOfX1).commit();
            table.newRowDelta().toBranch("audit").validateFromSnapshot(snapshotId("audit")).addDeletes(moreDeletesOfX1).removeDeletes(deletesOfX1).addRows(file("x4", "a", 41, 41)).commit();
            table.newDelete().toBranch("audit").deleteFile(a1).commit();
            table.newOverwrite().toBranch("audit").deleteFile(a2).addFile(file("x3", "a", 11, 19)).commit();
            long started = operations.current().snapshot(snapshotId("audit")).sequenceNumber();
            table.newRewrite().toBranch("audit").validateFromSnapshot(snapshotId("audit")).deleteFile(x1).deleteFile(x2).deleteFile(moreDeletesOfX1).addFile(rewritten).dataSequenceNumber(started).commit();
            table.newDelete().toBranch("audit").deleteFile(a3).commit();
            String files = files("audit");
            List<String> operationsOfBranch = since("audit", operations.current().ref("v1").snapshotId()).stream().map(Snapshot::operation).toList();
            assertThat(operationsOfBranch).containsExactly("append", "delete", "overwrite", "delete", "overwrite", "replace", "delete");
            long main = append("main", file("m1", "b", 61, 70));

            apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));

            assertThat(files("main")).isEqualTo(files.replace("x1x2", "m1 x1x2"));
            List<Snapshot> replayed = since("main", main);
            assertThat(replayed).extracting(Snapshot::operation).isEqualTo(operationsOfBranch);
            assertThat(replayed).extracting(Snapshot::parentId).isEqualTo(SnapshotUtil.ancestorIds(replayed.getLast(), operations.current()::snapshot).reversed().subList(2, 9));
            // the rewritten file is as old as the snapshot from which it was made
            assertThat(dataFile("main", "x1x2").dataSequenceNumber()).isEqualTo(replayed.get(4).sequenceNumber());
        }
    }

    /**
     * A deletion vector takes the place of the one before it.
     */
    @Test
    void testDeletionVectors()
    {
        create(3, BY_P);
        DeleteFile second = deletes("a3-second", a3);
        table.newRowDelta().toBranch("audit").validateFromSnapshot(snapshotId("audit")).addDeletes(second).removeDeletes(deletesOfA3).commit();
        append("main", file("m1", "b", 61, 70));
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(files("main")).isEqualTo("a1 a2 a3[a3-second] b1 m1");
        assertThat(operations.current().currentSnapshot().summary()).containsEntry("added-dvs", "1").containsEntry("removed-dvs", "1").containsEntry("total-delete-files", "1");
    }

    /**
     * An equality delete does not reach rows that {@code main} added, and does reach those of the branch that it was made for.
     */
    @Test
    void testEqualityDelete()
    {
        create();
        append("audit", file("x1", "a", 41, 50));
        table.newRowDelta().toBranch("audit").addDeletes(equalityDeletes("eq", table.spec(), "a")).commit();
        append("audit", file("x2", "a", 51, 60));
        String files = files("audit");
        append("main", file("m1", "b", 61, 70));
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(files("main")).isEqualTo("a1[eq] a2[eq] a3[a3-deletes eq] b1 m1 x1[eq] x2");
        assertThat(files).isEqualTo("a1[eq] a2[eq] a3[a3-deletes eq] b1 x1[eq] x2");
    }

    /**
     * Files that were written before the branch began, and rewritten as of then, stay that old.
     */
    @Test
    void testRewriteOfOldFiles()
    {
        create();
        long base = operations.current().lastSequenceNumber();
        table.newRewrite().toBranch("audit").deleteFile(a1).deleteFile(a2).addFile(file("a1a2", "a", 1, 20)).dataSequenceNumber(base).commit();
        DeleteFile rewrittenDeletes = deletes("a3-rewritten", a3);
        table.newRewrite().toBranch("audit").deleteFile(deletesOfA3).addFile(rewrittenDeletes, base).commit();
        append("main", file("m1", "a", 61, 70));
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(files("main")).isEqualTo("a1a2 a3[a3-rewritten] b1 m1");
        assertThat(dataFile("main", "a1a2").dataSequenceNumber()).isEqualTo(base);
        assertThat(tasks("main")).flatExtracting(FileScanTask::deletes).extracting(DeleteFile::dataSequenceNumber).containsExactly(base);
    }

    @Test
    void testRewriteOfManifestsIsLeftOut()
    {
        create();
        table.newAppend().toBranch("audit").appendFile(file("x1", "a", 41, 50)).commit();
        apply(setCurrentSnapshot("main", new AtRef("audit")));
        table.rewriteManifests().clusterBy(_ -> "").commit();
        long rewritten = snapshotId("main");
        apply(replace(BRANCH, "audit", new SnapshotSelector.AtSnapshot(rewritten), OptionalLong.empty()));
        apply(setCurrentSnapshot("main", new AtRef("v1")));
        assertThat(operations.current().snapshot(rewritten).operation()).isEqualTo("replace");
        long main = append("main", file("m1", "a", 61, 70));
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(since("main", main)).extracting(Snapshot::operation).containsExactly("append");
        assertThat(files("main")).endsWith("m1 x1");
    }

    @Test
    void testSummary()
    {
        create();
        table.newAppend().toBranch("audit").appendFile(file("x1", "a", 41, 50))
                .set("trino_query_id", "q1")
                .set("skade.read-filter", "false")
                .set("wap.id", "w1")
                .set("partitions.p=z", "added-data-files=7")
                .commit();
        append("main", file("m1", "a", 61, 70));
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(operations.current().currentSnapshot().summary())
                .containsEntry("trino_query_id", "q1")
                .containsEntry("skade.read-filter", "false")
                .containsEntry("published-wap-id", "w1")
                .containsEntry("total-records", "60")
                .doesNotContainKeys("wap.id", "partitions.p=z");
    }

    @Test
    void testNothingToReplay()
    {
        create();
        assertUnchanged(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertPreview("audit", "main", Outcome.UP_TO_DATE, "");

        long main = append("main", file("m1", "a", 61, 70));
        assertPreview("audit", "main", Outcome.BEHIND, "audit has no snapshot that main does not have");
        assertRefused(publishBranch("audit", "main", FAST_FORWARD, OptionalLong.empty()), NOT_FAST_FORWARD, "Cannot fast-forward main of sales.orders to audit: {main} is not an ancestor of {audit}");
        SnapshotRef audit = operations.current().ref("audit");
        TableMetadata behind = operations.current();
        apply(publishBranch("audit", "main", REBASE, OptionalLong.of(main)));
        assertThat(operations.current().ref("audit")).isEqualTo(SnapshotRef.builderFrom(audit, main).build());
        assertThat(snapshotId("main")).isEqualTo(main);
        set(behind);
        apply(publishAndDropBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(operations.current().refs()).containsOnlyKeys("main", "v1");
        assertThat(snapshotId("main")).isEqualTo(main);

        create();
        long ahead = append("audit", file("x1", "a", 41, 50));
        assertPreview("audit", "main", Outcome.FAST_FORWARD, "");
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(snapshotId("main")).isEqualTo(ahead);
        assertThat(snapshotId("audit")).isEqualTo(ahead);
    }

    @Test
    void testRefused()
    {
        create();
        append("audit", file("x1", "a", 41, 50));
        append("main", file("m1", "a", 61, 70));
        assertRefused(publishBranch("audit", "main", REBASE, OptionalLong.of(7)), UNEXPECTED_SNAPSHOT, "Cannot move main of sales.orders: expected at snapshot 7, but it is at {main}");
        assertRefused(publishBranch("nope", "main", REBASE, OptionalLong.empty()), REF_NOT_FOUND, "Branch does not exist in sales.orders: nope");
        assertRefused(publishBranch("audit", "v1", REBASE, OptionalLong.empty()), REF_NOT_FOUND, "Branch does not exist in sales.orders: v1 is a tag");
        assertRefused(publishBranch("audit", "audit", REBASE, OptionalLong.empty()), INVALID_VALUE, "Cannot publish audit of sales.orders to itself");
        assertRefused(publishAndDropBranch("main", "audit", REBASE, OptionalLong.empty()), INVALID_VALUE, "Cannot drop main of sales.orders: every table has a branch main");
        assertThatThrownBy(() -> PublishPreview.of(target(), "nope", "main")).isInstanceOf(RefRefusedException.class).hasMessage("Branch does not exist in sales.orders: nope");
        assertThatThrownBy(() -> PublishPreview.of(target(), "audit", "nope")).isInstanceOf(RefRefusedException.class).hasMessage("Branch does not exist in sales.orders: nope");
        assertThatThrownBy(() -> PublishPreview.of(target(), "audit", "audit")).isInstanceOf(RefRefusedException.class).hasMessage("Cannot publish audit of sales.orders to itself");
    }

    /**
     * The new snapshots would have the present schema, with which nobody can read the files.
     */
    @Test
    void testBranchesOfAReplacedTable()
    {
        create();
        apply(createBranch("other", new AtRef("audit"), Retention.DEFAULT, IfExists.REFUSE));
        append("audit", file("x1", "a", 41, 50));
        append("other", file("m1", "a", 61, 70));
        TableMetadata original = operations.current();
        Schema wider = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()), Types.NestedField.optional(2, "p", Types.StringType.get()), Types.NestedField.optional(3, "q", Types.LongType.get()));
        replaceTable(original, wider);
        apply(publishBranch("audit", "other", REBASE, OptionalLong.empty()));
        assertThat(files("other")).endsWith("m1 x1");

        replaceTable(original, new Schema(Types.NestedField.required(1, "id", Types.StringType.get()), Types.NestedField.optional(2, "p", Types.StringType.get())));
        String conflict = "cannot be read: column id has type long in it, and string since the table was replaced";
        String message = "Cannot rebase audit of sales.orders onto other: audit %1$s; other %1$s".formatted(conflict);
        assertRefused(publishBranch("audit", "other", REBASE, OptionalLong.empty()), REBASE_CONFLICT, message);
        assertPreview("audit", "other", Outcome.CONFLICT, message);
    }

    private void replaceTable(TableMetadata original, Schema schema)
    {
        set(original.buildReplacement(schema, PartitionSpec.unpartitioned(), SortOrder.unsorted(), original.location(), ImmutableMap.of()));
        table.newAppend().commit();
    }

    @Test
    void testProtectedBranchIsNotRewritten()
    {
        create();
        append("audit", file("x1", "a", 41, 50));
        apply(protect("audit"));
        apply(protect("main"));
        TableMetadata ahead = operations.current();
        append("main", file("m1", "a", 61, 70));
        assertRefused(publishBranch("audit", "main", REBASE, OptionalLong.empty()), PROTECTED, "Cannot rebase audit of sales.orders: it is protected");
        assertPreview("audit", "main", Outcome.CONFLICT, "Cannot rebase audit of sales.orders: it is protected");
        assertThat(publishBranch("audit", "main", REBASE, OptionalLong.empty()).mayMoveProtected()).isTrue();
        set(ahead);
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(files("main")).endsWith("x1");
    }

    /**
     * A branch of a table without snapshots starts at an empty one, and {@code main} later at another.
     */
    @Test
    void testBranchOfATableWithoutSnapshots()
    {
        set(TableMetadata.newTableMetadata(SCHEMA, BY_P, "/warehouse/" + UUID.randomUUID(), ImmutableMap.of()));
        apply(createBranch("audit", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
        append("audit", file("x1", "a", 41, 50));
        assertPreview("audit", "main", Outcome.FAST_FORWARD, "");
        TableMetadata ahead = operations.current();
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(files("main")).isEqualTo("x1");

        set(ahead);
        long main = append("main", file("m1", "a", 61, 70));
        assertPreview("audit", "main", Outcome.REBASE, "Snapshots of audit to replay on main: 1");
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(files("main")).isEqualTo("m1 x1");
        assertThat(since("main", main)).hasSize(1);
    }

    @Test
    void testNothingInCommon()
    {
        create();
        long base = SnapshotUtil.oldestAncestor(table).snapshotId();
        append("audit", file("x1", "a", 41, 50));
        TableMetadata replaced = operations.current().buildReplacement(SCHEMA, BY_P, operations.current().sortOrder(), operations.current().location(), ImmutableMap.of());
        set(replaced);
        long main = append("main", file("m1", "a", 61, 70));
        String message = "Cannot rebase audit of sales.orders onto main: they have no snapshot in common, audit begins with %s and main with %s".formatted(base, main);
        assertRefused(publishBranch("audit", "main", REBASE, OptionalLong.empty()), REBASE_CONFLICT, message);
        assertPreview("audit", "main", Outcome.CONFLICT, message);
    }

    /**
     * The first snapshot of a table may be empty as well; its branches are no branches of the table that replaces it.
     */
    @Test
    void testReplacedTableThatBeganEmpty()
    {
        set(TableMetadata.newTableMetadata(SCHEMA, BY_P, "/warehouse/" + UUID.randomUUID(), ImmutableMap.of()));
        table.newFastAppend().commit();
        long empty = snapshotId("main");
        apply(createBranch("audit", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
        append("audit", file("x1", "a", 41, 50));
        set(operations.current().buildReplacement(SCHEMA, BY_P, operations.current().sortOrder(), operations.current().location(), ImmutableMap.of()));
        long main = append("main", file("m1", "a", 61, 70));
        assertRefused(
                publishBranch("audit", "main", REBASE, OptionalLong.empty()),
                REBASE_CONFLICT,
                "Cannot rebase audit of sales.orders onto main: they have no snapshot in common, audit begins with %s and main with %s".formatted(empty, main));
    }

    @Test
    void testExpiredHistory()
    {
        create();
        long gone = append("audit", file("x1", "a", 41, 50));
        append("audit", file("x2", "a", 51, 60));
        append("main", file("m1", "a", 61, 70));
        TableMetadata whole = operations.current();
        set(TableMetadata.buildFrom(whole).removeSnapshots(List.of(whole.snapshot(gone))).build());
        assertRefused(
                publishBranch("audit", "main", REBASE, OptionalLong.empty()),
                REBASE_CONFLICT,
                "Cannot rebase audit of sales.orders onto main: the history of audit is expired, its snapshot %s is gone".formatted(gone));

        set(whole);
        append("main", file("m2", "a", 61, 70));
        long goneOfMain = whole.currentSnapshot().snapshotId();
        set(TableMetadata.buildFrom(operations.current()).removeSnapshots(List.of(whole.currentSnapshot())).build());
        assertRefused(
                publishBranch("audit", "main", REBASE, OptionalLong.empty()),
                REBASE_CONFLICT,
                "Cannot rebase audit of sales.orders onto main: the history of main is expired, its snapshot %s is gone".formatted(goneOfMain));
    }

    @Test
    void testPartitionConflicts()
    {
        for (int formatVersion : new int[] {2, 3}) {
            create(formatVersion, BY_P);
            String both = "{audit} and {main} both changed partition p=a";
            List<Consumer<String>> changes = List.of(
                    ref -> table.newDelete().toBranch(ref).deleteFile(a1).commit(),
                    ref -> table.newRowDelta().toBranch(ref).addDeletes(deletes("new-deletes", a2)).commit(),
                    ref -> table.newOverwrite().toBranch(ref).deleteFile(a2).addFile(file("copy-" + ref, "a", 11, 19)).commit(),
                    ref -> table.newReplacePartitions().toBranch(ref).addFile(file("overwrite-" + ref, "a", 11, 19)).commit(),
                    ref -> table.newRowDelta().toBranch(ref).addDeletes(equalityDeletes("eq-" + ref, table.spec(), "a")).commit());
            for (Consumer<String> change : changes) {
                assertConflict(change, ref -> table.newDelete().toBranch(ref).deleteFile(a1).commit(), both);
                assertConflict(change, ref -> append(ref, file("m1", "a", 61, 70)), both);
                assertConflict(change, ref -> table.newRewrite().toBranch(ref).deleteFile(a1).deleteFile(a2).addFile(file("a1a2", "a", 1, 20)).commit(), both);
                assertReplayed(change, ref -> table.newDelete().toBranch(ref).deleteFile(b1).commit());
                assertReplayed(ref -> append(ref, file("x1", "a", 41, 50)), change);
            }
            // what is gone again is no change
            assertReplayed(ref -> table.newDelete().toBranch(ref).deleteFile(a1).commit(), ref -> {
                append(ref, file("m1", "a", 61, 70));
                table.newDelete().toBranch(ref).deleteFile("/data/m1.parquet").commit();
            });
        }
    }

    /**
     * A table that is not partitioned is one partition.
     */
    @Test
    void testUnpartitioned()
    {
        for (int formatVersion : new int[] {1, 2, 3}) {
            create(formatVersion, PartitionSpec.unpartitioned());
            Consumer<String> delete = ref -> table.newDelete().toBranch(ref).deleteFile(a1).commit();
            assertConflict(delete, ref -> append(ref, file("m1", "a", 61, 70)), "{audit} and {main} both changed the table, which is not partitioned");
            assertReplayed(ref -> append(ref, file("x1", "a", 61, 70)), delete);
            assertReplayed(ref -> table.newRewrite().toBranch(ref).deleteFile(a1).deleteFile(a2).addFile(file("a1a2", "a", 1, 20)).commit(), ref -> append(ref, file("m1", "a", 61, 70)));
        }
    }

    @Test
    void testRewriteConflicts()
    {
        for (int formatVersion : new int[] {2, 3}) {
            create(formatVersion, BY_P);
            Consumer<String> rewrite = ref -> table.newRewrite().toBranch(ref).deleteFile(a1).deleteFile(a2).addFile(file("rewritten-" + ref, "a", 1, 20)).commit();
            String removed = "{audit} rewrote data file /data/a1.parquet, which {main} removed";
            String deleted = "{audit} rewrote data file /data/a1.parquet, of which {main} deleted rows";
            assertConflict(rewrite, ref -> table.newDelete().toBranch(ref).deleteFile(a1).commit(), removed);
            assertConflict(rewrite, rewrite, removed + "; {audit} rewrote data file /data/a2.parquet, which {main} removed");
            assertConflict(rewrite, ref -> table.newRowDelta().toBranch(ref).addDeletes(deletes("new-deletes", a1)).commit(), deleted);
            assertConflict(
                    rewrite,
                    ref -> table.newRowDelta().toBranch(ref).addDeletes(equalityDeletes("eq", table.spec(), "a")).commit(),
                    deleted + "; {audit} rewrote data file /data/a2.parquet, of which {main} deleted rows");
            assertReplayed(rewrite, ref -> append(ref, file("m1", "a", 61, 70)));
            assertReplayed(rewrite, ref -> table.newDelete().toBranch(ref).deleteFile(a3).commit());
            assertReplayed(rewrite, ref -> table.newRowDelta().toBranch(ref).addDeletes(equalityDeletes("eq", table.spec(), "b")).commit());

            Consumer<String> rewriteWithDeletes = ref -> table.newRewrite().toBranch(ref).validateFromSnapshot(snapshotId(ref)).deleteFile(a3).deleteFile(deletesOfA3).addFile(file("a3-rewritten", "a", 22, 30)).commit();
            Consumer<String> rewriteDeletes = ref -> table.newRewrite().toBranch(ref).deleteFile(deletesOfA3).addFile(deletes("a3-again", a3)).commit();
            assertConflict(
                    rewriteDeletes,
                    rewriteWithDeletes,
                    "{audit} rewrote data file /data/a3.parquet, which {main} removed; {audit} rewrote delete file %s, which {main} removed".formatted(deletesOfA3.location()));
            assertConflict(
                    rewriteWithDeletes,
                    rewriteDeletes,
                    "{audit} rewrote data file /data/a3.parquet, of which {main} deleted rows; {audit} rewrote delete file %s, which {main} removed".formatted(deletesOfA3.location()));
            assertReplayed(rewriteWithDeletes, ref -> table.newDelete().toBranch(ref).deleteFile(a1).commit());
        }
    }

    /**
     * A delete file that does not say which files it is of may be of each one in its partition.
     */
    @Test
    void testDeletesOfSeveralFiles()
    {
        create();
        Consumer<String> rewrite = ref -> table.newRewrite().toBranch(ref).deleteFile(a1).addFile(file("rewritten", "a", 1, 10)).commit();
        assertConflict(rewrite, ref -> table.newRowDelta().toBranch(ref).addDeletes(positionDeletes("several", "a")).commit(), "{audit} rewrote data file /data/a1.parquet, of which {main} deleted rows");
        assertReplayed(rewrite, ref -> table.newRowDelta().toBranch(ref).addDeletes(positionDeletes("several", "b")).commit());
        assertReplayed(ref -> table.newRowDelta().toBranch(ref).addDeletes(positionDeletes("several", "a")).commit(), ref -> append(ref, file("m1", "b", 61, 70)));
    }

    @Test
    void testReadFilter()
    {
        create();
        Expression idIs61 = Expressions.equal("id", 61L);
        String added = "{audit} may have had to read rows that {main} added";
        Consumer<String> delete = ref -> table.newRowDelta().toBranch(ref).addDeletes(deletes("new-deletes", a1)).set(ReadFilter.PROPERTY, ReadFilter.toProperty(idIs61)).commit();
        assertConflict(delete, ref -> append(ref, file("m1", "b", 61, 70)), added);
        assertReplayed(delete, ref -> append(ref, file("m1", "b", 62, 70)));
        assertConflict(deleteThatRead(Expressions.alwaysTrue()), ref -> append(ref, file("m1", "b", 62, 70)), added);
        assertReplayed(deleteThatRead(Expressions.equal("p", "a")), ref -> append(ref, file("m1", "b", 62, 70)));
        // of another column, and of a kind that does not fit
        assertConflict(deleteThatRead(Expressions.equal("nope", "a")), ref -> append(ref, file("m1", "b", 62, 70)), added);
        assertConflict(deleteThatRead(Expressions.equal("id", "a")), ref -> append(ref, file("m1", "b", 62, 70)), added);
        assertConflict(ref -> table.newRowDelta().toBranch(ref).addDeletes(deletes("new-deletes", a1)).set(ReadFilter.PROPERTY, "{").commit(), ref -> append(ref, file("m1", "b", 62, 70)), added);
        // the rows of another partition that main deletes are no rows that the branch has to delete
        assertReplayed(deleteThatRead(Expressions.alwaysTrue()), ref -> table.newDelete().toBranch(ref).deleteFile(b1).commit());
    }

    /**
     * What a statement added may depend on all that it read.
     */
    @Test
    void testReadFilterOfAddedRows()
    {
        create();
        Consumer<String> mergeOfAll = merge(Expressions.alwaysTrue());
        String deleted = "{audit} may have read rows that {main} deleted";
        assertConflict(mergeOfAll, ref -> append(ref, file("m1", "b", 62, 70)), "{audit} may have had to read rows that {main} added");
        assertConflict(mergeOfAll, ref -> table.newDelete().toBranch(ref).deleteFile(b1).commit(), deleted);
        assertConflict(mergeOfAll, ref -> table.newRowDelta().toBranch(ref).addDeletes(deletes("new-deletes", b1)).commit(), deleted);
        assertReplayed(merge(Expressions.equal("p", "a")), ref -> table.newDelete().toBranch(ref).deleteFile(b1).commit());
        assertReplayed(merge(Expressions.equal("p", "a")), ref -> table.newRowDelta().toBranch(ref).addDeletes(deletes("new-deletes", b1)).commit());
        // a replacement changes no rows
        assertReplayed(
                ref -> table.newRewrite().toBranch(ref).deleteFile(a1).addFile(file("rewritten", "a", 1, 10)).set(ReadFilter.PROPERTY, ReadFilter.toProperty(Expressions.alwaysTrue())).commit(),
                ref -> append(ref, file("m1", "b", 62, 70)));
    }

    private Consumer<String> deleteThatRead(Expression filter)
    {
        return ref -> table.newRowDelta().toBranch(ref).addDeletes(deletes("new-deletes", a1)).set(ReadFilter.PROPERTY, ReadFilter.toProperty(filter)).commit();
    }

    private Consumer<String> merge(Expression filter)
    {
        return ref -> table.newRowDelta().toBranch(ref).addRows(file("merged", "c", 61, 61)).set(ReadFilter.PROPERTY, ReadFilter.toProperty(filter)).commit();
    }

    @Test
    void testLongReadFilterMatchesAll()
    {
        Object[] ids = IntStream.range(0, 2000).mapToObj(id -> (Object) (long) id).toArray();
        assertThat(ReadFilter.toProperty(Expressions.in("id", ids))).isEqualTo("true");
        assertThat(ReadFilter.toProperty(Expressions.equal("id", 1L))).isEqualTo("{\"type\":\"eq\",\"term\":\"id\",\"value\":1}");
    }

    @Test
    void testRecordReadFilter()
    {
        create(3, BY_P);
        // as read from its file
        set(TableMetadataParser.fromJson(TableMetadataParser.toJson(operations.current())));
        TableMetadata before = operations.current();
        append("audit", file("x1", "a", 41, 50));
        append("audit", file("x2", "a", 51, 60));
        TableMetadata recorded = ReadFilter.record("true", before, operations.current());
        assertThat(recorded.refs()).isEqualTo(operations.current().refs());
        assertThat(recorded.nextRowId()).isEqualTo(operations.current().nextRowId());
        for (Snapshot snapshot : operations.current().snapshots()) {
            Map<String, String> summary = new TreeMap<>(snapshot.summary());
            if (before.snapshot(snapshot.snapshotId()) == null) {
                summary.put("skade.read-filter", "true");
            }
            assertThat(recorded.snapshot(snapshot.snapshotId()).summary()).isEqualTo(summary);
            // equality of snapshots leaves the summary out
            assertThat(recorded.snapshot(snapshot.snapshotId())).isEqualTo(snapshot);
        }
    }

    /**
     * The columns of a filter have the names of their time.
     */
    @Test
    void testReadFilterBeforeAChangeOfColumns()
    {
        create();
        deleteThatRead(Expressions.equal("id", 61L)).accept("audit");
        table.updateSchema().addColumn("q", Types.StringType.get()).commit();
        TableMetadata before = operations.current();
        append("main", file("m1", "b", 62, 70));
        assertRefused(publishBranch("audit", "main", REBASE, OptionalLong.empty()), REBASE_CONFLICT, "Cannot rebase audit of sales.orders onto main: {audit} may have had to read rows that {main} added");

        set(before);
        table.newDelete().deleteFile(b1).commit();
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(operations.current().currentSnapshot().summary()).containsEntry("skade.read-filter", "true");
    }

    @Test
    void testChangedPartitioning()
    {
        create();
        append("audit", file("x1", "a", 41, 50));
        table.updateSpec().addField("id").commit();
        long appended = append("main", DataFiles.builder(table.spec()).withPath("/data/m1.parquet").withPartitionPath("p=b/id=61").withFileSizeInBytes(10).withRecordCount(1).build());
        TableMetadata before = operations.current();
        // files keep their spec
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(dataFile("main", "x1").specId()).isEqualTo(0);
        assertThat(dataFile("main", "m1").specId()).isEqualTo(1);

        set(before);
        table.newDelete().toBranch("audit").deleteFile(a1).commit();
        assertRefused(
                publishBranch("audit", "main", REBASE, OptionalLong.empty()),
                REBASE_CONFLICT,
                "Cannot rebase audit of sales.orders onto main: {audit} and %s changed files of different partition specs".formatted(appended));
    }

    @Test
    void testChangedColumns()
    {
        create();
        append("audit", file("x1", "a", 41, 50));
        table.updateSchema().addColumn("q", Types.StringType.get()).commit();
        append("main", file("m1", "a", 61, 70));
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(operations.current().currentSnapshot().schemaId()).isEqualTo(1);
        assertThat(files("main")).endsWith("m1 x1");
    }

    @Test
    void testUpgradedFormat()
    {
        create();
        table.newRowDelta().toBranch("audit").addDeletes(deletes("new-deletes", a1)).commit();
        set(operations.current().upgradeToFormatVersion(3));
        append("main", file("m1", "b", 61, 70));
        assertRefused(
                publishBranch("audit", "main", REBASE, OptionalLong.empty()),
                REBASE_CONFLICT,
                "Cannot rebase audit of sales.orders onto main: {audit} added position deletes that are not deletion vectors, format version 3 takes no more of them");
    }

    @Test
    void testSameFileOnBoth()
    {
        create();
        assertConflict(ref -> append(ref, file("x1", "a", 41, 50)), ref -> append(ref, file("x1", "a", 41, 50)), "{audit} and {main} both added data file /data/x1.parquet");
    }

    @Test
    void testManyConflicts()
    {
        create();
        assertConflict(
                ref -> append(ref, IntStream.range(0, 13).mapToObj(i -> file("x" + i, "a", 1, 1)).toArray(DataFile[]::new)),
                ref -> append(ref, IntStream.range(0, 13).mapToObj(i -> file("x" + i, "a", 1, 1)).toArray(DataFile[]::new)),
                IntStream.range(0, 10).mapToObj("{audit} and {main} both added data file /data/x%s.parquet"::formatted).collect(joining("; ")) + "; and 3 more");
    }

    /**
     * What {@code main} has by a cherry-pick is there once.
     */
    @Test
    void testPickedSnapshotIsLeftOut()
    {
        create();
        long first = append("audit", file("x1", "a", 41, 50));
        append("main", file("m1", "b", 61, 70));
        apply(cherrypickSnapshot(first, "main"));
        table.newRowDelta().toBranch("audit").addDeletes(deletes("x1-deletes", file("x1", "a", 41, 50))).commit();
        TableMetadata picked = operations.current();
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(files("main")).isEqualTo("a1 a2 a3[a3-deletes] b1 m1 x1[x1-deletes]");

        // a later change of the picked file is one of main alone
        set(picked);
        table.newDelete().deleteFile("/data/x1.parquet").commit();
        assertRefused(publishBranch("audit", "main", REBASE, OptionalLong.empty()), REBASE_CONFLICT, "Cannot rebase audit of sales.orders onto main: {audit} and {main} both changed partition p=a");
    }

    /**
     * For what the branch did before, a picked snapshot is as any other.
     */
    @Test
    void testPickedOutOfOrder()
    {
        create();
        table.newDelete().toBranch("audit").deleteFile(a1).commit();
        long delete = snapshotId("audit");
        long second = append("audit", file("x1", "a", 41, 50));
        append("main", file("m1", "b", 61, 70));
        apply(cherrypickSnapshot(second, "main"));
        assertRefused(
                publishBranch("audit", "main", REBASE, OptionalLong.empty()),
                REBASE_CONFLICT,
                "Cannot rebase audit of sales.orders onto main: %s and {main} both changed partition p=a".formatted(delete));
    }

    @Test
    void testOnlyPickedSnapshots()
    {
        create();
        long first = append("audit", file("x1", "a", 41, 50));
        append("main", file("m1", "b", 61, 70));
        apply(cherrypickSnapshot(first, "main"));
        long main = snapshotId("main");
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(snapshotId("main")).isEqualTo(main);
        assertThat(snapshotId("audit")).isEqualTo(main);
    }

    /**
     * The snapshots that a second branch shares with a published one are not replayed again, and cannot be picked.
     */
    @Test
    void testReplayedOnce()
    {
        create();
        long first = append("audit", file("x1", "a", 41, 50));
        apply(createBranch("dev", new AtRef("audit"), Retention.DEFAULT, IfExists.REFUSE));
        append("dev", file("y1", "a", 51, 60));
        append("main", file("m1", "b", 61, 70));
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThatThrownBy(() -> apply(cherrypickSnapshot(first, "main"))).isInstanceOf(RefRefusedException.class).hasMessageContaining("already picked");
        assertPreview("dev", "main", Outcome.REBASE, "Snapshots of dev to replay on main: 1");
        apply(publishBranch("dev", "main", REBASE, OptionalLong.empty()));
        assertThat(files("main")).isEqualTo("a1 a2 a3[a3-deletes] b1 m1 x1 y1");
    }

    /**
     * A writer that leaves no trace of removed files in its manifests.
     */
    @Test
    void testRemovalThatHistoryDoesNotShow()
    {
        create();
        table.newOverwrite().toBranch("audit").deleteFile(a1).addFile(file("copy", "a", 1, 9)).commit();
        table.newDelete().deleteFile(a1).commit();
        table.newAppend().appendFile(file("m1", "b", 61, 70)).commit();
        // the delete is taken out of the history, but its effect stays
        Snapshot delete = operations.current().snapshot(operations.current().currentSnapshot().parentId());
        String json = TableMetadataParser.toJson(operations.current());
        set(TableMetadataParser.fromJson(json.replace("\"parent-snapshot-id\":" + delete.snapshotId(), "\"parent-snapshot-id\":" + delete.parentId())));
        TableMetadata before = operations.current();
        assertThatThrownBy(() -> publishBranch("audit", "main", REBASE, OptionalLong.empty()).apply(target()))
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(REBASE_CONFLICT))
                .hasMessage("Cannot rebase audit of sales.orders onto main: %s: only 0 of 1 files to remove are there".formatted(snapshotId("audit")));
        assertThat(operations.current()).isSameAs(before);
    }

    /**
     * An insert comes first: the replay is made anew on top of it, and both moves are in the log.
     */
    @Test
    void testRace(@TempDir Path warehouse)
    {
        TestingCatalog lake = new TestingCatalog(warehouse);
        TestingCatalog.append(lake.createTable(TestingCatalog.T, TestingCatalog.NO_RETRIES));
        lake.commit(TestingCatalog.T, createBranch("audit", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
        TestingCatalog.append(lake.loadBranch(TestingCatalog.T, "audit"));
        TestingCatalog.append(lake.load(TestingCatalog.T));
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store()).interfere(() -> TestingCatalog.append(lake.load(TestingCatalog.T)));
        lake.over(store).commit(TestingCatalog.T, publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(lake.load(TestingCatalog.T).newScan().planFiles()).hasSize(4);
        assertThat(lake.snapshotId(TestingCatalog.T, "audit")).isEqualTo(lake.snapshotId(TestingCatalog.T, "main"));
        assertThat(lake.lastLogEntry().tables()).extracting(change -> change.operation()).containsExactly("publish_branch");
        assertThat(lake.lastLogEntry().tables().getFirst().refChanges()).extracting(change -> change.ref()).containsExactly("audit", "main");
    }

    /**
     * Both branches change, and the publish is refused for this reason alone.
     */
    private void assertConflict(Consumer<String> branchChange, Consumer<String> mainChange, String conflicts)
    {
        TableMetadata before = operations.current();
        branchChange.accept("audit");
        mainChange.accept("main");
        String message = "Cannot rebase audit of sales.orders onto main: " + conflicts;
        assertRefused(publishBranch("audit", "main", REBASE, OptionalLong.empty()), REBASE_CONFLICT, message);
        assertPreview("audit", "main", Outcome.CONFLICT, message);
        set(before);
    }

    /**
     * Both branches change, and the publish takes the change of the branch as it is.
     */
    private void assertReplayed(Consumer<String> branchChange, Consumer<String> mainChange)
    {
        TableMetadata before = operations.current();
        mainChange.accept("audit");
        branchChange.accept("audit");
        String expected = files("audit");
        set(before);
        branchChange.accept("audit");
        mainChange.accept("main");
        assertPreview("audit", "main", Outcome.REBASE, "Snapshots of audit to replay on main: 1");
        apply(publishBranch("audit", "main", REBASE, OptionalLong.empty()));
        assertThat(files("main").replace("-main", "-audit")).isEqualTo(expected);
        set(before);
    }

    private void assertRefused(RefUpdate update, Reason reason, String message)
    {
        assertThatThrownBy(() -> update.apply(new RefTarget(NAME, operations.current(), new ReadOnlyFileIO(io))))
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(reason))
                .hasMessage(withSnapshotIds(message));
    }

    private void assertUnchanged(RefUpdate update)
    {
        assertThat(update.apply(target())).isSameAs(operations.current());
    }

    private void assertPreview(String branch, String to, Outcome outcome, String message)
    {
        assertThat(PublishPreview.of(new RefTarget(NAME, operations.current(), new ReadOnlyFileIO(io)), branch, to)).isEqualTo(new PublishPreview(outcome, withSnapshotIds(message)));
    }

    private String withSnapshotIds(String message)
    {
        String result = message;
        for (Map.Entry<String, SnapshotRef> ref : operations.current().refs().entrySet()) {
            result = result.replace("{" + ref.getKey() + "}", String.valueOf(ref.getValue().snapshotId()));
        }
        return result;
    }

    private RefTarget target()
    {
        return new RefTarget(NAME, operations.current(), io);
    }

    private void apply(RefUpdate update)
    {
        set(update.apply(target()));
    }

    private void set(TableMetadata metadata)
    {
        operations = new BuildingTableOperations(metadata, io);
        table = new BaseTable(operations, NAME.toString());
    }

    private long snapshotId(String ref)
    {
        return operations.current().ref(ref).snapshotId();
    }

    private long append(String ref, DataFile... files)
    {
        var append = table.newAppend().toBranch(ref);
        List.of(files).forEach(append::appendFile);
        append.commit();
        return snapshotId(ref);
    }

    /**
     * The snapshots of a branch after one of them, oldest first.
     */
    private List<Snapshot> since(String ref, long snapshotId)
    {
        return ImmutableList.copyOf(SnapshotUtil.ancestorsBetween(snapshotId(ref), snapshotId, operations.current()::snapshot)).reverse();
    }

    private List<FileScanTask> tasks(String ref)
    {
        try (CloseableIterable<FileScanTask> tasks = table.newScan().useSnapshot(snapshotId(ref)).planFiles()) {
            return ImmutableList.copyOf(tasks);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private DataFile dataFile(String ref, String name)
    {
        return tasks(ref).stream()
                .map(FileScanTask::file)
                .filter(file -> name(file.location()).equals(name))
                .collect(onlyElement());
    }

    /**
     * The data files of a branch by name, each with the delete files that apply to it in brackets.
     */
    private String files(String ref)
    {
        Map<String, String> files = new TreeMap<>();
        for (FileScanTask task : tasks(ref)) {
            String deletes = task.deletes().stream().map(file -> name(file.location())).sorted().collect(joining(" "));
            files.put(name(task.file().location()), deletes.isEmpty() ? "" : "[%s]".formatted(deletes));
        }
        return files.entrySet().stream().map(entry -> entry.getKey() + entry.getValue()).collect(joining(" "));
    }

    private static String name(String location)
    {
        return location.substring("/data/".length(), location.lastIndexOf('.'));
    }

    private DataFile file(String name, String p, long minId, long maxId)
    {
        return DataFiles.builder(table.spec())
                .withPath("/data/%s.parquet".formatted(name))
                .withPartitionPath(partition(table.spec(), p))
                .withFileSizeInBytes(100)
                .withMetrics(new Metrics(
                        maxId - minId + 1,
                        null,
                        ImmutableMap.of(1, maxId - minId + 1, 2, maxId - minId + 1),
                        ImmutableMap.of(1, 0L, 2, 0L),
                        null,
                        ImmutableMap.of(1, bound(minId), 2, bound(p)),
                        ImmutableMap.of(1, bound(maxId), 2, bound(p))))
                .build();
    }

    private static ByteBuffer bound(Object value)
    {
        return Conversions.toByteBuffer(value instanceof Long ? Types.LongType.get() : Types.StringType.get(), value);
    }

    private static String partition(PartitionSpec spec, String p)
    {
        return spec.isUnpartitioned() ? "" : "p=" + p;
    }

    /**
     * Position deletes of one data file, in the form that the format version wants.
     */
    private DeleteFile deletes(String name, DataFile file)
    {
        FileMetadata.Builder builder = FileMetadata.deleteFileBuilder(table.spec())
                .ofPositionDeletes()
                .withPartition(file.partition())
                .withReferencedDataFile(file.location())
                .withFileSizeInBytes(100)
                .withRecordCount(1);
        return operations.current().formatVersion() >= 3
                ? builder.withPath("/data/%s.puffin".formatted(name)).withFormat(FileFormat.PUFFIN).withContentOffset(4).withContentSizeInBytes(40).build()
                : builder.withPath("/data/%s.parquet".formatted(name)).build();
    }

    private DeleteFile positionDeletes(String name, String p)
    {
        return FileMetadata.deleteFileBuilder(table.spec())
                .ofPositionDeletes()
                .withPath("/data/%s.parquet".formatted(name))
                .withPartitionPath(partition(table.spec(), p))
                .withFileSizeInBytes(100)
                .withRecordCount(1)
                .build();
    }

    private static DeleteFile equalityDeletes(String name, PartitionSpec spec, String p)
    {
        return FileMetadata.deleteFileBuilder(spec)
                .ofEqualityDeletes(1)
                .withPath("/data/%s.parquet".formatted(name))
                .withPartitionPath(partition(spec, p))
                .withFileSizeInBytes(100)
                .withRecordCount(1)
                .build();
    }

    /**
     * Fails whoever writes or deletes.
     */
    private record ReadOnlyFileIO(FileIO io)
            implements FileIO
    {
        ReadOnlyFileIO
        {
            requireNonNull(io, "io is null");
        }

        @Override
        public InputFile newInputFile(String path)
        {
            return io.newInputFile(path);
        }

        @Override
        public OutputFile newOutputFile(String path)
        {
            throw new UnsupportedOperationException("writes " + path);
        }

        @Override
        public void deleteFile(String path)
        {
            throw new UnsupportedOperationException("deletes " + path);
        }
    }
}
