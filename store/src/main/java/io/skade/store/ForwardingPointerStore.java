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

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

import static java.util.Objects.requireNonNull;

/**
 * A pointer store that leaves everything to another one, for those that change a part of it.
 */
public abstract class ForwardingPointerStore
        implements PointerStore
{
    private final PointerStore store;

    protected ForwardingPointerStore(PointerStore store)
    {
        this.store = requireNonNull(store, "store is null");
    }

    protected final PointerStore delegate()
    {
        return store;
    }

    @Override
    public CatalogState state()
    {
        return store.state();
    }

    @Override
    public CommitResult commit(List<PointerCommit> commits)
    {
        return store.commit(commits);
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
}
