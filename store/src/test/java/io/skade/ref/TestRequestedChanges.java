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
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.MetadataUpdate.RemoveSnapshotRef;
import org.apache.iceberg.MetadataUpdate.RemoveSnapshots;
import org.apache.iceberg.MetadataUpdate.SetProperties;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.UpdateRequirement;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

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
        lake.commit(T, createTag("v1", new SnapshotSelector.AtSnapshot(first), Retention.DEFAULT, RefUpdates.IfExists.REFUSE));
        assertConflict("Cannot commit: v1 of db.t is at a snapshot that would be removed", ImmutableList.of(), new RemoveSnapshots(first));
        assertConflict("Cannot commit: main of db.t is at a snapshot that would be removed", ImmutableList.of(), new RemoveSnapshots(second));

        commit(ImmutableList.of(), new RemoveSnapshotRef("v1"), new RemoveSnapshots(first));
        assertThat(lake.refs(T)).containsOnlyKeys("main");
        assertThat(lake.load(T).snapshots()).extracting("snapshotId").containsExactly(second);
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
