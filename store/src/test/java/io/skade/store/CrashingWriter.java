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

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;

/**
 * A process that commits without pause until it is killed, in several threads. A thread's commits are numbered; commit {@code n} moves some of the
 * thread's own tables to step {@code n}, which ones is a function of {@code n}. The first commit creates them all. What the store acknowledged
 * is printed as {@code thread n}.
 */
final class CrashingWriter
{
    static final int THREADS = 3;
    private static final int TABLES = 4;

    private CrashingWriter() {}

    public static void main(String[] arguments)
            throws Exception
    {
        PrintStream acknowledgements = System.out;
        try (RocksDbPointerStore store = RocksDbPointerStore.open(Path.of(arguments[0]));
                ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
            if (!store.state().namespaceExists(DB)) {
                store.commit(PointerCommit.of(author(0, 0), createNamespace(DB)));
            }
            executor.invokeAll(Stream.iterate(0, thread -> thread < THREADS, thread -> thread + 1)
                    .map(thread -> Executors.callable(() -> commitForEver(store, thread, acknowledgements)))
                    .toList());
        }
    }

    private static void commitForEver(PointerStore store, int thread, PrintStream acknowledgements)
    {
        try {
            for (long number = lastNumber(store.state(), thread) + 1; ; number++) {
                TestingPointers.committed(store.commit(commit(store.state(), thread, number)));
                synchronized (acknowledgements) {
                    acknowledgements.print(thread + " " + number + "\n");
                    acknowledgements.flush();
                }
            }
        }
        catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    static List<TableIdentifier> tables(int thread)
    {
        return Stream.iterate(0, table -> table < TABLES, table -> table + 1)
                .map(table -> table("t" + thread + "_" + table))
                .collect(toImmutableList());
    }

    /**
     * The tables that a commit of a thread moves.
     */
    static List<TableIdentifier> tables(int thread, long number)
    {
        List<TableIdentifier> tables = new ArrayList<>(tables(thread));
        if (number == 1) {
            return tables;
        }
        Random random = new Random(number * THREADS + thread);
        Collections.shuffle(tables, random);
        return ImmutableList.copyOf(tables.subList(0, 1 + random.nextInt(TABLES)));
    }

    static CommitAuthor author(int thread, long number)
    {
        return new CommitAuthor("thread " + thread, Optional.of(String.valueOf(number)));
    }

    /**
     * The number of a thread's newest commit in a state, 0 before the first.
     */
    static long lastNumber(CatalogState state, int thread)
    {
        return tables(thread).stream()
                .flatMap(name -> state.find(name).stream())
                .mapToLong(pointer -> pointer.refs().get("main").snapshotId())
                .max()
                .orElse(0);
    }

    private static PointerCommit commit(CatalogState state, int thread, long number)
    {
        return PointerCommit.of(author(thread, number), tables(thread, number).stream()
                .map(name -> state.find(name)
                        .map(pointer -> move(name, pointer, number))
                        .orElseGet(() -> create(name, newTable(number))))
                .toArray(PointerChange[]::new));
    }
}
