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
import com.google.common.collect.Maps;
import io.airlift.log.Logger;
import io.skade.catalog.PointerCatalog;
import io.skade.procedure.ProcedureErrors;
import io.skade.ref.RefRefusedException;
import io.skade.store.PointerKind;
import io.skade.store.TablePointer;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoFileSystemFactory;
import io.trino.metastore.TableInfo;
import io.trino.plugin.iceberg.IcebergUtil;
import io.trino.plugin.iceberg.IcebergViewProperties;
import io.trino.plugin.iceberg.catalog.AbstractTrinoCatalog;
import io.trino.plugin.iceberg.catalog.IcebergTableOperationsProvider;
import io.trino.plugin.iceberg.fileio.ForwardingFileIoFactory;
import io.trino.spi.TrinoException;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.CatalogSchemaTableName;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorMaterializedViewDefinition;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorViewDefinition;
import io.trino.spi.connector.RelationColumnsMetadata;
import io.trino.spi.connector.RelationCommentMetadata;
import io.trino.spi.connector.SchemaNotFoundException;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableNotFoundException;
import io.trino.spi.connector.ViewNotFoundException;
import io.trino.spi.security.TrinoPrincipal;
import io.trino.spi.type.TypeManager;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.Transaction;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.NamespaceNotEmptyException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.exceptions.NoSuchViewException;
import org.apache.iceberg.view.ReplaceViewVersion;
import org.apache.iceberg.view.SQLViewRepresentation;
import org.apache.iceberg.view.UpdateViewProperties;
import org.apache.iceberg.view.View;
import org.apache.iceberg.view.ViewBuilder;
import org.apache.iceberg.view.ViewRepresentation;
import org.apache.iceberg.view.ViewVersion;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.plugin.catalog.SkadeTables.author;
import static io.skade.plugin.catalog.SkadeTables.identifier;
import static io.skade.plugin.catalog.SkadeTables.namespace;
import static io.skade.plugin.catalog.SkadeTables.schemaTableName;
import static io.trino.filesystem.Locations.appendPath;
import static io.trino.plugin.iceberg.IcebergErrorCode.ICEBERG_UNSUPPORTED_VIEW_DIALECT;
import static io.trino.plugin.iceberg.IcebergSchemaProperties.LOCATION_PROPERTY;
import static io.trino.plugin.iceberg.IcebergUtil.loadIcebergTable;
import static io.trino.spi.StandardErrorCode.ALREADY_EXISTS;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.StandardErrorCode.SCHEMA_ALREADY_EXISTS;
import static io.trino.spi.StandardErrorCode.SCHEMA_NOT_EMPTY;
import static io.trino.spi.StandardErrorCode.TABLE_ALREADY_EXISTS;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.util.LocationUtil.stripTrailingSlash;
import static org.apache.iceberg.view.ViewProperties.COMMENT;

/**
 * The pointer store as the catalog of Trino's Iceberg connector. One is made for each transaction: it reads the state of the transaction, and
 * writes to the newest.
 */
public final class SkadeTrinoCatalog
        extends AbstractTrinoCatalog
{
    private static final Logger log = Logger.get(SkadeTrinoCatalog.class);

    private static final String DIALECT = "trino";

    private final String name;
    private final SkadeTables tables;
    private final TransactionState state;
    private final String warehouse;

    SkadeTrinoCatalog(
            CatalogName catalogName,
            boolean useUniqueTableLocation,
            TypeManager typeManager,
            IcebergTableOperationsProvider tableOperationsProvider,
            TrinoFileSystemFactory fileSystemFactory,
            ForwardingFileIoFactory fileIoFactory,
            SkadeTables tables,
            TransactionState state,
            String warehouse)
    {
        super(catalogName, useUniqueTableLocation, typeManager, tableOperationsProvider, fileSystemFactory, fileIoFactory);
        this.name = catalogName.toString();
        this.tables = requireNonNull(tables, "tables is null");
        this.state = requireNonNull(state, "state is null");
        this.warehouse = requireNonNull(warehouse, "warehouse is null");
    }

    TransactionState state()
    {
        return state;
    }

    private PointerCatalog catalog(ConnectorSession session)
    {
        return new PointerCatalog(name, tables.committer(), tables.fileIo(session), author(session), ImmutableMap.of(CatalogProperties.WAREHOUSE_LOCATION, warehouse));
    }

    @Override
    public boolean namespaceExists(ConnectorSession session, String namespace)
    {
        return state.get().namespaceExists(namespace(namespace));
    }

    @Override
    public List<String> listNamespaces(ConnectorSession session)
    {
        return state.get().namespaces().stream()
                .filter(namespace -> namespace.length() == 1)
                .map(namespace -> namespace.level(0))
                // a schema with upper-case letters, made by another engine, cannot be named in Trino
                .filter(namespace -> namespace.equals(namespace.toLowerCase(ENGLISH)))
                .collect(toImmutableList());
    }

    @Override
    public Map<String, Object> loadNamespaceMetadata(ConnectorSession session, String namespace)
    {
        // the other properties, given by another engine, are none that a schema can be created with
        return state.get().namespaceProperties(namespace(namespace))
                .<Map<String, Object>>map(properties -> ImmutableMap.copyOf(Maps.filterKeys(properties, LOCATION_PROPERTY::equals)))
                .orElseThrow(() -> new SchemaNotFoundException(namespace));
    }

    @Override
    public Optional<TrinoPrincipal> getNamespacePrincipal(ConnectorSession session, String namespace)
    {
        return Optional.empty();
    }

    @Override
    public void createNamespace(ConnectorSession session, String namespace, Map<String, Object> properties, TrinoPrincipal owner)
    {
        try {
            catalog(session).createNamespace(namespace(namespace), ImmutableMap.copyOf(Maps.transformValues(properties, String.class::cast)));
        }
        catch (AlreadyExistsException e) {
            throw new TrinoException(SCHEMA_ALREADY_EXISTS, "Schema already exists: " + namespace, e);
        }
        state.committed();
    }

    @Override
    public void dropNamespace(ConnectorSession session, String namespace)
    {
        try {
            if (!catalog(session).dropNamespace(namespace(namespace))) {
                throw new SchemaNotFoundException(namespace);
            }
        }
        catch (NamespaceNotEmptyException e) {
            throw new TrinoException(SCHEMA_NOT_EMPTY, "Schema not empty: " + namespace, e);
        }
        state.committed();
    }

    @Override
    public void renameNamespace(ConnectorSession session, String source, String target)
    {
        try {
            catalog(session).renameNamespace(namespace(source), namespace(target));
        }
        catch (NoSuchNamespaceException e) {
            throw new SchemaNotFoundException(source, e);
        }
        catch (AlreadyExistsException e) {
            throw new TrinoException(SCHEMA_ALREADY_EXISTS, "Schema already exists: " + target, e);
        }
        catch (NamespaceNotEmptyException e) {
            throw new TrinoException(NOT_SUPPORTED, e.getMessage(), e);
        }
        state.committed();
    }

    @Override
    public void setNamespacePrincipal(ConnectorSession session, String namespace, TrinoPrincipal principal)
    {
        throw new TrinoException(NOT_SUPPORTED, "This connector does not support setting an owner on a schema");
    }

    private Stream<Map.Entry<TableIdentifier, TablePointer>> pointers(ConnectorSession session, Optional<String> namespace)
    {
        return namespace.map(ImmutableList::of).orElseGet(() -> ImmutableList.copyOf(listNamespaces(session))).stream()
                .flatMap(value -> state.get().pointers(namespace(value)))
                .filter(entry -> tables.isVisible(entry.getValue()))
                .filter(entry -> entry.getKey().name().equals(entry.getKey().name().toLowerCase(ENGLISH)));
    }

    @Override
    public List<TableInfo> listTables(ConnectorSession session, Optional<String> namespace)
    {
        return pointers(session, namespace)
                .map(entry -> new TableInfo(schemaTableName(entry.getKey()), switch (entry.getValue().kind()) {
                    case TABLE -> TableInfo.ExtendedRelationType.TABLE;
                    case VIEW -> TableInfo.ExtendedRelationType.OTHER_VIEW;
                }))
                .collect(toImmutableList());
    }

    @Override
    public List<SchemaTableName> listIcebergTables(ConnectorSession session, List<String> filter)
    {
        return (filter.isEmpty() ? listNamespaces(session) : filter).stream()
                .flatMap(namespace -> pointers(session, Optional.of(namespace)))
                .filter(entry -> entry.getValue().kind() == PointerKind.TABLE)
                .map(entry -> schemaTableName(entry.getKey()))
                .collect(toImmutableList());
    }

    @Override
    public List<SchemaTableName> listViews(ConnectorSession session, Optional<String> namespace)
    {
        return pointers(session, namespace)
                .filter(entry -> entry.getValue().kind() == PointerKind.VIEW)
                .map(entry -> schemaTableName(entry.getKey()))
                .collect(toImmutableList());
    }

    @Override
    public Optional<Iterator<RelationColumnsMetadata>> streamRelationColumns(
            ConnectorSession session,
            Optional<String> namespace,
            UnaryOperator<Set<SchemaTableName>> relationFilter,
            Predicate<SchemaTableName> isRedirected)
    {
        return Optional.empty();
    }

    @Override
    public Optional<Iterator<RelationCommentMetadata>> streamRelationComments(
            ConnectorSession session,
            Optional<String> namespace,
            UnaryOperator<Set<SchemaTableName>> relationFilter,
            Predicate<SchemaTableName> isRedirected)
    {
        return Optional.empty();
    }

    @Override
    public Transaction newCreateTableTransaction(
            ConnectorSession session,
            SchemaTableName schemaTableName,
            Schema schema,
            PartitionSpec partitionSpec,
            SortOrder sortOrder,
            Optional<String> location,
            Map<String, String> properties)
    {
        return newCreateTableTransaction(session, schemaTableName, schema, partitionSpec, sortOrder, location, properties, Optional.of(session.getUser()));
    }

    @Override
    public Transaction newCreateOrReplaceTableTransaction(
            ConnectorSession session,
            SchemaTableName schemaTableName,
            Schema schema,
            PartitionSpec partitionSpec,
            SortOrder sortOrder,
            String location,
            Map<String, String> properties)
    {
        return newCreateOrReplaceTableTransaction(session, schemaTableName, schema, partitionSpec, sortOrder, location, properties, Optional.of(session.getUser()));
    }

    @Override
    public void registerTable(ConnectorSession session, SchemaTableName tableName, TableMetadata tableMetadata)
    {
        RefTableName.checkName(tableName);
        try {
            tables.committer().create(tables.fileIo(session), author(session), identifier(tableName), tableMetadata);
        }
        catch (AlreadyExistsException e) {
            throw new TrinoException(TABLE_ALREADY_EXISTS, "Table '%s' already exists".formatted(tableName), e);
        }
        catch (NoSuchNamespaceException e) {
            throw new SchemaNotFoundException(tableName.getSchemaName(), e);
        }
        state.committed();
    }

    @Override
    public void unregisterTable(ConnectorSession session, SchemaTableName tableName)
    {
        if (!drop(() -> catalog(session).unregisterTable(identifier(tableName)))) {
            throw new TableNotFoundException(tableName);
        }
        state.committed();
    }

    @Override
    public void dropTable(ConnectorSession session, SchemaTableName schemaTableName)
    {
        BaseTable table = loadTable(session, schemaTableName);
        if (!drop(() -> catalog(session).dropTable(identifier(schemaTableName), false))) {
            throw new TableNotFoundException(schemaTableName);
        }
        state.committed();
        try {
            CatalogUtil.dropTableData(table.io(), table.operations().current());
        }
        catch (RuntimeException e) {
            // a file that is gone already must not keep the rest from being deleted
            log.warn(e, "Cannot delete all data of the dropped table %s", schemaTableName);
        }
        deleteTableDirectory(fileSystemFactory.create(session), schemaTableName, table.location());
    }

    @Override
    public void dropCorruptedTable(ConnectorSession session, SchemaTableName schemaTableName)
    {
        TablePointer pointer = state.get().find(identifier(schemaTableName), PointerKind.TABLE).orElseThrow(() -> new TableNotFoundException(schemaTableName));
        if (!drop(() -> catalog(session).dropTable(identifier(schemaTableName), false))) {
            throw new TableNotFoundException(schemaTableName);
        }
        state.committed();
        Location metadataFolder = Location.of(pointer.metadataLocation()).parentDirectory();
        deleteTableDirectory(fileSystemFactory.create(session), schemaTableName, metadataFolder.parentDirectory().toString());
    }

    /**
     * Runs a drop. False if there is no such table.
     */
    private static boolean drop(BooleanSupplier drop)
    {
        try {
            return drop.getAsBoolean();
        }
        catch (RefRefusedException e) {
            throw ProcedureErrors.translate(e);
        }
    }

    @Override
    public void renameTable(ConnectorSession session, SchemaTableName from, SchemaTableName to)
    {
        try {
            catalog(session).renameTable(identifier(from), identifier(to));
        }
        catch (NoSuchTableException e) {
            throw new TableNotFoundException(from);
        }
        catch (NoSuchNamespaceException e) {
            throw new SchemaNotFoundException(to.getSchemaName(), e);
        }
        catch (AlreadyExistsException e) {
            throw new TrinoException(TABLE_ALREADY_EXISTS, e.getMessage(), e);
        }
        state.committed();
    }

    @Override
    public BaseTable loadTable(ConnectorSession session, SchemaTableName schemaTableName)
    {
        BaseTable table = loadIcebergTable(this, tableOperationsProvider, session, schemaTableName);
        // this also finds out whether there is such a table
        return PresentSchemaTable.of(new SkadeTable(table.operations(), table.name()));
    }

    @Override
    public Map<SchemaTableName, List<ColumnMetadata>> tryGetColumnMetadata(ConnectorSession session, List<SchemaTableName> tables)
    {
        return ImmutableMap.of();
    }

    @Override
    public String defaultTableLocation(ConnectorSession session, SchemaTableName schemaTableName)
    {
        String schemaLocation = state.get().namespaceProperties(namespace(schemaTableName.getSchemaName()))
                .map(properties -> properties.get(LOCATION_PROPERTY))
                .orElseGet(() -> appendPath(warehouse, schemaTableName.getSchemaName()));
        return appendPath(schemaLocation, createNewTableName(schemaTableName.getTableName()));
    }

    @Override
    public void setTablePrincipal(ConnectorSession session, SchemaTableName schemaTableName, TrinoPrincipal principal)
    {
        throw new TrinoException(NOT_SUPPORTED, "This connector does not support setting an owner on a table");
    }

    @Override
    public void createView(ConnectorSession session, SchemaTableName schemaViewName, ConnectorViewDefinition definition, Map<String, Object> viewProperties, boolean replace)
    {
        ImmutableMap.Builder<String, String> properties = ImmutableMap.builder();
        definition.getOwner().ifPresent(owner -> properties.put(ICEBERG_VIEW_RUN_AS_OWNER, owner));
        definition.getComment().ifPresent(comment -> properties.put(COMMENT, comment));
        PointerCatalog catalog = catalog(session);
        String location = Optional.of(schemaViewName)
                .filter(_ -> replace && tables.viewExists(schemaViewName, state))
                .map(_ -> loadView(session, schemaViewName).location())
                .or(() -> IcebergViewProperties.getLocation(viewProperties).map(value -> stripTrailingSlash(value)))
                .orElseGet(() -> defaultTableLocation(session, schemaViewName));
        ViewBuilder builder = catalog.buildView(identifier(schemaViewName))
                .withSchema(IcebergUtil.schemaFromViewColumns(typeManager, definition.getColumns()))
                .withQuery(DIALECT, definition.getOriginalSql())
                .withDefaultNamespace(namespace(schemaViewName.getSchemaName()))
                .withDefaultCatalog(definition.getCatalog().orElse(null))
                .withProperties(properties.buildOrThrow())
                .withLocation(location);
        try {
            if (replace) {
                builder.createOrReplace();
            }
            else {
                builder.create();
            }
        }
        catch (AlreadyExistsException e) {
            throw new TrinoException(ALREADY_EXISTS, e.getMessage(), e);
        }
        catch (NoSuchNamespaceException e) {
            throw new SchemaNotFoundException(schemaViewName.getSchemaName(), e);
        }
        state.committed();
    }

    @Override
    public void renameView(ConnectorSession session, SchemaTableName source, SchemaTableName target)
    {
        try {
            catalog(session).renameView(identifier(source), identifier(target));
        }
        catch (NoSuchViewException e) {
            throw new ViewNotFoundException(source);
        }
        catch (NoSuchNamespaceException e) {
            throw new SchemaNotFoundException(target.getSchemaName(), e);
        }
        catch (AlreadyExistsException e) {
            throw new TrinoException(ALREADY_EXISTS, e.getMessage(), e);
        }
        state.committed();
    }

    @Override
    public void setViewPrincipal(ConnectorSession session, SchemaTableName schemaViewName, TrinoPrincipal principal)
    {
        throw new TrinoException(NOT_SUPPORTED, "This connector does not support setting an owner on a view");
    }

    @Override
    public void dropView(ConnectorSession session, SchemaTableName schemaViewName)
    {
        if (!catalog(session).dropView(identifier(schemaViewName))) {
            throw new ViewNotFoundException(schemaViewName);
        }
        state.committed();
    }

    @Override
    public Map<SchemaTableName, ConnectorViewDefinition> getViews(ConnectorSession session, Optional<String> namespace)
    {
        ImmutableMap.Builder<SchemaTableName, ConnectorViewDefinition> views = ImmutableMap.builder();
        for (SchemaTableName view : listViews(session, namespace)) {
            try {
                getView(session, view).ifPresent(definition -> views.put(view, definition));
            }
            catch (TrinoException e) {
                if (!e.getErrorCode().equals(ICEBERG_UNSUPPORTED_VIEW_DIALECT.toErrorCode()) && !DamagedTables.isDamaged(e)) {
                    throw e;
                }
                log.debug(e, "View %s is not listed", view);
            }
        }
        return views.buildOrThrow();
    }

    @Override
    public Optional<ConnectorViewDefinition> getView(ConnectorSession session, SchemaTableName viewName)
    {
        if (state.get().find(identifier(viewName), PointerKind.VIEW).filter(tables::isVisible).isEmpty()) {
            return Optional.empty();
        }
        View view = loadView(session, viewName);
        SQLViewRepresentation query = view.sqlFor(DIALECT);
        if (!query.dialect().equalsIgnoreCase(DIALECT)) {
            throw new TrinoException(ICEBERG_UNSUPPORTED_VIEW_DIALECT, "Cannot read unsupported dialect '%s' for view '%s'".formatted(query.dialect(), viewName));
        }
        ViewVersion version = view.currentVersion();
        Optional<String> catalog = Optional.ofNullable(version.defaultCatalog());
        Optional<String> schema = catalog.filter(_ -> !version.defaultNamespace().isEmpty()).map(_ -> version.defaultNamespace().toString());
        Optional<String> owner = Optional.ofNullable(view.properties().get(ICEBERG_VIEW_RUN_AS_OWNER));
        return Optional.of(new ConnectorViewDefinition(
                query.sql(),
                catalog,
                schema,
                IcebergUtil.viewColumnsFromSchema(typeManager, view.schema()),
                Optional.ofNullable(view.properties().get(COMMENT)),
                owner,
                owner.isEmpty(),
                ImmutableList.of()));
    }

    private View loadView(ConnectorSession session, SchemaTableName viewName)
    {
        try {
            return catalog(session).loadView(identifier(viewName));
        }
        catch (NoSuchViewException e) {
            throw new ViewNotFoundException(viewName);
        }
        catch (RuntimeException e) {
            throw DamagedTables.translate(e);
        }
    }

    @Override
    public Map<String, Object> getViewProperties(ConnectorSession session, SchemaTableName viewName)
    {
        return ImmutableMap.of(LOCATION_PROPERTY, loadView(session, viewName).location());
    }

    @Override
    public void updateViewComment(ConnectorSession session, SchemaTableName schemaViewName, Optional<String> comment)
    {
        UpdateViewProperties update = loadView(session, schemaViewName).updateProperties();
        comment.ifPresentOrElse(value -> update.set(COMMENT, value), () -> update.remove(COMMENT));
        update.commit();
        state.committed();
    }

    @Override
    public void updateViewColumnComment(ConnectorSession session, SchemaTableName schemaViewName, String columnName, Optional<String> comment)
    {
        View view = loadView(session, schemaViewName);
        ViewVersion current = view.currentVersion();
        ReplaceViewVersion replace = view.replaceVersion()
                .withSchema(IcebergUtil.updateColumnComment(view.schema(), columnName, comment.orElse(null)))
                .withDefaultCatalog(current.defaultCatalog())
                .withDefaultNamespace(current.defaultNamespace());
        for (ViewRepresentation representation : current.representations()) {
            if (representation instanceof SQLViewRepresentation query) {
                replace.withQuery(query.dialect(), query.sql());
            }
        }
        replace.commit();
        state.committed();
    }

    @Override
    protected Optional<ConnectorMaterializedViewDefinition> doGetMaterializedView(ConnectorSession session, SchemaTableName schemaViewName)
    {
        return Optional.empty();
    }

    @Override
    public Optional<BaseTable> getMaterializedViewStorageTable(ConnectorSession session, SchemaTableName viewName)
    {
        return Optional.empty();
    }

    @Override
    public void createMaterializedView(
            ConnectorSession session,
            SchemaTableName schemaViewName,
            ConnectorMaterializedViewDefinition definition,
            Map<String, Object> materializedViewProperties,
            boolean replace,
            boolean ignoreExisting)
    {
        throw materializedViewsNotSupported();
    }

    @Override
    public void updateMaterializedViewColumnComment(ConnectorSession session, SchemaTableName schemaViewName, String columnName, Optional<String> comment)
    {
        throw materializedViewsNotSupported();
    }

    @Override
    public void dropMaterializedView(ConnectorSession session, SchemaTableName schemaViewName)
    {
        throw materializedViewsNotSupported();
    }

    @Override
    public Map<String, Object> getMaterializedViewProperties(ConnectorSession session, SchemaTableName viewName, ConnectorMaterializedViewDefinition definition)
    {
        throw materializedViewsNotSupported();
    }

    @Override
    public void renameMaterializedView(ConnectorSession session, SchemaTableName source, SchemaTableName target)
    {
        throw materializedViewsNotSupported();
    }

    private static TrinoException materializedViewsNotSupported()
    {
        return new TrinoException(NOT_SUPPORTED, "This connector does not support materialized views");
    }

    @Override
    public Optional<CatalogSchemaTableName> redirectTable(ConnectorSession session, SchemaTableName tableName, String hiveCatalogName)
    {
        return Optional.empty();
    }

    @Override
    protected void invalidateTableCache(SchemaTableName schemaTableName)
    {
        state.committed(identifier(schemaTableName));
    }
}
