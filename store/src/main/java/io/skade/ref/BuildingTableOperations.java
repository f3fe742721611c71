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
 * A table on which Iceberg builds new metadata that is committed elsewhere: what it commits here becomes the current metadata and is written
 * nowhere. Manifests are written.
 */
final class BuildingTableOperations
        implements StoredTableOperations
{
    private final FileIO io;
    private TableMetadata current;

    BuildingTableOperations(TableMetadata metadata, FileIO io)
    {
        this.current = requireNonNull(metadata, "metadata is null");
        this.io = requireNonNull(io, "io is null");
    }

    @Override
    public TableMetadata current()
    {
        return current;
    }

    @Override
    public TableMetadata refresh()
    {
        return current;
    }

    @Override
    public void commit(TableMetadata base, TableMetadata metadata)
    {
        current = metadata;
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
