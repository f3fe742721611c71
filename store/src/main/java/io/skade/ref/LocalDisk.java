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

import com.google.common.collect.ImmutableSet;
import io.airlift.log.Logger;
import io.skade.store.StoreException;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.StatisticsFile;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.io.FileIO;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.nio.file.StandardOpenOption.READ;
import static java.util.Objects.requireNonNull;

/**
 * The local disk of this machine. An object store makes a file durable when it is written; on a local disk it is the operating system that writes it out, at
 * some time of its own, unless it is forced to.
 */
public final class LocalDisk
{
    private static final Logger log = Logger.get(LocalDisk.class);

    /**
     * Where no location is local, or nobody cares about a power cut.
     */
    public static final LocalDisk NONE = new LocalDisk(_ -> Optional.empty(), Path.of("/"));

    private final Function<String, Optional<Path>> paths;
    private final Path root;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * @param paths the path of a location, empty if it is not local
     * @param root a folder that was there before, and is durable with all that lead to it
     */
    public LocalDisk(Function<String, Optional<Path>> paths, Path root)
    {
        this.root = requireNonNull(root, "root is null");
        this.paths = requireNonNull(paths, "paths is null");
    }

    /**
     * The path of a location, empty if it is not local.
     */
    Optional<Path> find(String location)
    {
        return paths.apply(location);
    }

    /**
     * Makes the files durable that a change of a table adds: data files, delete files, manifests and statistics, and the folders that lead to them. The
     * metadata file itself is not among them.
     *
     * @param before empty for a new table
     * @throws StoreException if the disk fails
     */
    void forceAdded(FileIO io, Optional<TableMetadata> before, TableMetadata after)
    {
        if (find(after.location()).isEmpty()) {
            return;
        }
        Set<String> locations = new HashSet<>();
        // new ones stand at the end
        after.snapshots().reversed().stream()
                .takeWhile(snapshot -> before.isEmpty() || before.get().snapshot(snapshot.snapshotId()) == null)
                .forEach(snapshot -> addFiles(io, after, snapshot, locations));
        Set<String> statisticsBefore = before.map(LocalDisk::statistics).orElseGet(ImmutableSet::of);
        statistics(after).stream()
                .filter(location -> !statisticsBefore.contains(location))
                .forEach(locations::add);
        force(locations);
    }

    private static Set<String> statistics(TableMetadata metadata)
    {
        return metadata.statisticsFiles().stream()
                .map(StatisticsFile::path)
                .collect(toImmutableSet());
    }

    private static void addFiles(FileIO io, TableMetadata metadata, Snapshot snapshot, Set<String> locations)
    {
        if (snapshot.manifestListLocation() != null) {
            locations.add(snapshot.manifestListLocation());
        }
        snapshot.allManifests(io).stream()
                .filter(manifest -> manifest.snapshotId() == snapshot.snapshotId())
                .map(ManifestFile::path)
                .forEach(locations::add);
        FileChanges.of(new BaseTable(new SnapshotTableOperations(metadata, io), metadata.location()), snapshot).added()
                .forEach(file -> locations.add(file.location()));
    }

    /**
     * Makes files durable that are local, and the folders that lead to them. One that another machine wrote on its own disk cannot be reached; that is logged once.
     *
     * @throws StoreException if the disk fails
     */
    public void force(Collection<String> locations)
    {
        Set<Path> folders = new HashSet<>();
        for (Path path : locations.stream().flatMap(location -> find(location).stream()).collect(toImmutableList())) {
            try {
                force(path);
            }
            catch (NoSuchFileException _) {
                if (warned.compareAndSet(false, true)) {
                    log.warn("Cannot make files durable that are not on this machine's disk, the first of them is %s", path);
                }
                continue;
            }
            catch (IOException e) {
                throw new StoreException("Cannot make %s durable: %s".formatted(path, e.getMessage()), e);
            }
            Path folder = path.getParent();
            while (folder != null && folders.add(folder)) {
                folder = folder.equals(root) ? null : folder.getParent();
            }
        }
        for (Path folder : folders) {
            try {
                force(folder);
            }
            catch (IOException e) {
                // one that nobody could have made in its place
                if (Files.isWritable(folder)) {
                    throw new StoreException("Cannot make %s durable: %s".formatted(folder, e.getMessage()), e);
                }
            }
        }
    }

    private static void force(Path path)
            throws IOException
    {
        try (FileChannel channel = FileChannel.open(path, READ)) {
            channel.force(true);
        }
    }
}
