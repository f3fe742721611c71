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

import io.trino.spi.connector.ConnectorTableExecuteHandle;
import io.trino.spi.connector.SchemaTableName;

import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * A verb to be executed on a table. It stays on the coordinator.
 *
 * @param values of the verb's arguments by their lower-case names, as text; what is NULL is absent
 */
public record RefExecuteHandle(SchemaTableName table, String verb, Map<String, String> values)
        implements ConnectorTableExecuteHandle
{
    public RefExecuteHandle
    {
        requireNonNull(table, "table is null");
        requireNonNull(verb, "verb is null");
        requireNonNull(values, "values is null");
    }
}
