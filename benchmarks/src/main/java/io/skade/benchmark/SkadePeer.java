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

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import io.skade.catalog.PointerCatalog;
import io.skade.ref.LocalDisk;
import io.skade.ref.LocalDocuments;
import io.skade.ref.MetadataFiles;
import io.skade.ref.RefCommitter;
import io.skade.ref.RefUpdate;
import io.skade.ref.RefUpdates;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.RefUpdates.IfMissing;
import io.skade.ref.Retention;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.ref.SnapshotSelector.AtSnapshot;
import io.skade.store.CommitAuthor;
import io.skade.store.PointerStore;
import io.skade.store.RocksDbPointerStore;
import io.skade.store.TablePointer;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.FileIO;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import static io.skade.benchmark.Peers.NAMESPACE;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * Skade's store, put together as the plugin does it, with {@code skade.local-sync} on.
 */
final class SkadePeer
        implements Peer
{
    static final CommitAuthor AUTHOR = new CommitAuthor("benchmark", Optional.of("20260101_000000_00000_aaaaa"));

    private static final long CACHE_BYTES = 256L << 20;
    private static final long SETTLE_SECONDS = 5;

    private final FileIO io = new LocalFiles();
    private final Path warehouse;
    private final PointerStore store;
    private final RefCommitter committer;
    // as in the plugin: metadata files become durable in the background
    private final ScheduledExecutorService maintenance = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());

    SkadePeer(Path folder)
    {
        this(folder, RocksDbPointerStore.open(folder.resolve("store")));
    }

    private SkadePeer(Path folder, PointerStore store)
    {
        this.store = requireNonNull(store, "store is null");
        this.warehouse = folder.resolve("warehouse");
        try {
            Files.createDirectories(warehouse);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        LocalDisk disk = new LocalDisk(location -> Optional.of(LocalFiles.path(location)), warehouse);
        this.committer = new RefCommitter(store, new MetadataFiles(CACHE_BYTES, location -> LocalDocuments.find(store, location)), disk);
        LocalDocuments documents = new LocalDocuments(store, disk);
        maintenance.scheduleWithFixedDelay(documents::settle, SETTLE_SECONDS, SETTLE_SECONDS, SECONDS);
        PointerCatalog catalog = catalog();
        if (!catalog.namespaceExists(NAMESPACE)) {
            catalog.createNamespace(NAMESPACE);
        }
    }

    PointerStore store()
    {
        return store;
    }

    private PointerCatalog catalog()
    {
        return new PointerCatalog("lake", committer, io, AUTHOR, ImmutableMap.of(CatalogProperties.WAREHOUSE_LOCATION, warehouse.toString()));
    }

    @Override
    public void createTables(List<TableIdentifier> tables, TableShape shape)
    {
        tables.forEach(table -> Peers.register(catalog(), io, warehouse, table, shape));
    }

    @Override
    public long snapshotId(TableIdentifier table, String ref)
    {
        return pointer(table).refs().get(ref).snapshotId();
    }

    @Override
    public Map<String, SnapshotRef> refs(TableIdentifier table)
    {
        return pointer(table).refs();
    }

    private TablePointer pointer(TableIdentifier table)
    {
        return store.state().find(table).orElseThrow();
    }

    @Override
    public void createTag(TableIdentifier table, String tag, long snapshotId)
    {
        commit(List.of(table), RefUpdates.createTag(tag, new AtSnapshot(snapshotId), Retention.DEFAULT, IfExists.REFUSE));
    }

    @Override
    public void dropTag(TableIdentifier table, String tag)
    {
        commit(List.of(table), RefUpdates.dropRef(tag, IfMissing.REFUSE));
    }

    @Override
    public void fastForward(List<TableIdentifier> tables, String branch, String to)
    {
        commit(tables, RefUpdates.fastForward(branch, new AtRef(to), OptionalLong.empty()));
    }

    @Override
    public void setBranch(List<TableIdentifier> tables, String branch, long snapshotId)
    {
        commit(tables, RefUpdates.createBranch(branch, new AtSnapshot(snapshotId), Retention.DEFAULT, IfExists.REPLACE));
    }

    private void commit(List<TableIdentifier> tables, RefUpdate update)
    {
        committer.commit(io, AUTHOR, Maps.toMap(tables, _ -> update));
    }

    @Override
    public void close()
    {
        maintenance.shutdownNow();
        try {
            maintenance.awaitTermination(10, SECONDS);
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        store.close();
    }
}
