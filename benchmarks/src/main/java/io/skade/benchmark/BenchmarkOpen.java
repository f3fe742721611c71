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
import io.skade.store.NamespaceChange;
import io.skade.store.PointerChange;
import io.skade.store.PointerCommit;
import io.skade.store.PointerStore;
import io.skade.store.RocksDbPointerStore;
import io.skade.store.TablePointer;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

import static io.skade.benchmark.Peers.NAMESPACE;

/**
 * A store of many tables against one of a single table: its start, its memory, and the work on it.
 */
final class BenchmarkOpen
        implements Part
{
    private static final int SCHEMAS = 100;
    private static final int TABLES_OF_SCHEMA = 1_000;
    private static final int REFS = 10;
    private static final int LOOKUPS = 10_000;
    private static final TableIdentifier TABLE = TableIdentifier.of(NAMESPACE, "t");
    private static final String SMALL = "1 table";
    private static final String LARGE = "100,000 tables";

    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        Map<String, Path> folders = new LinkedHashMap<>();
        for (String name : List.of(SMALL, LARGE)) {
            Path own = Workspace.create(folder.resolve(String.valueOf(folders.size())));
            folders.put(name, own);
            if (name.equals(LARGE)) {
                fill(own.resolve("store"));
            }
            try (SkadePeer peer = new SkadePeer(own)) {
                peer.createTables(List.of(TABLE), TableShape.USUAL);
            }
        }
        measureOpen(scale, folders, report);

        try (SkadePeer small = new SkadePeer(folders.get(SMALL))) {
            long before = usedHeap();
            try (SkadePeer large = new SkadePeer(folders.get(LARGE))) {
                report.add("open: heap of 100,000 tables", "MB", Map.of(LARGE, List.of((usedHeap() - before) / 1e6)));
                report.add("open: resolve %s refs".formatted(LOOKUPS), "ms", Rounds.run(scale, 1, List.of(resolve(SMALL, small), resolve(LARGE, large))));
                report.add("open: move", "ms", Rounds.run(scale, 1, List.of(move(SMALL, small), move(LARGE, large))));
            }
        }
    }

    private static void fill(Path folder)
    {
        try (PointerStore store = RocksDbPointerStore.open(Files.createDirectories(folder))) {
            for (int schema = 0; schema < SCHEMAS; schema++) {
                Namespace namespace = Namespace.of("schema_" + schema);
                ImmutableList.Builder<PointerChange> tables = ImmutableList.builder();
                for (int table = 0; table < TABLES_OF_SCHEMA; table++) {
                    tables.add(new PointerChange(TableIdentifier.of(namespace, "table_" + table), Optional.empty(), Optional.of(pointer(schema, table)), "create_table", ImmutableList.of()));
                }
                store.commit(new PointerCommit(
                        SkadePeer.AUTHOR,
                        ImmutableList.of(new NamespaceChange(namespace, Optional.empty(), Optional.of(Map.of()))),
                        tables.build()));
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TablePointer pointer(int schema, int table)
    {
        Map<String, SnapshotRef> refs = new TreeMap<>();
        refs.put(SnapshotRef.MAIN_BRANCH, SnapshotRef.branchBuilder(TableShape.snapshotId(table)).build());
        for (int ref = 1; ref < REFS; ref++) {
            refs.put("release_" + ref, SnapshotRef.tagBuilder(TableShape.snapshotId(table) - ref).build());
        }
        UUID uuid = new UUID(schema, table);
        return TablePointer.newTable(uuid.toString(), "file:///warehouse/schema_%s/table_%s/metadata/00012-%s.metadata.json".formatted(schema, table, uuid), refs);
    }

    private static void measureOpen(Scale scale, Map<String, Path> folders, Report report)
            throws Exception
    {
        ImmutableList.Builder<Contender> contenders = ImmutableList.builder();
        PointerStore[] open = new PointerStore[1];
        Contender.Action close = () -> {
            if (open[0] != null) {
                open[0].close();
            }
            open[0] = null;
        };
        folders.forEach((name, folder) -> contenders.add(new Contender(name, close, (_, _) -> open[0] = RocksDbPointerStore.open(folder.resolve("store")), 1)));
        Scale opens = new Scale(scale.quick(), Duration.ZERO, Duration.ZERO, scale.quick() ? 3 : 9);
        report.add("open: the store", "ms", Rounds.run(opens, 1, contenders.build()));
        close.run();
    }

    private static Contender resolve(String name, Peer peer)
    {
        String[] refs = new String[TableShape.USUAL.refs()];
        for (int number = 0; number < refs.length; number++) {
            refs[number] = TableShape.USUAL.ref(number);
        }
        return new Contender(name, (_, _) -> {
            long sum = 0;
            for (int lookup = 0; lookup < LOOKUPS; lookup++) {
                sum += peer.snapshotId(TABLE, refs[lookup % refs.length]);
            }
            if (sum == 0) {
                throw new IllegalStateException("Refs are at no snapshot");
            }
        });
    }

    private static Contender move(String name, Peer peer)
    {
        boolean[] created = new boolean[1];
        return new Contender(name, (_, _) -> {
            if (created[0]) {
                peer.dropTag(TABLE, "moving");
            }
            else {
                peer.createTag(TABLE, "moving", TableShape.snapshotId(0));
            }
            created[0] = !created[0];
        });
    }

    private static long usedHeap()
    {
        System.gc();
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
