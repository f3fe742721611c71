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
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure.Argument;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static com.google.common.base.Preconditions.checkArgument;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * A verb on the refs of one table: its name, the arguments that follow the table's name, and the update that they ask for. The doors to it,
 * {@code CALL} and {@code ALTER TABLE .. EXECUTE}, share {@link #read}.
 */
public abstract class RefProcedure
        extends CallProcedure<TableLoader>
{
    private final String schemaArgument;
    private final String tableArgument;
    private final List<Argument> arguments;

    RefProcedure(String name, Argument... arguments)
    {
        this(name, "schema_name", "table_name", arguments);
    }

    RefProcedure(String name, String schemaArgument, String tableArgument, Argument... arguments)
    {
        super(name, ImmutableList.<Argument>builder()
                .add(required(schemaArgument, VARCHAR))
                .add(required(tableArgument, VARCHAR))
                .add(arguments)
                .build());
        this.schemaArgument = requireNonNull(schemaArgument, "schemaArgument is null");
        this.tableArgument = requireNonNull(tableArgument, "tableArgument is null");
        this.arguments = ImmutableList.copyOf(arguments);
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
            checkArgument(all.containsKey(argument), "No such argument of %s: %s", name(), argument);
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

    @Override
    final void call(TableLoader tables, ConnectorAccessControl accessControl, ConnectorSession session, ArgumentValues values)
    {
        SchemaTableName table = values.table(schemaArgument, tableArgument);
        RefRequest request = read(values);
        request.checkAccess(accessControl, table);
        try {
            tables.commit(session, ImmutableMap.of(identifier(table), request.update()));
        }
        catch (RuntimeException e) {
            throw ProcedureErrors.translate(e, table);
        }
    }
}
