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
import org.apache.iceberg.exceptions.CommitStateUnknownException;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The catalog's pointers, moved by compare-and-swap. Safe for use by many threads.
 */
public interface PointerStore
        extends AutoCloseable
{
    /**
     * The newest durable state. Takes no lock and reads nothing from disk.
     *
     * @throws StoreException if the store is closed
     */
    CatalogState state();

    /**
     * Applies all changes of a commit or none. When this returns {@link CommitResult.Committed} the commit is durable, and every
     * later call of {@link #state} sees it.
     *
     * @throws CommitStateUnknownException if writing failed in a way that leaves open whether the commit is durable. The caller
     *         must then not delete anything that the commit names
     * @throws StoreException if the store is closed or cannot write; nothing was changed
     */
    default CommitResult commit(PointerCommit commit)
    {
        return commit(ImmutableList.of(commit));
    }

    /**
     * Makes several commits one after the other, all or none, each with an entry in the log of its own. A document may stand in several of them.
     *
     * @param commits at least one
     * @return as {@link #commit(PointerCommit)}, with the id of the last entry
     * @throws CommitStateUnknownException as {@link #commit(PointerCommit)}
     * @throws StoreException as {@link #commit(PointerCommit)}
     */
    CommitResult commit(List<PointerCommit> commits);

    /**
     * The whole log, newest first, at most {@code limit} entries.
     */
    List<LogEntry> log(int limit);

    /**
     * The log of one pointer, newest first, at most {@code limit} entries. Entries hold the other tables of their commits too.
     */
    List<LogEntry> log(UUID pointerId, int limit);

    /**
     * The pointers whose metadata document the store keeps, by their ids, each with the location of the document: that of its present metadata file. Takes
     * no lock and reads nothing from disk.
     */
    Map<UUID, String> keptDocuments();

    /**
     * The document that is kept for a pointer.
     */
    Optional<MetadataDocument> document(UUID pointerId);

    /**
     * Stops keeping documents whose files are durable. One that a later commit brought for the same pointer stays.
     *
     * @param locations by the ids of their pointers
     * @throws StoreException if the store is closed or cannot write
     */
    void forgetDocuments(Map<UUID, String> locations);

    /**
     * Takes the oldest entries from the log, up to the first one that is not older than {@code before}. The newest entry of all stays.
     *
     * @return how many entries were taken
     * @throws StoreException if the store is closed or cannot write; some entries may be gone then
     */
    int trimLog(Instant before);

    /**
     * Adds a backup to a folder of the local disk, which is made if it is absent. It has every commit that was acknowledged before the call, and of those
     * that are made meanwhile all up to some one. Commits go on. What a backup has in common with those before it in the folder is not written again.
     * One backup is made at a time.
     *
     * @throws StoreException if the store is closed, the folder holds backups of another store, or the backup cannot be written; the backups that
     *         were there before are as they were
     */
    void backup(Path folder);

    /**
     * Waits for the calls in flight, then closes. Calls made afterwards throw {@link StoreException}. Closing twice is allowed.
     */
    @Override
    void close();
}
