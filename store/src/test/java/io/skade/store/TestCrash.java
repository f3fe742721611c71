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

import io.skade.store.LogEntry.TableChange;
import org.apache.iceberg.catalog.TableIdentifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

import static io.skade.store.TestingPointers.refs;
import static java.lang.Math.toIntExact;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that commits without pause is killed at a random moment, again and again: what it acknowledged is there, and nothing is half there.
 *
 * <p>{@code -Dskade.test.crash-rounds=..} makes it longer, {@code -Dskade.test.seed=..} repeats its choices.
 */
class TestCrash
{
    @TempDir
    private Path temporary;

    @Test
    void testKilledWriter()
            throws Exception
    {
        int rounds = Integer.getInteger("skade.test.crash-rounds", 20);
        long seed = Long.getLong("skade.test.seed", System.nanoTime());
        System.out.println("TestCrash: seed " + seed);
        Random random = new Random(seed);
        Path folder = temporary.resolve("store");

        long[] acknowledged = new long[CrashingWriter.THREADS];
        long total = 0;
        for (int round = 0; round < rounds; round++) {
            String where = "seed %s, round %s".formatted(seed, round);
            long killAfter = random.nextInt(150);
            long killDelayNanos = random.nextInt(2_000_000);
            try (ChildJvm writer = ChildJvm.start(CrashingWriter.class, temporary, folder.toString())) {
                for (long read = 0; read < killAfter; read++) {
                    acknowledge(acknowledged, writer.readLine(), where);
                }
                // to meet a commit anywhere between its begin and its end
                LockSupport.parkNanos(killDelayNanos);
                writer.kill();
                for (String line = writer.readLine(); line != null; line = writer.readLine()) {
                    acknowledge(acknowledged, line, where);
                }
                assertThat(writer.exitCode()).as(where).isEqualTo(128 + 9);
            }
            try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
                assertWhole(store, acknowledged, where);
            }
            total = acknowledged[0] + acknowledged[1] + acknowledged[2];
        }
        assertThat(total).isGreaterThan(10L * rounds);
    }

    private static void acknowledge(long[] acknowledged, String line, String where)
    {
        assertThat(line).as(where).isNotNull();
        String[] parts = line.split(" ");
        int thread = Integer.parseInt(parts[0]);
        assertThat(Long.parseLong(parts[1])).as(where).isGreaterThan(acknowledged[thread]);
        acknowledged[thread] = Long.parseLong(parts[1]);
    }

    private static void assertWhole(PointerStore store, long[] acknowledged, String where)
    {
        CatalogState state = store.state();
        List<LogEntry> log = store.log(Integer.MAX_VALUE).reversed();
        assertThat(log).as(where).hasSize(toIntExact(state.lastLogId()));

        // each entry is one whole commit, and each thread's commits are there in their order without a gap
        long[] numbers = new long[CrashingWriter.THREADS];
        Map<TableIdentifier, Integer> moves = new HashMap<>();
        Map<TableIdentifier, Long> steps = new HashMap<>();
        for (int i = 0; i < log.size(); i++) {
            LogEntry entry = log.get(i);
            assertThat(entry.logId()).as(where).isEqualTo(i + 1);
            int thread = Integer.parseInt(entry.author().user().substring("thread ".length()));
            long number = ++numbers[thread];
            assertThat(entry.author()).as(where).isEqualTo(CrashingWriter.author(thread, number));
            assertThat(entry.tables()).as(where).extracting(TableChange::name).isEqualTo(CrashingWriter.tables(thread, number));
            for (TableChange table : entry.tables()) {
                assertThat(table.metadataLocation()).as(where).contains(number + ".metadata.json");
                moves.merge(table.name(), 1, Integer::sum);
                steps.put(table.name(), number);
            }
        }
        for (int thread = 0; thread < CrashingWriter.THREADS; thread++) {
            assertThat(numbers[thread]).as("%s, thread %s", where, thread).isGreaterThanOrEqualTo(acknowledged[thread]);
            // at most the one in flight was not acknowledged any more
            assertThat(numbers[thread]).as("%s, thread %s", where, thread).isLessThanOrEqualTo(acknowledged[thread] + 1);
            acknowledged[thread] = numbers[thread];
        }

        // the pointers are what the log says
        for (int thread = 0; thread < CrashingWriter.THREADS; thread++) {
            for (TableIdentifier name : CrashingWriter.tables(thread)) {
                Optional<TablePointer> found = state.find(name);
                assertThat(found.isPresent()).as(where).isEqualTo(steps.containsKey(name));
                if (found.isPresent()) {
                    TablePointer pointer = found.get();
                    assertThat(pointer.metadataLocation()).as(where).isEqualTo(steps.get(name) + ".metadata.json");
                    assertThat(pointer.refs()).as(where).isEqualTo(refs(steps.get(name)));
                    assertThat(pointer.version()).as(where).isEqualTo(moves.get(name) - 1);
                    assertThat(store.log(pointer.id(), Integer.MAX_VALUE)).as(where).hasSize(moves.get(name));
                }
            }
        }
    }
}
