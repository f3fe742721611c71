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

import io.skade.catalog.RebuildPlan;
import io.trino.spi.connector.ConnectorSession;

import java.util.Optional;

/**
 * What the procedures of an operator need of the connector: the store as a whole.
 */
public interface StoreOperations
{
    /**
     * Adds a backup of the store to a folder.
     *
     * @param location a path under the folder that is configured for backups
     * @throws io.trino.spi.TrinoException if backups are off, or if the location leads elsewhere; nothing was written
     * @throws io.skade.store.StoreException if the backup cannot be written
     */
    void backup(String location);

    /**
     * What a rebuild of the store from the metadata files under a location would do.
     *
     * @param location that of the warehouse if empty
     * @throws io.trino.spi.TrinoException if the catalog's file system cannot reach the location
     */
    RebuildPlan planRebuild(ConnectorSession session, Optional<String> location);

    /**
     * Does what was planned, in one commit.
     *
     * @throws org.apache.iceberg.exceptions.CommitFailedException if the store is not what it was when the plan was made; nothing was changed
     * @throws org.apache.iceberg.exceptions.CommitStateUnknownException if it is not known whether the commit is durable
     */
    void rebuild(ConnectorSession session, RebuildPlan plan);
}
