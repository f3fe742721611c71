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

import io.airlift.slice.Slice;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;

import static java.util.Locale.ENGLISH;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestRefProcedures
{
    private static final Set<Procedure> PROCEDURES = RefProcedures.all(new ProcedureRunner());

    @Test
    void testSignatures()
    {
        assertThat(PROCEDURES.stream()
                .map(TestRefProcedures::signature)
                .collect(joining("\n", "", "\n")))
                .isEqualTo(
                        """
                        create_branch(schema_name varchar, table_name varchar, branch varchar, ref varchar => NULL, snapshot_id bigint => NULL, timestamp varchar => NULL, \
                        max_ref_age varchar => NULL, min_snapshots_to_keep bigint => NULL, max_snapshot_age varchar => NULL, if_not_exists boolean => false, or_replace boolean => false)
                        create_tag(schema_name varchar, table_name varchar, tag varchar, ref varchar => NULL, snapshot_id bigint => NULL, timestamp varchar => NULL, \
                        max_ref_age varchar => NULL, if_not_exists boolean => false, or_replace boolean => false)
                        drop_ref(schema_name varchar, table_name varchar, ref varchar, if_exists boolean => false)
                        drop_branch(schema_name varchar, table_name varchar, branch varchar, if_exists boolean => false)
                        drop_tag(schema_name varchar, table_name varchar, tag varchar, if_exists boolean => false)
                        rename_ref(schema_name varchar, table_name varchar, ref varchar, to varchar)
                        replace_branch(schema_name varchar, table_name varchar, branch varchar, ref varchar => NULL, snapshot_id bigint => NULL, expected_snapshot_id bigint => NULL)
                        replace_tag(schema_name varchar, table_name varchar, tag varchar, ref varchar => NULL, snapshot_id bigint => NULL, expected_snapshot_id bigint => NULL)
                        set_ref_retention(schema_name varchar, table_name varchar, ref varchar, max_ref_age varchar => NULL, min_snapshots_to_keep bigint => NULL, max_snapshot_age varchar => NULL)
                        fast_forward(schema_name varchar, table_name varchar, branch varchar, to varchar => NULL, snapshot_id bigint => NULL, expected_snapshot_id bigint => NULL)
                        publish_branch(schema_name varchar, table_name varchar, branch varchar, to varchar => 'main', mode varchar => 'fast_forward', expected_snapshot_id bigint => NULL, \
                        drop_branch boolean => false)
                        rollback_to(schema_name varchar, table_name varchar, ref varchar => NULL, snapshot_id bigint => NULL, timestamp varchar => NULL, branch varchar => 'main')
                        set_current_snapshot(schema_name varchar, table_name varchar, snapshot_id bigint => NULL, ref varchar => NULL, branch varchar => 'main')
                        cherrypick_snapshot(schema_name varchar, table_name varchar, snapshot_id bigint, branch varchar => 'main')
                        publish_changes(schema_name varchar, table_name varchar, wap_id varchar)
                        protect_ref(schema_name varchar, table_name varchar, ref varchar)
                        unprotect_ref(schema_name varchar, table_name varchar, ref varchar)
                        undo_ref(schema_name varchar, table_name varchar, ref varchar, steps bigint => 1)
                        rollback_to_snapshot(schema varchar, table varchar, snapshot_id bigint)
                        expire_refs(schema_name varchar, table_name varchar, dry_run boolean => false)
                        create_branches(schema_name varchar, branch varchar, ref varchar => 'main', tables array(varchar) => NULL)
                        create_tags(schema_name varchar, tag varchar, ref varchar => 'main', tables array(varchar) => NULL)
                        drop_refs(schema_name varchar, ref varchar, tables array(varchar) => NULL)
                        publish_branches(schema_name varchar, branch varchar, to varchar => 'main', mode varchar => 'fast_forward', drop_branch boolean => false, tables array(varchar) => NULL)
                        rollback_tables(schema_name varchar, ref varchar, branch varchar => 'main', tables array(varchar) => NULL)
                        """);
    }

    private static String signature(Procedure procedure)
    {
        return procedure.getArguments().stream()
                .map(TestRefProcedures::describe)
                .collect(joining(", ", procedure.getName() + "(", ")"));
    }

    private static String describe(Argument argument)
    {
        String description = argument.getName().toLowerCase(ENGLISH) + " " + argument.getType();
        if (argument.isRequired()) {
            return description;
        }
        return description + " => " + switch (argument.getDefaultValue()) {
            case null -> "NULL";
            case Slice slice -> "'" + slice.toStringUtf8() + "'";
            case Object value -> value;
        };
    }

    /**
     * As the engine checks it when the catalog starts. What can be NULL must be boxed.
     */
    @Test
    void testParameterTypes()
    {
        for (Procedure procedure : PROCEDURES) {
            List<Class<?>> expected = new ArrayList<>(List.of(ConnectorAccessControl.class, ConnectorSession.class));
            for (Argument argument : procedure.getArguments()) {
                expected.add(switch (argument.getType().toString()) {
                    case "varchar" -> String.class;
                    case "bigint" -> Long.class;
                    case "boolean" -> Boolean.class;
                    case "array(varchar)" -> List.class;
                    default -> throw new AssertionError(argument);
                });
            }
            assertThat(procedure.getMethodHandle().type().parameterList()).as(procedure.getName()).isEqualTo(expected);
            assertThat(procedure.getSchema()).isEqualTo("system");
            assertThat(procedure.requiresNamedArguments()).isFalse();
        }
    }

    @Test
    void testTableVerbs()
    {
        assertThat(RefProcedures.tableVerbs()).extracting(RefProcedure::name).containsExactly(
                "create_branch",
                "create_tag",
                "drop_ref",
                "fast_forward",
                "publish_branch",
                "rollback_to",
                "set_current_snapshot",
                "cherrypick_snapshot",
                "rollback_to_snapshot");
    }

    @Test
    void testVerb()
    {
        RefProcedure verb = RefProcedures.verb("set_current_snapshot");
        assertThat(verb.name()).isEqualTo("set_current_snapshot");
        assertThat(verb.arguments()).extracting(Argument::getName).containsExactly("SNAPSHOT_ID", "REF", "BRANCH");
        assertThatThrownBy(() -> RefProcedures.verb("register_table"))
                .isInstanceOf(NoSuchElementException.class);
    }
}
