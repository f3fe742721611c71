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
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.List;
import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * How a commit ended. A third way to end, "unknown", is an exception: see {@link PointerStore#commit}.
 */
public sealed interface CommitResult
{
    /**
     * The commit is durable and part of the given state.
     *
     * @param logId the id of its log entry; the store's last one if it changed no pointer
     */
    record Committed(CatalogState state, long logId)
            implements CommitResult
    {
        public Committed
        {
            requireNonNull(state, "state is null");
        }
    }

    /**
     * The commit certainly did not happen: nothing was changed. Names everything that stood in its way.
     */
    record Conflict(List<Mismatch> mismatches)
            implements CommitResult
    {
        public Conflict
        {
            mismatches = ImmutableList.copyOf(mismatches);
            checkArgument(!mismatches.isEmpty(), "mismatches is empty");
        }
    }

    /**
     * One thing that was not as the commit expected.
     */
    sealed interface Mismatch {}

    record PointerMismatch(TableIdentifier name, Optional<TablePointer> expected, Optional<TablePointer> actual)
            implements Mismatch {}

    record NamespaceMismatch(Namespace namespace)
            implements Mismatch {}

    record NamespaceMissing(TableIdentifier name)
            implements Mismatch {}

    record NamespaceNotEmpty(Namespace namespace)
            implements Mismatch {}
}
