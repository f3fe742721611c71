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

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import static java.util.Objects.requireNonNull;

/**
 * One commit in the log.
 *
 * @param logId grows with every commit of the store
 * @param committedAt in milliseconds
 */
public record LogEntry(long logId, Instant committedAt, CommitAuthor author, List<TableChange> tables)
{
    public LogEntry
    {
        requireNonNull(committedAt, "committedAt is null");
        requireNonNull(author, "author is null");
        tables = ImmutableList.copyOf(tables);
    }

    /**
     * What the commit did to one table or view.
     *
     * @param name the name after the commit; for a drop, the name it had
     * @param pointerId see {@link TablePointer#id}
     * @param metadataLocation the metadata file after the commit, empty for a drop
     * @param undoSteps see {@link PointerChange#undoSteps}
     */
    public record TableChange(TableIdentifier name, UUID pointerId, String operation, Optional<String> metadataLocation, List<RefChange> refChanges, int undoSteps)
    {
        public TableChange
        {
            requireNonNull(name, "name is null");
            requireNonNull(pointerId, "pointerId is null");
            requireNonNull(operation, "operation is null");
            requireNonNull(metadataLocation, "metadataLocation is null");
            refChanges = ImmutableList.copyOf(refChanges);
        }

        public TableChange(TableIdentifier name, UUID pointerId, String operation, Optional<String> metadataLocation, List<RefChange> refChanges)
        {
            this(name, pointerId, operation, metadataLocation, refChanges, 0);
        }
    }
}
