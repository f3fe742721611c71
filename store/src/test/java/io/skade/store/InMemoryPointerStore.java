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
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableMap.toImmutableMap;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toSet;

/**
 * The model of a pointer store: what one does, said as simply as possible.
 */
public final class InMemoryPointerStore
        implements PointerStore
{
    private final Clock clock;
    private final Map<Namespace, Map<String, String>> namespaces = new HashMap<>();
    private final Map<TableIdentifier, TablePointer> pointers = new HashMap<>();
    private final List<LogEntry> log = new ArrayList<>();
    private final Map<UUID, MetadataDocument> documents = new HashMap<>();
    private long lastLogId;
    private boolean closed;

    public InMemoryPointerStore(Clock clock)
    {
        this.clock = requireNonNull(clock, "clock is null");
    }

    @Override
    public synchronized CatalogState state()
    {
        checkOpen();
        CatalogState state = CatalogState.EMPTY.withLastLogId(lastLogId);
        for (Map.Entry<Namespace, Map<String, String>> namespace : namespaces.entrySet()) {
            state = state.withNamespace(namespace.getKey(), namespace.getValue());
        }
        for (Map.Entry<TableIdentifier, TablePointer> pointer : pointers.entrySet()) {
            state = state.with(pointer.getKey(), Optional.of(pointer.getValue()));
        }
        return state;
    }

    @Override
    public synchronized CommitResult commit(List<PointerCommit> commits)
    {
        checkOpen();
        checkArgument(!commits.isEmpty(), "no commits");
        Map<Namespace, Map<String, String>> namespacesBefore = ImmutableMap.copyOf(namespaces);
        Map<TableIdentifier, TablePointer> pointersBefore = ImmutableMap.copyOf(pointers);
        Map<UUID, MetadataDocument> documentsBefore = ImmutableMap.copyOf(documents);
        List<LogEntry> logBefore = ImmutableList.copyOf(log);
        long lastLogIdBefore = lastLogId;
        CommitResult result = null;
        for (PointerCommit commit : commits) {
            result = commitOne(commit);
            if (result instanceof Conflict) {
                namespaces.clear();
                namespaces.putAll(namespacesBefore);
                pointers.clear();
                pointers.putAll(pointersBefore);
                documents.clear();
                documents.putAll(documentsBefore);
                log.clear();
                log.addAll(logBefore);
                lastLogId = lastLogIdBefore;
                break;
            }
        }
        return result;
    }

    private CommitResult commitOne(PointerCommit commit)
    {
        List<Mismatch> mismatches = mismatches(commit);
        if (!mismatches.isEmpty()) {
            return new Conflict(mismatches);
        }
        commit.namespaces().forEach(change -> change.next().ifPresentOrElse(next -> namespaces.put(change.namespace(), next), () -> namespaces.remove(change.namespace())));
        commit.pointers().forEach(change -> change.next().ifPresentOrElse(next -> pointers.put(change.name(), next), () -> pointers.remove(change.name())));
        for (TablePointer pointer : pointers.values()) {
            commit.documents().stream()
                    .filter(document -> document.location().equals(pointer.metadataLocation()))
                    .forEach(document -> documents.put(pointer.id(), document));
        }
        documents.entrySet().removeIf(entry -> pointers.values().stream()
                .noneMatch(pointer -> pointer.id().equals(entry.getKey()) && pointer.metadataLocation().equals(entry.getValue().location())));
        if (!commit.pointers().isEmpty()) {
            Set<UUID> put = commit.pointers().stream().flatMap(change -> change.next().stream()).map(TablePointer::id).collect(toImmutableSet());
            log.addFirst(new LogEntry(++lastLogId, clock.instant(), commit.author(), commit.pointers().stream()
                    .filter(change -> change.next().isPresent() || !put.contains(change.expected().orElseThrow().id()))
                    .map(change -> new TableChange(
                            change.name(),
                            change.next().or(change::expected).orElseThrow().id(),
                            change.operation(),
                            change.next().map(TablePointer::metadataLocation),
                            change.refChanges(),
                            change.undoSteps()))
                    .collect(toImmutableList())));
        }
        return new Committed(state(), lastLogId);
    }

    private List<Mismatch> mismatches(PointerCommit commit)
    {
        Set<Namespace> namespacesAfter = namespaces.keySet().stream().collect(toSet());
        commit.namespaces().forEach(change -> change.next().map(_ -> namespacesAfter.add(change.namespace())).orElseGet(() -> namespacesAfter.remove(change.namespace())));
        Set<TableIdentifier> dropped = commit.pointers().stream().filter(change -> change.next().isEmpty()).map(PointerChange::name).collect(toImmutableSet());
        Stream<Mismatch> ofNamespaces = commit.namespaces().stream()
                .filter(change -> !Objects.equals(namespaces.get(change.namespace()), change.expected().orElse(null)))
                .map(change -> new NamespaceMismatch(change.namespace()));
        Stream<Mismatch> ofPointers = commit.pointers().stream().flatMap(change -> {
            Optional<TablePointer> actual = Optional.ofNullable(pointers.get(change.name()));
            if (!actual.equals(change.expected())) {
                return Stream.of(new PointerMismatch(change.name(), change.expected(), actual));
            }
            return change.next().isPresent() && !namespacesAfter.contains(change.name().namespace()) ? Stream.of(new NamespaceMissing(change.name())) : Stream.empty();
        });
        Stream<Mismatch> notEmpty = commit.namespaces().stream()
                .filter(change -> change.next().isEmpty())
                .map(NamespaceChange::namespace)
                .filter(namespace -> pointers.keySet().stream().anyMatch(name -> name.namespace().equals(namespace) && !dropped.contains(name)) ||
                        namespaces.keySet().stream().anyMatch(other -> other.length() > namespace.length() && List.of(other.levels()).subList(0, namespace.length()).equals(List.of(namespace.levels()))))
                .map(NamespaceNotEmpty::new);
        return Stream.of(ofNamespaces, ofPointers, notEmpty).flatMap(stream -> stream).collect(toImmutableList());
    }

    @Override
    public synchronized List<LogEntry> log(int limit)
    {
        checkOpen();
        checkArgument(limit >= 0, "limit is negative: %s", limit);
        return log.stream().limit(limit).collect(toImmutableList());
    }

    @Override
    public synchronized List<LogEntry> log(UUID pointerId, int limit)
    {
        checkArgument(limit >= 0, "limit is negative: %s", limit);
        return log(Integer.MAX_VALUE).stream()
                .filter(entry -> entry.tables().stream().anyMatch(table -> table.pointerId().equals(pointerId)))
                .limit(limit)
                .collect(toImmutableList());
    }

    @Override
    public synchronized Map<UUID, String> keptDocuments()
    {
        return documents.entrySet().stream().collect(toImmutableMap(Map.Entry::getKey, entry -> entry.getValue().location()));
    }

    @Override
    public synchronized Optional<MetadataDocument> document(UUID pointerId)
    {
        checkOpen();
        return Optional.ofNullable(documents.get(pointerId));
    }

    @Override
    public synchronized void forgetDocuments(Map<UUID, String> locations)
    {
        checkOpen();
        locations.forEach((id, location) -> {
            if (documents.containsKey(id) && documents.get(id).location().equals(location)) {
                documents.remove(id);
            }
        });
    }

    @Override
    public synchronized int trimLog(Instant before)
    {
        checkOpen();
        int count = 0;
        while (log.size() > 1 && log.getLast().committedAt().isBefore(before)) {
            log.removeLast();
            count++;
        }
        return count;
    }

    @Override
    public void backup(Path folder)
    {
        throw new UnsupportedOperationException("What is in memory has no backup");
    }

    @Override
    public synchronized void close()
    {
        closed = true;
    }

    private void checkOpen()
    {
        if (closed) {
            throw new StoreException("The store in memory is closed");
        }
    }
}
