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
import com.google.inject.Inject;
import io.skade.catalog.RebuildStep;
import io.skade.plugin.catalog.SkadeStoreOperations;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.Transactions;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.function.table.TableFunctionAnalysis;
import io.trino.spi.type.Type;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Strings.emptyToNull;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;

/**
 * {@code rebuild_preview}: what {@code rebuild_store} would do to each table and view, by name. Changes nothing. Who may call {@code rebuild_store} may look.
 */
public final class RebuildPreviewFunction
        extends RefFunction
{
    private static final Map<String, Type> COLUMNS = ImmutableMap.of(
            "table_schema", VARCHAR,
            "table_name", VARCHAR,
            "outcome", VARCHAR,
            "metadata_location", VARCHAR,
            "message", VARCHAR);

    @Inject
    public RebuildPreviewFunction(Transactions transactions, SkadeTables tables)
    {
        super(transactions, tables, "rebuild_preview", rows(COLUMNS), optional("location"));
    }

    @Override
    TableFunctionAnalysis analyze(Call call)
    {
        call.checkCanExecuteProcedure("rebuild_store");
        return TableFunctionAnalysis.builder()
                .handle(new Handle(call.findString("location")))
                .build();
    }

    public record Handle(Optional<String> location)
            implements StoreRowsHandle
    {
        public Handle
        {
            requireNonNull(location, "location is null");
        }

        @Override
        public RowsSplit rows(ConnectorSession session, SkadeStoreOperations operations)
        {
            List<List<Object>> rows = new ArrayList<>();
            for (RebuildStep step : operations.planRebuild(session, location).steps()) {
                rows.add(Arrays.asList(
                        step.name().namespace().toString(),
                        step.name().name(),
                        step.outcome().name().toLowerCase(ENGLISH),
                        step.metadataLocation(),
                        emptyToNull(step.message())));
            }
            return RowsSplit.of(COLUMNS.values(), rows);
        }
    }
}
