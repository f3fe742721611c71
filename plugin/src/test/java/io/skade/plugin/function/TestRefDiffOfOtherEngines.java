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
package io.skade.plugin.function;

import com.google.common.collect.ImmutableList;
import io.skade.plugin.SkadeQueryRunner;
import io.trino.filesystem.local.LocalFileSystem;
import io.trino.plugin.iceberg.fileio.ForwardingFileIo;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedRow;
import io.trino.testing.QueryRunner;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.LocationProviders;
import org.apache.iceberg.SnapshotChanges;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.avro.Avro;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.PositionDelete;
import org.apache.iceberg.deletes.PositionDeleteWriter;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.LocationProvider;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/**
 * {@code ref_diff} of what Trino does not write: equality deletes, position deletes of a whole partition, delete files that are taken away.
 */
class TestRefDiffOfOtherEngines
        extends AbstractTestQueryFramework
{
    private FileIO fileIo;

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        DistributedQueryRunner queryRunner = SkadeQueryRunner.builder().setWorkerCount(1).build();
        Path data = queryRunner.getCoordinator().getBaseDataDir().resolve("skade");
        fileIo = new ForwardingFileIo(new LocalFileSystem(data), false);
        return queryRunner;
    }

    @Test
    void equalityDeletes()
            throws IOException
    {
        assertUpdate("CREATE TABLE upserted (id int, part varchar) WITH (format_version = 2, partitioning = ARRAY['part'])");
        assertUpdate("INSERT INTO upserted VALUES (1, 'a'), (2, 'a'), (3, 'a'), (1, 'b')", 4);
        assertUpdate("CREATE BRANCH edit IN TABLE upserted");
        BaseTable table = unregister("upserted");
        DataFile file = dataFile(table, "a");
        table.newRowDelta().addDeletes(equalityDeletes(table, file.partition(), "1")).toBranch("edit").commit();
        // deletes of rows that are gone already, and of one more
        table.newRowDelta().addDeletes(equalityDeletes(table, file.partition(), "1, 2, 77")).toBranch("edit").commit();
        register(table, "upserted");
        assertUpdate("INSERT INTO upserted@edit VALUES (1, 'a')", 1);
        assertUpdate("DELETE FROM upserted@edit WHERE id = 3", 1);
        getQueryRunner().execute("DELETE FROM upserted@edit WHERE part = 'a'");
        assertQuery("SELECT * FROM upserted FOR VERSION AS OF 'edit'", "VALUES (1, 'b')");
        assertQuery(
                "SELECT id, part, _change_type, _change_ordinal FROM TABLE(system.ref_diff('tpch', 'upserted', 'main', 'edit'))",
                "VALUES (1, 'a', 'delete', 0), (2, 'a', 'delete', 1), (1, 'a', 'insert', 2), (3, 'a', 'delete', 3), (1, 'a', 'delete', 4)");

        // by a column that is not there any more
        assertUpdate("ALTER TABLE upserted ADD COLUMN other int");
        assertUpdate("ALTER TABLE upserted DROP COLUMN id");
        assertQueryFails("SELECT * FROM TABLE(system.ref_diff('tpch', 'upserted', 'main', 'edit'))", "Function ref_diff does not support equality deletes by a column that is not there any more: .*");
        assertUpdate("DROP TABLE upserted");
    }

    @Test
    void deleteFilesThatAreTakenAway()
            throws IOException
    {
        assertUpdate("CREATE TABLE restored (id int, part varchar) WITH (format_version = 2, partitioning = ARRAY['part'])");
        assertUpdate("INSERT INTO restored VALUES (1, 'a'), (2, 'a')", 2);
        assertUpdate("INSERT INTO restored VALUES (3, 'a')", 1);
        assertUpdate("CREATE BRANCH edit IN TABLE restored");
        BaseTable table = unregister("restored");
        List<DataFile> files = dataFiles(table);
        // one file of position deletes for two data files
        DeleteFile positions = positionDeletes(table, files.get(0).partition(), files.get(0).location(), files.get(1).location());
        table.newRowDelta().addDeletes(positions).toBranch("edit").commit();
        for (DeleteFile committed : SnapshotChanges.builderFor(table).snapshot(table.snapshot("edit")).build().addedDeleteFiles()) {
            table.newRowDelta().removeDeletes(committed).toBranch("edit").commit();
        }
        register(table, "restored");
        assertQuery("SELECT id FROM restored FOR VERSION AS OF 'edit'", "VALUES 1, 2, 3");
        assertQuery(
                "SELECT id, _change_type, _change_ordinal FROM TABLE(system.ref_diff('tpch', 'restored', 'main', 'edit'))",
                "VALUES (1, 'delete', 0), (3, 'delete', 0), (1, 'insert', 1), (3, 'insert', 1)");
        assertUpdate("DROP TABLE restored");
    }

    @Test
    void rowsThatOneSnapshotInsertsAndDeletes()
            throws IOException
    {
        assertUpdate("CREATE TABLE streamed (id int, part varchar) WITH (format_version = 2, partitioning = ARRAY['part'])");
        assertUpdate("CREATE BRANCH base IN TABLE streamed");
        assertUpdate("INSERT INTO streamed VALUES (1, 'a'), (2, 'a')", 2);
        BaseTable table = unregister("streamed");
        DataFile file = dataFile(table, "a");
        // the same file once more, with its first row deleted at once
        table.manageSnapshots().setCurrentSnapshot(table.snapshot("base").snapshotId()).commit();
        table.newRowDelta().addRows(file).addDeletes(positionDeletes(table, file.partition(), file.location())).commit();
        register(table, "streamed");
        assertQuery("SELECT * FROM streamed", "VALUES (2, 'a')");
        assertQuery("SELECT id, _change_type, _change_ordinal FROM TABLE(system.ref_diff('tpch', 'streamed', 'base', 'main'))", "VALUES (2, 'insert', 0)");
        assertUpdate("DROP TABLE streamed");
    }

    @Test
    void tableWithoutSnapshots()
    {
        assertUpdate("CREATE TABLE bare (n int)");
        BaseTable table = unregister("bare");
        TableMetadata empty = TableMetadata.newTableMetadata(table.schema(), table.spec(), table.location(), table.properties());
        table.operations().commit(null, empty);
        register(table, "bare");
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.ancestors_of('tpch', 'bare', 'main'))");
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.ref_graph('tpch', 'bare'))");
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.ref_diff('tpch', 'bare', 'main', 'main'))");
        assertUpdate("CREATE BRANCH edit IN TABLE bare");
        assertUpdate("INSERT INTO bare@edit VALUES 1", 1);
        assertQuery("SELECT n, _change_type FROM TABLE(system.ref_diff('tpch', 'bare', 'main', 'edit'))", "VALUES (1, 'insert')");
        assertQueryReturnsEmptyResult("SELECT * FROM TABLE(system.ref_diff('tpch', 'bare', 'edit', 'main'))");
        assertQuery("SELECT graph, refs FROM TABLE(system.ref_graph('tpch', 'bare'))", "VALUES ('*', 'edit'), ('*', NULL)");
        assertQuery("SELECT * FROM TABLE(system.publish_preview('tpch', 'edit', 'main', ARRAY['bare']))", "VALUES ('bare', 'fast_forward', NULL)");
        assertUpdate("DROP TABLE bare");
    }

    private BaseTable unregister(String name)
    {
        String location = (String) computeScalar("SELECT file FROM \"%s$metadata_log_entries\" ORDER BY timestamp DESC, latest_sequence_number DESC LIMIT 1".formatted(name));
        assertUpdate("CALL system.unregister_table('tpch', '%s')".formatted(name));
        return new BaseTable(new FileOperations(fileIo, TableMetadataParser.read(fileIo, location)), name);
    }

    private void register(BaseTable table, String name)
    {
        String location = table.operations().current().metadataFileLocation();
        assertUpdate("CALL system.register_table('tpch', '%s', '%s', '%s')".formatted(name, table.location(), location.substring(location.lastIndexOf('/') + 1)));
    }

    private static List<DataFile> dataFiles(Table table)
    {
        ImmutableList.Builder<DataFile> files = ImmutableList.builder();
        table.snapshots().forEach(snapshot -> files.addAll(SnapshotChanges.builderFor(table).snapshot(snapshot).build().addedDataFiles()));
        return files.build();
    }

    private static DataFile dataFile(Table table, String part)
    {
        return dataFiles(table).stream().filter(file -> file.partition().get(0, String.class).equals(part)).findFirst().orElseThrow();
    }

    /**
     * The file of a table whose column has the same field id serves as one of equality deletes.
     */
    private DeleteFile equalityDeletes(Table table, StructLike partition, String ids)
    {
        assertUpdate("CREATE TABLE deleted_ids (id int)");
        getQueryRunner().execute("INSERT INTO deleted_ids VALUES " + ids);
        MaterializedRow file = computeActual("SELECT file_path, file_size_in_bytes, record_count FROM \"deleted_ids$files\"").getMaterializedRows().getFirst();
        assertUpdate("CALL system.unregister_table('tpch', 'deleted_ids')");
        return FileMetadata.deleteFileBuilder(table.spec())
                .ofEqualityDeletes(table.schema().findField("id").fieldId())
                .withFormat(FileFormat.PARQUET)
                .withPartition(partition)
                .withPath((String) file.getField(0))
                .withFileSizeInBytes((long) file.getField(1))
                .withRecordCount((long) file.getField(2))
                .build();
    }

    /**
     * Deletes the first row of each of some files.
     */
    private DeleteFile positionDeletes(Table table, StructLike partition, String... files)
            throws IOException
    {
        PositionDeleteWriter<Record> writer = Avro.writeDeletes(fileIo.newOutputFile(newLocation(table)))
                .withSpec(table.spec())
                .withPartition(partition)
                .buildPositionWriter();
        try (writer) {
            for (String file : List.of(files).stream().sorted().toList()) {
                writer.write(PositionDelete.<Record>create().set(file, 0));
            }
        }
        return writer.toDeleteFile();
    }

    private static String newLocation(Table table)
    {
        return "%s/data/%s.avro".formatted(table.location(), UUID.randomUUID());
    }

    /**
     * A table in its metadata files alone.
     */
    private static final class FileOperations
            implements TableOperations
    {
        private final FileIO fileIo;
        private TableMetadata current;

        private FileOperations(FileIO fileIo, TableMetadata current)
        {
            this.fileIo = fileIo;
            this.current = current;
        }

        @Override
        public TableMetadata current()
        {
            return current;
        }

        @Override
        public TableMetadata refresh()
        {
            return current;
        }

        @Override
        public void commit(TableMetadata base, TableMetadata metadata)
        {
            String location = metadataFileLocation("%05d-%s.metadata.json".formatted(metadata.previousFiles().size() + 100, UUID.randomUUID()));
            TableMetadataParser.write(metadata, fileIo.newOutputFile(location));
            current = TableMetadataParser.read(fileIo, location);
        }

        @Override
        public FileIO io()
        {
            return fileIo;
        }

        @Override
        public String metadataFileLocation(String fileName)
        {
            return "%s/metadata/%s".formatted(current.location(), fileName);
        }

        @Override
        public LocationProvider locationProvider()
        {
            return LocationProviders.locationsFor(current.location(), current.properties());
        }
    }
}
