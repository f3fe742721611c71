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

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableMap;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.types.Types;

import java.io.UncheckedIOException;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Locale.ROOT;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * A table without data files: its snapshots stand in a line, the last one is {@code main}'s. Half of its refs are branches, then come tags. Ref {@code i}
 * is at snapshot {@code i} modulo the number of snapshots.
 *
 * @param refs without {@code main}
 */
record TableShape(int snapshots, int refs)
{
    static final TableShape USUAL = new TableShape(64, 256);
    static final Schema SCHEMA = new Schema(
            Types.NestedField.required(1, "id", Types.LongType.get()),
            Types.NestedField.optional(2, "name", Types.StringType.get()));

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long FIRST_SNAPSHOT = 6_000_000_000_000_000_001L;

    TableShape
    {
        checkArgument(snapshots > 0, "no snapshots");
        checkArgument(refs >= 0, "refs is negative: %s", refs);
    }

    static long snapshotId(int number)
    {
        return FIRST_SNAPSHOT + number;
    }

    String ref(int number)
    {
        return String.format(ROOT, "%s_%05d", number < branches() ? "branch" : "tag", number);
    }

    int branches()
    {
        return (refs + 1) / 2;
    }

    /**
     * The metadata of an empty table with these snapshots and refs.
     */
    TableMetadata at(String location)
    {
        TableMetadata empty = TableMetadata.newTableMetadata(SCHEMA, PartitionSpec.unpartitioned(), location, ImmutableMap.of(
                // who loses a race tries again soon
                TableProperties.COMMIT_MIN_RETRY_WAIT_MS, "1",
                TableProperties.COMMIT_MAX_RETRY_WAIT_MS, "5"));
        return of(empty, location + "/metadata/snap-1.avro");
    }

    /**
     * A table with these snapshots, after those that it has, and refs.
     *
     * @param manifestList of every snapshot
     */
    TableMetadata of(TableMetadata table, String manifestList)
    {
        TableMetadata.Builder builder = TableMetadata.buildFrom(table);
        long sequenceNumber = table.lastSequenceNumber();
        long time = table.lastUpdatedMillis();
        Long parent = table.currentSnapshot() == null ? null : table.currentSnapshot().snapshotId();
        ArrayNode log = JSON.createArrayNode();
        for (int number = 0; number < snapshots; number++) {
            builder.addSnapshot(snapshot(number, parent, sequenceNumber + number + 1, time + number, manifestList));
            parent = snapshotId(number);
            log.addObject().put("timestamp-ms", time + number).put("snapshot-id", parent);
        }
        builder.setRef(MAIN_BRANCH, SnapshotRef.branchBuilder(parent).build());
        for (int number = 0; number < refs; number++) {
            long snapshotId = snapshotId(number % snapshots);
            builder.setRef(ref(number), number < branches() ? SnapshotRef.branchBuilder(snapshotId).build() : SnapshotRef.tagBuilder(snapshotId).build());
        }
        try {
            ObjectNode document = (ObjectNode) JSON.readTree(TableMetadataParser.toJson(builder.build()));
            document.set("snapshot-log", log);
            document.put("last-updated-ms", time + snapshots);
            return TableMetadataParser.fromJson(document.toString());
        }
        catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Snapshot snapshot(int number, Long parent, long sequenceNumber, long time, String manifestList)
    {
        ObjectNode snapshot = JSON.createObjectNode()
                .put("sequence-number", sequenceNumber)
                .put("snapshot-id", snapshotId(number))
                .put("timestamp-ms", time)
                .put("manifest-list", manifestList)
                .put("schema-id", 0);
        if (parent != null) {
            snapshot.put("parent-snapshot-id", parent);
        }
        // what an INSERT leaves
        snapshot.putObject("summary")
                .put("operation", "append")
                .put("trino_query_id", "20260101_000000_%05d_aaaaa".formatted(number))
                .put("trino_user", "demo")
                .put("added-data-files", "1")
                .put("added-records", "1")
                .put("added-files-size", "411")
                .put("changed-partition-count", "1")
                .put("total-records", String.valueOf(number + 1))
                .put("total-files-size", String.valueOf(411 * (number + 1)))
                .put("total-data-files", String.valueOf(number + 1))
                .put("total-delete-files", "0")
                .put("total-position-deletes", "0")
                .put("total-equality-deletes", "0")
                .put("engine-version", "483")
                .put("engine-name", "trino")
                .put("iceberg-version", "Apache Iceberg 1.11.0");
        return SnapshotParser.fromJson(snapshot.toString());
    }
}
