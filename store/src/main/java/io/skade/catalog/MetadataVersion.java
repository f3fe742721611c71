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
package io.skade.catalog;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.skade.ref.MetadataFiles;
import io.skade.store.PointerKind;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadata.MetadataLogEntry;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.view.ViewMetadata;
import org.apache.iceberg.view.ViewMetadataParser;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Comparator.comparing;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.util.LocationUtil.stripTrailingSlash;

/**
 * What one metadata file says of the table or view that it is a version of.
 *
 * @param uuid empty for a table of format version 1 that has none
 * @param base the location of the table or view
 * @param folder the folder in which the file says that it lies
 * @param previous the locations of the versions before it, the newest last, as far back as its metadata log goes; empty for a view, which has none
 * @param refs empty for a view
 * @param changedAtMillis when the table was changed, or the view got its present version
 */
record MetadataVersion(
        PointerKind kind,
        String uuid,
        String location,
        String base,
        String folder,
        List<String> previous,
        Map<String, SnapshotRef> refs,
        long changedAtMillis)
{
    MetadataVersion
    {
        requireNonNull(kind, "kind is null");
        requireNonNull(uuid, "uuid is null");
        requireNonNull(location, "location is null");
        requireNonNull(base, "base is null");
        requireNonNull(folder, "folder is null");
        previous = ImmutableList.copyOf(previous);
        refs = ImmutableMap.copyOf(refs);
    }

    /**
     * Reads a file, whatever was read of it before.
     *
     * @throws NotFoundException if there is no such file
     * @throws RuntimeException if it cannot be read, or is the metadata of neither a table nor a view
     */
    static MetadataVersion read(FileIO io, String location)
    {
        try {
            return ofTable(TableMetadataParser.read(io, location), location);
        }
        catch (NotFoundException e) {
            throw e;
        }
        catch (RuntimeException e) {
            if (!MetadataFiles.isDamage(e)) {
                throw e;
            }
            try {
                return ofView(ViewMetadataParser.read(io.newInputFile(location)), location);
            }
            catch (RuntimeException _) {
                throw e;
            }
        }
    }

    private static MetadataVersion ofTable(TableMetadata metadata, String location)
    {
        return new MetadataVersion(
                PointerKind.TABLE,
                Objects.requireNonNullElse(metadata.uuid(), ""),
                location,
                stripTrailingSlash(metadata.location()),
                MetadataFiles.folder(metadata.location(), metadata.properties()),
                metadata.previousFiles().stream().map(MetadataLogEntry::file).collect(toImmutableList()),
                metadata.refs(),
                metadata.lastUpdatedMillis());
    }

    private static MetadataVersion ofView(ViewMetadata metadata, String location)
    {
        return new MetadataVersion(
                PointerKind.VIEW,
                metadata.uuid(),
                location,
                stripTrailingSlash(metadata.location()),
                MetadataFiles.folder(metadata.location(), metadata.properties()),
                ImmutableList.of(),
                ImmutableMap.of(),
                metadata.history().getLast().timestampMillis());
    }

    static String folder(String location)
    {
        return location.substring(0, location.lastIndexOf('/'));
    }

    boolean isInPlace()
    {
        return folder.equals(folder(location));
    }

    boolean descendsFrom(String other)
    {
        return previous.contains(other);
    }

    int number()
    {
        return MetadataFiles.version(location);
    }

    /**
     * Whether this was written for a commit that {@code other}'s line shows was never made: both begin at one version, and that line went on.
     */
    private boolean isLeftOverBeside(MetadataVersion other)
    {
        return !previous.isEmpty() && other.descendsFrom(previous.getLast()) && !other.previous().getLast().equals(previous.getLast());
    }

    /**
     * The newest of versions of which none descends from another: the one whose line makes all others left over. Views have no such lines, their time
     * and number decide. Empty if that leaves several.
     */
    static Optional<MetadataVersion> newest(List<MetadataVersion> leaves)
    {
        if (leaves.stream().allMatch(leaf -> leaf.kind() == PointerKind.VIEW)) {
            List<MetadataVersion> sorted = leaves.stream()
                    .sorted(comparing(MetadataVersion::changedAtMillis).thenComparing(MetadataVersion::number).reversed())
                    .toList();
            boolean tie = sorted.size() > 1 && sorted.get(0).changedAtMillis() == sorted.get(1).changedAtMillis() && sorted.get(0).number() == sorted.get(1).number();
            return tie ? Optional.empty() : sorted.stream().findFirst();
        }
        return leaves.stream()
                .filter(candidate -> leaves.stream().allMatch(other -> other.equals(candidate) || other.isLeftOverBeside(candidate)))
                .findFirst();
    }
}
