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
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.BOB;
import static io.skade.store.TestingPointers.content;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.drop;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.newTable;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same random commits on RocksDB and on the model, many of them built on what is not there any more: each ends the same way and leaves the
 * same behind.
 *
 * <p>{@code -Dskade.test.seed=..} repeats a run, {@code -Dskade.test.steps=..} makes it longer.
 */
class TestRandomCommits
{
    private static final List<Namespace> NAMESPACES = ImmutableList.of(Namespace.of("a"), Namespace.of("b"), Namespace.of("a", "b"), Namespace.empty());
    private static final int TABLES = 5;

    @TempDir
    private Path folder;

    private final ManualClock clock = new ManualClock();
    private final PointerStore model = new InMemoryPointerStore(clock);
    private final List<TablePointer> everMade = new ArrayList<>();
    private int step;

    @Test
    void testRandomCommits()
    {
        long seed = Long.getLong("skade.test.seed", System.nanoTime());
        int steps = Integer.getInteger("skade.test.steps", 3_000);
        System.out.println("TestRandomCommits: seed " + seed);
        Random random = new Random(seed);
        int committed = 0;
        int conflicts = 0;

        RocksDbPointerStore store = RocksDbPointerStore.open(folder, clock);
        try {
            for (step = 1; step <= steps; step++) {
                String where = "seed %s, step %s".formatted(seed, step);
                clock.set(clock.instant().plusMillis(random.nextInt(2000) - 500));
                PointerCommit commit = nextCommit(random);
                CommitResult result = store.commit(commit);
                CommitResult expected = model.commit(commit);
                switch (expected) {
                    case Conflict _ -> {
                        conflicts++;
                        assertThat(result).as(where).isEqualTo(expected);
                    }
                    case Committed(CatalogState state, long logId) -> {
                        committed++;
                        assertThat(result).as(where).isInstanceOf(Committed.class);
                        assertThat(((Committed) result).logId()).as(where).isEqualTo(logId);
                        assertThat(content(((Committed) result).state())).as(where).isEqualTo(content(state));
                    }
                }
                assertThat(content(store.state())).as(where).isEqualTo(content(model.state()));
                if (random.nextInt(150) == 0) {
                    store.close();
                    store = RocksDbPointerStore.open(folder, clock);
                    assertSame(store, random, where);
                }
            }
            assertSame(store, random, "seed %s, end".formatted(seed));
        }
        finally {
            store.close();
        }
        // a run that hardly commits or hardly ever fails shows nothing
        assertThat(committed).as("seed %s", seed).isGreaterThan(steps / 5);
        assertThat(conflicts).as("seed %s", seed).isGreaterThan(steps / 5);
    }

    private void assertSame(PointerStore store, Random random, String where)
    {
        assertThat(content(store.state())).as(where).isEqualTo(content(model.state()));
        int limit = random.nextBoolean() ? Integer.MAX_VALUE : random.nextInt(50);
        assertThat(store.log(limit)).as(where).isEqualTo(model.log(limit));
        for (int i = 0; i < 10 && !everMade.isEmpty(); i++) {
            TablePointer pointer = everMade.get(random.nextInt(everMade.size()));
            assertThat(store.log(pointer.id(), limit)).as(where).isEqualTo(model.log(pointer.id(), limit));
        }
    }

    private PointerCommit nextCommit(Random random)
    {
        CommitAuthor author = random.nextBoolean() ? ALICE : BOB;
        return switch (random.nextInt(10)) {
            case 0 -> PointerCommit.of(author, namespaceChange(random));
            case 1 -> renameNamespace(random, author);
            case 2 -> {
                Map<Namespace, NamespaceChange> namespaces = new LinkedHashMap<>();
                for (int i = random.nextInt(3); i >= 0; i--) {
                    NamespaceChange change = namespaceChange(random);
                    namespaces.put(change.namespace(), change);
                }
                yield new PointerCommit(author, ImmutableList.copyOf(namespaces.values()), pointerChanges(random, random.nextInt(4)));
            }
            case 3, 4 -> new PointerCommit(author, ImmutableList.of(), pointerChanges(random, 2 + random.nextInt(4)));
            default -> new PointerCommit(author, ImmutableList.of(), pointerChanges(random, 1));
        };
    }

    private NamespaceChange namespaceChange(Random random)
    {
        Namespace namespace = NAMESPACES.get(random.nextInt(NAMESPACES.size()));
        Optional<Map<String, String>> present = model.state().namespaceProperties(namespace);
        Optional<Map<String, String>> expected = isStale(random) ? Optional.of(ImmutableMap.of("stale", "1")) : present;
        // seldom away, so that there are tables most of the time
        Optional<Map<String, String>> next = expected.isPresent() && random.nextInt(3) == 0 ? Optional.empty() : Optional.of(ImmutableMap.of("step", String.valueOf(step)));
        return new NamespaceChange(namespace, expected, next);
    }

    private PointerCommit renameNamespace(Random random, CommitAuthor author)
    {
        CatalogState state = model.state();
        Namespace from = NAMESPACES.get(random.nextInt(NAMESPACES.size()));
        Namespace to = NAMESPACES.get((NAMESPACES.indexOf(from) + 1 + random.nextInt(NAMESPACES.size() - 1)) % NAMESPACES.size());
        Map<String, String> properties = state.namespaceProperties(from).orElse(ImmutableMap.of());
        ImmutableList.Builder<PointerChange> pointers = ImmutableList.builder();
        state.pointers(from)
                .filter(_ -> !isStale(random))
                .forEach(entry -> {
                    pointers.add(new PointerChange(entry.getKey(), Optional.of(entry.getValue()), Optional.empty(), "rename_schema", ImmutableList.of()));
                    pointers.add(new PointerChange(TableIdentifier.of(to, entry.getKey().name()), Optional.empty(), Optional.of(entry.getValue()), "rename_schema", ImmutableList.of()));
                });
        return new PointerCommit(
                author,
                ImmutableList.of(
                        new NamespaceChange(from, Optional.of(properties), Optional.empty()),
                        new NamespaceChange(to, Optional.empty(), Optional.of(properties))),
                pointers.build());
    }

    private List<PointerChange> pointerChanges(Random random, int count)
    {
        Map<TableIdentifier, PointerChange> changes = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            TableIdentifier name = name(random);
            Optional<TablePointer> present = model.state().find(name);
            if (isStale(random)) {
                present = everMade.isEmpty() || random.nextBoolean() ? Optional.empty() : Optional.of(everMade.get(random.nextInt(everMade.size())));
            }
            if (present.isEmpty()) {
                TablePointer pointer = random.nextInt(4) == 0 ? TablePointer.newView("view", step + ".json") : newTable(step);
                everMade.add(pointer);
                changes.put(name, create(name, pointer));
                continue;
            }
            TablePointer expected = present.get();
            switch (random.nextInt(6)) {
                case 0 -> changes.put(name, drop(name, expected));
                case 1 -> {
                    TableIdentifier to = name(random);
                    if (!to.equals(name)) {
                        changes.put(name, drop(name, expected));
                        changes.put(to, new PointerChange(to, Optional.empty(), Optional.of(expected), "rename", ImmutableList.of()));
                    }
                }
                default -> {
                    // a step may come by twice with several changes of one table, and a ref change needs a difference
                    PointerChange change = expected.refs().equals(TestingPointers.refs(step)) ? drop(name, expected) : move(name, expected, step);
                    change.next().ifPresent(everMade::add);
                    changes.put(name, change);
                }
            }
        }
        return ImmutableList.copyOf(changes.values());
    }

    private static TableIdentifier name(Random random)
    {
        return TableIdentifier.of(NAMESPACES.get(random.nextInt(NAMESPACES.size())), "t" + random.nextInt(TABLES));
    }

    private static boolean isStale(Random random)
    {
        return random.nextInt(8) == 0;
    }
}
