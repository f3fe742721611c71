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
package io.skade.store;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import org.apache.iceberg.SnapshotRef;
import org.junit.jupiter.api.Test;

import java.util.Optional;

import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What a commit may be made of.
 */
class TestPointerCommit
{
    @Test
    void testNameTwice()
    {
        TablePointer pointer = newTable(1);
        assertThatThrownBy(() -> PointerCommit.of(ALICE, move(table("t"), pointer, 2), move(table("t"), pointer, 3)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Table is changed twice in one commit: db.t");
        assertThatThrownBy(() -> new PointerCommit(ALICE, ImmutableList.of(createNamespace(DB), createNamespace(DB)), ImmutableList.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Namespace is changed twice in one commit: db");
        assertThat(PointerCommit.of(ALICE, create(table("t"), pointer), create(table("T"), pointer)).pointers()).hasSize(2);
    }

    @Test
    void testChangeOfNothing()
    {
        assertThatThrownBy(() -> new PointerChange(table("t"), Optional.empty(), Optional.empty(), "drop", ImmutableList.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("nothing expected and nothing to put for db.t");
        assertThatThrownBy(() -> new NamespaceChange(DB, Optional.empty(), Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("nothing expected and nothing to put for db");
    }

    @Test
    void testRefChangeKinds()
    {
        Optional<SnapshotRef> one = Optional.of(SnapshotRef.branchBuilder(1).build());
        Optional<SnapshotRef> oneKept = Optional.of(SnapshotRef.branchBuilder(1).maxRefAgeMs(9L).build());
        Optional<SnapshotRef> two = Optional.of(SnapshotRef.branchBuilder(2).maxRefAgeMs(9L).build());
        assertThat(new RefChange("b", Optional.empty(), one).kind()).isEqualTo(RefChangeKind.CREATED);
        assertThat(new RefChange("b", one, two).kind()).isEqualTo(RefChangeKind.MOVED);
        assertThat(new RefChange("b", one, oneKept).kind()).isEqualTo(RefChangeKind.RETENTION_CHANGED);
        assertThat(new RefChange("b", one, Optional.empty()).kind()).isEqualTo(RefChangeKind.DROPPED);
        assertThatThrownBy(() -> new RefChange("b", one, one))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("ref b did not change");
    }

    @Test
    void testPointer()
    {
        assertThatThrownBy(() -> TablePointer.newTable("uuid", "", ImmutableMap.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("metadataLocation is empty");
        TablePointer pointer = newTable(1);
        assertThat(pointer.version()).isZero();
        assertThat(pointer.moveTo("other", "m", ImmutableMap.of()))
                .isEqualTo(new TablePointer(PointerKind.TABLE, pointer.id(), "other", "m", ImmutableMap.of(), 1));
        assertThat(TablePointer.newTable("uuid", "m", ImmutableMap.of(
                "b", SnapshotRef.branchBuilder(1).build(),
                "a", SnapshotRef.branchBuilder(1).build())).refs().keySet())
                .containsExactly("a", "b");
    }
}
