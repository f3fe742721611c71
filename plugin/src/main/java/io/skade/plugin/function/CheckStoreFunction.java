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
package io.skade.plugin.function;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.inject.Inject;
import io.skade.catalog.StoreProblem;
import io.skade.plugin.catalog.SkadeStoreOperations;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.Transactions;
import io.skade.store.CatalogState;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.function.table.TableFunctionAnalysis;
import io.trino.spi.type.Type;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.plugin.catalog.SkadeTables.schemaTableName;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Locale.ENGLISH;

/**
 * {@code check_store}: what is wrong with the pointers of the tables and views that the user may see, one row a problem. Changes nothing.
 */
public final class CheckStoreFunction
        extends RefFunction
{
    private static final Map<String, Type> COLUMNS = ImmutableMap.of(
            "table_schema", VARCHAR,
            "table_name", VARCHAR,
            "problem", VARCHAR,
            "metadata_location", VARCHAR,
            "message", VARCHAR);

    @Inject
    public CheckStoreFunction(Transactions transactions, SkadeTables tables)
    {
        super(transactions, tables, "check_store", rows(COLUMNS));
    }

    @Override
    TableFunctionAnalysis analyze(Call call)
    {
        CatalogState state = call.state();
        return TableFunctionAnalysis.builder()
                .handle(new Handle(call.visibleTables(state.namespaces().stream()
                        .flatMap(state::pointers)
                        .map(entry -> schemaTableName(entry.getKey()))
                        .collect(toImmutableSet()))))
                .build();
    }

    public record Handle(Set<SchemaTableName> tableNames)
            implements StoreRowsHandle
    {
        public Handle
        {
            tableNames = ImmutableSet.copyOf(tableNames);
        }

        @Override
        public RowsSplit rows(ConnectorSession session, SkadeStoreOperations operations)
        {
            List<List<Object>> rows = new ArrayList<>();
            for (StoreProblem problem : operations.check(session, tableNames)) {
                rows.add(Arrays.asList(
                        problem.name().namespace().toString(),
                        problem.name().name(),
                        problem.kind().name().toLowerCase(ENGLISH),
                        problem.metadataLocation(),
                        problem.message()));
            }
            return RowsSplit.of(COLUMNS.values(), rows);
        }
    }
}
