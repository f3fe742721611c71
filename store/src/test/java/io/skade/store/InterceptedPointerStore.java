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

import org.apache.iceberg.exceptions.CommitStateUnknownException;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;

import static java.util.Objects.requireNonNull;

/**
 * A pointer store whose next commits go another way than straight into the store behind it.
 */
public final class InterceptedPointerStore
        implements PointerStore
{
    private final PointerStore store;
    private final Queue<Interceptor> interceptors = new ConcurrentLinkedQueue<>();

    public InterceptedPointerStore(PointerStore store)
    {
        this.store = requireNonNull(store, "store is null");
    }

    /**
     * Adds what becomes of one more commit.
     */
    public InterceptedPointerStore intercept(Interceptor interceptor)
    {
        interceptors.add(interceptor);
        return this;
    }

    /**
     * One commit meets what the action does just before it.
     */
    public InterceptedPointerStore interfere(Runnable action)
    {
        return intercept(commit -> {
            action.run();
            return store.commit(commit);
        });
    }

    /**
     * One commit fails with an unknown outcome, and is not made.
     */
    public InterceptedPointerStore failBefore()
    {
        return intercept(_ -> {
            throw new CommitStateUnknownException(new RuntimeException("no answer"));
        });
    }

    /**
     * One commit fails with an unknown outcome, and is made.
     */
    public InterceptedPointerStore failAfter()
    {
        return intercept(commit -> {
            store.commit(commit);
            throw new CommitStateUnknownException(new RuntimeException("no answer"));
        });
    }

    @Override
    public CommitResult commit(PointerCommit commit)
    {
        Interceptor interceptor = interceptors.poll();
        return interceptor == null ? store.commit(commit) : interceptor.commit(commit);
    }

    @Override
    public CatalogState state()
    {
        return store.state();
    }

    @Override
    public List<LogEntry> log(int limit)
    {
        return store.log(limit);
    }

    @Override
    public List<LogEntry> log(UUID pointerId, int limit)
    {
        return store.log(pointerId, limit);
    }

    @Override
    public Map<UUID, String> keptDocuments()
    {
        return store.keptDocuments();
    }

    @Override
    public Optional<MetadataDocument> document(UUID pointerId)
    {
        return store.document(pointerId);
    }

    @Override
    public void forgetDocuments(Map<UUID, String> locations)
    {
        store.forgetDocuments(locations);
    }

    @Override
    public int trimLog(Instant before)
    {
        return store.trimLog(before);
    }

    @Override
    public void backup(Path folder)
    {
        store.backup(folder);
    }

    @Override
    public void close()
    {
        store.close();
    }

    public interface Interceptor
    {
        CommitResult commit(PointerCommit commit);
    }
}
