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

import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.SystemTable;

import static java.util.Objects.requireNonNull;

/**
 * A table that the coordinator answers by itself.
 */
abstract class CoordinatorTable
        implements SystemTable
{
    private final ConnectorTableMetadata tableMetadata;

    CoordinatorTable(ConnectorTableMetadata tableMetadata)
    {
        this.tableMetadata = requireNonNull(tableMetadata, "tableMetadata is null");
    }

    @Override
    public final Distribution getDistribution()
    {
        return Distribution.SINGLE_COORDINATOR;
    }

    @Override
    public final ConnectorTableMetadata getTableMetadata()
    {
        return tableMetadata;
    }
}
