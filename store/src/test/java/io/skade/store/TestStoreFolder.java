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

import com.google.common.collect.ImmutableMap;
import org.apache.iceberg.catalog.Namespace;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
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
import static io.skade.store.TestingPointers.moved;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static java.lang.Math.toIntExact;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The folder of a store: what can be opened, what is refused, and what is left when it is closed.
 */
class TestStoreFolder
{
    @TempDir
    private Path temporary;

    @BeforeAll
    static void loadLibrary()
    {
        RocksDB.loadLibrary();
    }

    private Path folder()
    {
        return temporary.resolve("store");
    }

    @Test
    void testFolderIsCreated()
    {
        Path nested = temporary.resolve("a").resolve("b");
        RocksDbPointerStore.open(nested).close();
        assertThat(nested).isDirectory();
    }

    @Test
    void testFileInPlaceOfFolder()
            throws IOException
    {
        Path file = temporary.resolve("file");
        Files.writeString(file, "content", UTF_8);
        assertThatThrownBy(() -> RocksDbPointerStore.open(file))
                .isInstanceOf(StoreException.class)
                .hasMessage("Cannot create the store folder %s: %s is a file", file, file);
        assertThat(file).hasContent("content");

        Path below = file.resolve("store");
        assertThatThrownBy(() -> RocksDbPointerStore.open(below))
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("Cannot create the store folder %s: ", below);
        assertThat(file).hasContent("content");
    }

    @Test
    void testLeftOverLockFile()
            throws IOException
    {
        Map<String, Object> before = fill(folder());
        Files.writeString(folder().resolve("LOCK"), "", UTF_8);
        assertOpens(folder(), before);

        Path fresh = Files.createDirectories(temporary.resolve("fresh"));
        Files.writeString(fresh.resolve("LOCK"), "", UTF_8);
        assertOpens(fresh, ImmutableMap.of("last log id", 0L));
    }

    @Test
    void testCopyOfAClosedStore()
            throws IOException
    {
        Map<String, Object> before = fill(folder());
        Path copy = temporary.resolve("copy");
        copyFolder(folder(), copy);
        assertOpens(copy, before);
        assertOpens(folder(), before);
    }

    /**
     * The copy of a store that nobody writes to at the moment; it goes its own way then.
     */
    @Test
    void testCopyOfAnOpenStore()
            throws IOException
    {
        Path copy = temporary.resolve("copy");
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder())) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
            TablePointer pointer = newTable(1);
            committed(store.commit(PointerCommit.of(ALICE, create(table("t"), pointer))));
            copyFolder(folder(), copy);
            Map<String, Object> before = content(store.state());
            try (RocksDbPointerStore copied = RocksDbPointerStore.open(copy)) {
                assertThat(content(copied.state())).isEqualTo(before);
                assertThat(copied.log(10)).isEqualTo(store.log(10));
                committed(copied.commit(PointerCommit.of(ALICE, move(table("t"), pointer, 2))));
                assertThat(copied.state().find(table("t"))).contains(moved(pointer, 2));
            }
            assertThat(content(store.state())).isEqualTo(before);
        }
    }

    /**
     * Nothing is left of a store that was closed: its folder can go and come again, and no file stays open.
     * {@code -Dskade.test.open-rounds=..} makes it longer.
     */
    @Test
    void testOpenCloseDelete()
            throws IOException
    {
        // the first one loads what stays
        RocksDbPointerStore.open(folder()).close();
        long before = openFiles();
        int rounds = Integer.getInteger("skade.test.open-rounds", 500);
        for (int i = 0; i < rounds; i++) {
            deleteRecursively(folder(), ALLOW_INSECURE);
            try (RocksDbPointerStore store = RocksDbPointerStore.open(folder(), new ManualClock())) {
                assertThat(content(store.state())).isEqualTo(ImmutableMap.of("last log id", 0L));
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                committed(store.commit(PointerCommit.of(ALICE, create(table("t"), newTable(i)))));
                assertThat(store.log(10)).hasSize(1);
            }
            if (i % 25 == 0) {
                System.gc();
            }
        }
        // other threads of the process may open files of their own
        assertThat(openFiles()).isLessThan(before + 50);
    }

    /**
     * How many files this process has open, 0 where that cannot be seen.
     */
    static long openFiles()
            throws IOException
    {
        Path open = Path.of("/proc/self/fd");
        if (!Files.isDirectory(open)) {
            return 0;
        }
        try (Stream<Path> files = Files.list(open)) {
            return files.count();
        }
    }

    @Test
    void testManyReopenings()
    {
        TablePointer pointer = newTable(0);
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder())) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
            committed(store.commit(PointerCommit.of(ALICE, create(table("t"), pointer))));
        }
        for (int i = 1; i <= 50; i++) {
            try (RocksDbPointerStore store = RocksDbPointerStore.open(folder())) {
                assertThat(store.state().find(table("t"))).contains(pointer);
                committed(store.commit(PointerCommit.of(ALICE, move(table("t"), pointer, i))));
                pointer = moved(pointer, i);
                assertThat(store.log(Integer.MAX_VALUE)).hasSize(i + 1);
            }
        }
    }

    @Test
    void testAnotherRocksDbDatabase()
            throws RocksDBException
    {
        try (Options options = new Options().setCreateIfMissing(true); RocksDB db = RocksDB.open(options, folder().toString())) {
            db.put("key".getBytes(UTF_8), "value".getBytes(UTF_8));
        }
        assertThatThrownBy(() -> RocksDbPointerStore.open(folder()))
                .isInstanceOf(StoreException.class)
                .hasMessage("The folder %s holds a RocksDB database that is not a Skade store", folder());
        try (Options options = new Options(); RocksDB db = RocksDB.open(options, folder().toString())) {
            assertThat(db.get("key".getBytes(UTF_8))).isEqualTo("value".getBytes(UTF_8));
            assertThat(db.get(StoreFormat.formatKey())).isNull();
        }
    }

    @Test
    void testAnotherRocksDbDatabaseWithColumnFamilies()
            throws RocksDBException
    {
        try (Options options = new Options().setCreateIfMissing(true);
                RocksDB db = RocksDB.open(options, folder().toString());
                ColumnFamilyHandle _ = db.createColumnFamily(new ColumnFamilyDescriptor("other".getBytes(UTF_8)))) {
            db.put("key".getBytes(UTF_8), "value".getBytes(UTF_8));
        }
        assertThatThrownBy(() -> RocksDbPointerStore.open(folder()))
                .isInstanceOf(StoreException.class)
                .hasMessage("Cannot open the store in %s: Column families not opened: other", folder());
    }

    @Test
    void testNewerFormatVersion()
            throws RocksDBException
    {
        Map<String, Object> before = fill(folder());
        put(StoreFormat.formatKey(), StoreFormat.formatValue(StoreFormat.VERSION + 1));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> RocksDbPointerStore.open(folder()))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("The store in %s has format version %s, this release knows version %s. Open it with the release that wrote it", folder(), StoreFormat.VERSION + 1, StoreFormat.VERSION);
        }
        put(StoreFormat.formatKey(), StoreFormat.formatValue(StoreFormat.VERSION));
        assertOpens(folder(), before);
    }

    @Test
    void testUnreadableFormatVersion()
            throws RocksDBException
    {
        Map<String, Object> before = fill(folder());
        put(StoreFormat.formatKey(), new byte[] {1});
        assertUnreadable(() -> RocksDbPointerStore.open(folder()), "it ends too early");
        put(StoreFormat.formatKey(), StoreFormat.formatValue(StoreFormat.VERSION));
        assertOpens(folder(), before);
    }

    @Test
    void testUnreadableRecordsOfTheState()
            throws RocksDBException
    {
        Map<String, Object> before = fill(folder());
        byte[] pointer = StoreFormat.pointerKey(table("damaged"));
        assertUnreadableState(before, pointer, new byte[] {9}, "unknown kind of pointer");
        assertUnreadableState(before, new byte[] {pointer[0], 0, 0}, StoreFormat.pointerValue(newTable(1)), "it ends too early");
        byte[] namespace = StoreFormat.namespaceKey(Namespace.of("damaged"));
        assertUnreadableState(before, namespace, new byte[] {-1, -1, -1, -1}, "-1 things announced where 0 bytes are left");
        assertUnreadableState(before, new byte[] {namespace[0], 0, 0}, StoreFormat.namespaceValue(Map.of()), "it ends too early");
        byte[] document = StoreFormat.documentKey(newTable(1).id());
        assertUnreadableState(before, document, new byte[] {0, 0, 0, 1, -1}, "Input length = 1");
        assertUnreadableState(before, new byte[] {document[0], 0, 0}, StoreFormat.documentValue(MetadataDocument.of("m", new byte[0])), "it ends too early");
        assertUnreadableState(before, StoreFormat.refKey(table("damaged"), "v1"), new byte[] {2}, "unknown type of ref");
        assertUnreadableState(before, StoreFormat.logKey(1000), new byte[] {0, 0}, "it ends too early");
    }

    @Test
    void testRecordsWithoutTheirPointer()
            throws RocksDBException
    {
        Map<String, Object> before = fill(folder());
        TablePointer pointer = newTable(1);
        put(StoreFormat.refKey(table("damaged"), "v1"), StoreFormat.refValue(pointer.refs().values().iterator().next()));
        assertThatThrownBy(() -> RocksDbPointerStore.open(folder()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("is damaged: it has refs, but no pointer " + table("damaged"));
        delete(StoreFormat.refKey(table("damaged"), "v1"));
        put(StoreFormat.patchKey(pointer.id(), 1), StoreFormat.patchValue("m", DocumentPatch.between("l", List.of(new byte[0]), List.of(new byte[0])).orElseThrow()));
        assertThatThrownBy(() -> RocksDbPointerStore.open(folder()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("is damaged: it has a patch, but no document of the pointer " + pointer.id());
        delete(StoreFormat.patchKey(pointer.id(), 1));
        assertOpens(folder(), before);
    }

    private void assertUnreadableState(Map<String, Object> before, byte[] key, byte[] value, String reason)
            throws RocksDBException
    {
        put(key, value);
        assertUnreadable(() -> RocksDbPointerStore.open(folder()), reason);
        delete(key);
        assertOpens(folder(), before);
    }

    /**
     * The state is whole, so the store opens; only the log says what is wrong with it.
     */
    @Test
    void testUnreadableRecordOfTheLog()
            throws RocksDBException
    {
        Map<String, Object> before = fill(folder());
        put(StoreFormat.logKey(1), new byte[] {7});
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder())) {
            assertThat(content(store.state())).isEqualTo(before);
            TablePointer pointer = store.state().find(table("t")).orElseThrow();
            assertUnreadable(() -> store.log(Integer.MAX_VALUE), "it ends too early");
            assertUnreadable(() -> store.log(pointer.id(), Integer.MAX_VALUE), "it ends too early");
            assertUnreadable(() -> store.trimLog(Instant.MAX), "it ends too early");

            // the rest goes on
            committed(store.commit(PointerCommit.of(ALICE, move(table("t"), pointer, 3))));
            assertThat(store.log(2)).extracting(LogEntry::logId).containsExactly(3L, 2L);
            assertThat(store.log(pointer.id(), 2)).extracting(LogEntry::logId).containsExactly(3L, 2L);
        }
    }

    private void assertUnreadable(ThrowingCallable call, String reason)
    {
        assertThatThrownBy(call)
                .isInstanceOf(StoreException.class)
                .hasMessage("The store in %s is damaged: a record cannot be read: %s. Restore the folder from a backup, or make the store anew with rebuild_store", folder(), reason);
    }

    @Test
    void testPointerWithoutNamespace()
            throws RocksDBException
    {
        fill(folder());
        delete(StoreFormat.namespaceKey(DB));
        assertThatThrownBy(() -> RocksDbPointerStore.open(folder()))
                .isInstanceOf(StoreException.class)
                .hasMessage("The store in %s is damaged: it has a pointer db.t, but no namespace db. Restore the folder from a backup, or make the store anew with rebuild_store", folder());
    }

    /**
     * RocksDB's word for it contains "block", which is not a lock.
     */
    @Test
    void testDamagedFileIsNotTakenForALock()
            throws IOException
    {
        fill(folder());
        Path table;
        try (Stream<Path> files = Files.list(folder())) {
            table = files.filter(file -> file.toString().endsWith(".sst")).findFirst().orElseThrow();
        }
        byte[] bytes = Files.readAllBytes(table);
        for (int i = 0; i < bytes.length / 2; i++) {
            bytes[i] ^= 0x55;
        }
        Files.write(table, bytes);
        assertThatThrownBy(() -> RocksDbPointerStore.open(folder()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining(folder().toString())
                .hasMessageNotContaining("in use");
    }

    private static Map<String, Object> fill(Path folder)
    {
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
            TablePointer pointer = newTable(1);
            committed(store.commit(PointerCommit.of(ALICE, create(table("t"), pointer))));
            committed(store.commit(PointerCommit.of(ALICE, move(table("t"), pointer, 2))));
            return content(store.state());
        }
    }

    private static void assertOpens(Path folder, Map<String, Object> content)
    {
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            assertThat(content(store.state())).isEqualTo(content);
            assertThat(store.log(Integer.MAX_VALUE)).hasSize(toIntExact((long) content.get("last log id")));
        }
    }

    private void put(byte[] key, byte[] value)
            throws RocksDBException
    {
        try (Options options = new Options(); RocksDB db = RocksDB.open(options, folder().toString())) {
            db.put(key, value);
        }
    }

    private void delete(byte[] key)
            throws RocksDBException
    {
        try (Options options = new Options(); RocksDB db = RocksDB.open(options, folder().toString())) {
            db.delete(key);
        }
    }

    static void copyFolder(Path from, Path to)
            throws IOException
    {
        Files.createDirectories(to);
        List<Path> files;
        try (Stream<Path> listed = Files.list(from)) {
            files = listed.toList();
        }
        for (Path file : files) {
            Files.copy(file, to.resolve(file.getFileName()));
        }
    }
}
