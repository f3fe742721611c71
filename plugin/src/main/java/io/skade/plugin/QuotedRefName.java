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

import io.trino.spi.TrinoException;
import io.trino.spi.connector.SchemaTableName;
import org.apache.iceberg.TableMetadata;

import java.util.List;
import java.util.Optional;

import static io.skade.procedure.SkadeErrorCode.REF_NOT_FOUND;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * The two parts of {@code "t@ref"}. The engine lower-cases such a name before the connector sees it, so the ref is what fits it but for case.
 */
record QuotedRefName(SchemaTableName table, String ref)
{
    QuotedRefName
    {
        requireNonNull(table, "table is null");
        requireNonNull(ref, "ref is null");
    }

    static Optional<QuotedRefName> parse(SchemaTableName name)
    {
        int separator = name.getTableName().indexOf('@');
        if (separator <= 0) {
            return Optional.empty();
        }
        return Optional.of(new QuotedRefName(
                new SchemaTableName(name.getSchemaName(), name.getTableName().substring(0, separator)),
                name.getTableName().substring(separator + 1)));
    }

    /**
     * Whether the table has the ref.
     */
    boolean isRef(TableMetadata metadata)
    {
        return !candidates(metadata).isEmpty();
    }

    /**
     * Whether this is not a ref but a metadata table at one: {@code "t@ref$files"}.
     */
    boolean isMetadataTable(TableMetadata metadata)
    {
        return !isRef(metadata) && MetadataTableName.parse(new SchemaTableName(table.getSchemaName(), table.getTableName() + "@" + ref)).isPresent();
    }

    /**
     * The name of the ref that is meant: one of exactly that spelling, else the one that equals it but for case.
     *
     * @throws TrinoException if there is none or more than one
     */
    String load(TableMetadata metadata)
    {
        List<String> candidates = candidates(metadata);
        if (candidates.isEmpty()) {
            throw new TrinoException(REF_NOT_FOUND, "Ref does not exist in %s: %s".formatted(table, ref));
        }
        if (candidates.size() > 1) {
            throw new TrinoException(REF_NOT_FOUND, "Ref is ambiguous in %s: %s may be %s. Use FOR VERSION AS OF".formatted(table, ref, String.join(", ", candidates)));
        }
        return candidates.getFirst();
    }

    private List<String> candidates(TableMetadata metadata)
    {
        if (metadata.ref(ref) != null || ref.equals(MAIN_BRANCH)) {
            return List.of(ref);
        }
        return metadata.refs().keySet().stream()
                .filter(ref::equalsIgnoreCase)
                .sorted()
                .toList();
    }
}
