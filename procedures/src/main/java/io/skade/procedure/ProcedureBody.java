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

import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.type.ArrayType;
import io.trino.spi.type.Type;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.List;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.BooleanType.BOOLEAN;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.lang.invoke.MethodType.methodType;

/**
 * What a procedure does, whatever its arguments.
 */
@FunctionalInterface
interface ProcedureBody
{
    /**
     * @param values in the order of the arguments, null for NULL
     */
    void call(ConnectorAccessControl accessControl, ConnectorSession session, Object[] values);

    /**
     * A procedure of the schema {@code system} that does {@code body}.
     */
    static Procedure procedure(String name, List<Argument> arguments, ProcedureBody body)
    {
        MethodHandle call;
        try {
            call = lookup().findVirtual(ProcedureBody.class, "call", methodType(void.class, ConnectorAccessControl.class, ConnectorSession.class, Object[].class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
        // the engine compares the types of the parameters with those of the arguments
        MethodType type = methodType(void.class, ConnectorAccessControl.class, ConnectorSession.class)
                .appendParameterTypes(arguments.stream()
                        .map(argument -> objectType(argument.getType()))
                        .toArray(Class<?>[]::new));
        return new Procedure("system", name, arguments, call.bindTo(body).asCollector(Object[].class, arguments.size()).asType(type));
    }

    private static Class<?> objectType(Type type)
    {
        if (type.equals(VARCHAR)) {
            return String.class;
        }
        if (type.equals(BIGINT)) {
            return Long.class;
        }
        if (type.equals(BOOLEAN)) {
            return Boolean.class;
        }
        if (type instanceof ArrayType) {
            return List.class;
        }
        throw new IllegalArgumentException("Not a type of an argument: " + type);
    }
}
