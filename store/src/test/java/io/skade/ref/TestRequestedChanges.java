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
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.ref.SnapshotSelector.AtSnapshot;
import io.skade.store.LogEntry.TableChange;
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.MetadataUpdate.AddSnapshot;
import org.apache.iceberg.MetadataUpdate.RemoveSnapshotRef;
import org.apache.iceberg.MetadataUpdate.RemoveSnapshots;
import org.apache.iceberg.MetadataUpdate.SetProperties;
import org.apache.iceberg.MetadataUpdate.SetSnapshotRef;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SnapshotRefType;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.UpdateRequirement;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.TestingCatalog.NO_RETRIES;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Metadata updates of a client that does not see the newest version of the table.
 */
class TestRequestedChanges
{
    private static final AtRef MAIN = new AtRef("main");

    @TempDir
    private Path warehouse;

    private TestingCatalog lake;
    private long first;
    private long second;

    @BeforeEach
    void createTable()
    {
        lake = new TestingCatalog(warehouse);
        first = append(lake.createTable(T, NO_RETRIES)).snapshotId();
        second = append(lake.load(T)).snapshotId();
    }

    @Test
    void testRequirementThatIsNotMet()
    {
        MetadataUpdate update = new SetProperties(Map.of("a", "b"));
        assertConflict("branch main has changed", ImmutableList.of(new UpdateRequirement.AssertRefSnapshotID("main", first)), update);
        commit(ImmutableList.of(new UpdateRequirement.AssertRefSnapshotID("main", second)), update);
        assertThat(lake.load(T).properties()).containsEntry("a", "b");
    }

    /**
     * A client that removes old snapshots names the refs that it removes with them, and requires nothing of the others.
     */
    @Test
    void testRemovalOfSnapshotWithRefThatTheClientDoesNotKnow()
    {
        lake.commit(T, createTag("v1", new AtSnapshot(first), Retention.DEFAULT, IfExists.REFUSE));
        assertConflict("Cannot commit: v1 of db.t is at a snapshot that would be removed", ImmutableList.of(), new RemoveSnapshots(first));
        assertConflict("Cannot commit: main of db.t is at a snapshot that would be removed", ImmutableList.of(), new RemoveSnapshots(second));

        commit(ImmutableList.of(), new RemoveSnapshotRef("v1"), new RemoveSnapshots(first));
        assertThat(lake.refs(T)).containsOnlyKeys("main");
        assertThat(lake.load(T).snapshots()).extracting("snapshotId").containsExactly(second);
    }

    /**
     * A replacement takes its time, and does not keep others from writing.
     */
    @Test
    void testReplacementWhoseSequenceNumberWasOutrun()
    {
        long built = lake.metadata(T).lastSequenceNumber() + 1;
        append(lake.load(T));
        append(lake.load(T));
        lake.commit(T, createTag("v1", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        commit(ImmutableList.of(), new RemoveSnapshotRef("main"), addSnapshot(77, built), setMain(77));

        TableMetadata metadata = lake.metadata(T);
        assertThat(lake.snapshotId(T, "main")).isEqualTo(77);
        assertThat(metadata.snapshots()).hasSize(5);
        assertThat(metadata.snapshot(lake.snapshotId(T, "v1"))).isNotNull();
        assertThat(metadata.lastSequenceNumber()).isEqualTo(built + 1);
        assertThat(lake.lastLogEntry().tables()).extracting(TableChange::operation).containsExactly("replace_table");

        lake.load(T).updateProperties().set("format-version", "3").commit();
        assertConflict("Cannot commit: db.t was changed since the commit was built", ImmutableList.of(), new RemoveSnapshotRef("main"), addSnapshot(78, built), setMain(78));
    }

    /**
     * A snapshot without parent that replaces nothing can be built anew.
     */
    @Test
    void testFirstSnapshotWhoseSequenceNumberWasOutrun()
    {
        lake.commit(T, createBranch("dev", MAIN, Retention.DEFAULT, IfExists.REFUSE));
        commit(ImmutableList.of(), new RemoveSnapshotRef("main"));
        long built = lake.metadata(T).lastSequenceNumber() + 1;
        append(lake.loadBranch(T, "dev"));
        UpdateRequirement noMain = new UpdateRequirement.AssertRefSnapshotID("main", null);
        assertConflict("Cannot commit: db.t was changed since the commit was built", ImmutableList.of(noMain), addSnapshot(77, built), setMain(77));
        commit(ImmutableList.of(noMain), addSnapshot(77, built + 1), setMain(77));
        assertThat(lake.metadata(T).lastSequenceNumber()).isEqualTo(built + 1);
    }

    private static MetadataUpdate addSnapshot(long snapshotId, long sequenceNumber)
    {
        return new AddSnapshot(SnapshotParser.fromJson(
                """
                {
                  "snapshot-id": %s,
                  "sequence-number": %s,
                  "timestamp-ms": %s,
                  "summary": {"operation": "append"},
                  "manifest-list": "/data/snap-%1$s.avro",
                  "schema-id": 0
                }
                """.formatted(snapshotId, sequenceNumber, System.currentTimeMillis())));
    }

    private static MetadataUpdate setMain(long snapshotId)
    {
        return new SetSnapshotRef("main", snapshotId, SnapshotRefType.BRANCH, null, null, null);
    }

    private void commit(List<UpdateRequirement> requirements, MetadataUpdate... updates)
    {
        lake.commit(T, new RequestedChanges(requirements, ImmutableList.copyOf(updates)));
    }

    private void assertConflict(String message, List<UpdateRequirement> requirements, MetadataUpdate... updates)
    {
        Map<String, SnapshotRef> refs = lake.refs(T);
        String location = lake.pointer(T).metadataLocation();
        assertThatThrownBy(() -> commit(requirements, updates))
                .isInstanceOf(CommitFailedException.class)
                .hasMessageContaining(message);
        assertThat(lake.pointer(T).metadataLocation()).isEqualTo(location);
        assertThat(lake.refs(T)).isEqualTo(refs);
    }
}
