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
package io.skade.ref;

import com.google.common.collect.ImmutableList;
import io.skade.store.LogEntry.TableChange;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.FileIO;

import java.util.List;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * The table that a {@link RefUpdate} is applied to.
 *
 * @param log the logged changes of the table, newest first; read when it is asked for
 * @param io for updates that write manifests, such as a cherry-pick; the metadata file itself is written by whoever applies the update
 */
public record RefTarget(TableIdentifier name, TableMetadata metadata, Supplier<List<TableChange>> log, FileIO io)
{
    public RefTarget
    {
        requireNonNull(name, "name is null");
        requireNonNull(metadata, "metadata is null");
        requireNonNull(log, "log is null");
        requireNonNull(io, "io is null");
    }

    /**
     * A table that is only looked at, without its log.
     */
    public RefTarget(TableIdentifier name, TableMetadata metadata, FileIO io)
    {
        this(name, metadata, ImmutableList::of, io);
    }
}
