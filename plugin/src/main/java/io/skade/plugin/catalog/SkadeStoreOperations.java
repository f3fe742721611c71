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
package io.skade.plugin.catalog;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.inject.Inject;
import io.skade.catalog.StoreCheck;
import io.skade.catalog.StoreProblem;
import io.skade.store.CatalogState;
import io.trino.filesystem.FileIterator;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoFileSystem;
import io.trino.filesystem.TrinoFileSystemFactory;
import io.trino.filesystem.switching.SwitchingFileSystemFactory;
import io.trino.plugin.iceberg.fileio.ForwardingFileIoFactory;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.FileIO;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.plugin.catalog.SkadeTables.schemaTableName;
import static io.trino.plugin.iceberg.IcebergSessionProperties.isUseFileSizeFromMetadata;
import static java.util.Objects.requireNonNull;

/**
 * What an operator does with the store, as the user of a session.
 */
public final class SkadeStoreOperations
{
    /**
     * How long a commit may take from its metadata file to its pointer before it counts as cut off.
     */
    private static final long PAUSE_MILLIS = 2000;

    private final SkadeTables tables;
    private final ForwardingFileIoFactory fileIoFactory;
    private final TrinoFileSystemFactory fileSystemFactory;

    /**
     * @param fileSystems by the schemes of their locations; these read the files themselves, what {@code cachedFileSystem} creates reads from memory
     */
    @Inject
    public SkadeStoreOperations(SkadeTables tables, ForwardingFileIoFactory fileIoFactory, Map<String, TrinoFileSystemFactory> fileSystems, TrinoFileSystemFactory cachedFileSystem)
    {
        this.tables = requireNonNull(tables, "tables is null");
        this.fileIoFactory = requireNonNull(fileIoFactory, "fileIoFactory is null");
        Map<String, TrinoFileSystemFactory> byScheme = ImmutableMap.copyOf(fileSystems);
        requireNonNull(cachedFileSystem, "cachedFileSystem is null");
        this.fileSystemFactory = new SwitchingFileSystemFactory(location -> location.scheme()
                .map(byScheme::get)
                .orElse(cachedFileSystem));
    }

    /**
     * What is wrong with the pointers of some tables and views, by name. Reads the metadata files, whatever is kept of them.
     */
    public List<StoreProblem> check(ConnectorSession session, Set<SchemaTableName> names)
    {
        CatalogState state = tables.state();
        List<TableIdentifier> identifiers = state.namespaces().stream()
                .flatMap(state::pointers)
                .map(Map.Entry::getKey)
                .filter(name -> names.contains(schemaTableName(name)))
                .collect(toImmutableList());
        return new StoreCheck(fileIo(session), folder -> listFiles(session, folder))
                .check(identifiers, tables::state, SkadeStoreOperations::pause);
    }

    private FileIO fileIo(ConnectorSession session)
    {
        return fileIoFactory.create(fileSystemFactory.create(session), isUseFileSizeFromMetadata(session));
    }

    private List<String> listFiles(ConnectorSession session, String folder)
    {
        TrinoFileSystem fileSystem = fileSystemFactory.create(session);
        ImmutableList.Builder<String> files = ImmutableList.builder();
        try {
            FileIterator iterator = fileSystem.listFiles(Location.of(folder));
            while (iterator.hasNext()) {
                files.add(iterator.next().location().toString());
            }
        }
        catch (FileNotFoundException _) {
            return ImmutableList.of();
        }
        catch (IOException e) {
            throw new UncheckedIOException("Cannot list the files in %s: %s".formatted(folder, e.getMessage()), e);
        }
        return files.build();
    }

    private static void pause()
    {
        try {
            Thread.sleep(PAUSE_MILLIS);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", e);
        }
    }
}
