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
package io.skade.procedure;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.airlift.slice.Slice;
import io.skade.ref.RefTarget;
import io.skade.ref.RefUpdate;
import io.skade.ref.TableMove;
import io.skade.store.CatalogState;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.RefChange;
import io.skade.store.TablePointer;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSecurityContext;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.security.ConnectorIdentity;
import io.trino.spi.type.TimeZoneKey;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.types.Types;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

import static io.trino.spi.security.AccessDeniedException.denyDeleteTable;
import static io.trino.spi.security.AccessDeniedException.denyInsertTable;
import static java.util.Locale.ENGLISH;
import static java.util.stream.Collectors.joining;
import static org.apache.iceberg.types.Types.NestedField.optional;

/**
 * Calls procedures as the engine does, on one table {@code sales.orders} in memory, and notes what they do:
 *
 * <pre>
 * 1 (eoy) - 2 - 3 (main) - 4 (audit)
 * </pre>
 *
 * Snapshot n was committed n seconds after 2026-01-01 00:00:00 UTC.
 */
final class ProcedureRunner
        implements TableLoader
{
    private static final ConnectorSession SESSION = new UnusedSession();

    static final Set<String> MANY_TABLES_VERBS = Set.of("create_branches", "create_tags", "drop_refs", "publish_branches", "rollback_tables");

    private static final TableIdentifier TABLE = TableIdentifier.of("sales", "orders");
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final List<String> events = new ArrayList<>();
    private final Set<String> denied = new HashSet<>();
    private final List<TableChange> log = ImmutableList.of(new TableChange(
            TABLE,
            UUID.randomUUID(),
            "append",
            Optional.of("memory:/orders/1.metadata.json"),
            ImmutableList.of(new RefChange("main", Optional.of(SnapshotRef.branchBuilder(2).build()), Optional.of(SnapshotRef.branchBuilder(3).build())))));
    private TableMetadata metadata = tableMetadata();
    private Optional<RuntimeException> failure = Optional.empty();
    private ClassLoader contextClassLoader;

    private static TableMetadata tableMetadata()
    {
        TableMetadata metadata = TableMetadata.newTableMetadata(
                new Schema(optional(1, "id", Types.LongType.get())),
                PartitionSpec.unpartitioned(),
                "memory:/orders",
                ImmutableMap.of("history.expire.max-ref-age-ms", "1000"));
        for (int id = 1; id <= 3; id++) {
            metadata = TableMetadata.buildFrom(metadata)
                    .setBranchSnapshot(snapshot(id), "main")
                    .discardChanges()
                    .build();
        }
        return TableMetadata.buildFrom(metadata)
                .setBranchSnapshot(snapshot(4), "audit")
                .setRef("eoy", SnapshotRef.tagBuilder(1).build())
                .assignUUID()
                .discardChanges()
                .build();
    }

    private static Snapshot snapshot(int id)
    {
        String parent = id == 1 ? "" : "\"parent-snapshot-id\": %s,".formatted(id - 1);
        return SnapshotParser.fromJson(
                """
                {
                    "sequence-number": %s,
                    "snapshot-id": %s,
                    %s
                    "timestamp-ms": %s,
                    "summary": {"operation": "overwrite", "wap.id": "w%s"},
                    "schema-id": 0,
                    "manifest-list": "memory:/orders/%s.avro"
                }
                """.formatted(id, id, parent, START.plusSeconds(id).toEpochMilli(), id, id));
    }

    /**
     * What happened since the last call of this method: {@code insert <ref>} and {@code delete <ref>} for questions to the access control,
     * {@code commit <operation>} for a commit.
     */
    List<String> takeEvents()
    {
        List<String> result = ImmutableList.copyOf(events);
        events.clear();
        return result;
    }

    /**
     * @param event as {@link #takeEvents} would show it
     */
    void deny(String event)
    {
        denied.add(event);
    }

    void failWith(RuntimeException exception)
    {
        failure = Optional.of(exception);
    }

    /**
     * The refs and their snapshots, for example {@code audit=4 eoy=1 main=3}.
     */
    String refs()
    {
        return new TreeMap<>(metadata.refs()).entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue().snapshotId())
                .collect(joining(" "));
    }

    SnapshotRef ref(String name)
    {
        return metadata.ref(name);
    }

    TableMetadata metadata()
    {
        return metadata;
    }

    /**
     * The one in which the last commit ran.
     */
    ClassLoader contextClassLoader()
    {
        return contextClassLoader;
    }

    /**
     * A call of a verb on {@code sales.orders}, or on all tables of {@code sales}.
     *
     * @param namesAndValues name, value, name, value, ..
     */
    void call(String verb, Object... namesAndValues)
    {
        call(verb, map(namesAndValues));
    }

    void call(String verb, Map<String, Object> values)
    {
        Map<String, Object> remaining = new HashMap<>();
        remaining.put(verb.equals("rollback_to_snapshot") ? "schema" : "schema_name", "sales");
        if (!MANY_TABLES_VERBS.contains(verb)) {
            remaining.put(verb.equals("rollback_to_snapshot") ? "table" : "table_name", "orders");
        }
        remaining.putAll(values);
        Procedure procedure = RefProcedures.all(this).stream()
                .filter(candidate -> candidate.getName().equals(verb))
                .findFirst()
                .orElseThrow();
        List<Object> arguments = new ArrayList<>(Arrays.asList(new RecordingAccessControl(), SESSION));
        for (Argument argument : procedure.getArguments()) {
            String name = argument.getName().toLowerCase(ENGLISH);
            if (!remaining.containsKey(name)) {
                if (argument.isRequired()) {
                    throw new IllegalArgumentException("Required procedure argument is missing: " + name);
                }
                arguments.add(argument.getDefaultValue() instanceof Slice slice ? slice.toStringUtf8() : argument.getDefaultValue());
            }
            else {
                arguments.add(remaining.remove(name));
            }
        }
        if (!remaining.isEmpty()) {
            throw new IllegalArgumentException("Unknown argument names: " + remaining.keySet());
        }
        try {
            procedure.getMethodHandle().invokeWithArguments(arguments);
        }
        catch (RuntimeException | Error e) {
            throw e;
        }
        catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    static Map<String, Object> map(Object... namesAndValues)
    {
        Map<String, Object> values = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            values.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return values;
    }

    @Override
    public List<TableMove> commit(ConnectorSession session, Map<TableIdentifier, RefUpdate> updates)
    {
        if (session != SESSION) {
            throw new IllegalArgumentException("Not the session of the call");
        }
        contextClassLoader = Thread.currentThread().getContextClassLoader();
        failure.ifPresent(exception -> {
            throw exception;
        });
        ImmutableList.Builder<TableMove> moves = ImmutableList.builder();
        updates.forEach((table, update) -> {
            if (!table.equals(TABLE)) {
                throw new NoSuchTableException("Table does not exist: %s", table);
            }
            TableMetadata before = metadata;
            metadata = update.apply(new RefTarget(table, before, () -> log, new InMemoryFileIO()));
            events.add("commit " + update.operation(before));
            moves.add(new TableMove(table, before, metadata));
        });
        return moves.build();
    }

    @Override
    public List<TableMove> dryRun(ConnectorSession session, Map<TableIdentifier, RefUpdate> updates)
    {
        return updates.entrySet().stream()
                .map(entry -> new TableMove(entry.getKey(), metadata, entry.getValue().apply(new RefTarget(entry.getKey(), metadata, () -> log, new InMemoryFileIO()))))
                .toList();
    }

    @Override
    public CatalogState state()
    {
        TablePointer pointer = TablePointer.newTable(metadata.uuid(), "memory:/orders/1.metadata.json", metadata.refs());
        return CatalogState.EMPTY
                .withNamespace(TABLE.namespace(), ImmutableMap.of())
                .with(TABLE, Optional.of(pointer))
                .with(TableIdentifier.of("sales", "view"), Optional.of(TablePointer.newView("uuid", "memory:/view/1.metadata.json")));
    }

    private class RecordingAccessControl
            implements ConnectorAccessControl
    {
        @Override
        public void checkCanInsertIntoTable(ConnectorSecurityContext context, SchemaTableName table, Optional<String> branch)
        {
            if (denied(context, "insert", branch)) {
                denyInsertTable(table.toString());
            }
        }

        @Override
        public void checkCanDeleteFromTable(ConnectorSecurityContext context, SchemaTableName table, Optional<String> branch)
        {
            if (denied(context, "delete", branch)) {
                denyDeleteTable(table.toString());
            }
        }

        private boolean denied(ConnectorSecurityContext context, String right, Optional<String> branch)
        {
            if (context != null) {
                throw new IllegalArgumentException("The engine takes no context");
            }
            String event = right + " " + branch.orElseThrow();
            events.add(event);
            return denied.contains(event);
        }
    }

    private static class UnusedSession
            implements ConnectorSession
    {
        @Override
        public String getQueryId()
        {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<String> getSource()
        {
            throw new UnsupportedOperationException();
        }

        @Override
        public ConnectorIdentity getIdentity()
        {
            throw new UnsupportedOperationException();
        }

        @Override
        public TimeZoneKey getTimeZoneKey()
        {
            throw new UnsupportedOperationException();
        }

        @Override
        public Locale getLocale()
        {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<String> getTraceToken()
        {
            throw new UnsupportedOperationException();
        }

        @Override
        public Instant getStart()
        {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T> T getProperty(String name, Class<T> type)
        {
            throw new UnsupportedOperationException();
        }
    }
}
