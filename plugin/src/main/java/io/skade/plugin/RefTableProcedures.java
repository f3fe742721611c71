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
import io.airlift.slice.Slice;
import io.skade.procedure.RefProcedure;
import io.skade.procedure.RefProcedures;
import io.skade.procedure.RefRequest;
import io.skade.ref.TableMove;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableProcedureMetadata;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.session.PropertyMetadata;
import io.trino.spi.type.Type;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.trino.spi.connector.TableProcedureExecutionMode.coordinatorOnly;
import static io.trino.spi.session.PropertyMetadata.booleanProperty;
import static io.trino.spi.session.PropertyMetadata.longProperty;
import static io.trino.spi.session.PropertyMetadata.stringProperty;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.BooleanType.BOOLEAN;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Locale.ENGLISH;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * The verbs as {@code ALTER TABLE .. EXECUTE <verb>(..)}: the second door to what {@code CALL} opens.
 */
final class RefTableProcedures
{
    private RefTableProcedures() {}

    static TableProcedureMetadata metadata(RefProcedure verb)
    {
        List<PropertyMetadata<?>> properties = verb.arguments().stream()
                .<PropertyMetadata<?>>map(RefTableProcedures::property)
                .collect(toImmutableList());
        // upper case, or the statement would have to quote it
        return new TableProcedureMetadata(verb.name().toUpperCase(ENGLISH), coordinatorOnly(), properties);
    }

    /**
     * The verb of an {@code EXECUTE}, empty if it is one of Trino's own.
     */
    static Optional<RefProcedure> find(String procedureName)
    {
        return RefProcedures.tableVerbs().stream()
                .filter(verb -> verb.name().equals(procedureName.toLowerCase(ENGLISH)))
                .findFirst();
    }

    private static PropertyMetadata<?> property(Argument argument)
    {
        String name = argument.getName().toLowerCase(ENGLISH);
        String description = "Argument %s".formatted(name);
        Type type = argument.getType();
        if (type.equals(VARCHAR)) {
            return stringProperty(name, description, argument.getDefaultValue() == null ? null : ((Slice) argument.getDefaultValue()).toStringUtf8(), false);
        }
        if (type.equals(BIGINT)) {
            return longProperty(name, description, (Long) argument.getDefaultValue(), false);
        }
        if (type.equals(BOOLEAN)) {
            return booleanProperty(name, description, (Boolean) argument.getDefaultValue(), false);
        }
        throw new IllegalArgumentException("Unexpected type of argument %s: %s".formatted(name, type));
    }

    static RefExecuteHandle handle(SchemaTableName table, RefProcedure verb, Map<String, Object> values)
    {
        ImmutableMap.Builder<String, String> texts = ImmutableMap.builder();
        values.forEach((name, value) -> {
            if (value != null) {
                texts.put(name, value.toString());
            }
        });
        return new RefExecuteHandle(table, verb.name(), texts.buildOrThrow());
    }

    /**
     * What a handle asks for.
     *
     * @throws io.trino.spi.TrinoException if a value cannot be used
     */
    static RefRequest request(RefExecuteHandle handle)
    {
        RefProcedure verb = RefProcedures.verb(handle.verb());
        Map<String, Object> values = new HashMap<>();
        for (Argument argument : verb.arguments()) {
            String name = argument.getName().toLowerCase(ENGLISH);
            values.put(name, parse(argument.getType(), handle.values().get(name)));
        }
        return verb.read(values);
    }

    private static Object parse(Type type, String text)
    {
        if (text == null || type.equals(VARCHAR)) {
            return text;
        }
        return type.equals(BIGINT) ? (Object) Long.valueOf(text) : (Object) Boolean.valueOf(text);
    }

    /**
     * The ref that a verb moves, creates or drops.
     */
    static String movedRef(RefExecuteHandle handle)
    {
        String argument = switch (handle.verb()) {
            case "create_tag" -> "tag";
            case "drop_ref" -> "ref";
            case "publish_branch" -> "to";
            default -> "branch";
        };
        return handle.values().getOrDefault(argument, MAIN_BRANCH);
    }

    /**
     * Where the ref that the verb was for was before and is after, by the names of the metric rows. A row is absent where there is no such snapshot.
     */
    static Map<String, Long> metrics(TableMove move, String ref)
    {
        ImmutableMap.Builder<String, Long> metrics = ImmutableMap.builder();
        snapshotId(move.before(), ref).ifPresent(id -> metrics.put("previous_snapshot_id", id));
        snapshotId(move.after(), ref).ifPresent(id -> metrics.put("current_snapshot_id", id));
        return metrics.buildOrThrow();
    }

    private static Optional<Long> snapshotId(TableMetadata metadata, String ref)
    {
        return Optional.ofNullable(metadata.ref(ref))
                .map(SnapshotRef::snapshotId)
                .map(metadata::snapshot)
                .map(Snapshot::snapshotId);
    }
}
