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

import io.skade.procedure.ProcedureErrors;
import io.trino.spi.TrinoException;
import io.trino.spi.procedure.Procedure;

import java.lang.invoke.MethodHandle;

import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static java.lang.invoke.MethodHandles.catchException;
import static java.lang.invoke.MethodHandles.lookup;
import static java.lang.invoke.MethodType.methodType;

/**
 * Procedures of Trino's Iceberg connector that tell bad arguments from internal errors.
 */
final class GuardedProcedures
{
    private GuardedProcedures() {}

    static Procedure guard(Procedure procedure)
    {
        MethodHandle translate;
        try {
            translate = lookup().findStatic(GuardedProcedures.class, "translate", methodType(void.class, RuntimeException.class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
        return new Procedure(
                procedure.getSchema(),
                procedure.getName(),
                procedure.getArguments(),
                catchException(procedure.getMethodHandle(), RuntimeException.class, translate),
                procedure.requiresNamedArguments());
    }

    private static void translate(RuntimeException exception)
    {
        if (exception instanceof IllegalArgumentException) {
            throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, exception.getMessage(), exception);
        }
        throw ProcedureErrors.translate(exception);
    }
}
