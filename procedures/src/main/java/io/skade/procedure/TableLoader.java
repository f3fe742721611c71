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

import io.skade.ref.RefUpdate;
import io.skade.ref.TableMove;
import io.skade.store.CatalogState;
import io.trino.spi.connector.ConnectorSession;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.List;
import java.util.Map;

/**
 * What the procedures need of the connector: tables of the catalog, as the user of a session.
 */
public interface TableLoader
{
    /**
     * Applies all updates in one commit, or none.
     *
     * @return what became of the tables, in the order of {@code updates}
     * @throws io.skade.ref.RefRefusedException if an update is not allowed; nothing was changed
     * @throws org.apache.iceberg.exceptions.NoSuchTableException if a table does not exist; nothing was changed
     * @throws org.apache.iceberg.exceptions.CommitFailedException if other commits won too often; nothing was changed
     * @throws org.apache.iceberg.exceptions.CommitStateUnknownException if it is not known whether the commit is durable
     */
    List<TableMove> commit(ConnectorSession session, Map<TableIdentifier, RefUpdate> updates);

    /**
     * What {@link #commit} would do now, without doing it.
     *
     * @throws io.skade.ref.RefRefusedException if an update is not allowed
     * @throws org.apache.iceberg.exceptions.NoSuchTableException if a table does not exist
     */
    List<TableMove> dryRun(ConnectorSession session, Map<TableIdentifier, RefUpdate> updates);

    /**
     * The newest state of the catalog.
     */
    CatalogState state();
}
