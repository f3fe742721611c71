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
import io.skade.store.CommitResult.Committed;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What tests of pointer stores make and compare. A table at step {@code n} has the metadata file {@code n.metadata.json} and {@code main} at
 * snapshot {@code n}.
 */
final class TestingPointers
{
    static final CommitAuthor ALICE = new CommitAuthor("alice", Optional.of("query_1"));
    static final CommitAuthor BOB = new CommitAuthor("bob", Optional.empty());
    static final Namespace DB = Namespace.of("db");

    private TestingPointers() {}

    static TableIdentifier table(String name)
    {
        return TableIdentifier.of(DB, name);
    }

    static TablePointer newTable(long step)
    {
        return TablePointer.newTable("uuid", step + ".metadata.json", refs(step));
    }

    static Map<String, SnapshotRef> refs(long step)
    {
        return ImmutableMap.of("main", SnapshotRef.branchBuilder(step).build());
    }

    static PointerChange create(TableIdentifier name, TablePointer pointer)
    {
        return new PointerChange(name, Optional.empty(), Optional.of(pointer), "create", ImmutableList.of());
    }

    static PointerChange move(TableIdentifier name, TablePointer expected, long step)
    {
        RefChange change = new RefChange("main", Optional.ofNullable(expected.refs().get("main")), Optional.of(SnapshotRef.branchBuilder(step).build()));
        return new PointerChange(name, Optional.of(expected), Optional.of(moved(expected, step)), "move", ImmutableList.of(change));
    }

    static TablePointer moved(TablePointer pointer, long step)
    {
        return pointer.moveTo(pointer.uuid(), step + ".metadata.json", refs(step));
    }

    static PointerChange drop(TableIdentifier name, TablePointer expected)
    {
        return new PointerChange(name, Optional.of(expected), Optional.empty(), "drop", ImmutableList.of());
    }

    static PointerCommit rename(TableIdentifier from, TableIdentifier to, TablePointer expected)
    {
        return PointerCommit.of(
                ALICE,
                new PointerChange(from, Optional.of(expected), Optional.empty(), "rename", ImmutableList.of()),
                new PointerChange(to, Optional.empty(), Optional.of(expected), "rename", ImmutableList.of()));
    }

    static NamespaceChange createNamespace(Namespace namespace)
    {
        return new NamespaceChange(namespace, Optional.empty(), Optional.of(ImmutableMap.of()));
    }

    static NamespaceChange dropNamespace(Namespace namespace)
    {
        return new NamespaceChange(namespace, Optional.of(ImmutableMap.of()), Optional.empty());
    }

    static Committed committed(CommitResult result)
    {
        assertThat(result).isInstanceOf(Committed.class);
        return (Committed) result;
    }

    /**
     * Everything that is in a state, as a value that can be compared.
     */
    static Map<String, Object> content(CatalogState state)
    {
        Map<String, Object> content = new TreeMap<>();
        content.put("last log id", state.lastLogId());
        for (Namespace namespace : state.namespaces()) {
            content.put("namespace " + namespace, state.namespaceProperties(namespace).orElseThrow());
            state.pointers(namespace).forEach(entry -> content.put("pointer " + entry.getKey(), entry.getValue()));
        }
        return content;
    }
}
