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

import io.skade.plugin.SkadeQueryRunner;
import io.trino.metadata.QualifiedObjectName;
import io.trino.spi.security.ViewExpression;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryRunner;
import io.trino.testing.TestingAccessControlManager.TestingPrivilege;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.util.List;

import static io.trino.testing.TestingAccessControlManager.TestingPrivilegeType.SELECT_COLUMN;
import static io.trino.testing.TestingAccessControlManager.branchPrivilege;
import static io.trino.testing.TestingAccessControlManager.privilege;

/**
 * Who may call the functions. The rights are those of the whole server, so one test runs at a time.
 */
@Execution(ExecutionMode.SAME_THREAD)
class TestRefFunctionAccess
        extends AbstractTestQueryFramework
{
    private static final QualifiedObjectName TABLE = new QualifiedObjectName("lake", "tpch", "secret");
    private static final List<String> CALLS = List.of(
            "ancestors_of('tpch', 'secret', 'audit')",
            "ref_graph('tpch', 'secret')",
            "ref_diff('tpch', 'secret', 'main', 'audit')",
            "publish_preview('tpch', 'audit')");

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        QueryRunner queryRunner = SkadeQueryRunner.builder().setWorkerCount(0).build();
        queryRunner.execute("CREATE TABLE secret (id int, former varchar)");
        queryRunner.execute("CREATE BRANCH audit IN TABLE secret");
        queryRunner.execute("CALL system.create_tag('tpch', 'secret', 'Old')");
        queryRunner.execute("ALTER TABLE secret RENAME COLUMN former TO name");
        queryRunner.execute("INSERT INTO secret@audit VALUES (1, 'x')");
        return queryRunner;
    }

    @AfterEach
    void reset()
    {
        getQueryRunner().getAccessControl().reset();
    }

    @Test
    void whoMaySelectAllColumnsMayLook()
    {
        for (String call : CALLS) {
            assertAllowed(call);
        }
    }

    @Test
    void whoMayNotSelectAColumnMayNotLook()
    {
        deny(privilege("secret.name", SELECT_COLUMN));
        for (String call : CALLS) {
            assertDenied(call);
        }
    }

    @Test
    void whoMayNotSelectAtARefMayNotLookAtIt()
    {
        deny(branchPrivilege("secret.id", "audit", SELECT_COLUMN));
        assertAllowed("ancestors_of('tpch', 'secret', 'main')");
        assertDenied("ancestors_of('tpch', 'secret', 'audit')");
        assertAllowed("ref_diff('tpch', 'secret', 'main', 'main')");
        assertDenied("ref_diff('tpch', 'secret', 'main', 'audit')");
        assertDenied("ref_diff('tpch', 'secret', 'audit', 'main')");
        assertDenied("publish_preview('tpch', 'audit')");
    }

    @Test
    void rowFiltersAndColumnMasks()
    {
        getQueryRunner().getAccessControl().rowFilter(TABLE, getSession().getUser(), expression("id > 10"));
        assertRefDiffIsRefused("main");
        assertAllowed("ancestors_of('tpch', 'secret', 'audit')");

        reset();
        assertAllowed("ref_diff('tpch', 'secret', 'main', 'audit')");
        getQueryRunner().getAccessControl().columnMask(TABLE, "name", getSession().getUser(), expression("'***'"));
        assertRefDiffIsRefused("audit");
        // the column had another name then
        assertRefDiffIsRefused("Old");

        reset();
        getQueryRunner().getAccessControl().rowFilter(TABLE, "somebody else", expression("id > 10"));
        assertAllowed("ref_diff('tpch', 'secret', 'main', 'audit')");
    }

    private static ViewExpression expression(String expression)
    {
        return ViewExpression.builder().catalog("lake").schema("tpch").expression(expression).build();
    }

    private void deny(TestingPrivilege privilege)
    {
        getQueryRunner().getAccessControl().deny(privilege);
    }

    private void assertAllowed(String call)
    {
        getQueryRunner().execute("SELECT * FROM TABLE(system.%s)".formatted(call));
    }

    private void assertDenied(String call)
    {
        assertQueryFails("SELECT * FROM TABLE(system.%s)".formatted(call), "Access Denied: Cannot select from columns \\[id, name] in (table or view|branch .* in table) lake.tpch.secret.*");
    }

    private void assertRefDiffIsRefused(String to)
    {
        assertQueryFails(
                "SELECT * FROM TABLE(system.ref_diff('tpch', 'secret', 'main', '%s'))".formatted(to),
                "Function ref_diff does not support tables with row filters or column masks: tpch.secret");
    }
}
