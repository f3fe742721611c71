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

import com.fasterxml.jackson.core.JacksonException;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.base.Throwables;
import io.skade.ref.MetadataRenderer.Rendering;
import io.skade.store.DocumentPatch;
import io.skade.store.MetadataDocument;
import io.skade.store.StoreException;
import io.skade.store.TablePointer;
import io.vavr.collection.HashMap;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableMetadataParser.Codec;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.inmemory.InMemoryInputFile;
import org.apache.iceberg.inmemory.InMemoryOutputFile;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.util.LocationUtil;
import org.apache.iceberg.view.ViewMetadata;
import org.apache.iceberg.view.ViewMetadataParser;
import org.weakref.jmx.Managed;

import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipException;

import static java.lang.Math.toIntExact;
import static java.util.Locale.ROOT;
import static java.util.Objects.requireNonNull;

/**
 * Reads and writes metadata files, and keeps parsed ones in memory. A metadata file never changes, so what is kept under a location never
 * has to be checked again.
 */
public final class MetadataFiles
{
    private static final Pattern VERSION = Pattern.compile("(?:.*/)?v?(\\d{1,9})[-.][^/]*");

    private static final int WRITE_BYTES = 1 << 16;

    private final Function<String, Optional<MetadataDocument>> documents;
    // by the locations of the files
    private final Cache<String, Kept> cache;
    // what statements may still use, by the locations of the files
    private final Cache<String, TableMetadata> replaced = Caffeine.newBuilder()
            .weakValues()
            .build();
    // of the newest files, by their locations
    private final Cache<String, Rendering> renderings;

    /**
     * @param maxSizeBytes roughly how much memory the kept metadata may take
     */
    public MetadataFiles(long maxSizeBytes)
    {
        this(maxSizeBytes, _ -> Optional.empty());
    }

    /**
     * @param maxSizeBytes roughly how much memory the kept metadata may take
     * @param documents the content for a location that may have no file yet, or a part of it
     */
    public MetadataFiles(long maxSizeBytes, Function<String, Optional<MetadataDocument>> documents)
    {
        this.documents = requireNonNull(documents, "documents is null");
        this.cache = Caffeine.newBuilder()
                .maximumWeight(maxSizeBytes - maxSizeBytes / 4)
                .weigher((String _, Kept kept) -> toIntExact(Math.min(kept.bytes(), Integer.MAX_VALUE)))
                // evict in the thread that puts: it is cheap, and an entry that does not fit is gone at once
                .executor(Runnable::run)
                .recordStats()
                .build();
        this.renderings = Caffeine.newBuilder()
                .maximumWeight(maxSizeBytes / 4)
                .weigher((String _, Rendering rendering) -> rendering.length())
                .executor(Runnable::run)
                .build();
    }

    /**
     * The part of the look-ups that found what they were for, since the start.
     */
    @Managed
    public double getHitRate()
    {
        return cache.stats().hitRate();
    }

    /**
     * How often a file was read or a view derived.
     */
    @Managed
    public long getLoadCount()
    {
        return cache.stats().loadCount();
    }

    @Managed
    public long getEvictionCount()
    {
        return cache.stats().evictionCount();
    }

    /**
     * How many tables are kept, with the views of their refs, roughly.
     */
    @Managed
    public long getSize()
    {
        return cache.estimatedSize();
    }

    /**
     * How much memory they take, roughly.
     */
    @Managed
    public long getSizeBytes()
    {
        return cache.policy().eviction().orElseThrow().weightedSize().orElseThrow();
    }

    /**
     * The metadata in a file, or in the document for a file that is not written yet, or not wholly. Reads it only if it is not kept in memory.
     *
     * @throws org.apache.iceberg.exceptions.NotFoundException if there is no such file
     */
    public TableMetadata read(FileIO io, String location)
    {
        Kept kept = cache.getIfPresent(location);
        if (kept != null) {
            return kept.metadata();
        }
        TableMetadata used = replaced.getIfPresent(location);
        return used != null ? used : cache.get(location, _ -> new Kept(readFile(io, location))).metadata();
    }

    private TableMetadata readFile(FileIO io, String location)
    {
        try {
            return TableMetadataParser.read(io, location);
        }
        catch (RuntimeException e) {
            if (!(e instanceof NotFoundException) && !isDamage(e)) {
                throw e;
            }
            // a commit is durable before its file is written, and another catalog may read the file meanwhile
            MetadataDocument document = documents.apply(location).orElseThrow(() -> e);
            return TableMetadataParser.read(new InMemoryInputFile(location, document.content()));
        }
    }

    /**
     * The metadata that a pointer points at, as {@link #read(FileIO, String)}.
     *
     * @throws MissingMetadataException if there is no such file
     * @throws InvalidMetadataException if the file has other content than metadata
     */
    public TableMetadata read(FileIO io, TableIdentifier name, TablePointer pointer)
    {
        return read(name, pointer, location -> read(io, location));
    }

    /**
     * The metadata of the view that a pointer points at. It is not kept.
     *
     * @throws MissingMetadataException if there is no such file
     * @throws InvalidMetadataException if the file has other content than metadata
     */
    public static ViewMetadata readView(FileIO io, TableIdentifier name, TablePointer pointer)
    {
        return read(name, pointer, location -> ViewMetadataParser.read(io.newInputFile(location)));
    }

    private static <T> T read(TableIdentifier name, TablePointer pointer, Function<String, T> reader)
    {
        String location = pointer.metadataLocation();
        try {
            return reader.apply(location);
        }
        catch (NotFoundException e) {
            throw new MissingMetadataException(name, location, e);
        }
        catch (RuntimeException e) {
            throw isDamage(e) ? new InvalidMetadataException(name, location, e) : e;
        }
    }

    /**
     * Whether a file could not be read because of its content. What the disk or the network did may pass.
     */
    public static boolean isDamage(RuntimeException failure)
    {
        return Throwables.getCausalChain(failure).stream()
                .filter(IOException.class::isInstance)
                .allMatch(cause -> cause instanceof JacksonException || cause instanceof EOFException || cause instanceof ZipException);
    }

    /**
     * A view of the metadata in a file, kept as long as the metadata itself.
     *
     * @param derivation tells the views of one file apart
     */
    TableMetadata derived(TableMetadata metadata, String derivation, Supplier<TableMetadata> derive)
    {
        String location = metadata.metadataFileLocation();
        Kept kept = cache.getIfPresent(location);
        if (kept == null) {
            return derive.get();
        }
        return kept.views().get(derivation).getOrElse(() -> {
            TableMetadata view = derive.get();
            cache.asMap().computeIfPresent(location, (_, present) -> present.with(derivation, view));
            return view;
        });
    }

    /**
     * Chooses a new file in the metadata folder of the table, and keeps the metadata as if it had been read from there.
     *
     * @param before the location of the metadata that is replaced
     * @return the content for the file, and the metadata with its location
     */
    Written prepare(TableMetadata metadata, int version, Optional<String> before)
    {
        String codec = metadata.property(TableProperties.METADATA_COMPRESSION, TableProperties.METADATA_COMPRESSION_DEFAULT);
        String name = String.format(ROOT, "%05d-%s%s", version, UUID.randomUUID(), TableMetadataParser.getFileExtension(codec));
        String location = location(metadata, name);
        MetadataDocument document = Codec.fromName(codec) == Codec.NONE ? render(metadata, location, before) : compress(metadata, location);
        TableMetadata written = TableMetadata.buildFrom(metadata)
                .discardChanges()
                .withMetadataLocation(location)
                .build();
        cache.put(location, new Kept(written));
        return new Written(written, document);
    }

    private MetadataDocument render(TableMetadata metadata, String location, Optional<String> beforeLocation)
    {
        Optional<Rendering> before = beforeLocation.map(renderings::getIfPresent);
        Rendering rendering = MetadataRenderer.render(metadata, before);
        renderings.put(location, rendering);
        return new MetadataDocument(location, rendering.parts(), before.flatMap(base -> DocumentPatch.between(beforeLocation.orElseThrow(), base.parts(), rendering.parts())));
    }

    private static MetadataDocument compress(TableMetadata metadata, String location)
    {
        InMemoryOutputFile content = new InMemoryOutputFile(location);
        TableMetadataParser.write(metadata, content);
        return MetadataDocument.of(location, content.toByteArray());
    }

    /**
     * Writes a file, which must not exist.
     *
     * @throws StoreException if its file system cannot write
     */
    void write(FileIO io, MetadataDocument document)
    {
        try (OutputStream out = new BufferedOutputStream(io.newOutputFile(document.location()).create(), WRITE_BYTES)) {
            for (byte[] part : document.parts()) {
                out.write(part);
            }
        }
        catch (IOException | UncheckedIOException e) {
            throw new StoreException("Cannot write metadata file %s: %s".formatted(document.location(), e.getMessage()), e);
        }
    }

    record Written(TableMetadata metadata, MetadataDocument document) {}

    /**
     * The metadata in a file is not a table's present one any more, and the next one is. What was replaced makes room at once: the cache would keep what
     * was asked for often, and drop what is new.
     */
    void replaced(String location, TableMetadata next)
    {
        renderings.invalidate(location);
        Kept kept = cache.getIfPresent(location);
        if (kept != null) {
            // first: who does not find it in one place, finds it in the other one
            replaced.put(location, kept.metadata());
            cache.invalidate(location);
        }
        // unless that was replaced meanwhile
        if (replaced.getIfPresent(next.metadataFileLocation()) == null) {
            cache.asMap().putIfAbsent(next.metadataFileLocation(), new Kept(next));
        }
    }

    /**
     * There is no such file.
     */
    void forget(String location)
    {
        cache.invalidate(location);
        renderings.invalidate(location);
    }

    /**
     * Where a file of the metadata folder of a table lies.
     */
    static String location(TableMetadata metadata, String fileName)
    {
        return folder(metadata.location(), metadata.properties()) + "/" + fileName;
    }

    /**
     * The metadata folder of a table or view, without a slash at its end.
     */
    public static String folder(String location, Map<String, String> properties)
    {
        return LocationUtil.stripTrailingSlash(properties.getOrDefault(TableProperties.WRITE_METADATA_LOCATION, LocationUtil.stripTrailingSlash(location) + "/metadata"));
    }

    /**
     * The version number in the name of a metadata file, -1 if the name has none.
     */
    public static int version(String location)
    {
        Matcher matcher = VERSION.matcher(location);
        return matcher.matches() ? Integer.parseInt(matcher.group(1)) : -1;
    }

    /**
     * The metadata in a file, and views of it.
     *
     * @param bytes roughly how much memory they take
     */
    private record Kept(TableMetadata metadata, HashMap<String, TableMetadata> views, long bytes)
    {
        Kept(TableMetadata metadata)
        {
            this(metadata, HashMap.empty(), bytes(metadata, 2048));
        }

        Kept with(String derivation, TableMetadata view)
        {
            // it shares the snapshots
            return new Kept(metadata, views.put(derivation, view), bytes + bytes(view, 128));
        }

        private static long bytes(TableMetadata metadata, long snapshotBytes)
        {
            // rough sizes of the parsed objects: a snapshot with its summary, a field, a ref, an entry of the metadata log
            long fields = metadata.schemas().stream().mapToLong(schema -> schema.columns().size()).sum();
            return 4096 + snapshotBytes * metadata.snapshots().size() + 512 * fields + 128L * metadata.refs().size() + 256L * metadata.previousFiles().size();
        }
    }
}
