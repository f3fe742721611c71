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
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

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
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A disk that is filled to the last byte and freed again, and one that is read-only.
 */
class TestFullDisk
{
    @TempDir
    private Path temporary;

    @Test
    void testFullDisk()
            throws Exception
    {
        Path folder = temporary.resolve("disk");
        try (TestingDisk _ = TestingDisk.create(folder, "size=4m")) {
            TablePointer pointer = newTable(0);
            try (RocksDbPointerStore store = RocksDbPointerStore.open(folder.resolve("store"))) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                committed(store.commit(new PointerCommit(ALICE, ImmutableList.of(), ImmutableList.of(create(table("t"), pointer)), ImmutableList.of(MetadataDocument.of("0.metadata.json", new byte[] {1})))));
                for (int round = 0; round < 6; round++) {
                    fill(folder.resolve("fill"));
                    pointer = commitUntilFailure(store, pointer);
                    Map<String, Object> before = content(store.state());
                    List<LogEntry> log = store.log(Integer.MAX_VALUE);
                    assertThat(log).hasSize((int) store.state().lastLogId());
                    for (int i = 0; i < 3; i++) {
                        PointerCommit next = PointerCommit.of(ALICE, move(table("t"), pointer, pointer.version() + 1));
                        assertThatThrownBy(() -> store.commit(next))
                                .isInstanceOf(StoreException.class)
                                .hasMessageStartingWith("The store in %s takes no commits since a write failed (", store.folder())
                                .hasMessageContaining("The next commit tries to open it again, as this one did: Cannot open the store in %s: ", store.folder())
                                .hasMessageContaining("No space left on device");
                        // reads go on
                        assertThat(content(store.state())).isEqualTo(before);
                        assertThat(store.log(Integer.MAX_VALUE)).isEqualTo(log);
                        assertThat(store.log(pointer.id(), 1)).hasSize(1);
                        assertThatThrownBy(() -> store.trimLog(Instant.MAX))
                                .isInstanceOf(StoreException.class)
                                .hasMessageStartingWith("The store in %s is not written to since a write failed (", store.folder())
                                .hasMessageEndingWith("). The next commit tries to open it again");
                        assertThat(store.document(pointer.id()).isPresent()).isEqualTo(store.keptDocuments().containsKey(pointer.id()));
                    }

                    Files.delete(folder.resolve("fill"));
                    committed(store.commit(PointerCommit.of(ALICE, create(table("after" + round), newTable(0)))));
                    // the commit that failed is there or not; those before are there
                    TablePointer found = store.state().find(table("t")).orElseThrow();
                    assertThat(found).isIn(pointer, moved(pointer, pointer.version() + 1));
                    pointer = found;
                    assertThat(store.log(Integer.MAX_VALUE)).hasSize((int) store.state().lastLogId());
                    assertThat(store.log(pointer.id(), Integer.MAX_VALUE)).hasSize((int) pointer.version() + 1);
                }
            }
            try (RocksDbPointerStore store = RocksDbPointerStore.open(folder.resolve("store"))) {
                assertThat(store.state().find(table("t"))).contains(pointer);
                assertThat(store.log(Integer.MAX_VALUE)).hasSize((int) pointer.version() + 1 + 6);
            }
        }
    }

    /**
     * Between the failure and the next commit somebody put an old copy in the place of the store.
     */
    @Test
    void testOldCopyAfterAFailure()
            throws Exception
    {
        Path folder = temporary.resolve("disk");
        Path copy = temporary.resolve("copy");
        try (TestingDisk _ = TestingDisk.create(folder, "size=4m")) {
            Path storeFolder = folder.resolve("store");
            try (RocksDbPointerStore store = RocksDbPointerStore.open(storeFolder)) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                TablePointer created = newTable(0);
                committed(store.commit(PointerCommit.of(ALICE, create(table("t"), created))));
                TestStoreFolder.copyFolder(storeFolder, copy);
                fill(folder.resolve("fill"));
                TablePointer pointer = commitUntilFailure(store, created);
                assertThat(pointer.version()).isPositive();
                Map<String, Object> before = content(store.state());

                Files.delete(folder.resolve("fill"));
                try (Stream<Path> files = Files.list(storeFolder)) {
                    for (Path file : files.filter(file -> !file.endsWith("HOLDER") && !file.endsWith("LOCK")).toList()) {
                        Files.delete(file);
                    }
                }
                Files.delete(copy.resolve("HOLDER"));
                Files.delete(copy.resolve("LOCK"));
                TestStoreFolder.copyFolder(copy, storeFolder);
                for (int i = 0; i < 2; i++) {
                    assertThatThrownBy(() -> store.commit(PointerCommit.of(ALICE, move(table("t"), pointer, pointer.version() + 1))))
                            .isInstanceOf(StoreException.class)
                            .hasMessageEndingWith("The store in %s is damaged: it has lost commits. Restore the folder from a backup, or make the store anew with rebuild_store, and restart the server", storeFolder);
                    // what readers saw does not go away
                    assertThat(content(store.state())).isEqualTo(before);
                }
            }
        }
    }

    /**
     * The disk is full when the store is closed and opened.
     */
    @Test
    void testOpenOnAFullDisk()
            throws Exception
    {
        Path folder = temporary.resolve("disk");
        try (TestingDisk _ = TestingDisk.create(folder, "size=4m")) {
            TablePointer pointer = newTable(0);
            try (RocksDbPointerStore store = RocksDbPointerStore.open(folder.resolve("store"))) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                committed(store.commit(PointerCommit.of(ALICE, create(table("t"), pointer))));
                fill(folder.resolve("fill"));
                pointer = commitUntilFailure(store, pointer);
            }
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> RocksDbPointerStore.open(folder.resolve("store")))
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining(folder.resolve("store").toString())
                        .hasMessageContaining("No space left on device");
            }
            Files.delete(folder.resolve("fill"));
            try (RocksDbPointerStore store = RocksDbPointerStore.open(folder.resolve("store"))) {
                assertThat(store.state().find(table("t")).orElseThrow()).isIn(pointer, moved(pointer, pointer.version() + 1));
                assertThat(store.log(Integer.MAX_VALUE)).hasSize((int) store.state().lastLogId());
            }
        }
    }

    @Test
    void testReadOnlyDisk()
            throws Exception
    {
        Path folder = temporary.resolve("original");
        Path readOnly = temporary.resolve("read-only");
        Map<String, Object> before;
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder.resolve("store"))) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
            committed(store.commit(PointerCommit.of(ALICE, create(table("t"), newTable(0)))));
            before = content(store.state());
        }
        try (TestingDisk _ = TestingDisk.readOnly(readOnly, folder)) {
            assertThatThrownBy(() -> RocksDbPointerStore.open(readOnly.resolve("store")))
                    .isInstanceOf(StoreException.class)
                    .hasMessageStartingWith("Cannot write into the store folder %s: ", readOnly.resolve("store"))
                    .hasMessageEndingWith("Read-only file system");
            assertThatThrownBy(() -> RocksDbPointerStore.open(readOnly.resolve("new")))
                    .isInstanceOf(StoreException.class)
                    .hasMessageStartingWith("Cannot create the store folder %s: ", readOnly.resolve("new"))
                    .hasMessageEndingWith("Read-only file system");
        }
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder.resolve("store"))) {
            assertThat(content(store.state())).isEqualTo(before);
        }
    }

    private static void fill(Path file)
            throws IOException
    {
        for (int bytes = 65536; bytes > 0; bytes /= 2) {
            try (OutputStream out = Files.newOutputStream(file, CREATE, APPEND)) {
                while (true) {
                    out.write(new byte[bytes]);
                }
            }
            catch (IOException e) {
                assertThat(e).hasMessageContaining("No space left on device");
            }
        }
    }

    /**
     * The last pointer that was acknowledged.
     */
    private static TablePointer commitUntilFailure(PointerStore store, TablePointer pointer)
    {
        CommitAuthor author = new CommitAuthor("alice", Optional.of("q".repeat(100)));
        TablePointer last = pointer;
        while (true) {
            try {
                committed(store.commit(PointerCommit.of(author, move(table("t"), last, last.version() + 1))));
            }
            catch (CommitStateUnknownException e) {
                assertThat(e).hasStackTraceContaining("No space left on device");
                assertThat(store.state().find(table("t"))).contains(last);
                return last;
            }
            last = moved(last, last.version() + 1);
        }
    }
}
