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
import io.skade.ref.RefRefusedException;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.type.Type;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static com.google.common.base.Preconditions.checkArgument;
import static io.airlift.slice.Slices.utf8Slice;
import static io.trino.spi.type.BooleanType.BOOLEAN;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;

/**
 * A verb on the refs of one table: its name, the arguments that follow the table's name, and the update that they ask for. The doors to it,
 * {@code CALL} and {@code ALTER TABLE .. EXECUTE}, share {@link #read}.
 */
public abstract class RefProcedure
{
    private final String name;
    private final String schemaArgument;
    private final String tableArgument;
    private final List<Argument> arguments;

    RefProcedure(String name, Argument... arguments)
    {
        this(name, "schema_name", "table_name", arguments);
    }

    RefProcedure(String name, String schemaArgument, String tableArgument, Argument... arguments)
    {
        this.name = requireNonNull(name, "name is null");
        this.schemaArgument = requireNonNull(schemaArgument, "schemaArgument is null");
        this.tableArgument = requireNonNull(tableArgument, "tableArgument is null");
        this.arguments = ImmutableList.copyOf(arguments);
    }

    static Argument required(String name, Type type)
    {
        return new Argument(name.toUpperCase(ENGLISH), type);
    }

    /**
     * An argument that may be NULL, and is if it is not given.
     */
    static Argument optional(String name, Type type)
    {
        return new Argument(name.toUpperCase(ENGLISH), type, false, null);
    }

    static Argument withDefault(String name, String defaultValue)
    {
        return new Argument(name.toUpperCase(ENGLISH), VARCHAR, false, utf8Slice(defaultValue));
    }

    /**
     * A boolean, false if not given.
     */
    static Argument flag(String name)
    {
        return new Argument(name.toUpperCase(ENGLISH), BOOLEAN, false, false);
    }

    public final String name()
    {
        return name;
    }

    /**
     * What follows schema and table: upper-case names, required ones first, defaults as the engine's native values (a {@code Slice} for a varchar).
     */
    public final List<Argument> arguments()
    {
        return arguments;
    }

    /**
     * What a call with these values asks for. Nothing is looked up: whether the refs are there and may move shows when the update is applied.
     *
     * @param values of {@link #arguments()} by their lower-case names: {@code String}, {@code Long}, {@code Boolean}, or null. An argument that is
     *         missing has its default
     * @throws io.trino.spi.TrinoException if a value cannot be used; the text names the argument
     * @throws IllegalArgumentException if the verb has no argument of a name
     */
    public final RefRequest read(Map<String, ?> values)
    {
        Map<String, Object> all = new HashMap<>();
        for (Argument argument : arguments) {
            all.put(lowerCaseName(argument), argument.getDefaultValue() instanceof Slice slice ? slice.toStringUtf8() : argument.getDefaultValue());
        }
        values.forEach((argument, value) -> {
            checkArgument(all.containsKey(argument), "No such argument of %s: %s", name, argument);
            all.put(argument, value);
        });
        try {
            return read(new ArgumentValues(all));
        }
        catch (RefRefusedException e) {
            throw ProcedureErrors.translate(e);
        }
    }

    /**
     * @throws RefRefusedException if a value cannot be used
     */
    abstract RefRequest read(ArgumentValues values);

    final Procedure bind(TableLoader tables)
    {
        requireNonNull(tables, "tables is null");
        List<Argument> all = ImmutableList.<Argument>builder()
                .add(required(schemaArgument, VARCHAR))
                .add(required(tableArgument, VARCHAR))
                .addAll(arguments)
                .build();
        return ProcedureBody.procedure(name, all, (accessControl, session, values) -> {
            Map<String, Object> byName = new HashMap<>();
            for (int i = 0; i < values.length; i++) {
                byName.put(lowerCaseName(all.get(i)), values[i]);
            }
            try (ThreadContextClassLoader _ = new ThreadContextClassLoader(RefProcedure.class.getClassLoader())) {
                call(tables, accessControl, session, new ArgumentValues(byName));
            }
        });
    }

    private void call(TableLoader tables, ConnectorAccessControl accessControl, ConnectorSession session, ArgumentValues values)
    {
        SchemaTableName table;
        RefRequest request;
        try {
            table = new SchemaTableName(values.string(schemaArgument), values.string(tableArgument));
            request = read(values);
        }
        catch (RefRefusedException e) {
            throw ProcedureErrors.translate(e);
        }
        request.checkAccess(accessControl, table);
        try {
            tables.commit(session, ImmutableMap.of(TableIdentifier.of(Namespace.of(table.getSchemaName()), table.getTableName()), request.update()));
        }
        catch (RuntimeException e) {
            throw ProcedureErrors.translate(e, table);
        }
    }

    private static String lowerCaseName(Argument argument)
    {
        return argument.getName().toLowerCase(ENGLISH);
    }
}
