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
package io.skade.ref;

import org.apache.iceberg.catalog.TableIdentifier;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

/**
 * Courtesy among those who commit to one table: whoever lost a race gets the next turn, and the others wait for it.
 *
 * <p>Iceberg builds a commit that lost a race anew, but only a few times. Commits to different branches of a table meet in the table's sequence numbers, so
 * without turns a writer among several can lose each time. A turn is for fairness only: what decides is the store's comparison. One that is not used is
 * over after a while, since nobody says so when a commit is given up.
 */
final class CommitTurns
{
    private static final long LEASE_NANOS = Duration.ofSeconds(1).toNanos();

    private final Map<TableIdentifier, Deque<Turn>> turns = new HashMap<>(); // guarded by this

    /**
     * Queues for the next turn on a table. Nothing changes if {@code owner} is in the queue.
     */
    synchronized void claim(TableIdentifier table, Object owner)
    {
        Deque<Turn> queue = turns.computeIfAbsent(table, _ -> new ArrayDeque<>());
        if (queue.stream().noneMatch(turn -> turn.owner == owner)) {
            queue.add(new Turn(owner));
        }
    }

    /**
     * Waits until it is {@code owner}'s turn; who has not queued waits until nobody has.
     */
    synchronized void await(TableIdentifier table, Object owner)
    {
        boolean interrupted = false;
        while (true) {
            Deque<Turn> queue = turns.get(table);
            Turn first = queue == null ? null : queue.peek();
            if (first == null || first.owner == owner) {
                break;
            }
            long remaining = first.remainingNanos();
            if (remaining <= 0) {
                end(table, first.owner);
                continue;
            }
            try {
                NANOSECONDS.timedWait(this, remaining);
            }
            catch (InterruptedException e) {
                interrupted = true;
                break;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Leaves the queue.
     */
    synchronized void end(TableIdentifier table, Object owner)
    {
        Deque<Turn> queue = turns.get(table);
        if (queue != null && queue.removeIf(turn -> turn.owner == owner)) {
            if (queue.isEmpty()) {
                turns.remove(table);
            }
            notifyAll();
        }
    }

    /**
     * A place in the queue. Its time runs from when somebody first waits for it.
     */
    private static final class Turn
    {
        private final Object owner;
        private long endNanos;
        private boolean started;

        private Turn(Object owner)
        {
            this.owner = owner;
        }

        private long remainingNanos()
        {
            if (!started) {
                started = true;
                endNanos = System.nanoTime() + LEASE_NANOS;
            }
            return endNanos - System.nanoTime();
        }
    }
}
