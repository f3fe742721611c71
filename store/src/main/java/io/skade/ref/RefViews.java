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

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.StatisticsFile;
import org.apache.iceberg.StatisticsFileParser;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.types.Type;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.ref.RefRefusedException.Reason.NOT_READABLE;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * Tables as one ref sees them (git's checkout): the same table with that ref's snapshot as its current one.
 *
 * <p>A branch is seen with the table's present schema. A tag or snapshot is seen with the schema of its snapshot and nothing else, so that
 * whoever plans a query meets one schema only.
 */
public final class RefViews
{
    private final MetadataFiles files;
    private final Function<Type, String> typeName;

    /**
     * @param typeName what users call a type
     */
    public RefViews(MetadataFiles files, Function<Type, String> typeName)
    {
        this.files = requireNonNull(files, "files is null");
        this.typeName = requireNonNull(typeName, "typeName is null");
    }

    /**
     * The table at a branch.
     *
     * @throws RefRefusedException if there is no such branch, or if its rows cannot be read with the present schema
     */
    public TableMetadata branch(RefTarget target, String branch)
    {
        TableMetadata metadata = target.metadata();
        SnapshotRef ref = metadata.ref(branch);
        if (ref == null || !ref.isBranch()) {
            throw new RefRefusedException(REF_NOT_FOUND, "Branch does not exist in %s: %s", target.name(), branch);
        }
        if (branch.equals(MAIN_BRANCH)) {
            return metadata;
        }
        return files.derived(metadata, "branch " + branch, () -> {
            checkReadable(target, branch, metadata.snapshot(ref.snapshotId()));
            return viewBranch(metadata, branch);
        });
    }

    private void checkReadable(RefTarget target, String branch, Snapshot snapshot)
    {
        SchemaConflict.find(target.io(), target.metadata(), snapshot, typeName).ifPresent(conflict -> {
            throw new RefRefusedException(
                    NOT_READABLE,
                    "Cannot read branch %s of %s: %s. Read it by its snapshot id, FOR VERSION AS OF %s, or through a tag",
                    branch,
                    target.name(),
                    conflict,
                    snapshot.snapshotId());
        });
    }

    /**
     * The view of a branch that exists, made anew. Its snapshot log ends with the branch's snapshot, as if {@code main} had moved there with the last update.
     */
    static TableMetadata viewBranch(TableMetadata metadata, String branch)
    {
        if (branch.equals(MAIN_BRANCH)) {
            return metadata;
        }
        // the location comes first: it makes the builder keep the time of the last update
        return TableMetadata.buildFrom(metadata)
                .withMetadataLocation(metadata.metadataFileLocation())
                .setRef(MAIN_BRANCH, SnapshotRef.branchBuilder(metadata.ref(branch).snapshotId()).build())
                .discardChanges()
                .build();
    }

    private static void putMain(ObjectNode refs, Snapshot snapshot)
    {
        refs.putObject(MAIN_BRANCH).put("snapshot-id", snapshot.snapshotId()).put("type", "branch");
    }

    /**
     * The snapshot log of a view: the snapshot alone. Its time may not be after the last update, but clocks of several writers may differ.
     */
    private static void putLog(ObjectNode json, TableMetadata metadata, Snapshot snapshot)
    {
        json.putArray("snapshot-log").addObject()
                .put("timestamp-ms", Math.min(snapshot.timestampMillis(), metadata.lastUpdatedMillis()))
                .put("snapshot-id", snapshot.snapshotId());
    }

    /**
     * The table at a snapshot, which must exist.
     */
    public TableMetadata snapshot(FileIO io, TableMetadata metadata, long snapshotId)
    {
        Snapshot snapshot = metadata.snapshot(snapshotId);
        checkArgument(snapshot != null, "Snapshot does not exist: %s", snapshotId);
        return files.derived(metadata, "snapshot " + snapshotId, () -> {
            TableMetadata view = TableMetadataParser.fromJson(metadata.metadataFileLocation(), snapshotJson(io, metadata, snapshot));
            if (metadata.encryptionKeys().isEmpty()) {
                return view;
            }
            TableMetadata.Builder builder = TableMetadata.buildFrom(view);
            metadata.encryptionKeys().forEach(builder::addEncryptionKey);
            return builder.discardChanges().withMetadataLocation(metadata.metadataFileLocation()).build();
        });
    }

    /**
     * The metadata document of a table that has this one snapshot, by the Iceberg table specification, "Table Metadata Fields".
     */
    private static ObjectNode snapshotJson(FileIO io, TableMetadata metadata, Snapshot snapshot)
    {
        Schema schema = schema(metadata, snapshot);
        List<PartitionSpec> specs = specs(io, metadata, snapshot, schema);
        ObjectNode json = MetadataJson.create();
        json.put("format-version", metadata.formatVersion());
        if (metadata.uuid() != null) {
            json.put("table-uuid", metadata.uuid());
        }
        json.put("location", metadata.location());
        json.put("last-sequence-number", metadata.lastSequenceNumber());
        json.put("last-updated-ms", metadata.lastUpdatedMillis());
        json.put("last-column-id", metadata.lastColumnId());
        json.put("current-schema-id", schema.schemaId());
        ArrayNode schemas = json.putArray("schemas");
        metadata.schemas().forEach(value -> schemas.add(MetadataJson.parse(SchemaParser.toJson(value))));
        json.put("default-spec-id", defaultSpec(metadata, schema, specs).specId());
        ArrayNode partitionSpecs = json.putArray("partition-specs");
        specs.forEach(spec -> partitionSpecs.add(MetadataJson.parse(PartitionSpecParser.toJson(spec))));
        json.put("last-partition-id", metadata.lastAssignedPartitionId());
        // the present sort order may name columns that the schema does not have; it matters to writes only
        json.put("default-sort-order-id", 0);
        json.putArray("sort-orders").addObject().put("order-id", 0).putArray("fields");
        ObjectNode properties = json.putObject("properties");
        metadata.properties().forEach(properties::put);
        json.put("current-snapshot-id", snapshot.snapshotId());
        putMain(json.putObject("refs"), snapshot);
        json.putArray("snapshots").add(MetadataJson.parse(SnapshotParser.toJson(snapshot)));
        putLog(json, metadata, snapshot);
        ArrayNode statistics = json.putArray("statistics");
        for (StatisticsFile file : metadata.statisticsFiles()) {
            if (file.snapshotId() == snapshot.snapshotId()) {
                statistics.add(MetadataJson.parse(StatisticsFileParser.toJson(file)));
            }
        }
        if (metadata.formatVersion() >= 3) {
            json.put("next-row-id", metadata.nextRowId());
        }
        return json;
    }

    /**
     * The schema under which a snapshot was written, the present one if that is not known.
     */
    static Schema schema(TableMetadata metadata, Snapshot snapshot)
    {
        return snapshot.schemaId() == null ? metadata.schema() : metadata.schemasById().getOrDefault(snapshot.schemaId(), metadata.schema());
    }

    /**
     * The specs whose source columns the schema has, and those that the snapshot's files need. A later spec may be on a later column.
     */
    private static List<PartitionSpec> specs(FileIO io, TableMetadata metadata, Snapshot snapshot, Schema schema)
    {
        if (metadata.specs().stream().allMatch(spec -> binds(spec, schema))) {
            return metadata.specs();
        }
        Set<Integer> needed = snapshot.allManifests(io).stream()
                .map(ManifestFile::partitionSpecId)
                .collect(toImmutableSet());
        List<PartitionSpec> result = metadata.specs().stream()
                .filter(spec -> binds(spec, schema) || needed.contains(spec.specId()))
                .toList();
        return result.stream().anyMatch(spec -> binds(spec, schema)) ? result : withUnpartitioned(metadata, result);
    }

    private static List<PartitionSpec> withUnpartitioned(TableMetadata metadata, List<PartitionSpec> specs)
    {
        int unusedId = metadata.specs().stream().mapToInt(PartitionSpec::specId).max().orElse(-1) + 1;
        PartitionSpec unpartitioned = PartitionSpec.builderFor(metadata.schema()).withSpecId(unusedId).build();
        return Stream.concat(specs.stream(), Stream.of(unpartitioned)).toList();
    }

    private static PartitionSpec defaultSpec(TableMetadata metadata, Schema schema, List<PartitionSpec> specs)
    {
        return specs.stream()
                .filter(spec -> binds(spec, schema))
                .max(Comparator.comparing((PartitionSpec spec) -> spec.specId() == metadata.defaultSpecId()).thenComparing(PartitionSpec::specId))
                .orElseThrow();
    }

    private static boolean binds(PartitionSpec spec, Schema schema)
    {
        return SchemaConflict.findUnbound(spec, schema).isEmpty();
    }
}
