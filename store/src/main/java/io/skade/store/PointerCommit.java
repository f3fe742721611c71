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

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * Moves one or several pointers, all or none, if each is what was expected. No name may stand in it twice.
 *
 * @param documents the content of those of the new metadata files that may not be durable yet
 */
public record PointerCommit(CommitAuthor author, List<NamespaceChange> namespaces, List<PointerChange> pointers, List<MetadataDocument> documents)
{
    public PointerCommit
    {
        requireNonNull(author, "author is null");
        namespaces = ImmutableList.copyOf(namespaces);
        pointers = ImmutableList.copyOf(pointers);
        documents = ImmutableList.copyOf(documents);
        Set<Object> names = new HashSet<>();
        namespaces.forEach(change -> checkArgument(names.add(change.namespace()), "Namespace is changed twice in one commit: %s", change.namespace()));
        pointers.forEach(change -> checkArgument(names.add(change.name()), "Table is changed twice in one commit: %s", change.name()));
    }

    public PointerCommit(CommitAuthor author, List<NamespaceChange> namespaces, List<PointerChange> pointers)
    {
        this(author, namespaces, pointers, ImmutableList.of());
    }

    public static PointerCommit of(CommitAuthor author, PointerChange... pointers)
    {
        return new PointerCommit(author, ImmutableList.of(), ImmutableList.copyOf(pointers));
    }

    public static PointerCommit of(CommitAuthor author, NamespaceChange namespace)
    {
        return new PointerCommit(author, ImmutableList.of(namespace), ImmutableList.of());
    }
}
