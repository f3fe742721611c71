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
import io.skade.ref.RefRefusedException;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.type.ArrayType;
import io.trino.spi.type.Type;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static io.airlift.slice.Slices.utf8Slice;
import static io.trino.spi.type.BooleanType.BOOLEAN;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;

/**
 * A procedure of the schema {@code system}.
 *
 * @param <T> what it needs of the connector
 */
abstract class CallProcedure<T>
{
    static final Type VARCHAR_ARRAY = new ArrayType(VARCHAR);

    private final String name;
    private final List<Argument> signature;

    CallProcedure(String name, List<Argument> signature)
    {
        this.name = requireNonNull(name, "name is null");
        this.signature = ImmutableList.copyOf(signature);
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

    static String lowerCaseName(Argument argument)
    {
        return argument.getName().toLowerCase(ENGLISH);
    }

    static TableIdentifier identifier(SchemaTableName table)
    {
        return TableIdentifier.of(Namespace.of(table.getSchemaName()), table.getTableName());
    }

    public final String name()
    {
        return name;
    }

    final Procedure bind(T connector)
    {
        requireNonNull(connector, "connector is null");
        return ProcedureBody.procedure(name, signature, (accessControl, session, values) -> {
            Map<String, Object> byName = new HashMap<>();
            for (int i = 0; i < values.length; i++) {
                byName.put(lowerCaseName(signature.get(i)), values[i]);
            }
            try (ThreadContextClassLoader _ = new ThreadContextClassLoader(CallProcedure.class.getClassLoader())) {
                call(connector, accessControl, session, new ArgumentValues(byName));
            }
            catch (RefRefusedException e) {
                throw ProcedureErrors.translate(e);
            }
        });
    }

    /**
     * @throws RefRefusedException if a value cannot be used, or what is asked for is not allowed
     */
    abstract void call(T connector, ConnectorAccessControl accessControl, ConnectorSession session, ArgumentValues values);
}
