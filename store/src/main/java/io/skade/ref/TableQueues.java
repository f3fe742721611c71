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

import com.google.common.collect.ImmutableList;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Queues of those who change the same table at the same moment. Whoever comes first does the work of all who came while the work before was done.
 */
final class TableQueues<T extends TableQueues.Work>
{
    private final Map<TableIdentifier, Queue<T>> queues = new ConcurrentHashMap<>();

    interface Work
    {
        /**
         * Called by one thread at a time, and after the work by another.
         */
        boolean isDone();
    }

    /**
     * Returns when the work is done, be it in this thread or in another.
     *
     * @param worker does all the work it is given
     */
    void run(TableIdentifier table, T work, Consumer<List<T>> worker)
    {
        Queue<T> queue = queues.compute(table, (_, present) -> (present == null ? new Queue<T>() : present).enter(work));
        queue.lock.lock();
        try {
            if (!work.isDone()) {
                worker.accept(queue.takeAll());
            }
        }
        finally {
            queue.lock.unlock();
            queues.computeIfPresent(table, (_, present) -> present.leave() ? null : present);
        }
    }

    private static final class Queue<T>
    {
        private final ReentrantLock lock = new ReentrantLock();
        private final List<T> waiting = new ArrayList<>(); // guarded by this
        private int users; // guarded by this

        synchronized Queue<T> enter(T work)
        {
            users++;
            waiting.add(work);
            return this;
        }

        synchronized List<T> takeAll()
        {
            List<T> taken = ImmutableList.copyOf(waiting);
            waiting.clear();
            return taken;
        }

        /**
         * Whether nobody uses the queue any more.
         */
        synchronized boolean leave()
        {
            users--;
            return users == 0;
        }
    }
}
