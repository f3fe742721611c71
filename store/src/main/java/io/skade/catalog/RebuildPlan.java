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
package io.skade.catalog;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.skade.store.CommitAuthor;
import io.skade.store.CommitResult.Conflict;
import io.skade.store.NamespaceChange;
import io.skade.store.PointerChange;
import io.skade.store.PointerCommit;
import io.skade.store.PointerStore;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;

import java.util.List;
import java.util.Optional;

import static com.google.common.collect.ImmutableList.toImmutableList;

/**
 * What a rebuild of the store does, by name.
 *
 * @param namespaces those that the tables and views need and the store does not have
 */
public record RebuildPlan(List<Namespace> namespaces, List<RebuildStep> steps)
{
    public RebuildPlan
    {
        namespaces = ImmutableList.copyOf(namespaces);
        steps = ImmutableList.copyOf(steps);
    }

    public List<PointerChange> changes()
    {
        return steps.stream()
                .flatMap(step -> step.change().stream())
                .collect(toImmutableList());
    }

    /**
     * Does it, in one commit.
     *
     * @throws CommitFailedException if the store is not what it was when the plan was made; nothing was changed
     * @throws CommitStateUnknownException if it is not known whether the commit is durable
     */
    public void commit(PointerStore store, CommitAuthor author)
    {
        List<PointerChange> changes = changes();
        if (changes.isEmpty()) {
            return;
        }
        List<NamespaceChange> created = namespaces.stream()
                .map(namespace -> new NamespaceChange(namespace, Optional.empty(), Optional.of(ImmutableMap.of())))
                .collect(toImmutableList());
        if (store.commit(new PointerCommit(author, created, changes)) instanceof Conflict conflict) {
            throw new CommitFailedException("Cannot rebuild the store: other commits were made meanwhile: %s", conflict.mismatches());
        }
    }
}
