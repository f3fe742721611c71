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
import io.skade.catalog.LocalFileIO;
import io.skade.catalog.PointerCatalog;
import io.skade.store.CommitAuthor;
import io.skade.store.InMemoryPointerStore;
import io.skade.store.LogEntry;
import io.skade.store.ManualClock;
import io.skade.store.PointerStore;
import io.skade.store.TablePointer;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.util.Objects.requireNonNull;

/**
 * A catalog with a namespace {@code db}, on a pointer store in memory and a warehouse on the local disk. Data files are names only.
 */
final class TestingCatalog
{
    static final Schema SCHEMA = new Schema(
            Types.NestedField.required(1, "id", Types.LongType.get()),
            Types.NestedField.optional(2, "name", Types.StringType.get()));
    static final TableIdentifier T = TableIdentifier.of("db", "t");
    static final CommitAuthor ALICE = new CommitAuthor("alice", Optional.of("query_1"));
    // what no other commit may interrupt has no need to try again
    static final Map<String, String> NO_RETRIES = ImmutableMap.of(TableProperties.COMMIT_NUM_RETRIES, "0");
    static final Map<String, String> MANY_RETRIES = ImmutableMap.of(
            TableProperties.COMMIT_NUM_RETRIES, "1000",
            TableProperties.COMMIT_MIN_RETRY_WAIT_MS, "1",
            TableProperties.COMMIT_MAX_RETRY_WAIT_MS, "5");

    private final Path warehouse;
    private final PointerStore store;
    private final MetadataFiles files = new MetadataFiles(100_000_000, location -> LocalDocuments.find(store(), location));
    private final RefViews views = new RefViews(files, Type::toString);
    private final FileIO io = new LocalFileIO();
    private final LocalDisk disk;

    TestingCatalog(Path warehouse)
    {
        this(warehouse, LocalDisk.NONE);
    }

    TestingCatalog(Path warehouse, LocalDisk disk)
    {
        this(warehouse, disk, new InMemoryPointerStore(new ManualClock()));
        catalog().createNamespace(Namespace.of("db"));
    }

    private TestingCatalog(Path warehouse, LocalDisk disk, PointerStore store)
    {
        this.disk = requireNonNull(disk, "disk is null");
        this.warehouse = requireNonNull(warehouse, "warehouse is null");
        this.store = requireNonNull(store, "store is null");
    }

    /**
     * The same tables by way of another store, which has to lead to this one.
     */
    TestingCatalog over(PointerStore other)
    {
        return new TestingCatalog(warehouse, disk, other);
    }

    PointerStore store()
    {
        return store;
    }

    FileIO io()
    {
        return io;
    }

    RefViews views()
    {
        return views;
    }

    RefCommitter committer()
    {
        return new RefCommitter(store, files, disk);
    }

    PointerCatalog catalog()
    {
        return new PointerCatalog("lake", committer(), io, ALICE, ImmutableMap.of(CatalogProperties.WAREHOUSE_LOCATION, warehouse.toString()));
    }

    Table createTable(TableIdentifier name, Map<String, String> properties)
    {
        return catalog().createTable(name, SCHEMA, PartitionSpec.unpartitioned(), properties);
    }

    Table load(TableIdentifier name)
    {
        return catalog().loadTable(name);
    }

    PointerTableOperations operations(TableIdentifier name)
    {
        return new PointerTableOperations(committer(), name, io, ALICE, store::state);
    }

    /**
     * The table as a branch sees it.
     */
    Table loadBranch(TableIdentifier name, String branch)
    {
        return new BaseTable(new BranchTableOperations(operations(name), views, branch), name + "@" + branch);
    }

    TableMetadata metadata(TableIdentifier name)
    {
        return operations(name).current();
    }

    TablePointer pointer(TableIdentifier name)
    {
        return store.state().find(name).orElseThrow();
    }

    Map<String, SnapshotRef> refs(TableIdentifier name)
    {
        return metadata(name).refs();
    }

    long snapshotId(TableIdentifier name, String ref)
    {
        return metadata(name).ref(ref).snapshotId();
    }

    LogEntry lastLogEntry()
    {
        return store.log(1).getFirst();
    }

    TableMove commit(TableIdentifier name, RefUpdate update)
    {
        return committer().commit(io, ALICE, ImmutableMap.of(name, update)).getFirst();
    }

    /**
     * Appends a data file with 10 rows, and gives the new snapshot.
     */
    static Snapshot append(Table table)
    {
        table.newFastAppend().appendFile(dataFile()).commit();
        return table.currentSnapshot();
    }

    static DataFile dataFile()
    {
        return DataFiles.builder(PartitionSpec.unpartitioned())
                .withPath("/data/%s.parquet".formatted(UUID.randomUUID()))
                .withFileSizeInBytes(100)
                .withRecordCount(10)
                .build();
    }

    static DeleteFile positionDeletes()
    {
        return FileMetadata.deleteFileBuilder(PartitionSpec.unpartitioned())
                .ofPositionDeletes()
                .withPath("/data/%s-deletes.parquet".formatted(UUID.randomUUID()))
                .withFileSizeInBytes(10)
                .withRecordCount(1)
                .build();
    }

    /**
     * The metadata files on disk, whether a pointer names them or not.
     */
    Set<Path> metadataFiles()
    {
        try (Stream<Path> paths = Files.walk(warehouse)) {
            return paths.filter(path -> path.toString().endsWith(".metadata.json")).collect(toImmutableSet());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
