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

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.filter.FilteringGeneratorDelegate;
import com.fasterxml.jackson.core.filter.TokenFilter;
import com.fasterxml.jackson.core.filter.TokenFilter.Inclusion;
import com.google.common.collect.ImmutableList;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Writes metadata as JSON, as Iceberg's {@link TableMetadataParser} does. The snapshots that the metadata before had as well are not written
 * again: of a table with a long history they are nearly all there is to write.
 */
final class MetadataRenderer
{
    private static final JsonFactory JSON = new JsonFactory();
    private static final String SNAPSHOTS = "snapshots";

    private MetadataRenderer() {}

    /**
     * The JSON of a table's metadata, a part for each of its fields, each with what separates it from the field before.
     *
     * @param snapshots as they stand in it
     * @param snapshotsPart which part they are
     */
    record Rendering(List<Snapshot> snapshots, List<byte[]> parts, int snapshotsPart)
    {
        Rendering
        {
            snapshots = ImmutableList.copyOf(snapshots);
            parts = ImmutableList.copyOf(parts);
        }

        /**
         * In bytes.
         */
        int length()
        {
            return parts.stream().mapToInt(part -> part.length).sum();
        }
    }

    /**
     * @param before of earlier metadata of the table
     */
    static Rendering render(TableMetadata metadata, Optional<Rendering> before)
    {
        List<Snapshot> snapshots = metadata.snapshots();
        int known = before.filter(rendering -> startsWith(snapshots, rendering.snapshots())).map(rendering -> rendering.snapshots().size()).orElse(0);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 14);
        Fields fields = new Fields(bytes, known);
        try (JsonGenerator generator = JSON.createGenerator(bytes)) {
            fields.generator = generator;
            TableMetadataParser.toJson(metadata, new FilteringGeneratorDelegate(generator, fields, Inclusion.INCLUDE_ALL_AND_PATH, true));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        byte[][] parts = fields.cut(bytes.toByteArray());
        if (known > 0) {
            parts[fields.snapshotsPart] = join(before.orElseThrow().parts().get(before.get().snapshotsPart()), parts[fields.snapshotsPart], snapshots.size() > known);
        }
        return new Rendering(snapshots, Arrays.asList(parts), fields.snapshotsPart);
    }

    /**
     * Snapshots never change, so that the same object stands in each version of the metadata.
     */
    private static boolean startsWith(List<Snapshot> snapshots, List<Snapshot> start)
    {
        if (snapshots.size() < start.size()) {
            return false;
        }
        for (int i = 0; i < start.size(); i++) {
            if (snapshots.get(i) != start.get(i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * @param known the field with the known snapshots, at least one
     * @param added the field with the others
     */
    private static byte[] join(byte[] known, byte[] added, boolean hasAdded)
    {
        if (!hasAdded) {
            return known;
        }
        int start = 0;
        while (added[start] != '[') {
            start++;
        }
        byte[] joined = Arrays.copyOf(known, known.length + added.length - start - 1);
        joined[known.length - 1] = ',';
        System.arraycopy(added, start + 1, joined, known.length, added.length - start - 1);
        return joined;
    }

    /**
     * Notes where each field starts, and leaves out the first snapshots.
     */
    private static final class Fields
            extends TokenFilter
    {
        private final ByteArrayOutputStream bytes;
        private final int knownSnapshots;
        private int[] starts = new int[32];
        private int count;
        private int snapshotsPart;
        private JsonGenerator generator;

        private Fields(ByteArrayOutputStream bytes, int knownSnapshots)
        {
            this.bytes = requireNonNull(bytes, "bytes is null");
            this.knownSnapshots = knownSnapshots;
        }

        @Override
        public TokenFilter includeProperty(String name)
        {
            // the brace before the first field belongs to it
            int start = count == 0 ? 0 : bytes.size() + generator.getOutputBuffered();
            if (count == starts.length) {
                starts = Arrays.copyOf(starts, 2 * count);
            }
            starts[count] = start;
            count++;
            if (!name.equals(SNAPSHOTS)) {
                return INCLUDE_ALL;
            }
            snapshotsPart = count - 1;
            return new TokenFilter()
            {
                @Override
                public TokenFilter includeElement(int index)
                {
                    return index < knownSnapshots ? null : INCLUDE_ALL;
                }

                @Override
                public boolean includeEmptyArray(boolean contentsFiltered)
                {
                    return true;
                }
            };
        }

        byte[][] cut(byte[] whole)
        {
            byte[][] parts = new byte[count][];
            for (int i = 0; i < count; i++) {
                parts[i] = Arrays.copyOfRange(whole, starts[i], i + 1 < count ? starts[i + 1] : whole.length);
            }
            return parts;
        }
    }
}
