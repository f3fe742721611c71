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

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestGroupCommit
{
    private final GroupCommit<Integer> group = new GroupCommit<>();

    private static void awaitSleep(Thread thread)
    {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    private static void await(CountDownLatch latch)
    {
        try {
            latch.await();
        }
        catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void testAlone()
    {
        List<List<Integer>> groups = new ArrayList<>();
        group.run(1, groups::add);
        group.run(2, groups::add);
        assertThat(groups).containsExactly(List.of(1), List.of(2));
    }

    /**
     * What comes during a work is done together, in its order, by the first of them.
     */
    @Test
    void testWorkIsShared()
            throws Exception
    {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        List<List<Integer>> groups = new ArrayList<>();
        List<Thread> workers = new ArrayList<>();
        List<FutureTask<Void>> tasks = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            FutureTask<Void> task = new FutureTask<>(() -> {
                group.run(number, works -> {
                    groups.add(works);
                    workers.add(Thread.currentThread());
                    if (number == 0) {
                        entered.countDown();
                        await(released);
                    }
                });
                return null;
            });
            tasks.add(task);
            threads.add(Thread.ofPlatform().start(task));
            entered.await();
            awaitSleep(threads.getLast());
        }
        released.countDown();
        for (FutureTask<Void> task : tasks) {
            task.get();
        }
        assertThat(groups).containsExactly(List.of(0), List.of(1, 2, 3));
        assertThat(workers).containsExactly(threads.get(0), threads.get(1));
    }

    @Test
    void testFailure()
            throws Exception
    {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        FutureTask<Void> failing = new FutureTask<>(() -> {
            group.run(0, _ -> {
                entered.countDown();
                await(released);
                throw new IllegalStateException("no");
            });
            return null;
        });
        Thread.ofPlatform().start(failing);
        entered.await();
        List<List<Integer>> groups = new ArrayList<>();
        FutureTask<Void> next = new FutureTask<>(() -> {
            group.run(1, groups::add);
            return null;
        });
        Thread waiting = Thread.ofPlatform().start(next);
        awaitSleep(waiting);
        // an interrupt does not end the wait, and is not lost
        FutureTask<Boolean> interrupted = new FutureTask<>(() -> {
            group.run(2, groups::add);
            return Thread.interrupted();
        });
        Thread interruptedThread = Thread.ofPlatform().start(interrupted);
        awaitSleep(interruptedThread);
        interruptedThread.interrupt();
        released.countDown();
        assertThatThrownBy(failing::get).hasRootCauseMessage("no");
        next.get();
        assertThat(interrupted.get()).isTrue();
        assertThat(groups).containsExactly(List.of(1, 2));
    }

    /**
     * Every work is done once, and by one thread at a time.
     */
    @Test
    void testManyThreads()
            throws Exception
    {
        Set<Integer> done = new HashSet<>();
        AtomicInteger inside = new AtomicInteger();
        List<FutureTask<Void>> tasks = IntStream.range(0, 8)
                .mapToObj(thread -> new FutureTask<Void>(() -> {
                    for (int i = 0; i < 5_000; i++) {
                        group.run(thread * 5_000 + i, works -> {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            works.forEach(work -> assertThat(done.add(work)).isTrue());
                            inside.decrementAndGet();
                        });
                    }
                    return null;
                }))
                .toList();
        tasks.forEach(task -> Thread.ofPlatform().start(task));
        for (FutureTask<Void> task : tasks) {
            task.get();
        }
        assertThat(done).hasSize(8 * 5_000);
    }
}
