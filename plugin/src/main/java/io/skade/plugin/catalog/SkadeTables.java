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

import com.google.inject.Inject;
import io.skade.plugin.SkadeConfig;
import io.skade.procedure.TableLoader;
import io.skade.ref.BranchTableOperations;
import io.skade.ref.PointerTableOperations;
import io.skade.ref.RefCommitter;
import io.skade.ref.RefRefusedException;
import io.skade.ref.RefTarget;
import io.skade.ref.RefUpdate;
import io.skade.ref.RefViews;
import io.skade.ref.SnapshotTableOperations;
import io.skade.ref.TableMove;
import io.skade.store.CatalogState;
import io.skade.store.CommitAuthor;
import io.skade.store.PointerKind;
import io.skade.store.PointerStore;
import io.skade.store.TablePointer;
import io.trino.filesystem.TrinoFileSystemFactory;
import io.trino.plugin.iceberg.fileio.ForwardingFileIoFactory;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.security.ConnectorIdentity;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.FileIO;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import static io.trino.plugin.iceberg.IcebergSessionProperties.isUseFileSizeFromMetadata;
import static io.trino.spi.StandardErrorCode.INVALID_ARGUMENTS;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * The tables of the store, as the user of a session reaches them.
 */
public final class SkadeTables
        implements TableLoader
{
    private final RefCommitter committer;
    private final RefViews views;
    private final TrinoFileSystemFactory fileSystemFactory;
    private final ForwardingFileIoFactory fileIoFactory;
    private final Optional<String> readRef;

    @Inject
    public SkadeTables(RefCommitter committer, RefViews views, TrinoFileSystemFactory fileSystemFactory, ForwardingFileIoFactory fileIoFactory, SkadeConfig config)
    {
        this.readRef = config.getReadRef().filter(ref -> !ref.equals(MAIN_BRANCH));
        this.committer = requireNonNull(committer, "committer is null");
        this.views = requireNonNull(views, "views is null");
        this.fileSystemFactory = requireNonNull(fileSystemFactory, "fileSystemFactory is null");
        this.fileIoFactory = requireNonNull(fileIoFactory, "fileIoFactory is null");
    }

    public PointerStore store()
    {
        return committer.store();
    }

    /**
     * The ref at which all tables are read, empty for {@code main}.
     */
    public Optional<String> readRef()
    {
        return readRef;
    }

    /**
     * Whether the catalog shows what a pointer points at.
     */
    public boolean isVisible(TablePointer pointer)
    {
        return readRef.isEmpty() || pointer.refs().containsKey(readRef.get());
    }

    public RefCommitter committer()
    {
        return committer;
    }

    @Override
    public List<TableMove> commit(ConnectorSession session, Map<TableIdentifier, RefUpdate> updates)
    {
        return DamagedTables.translating(() -> committer.commit(fileIo(session), author(session), updates));
    }

    @Override
    public List<TableMove> dryRun(ConnectorSession session, Map<TableIdentifier, RefUpdate> updates)
    {
        return DamagedTables.translating(() -> committer.dryRun(fileIo(session), updates));
    }

    @Override
    public CatalogState state()
    {
        return store().state();
    }

    /**
     * The metadata that the pointer of a table points at.
     *
     * @throws TrinoException if the metadata file is gone or damaged
     */
    TableMetadata metadata(ConnectorSession session, SchemaTableName table, TablePointer pointer)
    {
        return DamagedTables.translating(() -> committer.files().read(fileIo(session), identifier(table), pointer));
    }

    /**
     * The pointer of a table that the catalog shows, in the state of a transaction; empty if there is no such table.
     */
    public Optional<TablePointer> findPointer(SchemaTableName table, TransactionState state)
    {
        return state.get().find(identifier(table), PointerKind.TABLE)
                .filter(this::isVisible);
    }

    /**
     * Whether the catalog shows a view of a name, in the state of a transaction.
     */
    public boolean viewExists(SchemaTableName view, TransactionState state)
    {
        return state.get().find(identifier(view), PointerKind.VIEW)
                .filter(this::isVisible)
                .isPresent();
    }

    /**
     * The metadata of a table that the catalog shows, in the state of a transaction; empty if there is no such table.
     *
     * @throws TrinoException if the metadata file is gone or damaged
     */
    public Optional<TableMetadata> findMetadata(ConnectorSession session, SchemaTableName table, TransactionState state)
    {
        return findPointer(table, state).map(pointer -> metadata(session, table, pointer));
    }

    /**
     * The operations of a table under its plain or private name, which first read a given state.
     */
    TableOperations operations(ConnectorSession session, SchemaTableName name, Supplier<CatalogState> firstState)
    {
        Optional<RefTableName> ref = RefTableName.parse(name);
        if (ref.isEmpty() && readRef.isPresent()) {
            return readOperations(session, name, firstState);
        }
        SchemaTableName table = ref.map(RefTableName::table).orElse(name);
        PointerTableOperations operations = new PointerTableOperations(committer, identifier(table), fileIo(session), author(session), firstState);
        if (ref.isEmpty()) {
            return operations;
        }
        return switch (ref.get()) {
            case RefTableName.AtBranch(_, String branch) -> new BranchTableOperations(operations, views, branch);
            case RefTableName.AtSnapshot(_, long snapshotId) -> new SnapshotTableOperations(views.snapshot(operations.io(), DamagedTables.translating(operations::current), snapshotId), operations.io());
        };
    }

    /**
     * The operations of a table at the ref at which all tables are read. A table without it is not there.
     */
    private TableOperations readOperations(ConnectorSession session, SchemaTableName table, Supplier<CatalogState> firstState)
    {
        return firstState.get().find(identifier(table), PointerKind.TABLE)
                .filter(this::isVisible)
                .map(pointer -> operations(session, RefTableName.nameAt(table, readRef.orElseThrow(), pointer.refs().get(readRef.orElseThrow())), firstState))
                .orElseGet(() -> new PointerTableOperations(committer, identifier(table), fileIo(session), author(session), () -> CatalogState.EMPTY));
    }

    /**
     * The table under a plain or private name, in the state of a transaction.
     */
    public Table load(ConnectorSession session, SchemaTableName name, TransactionState state)
    {
        return new BaseTable(operations(session, name, state::get), name.toString());
    }

    /**
     * @throws RefRefusedException if the rows of a branch cannot be read with the present schema of its table
     */
    public void checkReadable(RefTarget target, String branch)
    {
        views.branch(target, branch);
    }

    public FileIO fileIo(ConnectorSession session)
    {
        return fileIoFactory.create(fileSystemFactory.create(session), isUseFileSizeFromMetadata(session));
    }

    /**
     * For what no session asks for.
     */
    public FileIO fileIo(String user)
    {
        return fileIoFactory.create(fileSystemFactory.create(ConnectorIdentity.ofUser(user)), true);
    }

    static CommitAuthor author(ConnectorSession session)
    {
        return new CommitAuthor(session.getUser(), Optional.of(session.getQueryId()));
    }

    public static TableIdentifier identifier(SchemaTableName name)
    {
        return TableIdentifier.of(namespace(name.getSchemaName()), name.getTableName());
    }

    /**
     * @throws TrinoException if no schema can have the name
     */
    public static Namespace namespace(String schema)
    {
        if (schema.indexOf('\0') >= 0) {
            throw new TrinoException(INVALID_ARGUMENTS, "Invalid name of a schema: it contains a null byte");
        }
        return Namespace.of(schema);
    }

    public static SchemaTableName schemaTableName(TableIdentifier name)
    {
        return new SchemaTableName(name.namespace().toString(), name.name());
    }
}
