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
import com.google.common.collect.ImmutableMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.committed;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store that is opened and closed again and again, in a Java process of its own, while threads use it in every way: a native call on what is
 * closed would end the process.
 *
 * <p>{@code -Dskade.test.life-rounds=..} sets how often.
 */
class TestLifeCycle
{
    @TempDir
    private Path temporary;

    @Test
    void testCloseUnderLoad()
            throws Exception
    {
        int rounds = Integer.getInteger("skade.test.life-rounds", 200);
        Path crashes = temporary.resolve("crash");
        List<String> options = ImmutableList.of("-Xmx256m", "-XX:ErrorFile=" + crashes, "-Djava.library.path=" + ChildJvm.copyLibrary(temporary));
        long before;
        long after;
        try (ChildJvm process = ChildJvm.start(ImmutableList.of(), options, Load.class, temporary.resolve("store").toString(), String.valueOf(rounds))) {
            before = Long.parseLong(process.readLine());
            after = Long.parseLong(process.readLine());
            assertThat(process.exitCode()).isZero();
        }
        assertThat(crashes).doesNotExist();
        // other threads of the process may open files of their own
        assertThat(after).isLessThan(before + 20);
    }

    /**
     * Opens and closes a store under load, and prints how many files were open after the first rounds and after the last.
     */
    static final class Load
    {
        private static final int THREADS = 8;

        private Load() {}

        public static void main(String[] arguments)
                throws Exception
        {
            Path folder = Path.of(arguments[0]);
            int rounds = Integer.parseInt(arguments[1]);
            try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                for (int thread = 0; thread < THREADS; thread++) {
                    committed(store.commit(PointerCommit.of(ALICE, create(table("t" + thread), newTable(0)))));
                }
            }
            try (ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
                for (int round = 0; round < rounds; round++) {
                    closeUnderLoad(folder, executor, round % 10);
                    if (round == rounds / 10) {
                        System.out.println(TestStoreFolder.openFiles());
                    }
                }
            }
            System.out.println(TestStoreFolder.openFiles());
        }

        private static void closeUnderLoad(Path folder, ExecutorService executor, int closeAfter)
                throws Exception
        {
            RocksDbPointerStore store = RocksDbPointerStore.open(folder);
            AtomicInteger calls = new AtomicInteger();
            List<Future<?>> threads = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                Callable<Void> use = use(store, "t" + thread, calls);
                threads.add(executor.submit(use));
            }
            while (calls.get() < closeAfter) {
                Thread.onSpinWait();
            }
            store.close();
            for (Future<?> thread : threads) {
                thread.get();
            }
        }

        private static Callable<Void> use(PointerStore store, String name, AtomicInteger calls)
        {
            return () -> {
                try {
                    while (true) {
                        use(store, name);
                        calls.incrementAndGet();
                    }
                }
                catch (StoreException e) {
                    assertThat(e).hasMessageEndingWith(" is closed");
                    return null;
                }
            };
        }

        private static void use(PointerStore store, String name)
        {
            TablePointer pointer = store.state().find(table(name)).orElseThrow();
            switch (ThreadLocalRandom.current().nextInt(6)) {
                case 0 -> {
                    PointerChange change = move(table(name), pointer, pointer.version() + 1);
                    MetadataDocument document = MetadataDocument.of(change.next().orElseThrow().metadataLocation(), new byte[1000]);
                    committed(store.commit(new PointerCommit(ALICE, ImmutableList.of(), ImmutableList.of(change), ImmutableList.of(document))));
                }
                case 1 -> assertThat(store.log(100)).isNotEmpty();
                case 2 -> assertThat(store.log(pointer.id(), 100)).hasSizeLessThanOrEqualTo(100);
                case 3 -> store.document(pointer.id()).ifPresent(document -> assertThat(document.content()).hasSize(1000));
                case 4 -> store.forgetDocuments(ImmutableMap.copyOf(store.keptDocuments()));
                default -> store.trimLog(Instant.now().minusMillis(50));
            }
        }
    }
}
