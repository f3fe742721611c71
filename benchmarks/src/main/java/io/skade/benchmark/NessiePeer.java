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
package io.skade.benchmark;

import com.google.common.collect.ImmutableList;
import org.apache.iceberg.catalog.TableIdentifier;
import org.projectnessie.model.CommitMeta;
import org.projectnessie.model.ContentKey;
import org.projectnessie.model.IcebergTable;
import org.projectnessie.model.Namespace;
import org.projectnessie.model.Operation;
import org.projectnessie.model.Operation.Put;
import org.projectnessie.versioned.BranchName;
import org.projectnessie.versioned.ContentResult;
import org.projectnessie.versioned.GetNamedRefsParams;
import org.projectnessie.versioned.Hash;
import org.projectnessie.versioned.ReferenceInfo;
import org.projectnessie.versioned.ReferenceNotFoundException;
import org.projectnessie.versioned.TagName;
import org.projectnessie.versioned.VersionStore;
import org.projectnessie.versioned.VersionStoreException;
import org.projectnessie.versioned.paging.PaginationIterator;
import org.projectnessie.versioned.storage.cache.CacheConfig;
import org.projectnessie.versioned.storage.cache.PersistCaches;
import org.projectnessie.versioned.storage.common.config.StoreConfig;
import org.projectnessie.versioned.storage.common.logic.Logics;
import org.projectnessie.versioned.storage.common.persist.Persist;
import org.projectnessie.versioned.storage.rocksdb.RocksDBBackend;
import org.projectnessie.versioned.storage.rocksdb.RocksDBBackendConfig;
import org.projectnessie.versioned.storage.versionstore.VersionStoreImpl;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * Nessie's version store on its RocksDB, without a server. It has no refs of a table: a named reference is at a commit of the whole catalog, which has
 * the pointers of all tables. Snapshot {@code i} of the tables is in a commit of its own on {@code main}, and each of their refs is a named reference at
 * such a commit.
 */
final class NessiePeer
        implements Peer
{
    // as in its server: objects are kept in memory, references are not
    private static final long CACHE_MB = 256;
    // who loses a race tries again soon, as with the others
    private static final StoreConfig CONFIG = StoreConfig.Adjustable.empty()
            .withRetryInitialSleepMillisLower(1)
            .withRetryInitialSleepMillisUpper(5)
            .withRetryMaxSleepMillis(5);
    private static final CommitMeta META = CommitMeta.builder().author("benchmark").message("benchmark").build();

    private final RocksDBBackend backend;
    private final VersionStore store;
    private final Path warehouse;
    // by snapshot id
    private final Map<Long, Hash> commits = new ConcurrentHashMap<>();

    NessiePeer(Path folder)
    {
        this.warehouse = folder.resolve("warehouse");
        this.backend = new RocksDBBackend(RocksDBBackendConfig.builder().databasePath(folder.resolve("store")).build());
        backend.setupSchema();
        Persist persist = PersistCaches.newBackend(CacheConfig.builder().capacityMb(CACHE_MB).build())
                .wrap(backend.createFactory().newPersist(CONFIG));
        Logics.repositoryLogic(persist).initialize(MAIN_BRANCH);
        this.store = new VersionStoreImpl(persist);
        Namespace namespace = Namespace.of(Peers.NAMESPACE.levels());
        call(() -> store.commit(BranchName.of(MAIN_BRANCH), Optional.empty(), META, ImmutableList.of(Put.of(namespace.toContentKey(), namespace))));
    }

    /**
     * Once only: a ref is at a commit that has all tables.
     */
    @Override
    public void createTables(List<TableIdentifier> tables, TableShape shape)
    {
        Map<ContentKey, String> contentIds = new HashMap<>();
        for (int number = 0; number < shape.snapshots(); number++) {
            ImmutableList.Builder<Operation> puts = ImmutableList.builder();
            for (TableIdentifier table : tables) {
                ContentKey key = key(table);
                String file = "%s/metadata/%05d.metadata.json".formatted(warehouse.resolve(table.namespace().toString()).resolve(table.name()), number);
                puts.add(Put.of(key, IcebergTable.of(file, TableShape.snapshotId(number), 0, 0, 0, contentIds.get(key))));
            }
            Hash commit = call(() -> store.commit(BranchName.of(MAIN_BRANCH), Optional.empty(), META, puts.build(), _ -> {}, contentIds::put)).getCommitHash();
            commits.put(TableShape.snapshotId(number), commit);
        }
        for (int number = 0; number < shape.refs(); number++) {
            String ref = shape.ref(number);
            Hash commit = commits.get(TableShape.snapshotId(number % shape.snapshots()));
            boolean branch = number < shape.branches();
            call(() -> store.create(branch ? BranchName.of(ref) : TagName.of(ref), Optional.of(commit)));
        }
    }

    @Override
    public long snapshotId(TableIdentifier table, String ref)
    {
        ContentResult result = call(() -> store.getValue(hash(ref), key(table), false));
        return ((IcebergTable) result.content()).getSnapshotId();
    }

    /**
     * The commits of the named references.
     */
    @Override
    public Map<String, Hash> refs(TableIdentifier table)
    {
        Map<String, Hash> refs = new TreeMap<>();
        try (PaginationIterator<ReferenceInfo<CommitMeta>> references = call(() -> store.getNamedRefs(GetNamedRefsParams.DEFAULT, null))) {
            references.forEachRemaining(reference -> refs.put(reference.getNamedRef().getName(), reference.getHash()));
        }
        return refs;
    }

    @Override
    public void createTag(TableIdentifier table, String tag, long snapshotId)
    {
        call(() -> store.create(TagName.of(tag), Optional.of(commits.get(snapshotId))));
    }

    @Override
    public void dropTag(TableIdentifier table, String tag)
    {
        call(() -> store.delete(TagName.of(tag), hash(tag)));
    }

    /**
     * One commit that puts the pointers of the tables, and leaves those of all others.
     */
    @Override
    public void fastForward(List<TableIdentifier> tables, String branch, String to)
    {
        call(() -> put(tables, branch, hash(to)));
    }

    @Override
    public void setBranch(List<TableIdentifier> tables, String branch, long snapshotId)
    {
        Hash commit = commits.get(snapshotId);
        call(() -> {
            try {
                return put(tables, branch, commit);
            }
            catch (ReferenceNotFoundException _) {
                return store.create(BranchName.of(branch), Optional.of(commit));
            }
        });
    }

    /**
     * Moves a branch to where a ref is: with all tables of the catalog.
     */
    void assign(String branch, String to)
    {
        call(() -> store.assign(BranchName.of(branch), hash(branch), hash(to)));
    }

    private Hash put(List<TableIdentifier> tables, String branch, Hash from)
            throws VersionStoreException
    {
        Hash expected = hash(branch);
        List<ContentKey> keys = tables.stream().map(NessiePeer::key).collect(toImmutableList());
        ImmutableList.Builder<Operation> puts = ImmutableList.builder();
        store.getValues(from, keys, false).forEach((key, value) -> puts.add(Put.of(key, value.content())));
        return store.commit(BranchName.of(branch), Optional.of(expected), META, puts.build()).getCommitHash();
    }

    private Hash hash(String ref)
            throws ReferenceNotFoundException
    {
        return store.getNamedRef(ref, GetNamedRefsParams.DEFAULT).getHash();
    }

    private static ContentKey key(TableIdentifier table)
    {
        return ContentKey.of(table.namespace().level(0), table.name());
    }

    private static <T> T call(Call<T> call)
    {
        try {
            return call.run();
        }
        catch (VersionStoreException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close()
    {
        backend.close();
    }

    private interface Call<T>
    {
        T run()
                throws VersionStoreException;
    }
}
