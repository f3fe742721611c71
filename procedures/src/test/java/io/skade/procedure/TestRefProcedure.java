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

import io.skade.ref.RefRefusedException;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.TableNotFoundException;
import io.trino.spi.security.AccessDeniedException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static io.skade.procedure.ProcedureRunner.map;
import static io.skade.procedure.SkadeErrorCode.REF_COMMIT_CONFLICT;
import static io.skade.procedure.SkadeErrorCode.REF_NOT_FAST_FORWARD;
import static io.skade.procedure.SkadeErrorCode.REF_NOT_FOUND;
import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static java.util.Locale.ENGLISH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What all verbs have in common.
 */
class TestRefProcedure
{
    private static final Map<String, Map<String, Object>> CALLS = Map.ofEntries(
            Map.entry("create_branch", map("branch", "b")),
            Map.entry("create_tag", map("tag", "t")),
            Map.entry("drop_ref", map("ref", "eoy")),
            Map.entry("drop_branch", map("branch", "audit")),
            Map.entry("drop_tag", map("tag", "eoy")),
            Map.entry("rename_ref", map("ref", "eoy", "to", "t")),
            Map.entry("replace_branch", map("branch", "audit", "snapshot_id", 1L)),
            Map.entry("replace_tag", map("tag", "eoy", "snapshot_id", 2L)),
            Map.entry("set_ref_retention", map("ref", "eoy")),
            Map.entry("fast_forward", map("branch", "main", "to", "audit")),
            Map.entry("publish_branch", map("branch", "audit")),
            Map.entry("rollback_to", map("snapshot_id", 2L)),
            Map.entry("set_current_snapshot", map("snapshot_id", 4L)),
            Map.entry("cherrypick_snapshot", map("snapshot_id", 4L)),
            Map.entry("publish_changes", map("wap_id", "w4")),
            Map.entry("protect_ref", map("ref", "main")),
            Map.entry("unprotect_ref", map("ref", "main")),
            Map.entry("undo_ref", map("ref", "main")),
            Map.entry("rollback_to_snapshot", map("snapshot_id", 2L)),
            Map.entry("expire_refs", map()),
            Map.entry("create_branches", map("branch", "b")),
            Map.entry("create_tags", map("tag", "t")),
            Map.entry("drop_refs", map("ref", "eoy")),
            Map.entry("publish_branches", map("branch", "audit")),
            Map.entry("rollback_tables", map("ref", "eoy")));

    private static final Map<String, String> OPERATIONS = Map.of(
            "create_branches", "create_branch",
            "create_tags", "create_tag",
            "drop_refs", "drop_ref",
            "publish_branches", "publish_branch",
            "rollback_tables", "rollback_to");

    private final ProcedureRunner runner = new ProcedureRunner();

    @Test
    void testCallsAreComplete()
    {
        assertThat(RefProcedures.all(runner)).extracting("name").containsExactlyInAnyOrderElementsOf(CALLS.keySet());
    }

    @Test
    void testRequiredArguments()
    {
        for (String verb : CALLS.keySet()) {
            RefProcedures.all(runner).stream()
                    .filter(procedure -> procedure.getName().equals(verb))
                    .flatMap(procedure -> procedure.getArguments().stream())
                    .filter(argument -> argument.isRequired() || argument.getDefaultValue() != null)
                    .forEach(argument -> {
                        String name = argument.getName().toLowerCase(ENGLISH);
                        boolean text = argument.getType().toString().equals("varchar");
                        assertInvalid(() -> runner.call(verb, with(verb, name, null)), text ? name + " cannot be null or empty" : name + " cannot be null");
                        if (text) {
                            assertInvalid(() -> runner.call(verb, with(verb, name, "")), name + " cannot be null or empty");
                        }
                    });
        }
        assertThat(runner.takeEvents()).isEmpty();
    }

    private static Map<String, Object> with(String verb, String name, Object value)
    {
        Map<String, Object> values = new HashMap<>(CALLS.get(verb));
        values.put(name, value);
        return values;
    }

    @Test
    void testNoAccessNoWork()
    {
        for (String verb : CALLS.keySet()) {
            ProcedureRunner allowing = new ProcedureRunner();
            allowing.call(verb, CALLS.get(verb));
            List<String> questions = allowing.takeEvents();
            assertThat(questions).as(verb).hasSizeGreaterThan(1).last().isEqualTo("commit " + OPERATIONS.getOrDefault(verb, verb));

            for (String question : questions.subList(0, questions.size() - 1)) {
                ProcedureRunner denying = new ProcedureRunner();
                denying.deny(question);
                assertThatThrownBy(() -> denying.call(verb, CALLS.get(verb)))
                        .as(verb)
                        .isInstanceOf(AccessDeniedException.class)
                        .hasMessageMatching("Access Denied: Cannot (insert into|delete from) table sales.orders");
                assertThat(denying.takeEvents()).as(verb).last().isEqualTo(question);
                assertThat(denying.refs()).isEqualTo("audit=4 eoy=1 main=3");
            }
        }
    }

    /**
     * A user without rights does not learn by the error whether a table or ref is there.
     */
    @Test
    void testNoAccessToMissing()
    {
        runner.deny("insert nowhere");
        assertThatThrownBy(() -> runner.call("drop_ref", "table_name", "missing", "ref", "nowhere"))
                .isInstanceOf(AccessDeniedException.class)
                .hasMessage("Access Denied: Cannot insert into table sales.missing");
    }

    @Test
    void testArgumentsBeforeAccess()
    {
        runner.deny("insert audit");
        assertInvalid(() -> runner.call("fast_forward", "branch", "audit"), "Exactly one of to, snapshot_id must be given");
        assertThat(runner.takeEvents()).isEmpty();
    }

    @Test
    void testTableNameIsLowerCased()
    {
        runner.call("drop_ref", "schema_name", "SALES", "table_name", "Orders", "ref", "eoy");
        assertThat(runner.refs()).isEqualTo("audit=4 main=3");
    }

    @Test
    void testMissingTable()
    {
        assertThatThrownBy(() -> runner.call("drop_ref", "table_name", "missing", "ref", "eoy", "if_exists", true))
                .isInstanceOf(TableNotFoundException.class)
                .hasMessage("Table 'sales.missing' not found");
        assertThatThrownBy(() -> runner.call("drop_ref", "schema_name", "nowhere", "ref", "eoy"))
                .isInstanceOf(TableNotFoundException.class)
                .hasMessage("Table 'nowhere.orders' not found");
    }

    @Test
    void testRefusal()
    {
        assertRefused(() -> runner.call("drop_ref", "ref", "nobody"), REF_NOT_FOUND, "Ref does not exist in sales.orders: nobody");
        assertRefused(
                () -> runner.call("fast_forward", "branch", "audit", "to", "main"),
                REF_NOT_FAST_FORWARD,
                "Cannot fast-forward audit of sales.orders to main: 4 is not an ancestor of 3");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=3");
    }

    @Test
    void testFailedCommit()
    {
        runner.failWith(new CommitFailedException("Cannot commit sales.orders: others won too often"));
        assertThatThrownBy(() -> runner.call("drop_ref", "ref", "eoy"))
                .isInstanceOfSatisfying(TrinoException.class, e -> assertThat(e.getErrorCode()).isEqualTo(REF_COMMIT_CONFLICT.toErrorCode()))
                .hasMessage("Cannot commit sales.orders: others won too often");
    }

    @Test
    void testClassLoader()
            throws IOException
    {
        ClassLoader original = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader ofEngine = new URLClassLoader(new URL[0], null)) {
            Thread.currentThread().setContextClassLoader(ofEngine);
            runner.call("drop_ref", "ref", "eoy");
            assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(ofEngine);
        }
        finally {
            Thread.currentThread().setContextClassLoader(original);
        }
        assertThat(runner.contextClassLoader()).isSameAs(RefProcedure.class.getClassLoader());
    }

    static void assertInvalid(ThrowingCallable callable, String message)
    {
        assertRefused(callable, INVALID_PROCEDURE_ARGUMENT, message);
    }

    static void assertRefused(ThrowingCallable callable, ErrorCodeSupplier code, String message)
    {
        assertThatThrownBy(callable)
                .isInstanceOfSatisfying(TrinoException.class, e -> assertThat(e.getErrorCode()).isEqualTo(code.toErrorCode()))
                .hasMessage(message)
                .hasCauseInstanceOf(RefRefusedException.class);
    }
}
