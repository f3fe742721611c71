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

import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.SupportsNamespaces;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.io.FileIO;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

import static io.skade.benchmark.Peers.NAMESPACE;
import static java.util.Objects.requireNonNull;

/**
 * A catalog as Iceberg's API shows it. It has no commit of many tables.
 */
final class CatalogPeer
        implements Peer
{
    private final Catalog catalog;
    private final FileIO io;
    private final Path warehouse;
    // writers keep their tables loaded; a commit refreshes them
    private final ThreadLocal<Map<TableIdentifier, Table>> tables = ThreadLocal.withInitial(HashMap::new);

    /**
     * @param catalog closed with this
     */
    CatalogPeer(Catalog catalog, FileIO io, Path warehouse)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.io = requireNonNull(io, "io is null");
        this.warehouse = requireNonNull(warehouse, "warehouse is null");
        ((SupportsNamespaces) catalog).createNamespace(NAMESPACE);
    }

    @Override
    public void createTables(List<TableIdentifier> tables, TableShape shape)
    {
        tables.forEach(table -> Peers.register(catalog, io, warehouse, table, shape));
    }

    @Override
    public long snapshotId(TableIdentifier table, String ref)
    {
        return catalog.loadTable(table).refs().get(ref).snapshotId();
    }

    @Override
    public Map<String, SnapshotRef> refs(TableIdentifier table)
    {
        return new TreeMap<>(catalog.loadTable(table).refs());
    }

    @Override
    public void createTag(TableIdentifier table, String tag, long snapshotId)
    {
        change(table, loaded -> loaded.manageSnapshots().createTag(tag, snapshotId).commit());
    }

    @Override
    public void dropTag(TableIdentifier table, String tag)
    {
        change(table, loaded -> loaded.manageSnapshots().removeTag(tag).commit());
    }

    @Override
    public void fastForward(List<TableIdentifier> tables, String branch, String to)
    {
        for (TableIdentifier table : tables) {
            change(table, loaded -> loaded.manageSnapshots().fastForwardBranch(branch, to).commit());
        }
    }

    @Override
    public void setBranch(List<TableIdentifier> tables, String branch, long snapshotId)
    {
        for (TableIdentifier table : tables) {
            change(table, loaded -> {
                if (loaded.refs().containsKey(branch)) {
                    loaded.manageSnapshots().replaceBranch(branch, snapshotId).commit();
                }
                else {
                    loaded.manageSnapshots().createBranch(branch, snapshotId).commit();
                }
            });
        }
    }

    /**
     * Iceberg does not repeat a change of refs that lost a race.
     */
    private void change(TableIdentifier name, Consumer<Table> change)
    {
        Table table = loaded(name);
        while (true) {
            try {
                change.accept(table);
                return;
            }
            catch (CommitFailedException _) {
                table.refresh();
            }
        }
    }

    private Table loaded(TableIdentifier table)
    {
        return tables.get().computeIfAbsent(table, catalog::loadTable);
    }

    @Override
    public void close()
    {
        if (catalog instanceof Closeable closeable) {
            try {
                closeable.close();
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
