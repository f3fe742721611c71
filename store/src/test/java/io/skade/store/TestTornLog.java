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

import org.apache.iceberg.catalog.Namespace;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
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
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A power cut may tear the last record of RocksDB's log, and a disk may damage any.
 */
class TestTornLog
{
    private static final int COMMITS = 12;

    @TempDir
    private Path temporary;

    @Test
    void testCutAtTheEndOfTheLog()
            throws IOException
    {
        Path folder = temporary.resolve("store");
        Path copy = temporary.resolve("copy");
        List<Map<String, Object>> states = new ArrayList<>();
        List<Long> sizes = new ArrayList<>();
        TablePointer left = newTable(0);
        TablePointer right = newTable(0);
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
            committed(store.commit(PointerCommit.of(ALICE, create(table("left"), left), create(table("right"), right))));
            for (int i = 1; i <= COMMITS; i++) {
                committed(store.commit(PointerCommit.of(ALICE, move(table("left"), left, i), move(table("right"), right, i))));
                left = moved(left, i);
                right = moved(right, i);
                states.add(content(store.state()));
                sizes.add(Files.size(newestLog(folder)));
            }
            // as after a crash: a close would empty the log
            TestStoreFolder.copyFolder(folder, copy);
        }
        long size = Files.size(newestLog(copy));
        assertThat(sizes.getLast()).isEqualTo(size);

        Path torn = temporary.resolve("torn");
        // each byte of the end, and some cuts that take several records
        for (int cut = 0; cut < 2000; cut += cut < 40 ? 1 : 171) {
            TestStoreFolder.copyFolder(copy, torn);
            try (FileChannel log = FileChannel.open(newestLog(torn), WRITE)) {
                log.truncate(size - cut);
            }
            int last = lastWholeCommit(sizes, size - cut);
            try (RocksDbPointerStore store = RocksDbPointerStore.open(torn)) {
                assertThat(content(store.state())).as("%s bytes cut off", cut).isEqualTo(states.get(last));
                assertThat(store.log(Integer.MAX_VALUE)).as("%s bytes cut off", cut).hasSize(last + 2);
                // it goes on from there
                TablePointer pointer = store.state().find(table("left")).orElseThrow();
                committed(store.commit(PointerCommit.of(ALICE, move(table("left"), pointer, 1000))));
            }
            try (RocksDbPointerStore store = RocksDbPointerStore.open(torn)) {
                assertThat(store.state().find(table("left")).orElseThrow().metadataLocation()).as("%s bytes cut off", cut).isEqualTo("1000.metadata.json");
                assertThat(store.log(Integer.MAX_VALUE)).as("%s bytes cut off", cut).extracting(LogEntry::logId).first().isEqualTo(last + 3L);
            }
            deleteRecursively(torn, ALLOW_INSECURE);
        }
    }

    /**
     * One byte that is another one: what it did not touch is there, or the store says that it is not. Some records are longer than the blocks of the log.
     */
    @Test
    void testFlippedByte()
            throws IOException
    {
        long seed = Long.getLong("skade.test.seed", System.nanoTime());
        Random random = new Random(seed);
        Path folder = temporary.resolve("store");
        Path copy = temporary.resolve("copy");
        List<Map<String, Object>> states = new ArrayList<>();
        List<Long> sizes = new ArrayList<>();
        TablePointer pointer = newTable(0);
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
            committed(store.commit(PointerCommit.of(ALICE, create(table("t"), pointer))));
            for (int i = 1; i <= COMMITS; i++) {
                CommitAuthor author = new CommitAuthor("alice", Optional.of("q".repeat(i % 4 == 0 ? 70_000 : 100)));
                committed(store.commit(PointerCommit.of(author, move(table("t"), pointer, i))));
                pointer = moved(pointer, i);
                states.add(content(store.state()));
                sizes.add(Files.size(newestLog(folder)));
            }
            TestStoreFolder.copyFolder(folder, copy);
        }
        long last = sizes.get(COMMITS - 2);

        Path damaged = temporary.resolve("damaged");
        for (int round = 0; round < 40; round++) {
            // half of them in the last record
            long position = round % 2 == 0 ? random.nextLong(last) : random.nextLong(last, sizes.getLast());
            String where = "seed %s, round %s, byte %s".formatted(seed, round, position);
            TestStoreFolder.copyFolder(copy, damaged);
            byte[] bytes = Files.readAllBytes(newestLog(damaged));
            bytes[toIntExact(position)] ^= (byte) (1 + random.nextInt(255));
            Files.write(newestLog(damaged), bytes);
            if (position >= last) {
                try (RocksDbPointerStore store = RocksDbPointerStore.open(damaged)) {
                    assertThat(content(store.state())).as(where).isEqualTo(states.get(COMMITS - 2));
                    assertThat(store.log(Integer.MAX_VALUE).size()).as(where).isEqualTo(COMMITS);
                }
            }
            else {
                // and it stays so: nothing was changed
                for (int i = 0; i < 2; i++) {
                    assertThatThrownBy(() -> RocksDbPointerStore.open(damaged)).as(where)
                            .isInstanceOf(StoreException.class)
                            .hasMessage(
                                    "Cannot open the store in %s: commits are lost before the end of %s. Restore the folder from a backup, or make the store anew with rebuild_store",
                                    damaged,
                                    newestLog(damaged).getFileName());
                }
                assertThat(newestLog(damaged)).as(where).hasBinaryContent(bytes);
            }
            deleteRecursively(damaged, ALLOW_INSECURE);
        }
    }

    /**
     * The log goes on in a second file when the first one is full, and after an opening that dropped a half record.
     */
    @Test
    void testTwoFiles()
            throws IOException
    {
        Path folder = temporary.resolve("store");
        List<Long> sizes = new ArrayList<>();
        byte[] bytes;
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            for (int i = 0; i < 5; i++) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(Namespace.of("n" + i)))));
                sizes.add(Files.size(newestLog(folder)));
            }
            bytes = Files.readAllBytes(newestLog(folder));
        }
        int third = toIntExact(sizes.get(2));
        int fourth = toIntExact(sizes.get(3));
        Path files = Files.createDirectories(temporary.resolve("files"));
        Files.writeString(files.resolve("CURRENT"), "MANIFEST-000001\n", UTF_8);
        Files.createFile(files.resolve("MANIFEST-000001"));
        Path first = files.resolve("000009.log");
        Path second = files.resolve("000010.log");
        String lost = "commits are lost before the end of 000010.log";
        Files.write(second, Arrays.copyOfRange(bytes, fourth, bytes.length));

        Files.write(first, Arrays.copyOf(bytes, fourth));
        assertThat(RocksDbFiles.findDamage(files)).isEmpty();
        // the record before the second file is cut off
        Files.write(first, Arrays.copyOf(bytes, fourth - 3));
        assertThat(RocksDbFiles.findDamage(files)).contains(lost);
        // a half record that the second file does not miss
        Files.write(second, Arrays.copyOfRange(bytes, third, bytes.length));
        assertThat(RocksDbFiles.findDamage(files)).isEmpty();
        // nothing but damage before it
        Files.write(first, new byte[100]);
        assertThat(RocksDbFiles.findDamage(files)).contains(lost);
        // zeros behind the last record
        Files.write(second, Arrays.copyOf(bytes, bytes.length + 40_000));
        Files.delete(first);
        assertThat(RocksDbFiles.findDamage(files)).isEmpty();
    }

    /**
     * The index of the last commit whose record is whole in a log of a size.
     */
    private static int lastWholeCommit(List<Long> sizes, long size)
    {
        int last = 0;
        for (int i = 0; i < sizes.size(); i++) {
            if (sizes.get(i) <= size) {
                last = i;
            }
        }
        return last;
    }

    private static Path newestLog(Path folder)
            throws IOException
    {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches("\\d+\\.log"))
                    .max(Comparator.comparing(file -> file.getFileName().toString()))
                    .orElseThrow();
        }
    }
}
