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

import org.apache.iceberg.catalog.TableIdentifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

import static io.skade.benchmark.Peers.NAMESPACE;
import static io.skade.benchmark.TableShape.snapshotId;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is compared does the same.
 */
final class TestPeers
{
    private static final TableShape SHAPE = new TableShape(5, 8);
    private static final TableIdentifier A = TableIdentifier.of(NAMESPACE, "a");
    private static final TableIdentifier B = TableIdentifier.of(NAMESPACE, "b");

    @TempDir
    private Path folder;

    @Test
    void testSameWork()
    {
        for (String name : Peers.names()) {
            try (Peer peer = Peers.open(name, folder)) {
                peer.createTables(List.of(A, B), SHAPE);
                assertThat(peer.refs(A)).as(name).containsOnlyKeys(
                        "branch_00000",
                        "branch_00001",
                        "branch_00002",
                        "branch_00003",
                        "main",
                        "tag_00004",
                        "tag_00005",
                        "tag_00006",
                        "tag_00007");
                assertThat(List.copyOf(peer.refs(A).keySet())).as(name).isSorted();
                assertThat(peer.snapshotId(A, "main")).as(name).isEqualTo(snapshotId(4));
                assertThat(peer.snapshotId(A, "tag_00005")).as(name).isEqualTo(snapshotId(0));

                peer.createTag(A, "new", snapshotId(3));
                assertThat(peer.snapshotId(A, "new")).as(name).isEqualTo(snapshotId(3));
                peer.dropTag(A, "new");
                assertThat(peer.refs(A)).as(name).doesNotContainKey("new");

                peer.setBranch(List.of(A, B), "published", snapshotId(0));
                peer.fastForward(List.of(A, B), "published", "branch_00002");
                assertThat(peer.snapshotId(A, "published")).as(name).isEqualTo(snapshotId(2));
                assertThat(peer.snapshotId(B, "published")).as(name).isEqualTo(snapshotId(2));
                peer.setBranch(List.of(A), "published", snapshotId(1));
                assertThat(peer.snapshotId(A, "published")).as(name).isEqualTo(snapshotId(1));
            }
        }
    }

    @Test
    void testNessieAllByOneRef()
    {
        try (NessiePeer peer = new NessiePeer(folder)) {
            peer.createTables(List.of(A, B), SHAPE);
            assertThat(peer.refs(A).get("branch_00002")).isEqualTo(peer.refs(A).get("tag_00007"));

            peer.setBranch(List.of(A, B), "published", snapshotId(0));
            peer.assign("published", "branch_00002");
            assertThat(peer.snapshotId(A, "published")).isEqualTo(snapshotId(2));
            assertThat(peer.snapshotId(B, "published")).isEqualTo(snapshotId(2));

            peer.fastForward(List.of(A), "published", "branch_00003");
            assertThat(peer.snapshotId(A, "published")).isEqualTo(snapshotId(3));
            assertThat(peer.snapshotId(B, "published")).isEqualTo(snapshotId(2));
            assertThat(peer.refs(A).get("published")).isNotIn(peer.refs(A).get("branch_00003"), peer.refs(A).get("branch_00002"));
        }
    }
}
