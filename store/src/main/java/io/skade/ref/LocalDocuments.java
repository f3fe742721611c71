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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;
import com.google.common.collect.Sets;
import io.airlift.log.Logger;
import io.skade.store.MetadataDocument;
import io.skade.store.PointerStore;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.util.Objects.requireNonNull;

/**
 * Metadata files on the local disk, and the documents that the store keeps of them until they are durable.
 */
public final class LocalDocuments
{
    private static final Logger log = Logger.get(LocalDocuments.class);

    private final PointerStore store;
    private final LocalDisk disk;
    private Set<String> missingBefore = ImmutableSet.of(); // guarded by this

    public LocalDocuments(PointerStore store, LocalDisk disk)
    {
        this.store = requireNonNull(store, "store is null");
        this.disk = requireNonNull(disk, "disk is null");
    }

    /**
     * Writes again what a power cut took of the files whose documents are kept.
     *
     * @return how many files were missing, short or damaged
     * @throws UncheckedIOException if a file cannot be written
     */
    public int restore()
    {
        int restored = 0;
        for (UUID id : store.keptDocuments().keySet()) {
            Optional<MetadataDocument> document = store.document(id);
            Optional<Path> path = document.flatMap(value -> disk.find(value.location()));
            if (path.isPresent() && !isIntact(path.get(), document.get().content())) {
                write(path.get(), document.get().content());
                log.warn("Restored metadata file %s: it was missing, short or damaged", path.get());
                restored++;
            }
        }
        return restored;
    }

    private static boolean isIntact(Path path, byte[] content)
    {
        try {
            return size(path) == content.length && Arrays.equals(Files.readAllBytes(path), content);
        }
        catch (IOException e) {
            throw new UncheckedIOException("Cannot read %s: %s".formatted(path, e.getMessage()), e);
        }
    }

    private static void write(Path path, byte[] content)
    {
        try {
            Files.createDirectories(path.getParent());
            // another catalog on the same store may do the same
            Path whole = Files.write(path.resolveSibling("%s.%s.restored".formatted(path.getFileName(), UUID.randomUUID())), content);
            Files.move(whole, path, ATOMIC_MOVE, REPLACE_EXISTING);
        }
        catch (IOException e) {
            throw new UncheckedIOException("Cannot restore %s: %s".formatted(path, e.getMessage()), e);
        }
    }

    /**
     * The document for a location, if the store keeps it.
     */
    public static Optional<MetadataDocument> find(PointerStore store, String location)
    {
        return store.keptDocuments().entrySet().stream()
                .filter(entry -> entry.getValue().equals(location))
                .findFirst()
                .flatMap(entry -> store.document(entry.getKey()))
                .filter(document -> document.location().equals(location));
    }

    /**
     * Makes the files durable whose documents are kept, and ends the keeping. A file that was missing or short the last time as well is written: whoever made the
     * commit could not.
     *
     * @return how many documents the store does not keep any more
     * @throws UncheckedIOException if the disk fails
     */
    public synchronized int settle()
    {
        Map<UUID, String> local = new HashMap<>(store.keptDocuments());
        local.values().removeIf(location -> disk.find(location).isEmpty());
        Map<UUID, String> written = written(local);
        Set<String> missing = ImmutableSet.copyOf(Sets.difference(ImmutableSet.copyOf(local.values()), ImmutableSet.copyOf(written.values())));
        if (missing.stream().anyMatch(missingBefore::contains)) {
            restore();
            written = written(local);
        }
        missingBefore = missing;
        if (!written.isEmpty()) {
            disk.force(ImmutableList.copyOf(written.values()));
            store.forgetDocuments(written);
        }
        return written.size();
    }

    /**
     * Those of which the file has the length of its document. A shorter one is about to be written, or the disk took no more of it.
     */
    private Map<UUID, String> written(Map<UUID, String> locations)
    {
        return ImmutableMap.copyOf(Maps.filterEntries(locations, entry -> store.document(entry.getKey())
                .filter(document -> document.location().equals(entry.getValue()))
                .filter(document -> size(disk.find(document.location()).orElseThrow()) == document.length())
                .isPresent()));
    }

    /**
     * The length of a file, -1 if there is none.
     */
    private static long size(Path path)
    {
        try {
            return Files.size(path);
        }
        catch (NoSuchFileException _) {
            return -1;
        }
        catch (IOException e) {
            throw new UncheckedIOException("Cannot read %s: %s".formatted(path, e.getMessage()), e);
        }
    }
}
