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
import com.google.common.collect.ImmutableSet;
import org.apache.iceberg.HistoryEntry;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SnapshotRefParser;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadata.MetadataLogEntry;
import org.apache.iceberg.TableMetadataParser;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * Writes metadata as JSON, as Iceberg's {@link TableMetadataParser} does, byte for byte. What stands in the metadata before as well is not written
 * again: of a table with a long history that is nearly everything.
 */
final class MetadataRenderer
{
    private static final JsonFactory JSON = new JsonFactory();
    private static final byte[] END = {'}'};

    private static final String LAST_UPDATED = "last-updated-ms";
    private static final String CURRENT_SNAPSHOT = "current-snapshot-id";
    private static final String REFS = "refs";
    private static final String SNAPSHOTS = "snapshots";
    private static final String SNAPSHOT_LOG = "snapshot-log";
    private static final String METADATA_LOG = "metadata-log";

    // those that a move of refs changes
    private static final Set<String> MOVED_FIELDS = ImmutableSet.of(LAST_UPDATED, CURRENT_SNAPSHOT, REFS, SNAPSHOT_LOG, METADATA_LOG);
    // those that differ only if the metadata does, as isMoved compares it
    private static final Set<String> COMPARED_FIELDS = ImmutableSet.of(
            "format-version",
            "table-uuid",
            "location",
            "last-sequence-number",
            "last-column-id",
            "schema",
            "current-schema-id",
            "schemas",
            "partition-spec",
            "default-spec-id",
            "partition-specs",
            "last-partition-id",
            "default-sort-order-id",
            "sort-orders",
            "properties",
            "next-row-id",
            "encryption-keys",
            SNAPSHOTS,
            "statistics",
            "partition-statistics");

    private MetadataRenderer() {}

    /**
     * The JSON of a table's metadata.
     *
     * @param fields their names, in their order
     * @param parts one for each field, with what separates it from the field before, and one for the end
     * @param lists what is known of the entries of some of the fields
     */
    record Rendering(TableMetadata metadata, List<String> fields, List<byte[]> parts, Lists lists)
    {
        Rendering
        {
            requireNonNull(metadata, "metadata is null");
            fields = ImmutableList.copyOf(fields);
            parts = ImmutableList.copyOf(parts);
            requireNonNull(lists, "lists is null");
        }

        /**
         * In bytes.
         */
        int length()
        {
            int length = 0;
            for (byte[] part : parts) {
                length += part.length;
            }
            return length;
        }

        byte[] part(String field)
        {
            return parts.get(fields.indexOf(field));
        }
    }

    private record Lists(JsonEntries<Map.Entry<String, SnapshotRef>> refs, JsonEntries<HistoryEntry> snapshotLog, JsonEntries<MetadataLogEntry> metadataLog)
    {
        private static final Lists UNKNOWN = new Lists(
                JsonEntries.empty(",\"%s\":{".formatted(REFS), '}'),
                JsonEntries.empty(",\"%s\":[".formatted(SNAPSHOT_LOG), ']'),
                JsonEntries.empty(",\"%s\":[".formatted(METADATA_LOG), ']'));

        Lists of(TableMetadata metadata)
        {
            return new Lists(
                    // a ref that did not move is the same object
                    refs.with(
                            ImmutableList.copyOf(metadata.refs().entrySet()),
                            (before, after) -> before.getValue() == after.getValue() && before.getKey().equals(after.getKey()),
                            MetadataRenderer::renderRef),
                    snapshotLog.with(metadata.snapshotLog(), (before, after) -> before == after, MetadataRenderer::renderLogEntry),
                    metadataLog.with(metadata.previousFiles(), (before, after) -> before == after, MetadataRenderer::renderLogEntry));
        }
    }

    /**
     * @param before of earlier metadata of the table
     */
    static Rendering render(TableMetadata metadata, Optional<Rendering> before)
    {
        return before.isPresent() && isMoved(before.get(), metadata) ? renderMoved(metadata, before.get()) : renderAll(metadata, before);
    }

    /**
     * Whether nothing but refs moved.
     */
    private static boolean isMoved(Rendering rendering, TableMetadata after)
    {
        TableMetadata before = rendering.metadata();
        return before.formatVersion() == after.formatVersion() &&
                // written in another way if there is none
                before.currentSnapshot() != null &&
                after.currentSnapshot() != null &&
                Objects.equals(before.uuid(), after.uuid()) &&
                before.location().equals(after.location()) &&
                before.lastSequenceNumber() == after.lastSequenceNumber() &&
                before.lastColumnId() == after.lastColumnId() &&
                before.currentSchemaId() == after.currentSchemaId() &&
                isSame(before.schemas(), after.schemas()) &&
                before.defaultSpecId() == after.defaultSpecId() &&
                isSame(before.specs(), after.specs()) &&
                before.lastAssignedPartitionId() == after.lastAssignedPartitionId() &&
                before.defaultSortOrderId() == after.defaultSortOrderId() &&
                isSame(before.sortOrders(), after.sortOrders()) &&
                before.properties().equals(after.properties()) &&
                before.nextRowId() == after.nextRowId() &&
                isSame(before.encryptionKeys(), after.encryptionKeys()) &&
                isSame(before.snapshots(), after.snapshots()) &&
                isSame(before.statisticsFiles(), after.statisticsFiles()) &&
                isSame(before.partitionStatisticsFiles(), after.partitionStatisticsFiles()) &&
                rendering.fields().containsAll(MOVED_FIELDS) &&
                rendering.fields().stream().allMatch(field -> MOVED_FIELDS.contains(field) || COMPARED_FIELDS.contains(field));
    }

    private static boolean isSame(List<?> before, List<?> after)
    {
        return before.size() == after.size() && startsWith(after, before);
    }

    /**
     * What stands in the lists of metadata never changes, so the same object stands in each version.
     */
    private static boolean startsWith(List<?> list, List<?> start)
    {
        if (list.size() < start.size()) {
            return false;
        }
        for (int i = 0; i < start.size(); i++) {
            if (list.get(i) != start.get(i)) {
                return false;
            }
        }
        return true;
    }

    private static Rendering renderMoved(TableMetadata metadata, Rendering before)
    {
        Lists lists = before.lists().of(metadata);
        List<byte[]> parts = new ArrayList<>(before.parts());
        for (int i = 0; i < before.fields().size(); i++) {
            byte[] part = parts.get(i);
            parts.set(i, switch (before.fields().get(i)) {
                case LAST_UPDATED -> renderNumber(LAST_UPDATED, metadata.lastUpdatedMillis());
                case CURRENT_SNAPSHOT -> renderNumber(CURRENT_SNAPSHOT, metadata.currentSnapshot().snapshotId());
                case REFS -> lists.refs().bytes();
                case SNAPSHOT_LOG -> lists.snapshotLog().bytes();
                case METADATA_LOG -> lists.metadataLog().bytes();
                default -> part;
            });
        }
        return new Rendering(metadata, before.fields(), parts, lists);
    }

    private static byte[] renderNumber(String field, long value)
    {
        return (",\"" + field + "\":" + value).getBytes(UTF_8);
    }

    private static byte[] renderRef(Map.Entry<String, SnapshotRef> ref)
    {
        byte[] object = renderObject(generator -> {
            generator.writeFieldName(ref.getKey());
            SnapshotRefParser.toJson(ref.getValue(), generator);
        });
        // the field alone
        return Arrays.copyOfRange(object, 1, object.length - 1);
    }

    private static byte[] renderLogEntry(HistoryEntry entry)
    {
        return renderObject(generator -> {
            generator.writeNumberField("timestamp-ms", entry.timestampMillis());
            generator.writeNumberField("snapshot-id", entry.snapshotId());
        });
    }

    private static byte[] renderLogEntry(MetadataLogEntry entry)
    {
        return renderObject(generator -> {
            generator.writeNumberField("timestamp-ms", entry.timestampMillis());
            generator.writeStringField("metadata-file", entry.file());
        });
    }

    private static byte[] renderObject(FieldsWriter writer)
    {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        try (JsonGenerator generator = JSON.createGenerator(bytes)) {
            generator.writeStartObject();
            writer.write(generator);
            generator.writeEndObject();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private interface FieldsWriter
    {
        void write(JsonGenerator generator)
                throws IOException;
    }

    private static Rendering renderAll(TableMetadata metadata, Optional<Rendering> before)
    {
        List<Snapshot> snapshots = metadata.snapshots();
        int known = before.map(rendering -> rendering.metadata().snapshots()).filter(list -> startsWith(snapshots, list)).map(List::size).orElse(0);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 14);
        Fields fields = new Fields(bytes, known);
        try (JsonGenerator generator = JSON.createGenerator(bytes)) {
            fields.generator = generator;
            TableMetadataParser.toJson(metadata, new FilteringGeneratorDelegate(generator, fields, Inclusion.INCLUDE_ALL_AND_PATH, true));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<byte[]> parts = fields.cut(bytes.toByteArray());
        if (known > 0) {
            int position = fields.names.indexOf(SNAPSHOTS);
            parts.set(position, join(before.orElseThrow().part(SNAPSHOTS), parts.get(position), snapshots.size() > known));
        }
        return new Rendering(metadata, fields.names, parts, Lists.UNKNOWN);
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
        private final List<String> names = new ArrayList<>();
        private final List<Integer> starts = new ArrayList<>();
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
            starts.add(names.isEmpty() ? 0 : bytes.size() + generator.getOutputBuffered());
            names.add(name);
            if (!name.equals(SNAPSHOTS)) {
                return INCLUDE_ALL;
            }
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

        List<byte[]> cut(byte[] whole)
        {
            int end = whole.length - END.length;
            List<byte[]> parts = new ArrayList<>();
            for (int i = 0; i < starts.size(); i++) {
                parts.add(Arrays.copyOfRange(whole, starts.get(i), i + 1 < starts.size() ? starts.get(i + 1) : end));
            }
            parts.add(END);
            return parts;
        }
    }
}
