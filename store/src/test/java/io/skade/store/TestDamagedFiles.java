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

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
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
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Files of RocksDB, other than its log, that were damaged or lost. The store says so, or has all that it had.
 */
class TestDamagedFiles
{
    private static final String WAY_BACK = "Restore the folder from a backup, or make the store anew with rebuild_store";

    @TempDir
    private Path temporary;

    private Path original;
    private Path damaged;
    private Map<String, Object> content;
    private List<LogEntry> entries;

    @BeforeEach
    void fill()
    {
        original = temporary.resolve("original");
        damaged = temporary.resolve("damaged");
        TablePointer pointer = newTable(0);
        CommitAuthor author = new CommitAuthor("alice", Optional.of("query"));
        try (RocksDbPointerStore store = RocksDbPointerStore.open(original)) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
            committed(store.commit(PointerCommit.of(ALICE, create(table("t"), pointer))));
            for (int i = 1; i <= 50; i++) {
                committed(store.commit(PointerCommit.of(author, move(table("t"), pointer, i), create(table("t" + i), newTable(i)))));
                pointer = moved(pointer, i);
            }
            content = content(store.state());
            entries = store.log(Integer.MAX_VALUE);
        }
    }

    @Test
    void testFlippedByteOfATableFile()
            throws IOException
    {
        long seed = Long.getLong("skade.test.seed", System.nanoTime());
        Random random = new Random(seed);
        int refused = 0;
        int unreadable = 0;
        for (int round = 0; round < 40; round++) {
            copy();
            flip(file(damaged, "\\d+\\.sst"), random);
            String where = "seed %s, round %s".formatted(seed, round);
            try (RocksDbPointerStore store = RocksDbPointerStore.open(damaged)) {
                assertThat(content(store.state())).as(where).isEqualTo(content);
                try {
                    assertThat(store.log(Integer.MAX_VALUE)).as(where).isEqualTo(entries);
                }
                catch (StoreException e) {
                    assertThat(e).as(where)
                            .hasMessageStartingWith("Cannot use the store in %s: ", damaged)
                            .hasMessageContaining(".sst")
                            .hasMessageEndingWith(". " + WAY_BACK);
                    unreadable++;
                    // the rest goes on
                    TablePointer pointer = store.state().find(table("t")).orElseThrow();
                    committed(store.commit(PointerCommit.of(ALICE, move(table("t"), pointer, 1000))));
                    assertThat(store.log(1)).extracting(LogEntry::logId).containsExactly((long) entries.size() + 1);
                }
            }
            catch (StoreException e) {
                assertThat(e).as(where)
                        .hasMessageContaining(damaged.toString())
                        .hasMessageEndingWith(". " + WAY_BACK);
                refused++;
            }
        }
        assertThat(refused).isPositive();
        assertThat(unreadable).isPositive();
    }

    @Test
    void testFlippedByteOfTheManifest()
            throws IOException
    {
        Path manifest = original.resolve(Files.readString(original.resolve("CURRENT"), UTF_8).strip());
        copy();
        for (int position = 0; position < Files.size(manifest); position++) {
            byte[] bytes = Files.readAllBytes(manifest);
            bytes[position] ^= (byte) (1 << position % 8);
            Files.write(damaged.resolve(manifest.getFileName()), bytes);
            // nothing is changed, so one copy does for all
            assertThatThrownBy(() -> RocksDbPointerStore.open(damaged)).as("byte %s", position)
                    .isInstanceOf(StoreException.class)
                    .hasMessage("Cannot open the store in %s: %s is damaged. %s", damaged, manifest.getFileName(), WAY_BACK);
        }
        Files.copy(manifest, damaged.resolve(manifest.getFileName()), REPLACE_EXISTING);
        try (RocksDbPointerStore store = RocksDbPointerStore.open(damaged)) {
            assertThat(content(store.state())).isEqualTo(content);
            assertThat(store.log(Integer.MAX_VALUE)).isEqualTo(entries);
        }
    }

    /**
     * Table files without a record of them in the manifest.
     */
    @Test
    void testManifestOfANewStore()
            throws IOException
    {
        Path fresh = temporary.resolve("fresh");
        try (RocksDbPointerStore _ = RocksDbPointerStore.open(fresh)) {
            copy();
            Files.delete(file(damaged, "MANIFEST-\\d+"));
            for (String name : List.of("CURRENT", "MANIFEST-\\d+")) {
                Path file = file(fresh, name);
                Files.copy(file, damaged.resolve(file.getFileName()), REPLACE_EXISTING);
            }
        }
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> RocksDbPointerStore.open(damaged))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("The store in %s is damaged: it has lost its content. %s", damaged, WAY_BACK);
        }
    }

    /**
     * A manifest that a crash cut off: the flush that it lacks has not ended, so the log is still there.
     */
    @Test
    void testManifestThatIsCutOff()
            throws IOException
    {
        Path open = temporary.resolve("open");
        try (RocksDbPointerStore store = RocksDbPointerStore.open(open)) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
            TestStoreFolder.copyFolder(open, damaged);
        }
        Path closed = file(open, "MANIFEST-\\d+");
        Path manifest = file(damaged, "MANIFEST-\\d+");
        assertThat(closed.getFileName()).isEqualTo(manifest.getFileName());
        byte[] bytes = Files.readAllBytes(closed);
        for (int size = toIntExact(Files.size(manifest)); size < bytes.length; size += 5) {
            Path cut = temporary.resolve("cut" + size);
            TestStoreFolder.copyFolder(damaged, cut);
            Files.copy(file(open, "\\d+\\.sst"), cut.resolve(file(open, "\\d+\\.sst").getFileName()));
            Files.write(cut.resolve(manifest.getFileName()), Arrays.copyOf(bytes, size));
            try (RocksDbPointerStore store = RocksDbPointerStore.open(cut)) {
                assertThat(store.state().namespaceExists(DB)).as("%s bytes", size).isTrue();
            }
        }
    }

    /**
     * A new empty store in the place of the lost one would be worse.
     */
    @Test
    void testLostFiles()
            throws IOException
    {
        for (String name : List.of("CURRENT", "MANIFEST-\\d+", "\\d+\\.sst")) {
            copy();
            Files.delete(file(damaged, name));
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> RocksDbPointerStore.open(damaged)).as(name)
                        .isInstanceOf(StoreException.class)
                        .hasMessageStartingWith("Cannot open the store in %s: ", damaged)
                        .hasMessageEndingWith(". " + WAY_BACK);
            }
        }
    }

    @Test
    void testDamagedCurrentFile()
            throws IOException
    {
        for (String text : List.of("", "MANIFEST-", "MANIFEST-999999\n")) {
            copy();
            Files.writeString(damaged.resolve("CURRENT"), text, UTF_8);
            assertThatThrownBy(() -> RocksDbPointerStore.open(damaged)).as(text)
                    .isInstanceOf(StoreException.class)
                    .hasMessageStartingWith("Cannot open the store in %s: ", damaged)
                    .hasMessageEndingWith(". " + WAY_BACK);
        }
    }

    private void copy()
            throws IOException
    {
        if (Files.exists(damaged)) {
            deleteRecursively(damaged, ALLOW_INSECURE);
        }
        TestStoreFolder.copyFolder(original, damaged);
    }

    private static void flip(Path file, Random random)
            throws IOException
    {
        byte[] bytes = Files.readAllBytes(file);
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 + random.nextInt(255));
        Files.write(file, bytes);
    }

    private static Path file(Path folder, String name)
            throws IOException
    {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches(name)).findFirst().orElseThrow();
        }
    }
}
