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
package io.skade.store;

import com.google.common.collect.ImmutableList;
import org.apache.iceberg.catalog.TableIdentifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.committed;
import static io.skade.store.TestingPointers.content;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Backups of a store, and stores that are made of them.
 */
class TestBackup
{
    @TempDir
    private Path temporary;

    private Path backups()
    {
        return temporary.resolve("backups").resolve("lake");
    }

    private Path restored()
    {
        return temporary.resolve("restored");
    }

    private RocksDbPointerStore open(Path folder)
    {
        return RocksDbPointerStore.open(folder, new ManualClock());
    }

    private RocksDbPointerStore openWithTable(Path folder)
    {
        RocksDbPointerStore store = open(folder);
        committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
        committed(store.commit(PointerCommit.of(ALICE, create(table("t"), newTable(0)))));
        return store;
    }

    private static void advance(PointerStore store, TableIdentifier name)
    {
        TablePointer pointer = store.state().find(name).orElseThrow();
        committed(store.commit(PointerCommit.of(ALICE, move(name, pointer, pointer.version() + 1))));
    }

    @Test
    void testRestoredStoreIsTheSame()
    {
        Path folder = temporary.resolve("store");
        try (RocksDbPointerStore store = openWithTable(folder)) {
            advance(store, table("t"));
            TablePointer pointer = store.state().find(table("t")).orElseThrow();
            MetadataDocument document = MetadataDocument.of("2.metadata.json", "{}".getBytes(UTF_8));
            committed(store.commit(new PointerCommit(ALICE, ImmutableList.of(), ImmutableList.of(move(table("t"), pointer, 2)), ImmutableList.of(document))));
            store.backup(backups());
            Map<String, Object> before = content(store.state());
            advance(store, table("t"));

            assertThat(content(RocksDbPointerStore.restore(backups(), restored()))).isEqualTo(before);
            try (RocksDbPointerStore copy = open(restored())) {
                assertThat(content(copy.state())).isEqualTo(before);
                assertThat(copy.log(10)).isEqualTo(store.log(10).subList(1, 4));
                assertThat(copy.keptDocuments()).containsExactly(Map.entry(pointer.id(), "2.metadata.json"));
                // it goes its own way
                advance(copy, table("t"));
            }
        }
        // and the newest backup wins
        try (RocksDbPointerStore store = open(folder)) {
            store.backup(backups());
            assertThat(content(RocksDbPointerStore.restore(backups(), temporary.resolve("another")))).isEqualTo(content(store.state()));
        }
    }

    /**
     * Each thread moves its own table from step to step, and every commit also moves a table that all share: the steps of the shared one say which commits
     * a backup has.
     */
    @Test
    void testBackupsWhileCommitting()
            throws Exception
    {
        int threads = 6;
        AtomicBoolean done = new AtomicBoolean();
        CountDownLatch started = new CountDownLatch(threads);
        try (RocksDbPointerStore store = openWithTable(temporary.resolve("store"));
                ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                TableIdentifier own = table("own" + i);
                committed(store.commit(PointerCommit.of(ALICE, create(own, newTable(0)))));
                writers.add(executor.submit(() -> {
                    while (!done.get()) {
                        CatalogState state = store.state();
                        TablePointer pointer = state.find(own).orElseThrow();
                        TablePointer shared = state.find(table("t")).orElseThrow();
                        store.commit(PointerCommit.of(ALICE, move(own, pointer, pointer.version() + 1), move(table("t"), shared, shared.version() + 1)));
                        started.countDown();
                    }
                }));
            }
            started.await();
            try {
                for (int round = 0; round < 8; round++) {
                    CatalogState before = store.state();
                    store.backup(backups());
                    CatalogState after = store.state();
                    deleteRecursively(Files.createDirectories(restored()), ALLOW_INSECURE);
                    CatalogState copy = RocksDbPointerStore.restore(backups(), restored());

                    assertThat(copy.lastLogId()).isBetween(before.lastLogId(), after.lastLogId());
                    long sharedSteps = 0;
                    for (int i = 0; i < threads; i++) {
                        long steps = copy.find(table("own" + i)).orElseThrow().version();
                        assertThat(steps).isGreaterThanOrEqualTo(before.find(table("own" + i)).orElseThrow().version());
                        sharedSteps += steps;
                    }
                    assertThat(copy.find(table("t")).orElseThrow().version()).isEqualTo(sharedSteps);
                    // the log has all that the store then had, without a gap
                    try (RocksDbPointerStore opened = open(restored())) {
                        assertThat(opened.log(Integer.MAX_VALUE)).isEqualTo(store.log(Integer.MAX_VALUE).stream()
                                .filter(entry -> entry.logId() <= copy.lastLogId())
                                .toList());
                    }
                }
            }
            finally {
                done.set(true);
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
        }
    }

    @Test
    void testBackupsShareFiles()
            throws IOException
    {
        Path folder = temporary.resolve("store");
        try (RocksDbPointerStore store = openWithTable(folder)) {
            for (int i = 0; i < 2000; i++) {
                advance(store, table("t"));
            }
        }
        // closing has written the log into a table file
        try (RocksDbPointerStore store = open(folder)) {
            Map<Path, Long> none = files(backups());
            store.backup(backups());
            Map<Path, Long> first = files(backups());
            advance(store, table("t"));
            store.backup(backups());
            Map<Path, Long> second = files(backups());

            assertThat(none).isEmpty();
            assertThat(second).containsAllEntriesOf(first);
            long added = sum(second) - sum(first);
            assertThat(added).isLessThan(sum(first) / 5);
            assertThat(content(RocksDbPointerStore.restore(backups(), restored()))).isEqualTo(content(store.state()));
        }
    }

    private static long sum(Map<Path, Long> files)
    {
        return files.values().stream().mapToLong(Long::longValue).sum();
    }

    private static Map<Path, Long> files(Path folder)
            throws IOException
    {
        Map<Path, Long> files = new TreeMap<>();
        if (Files.exists(folder)) {
            try (Stream<Path> paths = Files.walk(folder)) {
                for (Path path : paths.filter(Files::isRegularFile).toList()) {
                    files.put(path, Files.size(path));
                }
            }
        }
        return files;
    }

    @Test
    void testRestoreRefusesAFolderThatIsNotEmpty()
            throws IOException
    {
        try (RocksDbPointerStore store = openWithTable(temporary.resolve("store"))) {
            store.backup(backups());
        }
        Path file = Files.writeString(Files.createDirectories(restored()).resolve("notes"), "mine", UTF_8);
        assertThatThrownBy(() -> RocksDbPointerStore.restore(backups(), restored()))
                .isInstanceOf(StoreException.class)
                .hasMessage("Cannot restore a store into %s: the folder is not empty", restored());
        assertThat(restored()).isDirectoryContaining(path -> path.equals(file));
        assertThat(file).hasContent("mine");
        assertThatThrownBy(() -> RocksDbPointerStore.restore(backups(), temporary.resolve("store")))
                .isInstanceOf(StoreException.class)
                .hasMessageEndingWith("the folder is not empty");
    }

    @Test
    void testRestoreWithoutABackup()
            throws IOException
    {
        assertThatThrownBy(() -> RocksDbPointerStore.restore(backups(), restored()))
                .isInstanceOf(StoreException.class)
                .hasMessage("There is no backup in %s", backups());
        assertThat(backups()).doesNotExist();
        assertThat(restored()).doesNotExist();
    }

    @Test
    void testDamagedBackup()
            throws IOException
    {
        try (RocksDbPointerStore store = openWithTable(temporary.resolve("store"))) {
            for (int i = 0; i < 100; i++) {
                advance(store, table("t"));
            }
        }
        try (RocksDbPointerStore store = open(temporary.resolve("store"))) {
            store.backup(backups());
        }
        Path table = files(backups()).keySet().stream().filter(file -> file.toString().endsWith(".sst")).findFirst().orElseThrow();
        byte[] content = Files.readAllBytes(table);
        content[content.length / 2] ^= 1;
        Files.write(table, content);
        assertThatThrownBy(() -> RocksDbPointerStore.restore(backups(), restored()))
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("Cannot restore the store in %s from %s: ", restored(), backups());
        assertThat(restored()).isEmptyDirectory();
    }

    @Test
    void testTwoStoresDoNotShareAFolderOfBackups()
    {
        try (RocksDbPointerStore first = openWithTable(temporary.resolve("first"));
                RocksDbPointerStore second = openWithTable(temporary.resolve("second"))) {
            first.backup(backups());
            assertThatThrownBy(() -> second.backup(backups()))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("Cannot back up the store in %s to %s: it holds backups of the store in %s", second.folder(), backups(), first.folder());
            assertThat(content(RocksDbPointerStore.restore(backups(), restored()))).isEqualTo(content(first.state()));
        }
    }

    @Test
    void testFileInPlaceOfTheFolder()
            throws IOException
    {
        Path file = Files.writeString(temporary.resolve("file"), "content", UTF_8);
        try (RocksDbPointerStore store = openWithTable(temporary.resolve("store"))) {
            assertThatThrownBy(() -> store.backup(file))
                    .isInstanceOf(StoreException.class)
                    .hasMessageStartingWith("Cannot back up the store in %s to %s: ", store.folder(), file);
            // commits go on
            advance(store, table("t"));
        }
        assertThat(file).hasContent("content");
    }

    @Test
    void testClosedStore()
    {
        RocksDbPointerStore store = openWithTable(temporary.resolve("store"));
        store.close();
        assertThatThrownBy(() -> store.backup(backups()))
                .isInstanceOf(StoreException.class)
                .hasMessage("The store in %s is closed", store.folder());
        assertThat(backups()).doesNotExist();
    }
}
