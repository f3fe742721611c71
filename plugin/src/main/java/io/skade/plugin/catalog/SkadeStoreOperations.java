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
import io.airlift.log.Logger;
import io.skade.catalog.RebuildPlan;
import io.skade.catalog.StoreCheck;
import io.skade.catalog.StoreProblem;
import io.skade.catalog.StoreRebuild;
import io.skade.plugin.SkadeConfig;
import io.skade.procedure.StoreOperations;
import io.skade.store.CatalogState;
import io.trino.filesystem.FileIterator;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoFileSystem;
import io.trino.filesystem.TrinoFileSystemFactory;
import io.trino.filesystem.switching.SwitchingFileSystemFactory;
import io.trino.plugin.iceberg.IcebergConfig;
import io.trino.plugin.iceberg.fileio.ForwardingFileIoFactory;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.FileIO;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.plugin.catalog.SkadeTables.author;
import static io.skade.plugin.catalog.SkadeTables.schemaTableName;
import static io.trino.plugin.iceberg.IcebergErrorCode.ICEBERG_FILESYSTEM_ERROR;
import static io.trino.plugin.iceberg.IcebergSessionProperties.isUseFileSizeFromMetadata;
import static io.trino.spi.StandardErrorCode.CONFIGURATION_INVALID;
import static io.trino.spi.StandardErrorCode.INVALID_ARGUMENTS;
import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.StandardErrorCode.PERMISSION_DENIED;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.util.LocationUtil.stripTrailingSlash;

/**
 * What an operator does with the store, as the user of a session.
 */
public final class SkadeStoreOperations
        implements StoreOperations
{
    private static final Logger log = Logger.get(SkadeStoreOperations.class);

    /**
     * How long a commit may take from its metadata file to its pointer before it counts as cut off.
     */
    private static final long PAUSE_MILLIS = 2000;

    private final SkadeTables tables;
    private final ForwardingFileIoFactory fileIoFactory;
    private final TrinoFileSystemFactory fileSystemFactory;
    private final String warehouse;
    private final boolean registersTables;
    private final Path storePath;
    private final Optional<Path> backupPath;

    /**
     * @param fileSystems by the schemes of their locations; these read the files themselves, what {@code cachedFileSystem} creates reads from memory
     */
    @Inject
    public SkadeStoreOperations(
            SkadeTables tables,
            ForwardingFileIoFactory fileIoFactory,
            Map<String, TrinoFileSystemFactory> fileSystems,
            TrinoFileSystemFactory cachedFileSystem,
            SkadeConfig config,
            IcebergConfig icebergConfig)
    {
        this.tables = requireNonNull(tables, "tables is null");
        this.fileIoFactory = requireNonNull(fileIoFactory, "fileIoFactory is null");
        Map<String, TrinoFileSystemFactory> byScheme = ImmutableMap.copyOf(fileSystems);
        requireNonNull(cachedFileSystem, "cachedFileSystem is null");
        this.fileSystemFactory = new SwitchingFileSystemFactory(location -> location.scheme()
                .map(byScheme::get)
                .orElse(cachedFileSystem));
        this.warehouse = stripTrailingSlash(config.getWarehouse());
        this.registersTables = icebergConfig.isRegisterTableProcedureEnabled();
        this.storePath = config.getStorePath();
        this.backupPath = config.getBackupPath();
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

    @Override
    public void backup(String location)
    {
        Path folder = backupFolder(location);
        tables.store().backup(folder);
        log.info("Backed up the store in %s to %s", storePath, folder);
    }

    private Path backupFolder(String location)
    {
        Path backups = backupPath
                .orElseThrow(() -> new TrinoException(NOT_SUPPORTED, "Backups are off: skade.backup.path has to name the folder on the coordinator's disk that takes them"))
                .toAbsolutePath()
                .normalize();
        if (backups.startsWith(storePath.toAbsolutePath().normalize())) {
            throw new TrinoException(CONFIGURATION_INVALID, "skade.backup.path is in the folder of the store: " + backups);
        }
        try {
            Path path = Path.of(location);
            Path folder = backups.resolve(path).normalize();
            if (!path.isAbsolute() && folder.startsWith(backups) && !folder.equals(backups)) {
                return folder;
            }
        }
        catch (InvalidPathException _) {
            // no path at all
        }
        throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, "location must be the path of a folder under skade.backup.path, as 'daily': " + location);
    }

    @Override
    public RebuildPlan planRebuild(ConnectorSession session, Optional<String> location)
    {
        String folder = stripTrailingSlash(location.orElse(warehouse));
        if (!registersTables && !isInWarehouse(folder)) {
            throw new TrinoException(PERMISSION_DENIED, "%s is not in the warehouse, %s: that takes iceberg.register-table-procedure.enabled=true".formatted(folder, warehouse));
        }
        try {
            // says whether the file system may reach it
            fileSystemFactory.create(session).directoryExists(Location.of(folder));
        }
        catch (IllegalArgumentException e) {
            throw new TrinoException(INVALID_ARGUMENTS, "The catalog's file system cannot reach %s: %s".formatted(folder, e.getMessage()), e);
        }
        catch (IOException e) {
            throw new TrinoException(ICEBERG_FILESYSTEM_ERROR, "Cannot look into %s: %s".formatted(folder, e.getMessage()), e);
        }
        return new StoreRebuild(fileIo(session), listed -> listFiles(session, listed), SkadeStoreOperations::isPossibleName)
                .plan(folder, tables::state, SkadeStoreOperations::pause);
    }

    private boolean isInWarehouse(String folder)
    {
        return (folder + "/").startsWith(warehouse + "/") && !ImmutableList.copyOf(folder.split("/")).contains("..");
    }

    private static boolean isPossibleName(TableIdentifier name)
    {
        SchemaTableName table = schemaTableName(name);
        return RefTableName.isPlain(table) && !RefTableName.isReserved(table);
    }

    @Override
    public void rebuild(ConnectorSession session, RebuildPlan plan)
    {
        plan.commit(tables.store(), author(session));
    }

    private FileIO fileIo(ConnectorSession session)
    {
        return fileIoFactory.create(fileSystemFactory.create(session), isUseFileSizeFromMetadata(session));
    }

    /**
     * The files under a folder, written as the folder is: a file system may have several schemes for one location, and metadata names files in one of them.
     */
    private List<String> listFiles(ConnectorSession session, String folder)
    {
        TrinoFileSystem fileSystem = fileSystemFactory.create(session);
        String path = Location.of(folder).path();
        ImmutableList.Builder<String> files = ImmutableList.builder();
        try {
            FileIterator iterator = fileSystem.listFiles(Location.of(folder));
            while (iterator.hasNext()) {
                Location file = iterator.next().location();
                files.add(file.path().startsWith(path + "/") ? folder + file.path().substring(path.length()) : file.toString());
            }
        }
        catch (FileNotFoundException _) {
            return ImmutableList.of();
        }
        catch (IOException e) {
            throw new TrinoException(ICEBERG_FILESYSTEM_ERROR, "Cannot list the files in %s: %s".formatted(folder, e.getMessage()), e);
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
