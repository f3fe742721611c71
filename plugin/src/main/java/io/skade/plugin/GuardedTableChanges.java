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

import io.airlift.slice.Slice;
import io.skade.plugin.catalog.RefTableName;
import io.skade.plugin.system.Unfiltered;
import io.trino.plugin.base.classloader.ClassLoaderSafeConnectorTableFunction;
import io.trino.plugin.iceberg.functions.tablechanges.TableChangesFunctionHandle;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ColumnSchema;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.function.table.Argument;
import io.trino.spi.function.table.ConnectorTableFunction;
import io.trino.spi.function.table.ScalarArgument;
import io.trino.spi.function.table.TableFunctionAnalysis;

import java.util.List;
import java.util.Map;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.trino.spi.StandardErrorCode.INVALID_FUNCTION_ARGUMENT;

/**
 * Trino's {@code table_changes}, for who may see a table as it is. It gives what the files of any two snapshots hold: no row filter and no column mask
 * applies to that, so a table that has one is refused.
 */
final class GuardedTableChanges
        extends ClassLoaderSafeConnectorTableFunction
{
    static final String NAME = "table_changes";

    GuardedTableChanges(ConnectorTableFunction tableChanges)
    {
        super(tableChanges, GuardedTableChanges.class.getClassLoader());
    }

    @Override
    public TableFunctionAnalysis analyze(ConnectorSession session, ConnectorTransactionHandle transaction, Map<String, Argument> arguments, ConnectorAccessControl accessControl)
    {
        if (((ScalarArgument) arguments.get("TABLE_NAME")).getValue() instanceof Slice name && name.toStringUtf8().indexOf(RefTableName.SEPARATOR) >= 0) {
            throw new TrinoException(INVALID_FUNCTION_ARGUMENT, "Invalid table_name: it contains a control character");
        }
        TableFunctionAnalysis analysis = super.analyze(session, transaction, arguments, accessControl);
        SchemaTableName table = ((TableChangesFunctionHandle) analysis.getHandle()).schemaTableName();
        List<ColumnSchema> columns = analysis.getReturnedType().orElseThrow().getFields().stream()
                .map(field -> ColumnSchema.builder()
                        .setName(field.getName().orElseThrow())
                        .setType(field.getType().orElseThrow())
                        .build())
                .collect(toImmutableList());
        Unfiltered.check(accessControl, table, columns, "Function " + NAME);
        return analysis;
    }
}
