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
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.store.TablePointer;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.GenericStatisticsFile;
import org.apache.iceberg.HistoryEntry;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

import static io.skade.ref.RefRefusedException.Reason.NOT_READABLE;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static io.skade.ref.TestingMetadata.AUDIT;
import static io.skade.ref.TestingMetadata.DEV;
import static io.skade.ref.TestingMetadata.V1;
import static io.skade.ref.TestingMetadata.time;
import static org.apache.iceberg.types.Types.NestedField.optional;
import static org.apache.iceberg.types.Types.NestedField.required;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestRefViews
{
    private static final AtRef MAIN = new AtRef("main");

    @TempDir
    private Path warehouse;

    private TestingCatalog lake;

    @BeforeEach
    void createLake()
    {
        lake = new TestingCatalog(warehouse);
    }

    private static RefViews views()
    {
        return new RefViews(new MetadataFiles(10_000_000), Type::toString);
    }

    private RefTarget target(TableMetadata metadata)
    {
        return new RefTarget(T, metadata, lake.io());
    }

    @Test
    void testBranch()
    {
        TableMetadata metadata = TestingMetadata.table();
        TableMetadata view = views().branch(target(metadata), "audit");
        assertThat(view.refs()).isEqualTo(ImmutableMap.of("main", SnapshotRef.branchBuilder(5).build(), "audit", AUDIT, "dev", DEV, "v1", V1));
        assertThat(view.currentSnapshot().snapshotId()).isEqualTo(5);
        assertThat(view.snapshotLog()).startsWith(metadata.snapshotLog().toArray(HistoryEntry[]::new));
        assertThat(view.snapshotLog().getLast().snapshotId()).isEqualTo(5);
        assertThat(view.snapshotLog().getLast().timestampMillis()).isEqualTo(metadata.lastUpdatedMillis());
        assertThat(view.changes()).isEmpty();
        assertThat(view.metadataFileLocation()).isEqualTo(metadata.metadataFileLocation());
        assertThat(view.previousFiles()).isEqualTo(metadata.previousFiles());
        assertThat(view.lastUpdatedMillis()).isEqualTo(metadata.lastUpdatedMillis());
        assertThat(view.lastSequenceNumber()).isEqualTo(metadata.lastSequenceNumber());
        assertThat(view.uuid()).isEqualTo(metadata.uuid());
        assertThat(view.properties()).isEqualTo(metadata.properties());
        assertThat(view.snapshots()).isEqualTo(metadata.snapshots());
    }

    @Test
    void testBranchIsAFunctionOfTheMetadata()
    {
        TableMetadata metadata = TestingMetadata.table();
        assertThat(TableMetadataParser.toJson(views().branch(target(metadata), "audit"))).isEqualTo(TableMetadataParser.toJson(views().branch(target(metadata), "audit")));
    }

    @Test
    void testViewsAreMadeOnce()
    {
        MetadataFiles files = new MetadataFiles(10_000_000);
        TableMetadata metadata = files.prepare(TestingMetadata.table(), 1, Optional.empty()).metadata();
        RefViews views = new RefViews(files, Type::toString);
        assertThat(views.branch(target(metadata), "audit")).isSameAs(views.branch(target(metadata), "audit"));
        assertThat(views.branch(target(metadata), "audit")).isNotSameAs(views.branch(target(metadata), "dev"));
        assertThat(views.branch(target(metadata), "main")).isSameAs(metadata);
        assertThat(views.snapshot(lake.io(), metadata, 4)).isSameAs(views.snapshot(lake.io(), metadata, 4));
    }

    /**
     * A table that was not changed for more than a minute: Iceberg refuses metadata whose log is that much later than its last update.
     */
    @Test
    void testBranchOfATableThatWasLastChangedLongAgo()
    {
        TableMetadata metadata = TestingMetadata.table();
        assertThat(Instant.ofEpochMilli(metadata.lastUpdatedMillis())).isEqualTo(time(14));
        assertThat(views().branch(target(metadata), "audit").currentSnapshot().snapshotId()).isEqualTo(5);
        assertThat(views().branch(target(metadata), "dev").currentSnapshot().snapshotId()).isEqualTo(6);
        assertThat(views().snapshot(lake.io(), metadata, 1).currentSnapshot().snapshotId()).isEqualTo(1);
    }

    /**
     * A snapshot by a writer whose clock is an hour ahead of the one that wrote the metadata.
     */
    @Test
    void testSnapshotLaterThanTheLastUpdate()
    {
        TableMetadata metadata = TableMetadataParser.fromJson("/warehouse/t/metadata/00009-a.metadata.json", TableMetadataParser.toJson(TestingMetadata.table())
                .replaceFirst("\"last-updated-ms\":\\d+", "\"last-updated-ms\":" + time(4).toEpochMilli())
                .replaceFirst("\"metadata-log\":\\[.*?]", "\"metadata-log\":[]"));
        assertThat(views().branch(target(metadata), "audit").snapshotLog().getLast().timestampMillis()).isEqualTo(time(4).toEpochMilli());
        assertThat(views().snapshot(lake.io(), metadata, 5).snapshotLog()).extracting(entry -> entry.timestampMillis()).containsExactly(time(4).toEpochMilli());
    }

    @Test
    void testMissingBranch()
    {
        TableMetadata metadata = TestingMetadata.table();
        for (String name : new String[] {"nope", "v1", "AUDIT"}) {
            assertThatThrownBy(() -> views().branch(target(metadata), name))
                    .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(REF_NOT_FOUND))
                    .hasMessage("Branch does not exist in db.t: %s", name);
        }
    }

    @Test
    void testSnapshot()
    {
        TableMetadata metadata = TestingMetadata.table();
        TableMetadata view = views().snapshot(lake.io(), metadata, 4);
        assertThat(view.refs()).isEqualTo(ImmutableMap.of("main", SnapshotRef.branchBuilder(4).build()));
        assertThat(view.snapshots()).containsExactly(metadata.snapshot(4));
        assertThat(view.snapshotLog()).extracting(entry -> entry.snapshotId()).containsExactly(4L);
        assertThat(view.metadataFileLocation()).isEqualTo(metadata.metadataFileLocation());
        assertThat(view.location()).isEqualTo(metadata.location());
        assertThat(view.uuid()).isEqualTo(metadata.uuid());
        assertThat(view.properties()).isEqualTo(metadata.properties());
        assertThat(view.changes()).isEmpty();
    }

    @Test
    void testMissingSnapshot()
    {
        assertThatThrownBy(() -> views().snapshot(lake.io(), TestingMetadata.table(), 99))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Snapshot does not exist: 99");
    }

    @Test
    void testSnapshotHasTheSchemaOfItsTime()
    {
        Table table = lake.createTable(T, ImmutableMap.of());
        long first = append(table).snapshotId();
        table.updateSchema().renameColumn("name", "title").addColumn("c", Types.LongType.get()).commit();
        long second = append(table).snapshotId();
        table.updateSchema().deleteColumn("c").commit();

        assertThat(viewAt(first).schema().columns()).extracting(Types.NestedField::name).containsExactly("id", "name");
        assertThat(viewAt(second).schema().columns()).extracting(Types.NestedField::name).containsExactly("id", "title", "c");
        assertThat(viewAt(first).newScan().filter(Expressions.equal("name", "x")).planFiles()).hasSize(1);
        assertThat(viewAt(second).newScan().filter(Expressions.equal("title", "x")).planFiles()).hasSize(2);
        assertThat(lake.load(T).schema().columns()).extracting(Types.NestedField::name).containsExactly("id", "title");
    }

    /**
     * A branch is read and written with the table's present schema, whenever its snapshot was made.
     */
    @Test
    void testBranchHasThePresentSchema()
    {
        Table table = lake.createTable(T, ImmutableMap.of());
        append(table);
        lake.commit(T, createBranch("audit", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        lake.load(T).updateSchema().renameColumn("name", "title").addColumn("c", Types.LongType.get()).commit();
        assertThat(lake.loadBranch(T, "audit").schema().columns()).extracting(Types.NestedField::name).containsExactly("id", "title", "c");
    }

    /**
     * A column of a replaced table is the same one if it has the same name, whatever its type.
     */
    @Test
    void testBranchOfAReplacedTable()
    {
        Type struct = Types.StructType.of(optional(10, "a", Types.IntegerType.get()), optional(11, "b", Types.StringType.get()));
        assertReadable(Types.StringType.get(), Types.StringType.get());
        assertReadable(Types.IntegerType.get(), Types.LongType.get());
        assertReadable(Types.FloatType.get(), Types.DoubleType.get());
        assertReadable(Types.DecimalType.of(9, 2), Types.DecimalType.of(18, 2));
        assertReadable(struct, Types.StructType.of(optional(10, "a", Types.LongType.get()), optional(12, "c", Types.StringType.get())));
        assertReadable(Types.ListType.ofOptional(10, Types.IntegerType.get()), Types.ListType.ofOptional(10, Types.LongType.get()));

        assertNotReadable(Types.StringType.get(), Types.LongType.get(), "column x has type string in it, and long since the table was replaced");
        assertNotReadable(Types.LongType.get(), Types.IntegerType.get(), "column x has type long in it, and int since the table was replaced");
        assertNotReadable(Types.DecimalType.of(9, 2), Types.DecimalType.of(9, 3), "column x has type decimal(9, 2) in it, and decimal(9, 3) since the table was replaced");
        assertNotReadable(struct, Types.StructType.of(optional(10, "a", Types.StringType.get())), "column x.a has type int in it, and string since the table was replaced");
        assertNotReadable(struct, Types.IntegerType.get(), "column x has type %s in it, and int since the table was replaced".formatted(
                Types.StructType.of(optional(3, "a", Types.IntegerType.get()), optional(4, "b", Types.StringType.get()))));
        assertNotReadable(Types.IntegerType.get(), Types.ListType.ofOptional(10, Types.IntegerType.get()), "column x has type int in it, and list<int> since the table was replaced");
    }

    private void assertReadable(Type before, Type after)
    {
        createReplaced(before, after);
        Table branch = lake.loadBranch(T, "audit");
        assertThat(branch.schema().findType("x").typeId()).isEqualTo(after.typeId());
        assertThat(branch.newScan().planFiles()).hasSize(1);
    }

    private void assertNotReadable(Type before, Type after, String conflict)
    {
        createReplaced(before, after);
        long snapshotId = lake.snapshotId(T, "audit");
        assertNotReadable("Cannot read branch audit of db.t: %s. Read it by its snapshot id, FOR VERSION AS OF %s, or through a tag".formatted(conflict, snapshotId));
        assertThat(viewAt(snapshotId).newScan().planFiles()).hasSize(1);
        assertThat(viewAt(snapshotId).schema().findType("x").typeId()).isEqualTo(before.typeId());
    }

    private void assertNotReadable(String message)
    {
        // what is refused is not kept either
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> lake.loadBranch(T, "audit").schema())
                    .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(NOT_READABLE))
                    .hasMessage(message);
        }
    }

    private void createReplaced(Type before, Type after)
    {
        lake.catalog().dropTable(T, false);
        append(createTable(before));
        lake.commit(T, createBranch("audit", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        replace(new Schema(required(1, "id", Types.LongType.get()), optional(2, "x", after)));
    }

    private Table createTable(Type type)
    {
        return lake.catalog().createTable(T, new Schema(required(1, "id", Types.LongType.get()), optional(2, "x", type)));
    }

    private void replace(Schema schema)
    {
        lake.catalog().buildTable(T, schema).replaceTransaction().commitTransaction();
    }

    /**
     * It has no row of the other type, and takes new ones.
     */
    @Test
    void testEmptyBranchOfAReplacedTable()
    {
        createTable(Types.StringType.get());
        lake.commit(T, createBranch("audit", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        replace(new Schema(optional(1, "x", Types.LongType.get())));
        Table branch = lake.loadBranch(T, "audit");
        assertThat(branch.newScan().planFiles()).isEmpty();
        append(branch);
        assertThat(branch.newScan().planFiles()).hasSize(1);
        assertThat(lake.loadBranch(T, "audit").schema().findType("x")).isEqualTo(Types.LongType.get());
    }

    /**
     * A branch whose rows went over into the new type stays readable.
     */
    @Test
    void testBranchOfATableThatWasReplacedTwice()
    {
        createReplaced(Types.StringType.get(), Types.LongType.get());
        replace(new Schema(optional(1, "x", Types.StringType.get())));
        append(lake.loadBranch(T, "audit"));
        replace(new Schema(optional(1, "y", Types.LongType.get())));
        append(lake.loadBranch(T, "audit"));
        assertThat(lake.loadBranch(T, "audit").newScan().planFiles()).hasSize(3);
    }

    @Test
    void testBranchWithFilesOfAPartitionColumnThatIsGone()
    {
        Schema schema = new Schema(required(1, "id", Types.LongType.get()), optional(2, "part", Types.StringType.get()));
        Table table = lake.catalog().createTable(T, schema, PartitionSpec.builderFor(schema).bucket("part", 4).build(), ImmutableMap.of());
        lake.commit(T, createBranch("empty", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        appendTo(table, "part_bucket=1");
        lake.commit(T, createBranch("audit", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        replace(new Schema(required(1, "id", Types.LongType.get())));
        append(lake.load(T));
        long snapshotId = lake.snapshotId(T, "audit");
        assertNotReadable("Cannot read branch audit of db.t: its files are partitioned by part_bucket, and the table does not have the column of that any more. Read it by its snapshot id, FOR VERSION AS OF %s, or through a tag".formatted(snapshotId));
        assertThat(viewAt(snapshotId).newScan().planFiles()).hasSize(1);
        assertThat(lake.loadBranch(T, "empty").newScan().planFiles()).isEmpty();

        // the column stays, only the table is not partitioned by it any more
        lake.catalog().dropTable(T, false);
        appendTo(lake.catalog().createTable(T, schema, PartitionSpec.builderFor(schema).bucket("part", 4).build(), ImmutableMap.of()), "part_bucket=1");
        lake.commit(T, createBranch("audit", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        replace(new Schema(required(1, "id", Types.LongType.get()), optional(2, "part", Types.StringType.get()), optional(3, "c", Types.StringType.get())));
        assertThat(lake.loadBranch(T, "audit").newScan().planFiles()).hasSize(1);
    }

    /**
     * Two columns that exchange their names: a filter on an old snapshot means the old ones.
     */
    @Test
    void testExchangedColumnNames()
    {
        Table table = lake.createTable(T, ImmutableMap.of());
        long first = append(table).snapshotId();
        table.updateSchema().renameColumn("id", "x").commit();
        table.updateSchema().renameColumn("name", "id").commit();
        table.updateSchema().renameColumn("x", "name").commit();
        assertThat(viewAt(first).schema().findField("id").fieldId()).isEqualTo(1);
        assertThat(viewAt(first).schema().findField("id").type()).isEqualTo(Types.LongType.get());
        assertThat(lake.load(T).schema().findField("id").fieldId()).isEqualTo(2);
    }

    @Test
    void testLaterPartitionSpecOnALaterColumn()
    {
        Table table = lake.createTable(T, ImmutableMap.of());
        long first = append(table).snapshotId();
        table.updateSchema().addColumn("part", Types.StringType.get()).commit();
        table.updateSpec().addField("part").commit();
        appendTo(table, "part=a");
        long second = table.currentSnapshot().snapshotId();
        assertThat(lake.metadata(T).specs()).hasSize(2);

        Table before = viewAt(first);
        assertThat(before.specs()).containsOnlyKeys(0);
        assertThat(before.spec().isUnpartitioned()).isTrue();
        assertThat(before.newScan().planFiles()).hasSize(1);

        Table after = viewAt(second);
        assertThat(after.specs()).containsOnlyKeys(0, 1);
        assertThat(after.spec().specId()).isEqualTo(1);
        assertThat(after.newScan().planFiles()).hasSize(2);
        assertThat(after.newScan().filter(Expressions.equal("part", "b")).planFiles()).extracting(FileScanTask::spec).extracting(PartitionSpec::specId).containsExactly(0);
    }

    /**
     * A spec that the snapshot's own files need stays, on whatever column; the default is one that can be used.
     */
    @Test
    void testSpecOnADroppedColumn()
    {
        Schema schema = new Schema(required(1, "id", Types.LongType.get()), optional(2, "part", Types.StringType.get()));
        Table table = lake.catalog().createTable(T, schema, PartitionSpec.builderFor(schema).identity("part").build(), ImmutableMap.of());
        appendTo(table, "part=a");
        long first = table.currentSnapshot().snapshotId();
        table.updateSpec().removeField("part").commit();
        table.updateSchema().deleteColumn("part").commit();
        long second = append(table).snapshotId();

        assertThat(viewAt(first).specs()).containsOnlyKeys(0, 1);
        assertThat(viewAt(first).newScan().filter(Expressions.equal("part", "b")).planFiles()).isEmpty();
        assertThat(viewAt(second).specs()).containsOnlyKeys(0, 1);
        assertThat(viewAt(second).spec().isUnpartitioned()).isTrue();
        assertThat(viewAt(second).newScan().planFiles()).hasSize(2);
    }

    /**
     * In format version 1 a removed partition field goes on as a void one, on a column that may be gone.
     */
    @Test
    void testNoSpecForTheSchema()
    {
        Schema schema = new Schema(required(1, "id", Types.LongType.get()), optional(2, "part", Types.StringType.get()));
        Table table = lake.catalog().createTable(
                T,
                schema,
                PartitionSpec.builderFor(schema).identity("part").build(),
                ImmutableMap.of(TableProperties.FORMAT_VERSION, "1"));
        appendTo(table, "part=a");
        long first = table.currentSnapshot().snapshotId();
        table.updateSpec().removeField("part").commit();
        table.updateSchema().deleteColumn("part").commit();
        table.newFastAppend().appendFile(DataFiles.builder(table.spec()).withPath("/data/second.parquet").withFileSizeInBytes(100).withRecordCount(10).build()).commit();
        long second = table.currentSnapshot().snapshotId();

        assertThat(viewAt(first).newScan().planFiles()).hasSize(1);
        assertThat(viewAt(second).spec().isUnpartitioned()).isTrue();
        assertThat(viewAt(second).newScan().planFiles()).hasSize(2);
    }

    /**
     * An order by a later column matters to writes only.
     */
    @Test
    void testLaterSortOrderOnALaterColumn()
    {
        Table table = lake.createTable(T, ImmutableMap.of());
        long first = append(table).snapshotId();
        table.updateSchema().addColumn("c", Types.LongType.get()).commit();
        table.replaceSortOrder().asc("c").commit();
        assertThat(viewAt(first).sortOrder().isUnsorted()).isTrue();
        assertThat(viewAt(first).newScan().planFiles()).hasSize(1);
    }

    @Test
    void testStatistics()
    {
        Table table = lake.createTable(T, ImmutableMap.of());
        long first = append(table).snapshotId();
        long second = append(table).snapshotId();
        for (long snapshotId : new long[] {first, second}) {
            table.updateStatistics().setStatistics(new GenericStatisticsFile(snapshotId, "/stats/%s.puffin".formatted(snapshotId), 10, 5, ImmutableList.of())).commit();
        }
        assertThat(viewAt(first).statisticsFiles()).extracting(file -> file.path()).containsExactly("/stats/%s.puffin".formatted(first));
        assertThat(viewAt(second).statisticsFiles()).extracting(file -> file.path()).containsExactly("/stats/%s.puffin".formatted(second));
    }

    @Test
    void testFormatVersions()
    {
        for (int version : new int[] {1, 2, 3}) {
            lake.catalog().dropTable(T, false);
            Table table = lake.createTable(T, ImmutableMap.of(TableProperties.FORMAT_VERSION, String.valueOf(version)));
            long first = append(table).snapshotId();
            lake.commit(T, createBranch("audit", MAIN, Retention.DEFAULT, IfExists.REFUSE));
            append(lake.loadBranch(T, "audit"));
            append(lake.load(T));
            TableMetadata view = ((BaseTable) viewAt(first)).operations().current();
            assertThat(view.formatVersion()).isEqualTo(version);
            assertThat(view.nextRowId()).isEqualTo(lake.metadata(T).nextRowId());
            assertThat(viewAt(first).newScan().planFiles()).as("version %s", version).hasSize(1);
            assertThat(lake.loadBranch(T, "audit").newScan().planFiles()).as("version %s", version).hasSize(2);
        }
    }

    @Test
    void testSnapshotCannotBeWritten()
    {
        Table table = lake.createTable(T, ImmutableMap.of());
        long first = append(table).snapshotId();
        append(table);
        TablePointer before = lake.pointer(T);
        Table view = viewAt(first);
        assertThatThrownBy(() -> append(view))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("A tag or snapshot cannot be written");
        assertThatThrownBy(() -> view.updateProperties().set("a", "b").commit())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("A tag or snapshot cannot be written");
        assertThat(lake.pointer(T)).isEqualTo(before);
        view.refresh();
        assertThat(view.currentSnapshot().snapshotId()).isEqualTo(first);
    }

    private Table viewAt(long snapshotId)
    {
        TableMetadata view = lake.views().snapshot(lake.io(), lake.metadata(T), snapshotId);
        return new BaseTable(new SnapshotTableOperations(view, lake.io()), "view");
    }

    private static void appendTo(Table table, String partition)
    {
        table.newFastAppend().appendFile(DataFiles.builder(table.spec())
                .withPath("/data/%s.parquet".formatted(UUID.randomUUID()))
                .withPartitionPath(partition)
                .withFileSizeInBytes(100)
                .withRecordCount(10)
                .build()).commit();
    }
}
