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

import com.google.common.collect.ImmutableMap;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.types.Types;

import java.time.Instant;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * A table that exists in memory only. Its snapshots have no files:
 * <pre>
 * 1 -- 2 -- 3 -- 6
 *       \
 *        4 -- 5
 * </pre>
 * {@code main} is at 3, the branch {@code audit} at 5 and {@code dev} at 6, the tag {@code v1} at 1. Snapshot {@code n} was committed {@code n} hours
 * after {@link #START}, and the table was last changed some hours later.
 */
final class TestingMetadata
{
    static final TableIdentifier NAME = TableIdentifier.of("db", "t");
    static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    static final SnapshotRef MAIN = SnapshotRef.branchBuilder(3).minSnapshotsToKeep(7).build();
    static final SnapshotRef AUDIT = SnapshotRef.branchBuilder(5).minSnapshotsToKeep(2).maxSnapshotAgeMs(1000L).maxRefAgeMs(2000L).build();
    static final SnapshotRef DEV = SnapshotRef.branchBuilder(6).build();
    static final SnapshotRef V1 = SnapshotRef.tagBuilder(1).maxRefAgeMs(5000L).build();

    private TestingMetadata() {}

    static TableMetadata table()
    {
        TableMetadata table = emptyTable();
        table = change(table, builder -> builder
                .addSnapshot(snapshot(1, OptionalLong.empty()))
                .setRef("main", SnapshotRef.builderFrom(MAIN, 1).build()));
        table = change(table, builder -> builder.setBranchSnapshot(snapshot(2, OptionalLong.of(1)), "main"));
        table = change(table, builder -> builder.setBranchSnapshot(snapshot(3, OptionalLong.of(2)), "main"));
        return change(table, builder -> builder
                .addSnapshot(snapshot(4, OptionalLong.of(2)))
                .addSnapshot(snapshot(5, OptionalLong.of(4)))
                .addSnapshot(snapshot(6, OptionalLong.of(3)))
                .setRef("audit", AUDIT)
                .setRef("dev", DEV)
                .setRef("v1", V1));
    }

    static TableMetadata emptyTable()
    {
        Schema schema = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()));
        TableMetadata table = TableMetadata.newTableMetadata(schema, PartitionSpec.unpartitioned(), "/warehouse/t", ImmutableMap.of("owner", "alice"));
        return asRead(table, 0);
    }

    /**
     * The table after a change, as if read from its next metadata file.
     */
    static TableMetadata change(TableMetadata table, Consumer<TableMetadata.Builder> change)
    {
        TableMetadata.Builder builder = TableMetadata.buildFrom(table);
        change.accept(builder);
        return asRead(builder.build(), MetadataFiles.version(table.metadataFileLocation()) + 1);
    }

    private static TableMetadata asRead(TableMetadata table, int version)
    {
        return TableMetadataParser.fromJson(
                "/warehouse/t/metadata/0000%s-a.metadata.json".formatted(version),
                TableMetadataParser.toJson(table).replaceFirst("\"last-updated-ms\":\\d+", "\"last-updated-ms\":" + time(10 + version).toEpochMilli()));
    }

    static Snapshot snapshot(long id, OptionalLong parentId)
    {
        return SnapshotParser.fromJson(
                """
                {
                  "snapshot-id": %s,
                  %s
                  "sequence-number": %s,
                  "timestamp-ms": %s,
                  "summary": {"operation": "append"},
                  "manifest-list": "/warehouse/t/metadata/snap-%s.avro",
                  "schema-id": 0
                }
                """.formatted(id, parentId.isPresent() ? "\"parent-snapshot-id\": %s,".formatted(parentId.getAsLong()) : "", id, time(id).toEpochMilli(), id));
    }

    static Instant time(long snapshotId)
    {
        return START.plusSeconds(3600 * snapshotId);
    }
}
