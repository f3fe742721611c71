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

import io.skade.ref.RefUpdates;
import io.trino.spi.procedure.Procedure.Argument;

import static io.skade.procedure.RefRequest.changing;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;

/**
 * {@code undo_ref}: takes back the last changes of a ref, also its drop, or makes again what was taken back.
 */
final class UndoRefProcedure
        extends RefProcedure
{
    UndoRefProcedure()
    {
        super("undo_ref",
                required("ref", VARCHAR),
                new Argument("STEPS", BIGINT, false, 1L));
    }

    @Override
    RefRequest read(ArgumentValues values)
    {
        String ref = values.string("ref");
        return changing(ref, RefUpdates.undo(ref, values.bigint("steps")));
    }
}
