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
import io.skade.catalog.RebuildStep.Outcome;
import io.skade.catalog.StoreProblem.Kind;
import io.skade.ref.LocalDisk;
import io.skade.ref.MetadataFiles;
import io.skade.ref.RefCommitter;
import io.skade.store.CommitAuthor;
import io.skade.store.CommitResult.Committed;
import io.skade.store.InMemoryPointerStore;
import io.skade.store.InterceptedPointerStore;
import io.skade.store.ManualClock;
import io.skade.store.PointerChange;
import io.skade.store.PointerCommit;
import io.skade.store.PointerStore;
import io.skade.store.RefChange;
import io.skade.store.TablePointer;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

import static io.skade.catalog.RebuildStep.Outcome.CONFLICT;
import static io.skade.catalog.RebuildStep.Outcome.CREATED;
import static io.skade.catalog.RebuildStep.Outcome.MOVED;
import static io.skade.catalog.RebuildStep.Outcome.UP_TO_DATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What is found out from metadata files alone.
 */
class TestStoreRebuild
{
    private static final CommitAuthor ALICE = new CommitAuthor("alice", Optional.empty());
    private static final Schema SCHEMA = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()));
    private static final TableIdentifier T = TableIdentifier.of("db", "t");
    private static final TableIdentifier U = TableIdentifier.of("db", "u");
    private static final TableIdentifier V = TableIdentifier.of("db", "v");

    @TempDir
    private Path warehouse;

    private final PointerStore store = new InMemoryPointerStore(new ManualClock());
    private int pauses;

    @BeforeEach
    void createNamespace()
    {
        catalog(store).createNamespace(Namespace.of("db"));
    }

    private PointerCatalog catalog(PointerStore pointers)
    {
        return new PointerCatalog(
                "lake",
                new RefCommitter(pointers, new MetadataFiles(0), LocalDisk.NONE),
                new LocalFileIO(),
                ALICE,
                ImmutableMap.of(CatalogProperties.WAREHOUSE_LOCATION, warehouse.toString()));
    }

    private Table createTable(TableIdentifier name, int snapshots)
    {
        Table table = catalog(store).createTable(name, SCHEMA, PartitionSpec.unpartitioned(), ImmutableMap.of("write.metadata.previous-versions-max", "3"));
        for (int i = 0; i < snapshots; i++) {
            append(table);
        }
        return table;
    }

    private static void append(Table table)
    {
        table.newFastAppend()
                .appendFile(DataFiles.builder(PartitionSpec.unpartitioned())
                        .withPath("/data/%s.parquet".formatted(UUID.randomUUID()))
                        .withFileSizeInBytes(100)
                        .withRecordCount(10)
                        .build())
                .commit();
    }

    /**
     * An append whose metadata file is written and whose pointer never moves.
     */
    private void appendCutOff(TableIdentifier name)
    {
        PointerStore failing = new InterceptedPointerStore(store).failBefore();
        assertThatThrownBy(() -> append(catalog(failing).loadTable(name))).isInstanceOf(CommitStateUnknownException.class);
    }

    private TablePointer pointer(TableIdentifier name)
    {
        return store.state().find(name).orElseThrow();
    }

    /**
     * The store forgets the last commits to a table.
     */
    private void setBack(TableIdentifier name, TablePointer earlier)
    {
        TablePointer present = pointer(name);
        PointerChange change = new PointerChange(name, Optional.of(present), Optional.of(present.moveTo(earlier.uuid(), earlier.metadataLocation(), earlier.refs())), "lost", RefChange.between(present.refs(), earlier.refs()));
        assertThat(store.commit(PointerCommit.of(ALICE, change))).isInstanceOf(Committed.class);
    }

    private List<String> list(String folder)
    {
        if (!Files.exists(Path.of(folder))) {
            return ImmutableList.of();
        }
        try (Stream<Path> files = Files.walk(Path.of(folder))) {
            return files.filter(Files::isRegularFile).map(Path::toString).toList();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private StoreRebuild rebuild()
    {
        return new StoreRebuild(new LocalFileIO(), this::list, name -> !name.name().contains("$"));
    }

    private RebuildPlan plan(PointerStore pointers)
    {
        return rebuild().plan(warehouse.toString(), pointers::state, () -> pauses++);
    }

    private static PointerStore emptyStore()
    {
        return new InMemoryPointerStore(new ManualClock());
    }

    private static void assertSteps(RebuildPlan plan, String... expected)
    {
        assertThat(plan.steps().stream().map(step -> step.name() + " " + step.outcome())).containsExactly(expected);
    }

    private static RebuildStep onlyStep(RebuildPlan plan, Outcome outcome)
    {
        assertThat(plan.steps()).hasSize(1);
        RebuildStep step = plan.steps().getFirst();
        assertThat(step.outcome()).isEqualTo(outcome);
        return step;
    }

    private List<Kind> check()
    {
        return new StoreCheck(new LocalFileIO(), this::list)
                .check(ImmutableList.of(T), store::state, () -> pauses++).stream()
                .map(StoreProblem::kind)
                .toList();
    }

    @Test
    void testLostStore()
    {
        createTable(T, 7).manageSnapshots().createTag("gold", catalog(store).loadTable(T).currentSnapshot().snapshotId()).createBranch("audit").commit();
        createTable(U, 0);
        catalog(store).buildView(V).withSchema(SCHEMA).withDefaultNamespace(Namespace.of("db")).withQuery("trino", "SELECT 1").create();
        catalog(store).buildView(V).withSchema(SCHEMA).withDefaultNamespace(Namespace.of("db")).withQuery("trino", "SELECT 2").replace();
        createTable(TableIdentifier.of("db", "dropped"), 1);
        catalog(store).dropTable(TableIdentifier.of("db", "dropped"), true);

        PointerStore lost = emptyStore();
        RebuildPlan plan = plan(lost);
        assertSteps(plan, "db.t CREATED", "db.u CREATED", "db.v CREATED");
        assertThat(plan.namespaces()).containsExactly(Namespace.of("db"));
        assertThat(lost.state().namespaces()).isEmpty();
        assertThat(pauses).isEqualTo(1);

        plan.commit(lost, ALICE);
        for (TableIdentifier name : List.of(T, U, V)) {
            TablePointer back = lost.state().find(name).orElseThrow();
            assertThat(back).usingRecursiveComparison().ignoringFields("id", "version").isEqualTo(pointer(name));
        }
        assertThat(lost.log(10)).hasSize(1);
        assertThat(lost.log(1).getFirst().tables()).allMatch(table -> table.operation().equals("rebuild"));
        RebuildPlan again = plan(lost);
        assertSteps(again, "db.t UP_TO_DATE", "db.u UP_TO_DATE", "db.v UP_TO_DATE");
        assertThat(again.changes()).isEmpty();
        again.commit(lost, ALICE);
        assertThat(lost.log(10)).hasSize(1);
        assertThat(pauses).isEqualTo(1);
    }

    @Test
    void testPlanThatCameTooLate()
    {
        createTable(T, 1);
        PointerStore lost = emptyStore();
        RebuildPlan plan = plan(lost);
        catalog(lost).createNamespace(Namespace.of("db"));
        assertThatThrownBy(() -> plan.commit(lost, ALICE))
                .isInstanceOf(CommitFailedException.class)
                .hasMessageStartingWith("Cannot rebuild the store: other commits were made meanwhile: ");
        assertThat(lost.state().find(T)).isEmpty();
    }

    @Test
    void testLeftOverOfACommitThatWasNotMade()
    {
        createTable(T, 2);
        appendCutOff(T);
        append(catalog(store).loadTable(T));
        append(catalog(store).loadTable(T));
        assertThat(onlyStep(plan(emptyStore()), CREATED).metadataLocation()).isEqualTo(pointer(T).metadataLocation());
        onlyStep(plan(store), UP_TO_DATE);
        assertThat(check()).isEmpty();
    }

    @Test
    void testTwoThatCouldBeTheNewest()
    {
        createTable(T, 2);
        appendCutOff(T);
        append(catalog(store).loadTable(T));
        assertThat(onlyStep(plan(emptyStore()), CONFLICT).message())
                .startsWith("Each of these could be the newest: ")
                .contains(pointer(T).metadataLocation());
        // the store knows
        onlyStep(plan(store), UP_TO_DATE);
        assertThat(check()).isEmpty();
    }

    @Test
    void testLostCommits()
    {
        createTable(T, 2);
        TablePointer earlier = pointer(T);
        append(catalog(store).loadTable(T));
        catalog(store).loadTable(T).manageSnapshots().createBranch("audit").commit();
        TablePointer newest = pointer(T);
        setBack(T, earlier);
        assertThat(check()).containsExactly(Kind.NEWER_METADATA);

        RebuildPlan plan = plan(store);
        RebuildStep step = onlyStep(plan, MOVED);
        assertThat(step.message()).isEqualTo("It descends from %s, where the pointer is".formatted(earlier.metadataLocation()));
        plan.commit(store, ALICE);
        assertThat(pointer(T).metadataLocation()).isEqualTo(newest.metadataLocation());
        assertThat(pointer(T).refs()).isEqualTo(newest.refs());
        assertThat(pointer(T).id()).isEqualTo(newest.id());
        assertThat(store.log(1).getFirst().tables().getFirst().refChanges()).extracting(change -> change.ref()).containsExactly("audit", "main");
        onlyStep(plan(store), UP_TO_DATE);
        assertThat(check()).isEmpty();
    }

    @Test
    void testTheTableWentAnotherWaySince()
    {
        createTable(T, 1);
        TablePointer earlier = pointer(T);
        append(catalog(store).loadTable(T));
        append(catalog(store).loadTable(T));
        String other = pointer(T).metadataLocation();
        setBack(T, earlier);
        append(catalog(store).loadTable(T));

        RebuildStep step = onlyStep(plan(store), CONFLICT);
        assertThat(step.metadataLocation()).isEqualTo(other);
        assertThat(step.message()).isEqualTo("It has a higher number than %s, where the pointer is, but does not descend from it".formatted(pointer(T).metadataLocation()));
        // both lines have gone on
        append(catalog(store).loadTable(T));
        onlyStep(plan(emptyStore()), CONFLICT);
    }

    @Test
    void testRenamedTable()
    {
        createTable(T, 1);
        catalog(store).renameTable(T, U);
        assertThat(onlyStep(plan(store), UP_TO_DATE).name()).isEqualTo(U);
        assertThat(onlyStep(plan(emptyStore()), CREATED).name()).isEqualTo(T);

        // a new table takes the name and, here, the folder
        createTable(T, 1);
        assertSteps(plan(store), "db.t UP_TO_DATE", "db.u UP_TO_DATE");
        RebuildPlan plan = plan(emptyStore());
        assertSteps(plan, "db.t CONFLICT", "db.t CONFLICT");
        assertThat(plan.steps().getFirst().message()).isEqualTo("Several tables or views have folders of this name: register each under a name of its own");
    }

    @Test
    void testNameTaken()
    {
        createTable(T, 1);
        PointerStore other = emptyStore();
        catalog(other).createNamespace(Namespace.of("db"));
        TablePointer pointer = TablePointer.newTable("another", "elsewhere/00000-x.metadata.json", ImmutableMap.of());
        other.commit(PointerCommit.of(ALICE, new PointerChange(T, Optional.empty(), Optional.of(pointer), "create_table", ImmutableList.of())));
        assertThat(onlyStep(plan(other), CONFLICT).message()).isEqualTo("The name is taken by another table or view, with uuid another: register this one under a name of its own");
    }

    @Test
    void testNamesOfFolders()
    {
        Map<String, TableIdentifier> names = ImmutableMap.of(
                "db/plain", TableIdentifier.of("db", "plain"),
                "db/unique-0123456789abcdef0123456789abcdef", TableIdentifier.of("db", "unique"),
                "db/with-dash", TableIdentifier.of("db", "with-dash"),
                "deep/er/Upper", TableIdentifier.of("er", "upper"));
        names.keySet().forEach(location -> catalog(store).buildTable(TableIdentifier.of("db", location.replace('/', '_')), SCHEMA)
                .withLocation(warehouse.resolve(location).toString())
                .create());
        catalog(store).buildTable(TableIdentifier.of("db", "odd"), SCHEMA).withLocation(warehouse.resolve("db/odd$name").toString()).create();
        List<TableIdentifier> created = new ArrayList<>();
        for (RebuildStep step : plan(emptyStore()).steps()) {
            if (step.outcome() == CREATED) {
                created.add(step.name());
            }
            else {
                assertThat(step.message()).isEqualTo("The folder %s makes no name: register this one under a name of its own".formatted(warehouse.resolve("db/odd$name")));
            }
        }
        assertThat(created).containsExactlyInAnyOrderElementsOf(names.values());
    }

    @Test
    void testDamagedFiles()
            throws IOException
    {
        createTable(T, 2);
        TablePointer earlier = pointer(T);
        append(catalog(store).loadTable(T));
        String newest = pointer(T).metadataLocation();
        Files.write(Path.of(newest), new byte[0]);
        assertThat(check()).containsExactly(Kind.UNREADABLE);

        RebuildStep created = onlyStep(plan(emptyStore()), CREATED);
        assertThat(created.metadataLocation()).isEqualTo(earlier.metadataLocation());
        assertThat(created.message()).isEqualTo("What was newer is damaged: " + newest);

        Files.delete(Path.of(newest));
        assertThat(check()).containsExactly(Kind.MISSING);
        RebuildPlan plan = plan(store);
        assertThat(onlyStep(plan, MOVED).message()).isEqualTo("The file where the pointer is, %s, is gone or damaged: this is the newest that is left".formatted(newest));
        plan.commit(store, ALICE);
        assertThat(pointer(T).refs()).isEqualTo(earlier.refs());
        assertThat(check()).isEmpty();

        for (String file : list(warehouse.toString())) {
            if (MetadataFolder.isMetadataFile(file)) {
                Files.writeString(Path.of(file), "{");
            }
        }
        assertThat(onlyStep(plan(emptyStore()), CONFLICT).message()).isEqualTo("No metadata file of its folder can be read");
        assertThat(onlyStep(plan(store), CONFLICT).name()).isEqualTo(T);
    }

    @Test
    void testCopiedFolder()
            throws IOException
    {
        createTable(T, 1);
        Path copy = Files.createDirectories(warehouse.resolve("db/zcopy/metadata"));
        Path file = Path.of(pointer(T).metadataLocation());
        Files.copy(file, copy.resolve(file.getFileName()));
        RebuildPlan plan = plan(emptyStore());
        assertSteps(plan, "db.t CREATED", "db.t CONFLICT");
        assertThat(plan.steps().getFirst().metadataLocation()).isEqualTo(pointer(T).metadataLocation());
        assertThat(plan.steps().getLast().message()).isEqualTo("It belongs into %s by its content, so it is a copy or was moved".formatted(file.getParent()));
    }

    @Test
    void testMovedMetadataFolder()
    {
        createTable(T, 2);
        catalog(store).loadTable(T).updateProperties().set("write.metadata.path", warehouse.resolve("elsewhere").toString()).commit();
        append(catalog(store).loadTable(T));
        RebuildStep step = onlyStep(plan(emptyStore()), CREATED);
        assertThat(step.name()).isEqualTo(T);
        assertThat(step.metadataLocation()).isEqualTo(pointer(T).metadataLocation()).startsWith(warehouse.resolve("elsewhere").toString());
    }

    /**
     * A metadata file is there before its pointer moves. By the second look it has moved.
     */
    @Test
    void testCommitUnderWay()
    {
        createTable(T, 1);
        TablePointer earlier = pointer(T);
        append(catalog(store).loadTable(T));
        TablePointer later = pointer(T);
        setBack(T, earlier);
        Runnable commit = () -> setBack(T, later);
        assertThat(new StoreCheck(new LocalFileIO(), this::list).check(ImmutableList.of(T), store::state, commit)).isEmpty();

        setBack(T, earlier);
        onlyStep(rebuild().plan(warehouse.toString(), store::state, commit), UP_TO_DATE);
    }
}
