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
package io.skade.catalog;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.skade.ref.LocalDisk;
import io.skade.ref.MetadataFiles;
import io.skade.ref.RefCommitter;
import io.skade.store.CatalogState;
import io.skade.store.CommitAuthor;
import io.skade.store.InMemoryPointerStore;
import io.skade.store.InterceptedPointerStore;
import io.skade.store.ManualClock;
import io.skade.store.PointerStore;
import io.skade.store.StoreException;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.Transaction;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.NamespaceNotEmptyException;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.view.View;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Every way to change the catalog against a store that fails: where the outcome is unknown the error says so and no file is deleted; where it is
 * known, nothing is deleted but what the failed change wrote itself.
 */
class TestUnknownOutcomes
{
    private static final Namespace DB = Namespace.of("db");
    private static final Namespace EMPTY = Namespace.of("empty");
    private static final Namespace FREE = Namespace.of("free");
    private static final TableIdentifier T = TableIdentifier.of(DB, "t");
    private static final TableIdentifier V = TableIdentifier.of(DB, "v");
    private static final TableIdentifier NEW = TableIdentifier.of(DB, "new");
    private static final Schema SCHEMA = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()));

    @TempDir
    private Path warehouse;

    private final PointerStore store = new InMemoryPointerStore(new ManualClock());
    // of the others, and of the change that fails
    private final RecordingFileIO io = new RecordingFileIO();
    private final RecordingFileIO failingIo = new RecordingFileIO();
    private PointerCatalog catalog;

    enum Change
    {
        CREATE_TABLE(catalog -> catalog.createTable(NEW, SCHEMA)),
        CREATE_TABLE_AS(catalog -> commit(catalog.newCreateTableTransaction(NEW, SCHEMA))),
        CREATE_OR_REPLACE_NEW_TABLE(catalog -> commit(catalog.newReplaceTableTransaction(NEW, SCHEMA, true))),
        REPLACE_TABLE(catalog -> commit(catalog.newReplaceTableTransaction(T, SCHEMA, false))),
        REGISTER_TABLE(catalog -> catalog.registerTable(NEW, ((BaseTable) catalog.loadTable(T)).operations().current().metadataFileLocation())),
        APPEND(catalog -> append(catalog.loadTable(T))),
        TRANSACTION(catalog -> commit(catalog.loadTable(T).newTransaction())),
        REWRITE_MANIFESTS(catalog -> catalog.loadTable(T).rewriteManifests().clusterBy(_ -> "").commit()),
        EXPIRE_SNAPSHOTS(catalog -> catalog.loadTable(T).expireSnapshots().expireOlderThan(Long.MAX_VALUE).retainLast(1).commit()),
        ADD_COLUMN(catalog -> catalog.loadTable(T).updateSchema().addColumn("name", Types.StringType.get()).commit()),
        CREATE_TAG(catalog -> catalog.loadTable(T).manageSnapshots().createTag("v1", catalog.loadTable(T).currentSnapshot().snapshotId()).commit()),
        DROP_TABLE(catalog -> catalog.dropTable(T, false)),
        PURGE_TABLE(catalog -> catalog.dropTable(T, true)),
        UNREGISTER_TABLE(catalog -> catalog.unregisterTable(T)),
        RENAME_TABLE(catalog -> catalog.renameTable(T, NEW)),
        CREATE_VIEW(catalog -> createView(catalog, NEW)),
        REPLACE_VIEW(catalog -> catalog.loadView(V).replaceVersion().withSchema(SCHEMA).withDefaultNamespace(DB).withQuery("trino", "SELECT 2").commit()),
        VIEW_PROPERTIES(catalog -> catalog.loadView(V).updateProperties().set("a", "b").commit()),
        DROP_VIEW(catalog -> catalog.dropView(V)),
        RENAME_VIEW(catalog -> catalog.renameView(V, NEW)),
        CREATE_NAMESPACE(catalog -> catalog.createNamespace(FREE, ImmutableMap.of())),
        DROP_NAMESPACE(catalog -> catalog.dropNamespace(EMPTY)),
        SET_NAMESPACE_PROPERTIES(catalog -> catalog.setProperties(DB, ImmutableMap.of("a", "b"))),
        REMOVE_NAMESPACE_PROPERTIES(catalog -> catalog.removeProperties(DB, ImmutableSet.of("owner"))),
        RENAME_NAMESPACE(catalog -> catalog.renameNamespace(DB, FREE));

        private final Consumer<PointerCatalog> change;

        Change(Consumer<PointerCatalog> change)
        {
            this.change = requireNonNull(change, "change is null");
        }

        /**
         * Whether it needs a name to be free, or a namespace to be empty.
         */
        private boolean takesName()
        {
            return switch (this) {
                case CREATE_TABLE, CREATE_TABLE_AS, CREATE_OR_REPLACE_NEW_TABLE, REGISTER_TABLE, RENAME_TABLE, CREATE_VIEW, RENAME_VIEW, CREATE_NAMESPACE, DROP_NAMESPACE, RENAME_NAMESPACE -> true;
                default -> false;
            };
        }

        private void apply(PointerCatalog catalog)
        {
            change.accept(catalog);
        }
    }

    @BeforeEach
    void create()
    {
        catalog = catalog(store, io, warehouse);
        catalog.createNamespace(DB, ImmutableMap.of("owner", "alice"));
        catalog.createNamespace(EMPTY, ImmutableMap.of());
        Table table = catalog.createTable(T, SCHEMA);
        append(table);
        append(table);
        createView(catalog, V);
    }

    private static PointerCatalog catalog(PointerStore pointerStore, FileIO io, Path warehouse)
    {
        return new PointerCatalog(
                "lake",
                new RefCommitter(pointerStore, new MetadataFiles(10_000_000), LocalDisk.NONE),
                io,
                new CommitAuthor("alice", Optional.empty()),
                ImmutableMap.of(CatalogProperties.WAREHOUSE_LOCATION, warehouse.toString()));
    }

    private static void append(Table table)
    {
        table.newFastAppend()
                .appendFile(DataFiles.builder(PartitionSpec.unpartitioned()).withPath("/data/%s.parquet".formatted(UUID.randomUUID())).withFileSizeInBytes(1).withRecordCount(1).build())
                .commit();
    }

    private static void commit(Transaction transaction)
    {
        transaction.newFastAppend()
                .appendFile(DataFiles.builder(PartitionSpec.unpartitioned()).withPath("/data/%s.parquet".formatted(UUID.randomUUID())).withFileSizeInBytes(1).withRecordCount(1).build())
                .commit();
        transaction.updateProperties().set("a", "b").commit();
        transaction.commitTransaction();
    }

    private static void createView(PointerCatalog catalog, TableIdentifier name)
    {
        catalog.buildView(name).withSchema(SCHEMA).withDefaultNamespace(DB).withQuery("trino", "SELECT 1").create();
    }

    /**
     * The commit is made, and the answer is lost.
     */
    @ParameterizedTest
    @EnumSource(Change.class)
    void testMade(Change change)
    {
        Map<String, Object> before = content();
        Set<Path> files = files();
        assertUnknown(change, new InterceptedPointerStore(store).failAfter());
        assertThat(content()).isNotEqualTo(before);
        assertThat(files()).containsAll(files);
        assertReadable();
    }

    /**
     * The commit is made, the answer is lost, and others have gone on before anybody can look.
     */
    @ParameterizedTest
    @EnumSource(Change.class)
    void testMadeAndOvertaken(Change change)
    {
        assertUnknown(change, new InterceptedPointerStore(store).intercept(commits -> {
            store.commit(commits);
            store.state().namespaces().forEach(namespace -> catalog.listTables(namespace).forEach(name -> append(catalog.loadTable(name))));
            throw new CommitStateUnknownException(new RuntimeException("no answer"));
        }));
        assertReadable();
    }

    @ParameterizedTest
    @EnumSource(Change.class)
    void testNotMade(Change change)
    {
        Map<String, Object> before = content();
        Set<Path> files = files();
        assertUnknown(change, new InterceptedPointerStore(store).failBefore());
        assertThat(content()).isEqualTo(before);
        assertThat(files()).containsAll(files);
        assertReadable();
        // nothing is in the way of another attempt
        change.apply(catalog);
        assertThat(content()).isNotEqualTo(before);
        assertReadable();
    }

    /**
     * The store takes no commits: it is known that this one was not made, and its files are deleted.
     */
    @ParameterizedTest
    @EnumSource(Change.class)
    void testRefusedByTheStore(Change change)
    {
        Map<String, Object> before = content();
        Set<Path> files = files();
        PointerStore refusing = new InterceptedPointerStore(store).intercept(_ -> {
            throw new StoreException("The disk is full");
        });
        assertThatThrownBy(() -> change.apply(catalog(refusing, failingIo, warehouse)))
                .isInstanceOf(StoreException.class)
                .hasMessage("The disk is full");
        assertThat(content()).isEqualTo(before);
        // Iceberg may leave manifests behind
        assertThat(files()).containsAll(files);
        assertThat(files()).filteredOn(TestUnknownOutcomes::isMetadataFile).containsExactlyInAnyOrderElementsOf(files.stream().filter(TestUnknownOutcomes::isMetadataFile).toList());
        assertThat(failingIo.created).containsAll(failingIo.deleted);
        assertReadable();
    }

    /**
     * Everything was changed and the free names were taken just before: what the others wrote stays, whether the change is applied to it or refused.
     */
    @ParameterizedTest
    @EnumSource(value = Change.class, names = {"PURGE_TABLE", "EXPIRE_SNAPSHOTS"}, mode = EnumSource.Mode.EXCLUDE)
    void testConflict(Change change)
    {
        AtomicInteger interferences = new AtomicInteger();
        PointerStore interfered = new InterceptedPointerStore(store).interfere(() -> {
            append(catalog.loadTable(T));
            catalog.loadView(V).updateProperties().set("theirs", "1").commit();
            catalog.setProperties(DB, ImmutableMap.of("theirs", "1"));
            append(catalog.createTable(NEW, SCHEMA));
            catalog.createNamespace(FREE, ImmutableMap.of());
            createView(catalog, TableIdentifier.of(EMPTY, "v"));
            interferences.incrementAndGet();
        });
        try {
            change.apply(catalog(interfered, failingIo, warehouse));
        }
        catch (AlreadyExistsException | NamespaceNotEmptyException e) {
            assertThat(change.takesName()).isTrue();
        }
        assertThat(interferences).hasValue(1);
        assertThat(io.deleted).isEmpty();
        assertThat(failingIo.created).containsAll(failingIo.deleted);
        assertReadable();
    }

    private void assertUnknown(Change change, PointerStore failing)
    {
        assertThatThrownBy(() -> change.apply(catalog(failing, failingIo, warehouse))).isInstanceOf(CommitStateUnknownException.class);
        assertThat(failingIo.deleted).isEmpty();
    }

    private static boolean isMetadataFile(Path file)
    {
        return file.toString().endsWith(".metadata.json");
    }

    private void assertReadable()
    {
        for (Namespace namespace : store.state().namespaces()) {
            for (TableIdentifier name : catalog.listTables(namespace)) {
                Table table = catalog(store, io, warehouse).loadTable(name);
                table.snapshots().forEach(snapshot -> {
                    try (CloseableIterable<FileScanTask> tasks = table.newScan().useSnapshot(snapshot.snapshotId()).planFiles()) {
                        assertThat(tasks).isNotEmpty();
                    }
                    catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
            }
            for (TableIdentifier name : catalog.listViews(namespace)) {
                View view = catalog(store, io, warehouse).loadView(name);
                assertThat(view.currentVersion().representations()).isNotEmpty();
            }
        }
    }

    private Map<String, Object> content()
    {
        CatalogState state = store.state();
        Map<String, Object> content = new TreeMap<>();
        for (Namespace namespace : state.namespaces()) {
            content.put("namespace " + namespace, state.namespaceProperties(namespace).orElseThrow());
            state.pointers(namespace).forEach(entry -> content.put("pointer " + entry.getKey(), entry.getValue()));
        }
        return content;
    }

    private Set<Path> files()
    {
        try (Stream<Path> paths = Files.walk(warehouse)) {
            return paths.filter(Files::isRegularFile).collect(toImmutableSet());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Files of the local disk, with a record of those that were deleted.
     */
    private static final class RecordingFileIO
            implements FileIO
    {
        private final FileIO io = new LocalFileIO();
        private final Set<String> created = ConcurrentHashMap.newKeySet();
        private final Set<String> deleted = ConcurrentHashMap.newKeySet();

        @Override
        public InputFile newInputFile(String path)
        {
            return io.newInputFile(path);
        }

        @Override
        public OutputFile newOutputFile(String path)
        {
            created.add(path);
            return io.newOutputFile(path);
        }

        @Override
        public void deleteFile(String path)
        {
            deleted.add(path);
            io.deleteFile(path);
        }
    }
}
