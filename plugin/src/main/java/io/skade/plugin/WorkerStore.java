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
package io.skade.plugin;

import io.skade.store.CatalogState;
import io.skade.store.CommitResult;
import io.skade.store.LogEntry;
import io.skade.store.MetadataDocument;
import io.skade.store.PointerCommit;
import io.skade.store.PointerStore;
import io.skade.store.StoreException;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * What a worker has in place of a store: only the coordinator opens one.
 */
final class WorkerStore
        implements PointerStore
{
    @Override
    public CatalogState state()
    {
        throw notHere();
    }

    @Override
    public CommitResult commit(List<PointerCommit> commits)
    {
        throw notHere();
    }

    @Override
    public List<LogEntry> log(int limit)
    {
        throw notHere();
    }

    @Override
    public List<LogEntry> log(UUID pointerId, int limit)
    {
        throw notHere();
    }

    @Override
    public Map<UUID, String> keptDocuments()
    {
        throw notHere();
    }

    @Override
    public Optional<MetadataDocument> document(UUID pointerId)
    {
        throw notHere();
    }

    @Override
    public void forgetDocuments(Map<UUID, String> locations)
    {
        throw notHere();
    }

    @Override
    public int trimLog(Instant before)
    {
        throw notHere();
    }

    @Override
    public void backup(Path folder)
    {
        throw notHere();
    }

    @Override
    public void close() {}

    private static StoreException notHere()
    {
        return new StoreException("The pointer store is on the coordinator, this is a worker");
    }
}
