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
package io.skade.plugin.catalog;

import org.apache.iceberg.BaseTable;
import org.apache.iceberg.ExpireSnapshots;
import org.apache.iceberg.TableOperations;

import static io.trino.plugin.iceberg.TrinoMetricsReporter.TRINO_METRICS_REPORTER;

/**
 * A table of Iceberg whose expiry keeps every file that a living snapshot needs.
 */
class SkadeTable
        extends BaseTable
{
    private static final long NO_SNAPSHOT = -1;

    SkadeTable(TableOperations operations, String name)
    {
        super(operations, name, TRINO_METRICS_REPORTER);
    }

    /**
     * Iceberg deletes what the expired snapshots of a table without other branches have removed, file by file. A Puffin file holds several deletion vectors:
     * with the first of them that is removed, all would go. Where ids are named, Iceberg compares with the files of all living snapshots instead.
     */
    @Override
    public final ExpireSnapshots expireSnapshots()
    {
        return super.expireSnapshots().expireSnapshotId(NO_SNAPSHOT);
    }
}
