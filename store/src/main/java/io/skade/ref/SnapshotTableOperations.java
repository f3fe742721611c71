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

import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.io.FileIO;

import static java.util.Objects.requireNonNull;

/**
 * A table that cannot be changed: fixed metadata, see {@link RefViews#snapshot}.
 */
public final class SnapshotTableOperations
        implements StoredTableOperations
{
    private final TableMetadata metadata;
    private final FileIO io;

    public SnapshotTableOperations(TableMetadata metadata, FileIO io)
    {
        this.metadata = requireNonNull(metadata, "metadata is null");
        this.io = requireNonNull(io, "io is null");
    }

    @Override
    public TableMetadata current()
    {
        return metadata;
    }

    @Override
    public TableMetadata refresh()
    {
        return metadata;
    }

    @Override
    public void commit(TableMetadata base, TableMetadata newMetadata)
    {
        throw new UnsupportedOperationException("A tag or snapshot cannot be written");
    }

    @Override
    public TableOperations temp(TableMetadata uncommittedMetadata)
    {
        return new SnapshotTableOperations(uncommittedMetadata, io);
    }

    @Override
    public FileIO io()
    {
        return io;
    }
}
