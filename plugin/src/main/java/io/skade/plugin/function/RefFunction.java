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
import io.airlift.slice.Slice;
import io.airlift.slice.Slices;
import io.skade.plugin.catalog.RefTableName;
import io.skade.plugin.catalog.SkadeTables;
import io.skade.plugin.catalog.TransactionState;
import io.skade.plugin.catalog.Transactions;
import io.skade.plugin.system.Unfiltered;
import io.skade.procedure.ProcedureErrors;
import io.skade.ref.RefRefusedException;
import io.skade.ref.RefTarget;
import io.skade.ref.RefUpdates;
import io.skade.ref.SnapshotSelector;
import io.skade.store.CatalogState;
import io.trino.spi.TrinoException;
import io.trino.spi.block.Block;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ColumnSchema;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.SchemaRoutineName;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableNotFoundException;
import io.trino.spi.function.table.AbstractConnectorTableFunction;
import io.trino.spi.function.table.Argument;
import io.trino.spi.function.table.ArgumentSpecification;
import io.trino.spi.function.table.Descriptor;
import io.trino.spi.function.table.ReturnTypeSpecification;
import io.trino.spi.function.table.ScalarArgument;
import io.trino.spi.function.table.ScalarArgumentSpecification;
import io.trino.spi.function.table.TableFunctionAnalysis;
import io.trino.spi.type.ArrayType;
import io.trino.spi.type.Type;
import org.apache.iceberg.Schema;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.types.Types.NestedField;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.plugin.catalog.SkadeTables.identifier;
import static io.trino.spi.StandardErrorCode.INVALID_FUNCTION_ARGUMENT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;

/**
 * A table function that shows refs, or the store. It reads the tables that the transaction reads.
 */
abstract class RefFunction
        extends AbstractConnectorTableFunction
{
    private final Transactions transactions;
    private final SkadeTables tables;

    RefFunction(Transactions transactions, SkadeTables tables, String name, ReturnTypeSpecification returnType, ArgumentSpecification... arguments)
    {
        super("system", name, ImmutableList.copyOf(arguments), returnType);
        this.transactions = requireNonNull(transactions, "transactions is null");
        this.tables = requireNonNull(tables, "tables is null");
    }

    static ArgumentSpecification required(String name)
    {
        return ScalarArgumentSpecification.builder().name(name.toUpperCase(ENGLISH)).type(VARCHAR).build();
    }

    static ArgumentSpecification withDefault(String name, String defaultValue)
    {
        return ScalarArgumentSpecification.builder().name(name.toUpperCase(ENGLISH)).type(VARCHAR).defaultValue(Slices.utf8Slice(defaultValue)).build();
    }

    /**
     * NULL if it is not given.
     */
    static ArgumentSpecification optional(String name)
    {
        return ScalarArgumentSpecification.builder().name(name.toUpperCase(ENGLISH)).type(VARCHAR).defaultValue(null).build();
    }

    /**
     * A list of strings, NULL if it is not given.
     */
    static ArgumentSpecification optionalList(String name)
    {
        return ScalarArgumentSpecification.builder().name(name.toUpperCase(ENGLISH)).type(new ArrayType(VARCHAR)).defaultValue(null).build();
    }

    static ReturnTypeSpecification rows(Map<String, Type> columns)
    {
        return new ReturnTypeSpecification.DescribedTable(Descriptor.descriptor(ImmutableList.copyOf(columns.keySet()), ImmutableList.copyOf(columns.values())));
    }

    @Override
    public final TableFunctionAnalysis analyze(ConnectorSession session, ConnectorTransactionHandle transaction, Map<String, Argument> arguments, ConnectorAccessControl accessControl)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            return analyze(new Call(session, transactions.load(transaction), arguments, accessControl));
        }
        catch (RefRefusedException e) {
            throw ProcedureErrors.translate(e);
        }
    }

    /**
     * Checks the arguments of a call and whether the user may make it.
     */
    abstract TableFunctionAnalysis analyze(Call call);

    /**
     * A call of the function, as the engine analyzes it.
     */
    final class Call
    {
        private final ConnectorSession session;
        private final TransactionState state;
        private final Map<String, Argument> arguments;
        private final ConnectorAccessControl accessControl;

        private Call(ConnectorSession session, TransactionState state, Map<String, Argument> arguments, ConnectorAccessControl accessControl)
        {
            this.session = requireNonNull(session, "session is null");
            this.state = requireNonNull(state, "state is null");
            this.arguments = ImmutableMap.copyOf(arguments);
            this.accessControl = requireNonNull(accessControl, "accessControl is null");
        }

        CatalogState state()
        {
            return state.get();
        }

        /**
         * Those of some tables and views that the user may see.
         */
        Set<SchemaTableName> visibleTables(Set<SchemaTableName> names)
        {
            // the engine knows who asks and takes no other context
            return accessControl.filterTables(null, names);
        }

        /**
         * @throws io.trino.spi.security.AccessDeniedException if the user may not call a procedure of the schema {@code system}
         */
        void checkCanExecuteProcedure(String procedure)
        {
            accessControl.checkCanExecuteProcedure(null, new SchemaRoutineName("system", procedure));
        }

        /**
         * The value of an argument, neither NULL nor empty.
         */
        String string(String name)
        {
            return checkGiven(name, (Slice) value(name));
        }

        /**
         * The value of an argument, not empty; empty if it is NULL.
         */
        Optional<String> findString(String name)
        {
            return Optional.ofNullable((Slice) value(name)).map(value -> checkGiven(name, value));
        }

        /**
         * The values of a list, none of them NULL or empty; empty if the list is NULL.
         */
        Optional<List<String>> strings(String name)
        {
            return Optional.ofNullable((Block) value(name))
                    .map(values -> IntStream.range(0, values.getPositionCount())
                            .mapToObj(i -> checkGiven("A value of " + name, values.isNull(i) ? null : VARCHAR.getSlice(values, i)))
                            .toList());
        }

        private Object value(String name)
        {
            return ((ScalarArgument) arguments.get(name.toUpperCase(ENGLISH))).getValue();
        }

        private static String checkGiven(String name, Slice value)
        {
            if (value == null || value.length() == 0) {
                throw new TrinoException(INVALID_FUNCTION_ARGUMENT, "%s cannot be null or empty".formatted(name));
            }
            return value.toStringUtf8();
        }

        /**
         * The table that {@code schema_name} and {@code table_name} name, as {@link #target(SchemaTableName)}.
         */
        RefTarget target()
        {
            return target(new SchemaTableName(string("schema_name"), string("table_name")));
        }

        /**
         * @throws TableNotFoundException if there is no such table, as for the name of a view or of a metadata table
         */
        RefTarget target(SchemaTableName name)
        {
            TableMetadata metadata = Optional.of(name)
                    .filter(table -> !RefTableName.isReserved(table))
                    .flatMap(table -> tables.findMetadata(session, table, state))
                    .orElseThrow(() -> new TableNotFoundException(name));
            return new RefTarget(identifier(name), metadata, tables.fileIo(session));
        }

        /**
         * The snapshot of the ref that an argument names; empty only for {@code main} of a table that has no snapshot.
         */
        OptionalLong snapshotId(RefTarget target, String argument)
        {
            return RefUpdates.select(target, new SnapshotSelector.AtRef(string(argument)));
        }

        /**
         * @throws RefRefusedException if the rows of a branch cannot be read with the present schema of its table
         */
        void checkReadable(RefTarget target, String branch)
        {
            tables.checkReadable(target, branch);
        }

        /**
         * @throws io.trino.spi.security.AccessDeniedException if the user may not select all columns of a table, at a ref if one is given
         */
        void checkCanSelect(SchemaTableName table, Schema schema, Optional<String> ref)
        {
            // the engine knows who asks and takes no other context
            accessControl.checkCanSelectFromColumns(null, table, ref, schema.columns().stream()
                    .map(NestedField::name)
                    .map(name -> name.toLowerCase(ENGLISH))
                    .collect(toImmutableSet()));
        }

        /**
         * @throws TrinoException if the user sees not all rows of a table, or not all values of the columns
         */
        void checkNoFiltersOrMasks(SchemaTableName table, Map<String, Type> columns)
        {
            List<ColumnSchema> schemas = columns.entrySet().stream()
                    .map(column -> ColumnSchema.builder().setName(column.getKey()).setType(column.getValue()).build())
                    .toList();
            Unfiltered.check(accessControl, table, schemas, "Function " + getName());
        }
    }
}
