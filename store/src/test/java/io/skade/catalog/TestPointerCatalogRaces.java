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

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.skade.ref.LocalDisk;
import io.skade.ref.MetadataFiles;
import io.skade.ref.RefCommitter;
import io.skade.store.CommitAuthor;
import io.skade.store.InMemoryPointerStore;
import io.skade.store.InterceptedPointerStore;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.ManualClock;
import io.skade.store.PointerKind;
import io.skade.store.PointerStore;
import io.skade.store.TablePointer;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.NamespaceNotEmptyException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableMap.toImmutableMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Changes of names and namespaces that meet another commit, and the rename of a namespace, which Iceberg's suite does not know.
 */
class TestPointerCatalogRaces
{
    private static final Namespace DB = Namespace.of("db");
    private static final Namespace OTHER = Namespace.of("other");
    private static final TableIdentifier T = TableIdentifier.of(DB, "t");
    private static final Schema SCHEMA = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()));

    @TempDir
    private Path warehouse;

    private final PointerStore store = new InMemoryPointerStore(new ManualClock());
    private PointerCatalog catalog;

    @BeforeEach
    void createTable()
    {
        catalog = catalog(store);
        catalog.createNamespace(DB, ImmutableMap.of("owner", "alice"));
        catalog.createTable(T, SCHEMA);
    }

    private PointerCatalog catalog(PointerStore pointerStore)
    {
        return new PointerCatalog(
                "lake",
                new RefCommitter(pointerStore, new MetadataFiles(10_000_000), LocalDisk.NONE),
                new LocalFileIO(),
                new CommitAuthor("alice", Optional.empty()),
                ImmutableMap.of(CatalogProperties.WAREHOUSE_LOCATION, warehouse.toString()));
    }

    private PointerCatalog interfered(Runnable action)
    {
        return catalog(new InterceptedPointerStore(store).interfere(action));
    }

    private void append()
    {
        catalog.loadTable(T).newFastAppend()
                .appendFile(DataFiles.builder(PartitionSpec.unpartitioned()).withPath("/data/%s.parquet".formatted(UUID.randomUUID())).withFileSizeInBytes(1).withRecordCount(1).build())
                .commit();
    }

    @Test
    void testRenameCarriesAnInsertThatCameBetween()
    {
        TableIdentifier to = TableIdentifier.of(DB, "renamed");
        interfered(this::append).renameTable(T, to);
        assertThat(catalog.loadTable(to).newScan().planFiles()).hasSize(1);
        assertThat(catalog.tableExists(T)).isFalse();
    }

    @Test
    void testRenameOfATableThatWasDropped()
    {
        TableIdentifier to = TableIdentifier.of(DB, "renamed");
        assertThatThrownBy(() -> interfered(() -> catalog.dropTable(T, false)).renameTable(T, to))
                .isInstanceOf(NoSuchTableException.class)
                .hasMessage("Cannot rename db.t to db.renamed. Table does not exist");
        assertThat(catalog.listTables(DB)).isEmpty();
    }

    @Test
    void testRenameToANameThatWasTaken()
    {
        TableIdentifier to = TableIdentifier.of(DB, "renamed");
        TablePointer before = store.state().find(T).orElseThrow();
        assertThatThrownBy(() -> interfered(() -> catalog.createTable(to, SCHEMA)).renameTable(T, to))
                .isInstanceOf(AlreadyExistsException.class)
                .hasMessage("Cannot rename db.t to db.renamed. Table already exists");
        assertThat(store.state().find(T)).contains(before);
        assertThat(catalog.listTables(DB)).containsExactly(to, T);
    }

    @Test
    void testRenameIntoANamespaceThatWasDropped()
    {
        catalog.createNamespace(OTHER);
        assertThatThrownBy(() -> interfered(() -> catalog.dropNamespace(OTHER)).renameTable(T, TableIdentifier.of(OTHER, "t")))
                .isInstanceOf(NoSuchNamespaceException.class)
                .hasMessage("Cannot rename db.t to other.t. Namespace does not exist: other");
        assertThat(catalog.tableExists(T)).isTrue();
    }

    @Test
    void testRenameToItself()
    {
        long logId = store.state().lastLogId();
        catalog.renameTable(T, T);
        assertThat(store.state().lastLogId()).isEqualTo(logId);
        assertThat(catalog.tableExists(T)).isTrue();
    }

    @Test
    void testDropTakesTheNewestPointer()
    {
        assertThat(interfered(this::append).dropTable(T, false)).isTrue();
        assertThat(catalog.tableExists(T)).isFalse();
        assertThat(store.log(1).getFirst().tables()).extracting(TableChange::operation).containsExactly("drop_table");
        assertThat(store.log(1).getFirst().tables().getFirst().refChanges()).hasSize(1);
        assertThat(catalog.dropTable(T, false)).isFalse();
        assertThat(catalog.unregisterTable(T)).isFalse();
    }

    @Test
    void testDropOfANamespaceThatGotATable()
    {
        catalog.createNamespace(OTHER);
        assertThatThrownBy(() -> interfered(() -> catalog.createTable(TableIdentifier.of(OTHER, "t"), SCHEMA)).dropNamespace(OTHER))
                .isInstanceOf(NamespaceNotEmptyException.class)
                .hasMessage("Namespace other is not empty");
        assertThat(catalog.listTables(OTHER)).hasSize(1);
    }

    @Test
    void testPropertiesOfANamespace()
    {
        interfered(() -> catalog.setProperties(DB, ImmutableMap.of("theirs", "1"))).setProperties(DB, ImmutableMap.of("ours", "1"));
        assertThat(catalog.loadNamespaceMetadata(DB)).isEqualTo(ImmutableMap.of("owner", "alice", "theirs", "1", "ours", "1"));
        assertThat(catalog.setProperties(DB, ImmutableMap.of("ours", "1"))).isFalse();
        assertThat(interfered(() -> catalog.removeProperties(DB, ImmutableSet.of("theirs"))).removeProperties(DB, ImmutableSet.of("ours"))).isTrue();
        assertThat(catalog.loadNamespaceMetadata(DB)).isEqualTo(ImmutableMap.of("owner", "alice"));
    }

    @Test
    void testRenameOfANamespace()
    {
        catalog.createTable(TableIdentifier.of(DB, "s"), SCHEMA);
        TablePointer pointer = store.state().find(T).orElseThrow();
        String location = catalog.loadTable(T).location();
        long logId = store.state().lastLogId();

        catalog.renameNamespace(DB, OTHER);

        assertThat(store.state().lastLogId()).isEqualTo(logId + 1);
        assertThat(catalog.namespaceExists(DB)).isFalse();
        assertThat(catalog.loadNamespaceMetadata(OTHER)).isEqualTo(ImmutableMap.of("owner", "alice"));
        assertThat(catalog.listTables(OTHER)).extracting(TableIdentifier::name).containsExactly("s", "t");
        TableIdentifier renamed = TableIdentifier.of(OTHER, "t");
        assertThat(store.state().find(renamed)).contains(pointer);
        assertThat(catalog.loadTable(renamed).location()).isEqualTo(location);
        assertThat(store.log(1).getFirst().tables()).extracting(TableChange::operation).containsExactly("rename_schema", "rename_schema");
        assertThat(store.log(pointer.id(), 10)).hasSize(2);
    }

    @Test
    void testRenameOfANamespaceTakesInWhatCameBetween()
    {
        interfered(this::append).renameNamespace(DB, OTHER);
        assertThat(catalog.loadTable(TableIdentifier.of(OTHER, "t")).newScan().planFiles()).hasSize(1);

        interfered(() -> catalog.createTable(TableIdentifier.of(OTHER, "late"), SCHEMA)).renameNamespace(OTHER, DB);
        assertThat(catalog.listTables(DB)).extracting(TableIdentifier::name).containsExactly("late", "t");
        assertThat(catalog.namespaceExists(OTHER)).isFalse();
    }

    @Test
    void testRenameOfANamespaceThatIsRefused()
    {
        assertNothingChanges(() -> assertThatThrownBy(() -> catalog.renameNamespace(OTHER, Namespace.of("x")))
                .isInstanceOf(NoSuchNamespaceException.class)
                .hasMessage("Namespace does not exist: other"));
        catalog.createNamespace(OTHER);
        assertNothingChanges(() -> assertThatThrownBy(() -> catalog.renameNamespace(DB, OTHER))
                .isInstanceOf(AlreadyExistsException.class)
                .hasMessage("Namespace already exists: other"));
        catalog.createNamespace(Namespace.of("db", "child"));
        assertNothingChanges(() -> assertThatThrownBy(() -> catalog.renameNamespace(DB, Namespace.of("x")))
                .isInstanceOf(NamespaceNotEmptyException.class)
                .hasMessage("Cannot rename namespace db: it holds other namespaces"));
    }

    @Test
    void testUnknownOutcome()
    {
        PointerStore made = new InterceptedPointerStore(store).failAfter();
        TableIdentifier to = TableIdentifier.of(DB, "renamed");
        assertThatThrownBy(() -> catalog(made).renameTable(T, to)).isInstanceOf(CommitStateUnknownException.class);
        assertThat(catalog.loadTable(to).schema().sameSchema(SCHEMA)).isTrue();
        // purging comes after the commit: of a drop that is not known to have happened all files stay
        PointerStore notMade = new InterceptedPointerStore(store).failBefore();
        assertThatThrownBy(() -> catalog(notMade).dropTable(to, true)).isInstanceOf(CommitStateUnknownException.class);
        assertThat(catalog.loadTable(to).schema().sameSchema(SCHEMA)).isTrue();
    }

    private void assertNothingChanges(Runnable action)
    {
        Map<Namespace, Map<String, String>> namespaces = namespaces();
        List<TableIdentifier> tables = tables();
        action.run();
        assertThat(namespaces()).isEqualTo(namespaces);
        assertThat(tables()).isEqualTo(tables);
    }

    private Map<Namespace, Map<String, String>> namespaces()
    {
        return store.state().namespaces().stream().collect(toImmutableMap(namespace -> namespace, namespace -> store.state().namespaceProperties(namespace).orElseThrow()));
    }

    private List<TableIdentifier> tables()
    {
        return store.state().namespaces().stream()
                .flatMap(namespace -> store.state().list(namespace, PointerKind.TABLE).stream())
                .collect(toImmutableList());
    }
}
