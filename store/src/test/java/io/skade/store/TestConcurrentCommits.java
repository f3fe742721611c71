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

import io.skade.store.CommitResult.Committed;
import io.skade.store.CommitResult.Conflict;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.committed;
import static io.skade.store.TestingPointers.content;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.drop;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.moved;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads on one store.
 */
class TestConcurrentCommits
{
    @TempDir
    private Path folder;

    @BeforeEach
    void createDb()
    {
        try (RocksDbPointerStore store = open()) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
        }
    }

    private RocksDbPointerStore open()
    {
        return RocksDbPointerStore.open(folder.resolve("store"), new ManualClock());
    }

    @Test
    void testIncrementsOfOnePointer()
            throws Exception
    {
        int threads = 16;
        int increments = 60;
        TableIdentifier name = table("t");
        try (RocksDbPointerStore store = open()) {
            committed(store.commit(PointerCommit.of(ALICE, create(name, newTable(0)))));
            run(threads, _ -> {
                for (int i = 0; i < increments; i++) {
                    increment(store, name);
                }
                return null;
            });
            assertThat(store.state().find(name).orElseThrow().version()).isEqualTo(threads * increments);
        }
        try (RocksDbPointerStore store = open()) {
            TablePointer pointer = store.state().find(name).orElseThrow();
            assertThat(pointer.version()).isEqualTo(threads * increments);
            assertThat(pointer.metadataLocation()).isEqualTo(threads * increments + ".metadata.json");
            // each increment is in the log, from one to the next
            List<LogEntry> log = store.log(pointer.id(), Integer.MAX_VALUE);
            assertThat(log).hasSize(threads * increments + 1);
            for (int i = 0; i < threads * increments; i++) {
                RefChange change = log.get(i).tables().getFirst().refChanges().getFirst();
                assertThat(change.after().orElseThrow().snapshotId()).isEqualTo(threads * increments - i);
                assertThat(change.before().orElseThrow().snapshotId()).isEqualTo(threads * increments - i - 1);
            }
        }
    }

    private static void increment(PointerStore store, TableIdentifier name)
    {
        while (true) {
            TablePointer pointer = store.state().find(name).orElseThrow();
            if (store.commit(PointerCommit.of(ALICE, move(name, pointer, pointer.version() + 1))) instanceof Committed committed) {
                // the state of the answer has the commit, and so has every later one
                assertThat(committed.state().find(name).orElseThrow().version()).isGreaterThan(pointer.version());
                assertThat(store.state().lastLogId()).isGreaterThanOrEqualTo(committed.logId());
                return;
            }
        }
    }

    /**
     * Each commit takes two neighbouring tables of a ring from one step to the next: whoever looks sees the sum of all versions even, and in the end
     * it is twice the number of commits.
     */
    @Test
    void testOverlappingPairs()
            throws Exception
    {
        int tables = 4;
        int threads = 8;
        int commits = 60;
        AtomicInteger conflicts = new AtomicInteger();
        AtomicBoolean writing = new AtomicBoolean(true);
        try (RocksDbPointerStore store = open(); ExecutorService reader = Executors.newSingleThreadExecutor()) {
            for (int i = 0; i < tables; i++) {
                committed(store.commit(PointerCommit.of(ALICE, create(table("t" + i), newTable(0)))));
            }
            Future<Integer> reads = reader.submit(() -> {
                int count = 0;
                while (writing.get()) {
                    assertThat(sumOfVersions(store.state(), tables) % 2).isZero();
                    count++;
                }
                return count;
            });
            try {
                run(threads, thread -> {
                    for (int i = 0; i < commits; i++) {
                        TableIdentifier left = table("t" + (thread + i) % tables);
                        TableIdentifier right = table("t" + (thread + i + 1) % tables);
                        while (true) {
                            CatalogState state = store.state();
                            TablePointer leftPointer = state.find(left).orElseThrow();
                            TablePointer rightPointer = state.find(right).orElseThrow();
                            PointerCommit commit = PointerCommit.of(
                                    ALICE,
                                    move(left, leftPointer, leftPointer.version() + 1),
                                    move(right, rightPointer, rightPointer.version() + 1));
                            if (store.commit(commit) instanceof Committed) {
                                break;
                            }
                            conflicts.incrementAndGet();
                        }
                    }
                    return null;
                });
            }
            finally {
                writing.set(false);
            }
            assertThat(reads.get()).isPositive();
            assertThat(sumOfVersions(store.state(), tables)).isEqualTo(2L * threads * commits);
            assertThat(store.state().lastLogId()).isEqualTo(tables + threads * commits);
            assertThat(store.log(threads * commits)).allSatisfy(entry -> assertThat(entry.tables()).hasSize(2));
        }
    }

    private static long sumOfVersions(CatalogState state, int tables)
    {
        long sum = 0;
        for (int i = 0; i < tables; i++) {
            sum += state.find(table("t" + i)).orElseThrow().version();
        }
        return sum;
    }

    /**
     * Commits that have nothing in common never stand in each other's way, whatever shares a sync.
     */
    @Test
    void testCommitsOfDifferentTablesDoNotConflict()
            throws Exception
    {
        try (RocksDbPointerStore store = open()) {
            run(8, thread -> {
                TableIdentifier name = table("t" + thread);
                TablePointer pointer = newTable(0);
                committed(store.commit(PointerCommit.of(ALICE, create(name, pointer))));
                for (int i = 1; i <= 40; i++) {
                    committed(store.commit(PointerCommit.of(ALICE, move(name, pointer, i))));
                    pointer = moved(pointer, i);
                }
                return null;
            });
            assertThat(store.state().lastLogId()).isEqualTo(8 * 41);
            assertThat(store.log(Integer.MAX_VALUE)).extracting(LogEntry::logId).isSortedAccordingTo((left, right) -> Long.compare(right, left)).doesNotHaveDuplicates().hasSize(8 * 41);
        }
    }

    @Test
    void testOneCreationWins()
            throws Exception
    {
        try (RocksDbPointerStore store = open()) {
            for (int round = 0; round < 20; round++) {
                TableIdentifier name = table("t" + round);
                Namespace namespace = Namespace.of("n" + round);
                List<Boolean> tables = run(8, thread -> store.commit(PointerCommit.of(ALICE, create(name, newTable(thread)))) instanceof Committed);
                List<Boolean> namespaces = run(8, _ -> store.commit(PointerCommit.of(ALICE, createNamespace(namespace))) instanceof Committed);
                assertThat(tables).containsOnlyOnce(true);
                assertThat(namespaces).containsOnlyOnce(true);
                assertThat(store.state().find(name).orElseThrow().metadataLocation()).isEqualTo(tables.indexOf(true) + ".metadata.json");
            }
        }
    }

    /**
     * Drop of a namespace against creation in it: never a table without its namespace.
     */
    @Test
    void testDropOfNamespaceAgainstCreation()
            throws Exception
    {
        for (int round = 0; round < 20; round++) {
            try (RocksDbPointerStore store = open()) {
                Namespace namespace = Namespace.of("n" + round);
                TableIdentifier name = TableIdentifier.of(namespace, "t");
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(namespace))));
                List<CommitResult> results = run(2, thread -> store.commit(thread == 0
                        ? PointerCommit.of(ALICE, TestingPointers.dropNamespace(namespace))
                        : PointerCommit.of(ALICE, create(name, newTable(0)))));
                assertThat(results).filteredOn(Committed.class::isInstance).hasSize(1);
                assertThat(results).filteredOn(Conflict.class::isInstance).hasSize(1);
                assertThat(store.state().namespaceExists(namespace)).isEqualTo(store.state().find(name).isPresent());
            }
        }
        // it can be read again
        open().close();
    }

    /**
     * Close comes at any moment of the calls of eight threads: each call works or says that the store is closed, and what was acknowledged is there.
     */
    @Test
    void testCloseWhileInUse()
            throws Exception
    {
        int rounds = Integer.getInteger("skade.test.close-rounds", 40);
        try (RocksDbPointerStore store = open()) {
            for (int thread = 0; thread < 8; thread++) {
                committed(store.commit(PointerCommit.of(ALICE, create(table("t" + thread), newTable(0)))));
            }
        }
        for (int round = 0; round < rounds; round++) {
            RocksDbPointerStore store = open();
            CatalogState opened = store.state();
            int closeAfter = round % 20;
            AtomicInteger commits = new AtomicInteger();
            List<Long> acknowledged = run(9, thread -> {
                if (thread == 8) {
                    while (commits.get() < closeAfter) {
                        Thread.onSpinWait();
                    }
                    store.close();
                    return 0L;
                }
                TableIdentifier name = table("t" + thread);
                long version = opened.find(name).orElseThrow().version();
                try {
                    while (true) {
                        TablePointer pointer = store.state().find(name).orElseThrow();
                        committed(store.commit(PointerCommit.of(ALICE, move(name, pointer, pointer.version() + 1))));
                        version = pointer.version() + 1;
                        commits.incrementAndGet();
                        assertThat(store.log(5)).isNotEmpty();
                        assertThat(store.log(pointer.id(), 5)).isNotEmpty();
                        assertThat(store.state().list(DB, PointerKind.TABLE)).hasSize(8);
                    }
                }
                catch (StoreException e) {
                    assertThat(e).hasMessage("The store in %s is closed", store.folder());
                }
                return version;
            });
            try (RocksDbPointerStore reopened = open()) {
                for (int thread = 0; thread < 8; thread++) {
                    assertThat(reopened.state().find(table("t" + thread)).orElseThrow().version()).as("round %s, thread %s", round, thread).isEqualTo(acknowledged.get(thread));
                }
            }
        }
    }

    @Test
    void testCloseByManyThreads()
            throws Exception
    {
        for (int round = 0; round < 10; round++) {
            RocksDbPointerStore store = open();
            var before = content(store.state());
            run(8, _ -> {
                store.close();
                return null;
            });
            try (RocksDbPointerStore reopened = open()) {
                assertThat(content(reopened.state())).isEqualTo(before);
            }
        }
    }

    @Test
    void testDropAgainstMove()
            throws Exception
    {
        try (RocksDbPointerStore store = open()) {
            for (int round = 0; round < 20; round++) {
                TableIdentifier name = table("t" + round);
                TablePointer pointer = newTable(0);
                committed(store.commit(PointerCommit.of(ALICE, create(name, pointer))));
                List<CommitResult> results = run(2, thread -> store.commit(PointerCommit.of(ALICE, thread == 0 ? drop(name, pointer) : move(name, pointer, 1))));
                assertThat(results).filteredOn(Committed.class::isInstance).hasSize(1);
                assertThat(store.state().find(name).isPresent()).isEqualTo(results.get(1) instanceof Committed);
            }
        }
    }

    /**
     * Runs a task in several threads that start together.
     */
    private static <T> List<T> run(int threads, Task<T> task)
            throws Exception
    {
        CyclicBarrier start = new CyclicBarrier(threads);
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Callable<T>> calls = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                calls.add(() -> {
                    start.await();
                    return task.run(thread);
                });
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : executor.invokeAll(calls)) {
                results.add(future.get());
            }
            return results;
        }
    }

    private interface Task<T>
    {
        T run(int thread)
                throws Exception;
    }
}
