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
import io.skade.ref.MetadataRenderer.Rendering;
import org.apache.iceberg.GenericBlobMetadata;
import org.apache.iceberg.GenericStatisticsFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is rendered is what Iceberg writes, byte for byte.
 */
class TestMetadataRenderer
{
    private TableMetadata metadata = TestingMetadata.table();
    private Rendering rendering = check(metadata, Optional.empty());
    private int version;

    private void change(Consumer<TableMetadata.Builder> change)
    {
        TableMetadata.Builder builder = TableMetadata.buildFrom(metadata);
        change.accept(builder);
        metadata = TableMetadata.buildFrom(builder.discardChanges().build())
                .withMetadataLocation("/warehouse/t/metadata/%s.metadata.json".formatted(version++))
                .build();
        rendering = check(metadata, Optional.of(rendering));
    }

    private static Rendering check(TableMetadata metadata, Optional<Rendering> before)
    {
        Rendering rendering = MetadataRenderer.render(metadata, before);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        rendering.parts().forEach(bytes::writeBytes);
        assertThat(bytes.toString(UTF_8)).isEqualTo(TableMetadataParser.toJson(metadata));
        assertThat(rendering.length()).isEqualTo(bytes.size());
        return rendering;
    }

    @Test
    void testRefs()
    {
        byte[] snapshots = rendering.part("snapshots");
        change(builder -> builder.setRef("v2", SnapshotRef.tagBuilder(2).build()));
        change(builder -> builder.setRef("main", SnapshotRef.branchBuilder(2).build()));
        change(builder -> builder.removeRef("v1"));
        change(builder -> builder.setRef("a", SnapshotRef.tagBuilder(1).build()).removeRef("audit").setRef("ä\"", SnapshotRef.branchBuilder(3).minSnapshotsToKeep(4).build()));
        for (int i = 0; i < 300; i++) {
            String ref = "ref" + i;
            change(builder -> builder.setRef(ref, SnapshotRef.tagBuilder(1 + ref.length() % 3).build()));
        }
        for (int i = 0; i < 300; i += 7) {
            int first = i;
            change(builder -> {
                for (int j = first; j < first + 6 && j < 300; j++) {
                    builder.removeRef("ref" + j);
                }
            });
        }
        // not written again
        assertThat(rendering.part("snapshots")).isSameAs(snapshots);
    }

    @Test
    void testSnapshots()
    {
        change(builder -> builder.setBranchSnapshot(TestingMetadata.snapshot(7, OptionalLong.of(3)), "main"));
        change(builder -> builder
                .addSnapshot(TestingMetadata.snapshot(8, OptionalLong.of(7)))
                .addSnapshot(TestingMetadata.snapshot(9, OptionalLong.of(8))));
        change(builder -> builder.removeSnapshots(ImmutableList.of(8L)));
        change(builder -> builder.removeSnapshots(ImmutableList.of(9L)).setBranchSnapshot(TestingMetadata.snapshot(10, OptionalLong.of(7)), "main"));
        change(builder -> builder.removeRef("audit").removeRef("dev").removeRef("v1").removeSnapshots(ImmutableList.of(1L, 2L, 3L, 4L, 5L, 6L, 7L)));
    }

    @Test
    void testSnapshotsOfAnEmptyTable()
    {
        metadata = TestingMetadata.emptyTable();
        rendering = check(metadata, Optional.of(rendering));
        change(builder -> builder.setProperties(ImmutableMap.of("a", "snapshots", "snapshots", "[{\"ä\": 1}]")));
        change(builder -> builder.setBranchSnapshot(TestingMetadata.snapshot(1, OptionalLong.empty()), "main"));
        change(builder -> builder.setBranchSnapshot(TestingMetadata.snapshot(2, OptionalLong.of(1)), "main"));
    }

    @Test
    void testOtherFields()
    {
        change(builder -> builder.setCurrentSchema(new Schema(Types.NestedField.required(1, "id", Types.LongType.get()), Types.NestedField.optional(2, "ä\"", Types.StringType.get())), 2));
        change(builder -> builder.addPartitionSpec(PartitionSpec.builderFor(metadata.schema()).bucket("id", 4).build()));
        change(builder -> builder.setDefaultSortOrder(SortOrder.builderFor(metadata.schema()).asc("id").build()));
        change(builder -> builder.setStatistics(new GenericStatisticsFile(3, "/s.puffin", 10, 5, ImmutableList.of(new GenericBlobMetadata("t", 3, 3, ImmutableList.of(1), ImmutableMap.of("k", "v"))))));
        change(builder -> builder.setProperties(ImmutableMap.of("k", "v".repeat(100_000))));
        change(builder -> builder.setRef("w", SnapshotRef.branchBuilder(1).minSnapshotsToKeep(1).maxSnapshotAgeMs(2L).maxRefAgeMs(3L).build()));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void testFormatVersions(int version)
    {
        metadata = TableMetadata.newTableMetadata(
                new Schema(Types.NestedField.required(1, "id", Types.LongType.get())),
                PartitionSpec.unpartitioned(),
                SortOrder.unsorted(),
                "/warehouse/t",
                ImmutableMap.of("format-version", Integer.toString(version)));
        rendering = check(metadata, Optional.empty());
        change(builder -> builder.setProperties(ImmutableMap.of("a", "b")));
    }

    /**
     * Rendering after an upgrade: the fields are others.
     */
    @Test
    void testUpgrade()
    {
        change(builder -> builder.upgradeFormatVersion(3));
        change(builder -> builder.setRef("v2", SnapshotRef.tagBuilder(2).build()));
    }
}
