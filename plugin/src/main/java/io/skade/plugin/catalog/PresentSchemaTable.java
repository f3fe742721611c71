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

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

import static java.util.Objects.requireNonNull;

/**
 * A table whose schema was changed since its current snapshot was written.
 *
 * <p>A scan of a snapshot takes the schema under which the snapshot was written, while Trino reads the current one with the present schema: file
 * statistics of the old type then meet a filter of the new one. Here the current snapshot says that it has the present schema. That holds for
 * reads; commits are built from the metadata as it is.
 */
final class PresentSchemaTable
        extends SkadeTable
{
    private static final ObjectMapper JSON = JsonMapper.builder().build();

    private final Snapshot current;

    /**
     * The table itself, if its current snapshot was written under its present schema.
     */
    static SkadeTable of(SkadeTable table)
    {
        TableMetadata metadata = table.operations().current();
        Snapshot snapshot = metadata.currentSnapshot();
        if (snapshot == null || snapshot.schemaId() == null || Objects.equals(snapshot.schemaId(), metadata.currentSchemaId())) {
            return table;
        }
        return new PresentSchemaTable(table.operations(), table.name(), withSchema(snapshot, metadata.currentSchemaId()));
    }

    private PresentSchemaTable(TableOperations operations, String name, Snapshot current)
    {
        super(operations, name);
        this.current = requireNonNull(current, "current is null");
    }

    @Override
    public Snapshot snapshot(long snapshotId)
    {
        return snapshotId == current.snapshotId() ? current : super.snapshot(snapshotId);
    }

    private static Snapshot withSchema(Snapshot snapshot, int schemaId)
    {
        try {
            ObjectNode json = (ObjectNode) JSON.readTree(SnapshotParser.toJson(snapshot));
            return SnapshotParser.fromJson(json.put("schema-id", schemaId).toString());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
