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
package io.skade.plugin.system;

import io.trino.spi.TrinoException;
import io.trino.spi.connector.ColumnSchema;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.SchemaTableName;

import java.util.List;

import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;

/**
 * Whether a user sees a table as it is. What reads a table past the engine gives all rows and values: it must not be asked for a table that has row
 * filters or column masks.
 */
public final class Unfiltered
{
    private Unfiltered() {}

    /**
     * @param reader what reads the table, for the text of the error
     * @throws TrinoException if the user does not see all rows of the table, or all values of the columns
     */
    public static void check(ConnectorAccessControl accessControl, SchemaTableName table, List<ColumnSchema> columns, String reader)
    {
        if (isFilteredOrMasked(accessControl, table, columns)) {
            throw new TrinoException(NOT_SUPPORTED, "%s does not support tables with row filters or column masks: %s".formatted(reader, table));
        }
    }

    private static boolean isFilteredOrMasked(ConnectorAccessControl accessControl, SchemaTableName table, List<ColumnSchema> columns)
    {
        try {
            // the engine knows who asks and takes no other context
            return !accessControl.getRowFilters(null, table).isEmpty() || !accessControl.getColumnMasks(null, table, columns).isEmpty();
        }
        catch (TrinoException e) {
            // the engine does not tell which there are
            if (e.getErrorCode().equals(NOT_SUPPORTED.toErrorCode())) {
                return true;
            }
            throw e;
        }
    }
}
