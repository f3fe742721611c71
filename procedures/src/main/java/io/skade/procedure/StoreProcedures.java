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
import io.trino.spi.procedure.Procedure;

import java.util.List;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;

/**
 * What an operator does with the store as a whole.
 */
public final class StoreProcedures
{
    private static final List<CallProcedure<StoreOperations>> PROCEDURES = ImmutableList.of(
            new BackupStoreProcedure(),
            new RebuildStoreProcedure());

    private StoreProcedures() {}

    /**
     * What {@code CALL} finds in the schema {@code system}.
     */
    public static Set<Procedure> all(StoreOperations operations)
    {
        return PROCEDURES.stream()
                .map(procedure -> procedure.bind(operations))
                .collect(toImmutableSet());
    }
}
