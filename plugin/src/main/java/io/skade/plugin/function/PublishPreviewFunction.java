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
package io.skade.plugin.function;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.inject.Inject;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.TransactionState;
import io.skade.plugin.catalog.Transactions;
import io.skade.ref.PublishPreview;
import io.skade.ref.RefTarget;
import io.skade.store.CatalogState;
import io.skade.store.PointerKind;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaNotFoundException;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableNotFoundException;
import io.trino.spi.function.table.TableFunctionAnalysis;
import io.trino.spi.type.Type;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.catalog.Namespace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static com.google.common.base.Strings.emptyToNull;
import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.plugin.catalog.SkadeTables.identifier;
import static io.skade.procedure.SkadeErrorCode.REF_NOT_FOUND;
import static io.trino.spi.StandardErrorCode.INVALID_FUNCTION_ARGUMENT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Comparator.comparing;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code publish_preview}: what publishing a branch would do to each table of a schema, by name. Changes nothing.
 */
public final class PublishPreviewFunction
        extends RefFunction
{
    private static final Map<String, Type> COLUMNS = ImmutableMap.of(
            "table_name", VARCHAR,
            "outcome", VARCHAR,
            "message", VARCHAR);

    @Inject
    public PublishPreviewFunction(Transactions transactions, SkadeTables tables)
    {
        super(transactions, tables, "publish_preview", rows(COLUMNS), required("schema_name"), required("branch"), withDefault("to", MAIN_BRANCH), optionalList("tables"));
    }

    @Override
    TableFunctionAnalysis analyze(Call call)
    {
        String schema = call.string("schema_name").toLowerCase(ENGLISH);
        String branch = call.string("branch");
        String to = call.string("to");
        if (branch.equals(to)) {
            throw new TrinoException(INVALID_FUNCTION_ARGUMENT, "branch and to are the same: " + branch);
        }
        CatalogState state = call.state();
        Optional<List<String>> given = call.strings("tables");
        List<SchemaTableName> names = given.isPresent() ? listed(state, schema, branch, given.get()) : all(state, schema, branch);
        List<SchemaTableName> withoutTarget = names.stream().filter(name -> !to.equals(MAIN_BRANCH) && !hasBranch(state, name, to)).toList();
        if (!withoutTarget.isEmpty()) {
            throw missing(to, withoutTarget);
        }
        for (SchemaTableName name : names) {
            Schema columns = call.target(name).metadata().schema();
            call.checkCanSelect(name, columns, Optional.of(branch));
            call.checkCanSelect(name, columns, Optional.of(to));
        }
        return TableFunctionAnalysis.builder()
                .handle(new Handle(names, branch, to))
                .build();
    }

    private static List<SchemaTableName> listed(CatalogState state, String schema, String branch, List<String> given)
    {
        if (given.isEmpty()) {
            throw new TrinoException(INVALID_FUNCTION_ARGUMENT, "tables cannot be empty");
        }
        List<SchemaTableName> names = given.stream().map(table -> new SchemaTableName(schema, table)).toList();
        Set<SchemaTableName> seen = new HashSet<>();
        for (SchemaTableName name : names) {
            if (!seen.add(name)) {
                throw new TrinoException(INVALID_FUNCTION_ARGUMENT, "tables has a table twice: " + name);
            }
            if (state.find(identifier(name), PointerKind.TABLE).isEmpty()) {
                throw new TableNotFoundException(name);
            }
        }
        List<SchemaTableName> without = names.stream().filter(name -> !hasBranch(state, name, branch)).toList();
        if (!without.isEmpty()) {
            throw missing(branch, without);
        }
        return sorted(names);
    }

    private static List<SchemaTableName> all(CatalogState state, String schema, String branch)
    {
        Namespace namespace = SkadeTables.namespace(schema);
        if (!state.namespaceExists(namespace)) {
            throw new SchemaNotFoundException(schema);
        }
        List<SchemaTableName> names = state.list(namespace, PointerKind.TABLE).stream()
                // a table with upper-case letters, made by another engine, cannot be named in Trino
                .filter(name -> name.name().equals(name.name().toLowerCase(ENGLISH)))
                .map(SkadeTables::schemaTableName)
                .filter(name -> hasBranch(state, name, branch))
                .toList();
        if (names.isEmpty()) {
            throw new TrinoException(REF_NOT_FOUND, "Branch does not exist in any table of %s: %s".formatted(schema, branch));
        }
        return sorted(names);
    }

    private static List<SchemaTableName> sorted(List<SchemaTableName> names)
    {
        return names.stream().sorted(comparing(SchemaTableName::getTableName)).collect(toImmutableList());
    }

    private static boolean hasBranch(CatalogState state, SchemaTableName name, String branch)
    {
        SnapshotRef ref = state.find(identifier(name), PointerKind.TABLE).orElseThrow().refs().get(branch);
        return ref != null && ref.isBranch();
    }

    private static TrinoException missing(String branch, List<SchemaTableName> names)
    {
        return new TrinoException(REF_NOT_FOUND, "Branch does not exist in %s: %s".formatted(names.stream().map(SchemaTableName::toString).collect(joining(", ")), branch));
    }

    public record Handle(List<SchemaTableName> tableNames, String branch, String to)
            implements RowsHandle
    {
        public Handle
        {
            tableNames = ImmutableList.copyOf(tableNames);
            requireNonNull(branch, "branch is null");
            requireNonNull(to, "to is null");
        }

        @Override
        public RowsSplit rows(ConnectorSession session, SkadeTables tables, TransactionState state)
        {
            List<List<Object>> rows = new ArrayList<>();
            for (SchemaTableName name : tableNames) {
                TableMetadata metadata = tables.findMetadata(session, name, state).orElseThrow(() -> new TableNotFoundException(name));
                PublishPreview preview = PublishPreview.of(new RefTarget(identifier(name), metadata, tables.fileIo(session)), branch, to);
                rows.add(Arrays.asList(name.getTableName(), preview.outcome().name().toLowerCase(ENGLISH), emptyToNull(preview.message())));
            }
            return RowsSplit.of(COLUMNS.values(), rows);
        }
    }
}
