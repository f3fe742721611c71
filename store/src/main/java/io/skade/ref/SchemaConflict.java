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

import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types.NestedField;

import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

import static com.google.common.collect.ImmutableSet.toImmutableSet;

/**
 * Why the files of a snapshot cannot be read with the present schema of their table. Trino's changes of a schema never lead there, but the replacement of a table
 * may: a column of the same name is the same one, whatever its type, and a column by which files are partitioned may be gone.
 */
final class SchemaConflict
{
    private SchemaConflict() {}

    /**
     * What stands in the way, empty if nothing does. Files are looked at only if something might.
     *
     * @param typeName what users call a type
     */
    static Optional<String> find(FileIO io, TableMetadata metadata, Snapshot snapshot, Function<Type, String> typeName)
    {
        Schema present = metadata.schema();
        Schema written = RefViews.schema(metadata, snapshot);
        if (written.schemaId() == present.schemaId()) {
            return Optional.empty();
        }
        Supplier<Set<Integer>> specs = () -> snapshot.allManifests(io).stream()
                .filter(manifest -> manifest.hasAddedFiles() || manifest.hasExistingFiles())
                .map(ManifestFile::partitionSpecId)
                .collect(toImmutableSet());
        return findColumn(written, present, typeName)
                .filter(_ -> !specs.get().isEmpty())
                .or(() -> findPartitionField(metadata, specs));
    }

    private static Optional<String> findColumn(Schema written, Schema present, Function<Type, String> typeName)
    {
        Map<Integer, NestedField> fields = TypeUtil.indexById(present.asStruct());
        return TypeUtil.indexById(written.asStruct()).values().stream()
                .filter(field -> fields.containsKey(field.fieldId()) && !isReadable(field.type(), fields.get(field.fieldId()).type()))
                .min(Comparator.comparing(NestedField::fieldId))
                .map(field -> "column %s has type %s in it, and %s since the table was replaced".formatted(
                        present.findColumnName(field.fieldId()),
                        typeName.apply(field.type()),
                        typeName.apply(fields.get(field.fieldId()).type())));
    }

    private static boolean isReadable(Type from, Type to)
    {
        // the fields of nested types have ids of their own
        return to.isPrimitiveType() ? TypeUtil.isPromotionAllowed(from, to.asPrimitiveType()) : from.typeId() == to.typeId();
    }

    private static Optional<String> findPartitionField(TableMetadata metadata, Supplier<Set<Integer>> specs)
    {
        if (metadata.specs().stream().allMatch(spec -> findUnbound(spec, metadata.schema()).isEmpty())) {
            return Optional.empty();
        }
        return specs.get().stream()
                .sorted()
                .flatMap(id -> findUnbound(metadata.spec(id), metadata.schema()).stream())
                .findFirst()
                .map(field -> "its files are partitioned by %s, and the table does not have the column of that any more".formatted(field.name()));
    }

    /**
     * The field of a partition spec whose column a schema does not have.
     */
    static Optional<PartitionField> findUnbound(PartitionSpec spec, Schema schema)
    {
        return spec.fields().stream()
                .filter(field -> schema.findField(field.sourceId()) == null)
                .findFirst();
    }
}
