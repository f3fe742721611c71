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
import io.skade.ref.RefUpdates.IfMissing;

import java.util.Optional;

import static io.skade.procedure.RefRequest.changing;
import static io.trino.spi.type.VarcharType.VARCHAR;

/**
 * {@code drop_refs}: drops a branch or tag from many tables at once.
 */
final class DropRefsProcedure
        extends ManyTablesProcedure
{
    DropRefsProcedure()
    {
        super("drop_refs",
                required("ref", VARCHAR));
    }

    @Override
    RefRequest read(ArgumentValues values)
    {
        String ref = values.string("ref");
        return changing(ref, RefUpdates.dropRef(ref, IfMissing.REFUSE));
    }

    @Override
    Optional<String> neededRef(ArgumentValues values)
    {
        return Optional.of(values.string("ref"));
    }
}
