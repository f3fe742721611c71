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
package io.skade.catalog;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import io.airlift.log.Logger;
import io.skade.ref.InvalidMetadataException;
import io.skade.ref.MissingMetadataException;
import io.skade.ref.PointerTableOperations;
import io.skade.ref.ProtectedRefs;
import io.skade.ref.RefCommitter;
import io.skade.ref.RefRefusedException;
import io.skade.ref.RefUpdate;
import io.skade.ref.TableMove;
import io.skade.store.CatalogState;
import io.skade.store.CommitAuthor;
import io.skade.store.CommitResult.Committed;
import io.skade.store.CommitResult.Conflict;
import io.skade.store.CommitResult.Mismatch;
import io.skade.store.CommitResult.NamespaceMissing;
import io.skade.store.CommitResult.NamespaceNotEmpty;
import io.skade.store.CommitResult.PointerMismatch;
import io.skade.store.NamespaceChange;
import io.skade.store.PointerChange;
import io.skade.store.PointerCommit;
import io.skade.store.PointerKind;
import io.skade.store.PointerStore;
import io.skade.store.RefChange;
import io.skade.store.TablePointer;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.SupportsNamespaces;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NamespaceNotEmptyException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.exceptions.NoSuchViewException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.util.LocationUtil;
import org.apache.iceberg.util.PropertyUtil;
import org.apache.iceberg.view.BaseMetastoreViewCatalog;
import org.apache.iceberg.view.ViewOperations;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.ref.RefRefusedException.Reason.PROTECTED;
import static java.util.Objects.requireNonNull;

/**
 * An Iceberg catalog of tables, views and namespaces whose pointers are in a {@link PointerStore}. It holds nothing of its own: many
 * may be made over one store.
 *
 * <p>Catalog properties: {@value CatalogProperties#WAREHOUSE_LOCATION}, {@value CatalogProperties#UNIQUE_TABLE_LOCATION}, and the defaults
 * and overrides of table and view properties.
 */
public final class PointerCatalog
        extends BaseMetastoreViewCatalog
        implements SupportsNamespaces
{
    private static final Logger log = Logger.get(PointerCatalog.class);

    private static final int MAX_ATTEMPTS = 100;

    private final String name;
    private final RefCommitter committer;
    private final PointerStore store;
    private final FileIO io;
    private final CommitAuthor author;
    private final Map<String, String> properties;
    private final String warehouse;

    public PointerCatalog(String name, RefCommitter committer, FileIO io, CommitAuthor author, Map<String, String> properties)
    {
        this.name = requireNonNull(name, "name is null");
        this.committer = requireNonNull(committer, "committer is null");
        this.store = committer.store();
        this.io = requireNonNull(io, "io is null");
        this.author = requireNonNull(author, "author is null");
        this.properties = ImmutableMap.copyOf(properties);
        this.warehouse = LocationUtil.stripTrailingSlash(requireNonNull(properties.get(CatalogProperties.WAREHOUSE_LOCATION), "the warehouse location is missing"));
    }

    @Override
    public String name()
    {
        return name;
    }

    @Override
    protected Map<String, String> properties()
    {
        return properties;
    }

    @Override
    protected TableOperations newTableOps(TableIdentifier identifier)
    {
        return new PointerTableOperations(committer, identifier, io, author, store::state);
    }

    @Override
    protected ViewOperations newViewOps(TableIdentifier identifier)
    {
        return new PointerViewOperations(committer, identifier, io, author);
    }

    @Override
    protected String defaultWarehouseLocation(TableIdentifier identifier)
    {
        String namespaceLocation = store.state().namespaceProperties(identifier.namespace())
                .map(values -> values.get("location"))
                .map(LocationUtil::stripTrailingSlash)
                .orElseGet(() -> identifier.namespace().isEmpty() ? warehouse : warehouse + "/" + String.join("/", identifier.namespace().levels()));
        boolean unique = PropertyUtil.propertyAsBoolean(properties, CatalogProperties.UNIQUE_TABLE_LOCATION, CatalogProperties.UNIQUE_TABLE_LOCATION_DEFAULT);
        return namespaceLocation + "/" + LocationUtil.tableLocation(identifier, unique);
    }

    @Override
    public List<TableIdentifier> listTables(Namespace namespace)
    {
        return list(namespace, PointerKind.TABLE);
    }

    @Override
    public List<TableIdentifier> listViews(Namespace namespace)
    {
        return list(namespace, PointerKind.VIEW);
    }

    private List<TableIdentifier> list(Namespace namespace, PointerKind kind)
    {
        CatalogState state = store.state();
        if (!namespace.isEmpty() && !state.namespaceExists(namespace)) {
            throw new NoSuchNamespaceException("Namespace does not exist: %s", namespace);
        }
        return state.list(namespace, kind);
    }

    /**
     * Changes tables in one commit, or none of them.
     *
     * @return the tables' new metadata, in the order of {@code updates}
     * @throws RuntimeException as {@link RefCommitter#commit}
     */
    public List<TableMetadata> commit(Map<TableIdentifier, RefUpdate> updates)
    {
        return committer.commit(io, author, updates).stream().map(TableMove::current).collect(toImmutableList());
    }

    /**
     * Creates a table.
     *
     * @return the metadata as read from its file
     * @throws RuntimeException as {@link RefCommitter#create}
     */
    public TableMetadata createTable(TableIdentifier identifier, TableMetadata metadata)
    {
        return committer.create(io, author, identifier, metadata);
    }

    /**
     * @throws RefRefusedException if the table has protected branches; nothing was changed
     */
    @Override
    public boolean dropTable(TableIdentifier identifier, boolean purge)
    {
        Optional<TablePointer> dropped = drop(identifier, PointerKind.TABLE, "drop_table");
        if (dropped.isEmpty()) {
            return false;
        }
        if (purge) {
            try {
                // a table without its metadata has nothing that could be found from it
                read(identifier, dropped.get()).ifPresent(metadata -> CatalogUtil.dropTableData(io, metadata));
            }
            catch (RuntimeException e) {
                // the table is dropped; what is left is no table's
                log.warn(e, "Cannot delete all data of the dropped table %s", identifier);
            }
        }
        return true;
    }

    /**
     * Takes a table out of the catalog and leaves its files. False if there is no such table.
     *
     * @throws RefRefusedException if the table has protected branches; nothing was changed
     */
    public boolean unregisterTable(TableIdentifier identifier)
    {
        return drop(identifier, PointerKind.TABLE, "unregister_table").isPresent();
    }

    @Override
    public boolean dropView(TableIdentifier identifier)
    {
        return drop(identifier, PointerKind.VIEW, "drop_view").isPresent();
    }

    private Optional<TablePointer> drop(TableIdentifier identifier, PointerKind kind, String operation)
    {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            Optional<TablePointer> pointer = store.state().find(identifier, kind);
            if (pointer.isEmpty()) {
                return Optional.empty();
            }
            if (kind == PointerKind.TABLE) {
                read(identifier, pointer.get()).ifPresent(metadata -> checkNotProtected(identifier, metadata));
            }
            PointerChange change = new PointerChange(identifier, pointer, Optional.empty(), operation, RefChange.between(pointer.get().refs(), ImmutableMap.of()));
            if (store.commit(PointerCommit.of(author, change)) instanceof Committed) {
                return pointer;
            }
        }
        throw new CommitFailedException("Cannot drop %s: other commits won %s times in a row", identifier, MAX_ATTEMPTS);
    }

    private static void checkNotProtected(TableIdentifier name, TableMetadata metadata)
    {
        Set<String> protectedRefs = ProtectedRefs.of(metadata);
        if (!protectedRefs.isEmpty()) {
            throw new RefRefusedException(PROTECTED, "Cannot drop %s: it has protected branches: %s", name, String.join(", ", protectedRefs));
        }
    }

    /**
     * The metadata of a table, empty if it is not there or damaged.
     */
    private Optional<TableMetadata> read(TableIdentifier name, TablePointer pointer)
    {
        try {
            return Optional.of(committer.files().read(io, name, pointer));
        }
        catch (MissingMetadataException | InvalidMetadataException e) {
            return Optional.empty();
        }
    }

    @Override
    public void renameTable(TableIdentifier from, TableIdentifier to)
    {
        rename(from, to, PointerKind.TABLE);
    }

    @Override
    public void renameView(TableIdentifier from, TableIdentifier to)
    {
        rename(from, to, PointerKind.VIEW);
    }

    private void rename(TableIdentifier from, TableIdentifier to, PointerKind kind)
    {
        if (from.equals(to)) {
            return;
        }
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            Optional<TablePointer> pointer = store.state().find(from, kind);
            if (pointer.isEmpty()) {
                throw switch (kind) {
                    case TABLE -> new NoSuchTableException("Cannot rename %s to %s. Table does not exist", from, to);
                    case VIEW -> new NoSuchViewException("Cannot rename %s to %s. View does not exist", from, to);
                };
            }
            String operation = switch (kind) {
                case TABLE -> "rename_table";
                case VIEW -> "rename_view";
            };
            PointerCommit commit = PointerCommit.of(
                    author,
                    new PointerChange(from, pointer, Optional.empty(), operation, ImmutableList.of()),
                    new PointerChange(to, Optional.empty(), pointer, operation, ImmutableList.of()));
            switch (store.commit(commit)) {
                case Committed _ -> {
                    return;
                }
                case Conflict(List<Mismatch> mismatches) -> {
                    for (Mismatch mismatch : mismatches) {
                        if (mismatch instanceof NamespaceMissing) {
                            throw new NoSuchNamespaceException("Cannot rename %s to %s. Namespace does not exist: %s", from, to, to.namespace());
                        }
                        if (mismatch instanceof PointerMismatch(TableIdentifier taken, _, Optional<TablePointer> actual) && taken.equals(to) && actual.isPresent()) {
                            throw new AlreadyExistsException("Cannot rename %s to %s. %s already exists", from, to, actual.get().kind() == PointerKind.VIEW ? "View" : "Table");
                        }
                    }
                }
            }
        }
        throw new CommitFailedException("Cannot rename %s: other commits won %s times in a row", from, MAX_ATTEMPTS);
    }

    @Override
    public void createNamespace(Namespace namespace, Map<String, String> metadata)
    {
        if (store.commit(PointerCommit.of(author, new NamespaceChange(namespace, Optional.empty(), Optional.of(metadata)))) instanceof Conflict) {
            throw new AlreadyExistsException("Namespace already exists: %s", namespace);
        }
    }

    @Override
    public boolean namespaceExists(Namespace namespace)
    {
        return store.state().namespaceExists(namespace);
    }

    @Override
    public List<Namespace> listNamespaces(Namespace parent)
    {
        CatalogState state = store.state();
        if (!parent.isEmpty() && !state.namespaceExists(parent)) {
            throw new NoSuchNamespaceException("Namespace does not exist: %s", parent);
        }
        TreeSet<String> children = new TreeSet<>();
        for (Namespace namespace : state.namespaces()) {
            if (namespace.length() > parent.length() && ImmutableList.copyOf(namespace.levels()).subList(0, parent.length()).equals(ImmutableList.copyOf(parent.levels()))) {
                children.add(namespace.level(parent.length()));
            }
        }
        return children.stream()
                .map(child -> Namespace.of(ImmutableList.<String>builder().add(parent.levels()).add(child).build().toArray(String[]::new)))
                .collect(toImmutableList());
    }

    @Override
    public Map<String, String> loadNamespaceMetadata(Namespace namespace)
    {
        return store.state().namespaceProperties(namespace)
                .orElseThrow(() -> new NoSuchNamespaceException("Namespace does not exist: %s", namespace));
    }

    @Override
    public boolean dropNamespace(Namespace namespace)
    {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            Optional<Map<String, String>> present = store.state().namespaceProperties(namespace);
            if (present.isEmpty()) {
                return false;
            }
            switch (store.commit(PointerCommit.of(author, new NamespaceChange(namespace, present, Optional.empty())))) {
                case Committed _ -> {
                    return true;
                }
                case Conflict(List<Mismatch> mismatches) -> {
                    if (mismatches.getFirst() instanceof NamespaceNotEmpty) {
                        throw new NamespaceNotEmptyException("Namespace %s is not empty", namespace);
                    }
                }
            }
        }
        throw new CommitFailedException("Cannot drop namespace %s: other commits won %s times in a row", namespace, MAX_ATTEMPTS);
    }

    /**
     * Renames a namespace with all that is in it, in one commit. Locations stay.
     *
     * @throws NoSuchNamespaceException if there is no such namespace; nothing was changed
     * @throws AlreadyExistsException if {@code to} exists; nothing was changed
     * @throws NamespaceNotEmptyException if the namespace holds other namespaces; nothing was changed
     */
    public void renameNamespace(Namespace from, Namespace to)
    {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            CatalogState state = store.state();
            Map<String, String> namespaceProperties = state.namespaceProperties(from)
                    .orElseThrow(() -> new NoSuchNamespaceException("Namespace does not exist: %s", from));
            if (state.namespaceExists(to)) {
                throw new AlreadyExistsException("Namespace already exists: %s", to);
            }
            ImmutableList.Builder<PointerChange> pointers = ImmutableList.builder();
            state.pointers(from).forEach(entry -> {
                TableIdentifier name = entry.getKey();
                Optional<TablePointer> pointer = Optional.of(entry.getValue());
                pointers.add(new PointerChange(name, pointer, Optional.empty(), "rename_schema", ImmutableList.of()));
                pointers.add(new PointerChange(TableIdentifier.of(to, name.name()), Optional.empty(), pointer, "rename_schema", ImmutableList.of()));
            });
            PointerCommit commit = new PointerCommit(
                    author,
                    ImmutableList.of(
                            new NamespaceChange(from, Optional.of(namespaceProperties), Optional.empty()),
                            new NamespaceChange(to, Optional.empty(), Optional.of(namespaceProperties))),
                    pointers.build());
            switch (store.commit(commit)) {
                case Committed _ -> {
                    return;
                }
                case Conflict(List<Mismatch> mismatches) -> {
                    boolean changed = mismatches.stream().anyMatch(mismatch -> !(mismatch instanceof NamespaceNotEmpty));
                    boolean hasChildren = !listNamespaces(from).isEmpty();
                    if (!changed && hasChildren) {
                        throw new NamespaceNotEmptyException("Cannot rename namespace %s: it holds other namespaces", from);
                    }
                }
            }
        }
        throw new CommitFailedException("Cannot rename namespace %s: other commits won %s times in a row", from, MAX_ATTEMPTS);
    }

    @Override
    public boolean setProperties(Namespace namespace, Map<String, String> updates)
    {
        return updateProperties(namespace, present -> {
            Map<String, String> result = new HashMap<>(present);
            result.putAll(updates);
            return result;
        });
    }

    @Override
    public boolean removeProperties(Namespace namespace, Set<String> removals)
    {
        return updateProperties(namespace, present -> Maps.filterKeys(present, key -> !removals.contains(key)));
    }

    private boolean updateProperties(Namespace namespace, UnaryOperator<Map<String, String>> update)
    {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            Map<String, String> present = loadNamespaceMetadata(namespace);
            Map<String, String> next = ImmutableMap.copyOf(update.apply(present));
            if (next.equals(present)) {
                return false;
            }
            if (store.commit(PointerCommit.of(author, new NamespaceChange(namespace, Optional.of(present), Optional.of(next)))) instanceof Committed) {
                return true;
            }
        }
        throw new CommitFailedException("Cannot change namespace %s: other commits won %s times in a row", namespace, MAX_ATTEMPTS);
    }
}
