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
package io.skade.plugin;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedSet;
import io.airlift.slice.Slice;
import io.skade.plugin.catalog.RefTableName;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.StatementReads;
import io.skade.plugin.catalog.TransactionState;
import io.skade.plugin.function.RefDiffFunction;
import io.skade.plugin.function.RowsHandle;
import io.skade.plugin.function.StoreRowsHandle;
import io.skade.plugin.system.HistoryTable;
import io.skade.plugin.system.PartitionsTable;
import io.skade.plugin.system.RefLogTable;
import io.skade.plugin.system.RefsTable;
import io.skade.procedure.ProcedureErrors;
import io.skade.procedure.RefProcedure;
import io.skade.procedure.RefRequest;
import io.skade.ref.RefRefusedException;
import io.skade.ref.RefTarget;
import io.skade.ref.RefUpdate;
import io.skade.ref.RefUpdates;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.RefUpdates.IfMissing;
import io.skade.ref.SnapshotSelector;
import io.skade.ref.TableMove;
import io.skade.store.TablePointer;
import io.trino.plugin.base.classloader.ClassLoaderSafeConnectorMetadata;
import io.trino.plugin.base.classloader.ClassLoaderSafeSystemTable;
import io.trino.plugin.iceberg.CorruptedIcebergTableHandle;
import io.trino.plugin.iceberg.IcebergColumnHandle;
import io.trino.plugin.iceberg.IcebergMergeTableHandle;
import io.trino.plugin.iceberg.IcebergTableCredentials;
import io.trino.plugin.iceberg.IcebergTableHandle;
import io.trino.plugin.iceberg.IcebergWritableTableHandle;
import io.trino.plugin.iceberg.aggregation.IcebergThetaSketchForStats;
import io.trino.plugin.iceberg.procedure.IcebergTableExecuteHandle;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.TrinoException;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorAnalyzeMetadata;
import io.trino.spi.connector.ConnectorInsertTableHandle;
import io.trino.spi.connector.ConnectorMaterializedViewDefinition;
import io.trino.spi.connector.ConnectorMergeTableHandle;
import io.trino.spi.connector.ConnectorMetadata;
import io.trino.spi.connector.ConnectorOutputTableHandle;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableCredentials;
import io.trino.spi.connector.ConnectorTableExecuteHandle;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.ConnectorTableLayout;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTableVersion;
import io.trino.spi.connector.ConnectorViewDefinition;
import io.trino.spi.connector.Constraint;
import io.trino.spi.connector.ConstraintApplicationResult;
import io.trino.spi.connector.RetryMode;
import io.trino.spi.connector.SaveMode;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.connector.TableNotFoundException;
import io.trino.spi.expression.FunctionName;
import io.trino.spi.function.table.ConnectorTableFunctionHandle;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.statistics.ColumnStatisticMetadata;
import io.trino.spi.statistics.ComputedStatistics;
import io.trino.spi.statistics.TableStatisticsMetadata;
import io.trino.spi.type.BigintType;
import io.trino.spi.type.IntegerType;
import io.trino.spi.type.SmallintType;
import io.trino.spi.type.TinyintType;
import io.trino.spi.type.Type;
import io.trino.spi.type.TypeManager;
import io.trino.spi.type.VarcharType;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.types.Type.TypeID;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types.NestedField;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.plugin.catalog.SkadeTables.identifier;
import static io.skade.procedure.SkadeErrorCode.REF_COMMIT_CONFLICT;
import static io.skade.procedure.SkadeErrorCode.REF_NOT_FOUND;
import static io.trino.plugin.iceberg.ExpressionConverter.isConvertibleToIcebergExpression;
import static io.trino.plugin.iceberg.ExpressionConverter.toIcebergExpression;
import static io.trino.plugin.iceberg.IcebergMetadataColumn.isMetadataColumnId;
import static io.trino.spi.StandardErrorCode.BRANCH_ALREADY_EXISTS;
import static io.trino.spi.StandardErrorCode.BRANCH_NOT_FOUND;
import static io.trino.spi.StandardErrorCode.INVALID_ARGUMENTS;
import static io.trino.spi.StandardErrorCode.INVALID_BRANCH_PROPERTY;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * The metadata of Trino's Iceberg connector with refs: a table at a ref is given to it under a private name, see {@link RefTableName}, and what
 * it does not know is answered here.
 */
public class SkadeMetadata
        extends ClassLoaderSafeConnectorMetadata
{
    private static final ClassLoader CLASS_LOADER = SkadeMetadata.class.getClassLoader();

    private final SkadeTables tables;
    private final TransactionState state;
    private final CatalogName catalogName;
    private final TypeManager typeManager;

    public SkadeMetadata(ConnectorMetadata iceberg, SkadeTables tables, TransactionState state, CatalogName catalogName, TypeManager typeManager)
    {
        super(iceberg, CLASS_LOADER);
        this.tables = requireNonNull(tables, "tables is null");
        this.state = requireNonNull(state, "state is null");
        this.catalogName = requireNonNull(catalogName, "catalogName is null");
        this.typeManager = requireNonNull(typeManager, "typeManager is null");
    }

    // tables at a ref

    @Override
    public ConnectorTableHandle getTableHandle(
            ConnectorSession session,
            SchemaTableName tableName,
            Optional<ConnectorTableVersion> startVersion,
            Optional<ConnectorTableVersion> endVersion)
    {
        if (RefTableName.isReserved(tableName)) {
            return null;
        }
        if (startVersion.isPresent() || endVersion.isEmpty() || !RefTableName.isPlain(tableName)) {
            return super.getTableHandle(session, tableName, startVersion, endVersion);
        }
        Optional<TableMetadata> metadata = findMetadata(session, tableName);
        if (metadata.isEmpty()) {
            return null;
        }
        if (tables.readRef().isPresent()) {
            throw new TrinoException(NOT_SUPPORTED, "Catalog %s reads every table at %s, other versions are not supported".formatted(catalogName, tables.readRef().get()));
        }
        return super.getTableHandle(session, nameAt(session, tableName, metadata.get(), endVersion.get()), Optional.empty(), Optional.empty());
    }

    /**
     * The name under which the catalog loads a table at a version.
     */
    private SchemaTableName nameAt(ConnectorSession session, SchemaTableName table, TableMetadata metadata, ConnectorTableVersion version)
    {
        RefTarget target = new RefTarget(identifier(table), metadata, tables.fileIo(session));
        Type type = version.getVersionType();
        return switch (version.getPointerType()) {
            case TEMPORAL -> new RefTableName.AtSnapshot(table, select(target, new SnapshotSelector.AtTime(TableVersions.toInstant(session, version)))).privateName();
            case TARGET_ID -> switch (type) {
                case VarcharType _ -> nameAt(table, metadata, ((Slice) version.getVersion()).toStringUtf8());
                case BigintType _, IntegerType _, SmallintType _, TinyintType _ -> new RefTableName.AtSnapshot(table, select(target, new SnapshotSelector.AtSnapshot((long) version.getVersion()))).privateName();
                default -> throw new TrinoException(NOT_SUPPORTED, "Unsupported type for table version: " + type.getDisplayName());
            };
        };
    }

    private static SchemaTableName nameAt(SchemaTableName table, TableMetadata metadata, String ref)
    {
        SnapshotRef found = metadata.ref(ref);
        if (found == null && !ref.equals(MAIN_BRANCH)) {
            throw new TrinoException(REF_NOT_FOUND, "Ref does not exist in %s: %s".formatted(table, ref));
        }
        return RefTableName.nameAt(table, ref, found);
    }

    private static long select(RefTarget target, SnapshotSelector selector)
    {
        try {
            return RefUpdates.select(target, selector).orElseThrow();
        }
        catch (RefRefusedException e) {
            throw new TrinoException(INVALID_ARGUMENTS, e.getMessage(), e);
        }
    }

    @Override
    public SchemaTableName getTableName(ConnectorSession session, ConnectorTableHandle table)
    {
        return plainName(super.getTableName(session, table));
    }

    /**
     * A filter on a column that was {@code real} once and is {@code double} now stays with the engine: Trino's Parquet reader takes the statistics of
     * the old files for corrupted when it is given the filter.
     */
    @Override
    public Optional<ConstraintApplicationResult<ConnectorTableHandle>> applyFilter(ConnectorSession session, ConnectorTableHandle tableHandle, Constraint constraint)
    {
        TupleDomain<ColumnHandle> widened = constraint.getSummary().filter((column, _) -> column instanceof IcebergColumnHandle handle && DOUBLE.equals(handle.getType()));
        if (!widened.isAll() && !widened.isNone()) {
            Set<Integer> onceReal = onceReal(session, getTableName(session, tableHandle));
            widened = widened.filter((column, _) -> onceReal.contains(((IcebergColumnHandle) column).getId()));
        }
        if (widened.isAll() || widened.isNone()) {
            return super.applyFilter(session, tableHandle, constraint);
        }
        TupleDomain<ColumnHandle> kept = widened;
        Constraint pushed = new Constraint(
                constraint.getSummary().filter((column, _) -> !kept.getDomains().orElseThrow().containsKey(column)),
                constraint.getExpression(),
                constraint.getAssignments());
        return super.applyFilter(session, tableHandle, pushed)
                .map(result -> new ConstraintApplicationResult<>(
                        result.getHandle(),
                        result.getRemainingFilter().intersect(kept),
                        result.getRemainingExpression().orElseGet(constraint::getExpression),
                        result.isPrecalculateStatistics()));
    }

    /**
     * The ids of the fields that were of type {@code real} in some schema of a table.
     */
    private Set<Integer> onceReal(ConnectorSession session, SchemaTableName table)
    {
        return findMetadata(session, table).stream()
                .flatMap(metadata -> metadata.schemas().stream())
                .flatMap(schema -> TypeUtil.indexById(schema.asStruct()).values().stream())
                .filter(field -> field.type().typeId() == TypeID.FLOAT)
                .map(NestedField::fieldId)
                .collect(toImmutableSet());
    }

    /**
     * The metadata of a table in the transaction's state, empty if there is no such table.
     */
    private Optional<TableMetadata> findMetadata(ConnectorSession session, SchemaTableName table)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(CLASS_LOADER)) {
            return tables.findMetadata(session, table, state);
        }
    }

    private Optional<TablePointer> findPointer(SchemaTableName table)
    {
        return tables.findPointer(table, state);
    }

    // "t@ref"

    @Override
    public Optional<ConnectorViewDefinition> getView(ConnectorSession session, SchemaTableName viewName)
    {
        if (RefTableName.isReserved(viewName)) {
            return Optional.empty();
        }
        Optional<QuotedRefName> quoted = QuotedRefName.parse(viewName);
        if (quoted.isEmpty()) {
            // a metadata table is no view here
            return RefTableName.isPlain(viewName) ? super.getView(session, viewName) : Optional.empty();
        }
        return findMetadata(session, quoted.get().table())
                .filter(_ -> tables.readRef().isEmpty())
                .flatMap(metadata -> quoted.get().isMetadataTable(metadata) ? Optional.empty() : Optional.of(viewAt(session, quoted.get().table(), metadata, quoted.get().load(metadata))));
    }

    @Override
    public boolean isView(ConnectorSession session, SchemaTableName viewName)
    {
        if (RefTableName.isPlain(viewName)) {
            // one that cannot be read is a view as well, and can be dropped
            return tables.viewExists(viewName, state);
        }
        return getView(session, viewName).isPresent();
    }

    /**
     * A view with the rights of whoever reads it, so that "t@ref" is no way around the filters and masks of t.
     */
    private ConnectorViewDefinition viewAt(ConnectorSession session, SchemaTableName table, TableMetadata metadata, String ref)
    {
        ConnectorTableHandle handle = super.getTableHandle(session, nameAt(table, metadata, ref), Optional.empty(), Optional.empty());
        List<ConnectorViewDefinition.ViewColumn> columns = getTableMetadata(session, handle).getColumns().stream()
                .filter(column -> !column.isHidden())
                .map(column -> new ConnectorViewDefinition.ViewColumn(column.getName(), column.getType().getTypeId(), column.getComment()))
                .collect(toImmutableList());
        return new ConnectorViewDefinition(
                "SELECT * FROM %s.%s.%s FOR VERSION AS OF '%s'".formatted(quote(catalogName.toString()), quote(table.getSchemaName()), quote(table.getTableName()), ref.replace("'", "''")),
                Optional.of(catalogName.toString()),
                Optional.of(table.getSchemaName()),
                columns,
                Optional.empty(),
                Optional.empty(),
                true,
                List.of());
    }

    private static String quote(String name)
    {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }

    // metadata tables

    @Override
    public Optional<SystemTable> getSystemTable(ConnectorSession session, SchemaTableName tableName)
    {
        if (RefTableName.isReserved(tableName)) {
            return Optional.empty();
        }
        Optional<MetadataTableName> name = MetadataTableName.parse(tableName);
        if (name.isEmpty()) {
            return super.getSystemTable(session, tableName);
        }
        SchemaTableName base = name.get().table();
        Optional<QuotedRefName> quoted = QuotedRefName.parse(base);
        SchemaTableName table = quoted.map(QuotedRefName::table).orElse(base);
        Optional<TableMetadata> metadata = findMetadata(session, table);
        if (metadata.isEmpty()) {
            return Optional.empty();
        }
        if (QuotedRefName.parse(tableName).filter(whole -> whole.isRef(metadata.get())).isPresent()) {
            // the whole of it is the name of a ref
            return Optional.empty();
        }
        if (quoted.isPresent() && tables.readRef().isPresent()) {
            return Optional.empty();
        }
        Optional<String> ref = quoted.map(value -> value.load(metadata.get())).or(tables::readRef);
        SchemaTableName loaded = ref.map(value -> nameAt(table, metadata.get(), value)).orElse(table);
        return switch (name.get().type()) {
            case "refs" -> Optional.of(safe(new RefsTable(tableName, metadata.get())));
            case "ref_log" -> Optional.of(safe(new RefLogTable(tableName, tables.store(), findPointer(table).orElseThrow().id(), state.get().lastLogId())));
            case "history" -> Optional.of(safe(new HistoryTable(tableName, metadata.get(), ref.orElse(MAIN_BRANCH))));
            case "partitions" -> Optional.of(safe(partitionsTable(session, tableName, table, loaded)));
            default -> super.getSystemTable(session, new MetadataTableName(loaded, name.get().type()).name());
        };
    }

    private SystemTable partitionsTable(ConnectorSession session, SchemaTableName tableName, SchemaTableName table, SchemaTableName loaded)
    {
        SystemTable files = super.getSystemTable(session, new MetadataTableName(loaded, "files").name()).orElseThrow();
        return PartitionsTable.create(
                tableName,
                new MetadataTableName(table, "files").name(),
                files.getTableMetadata().getColumns(),
                tables.load(session, loaded, state),
                typeManager);
    }

    private static SystemTable safe(SystemTable table)
    {
        return new ClassLoaderSafeSystemTable(table, CLASS_LOADER);
    }

    // branches

    @Override
    public Collection<String> listBranches(ConnectorSession session, SchemaTableName tableName)
    {
        ImmutableSortedSet.Builder<String> branches = ImmutableSortedSet.naturalOrder();
        // main is a branch of a table without snapshots as well
        branches.add(MAIN_BRANCH);
        loadPointer(tableName).refs().forEach((name, ref) -> {
            if (ref.isBranch()) {
                branches.add(name);
            }
        });
        return branches.build();
    }

    @Override
    public boolean branchExists(ConnectorSession session, SchemaTableName tableName, String branch)
    {
        SnapshotRef ref = loadPointer(tableName).refs().get(branch);
        return branch.equals(MAIN_BRANCH) || (ref != null && ref.isBranch());
    }

    private TablePointer loadPointer(SchemaTableName tableName)
    {
        return findPointer(tableName).orElseThrow(() -> new TableNotFoundException(tableName));
    }

    @Override
    public void createBranch(ConnectorSession session, ConnectorTableHandle tableHandle, String branch, Optional<String> fromBranch, SaveMode saveMode, Map<String, Object> properties)
    {
        IfExists ifExists = switch (saveMode) {
            case FAIL -> IfExists.REFUSE;
            case IGNORE -> IfExists.KEEP;
            case REPLACE -> IfExists.REPLACE;
        };
        try {
            SnapshotSelector start = BranchProperties.start(properties, fromBranch).orElse(new SnapshotSelector.AtRef(MAIN_BRANCH));
            commit(session, tableHandle, RefUpdates.createBranch(branch, start, BranchProperties.retention(properties), ifExists));
        }
        catch (RefRefusedException e) {
            throw branchException(e, INVALID_BRANCH_PROPERTY);
        }
    }

    @Override
    public void dropBranch(ConnectorSession session, ConnectorTableHandle tableHandle, String branch)
    {
        try {
            commit(session, tableHandle, RefUpdates.dropBranch(branch, IfMissing.REFUSE));
        }
        catch (RefRefusedException e) {
            throw branchException(e, INVALID_ARGUMENTS);
        }
    }

    @Override
    public void fastForwardBranch(ConnectorSession session, ConnectorTableHandle tableHandle, String sourceBranch, String targetBranch)
    {
        try {
            commit(session, tableHandle, RefUpdates.fastForward(sourceBranch, new SnapshotSelector.AtRef(targetBranch), OptionalLong.empty()));
        }
        catch (RefRefusedException e) {
            throw branchException(e, INVALID_ARGUMENTS);
        }
    }

    private static TrinoException branchException(RefRefusedException e, ErrorCodeSupplier invalidValue)
    {
        return new TrinoException(
                switch (e.reason()) {
                    case REF_NOT_FOUND -> BRANCH_NOT_FOUND;
                    case REF_ALREADY_EXISTS -> BRANCH_ALREADY_EXISTS;
                    case INVALID_VALUE -> invalidValue;
                    default -> ProcedureErrors.errorCode(e.reason());
                },
                e.getMessage(),
                e);
    }

    private TableMove commit(ConnectorSession session, ConnectorTableHandle tableHandle, RefUpdate update)
    {
        return switch (tableHandle) {
            case CorruptedIcebergTableHandle corrupted -> throw corrupted.createException();
            default -> commit(session, ((IcebergTableHandle) tableHandle).getSchemaTableName(), update);
        };
    }

    private TableMove commit(ConnectorSession session, SchemaTableName table, RefUpdate update)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(CLASS_LOADER)) {
            return tables.commit(session, ImmutableMap.of(identifier(table), update)).getFirst();
        }
        catch (RefRefusedException e) {
            throw e;
        }
        catch (RuntimeException e) {
            throw ProcedureErrors.translate(e, table);
        }
        finally {
            state.committed(identifier(table));
        }
    }

    // writes on a branch

    @Override
    public void finishMerge(
            ConnectorSession session,
            ConnectorMergeTableHandle mergeTableHandle,
            List<ConnectorTableHandle> sourceTableHandles,
            Collection<Slice> fragments,
            Collection<ComputedStatistics> computedStatistics)
    {
        IcebergTableHandle target = ((IcebergMergeTableHandle) mergeTableHandle).getTableHandle();
        orConflict(target.getSchemaTableName(), () -> {
            finishMerge(session, target, mergeTableHandle, sourceTableHandles, fragments, computedStatistics);
            return null;
        });
    }

    private void finishMerge(
            ConnectorSession session,
            IcebergTableHandle target,
            ConnectorMergeTableHandle mergeTableHandle,
            List<ConnectorTableHandle> sourceTableHandles,
            Collection<Slice> fragments,
            Collection<ComputedStatistics> computedStatistics)
    {
        if (!isAtBranch(target)) {
            super.finishMerge(session, mergeTableHandle, sourceTableHandles, fragments, computedStatistics);
            return;
        }
        SchemaTableName table = plainName(target.getSchemaTableName());
        // the statement may read the table in other places too
        List<TupleDomain<IcebergColumnHandle>> reads = Stream.concat(Stream.of(target), sourceTableHandles.stream())
                .filter(IcebergTableHandle.class::isInstance)
                .map(IcebergTableHandle.class::cast)
                .filter(handle -> plainName(handle.getSchemaTableName()).equals(table))
                .map(SkadeMetadata::rowsRead)
                .collect(toImmutableList());
        StatementReads.recording(toIcebergExpression(TupleDomain.columnWiseUnion(reads)), () -> {
            super.finishMerge(session, mergeTableHandle, sourceTableHandles, fragments, computedStatistics);
            return null;
        });
    }

    @Override
    public OptionalLong executeDelete(ConnectorSession session, ConnectorTableHandle handle)
    {
        IcebergTableHandle target = (IcebergTableHandle) handle;
        return orConflict(target.getSchemaTableName(), () -> isAtBranch(target)
                ? StatementReads.recording(toIcebergExpression(rowsRead(target)), () -> super.executeDelete(session, handle))
                : super.executeDelete(session, handle));
    }

    @Override
    public ConnectorInsertTableHandle beginInsert(ConnectorSession session, ConnectorTableHandle tableHandle, List<ColumnHandle> columns, RetryMode retryMode)
    {
        ConnectorInsertTableHandle handle = super.beginInsert(session, tableHandle, columns, retryMode);
        checkSchema((IcebergTableHandle) tableHandle, (IcebergWritableTableHandle) handle);
        return handle;
    }

    @Override
    public ConnectorMergeTableHandle beginMerge(ConnectorSession session, ConnectorTableHandle tableHandle, Map<Integer, Collection<ColumnHandle>> updateCaseColumns, RetryMode retryMode)
    {
        ConnectorMergeTableHandle handle = super.beginMerge(session, tableHandle, updateCaseColumns, retryMode);
        checkSchema((IcebergTableHandle) tableHandle, ((IcebergMergeTableHandle) handle).getInsertTableHandle());
        return handle;
    }

    /**
     * A write begins on the newest version of the table. If its columns are others than those that the statement was planned with, the values would go into
     * the wrong ones.
     */
    private static void checkSchema(IcebergTableHandle planned, IcebergWritableTableHandle begun)
    {
        if (!SchemaParser.fromJson(planned.getTableSchemaJson()).sameSchema(SchemaParser.fromJson(begun.schemaAsJson()))) {
            throw new TrinoException(REF_COMMIT_CONFLICT, "Cannot write to %s: its columns were changed while the statement was planned".formatted(plainName(planned.getSchemaTableName())));
        }
    }

    /**
     * A write whose base was moved away from under it is a lost race.
     */
    private static <T> T orConflict(SchemaTableName target, Supplier<T> write)
    {
        try {
            return write.get();
        }
        catch (ValidationException | IllegalArgumentException e) {
            throw new TrinoException(REF_COMMIT_CONFLICT, "Cannot write to %s: another statement changed it meanwhile: %s".formatted(plainName(target), e.getMessage()), e);
        }
    }

    private static boolean isAtBranch(IcebergTableHandle handle)
    {
        return RefTableName.parse(handle.getSchemaTableName()).filter(RefTableName.AtBranch.class::isInstance).isPresent();
    }

    /**
     * What a scan is restricted to, as far as Iceberg has words for it.
     */
    private static TupleDomain<IcebergColumnHandle> rowsRead(IcebergTableHandle handle)
    {
        return handle.getEnforcedPredicate()
                .intersect(handle.getUnenforcedPredicate())
                .filter((column, domain) -> !isMetadataColumnId(column.getId()) && isConvertibleToIcebergExpression(domain));
    }

    private static SchemaTableName plainName(SchemaTableName name)
    {
        return RefTableName.parse(name).map(RefTableName::table).orElse(name);
    }

    // verbs on a table

    @Override
    public Optional<ConnectorTableExecuteHandle> getTableHandleForExecute(
            ConnectorSession session,
            ConnectorAccessControl accessControl,
            ConnectorTableHandle tableHandle,
            String procedureName,
            Map<String, Object> executeProperties,
            RetryMode retryMode)
    {
        Optional<RefProcedure> verb = RefTableProcedures.find(procedureName);
        if (verb.isEmpty()) {
            return super.getTableHandleForExecute(session, accessControl, tableHandle, procedureName, executeProperties, retryMode);
        }
        SchemaTableName table = getTableName(session, tableHandle);
        RefExecuteHandle handle = RefTableProcedures.handle(table, verb.get(), executeProperties);
        RefRequest request = RefTableProcedures.request(handle);
        request.checkAccess(accessControl, table);
        return Optional.of(handle);
    }

    @Override
    public Map<String, Long> executeTableExecute(ConnectorSession session, ConnectorTableExecuteHandle tableExecuteHandle)
    {
        if (!(tableExecuteHandle instanceof RefExecuteHandle handle)) {
            return orConflict(((IcebergTableExecuteHandle) tableExecuteHandle).schemaTableName(), () -> super.executeTableExecute(session, tableExecuteHandle));
        }
        try {
            TableMove move = commit(session, handle.table(), RefTableProcedures.request(handle).update());
            return RefTableProcedures.metrics(move, RefTableProcedures.movedRef(handle));
        }
        catch (RefRefusedException e) {
            throw ProcedureErrors.translate(e);
        }
    }

    // functions that show refs

    @Override
    public Optional<ConnectorTableCredentials> getTableCredentials(ConnectorSession session, ConnectorTableFunctionHandle tableFunctionHandle)
    {
        return switch (tableFunctionHandle) {
            case RowsHandle _, StoreRowsHandle _ -> Optional.empty();
            case RefDiffFunction.Handle _ -> Optional.of(IcebergTableCredentials.forFileIO(tables.fileIo(session)));
            default -> super.getTableCredentials(session, tableFunctionHandle);
        };
    }

    // names

    @Override
    public void createTable(ConnectorSession session, ConnectorTableMetadata tableMetadata, SaveMode saveMode)
    {
        RefTableName.checkName(tableMetadata.getTable());
        super.createTable(session, tableMetadata, saveMode);
    }

    @Override
    public ConnectorOutputTableHandle beginCreateTable(ConnectorSession session, ConnectorTableMetadata tableMetadata, Optional<ConnectorTableLayout> layout, RetryMode retryMode, boolean replace)
    {
        RefTableName.checkName(tableMetadata.getTable());
        return super.beginCreateTable(session, tableMetadata, layout, retryMode, replace);
    }

    @Override
    public void renameTable(ConnectorSession session, ConnectorTableHandle tableHandle, SchemaTableName newTableName)
    {
        RefTableName.checkName(newTableName);
        super.renameTable(session, tableHandle, newTableName);
    }

    @Override
    public void createView(ConnectorSession session, SchemaTableName viewName, ConnectorViewDefinition definition, Map<String, Object> viewProperties, boolean replace)
    {
        RefTableName.checkName(viewName);
        super.createView(session, viewName, definition, viewProperties, replace);
    }

    @Override
    public void renameView(ConnectorSession session, SchemaTableName source, SchemaTableName target)
    {
        RefTableName.checkName(target);
        super.renameView(session, source, target);
    }

    @Override
    public void createMaterializedView(
            ConnectorSession session,
            SchemaTableName viewName,
            ConnectorMaterializedViewDefinition definition,
            Map<String, Object> properties,
            boolean replace,
            boolean ignoreExisting)
    {
        throw new TrinoException(NOT_SUPPORTED, "This connector does not support creating materialized views");
    }

    // statistics

    @Override
    public TableStatisticsMetadata getStatisticsCollectionMetadataForWrite(ConnectorSession session, ConnectorTableMetadata tableMetadata, boolean tableReplace)
    {
        return withOwnFunction(super.getStatisticsCollectionMetadataForWrite(session, tableMetadata, tableReplace));
    }

    @Override
    public ConnectorAnalyzeMetadata getStatisticsCollectionMetadata(ConnectorSession session, ConnectorTableHandle tableHandle, Map<String, Object> analyzeProperties)
    {
        ConnectorAnalyzeMetadata metadata = super.getStatisticsCollectionMetadata(session, tableHandle, analyzeProperties);
        return new ConnectorAnalyzeMetadata(metadata.getTableHandle(), withOwnFunction(metadata.getStatisticsMetadata()));
    }

    /**
     * The same statistics, counted by {@link ThetaSketchForStatistics}.
     */
    private static TableStatisticsMetadata withOwnFunction(TableStatisticsMetadata metadata)
    {
        Set<ColumnStatisticMetadata> columns = metadata.getColumnStatistics().stream()
                .map(column -> column.getAggregationIfPresent()
                        .filter(function -> function.getName().equals(IcebergThetaSketchForStats.NAME))
                        .map(_ -> new ColumnStatisticMetadata(column.getColumnName(), column.getConnectorAggregationId(), new FunctionName(ThetaSketchForStatistics.NAME)))
                        .orElse(column))
                .collect(toImmutableSet());
        return new TableStatisticsMetadata(columns, metadata.getTableStatistics(), metadata.getGroupingColumns());
    }
}
