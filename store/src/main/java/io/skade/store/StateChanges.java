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
import io.skade.store.CommitResult.Mismatch;
import io.skade.store.CommitResult.NamespaceMismatch;
import io.skade.store.CommitResult.NamespaceMissing;
import io.skade.store.CommitResult.NamespaceNotEmpty;
import io.skade.store.CommitResult.PointerMismatch;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;

/**
 * What a commit means: the comparison with the state it expects, and the state it makes.
 */
final class StateChanges
{
    private StateChanges() {}

    /**
     * Everything in {@code state} that is not as the commit expects; empty if the commit can be applied.
     */
    static List<Mismatch> check(CatalogState state, PointerCommit commit)
    {
        ImmutableList.Builder<Mismatch> mismatches = ImmutableList.builder();
        for (NamespaceChange change : commit.namespaces()) {
            if (!state.namespaceProperties(change.namespace()).equals(change.expected())) {
                mismatches.add(new NamespaceMismatch(change.namespace()));
            }
        }
        for (PointerChange change : commit.pointers()) {
            Optional<TablePointer> actual = state.find(change.name());
            if (!actual.equals(change.expected())) {
                mismatches.add(new PointerMismatch(change.name(), change.expected(), actual));
            }
            else if (change.next().isPresent() && !namespaceExistsAfter(state, commit, change.name().namespace())) {
                mismatches.add(new NamespaceMissing(change.name()));
            }
        }
        for (NamespaceChange change : commit.namespaces()) {
            if (change.next().isEmpty() && !isEmptyAfter(state, commit, change.namespace())) {
                mismatches.add(new NamespaceNotEmpty(change.namespace()));
            }
        }
        return mismatches.build();
    }

    /**
     * The state after a commit that {@link #check} found nothing against.
     */
    static CatalogState apply(CatalogState state, PointerCommit commit)
    {
        CatalogState result = state;
        for (NamespaceChange change : commit.namespaces()) {
            if (change.next().isPresent()) {
                result = result.withNamespace(change.namespace(), change.next().get());
            }
        }
        for (PointerChange change : commit.pointers()) {
            result = result.with(change.name(), change.next());
        }
        for (NamespaceChange change : commit.namespaces()) {
            if (change.next().isEmpty()) {
                result = result.withoutNamespace(change.namespace());
            }
        }
        return result;
    }

    private static boolean namespaceExistsAfter(CatalogState state, PointerCommit commit, Namespace namespace)
    {
        return commit.namespaces().stream()
                .filter(change -> change.namespace().equals(namespace))
                .findFirst()
                .map(change -> change.next().isPresent())
                .orElseGet(() -> state.namespaceExists(namespace));
    }

    private static boolean isEmptyAfter(CatalogState state, PointerCommit commit, Namespace namespace)
    {
        Set<TableIdentifier> removed = commit.pointers().stream()
                .filter(change -> change.next().isEmpty())
                .map(PointerChange::name)
                .collect(toImmutableSet());
        return state.pointers(namespace).map(Map.Entry::getKey).allMatch(removed::contains) &&
                state.namespaces().stream().noneMatch(other -> isChild(other, namespace));
    }

    private static boolean isChild(Namespace namespace, Namespace parent)
    {
        return namespace.length() > parent.length() &&
                Arrays.equals(Arrays.copyOf(namespace.levels(), parent.length()), parent.levels());
    }
}
