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

import com.google.common.collect.ImmutableMap;
import io.vavr.collection.HashMap;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Comparator.comparing;
import static java.util.Objects.requireNonNull;

/**
 * All pointers and namespaces at one moment. Immutable: a commit makes a new state that shares what did not change.
 */
public final class CatalogState
{
    public static final CatalogState EMPTY = new CatalogState(0, HashMap.empty());

    private final long lastLogId;
    private final HashMap<Namespace, NamespaceState> namespaces;

    private CatalogState(long lastLogId, HashMap<Namespace, NamespaceState> namespaces)
    {
        this.lastLogId = lastLogId;
        this.namespaces = requireNonNull(namespaces, "namespaces is null");
    }

    /**
     * The id of the newest commit that this state contains, 0 before the first.
     */
    public long lastLogId()
    {
        return lastLogId;
    }

    public Optional<TablePointer> find(TableIdentifier name)
    {
        // without an object for each step, this is the hot path of every read
        NamespaceState namespace = namespaces.getOrElse(name.namespace(), null);
        return namespace == null ? Optional.empty() : Optional.ofNullable(namespace.pointers().getOrElse(name.name(), null));
    }

    public Optional<TablePointer> find(TableIdentifier name, PointerKind kind)
    {
        return find(name).filter(pointer -> pointer.kind() == kind);
    }

    public boolean namespaceExists(Namespace namespace)
    {
        return namespaces.containsKey(namespace);
    }

    /**
     * The properties of a namespace, empty if there is no such namespace.
     */
    public Optional<Map<String, String>> namespaceProperties(Namespace namespace)
    {
        return namespaces.get(namespace).map(NamespaceState::properties).toJavaOptional();
    }

    public List<Namespace> namespaces()
    {
        return namespaces.keySet().toJavaStream()
                .sorted(comparing(Namespace::toString))
                .collect(toImmutableList());
    }

    /**
     * The names of all pointers of one kind in a namespace, in their order; empty if there is no such namespace.
     */
    public List<TableIdentifier> list(Namespace namespace, PointerKind kind)
    {
        return pointers(namespace)
                .filter(entry -> entry.getValue().kind() == kind)
                .map(Map.Entry::getKey)
                .sorted(comparing(TableIdentifier::name))
                .collect(toImmutableList());
    }

    /**
     * All pointers of a namespace in no particular order.
     */
    public Stream<Map.Entry<TableIdentifier, TablePointer>> pointers(Namespace namespace)
    {
        return namespaces.get(namespace)
                .map(state -> state.pointers().toJavaStream()
                        .map(pointer -> Map.entry(TableIdentifier.of(namespace, pointer._1()), pointer._2())))
                .getOrElse(Stream::empty);
    }

    CatalogState withLastLogId(long logId)
    {
        return new CatalogState(logId, namespaces);
    }

    /**
     * This state with a namespace of these properties, new or already there.
     */
    public CatalogState withNamespace(Namespace namespace, Map<String, String> properties)
    {
        HashMap<String, TablePointer> pointers = namespaces.get(namespace).map(NamespaceState::pointers).getOrElse(HashMap.empty());
        return new CatalogState(lastLogId, namespaces.put(namespace, new NamespaceState(properties, pointers)));
    }

    CatalogState withoutNamespace(Namespace namespace)
    {
        return new CatalogState(lastLogId, namespaces.remove(namespace));
    }

    /**
     * This state with one pointer put or taken away, everything else as it is. The namespace must exist.
     */
    public CatalogState with(TableIdentifier name, Optional<TablePointer> pointer)
    {
        NamespaceState namespace = namespaces.get(name.namespace()).getOrElseThrow(() -> new IllegalArgumentException("Namespace does not exist: " + name.namespace()));
        HashMap<String, TablePointer> pointers = pointer
                .map(value -> namespace.pointers().put(name.name(), value))
                .orElseGet(() -> namespace.pointers().remove(name.name()));
        return new CatalogState(lastLogId, namespaces.put(name.namespace(), new NamespaceState(namespace.properties(), pointers)));
    }

    /**
     * Whether both hold the same pointers and namespaces, as of the same commit.
     */
    boolean isSameAs(CatalogState other)
    {
        return lastLogId == other.lastLogId && namespaces.equals(other.namespaces);
    }

    private record NamespaceState(Map<String, String> properties, HashMap<String, TablePointer> pointers)
    {
        private NamespaceState
        {
            properties = ImmutableMap.copyOf(properties);
            requireNonNull(pointers, "pointers is null");
        }
    }
}
