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

import io.trino.metadata.QualifiedObjectName;
import io.trino.spi.security.ViewExpression;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.util.List;

import static io.trino.testing.TestingAccessControlManager.TestingPrivilegeType.SELECT_COLUMN;
import static io.trino.testing.TestingAccessControlManager.privilege;

/**
 * Where the engine does not check what it checks for the tables of a statement: arguments of functions and procedures, and metadata tables.
 */
@Execution(ExecutionMode.SAME_THREAD)
class TestGuards
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder().setWorkerCount(0).build();
    }

    @Test
    void tableChangesIsRefusedForAFilteredOrMaskedTable()
    {
        assertUpdate("CREATE TABLE veiled (n int, secret varchar)");
        assertUpdate("INSERT INTO veiled VALUES (1, 'a')", 1);
        assertUpdate("CALL system.create_tag('tpch', 'veiled', 'first')");
        assertUpdate("INSERT INTO veiled VALUES (2, 'b')", 1);
        String changes = "SELECT n, secret FROM TABLE(system.table_changes('tpch', 'veiled', %s, %s))".formatted(snapshotId("veiled", "first"), snapshotId("veiled", "main"));
        QualifiedObjectName table = new QualifiedObjectName(SkadeQueryRunner.CATALOG, "tpch", "veiled");
        String user = getSession().getUser();
        try {
            assertQuery(changes, "VALUES (2, 'b')");
            getQueryRunner().getAccessControl().rowFilter(table, user, ViewExpression.builder().expression("n < 2").build());
            assertQueryFails(changes, "Function table_changes does not support tables with row filters or column masks: tpch.veiled");
            getQueryRunner().getAccessControl().reset();
            getQueryRunner().getAccessControl().columnMask(table, "secret", user, ViewExpression.builder().expression("'*'").build());
            assertQueryFails(changes, "Function table_changes does not support tables with row filters or column masks: tpch.veiled");
        }
        finally {
            getQueryRunner().getAccessControl().reset();
        }
        assertUpdate("DROP TABLE veiled");
    }

    @Test
    void partitionsTakeRightsOnFiles()
    {
        assertUpdate("CREATE TABLE parts (n int, part int) WITH (partitioning = ARRAY['part'])");
        assertUpdate("INSERT INTO parts VALUES (1, 1), (2, 2)", 2);
        assertUpdate("CREATE BRANCH b IN TABLE parts");
        String user = getSession().getUser();
        for (String table : List.of("parts$partitions", "parts@b$partitions")) {
            String query = "SELECT record_count, data.n.max FROM \"%s\"".formatted(table);
            try {
                getQueryRunner().getAccessControl().deny(privilege("parts$files", SELECT_COLUMN));
                assertQueryFails(query, "Access Denied: Cannot select from columns .* in table or view .*parts\\$files.*");
                getQueryRunner().getAccessControl().reset();
                getQueryRunner().getAccessControl().rowFilter(new QualifiedObjectName(SkadeQueryRunner.CATALOG, "tpch", "parts$files"), user, ViewExpression.builder().expression("record_count > 9").build());
                assertQueryFails(query, "Table .*parts.*\\$partitions.* does not support tables with row filters or column masks: .*parts\\$files.*");
            }
            finally {
                getQueryRunner().getAccessControl().reset();
            }
            assertQuery(query, "VALUES (1, 1), (1, 2)");
        }
        assertUpdate("DROP TABLE parts");
    }

    @Test
    void tableChangesKnowsNoPrivateNames()
    {
        assertUpdate("CREATE TABLE branched (n int)");
        assertUpdate("INSERT INTO branched VALUES 1", 1);
        assertUpdate("CREATE BRANCH b IN TABLE branched");
        for (String suffix : new String[] {"\u001eb62", "\u001e", "\u001ex"}) {
            assertQueryFails(
                    "SELECT * FROM TABLE(system.table_changes('tpch', 'branched%s', 1, 2))".formatted(suffix),
                    "Invalid table_name: it contains a control character");
        }
        assertUpdate("DROP TABLE branched");
    }

    @Test
    void aRegisteredTableHasANameThatCanBeReached()
    {
        assertUpdate("CREATE TABLE moved (n int)");
        String location = ((String) computeScalar("SELECT metadata_location FROM system.commit_log WHERE table_name = 'moved'")).replaceFirst("/metadata/.*", "");
        assertUpdate("CALL system.unregister_table('tpch', 'moved')");
        for (String name : new String[] {"moved@b", "moved$files", "moved\u001eb62"}) {
            assertQueryFails("CALL system.register_table('tpch', '%s', '%s')".formatted(name, location), "Invalid name of a table or view: .*");
        }
        assertQueryReturnsEmptyResult("SELECT table_name FROM system.refs WHERE table_name LIKE 'moved%'");
        assertUpdate("CALL system.register_table('tpch', 'moved', '%s')".formatted(location));
        assertUpdate("DROP TABLE moved");
    }

    private long snapshotId(String table, String ref)
    {
        return (long) computeScalar("SELECT snapshot_id FROM \"%s$refs\" WHERE name = '%s'".formatted(table, ref));
    }
}
