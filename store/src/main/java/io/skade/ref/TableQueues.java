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

import io.skade.store.GroupCommit;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * A {@link GroupCommit} for each table that somebody changes at the moment.
 */
final class TableQueues<T>
{
    private final Map<TableIdentifier, Queue<T>> queues = new ConcurrentHashMap<>();

    /**
     * @see GroupCommit#run
     */
    void run(TableIdentifier table, T work, Consumer<List<T>> worker)
    {
        Queue<T> queue = queues.compute(table, (_, present) -> present == null ? new Queue<>(new GroupCommit<>(), 1) : new Queue<>(present.commits(), present.users() + 1));
        try {
            queue.commits().run(work, worker);
        }
        finally {
            queues.computeIfPresent(table, (_, present) -> present.users() == 1 ? null : new Queue<>(present.commits(), present.users() - 1));
        }
    }

    private record Queue<T>(GroupCommit<T> commits, int users) {}
}
