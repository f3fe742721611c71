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

import com.google.common.collect.ImmutableSet;
import io.trino.plugin.iceberg.TableType;
import io.trino.spi.connector.SchemaTableName;

import java.util.Arrays;
import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;

/**
 * The name of a metadata table, {@code "t$type"} or {@code "t@ref$type"}: what stands before the last {@code $}, and the type.
 */
record MetadataTableName(SchemaTableName table, String type)
{
    private static final Set<String> TYPES = ImmutableSet.<String>builder()
            .add("ref_log")
            .addAll(Arrays.stream(TableType.values())
                    .filter(type -> type != TableType.DATA && type != TableType.MATERIALIZED_VIEW_STORAGE)
                    .map(type -> type.name().toLowerCase(ENGLISH))
                    .collect(toImmutableSet()))
            .build();

    MetadataTableName
    {
        requireNonNull(table, "table is null");
        requireNonNull(type, "type is null");
    }

    static Optional<MetadataTableName> parse(SchemaTableName name)
    {
        int separator = name.getTableName().lastIndexOf('$');
        if (separator <= 0 || !TYPES.contains(name.getTableName().substring(separator + 1))) {
            return Optional.empty();
        }
        return Optional.of(new MetadataTableName(
                new SchemaTableName(name.getSchemaName(), name.getTableName().substring(0, separator)),
                name.getTableName().substring(separator + 1)));
    }

    SchemaTableName name()
    {
        return new SchemaTableName(table.getSchemaName(), table.getTableName() + "$" + type);
    }
}
