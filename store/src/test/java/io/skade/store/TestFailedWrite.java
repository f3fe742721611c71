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
import io.skade.store.CommitResult.Committed;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.committed;
import static io.skade.store.TestingPointers.content;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writes that fail now and then, played by a process that may not write long files: when RocksDB is opened again, it begins a new one.
 */
class TestFailedWrite
{
    private static final List<String> SHORT_FILES = ImmutableList.of("bash", "-c", "ulimit -f 128; exec \"$@\"", "bash");

    @TempDir
    private Path temporary;

    @Test
    void testFailedWrites()
            throws Exception
    {
        Path folder = temporary.resolve("store");
        long version;
        long entries;
        try (ChildJvm writer = ChildJvm.start(SHORT_FILES, Writer.class, temporary, folder.toString())) {
            version = Long.parseLong(writer.readLine());
            entries = Long.parseLong(writer.readLine());
            assertThat(writer.exitCode()).isZero();
        }
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            TablePointer pointer = store.state().find(table("t")).orElseThrow();
            assertThat(pointer.version()).isEqualTo(version);
            assertThat(store.log(Integer.MAX_VALUE)).hasSize((int) entries);
            committed(store.commit(PointerCommit.of(ALICE, move(table("t"), pointer, version + 1))));
        }
    }

    @Test
    void testFailedWritesOfManyThreads()
            throws Exception
    {
        Path folder = temporary.resolve("store");
        Map<String, Long> acknowledged = new HashMap<>();
        try (ChildJvm writer = ChildJvm.start(SHORT_FILES, ThreadsOfWriters.class, temporary, folder.toString())) {
            for (int thread = 0; thread < ThreadsOfWriters.THREADS; thread++) {
                acknowledged.merge(ThreadsOfWriters.tableOf(thread), Long.parseLong(writer.readLine()), Long::sum);
            }
            assertThat(writer.exitCode()).isZero();
        }
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            acknowledged.forEach((name, count) -> {
                TablePointer pointer = store.state().find(table(name)).orElseThrow();
                // the commits of unknown outcome may be there
                assertThat(pointer.version()).as(name).isBetween(count, count + 2 * ThreadsOfWriters.FAILURES);
                assertThat(store.log(pointer.id(), Integer.MAX_VALUE)).as(name).hasSize((int) pointer.version() + 1);
            });
        }
    }

    private static CommitAuthor longQuery()
    {
        return new CommitAuthor("alice", Optional.of("q".repeat(1000)));
    }

    /**
     * Commits until several writes have failed, and checks what the store does then.
     */
    static final class Writer
    {
        private Writer() {}

        public static void main(String[] arguments)
        {
            try (RocksDbPointerStore store = RocksDbPointerStore.open(Path.of(arguments[0]))) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                committed(store.commit(PointerCommit.of(ALICE, create(table("t"), newTable(0)))));
                // each opening makes a table file; of four RocksDB would make one that is too long
                for (int failures = 0; failures < 3; failures++) {
                    commitUntilFailure(store);
                    // nothing is published of the commit that failed, and reads go on
                    Map<String, Object> before = content(store.state());
                    TablePointer pointer = store.state().find(table("t")).orElseThrow();
                    assertThat(store.log(Integer.MAX_VALUE)).hasSize((int) store.state().lastLogId());
                    assertThat(store.log(pointer.id(), Integer.MAX_VALUE)).hasSize((int) pointer.version() + 1);
                    assertThat(content(store.state())).isEqualTo(before);
                    // the next commit finds what became of it
                    committed(store.commit(PointerCommit.of(ALICE, create(table("after" + failures), newTable(0)))));
                    pointer = store.state().find(table("t")).orElseThrow();
                    assertThat(store.log(pointer.id(), Integer.MAX_VALUE)).hasSize((int) pointer.version() + 1);
                    assertThat(store.log(Integer.MAX_VALUE)).hasSize((int) store.state().lastLogId());
                }
                System.out.println(store.state().find(table("t")).orElseThrow().version());
                System.out.println(store.state().lastLogId());
            }
        }

        private static void commitUntilFailure(PointerStore store)
        {
            while (true) {
                TablePointer pointer = store.state().find(table("t")).orElseThrow();
                try {
                    committed(store.commit(PointerCommit.of(longQuery(), move(table("t"), pointer, pointer.version() + 1))));
                }
                catch (CommitStateUnknownException e) {
                    assertThat(store.state().find(table("t"))).contains(pointer);
                    return;
                }
            }
        }
    }

    /**
     * Threads that commit without pause, two of them to each table, until each has failed several times. What a thread saw never goes away.
     */
    static final class ThreadsOfWriters
    {
        static final int THREADS = 6;
        static final int FAILURES = 2;

        private ThreadsOfWriters() {}

        static String tableOf(int thread)
        {
            return "t" + thread / 2;
        }

        public static void main(String[] arguments)
                throws Exception
        {
            try (RocksDbPointerStore store = RocksDbPointerStore.open(Path.of(arguments[0]));
                    ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                for (int thread = 0; thread < THREADS; thread += 2) {
                    committed(store.commit(PointerCommit.of(ALICE, create(table(tableOf(thread)), newTable(0)))));
                }
                List<Callable<Long>> writers = IntStream.range(0, THREADS)
                        .<Callable<Long>>mapToObj(thread -> () -> commit(store, table(tableOf(thread))))
                        .toList();
                for (Future<Long> acknowledged : executor.invokeAll(writers)) {
                    System.out.println(acknowledged.get());
                }
            }
        }

        /**
         * How many commits were acknowledged.
         */
        private static long commit(PointerStore store, TableIdentifier name)
        {
            long acknowledged = 0;
            long seen = 0;
            int failures = 0;
            while (failures < FAILURES) {
                TablePointer pointer = store.state().find(name).orElseThrow();
                assertThat(pointer.version()).isGreaterThanOrEqualTo(seen);
                seen = pointer.version();
                try {
                    if (store.commit(PointerCommit.of(longQuery(), move(name, pointer, seen + 1))) instanceof Committed) {
                        acknowledged++;
                        seen++;
                    }
                }
                catch (CommitStateUnknownException e) {
                    failures++;
                }
            }
            return acknowledged;
        }
    }
}
