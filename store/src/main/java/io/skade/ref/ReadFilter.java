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
package io.skade.ref;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.ExpressionParser;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.InclusiveMetricsEvaluator;
import org.apache.iceberg.expressions.ResidualEvaluator;

import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Which rows a statement could have read to write a snapshot, as the snapshot's summary says it. What it does not say for certain counts as read.
 */
public final class ReadFilter
{
    /**
     * The property of a summary, an expression in the JSON form of Iceberg.
     */
    public static final String PROPERTY = "skade.read-filter";
    // summaries are read with the table
    private static final int MAX_LENGTH = 4000;

    private final Schema schema;
    private final Map<Integer, PartitionSpec> specs;
    private final Expression filter;

    private ReadFilter(Schema schema, Map<Integer, PartitionSpec> specs, Expression filter)
    {
        this.schema = requireNonNull(schema, "schema is null");
        this.specs = requireNonNull(specs, "specs is null");
        this.filter = requireNonNull(filter, "filter is null");
    }

    /**
     * The value of the property for a filter on the table's columns by their names. A filter that takes much room becomes one that matches every row.
     */
    public static String toProperty(Expression filter)
    {
        String json = ExpressionParser.toJson(filter);
        return json.length() <= MAX_LENGTH ? json : ExpressionParser.toJson(Expressions.alwaysTrue());
    }

    /**
     * A commit whose new snapshots have the property.
     *
     * @param base the version that {@code next} was built from
     * @param property made by {@link #toProperty}
     */
    public static TableMetadata record(String property, TableMetadata base, TableMetadata next)
    {
        TableMetadata.Builder builder = TableMetadata.buildFrom(base);
        for (MetadataUpdate change : next.changes()) {
            MetadataUpdate recorded = change instanceof MetadataUpdate.AddSnapshot added ? new MetadataUpdate.AddSnapshot(with(property, added.snapshot())) : change;
            recorded.applyTo(builder);
        }
        return builder.build();
    }

    private static Snapshot with(String property, Snapshot snapshot)
    {
        ObjectNode json = (ObjectNode) MetadataJson.parse(SnapshotParser.toJson(snapshot));
        json.withObjectProperty("summary").put(PROPERTY, property);
        return SnapshotParser.fromJson(json.toString());
    }

    /**
     * The property of a snapshot, which may be read with the table's present columns; empty if none was recorded.
     */
    static Optional<String> property(TableMetadata metadata, Snapshot snapshot)
    {
        return Optional.ofNullable(snapshot.summary())
                .map(summary -> summary.get(PROPERTY))
                // the names of other columns may mean something else now
                .map(json -> Objects.equals(snapshot.schemaId(), metadata.currentSchemaId()) ? json : toProperty(Expressions.alwaysTrue()));
    }

    /**
     * The filter of a snapshot; empty if none was recorded.
     */
    static Optional<ReadFilter> of(TableMetadata metadata, Snapshot snapshot)
    {
        return property(metadata, snapshot).map(json -> new ReadFilter(metadata.schema(), metadata.specsById(), parse(json)));
    }

    private static Expression parse(String json)
    {
        try {
            return ExpressionParser.fromJson(json);
        }
        catch (RuntimeException _) {
            // written by something else
            return Expressions.alwaysTrue();
        }
    }

    /**
     * Whether rows of a data file, or the rows that a delete file deletes, may match.
     */
    boolean mayMatch(ContentFile<?> file)
    {
        try {
            Expression residual = ResidualEvaluator.of(specs.get(file.specId()), filter, true).residualFor(file.partition());
            // the statistics of a delete file are not those of the rows that it deletes
            return file instanceof DataFile
                    ? new InclusiveMetricsEvaluator(schema, residual).eval(file)
                    : residual.op() != Expression.Operation.FALSE;
        }
        catch (ValidationException _) {
            return true;
        }
    }
}
