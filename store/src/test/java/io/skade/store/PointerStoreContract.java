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
package io.skade.store;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.skade.store.CommitResult.Committed;
import io.skade.store.CommitResult.Conflict;
import io.skade.store.CommitResult.Mismatch;
import io.skade.store.CommitResult.NamespaceMismatch;
import io.skade.store.CommitResult.NamespaceMissing;
import io.skade.store.CommitResult.NamespaceNotEmpty;
import io.skade.store.CommitResult.PointerMismatch;
import io.skade.store.LogEntry.TableChange;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.BOB;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.committed;
import static io.skade.store.TestingPointers.content;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.drop;
import static io.skade.store.TestingPointers.dropNamespace;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.moved;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.rename;
import static io.skade.store.TestingPointers.table;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What every {@link PointerStore} does.
 */
abstract class PointerStoreContract
{
    private static final TableIdentifier T = table("t");

    protected final ManualClock clock = new ManualClock();
    protected PointerStore store;

    protected abstract PointerStore open(Clock clock);

    @BeforeEach
    void openStore()
    {
        store = open(clock);
    }

    @AfterEach
    void closeStore()
    {
        store.close();
    }

    @Test
    void testNewStoreIsEmpty()
    {
        assertThat(content(store.state())).isEqualTo(ImmutableMap.of("last log id", 0L));
        assertThat(store.state().namespaces()).isEmpty();
        assertThat(store.log(10)).isEmpty();
        assertThat(store.log(UUID.randomUUID(), 10)).isEmpty();
    }

    @Test
    void testCreateNamespace()
    {
        Committed created = committed(store.commit(PointerCommit.of(ALICE, new NamespaceChange(DB, Optional.empty(), Optional.of(ImmutableMap.of("location", "s3://b"))))));
        assertThat(content(created.state())).isEqualTo(content(store.state()));
        // a commit without pointers has no log entry
        assertThat(created.logId()).isZero();
        assertThat(store.log(10)).isEmpty();
        assertThat(store.state().namespaceExists(DB)).isTrue();
        assertThat(store.state().namespaceProperties(DB)).contains(ImmutableMap.of("location", "s3://b"));
        assertThat(store.state().namespaces()).containsExactly(DB);
        assertThat(store.state().list(DB, PointerKind.TABLE)).isEmpty();
    }

    @Test
    void testCreateExistingNamespace()
    {
        createDb();
        assertConflict(
                PointerCommit.of(BOB, new NamespaceChange(DB, Optional.empty(), Optional.of(ImmutableMap.of("a", "b")))),
                new NamespaceMismatch(DB));
    }

    @Test
    void testChangeNamespaceProperties()
    {
        createDb();
        TablePointer pointer = createTable(T);
        committed(store.commit(PointerCommit.of(ALICE, new NamespaceChange(DB, Optional.of(ImmutableMap.of()), Optional.of(ImmutableMap.of("a", "1"))))));
        assertThat(store.state().namespaceProperties(DB)).contains(ImmutableMap.of("a", "1"));
        assertThat(store.state().find(T)).contains(pointer);
    }

    @Test
    void testChangeNamespaceThatIsNotAsExpected()
    {
        createDb();
        assertConflict(
                PointerCommit.of(ALICE, new NamespaceChange(DB, Optional.of(ImmutableMap.of("a", "1")), Optional.of(ImmutableMap.of("a", "2")))),
                new NamespaceMismatch(DB));
        Namespace missing = Namespace.of("missing");
        assertConflict(
                PointerCommit.of(ALICE, new NamespaceChange(missing, Optional.of(ImmutableMap.of()), Optional.of(ImmutableMap.of()))),
                new NamespaceMismatch(missing));
    }

    @Test
    void testDropNamespace()
    {
        createDb();
        committed(store.commit(PointerCommit.of(ALICE, dropNamespace(DB))));
        assertThat(content(store.state())).isEqualTo(ImmutableMap.of("last log id", 0L));
        assertThat(store.state().namespaceExists(DB)).isFalse();
        assertThat(store.state().namespaceProperties(DB)).isEmpty();
    }

    @Test
    void testDropMissingNamespace()
    {
        assertConflict(PointerCommit.of(ALICE, dropNamespace(DB)), new NamespaceMismatch(DB));
    }

    @Test
    void testDropNamespaceThatIsNotEmpty()
    {
        createDb();
        TablePointer pointer = createTable(T);
        assertConflict(PointerCommit.of(ALICE, dropNamespace(DB)), new NamespaceNotEmpty(DB));
        committed(store.commit(PointerCommit.of(ALICE, drop(T, pointer))));

        TableIdentifier view = table("v");
        TablePointer viewPointer = TablePointer.newView("uuid", "v.json");
        committed(store.commit(PointerCommit.of(ALICE, create(view, viewPointer))));
        assertConflict(PointerCommit.of(ALICE, dropNamespace(DB)), new NamespaceNotEmpty(DB));
        committed(store.commit(PointerCommit.of(ALICE, drop(view, viewPointer))));

        Namespace child = Namespace.of("db", "child");
        committed(store.commit(PointerCommit.of(ALICE, createNamespace(child))));
        assertConflict(PointerCommit.of(ALICE, dropNamespace(DB)), new NamespaceNotEmpty(DB));
        committed(store.commit(PointerCommit.of(ALICE, dropNamespace(child))));

        committed(store.commit(PointerCommit.of(ALICE, dropNamespace(DB))));
    }

    @Test
    void testDropNamespaceWithItsTablesInOneCommit()
    {
        createDb();
        TablePointer pointer = createTable(T);
        committed(store.commit(new PointerCommit(ALICE, ImmutableList.of(dropNamespace(DB)), ImmutableList.of(drop(T, pointer)))));
        assertThat(store.state().namespaces()).isEmpty();
        assertThat(store.state().find(T)).isEmpty();
    }

    @Test
    void testCreateNamespaceAndTableInOneCommit()
    {
        TablePointer pointer = newTable(1);
        committed(store.commit(new PointerCommit(ALICE, ImmutableList.of(createNamespace(DB)), ImmutableList.of(create(T, pointer)))));
        assertThat(store.state().find(T)).contains(pointer);
    }

    @Test
    void testNamespacesWithSimilarNames()
    {
        List<Namespace> namespaces = ImmutableList.of(Namespace.of("a", "b"), Namespace.of("a.b"), Namespace.of("a"), Namespace.of("A"), Namespace.of("ab"), Namespace.of("a/b"));
        namespaces.forEach(namespace -> committed(store.commit(PointerCommit.of(ALICE, createNamespace(namespace)))));
        assertThat(store.state().namespaces()).containsExactlyInAnyOrderElementsOf(namespaces);
        namespaces.forEach(namespace -> committed(store.commit(PointerCommit.of(ALICE, create(TableIdentifier.of(namespace, "t"), newTable(namespaces.indexOf(namespace)))))));
        namespaces.forEach(namespace -> {
            TableIdentifier name = TableIdentifier.of(namespace, "t");
            assertThat(store.state().list(namespace, PointerKind.TABLE)).containsExactly(name);
            assertThat(store.state().find(name).orElseThrow().metadataLocation()).isEqualTo(namespaces.indexOf(namespace) + ".metadata.json");
        });
    }

    @Test
    void testCreateTable()
    {
        createDb();
        TablePointer pointer = newTable(1);
        Committed created = committed(store.commit(PointerCommit.of(ALICE, create(T, pointer))));
        assertThat(created.logId()).isEqualTo(1);
        assertThat(created.state().lastLogId()).isEqualTo(1);
        assertThat(created.state().find(T)).contains(pointer);
        assertThat(content(store.state())).isEqualTo(content(created.state()));
        assertThat(store.state().find(T, PointerKind.TABLE)).contains(pointer);
        assertThat(store.state().find(T, PointerKind.VIEW)).isEmpty();
        assertThat(store.state().find(table("T"))).isEmpty();
    }

    @Test
    void testCreateExistingTable()
    {
        createDb();
        TablePointer pointer = createTable(T);
        assertConflict(PointerCommit.of(BOB, create(T, newTable(2))), new PointerMismatch(T, Optional.empty(), Optional.of(pointer)));
        // not even the same one again
        assertConflict(PointerCommit.of(BOB, create(T, pointer)), new PointerMismatch(T, Optional.empty(), Optional.of(pointer)));
        // tables and views share their names
        assertConflict(PointerCommit.of(BOB, create(T, TablePointer.newView("uuid", "v.json"))), new PointerMismatch(T, Optional.empty(), Optional.of(pointer)));
    }

    @Test
    void testCreateTableInMissingNamespace()
    {
        assertConflict(PointerCommit.of(ALICE, create(T, newTable(1))), new NamespaceMissing(T));
        createDb();
        TableIdentifier nested = TableIdentifier.of("db", "child", "t");
        assertConflict(PointerCommit.of(ALICE, create(nested, newTable(1))), new NamespaceMissing(nested));
    }

    @Test
    void testCreateTableInNamespaceThatTheCommitDrops()
    {
        createDb();
        assertConflict(
                new PointerCommit(ALICE, ImmutableList.of(dropNamespace(DB)), ImmutableList.of(create(T, newTable(1)))),
                new NamespaceMissing(T));
    }

    @Test
    void testMove()
    {
        createDb();
        TablePointer pointer = createTable(T);
        Committed committed = committed(store.commit(PointerCommit.of(ALICE, move(T, pointer, 2))));
        TablePointer moved = store.state().find(T).orElseThrow();
        assertThat(moved).isEqualTo(new TablePointer(PointerKind.TABLE, pointer.id(), "uuid", "2.metadata.json", TestingPointers.refs(2), 1));
        assertThat(committed.logId()).isEqualTo(2);
    }

    @Test
    void testMoveFromStalePointer()
    {
        createDb();
        TablePointer pointer = createTable(T);
        committed(store.commit(PointerCommit.of(ALICE, move(T, pointer, 2))));
        TablePointer moved = moved(pointer, 2);
        assertConflict(PointerCommit.of(BOB, move(T, pointer, 3)), new PointerMismatch(T, Optional.of(pointer), Optional.of(moved)));
        assertConflict(PointerCommit.of(BOB, drop(T, pointer)), new PointerMismatch(T, Optional.of(pointer), Optional.of(moved)));
    }

    @Test
    void testMoveOfMissingTable()
    {
        TablePointer pointer = newTable(1);
        assertConflict(PointerCommit.of(ALICE, move(T, pointer, 2)), new PointerMismatch(T, Optional.of(pointer), Optional.empty()));
        createDb();
        assertConflict(PointerCommit.of(ALICE, move(T, pointer, 2)), new PointerMismatch(T, Optional.of(pointer), Optional.empty()));
    }

    /**
     * Each part of a pointer takes part in the comparison: the retention of a tag as well.
     */
    @Test
    void testWholePointerIsCompared()
    {
        createDb();
        TablePointer pointer = createTable(T);
        List<TablePointer> similar = ImmutableList.of(
                new TablePointer(PointerKind.VIEW, pointer.id(), pointer.uuid(), pointer.metadataLocation(), pointer.refs(), pointer.version()),
                new TablePointer(PointerKind.TABLE, UUID.randomUUID(), pointer.uuid(), pointer.metadataLocation(), pointer.refs(), pointer.version()),
                new TablePointer(PointerKind.TABLE, pointer.id(), "other", pointer.metadataLocation(), pointer.refs(), pointer.version()),
                new TablePointer(PointerKind.TABLE, pointer.id(), pointer.uuid(), "other", pointer.refs(), pointer.version()),
                new TablePointer(PointerKind.TABLE, pointer.id(), pointer.uuid(), pointer.metadataLocation(), ImmutableMap.of(), pointer.version()),
                new TablePointer(PointerKind.TABLE, pointer.id(), pointer.uuid(), pointer.metadataLocation(), ImmutableMap.of("main", SnapshotRef.branchBuilder(1).maxRefAgeMs(1L).build()), pointer.version()),
                new TablePointer(PointerKind.TABLE, pointer.id(), pointer.uuid(), pointer.metadataLocation(), pointer.refs(), pointer.version() + 1));
        for (TablePointer other : similar) {
            assertConflict(
                    PointerCommit.of(ALICE, new PointerChange(T, Optional.of(other), Optional.of(moved(pointer, 2)), "move", ImmutableList.of())),
                    new PointerMismatch(T, Optional.of(other), Optional.of(pointer)));
        }
    }

    /**
     * A table that was dropped and made again is another table, even with the same metadata file.
     */
    @Test
    void testTableThatWasMadeAgainIsAnotherOne()
    {
        createDb();
        TablePointer first = createTable(T);
        committed(store.commit(PointerCommit.of(ALICE, drop(T, first))));
        TablePointer second = createTable(T);
        assertThat(second.metadataLocation()).isEqualTo(first.metadataLocation());
        assertConflict(PointerCommit.of(ALICE, move(T, first, 2)), new PointerMismatch(T, Optional.of(first), Optional.of(second)));
        assertThat(operations(store.log(first.id(), 10))).containsExactly("drop", "create");
        assertThat(operations(store.log(second.id(), 10))).containsExactly("create");
    }

    @Test
    void testDrop()
    {
        createDb();
        TablePointer pointer = createTable(T);
        committed(store.commit(PointerCommit.of(ALICE, drop(T, pointer))));
        assertThat(store.state().find(T)).isEmpty();
        assertThat(store.state().list(DB, PointerKind.TABLE)).isEmpty();
        assertThat(store.state().namespaceExists(DB)).isTrue();
        assertThat(store.log(1).getFirst().tables()).containsExactly(new TableChange(T, pointer.id(), "drop", Optional.empty(), ImmutableList.of()));
    }

    @Test
    void testRename()
    {
        createDb();
        TablePointer pointer = createTable(T);
        TableIdentifier to = table("renamed");
        committed(store.commit(rename(T, to, pointer)));
        assertThat(store.state().find(T)).isEmpty();
        assertThat(store.state().find(to)).contains(pointer);
        // one row, under the new name
        assertThat(store.log(1).getFirst().tables()).containsExactly(new TableChange(to, pointer.id(), "rename", Optional.of("1.metadata.json"), ImmutableList.of()));
    }

    @Test
    void testRenameToTakenName()
    {
        createDb();
        TablePointer pointer = createTable(T);
        TableIdentifier taken = table("taken");
        TablePointer other = createTable(taken);
        assertConflict(rename(T, taken, pointer), new PointerMismatch(taken, Optional.empty(), Optional.of(other)));
    }

    @Test
    void testRenameToMissingNamespace()
    {
        createDb();
        TablePointer pointer = createTable(T);
        TableIdentifier to = TableIdentifier.of("missing", "t");
        assertConflict(rename(T, to, pointer), new NamespaceMissing(to));
    }

    @Test
    void testRenameOfStalePointer()
    {
        createDb();
        TablePointer pointer = createTable(T);
        committed(store.commit(PointerCommit.of(ALICE, move(T, pointer, 2))));
        assertConflict(rename(T, table("renamed"), pointer), new PointerMismatch(T, Optional.of(pointer), Optional.of(moved(pointer, 2))));
    }

    @Test
    void testExchangeOfTwoNamesInOneCommit()
    {
        createDb();
        TablePointer left = createTable(table("left"));
        TablePointer right = createTable(table("right"));
        committed(store.commit(PointerCommit.of(
                ALICE,
                new PointerChange(table("left"), Optional.of(left), Optional.of(right), "exchange", ImmutableList.of()),
                new PointerChange(table("right"), Optional.of(right), Optional.of(left), "exchange", ImmutableList.of()))));
        assertThat(store.state().find(table("left"))).contains(right);
        assertThat(store.state().find(table("right"))).contains(left);
    }

    @Test
    void testRenameOfNamespaceWithItsTablesInOneCommit()
    {
        createDb();
        Namespace to = Namespace.of("renamed");
        List<TablePointer> pointers = IntStream.range(0, 5).mapToObj(i -> createTable(table("t" + i))).collect(toImmutableList());
        ImmutableList.Builder<PointerChange> changes = ImmutableList.builder();
        for (int i = 0; i < 5; i++) {
            changes.addAll(rename(table("t" + i), TableIdentifier.of(to, "t" + i), pointers.get(i)).pointers());
        }
        committed(store.commit(new PointerCommit(ALICE, ImmutableList.of(dropNamespace(DB), createNamespace(to)), changes.build())));

        assertThat(store.state().namespaces()).containsExactly(to);
        assertThat(store.state().list(to, PointerKind.TABLE)).extracting(TableIdentifier::name).containsExactly("t0", "t1", "t2", "t3", "t4");
        assertThat(store.state().list(DB, PointerKind.TABLE)).isEmpty();
        assertThat(store.state().find(TableIdentifier.of(to, "t3"))).contains(pointers.get(3));
        assertThat(store.log(1).getFirst().tables()).extracting(TableChange::name).extracting(TableIdentifier::toString)
                .containsExactly("renamed.t0", "renamed.t1", "renamed.t2", "renamed.t3", "renamed.t4");
    }

    @Test
    void testRenameOfNamespaceThatLeavesATableBehind()
    {
        createDb();
        TablePointer pointer = createTable(T);
        createTable(table("left_behind"));
        Namespace to = Namespace.of("renamed");
        assertConflict(
                new PointerCommit(
                        ALICE,
                        ImmutableList.of(dropNamespace(DB), createNamespace(to)),
                        rename(T, TableIdentifier.of(to, "t"), pointer).pointers()),
                new NamespaceNotEmpty(DB));
    }

    @Test
    void testManyTablesInOneCommit()
    {
        createDb();
        List<TablePointer> pointers = IntStream.range(0, 10).mapToObj(i -> createTable(table("t" + i))).collect(toImmutableList());
        PointerChange[] changes = IntStream.range(0, 10).mapToObj(i -> move(table("t" + i), pointers.get(i), 2)).toArray(PointerChange[]::new);
        Committed committed = committed(store.commit(PointerCommit.of(ALICE, changes)));
        assertThat(committed.logId()).isEqualTo(11);
        for (int i = 0; i < 10; i++) {
            assertThat(store.state().find(table("t" + i))).contains(moved(pointers.get(i), 2));
            assertThat(store.log(pointers.get(i).id(), 10)).extracting(LogEntry::logId).containsExactly(11L, i + 1L);
        }
        assertThat(store.log(1).getFirst().tables()).hasSize(10);
    }

    @Test
    void testManyTablesInOneCommitAreAllOrNothing()
    {
        createDb();
        List<TablePointer> pointers = IntStream.range(0, 10).mapToObj(i -> createTable(table("t" + i))).collect(toImmutableList());
        committed(store.commit(PointerCommit.of(BOB, move(table("t9"), pointers.get(9), 2))));
        PointerChange[] changes = IntStream.range(0, 10).mapToObj(i -> move(table("t" + i), pointers.get(i), 3)).toArray(PointerChange[]::new);
        assertConflict(
                PointerCommit.of(ALICE, changes),
                new PointerMismatch(table("t9"), Optional.of(pointers.get(9)), Optional.of(moved(pointers.get(9), 2))));
    }

    @Test
    void testConflictNamesEveryMismatch()
    {
        createDb();
        Namespace full = Namespace.of("full");
        committed(store.commit(PointerCommit.of(ALICE, createNamespace(full))));
        createTable(TableIdentifier.of(full, "t"));
        TablePointer taken = createTable(table("taken"));
        TablePointer stale = createTable(table("stale"));
        committed(store.commit(PointerCommit.of(BOB, move(table("stale"), stale, 2))));
        TablePointer missing = newTable(1);
        TableIdentifier homeless = TableIdentifier.of("missing", "t");

        assertConflict(
                new PointerCommit(
                        ALICE,
                        ImmutableList.of(createNamespace(DB), dropNamespace(full)),
                        ImmutableList.of(
                                create(table("taken"), newTable(5)),
                                create(table("fine"), newTable(5)),
                                move(table("stale"), stale, 5),
                                drop(table("missing"), missing),
                                create(homeless, newTable(5)))),
                new NamespaceMismatch(DB),
                new PointerMismatch(table("taken"), Optional.empty(), Optional.of(taken)),
                new PointerMismatch(table("stale"), Optional.of(stale), Optional.of(moved(stale, 2))),
                new PointerMismatch(table("missing"), Optional.of(missing), Optional.empty()),
                new NamespaceMissing(homeless),
                new NamespaceNotEmpty(full));
    }

    @Test
    void testEmptyCommit()
    {
        createDb();
        createTable(T);
        Map<String, Object> before = content(store.state());
        Committed committed = committed(store.commit(new PointerCommit(ALICE, ImmutableList.of(), ImmutableList.of())));
        assertThat(committed.logId()).isEqualTo(1);
        assertThat(content(store.state())).isEqualTo(before);
        assertThat(store.log(10)).hasSize(1);
    }

    @Test
    void testViewsAndTablesAreListedApart()
    {
        createDb();
        createTable(table("b"));
        createTable(table("a"));
        committed(store.commit(PointerCommit.of(ALICE, create(table("v"), TablePointer.newView("uuid", "v.json")))));
        assertThat(store.state().list(DB, PointerKind.TABLE)).containsExactly(table("a"), table("b"));
        assertThat(store.state().list(DB, PointerKind.VIEW)).containsExactly(table("v"));
        assertThat(store.state().pointers(DB)).hasSize(3);
        assertThat(store.state().list(Namespace.of("missing"), PointerKind.TABLE)).isEmpty();
        assertThat(store.state().pointers(Namespace.of("missing"))).isEmpty();
    }

    @Test
    void testLog()
    {
        createDb();
        clock.set(Instant.parse("2026-03-01T00:00:00.123Z"));
        TablePointer pointer = createTable(T);

        clock.set(Instant.parse("2026-03-01T00:00:01Z"));
        RefChange moved = new RefChange("main", Optional.of(SnapshotRef.branchBuilder(1).build()), Optional.of(SnapshotRef.branchBuilder(2).build()));
        RefChange created = new RefChange("v1", Optional.empty(), Optional.of(SnapshotRef.tagBuilder(2).maxRefAgeMs(5L).build()));
        TablePointer next = pointer.moveTo("uuid", "2.metadata.json", ImmutableMap.of("main", SnapshotRef.branchBuilder(2).build(), "v1", SnapshotRef.tagBuilder(2).maxRefAgeMs(5L).build()));
        committed(store.commit(PointerCommit.of(BOB, new PointerChange(T, Optional.of(pointer), Optional.of(next), "publish_branch", ImmutableList.of(moved, created)))));

        // the clock may go back; the order of the log is that of the commits
        clock.set(Instant.parse("2026-02-01T00:00:00Z"));
        RefChange dropped = new RefChange("v1", Optional.of(SnapshotRef.tagBuilder(2).maxRefAgeMs(5L).build()), Optional.empty());
        TablePointer last = next.moveTo("uuid", "3.metadata.json", TestingPointers.refs(2));
        committed(store.commit(PointerCommit.of(ALICE, new PointerChange(T, Optional.of(next), Optional.of(last), "drop_tag", ImmutableList.of(dropped)))));

        List<LogEntry> expected = ImmutableList.of(
                new LogEntry(3, Instant.parse("2026-02-01T00:00:00Z"), ALICE, ImmutableList.of(
                        new TableChange(T, pointer.id(), "drop_tag", Optional.of("3.metadata.json"), ImmutableList.of(dropped)))),
                new LogEntry(2, Instant.parse("2026-03-01T00:00:01Z"), BOB, ImmutableList.of(
                        new TableChange(T, pointer.id(), "publish_branch", Optional.of("2.metadata.json"), ImmutableList.of(moved, created)))),
                new LogEntry(1, Instant.parse("2026-03-01T00:00:00.123Z"), ALICE, ImmutableList.of(
                        new TableChange(T, pointer.id(), "create", Optional.of("1.metadata.json"), ImmutableList.of()))));
        assertThat(store.log(10)).isEqualTo(expected);
        assertThat(store.log(3)).isEqualTo(expected);
        assertThat(store.log(2)).isEqualTo(expected.subList(0, 2));
        assertThat(store.log(0)).isEmpty();
        assertThat(store.log(pointer.id(), Integer.MAX_VALUE)).isEqualTo(expected);
        assertThat(store.log(pointer.id(), 1)).isEqualTo(expected.subList(0, 1));
        assertThat(store.log(pointer.id(), 0)).isEmpty();
        assertThat(store.log(UUID.randomUUID(), 10)).isEmpty();
    }

    @Test
    void testTrimLog()
    {
        createDb();
        Instant start = Instant.parse("2026-03-01T00:00:00Z");
        TablePointer pointer = null;
        TablePointer other = null;
        for (int day = 0; day < 5; day++) {
            clock.set(start.plus(Duration.ofDays(day)));
            if (day == 0) {
                pointer = createTable(T);
            }
            else if (day == 1) {
                other = createTable(table("other"));
            }
            else {
                committed(store.commit(PointerCommit.of(ALICE, move(T, pointer, day), move(table("other"), other, day))));
                pointer = moved(pointer, day);
                other = moved(other, day);
            }
        }
        CatalogState state = store.state();
        assertThat(store.trimLog(start)).isZero();
        assertThat(store.log(10)).hasSize(5);
        // an entry of just that time stays
        assertThat(store.trimLog(start.plus(Duration.ofDays(2)))).isEqualTo(2);
        assertThat(store.log(10)).extracting(LogEntry::logId).containsExactly(5L, 4L, 3L);
        assertThat(store.log(pointer.id(), 10)).extracting(LogEntry::logId).containsExactly(5L, 4L, 3L);
        assertThat(store.log(other.id(), 10)).extracting(LogEntry::logId).containsExactly(5L, 4L, 3L);
        // the newest entry stays, and the pointers do not change
        assertThat(store.trimLog(start.plus(Duration.ofDays(100)))).isEqualTo(2);
        assertThat(store.log(10)).extracting(LogEntry::logId).containsExactly(5L);
        assertThat(store.trimLog(Instant.MAX)).isZero();
        assertThat(store.state().lastLogId()).isEqualTo(5);
        assertThat(store.state().find(T)).isEqualTo(state.find(T));
        committed(store.commit(PointerCommit.of(ALICE, move(T, pointer, 9))));
        assertThat(store.log(10)).extracting(LogEntry::logId).containsExactly(6L, 5L);
    }

    /**
     * Several commits at once: each has its log entry, one that does not fit takes the others with it.
     */
    @Test
    void testGroup()
    {
        createDb();
        TablePointer pointer = newTable(1);
        TablePointer next = moved(pointer, 2);
        Committed committed = committed(store.commit(ImmutableList.of(
                PointerCommit.of(ALICE, create(T, pointer)),
                PointerCommit.of(BOB, move(T, pointer, 2)))));
        assertThat(committed.logId()).isEqualTo(2);
        assertThat(content(committed.state())).isEqualTo(content(store.state()));
        assertThat(store.state().find(T)).hasValue(next);
        assertThat(store.log(10)).extracting(LogEntry::author).containsExactly(BOB, ALICE);

        Map<String, Object> before = content(store.state());
        CommitResult result = store.commit(ImmutableList.of(
                PointerCommit.of(ALICE, create(table("other"), newTable(1))),
                PointerCommit.of(ALICE, move(T, pointer, 3))));
        assertThat(result).isEqualTo(new Conflict(ImmutableList.of(new PointerMismatch(T, Optional.of(pointer), Optional.of(next)))));
        assertThat(content(store.state())).isEqualTo(before);
        assertThat(store.log(10)).hasSize(2);

        // one document that all of them bring
        TablePointer third = next.moveTo("uuid", "3.metadata.json", next.refs());
        TablePointer last = third.moveTo("uuid", "3.metadata.json", pointer.refs());
        committed(store.commit(ImmutableList.of(
                new PointerCommit(ALICE, ImmutableList.of(), ImmutableList.of(new PointerChange(T, Optional.of(next), Optional.of(third), "move", ImmutableList.of())), ImmutableList.of(document(third))),
                new PointerCommit(ALICE, ImmutableList.of(), ImmutableList.of(new PointerChange(T, Optional.of(third), Optional.of(last), "move", RefChange.between(third.refs(), last.refs()))), ImmutableList.of(document(third))))));
        assertThat(store.state().find(T)).hasValue(last);
        assertThat(store.document(last.id())).hasValue(document(last));
        assertThatThrownBy(() -> store.commit(ImmutableList.of())).isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * Documents that come with a patch, on what is kept and on what is not, and read after each commit.
     */
    @Test
    void testPatchedDocuments()
    {
        createDb();
        Random random = new Random(1);
        List<TablePointer> pointers = new ArrayList<>(ImmutableList.of(newTable(0), newTable(0)));
        List<MetadataDocument> documents = new ArrayList<>();
        for (int table = 0; table < 2; table++) {
            documents.add(MetadataDocument.of("0.metadata.json", "x".repeat(1000).getBytes(UTF_8)));
            commitWithDocuments(ImmutableList.of(create(table("t" + table), pointers.get(table))), documents.get(table));
        }
        for (int step = 1; step < 400; step++) {
            ImmutableList.Builder<PointerChange> changes = ImmutableList.builder();
            ImmutableList.Builder<MetadataDocument> committed = ImmutableList.builder();
            for (int table = 0; table < 2; table++) {
                MetadataDocument base = documents.get(table);
                byte[] content = ("step %s ".formatted(step).repeat(random.nextInt(10)) + new String(base.content(), UTF_8).substring(random.nextInt(30)) + "%s".formatted(step).repeat(random.nextInt(20))).getBytes(UTF_8);
                MetadataDocument document = new MetadataDocument("%s-%s.metadata.json".formatted(table, step), ImmutableList.of(content), DocumentPatch.between(base.location(), ImmutableList.of(base.content()), ImmutableList.of(content)));
                TablePointer pointer = pointers.get(table);
                TablePointer next = pointer.moveTo(pointer.uuid(), document.location(), pointer.refs());
                changes.add(new PointerChange(table("t" + table), Optional.of(pointer), Optional.of(next), "move", ImmutableList.of()));
                committed.add(document);
                pointers.set(table, next);
                documents.set(table, document);
            }
            commitWithDocuments(changes.build(), committed.build().toArray(MetadataDocument[]::new));
            for (int table = 0; table < 2; table++) {
                assertThat(store.document(pointers.get(table).id())).hasValue(documents.get(table));
            }
            if (random.nextInt(50) == 0) {
                store.forgetDocuments(ImmutableMap.of(pointers.getFirst().id(), documents.getFirst().location()));
                assertThat(store.document(pointers.getFirst().id())).isEmpty();
            }
        }
    }

    @Test
    void testTrimEmptyLog()
    {
        assertThat(store.trimLog(Instant.MAX)).isZero();
    }

    private static MetadataDocument document(TablePointer pointer)
    {
        return MetadataDocument.of(pointer.metadataLocation(), ("document " + pointer.metadataLocation()).getBytes(UTF_8));
    }

    private void commitWithDocuments(List<PointerChange> changes, MetadataDocument... documents)
    {
        committed(store.commit(new PointerCommit(ALICE, ImmutableList.of(), changes, ImmutableList.copyOf(documents))));
    }

    /**
     * A document is kept until it is forgotten, its pointer moves on, or its table is dropped.
     */
    @Test
    void testDocuments()
    {
        createDb();
        assertThat(store.keptDocuments()).isEmpty();
        TablePointer first = newTable(1);
        TablePointer second = moved(first, 2);
        TablePointer other = newTable(7);
        commitWithDocuments(ImmutableList.of(create(T, first), create(table("other"), other)), document(first), document(other));
        assertThat(store.keptDocuments()).isEqualTo(ImmutableMap.of(first.id(), "1.metadata.json", other.id(), "7.metadata.json"));
        assertThat(store.document(first.id())).hasValue(document(first));
        assertThat(store.document(UUID.randomUUID())).isEmpty();

        // a conflict brings nothing
        store.commit(new PointerCommit(ALICE, ImmutableList.of(), ImmutableList.of(move(T, second, 3)), ImmutableList.of(document(moved(second, 3)))));
        assertThat(store.document(first.id())).hasValue(document(first));

        commitWithDocuments(ImmutableList.of(move(T, first, 2)), document(second));
        assertThat(store.document(first.id())).hasValue(document(second));
        // a file that was there before is not what the pointer is at now
        store.forgetDocuments(ImmutableMap.of(first.id(), "1.metadata.json", UUID.randomUUID(), "2.metadata.json"));
        assertThat(store.document(first.id())).hasValue(document(second));

        committed(store.commit(rename(T, table("renamed"), second)));
        assertThat(store.document(first.id())).hasValue(document(second));
        store.forgetDocuments(ImmutableMap.of(first.id(), "2.metadata.json"));
        assertThat(store.document(first.id())).isEmpty();
        assertThat(store.keptDocuments()).containsOnlyKeys(other.id());

        // a commit without a document ends the one of the commit before
        commitWithDocuments(ImmutableList.of(move(table("renamed"), second, 3)), document(moved(second, 3)));
        assertThat(store.keptDocuments()).containsOnlyKeys(first.id(), other.id());
        commitWithDocuments(ImmutableList.of(move(table("renamed"), moved(second, 3), 4)));
        assertThat(store.keptDocuments()).containsOnlyKeys(other.id());
        assertThat(store.document(first.id())).isEmpty();
        committed(store.commit(PointerCommit.of(ALICE, drop(table("other"), other))));
        assertThat(store.keptDocuments()).isEmpty();
        assertThat(store.document(other.id())).isEmpty();
    }

    @Test
    void testUndoStepsAreLogged()
    {
        createDb();
        TablePointer pointer = createTable(T);
        TablePointer undone = moved(pointer, 2);
        List<RefChange> changes = RefChange.between(pointer.refs(), undone.refs());
        committed(store.commit(PointerCommit.of(ALICE, new PointerChange(T, Optional.of(pointer), Optional.of(undone), "undo_ref", changes, -2))));
        assertThat(store.log(10)).flatExtracting(LogEntry::tables).extracting(TableChange::undoSteps).containsExactly(-2, 0);
    }

    @Test
    void testNegativeLimit()
    {
        assertThatThrownBy(() -> store.log(-1)).isInstanceOf(IllegalArgumentException.class).hasMessage("limit is negative: -1");
        assertThatThrownBy(() -> store.log(UUID.randomUUID(), -1)).isInstanceOf(IllegalArgumentException.class).hasMessage("limit is negative: -1");
    }

    @Test
    void testLogOfOnePointerFollowsRenames()
    {
        createDb();
        TablePointer pointer = createTable(T);
        TablePointer other = createTable(table("other"));
        committed(store.commit(rename(T, table("renamed"), pointer)));
        committed(store.commit(PointerCommit.of(ALICE, move(table("renamed"), pointer, 2), move(table("other"), other, 2))));
        // another table under the old name
        TablePointer successor = createTable(T);
        committed(store.commit(PointerCommit.of(ALICE, drop(table("renamed"), moved(pointer, 2)))));

        assertThat(store.log(pointer.id(), 10)).extracting(LogEntry::logId).containsExactly(6L, 4L, 3L, 1L);
        assertThat(operations(store.log(pointer.id(), 10))).containsExactly("drop", "move", "move", "rename", "create");
        // the entry of a commit is whole, whichever pointer it is looked up by
        assertThat(store.log(pointer.id(), 10).get(1)).isEqualTo(store.log(other.id(), 10).getFirst());
        assertThat(store.log(pointer.id(), 10).get(1).tables()).extracting(TableChange::name).containsExactly(table("renamed"), table("other"));
        assertThat(store.log(successor.id(), 10)).extracting(LogEntry::logId).containsExactly(5L);
    }

    @Test
    void testNamesAndAuthorsWithAnyCharacters()
    {
        createDb();
        List<String> names = ImmutableList.of("a.b", "a/b", "a b", "ä", "😀", "'", "\"", "%", "t@branch", "t$history", "\n", "n".repeat(5000));
        for (String name : names) {
            TablePointer pointer = newTable(1);
            CommitAuthor author = new CommitAuthor(name, Optional.of(name));
            committed(store.commit(PointerCommit.of(author, create(table(name), pointer))));
            assertThat(store.state().find(table(name))).contains(pointer);
            assertThat(store.log(1).getFirst().author()).isEqualTo(author);
            assertThat(store.log(1).getFirst().tables().getFirst().name()).isEqualTo(table(name));
        }
        assertThat(store.state().list(DB, PointerKind.TABLE)).extracting(TableIdentifier::name).containsExactlyInAnyOrderElementsOf(names);
    }

    /**
     * A state that somebody holds stays what it was.
     */
    @Test
    void testStateIsImmutable()
    {
        createDb();
        TablePointer pointer = createTable(T);
        CatalogState held = store.state();
        Map<String, Object> before = content(held);

        committed(store.commit(PointerCommit.of(ALICE, move(T, pointer, 2))));
        committed(store.commit(PointerCommit.of(ALICE, create(table("other"), newTable(1)))));
        committed(store.commit(PointerCommit.of(ALICE, createNamespace(Namespace.of("other")))));
        committed(store.commit(PointerCommit.of(ALICE, new NamespaceChange(DB, Optional.of(ImmutableMap.of()), Optional.of(ImmutableMap.of("a", "1"))))));
        committed(store.commit(PointerCommit.of(ALICE, drop(T, moved(pointer, 2)))));
        assertThat(content(held)).isEqualTo(before);
        assertThat(held.find(T)).contains(pointer);

        assertThatThrownBy(() -> held.namespaces().clear()).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> held.list(DB, PointerKind.TABLE).clear()).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> held.namespaceProperties(DB).orElseThrow().put("a", "b")).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> held.find(T).orElseThrow().refs().clear()).isInstanceOf(UnsupportedOperationException.class);
        assertThat(content(held)).isEqualTo(before);
    }

    /**
     * {@link CatalogState#with} makes a state of its own, which the store knows nothing of.
     */
    @Test
    void testStateWithOtherPointers()
    {
        createDb();
        TablePointer pointer = createTable(T);
        Map<String, Object> before = content(store.state());
        TablePointer other = newTable(9);
        CatalogState state = store.state().with(table("other"), Optional.of(other)).with(T, Optional.empty());
        assertThat(state.find(T)).isEmpty();
        assertThat(state.find(table("other"))).contains(other);
        assertThat(content(store.state())).isEqualTo(before);
        assertThat(store.state().find(T)).contains(pointer);
        assertThatThrownBy(() -> store.state().with(TableIdentifier.of("missing", "t"), Optional.of(other)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Namespace does not exist: missing");
    }

    @Test
    void testClosedStore()
    {
        createDb();
        store.close();
        store.close();
        assertThatThrownBy(() -> store.state()).isInstanceOf(StoreException.class).hasMessageEndingWith("is closed");
        assertThatThrownBy(() -> store.commit(PointerCommit.of(ALICE, create(T, newTable(1))))).isInstanceOf(StoreException.class).hasMessageEndingWith("is closed");
        assertThatThrownBy(() -> store.log(10)).isInstanceOf(StoreException.class).hasMessageEndingWith("is closed");
        assertThatThrownBy(() -> store.log(UUID.randomUUID(), 10)).isInstanceOf(StoreException.class).hasMessageEndingWith("is closed");
    }

    protected final void createDb()
    {
        committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
    }

    protected final TablePointer createTable(TableIdentifier name)
    {
        TablePointer pointer = newTable(1);
        committed(store.commit(PointerCommit.of(ALICE, create(name, pointer))));
        return pointer;
    }

    /**
     * The commit ends in a conflict that names exactly these mismatches, and changes nothing.
     */
    private void assertConflict(PointerCommit commit, Mismatch... mismatches)
    {
        Map<String, Object> state = content(store.state());
        List<LogEntry> log = store.log(Integer.MAX_VALUE);
        assertThat(store.commit(commit)).isEqualTo(new Conflict(ImmutableList.copyOf(mismatches)));
        assertThat(content(store.state())).isEqualTo(state);
        assertThat(store.log(Integer.MAX_VALUE)).isEqualTo(log);
    }

    private static List<String> operations(List<LogEntry> log)
    {
        return log.stream()
                .flatMap(entry -> entry.tables().stream())
                .map(TableChange::operation)
                .collect(toImmutableList());
    }
}
