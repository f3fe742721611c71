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
package io.skade.plugin.rest;

import io.skade.plugin.catalog.RefTableName;
import io.trino.spi.TrinoException;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.RESTUtil;

import static com.google.common.base.Preconditions.checkArgument;
import static io.skade.plugin.catalog.SkadeTables.schemaTableName;

/**
 * Names in requests.
 */
final class RestNames
{
    private RestNames() {}

    /**
     * The table or view that a path names.
     *
     * @param namespace as it stands in the path
     * @param name as it stands in the path
     */
    static TableIdentifier identifier(String namespace, String name)
    {
        return TableIdentifier.of(RESTUtil.decodeNamespace(namespace), RESTUtil.decodeString(name));
    }

    /**
     * @throws TrinoException if a table or view of this name could not be reached from SQL
     */
    static void checkNew(TableIdentifier name)
    {
        RefTableName.checkName(schemaTableName(name));
    }

    /**
     * @throws IllegalArgumentException if no request could name such a namespace
     */
    static void checkNew(Namespace namespace)
    {
        checkArgument(!namespace.isEmpty(), "Invalid namespace: it has no name");
        for (String level : namespace.levels()) {
            checkArgument(!level.isEmpty(), "Invalid namespace: a part of its name is empty: %s", namespace);
            checkArgument(level.chars().noneMatch(Character::isISOControl), "Invalid namespace: its name contains a control character: %s", namespace);
        }
    }
}
