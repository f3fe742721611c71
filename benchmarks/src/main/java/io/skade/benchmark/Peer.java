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
package io.skade.benchmark;

import org.apache.iceberg.catalog.TableIdentifier;

import java.util.List;
import java.util.Map;

/**
 * A catalog at the same work as the others. Safe for use by many threads; a move is as durable as the catalog makes it when the call returns.
 */
interface Peer
        extends AutoCloseable
{
    /**
     * Creates tables in the namespace {@link Peers#NAMESPACE}.
     */
    void createTables(List<TableIdentifier> tables, TableShape shape);

    /**
     * The snapshot at which a ref is by now, asked by name.
     */
    long snapshotId(TableIdentifier table, String ref);

    /**
     * All refs as they are by now, in the order of their names, with what the catalog keeps at a ref.
     */
    Map<String, ?> refs(TableIdentifier table);

    void createTag(TableIdentifier table, String tag, long snapshotId);

    void dropTag(TableIdentifier table, String tag);

    /**
     * Moves a branch forward to a ref in each of the tables: in one commit if the catalog can.
     */
    void fastForward(List<TableIdentifier> tables, String branch, String to);

    /**
     * Creates or moves a branch in each of the tables.
     */
    void setBranch(List<TableIdentifier> tables, String branch, long snapshotId);

    @Override
    void close();
}
