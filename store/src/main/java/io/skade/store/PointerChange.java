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
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.List;
import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * One pointer's part of a commit: what is expected there, and what shall be there afterwards.
 *
 * @param expected the whole pointer that must be there, or empty for "must not exist"
 * @param next the pointer to put, or empty to take it away
 * @param operation the name under which the log shows the change
 * @param refChanges what the change does to the table's refs
 * @param undoSteps by how many changes an undo takes a ref back along its log, negative if forward again; 0 for everything else
 */
public record PointerChange(
        TableIdentifier name,
        Optional<TablePointer> expected,
        Optional<TablePointer> next,
        String operation,
        List<RefChange> refChanges,
        int undoSteps)
{
    public PointerChange
    {
        requireNonNull(name, "name is null");
        requireNonNull(expected, "expected is null");
        requireNonNull(next, "next is null");
        requireNonNull(operation, "operation is null");
        checkArgument(expected.isPresent() || next.isPresent(), "nothing expected and nothing to put for %s", name);
        refChanges = ImmutableList.copyOf(refChanges);
    }

    public PointerChange(TableIdentifier name, Optional<TablePointer> expected, Optional<TablePointer> next, String operation, List<RefChange> refChanges)
    {
        this(name, expected, next, operation, refChanges, 0);
    }
}
