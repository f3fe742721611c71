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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.skade.ref.RefRefusedException;
import io.skade.ref.RefUpdate;
import io.skade.ref.RefUpdates;
import io.skade.store.CatalogState;
import io.skade.store.PointerKind;
import io.skade.store.TablePointer;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaNotFoundException;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure.Argument;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.stream.Collectors.joining;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * A verb on many tables of a schema: one commit, all or nothing. The tables are those that are listed, or all that have the ref that the verb is for.
 */
abstract class ManyTablesProcedure
        extends CallProcedure<TableLoader>
{
    /**
     * @param arguments what stands between schema and tables
     */
    ManyTablesProcedure(String name, Argument... arguments)
    {
        super(name, ImmutableList.<Argument>builder()
                .add(required("schema_name", VARCHAR))
                .add(arguments)
                .add(optional("tables", VARCHAR_ARRAY))
                .build());
    }

    /**
     * What is asked for on each table.
     *
     * @throws RefRefusedException if a value cannot be used
     */
    abstract RefRequest read(ArgumentValues values);

    /**
     * The ref that a table must have, empty if the verb is for every table.
     */
    abstract Optional<String> neededRef(ArgumentValues values);

    @Override
    final void call(TableLoader tables, ConnectorAccessControl accessControl, ConnectorSession session, ArgumentValues values)
    {
        String schema = values.string("schema_name");
        RefRequest request = read(values);
        CatalogState state = tables.state();
        List<SchemaTableName> names = values.findStrings("tables")
                .map(listed -> listedTables(schema, listed))
                .orElseGet(() -> allTables(state, schema, neededRef(values)));
        names.forEach(name -> request.checkAccess(accessControl, name));
        checkTables(state, names, neededRef(values));
        ImmutableMap.Builder<TableIdentifier, RefUpdate> updates = ImmutableMap.builder();
        for (SchemaTableName name : names) {
            TablePointer pointer = state.find(identifier(name), PointerKind.TABLE).orElseThrow();
            updates.put(identifier(name), RefUpdates.ofTable(pointer.uuid(), request.update()));
        }
        try {
            tables.commit(session, updates.buildOrThrow());
        }
        catch (RuntimeException e) {
            throw ProcedureErrors.translate(e);
        }
    }

    private static List<SchemaTableName> listedTables(String schema, List<String> listed)
    {
        if (listed.isEmpty()) {
            throw new RefRefusedException(INVALID_VALUE, "tables cannot be empty: leave it out for all tables");
        }
        List<SchemaTableName> names = listed.stream().map(table -> new SchemaTableName(schema, table)).toList();
        Set<SchemaTableName> seen = new HashSet<>();
        Set<SchemaTableName> twice = names.stream().filter(name -> !seen.add(name)).collect(toImmutableSet());
        if (!twice.isEmpty()) {
            throw new RefRefusedException(INVALID_VALUE, "tables names more than once: %s", joined(twice));
        }
        return names;
    }

    private static List<SchemaTableName> allTables(CatalogState state, String schema, Optional<String> neededRef)
    {
        Namespace namespace = Namespace.of(new SchemaTableName(schema, "any").getSchemaName());
        if (!state.namespaceExists(namespace)) {
            throw new SchemaNotFoundException(namespace.toString());
        }
        List<SchemaTableName> names = state.list(namespace, PointerKind.TABLE).stream()
                .filter(name -> neededRef.isEmpty() || hasRef(state.find(name).orElseThrow(), neededRef.get()))
                .map(name -> new SchemaTableName(namespace.toString(), name.name()))
                .toList();
        if (names.isEmpty()) {
            throw neededRef
                    .map(ref -> new RefRefusedException(REF_NOT_FOUND, "Ref does not exist in any table of %s: %s", namespace, ref))
                    .orElseGet(() -> new RefRefusedException(INVALID_VALUE, "Schema %s has no tables", namespace));
        }
        return names;
    }

    private static void checkTables(CatalogState state, List<SchemaTableName> names, Optional<String> neededRef)
    {
        Set<SchemaTableName> missing = names.stream()
                .filter(name -> state.find(identifier(name), PointerKind.TABLE).isEmpty())
                .collect(toImmutableSet());
        if (!missing.isEmpty()) {
            throw ProcedureErrors.tablesNotFound(missing);
        }
        neededRef.ifPresent(ref -> {
            Set<SchemaTableName> without = names.stream()
                    .filter(name -> !hasRef(state.find(identifier(name)).orElseThrow(), ref))
                    .collect(toImmutableSet());
            if (!without.isEmpty()) {
                throw new RefRefusedException(REF_NOT_FOUND, "Ref does not exist in %s: %s", joined(without), ref);
            }
        });
    }

    private static String joined(Set<SchemaTableName> names)
    {
        return names.stream()
                .map(SchemaTableName::toString)
                .collect(joining(", "));
    }

    private static boolean hasRef(TablePointer pointer, String ref)
    {
        return pointer.refs().containsKey(ref) || ref.equals(MAIN_BRANCH);
    }
}
