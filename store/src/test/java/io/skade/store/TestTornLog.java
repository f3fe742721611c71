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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
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
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A power cut may tear the last record of RocksDB's log.
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
