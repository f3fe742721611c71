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

import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Verbs on many tables, one commit each.
 */
@Execution(ExecutionMode.SAME_THREAD)
class TestManyTables
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder().setWorkerCount(0).build();
    }

    @BeforeEach
    void createTables()
    {
        assertUpdate("CREATE SCHEMA shop");
        for (String table : new String[] {"a", "b", "c"}) {
            assertUpdate("CREATE TABLE shop.%s (n int)".formatted(table));
            assertUpdate("INSERT INTO shop.%s VALUES 1".formatted(table), 1);
        }
        assertUpdate("CREATE VIEW shop.v AS SELECT * FROM shop.a");
    }

    @AfterEach
    void dropTables()
    {
        assertUpdate("DROP SCHEMA shop CASCADE");
    }

    private Object commits()
    {
        return computeScalar("SELECT count(DISTINCT log_id) FROM system.commit_log WHERE table_schema = 'shop'");
    }

    private void assertCounts(String ref, int a, int b, int c)
    {
        assertQuery(
                "SELECT (SELECT count(*) FROM shop.a FOR VERSION AS OF '%1$s'), (SELECT count(*) FROM shop.b FOR VERSION AS OF '%1$s'), (SELECT count(*) FROM shop.c FOR VERSION AS OF '%1$s')".formatted(ref),
                "VALUES (%s, %s, %s)".formatted(a, b, c));
    }

    @Test
    void publishIsOneCommit()
    {
        assertUpdate("CALL system.create_branches('shop', 'rel')");
        assertUpdate("INSERT INTO shop.a@rel VALUES 2", 1);
        assertUpdate("DELETE FROM shop.b@rel WHERE n = 1", 1);
        long before = (long) commits();
        assertUpdate("CALL system.publish_branches(schema_name => 'shop', branch => 'rel', drop_branch => true)");
        assertThat(commits()).isEqualTo(before + 1);
        assertCounts("main", 2, 0, 1);
        assertQuery("SELECT count(*) FROM system.refs WHERE table_schema = 'shop' AND name = 'rel'", "VALUES 0");
        // each of them is a table again of its own
        assertUpdate("CALL system.undo_ref('shop', 'a', 'main')");
        assertCounts("main", 1, 0, 1);
    }

    @Test
    void aConflictNamesEveryTable()
    {
        assertUpdate("CALL system.create_branches('shop', 'rel')");
        for (String table : new String[] {"a", "b", "c"}) {
            assertUpdate("INSERT INTO shop.%s@rel VALUES 2".formatted(table), 1);
        }
        assertUpdate("INSERT INTO shop.a VALUES 3", 1);
        assertUpdate("INSERT INTO shop.c VALUES 3", 1);
        Object before = commits();
        assertQueryFails(
                "CALL system.publish_branches('shop', 'rel')",
                "Cannot fast-forward main of shop.a to rel: \\d+ is not an ancestor of \\d+; Cannot fast-forward main of shop.c to rel: \\d+ is not an ancestor of \\d+");
        assertCounts("main", 2, 1, 2);
        assertThat(commits()).isEqualTo(before);
    }

    @Test
    void listsAreChecked()
    {
        Object before = commits();
        assertQueryFails("CALL system.create_tags(schema_name => 'shop', tag => 'g', tables => ARRAY[])", "tables cannot be empty: leave it out for all tables");
        assertQueryFails("CALL system.create_tags(schema_name => 'shop', tag => 'g', tables => ARRAY['a', 'B', 'A'])", "tables names more than once: shop.a");
        assertQueryFails("CALL system.create_tags(schema_name => 'shop', tag => 'g', tables => ARRAY['a', NULL])", "tables cannot contain null or empty");
        assertQueryFails("CALL system.create_tags(schema_name => 'shop', tag => 'g', tables => ARRAY['a', 'v', 'z'])", "Tables 'shop.v', 'shop.z' not found");
        assertQueryFails("CALL system.create_tags(schema_name => 'shop', tag => 'g', tables => ARRAY['a$refs'])", "Table 'shop.a\\$refs' not found");
        assertQueryFails("CALL system.create_tags('nowhere', 'g')", "Schema nowhere not found");
        assertQueryFails("CALL system.create_tags(schema_name => NULL, tag => 'g')", "schema_name cannot be null or empty");
        assertQueryFails("CALL system.drop_refs('shop', 'g')", "Ref does not exist in any table of shop: g");
        assertQueryFails("CALL system.drop_refs('shop', 'main')", "Cannot drop main of shop.a: .*; Cannot drop main of shop.b: .*; Cannot drop main of shop.c: .*");
        assertThat(commits()).isEqualTo(before);

        assertUpdate("CALL system.create_tags(schema_name => 'shop', tag => 'g', tables => ARRAY['a', 'b'])");
        assertQueryFails("CALL system.create_tags('shop', 'g')", "Cannot create tag g in shop.a: .*; Cannot create tag g in shop.b: .*");
        assertQueryFails("CALL system.rollback_tables(schema_name => 'shop', ref => 'g', tables => ARRAY['a', 'c'])", "Ref does not exist in shop.c: g");
        assertUpdate("INSERT INTO shop.a VALUES 2", 1);
        assertUpdate("INSERT INTO shop.c VALUES 2", 1);
        assertUpdate("CALL system.rollback_tables('shop', 'g')");
        assertCounts("main", 1, 1, 2);
        assertUpdate("CALL system.drop_refs('shop', 'g')");
        assertQuery("SELECT count(*) FROM system.refs WHERE table_schema = 'shop'", "VALUES 3");
    }

    @Test
    void anEmptySchemaHasNothingToTag()
    {
        assertUpdate("CREATE SCHEMA bare");
        assertQueryFails("CALL system.create_tags('bare', 'g')", "Schema bare has no tables");
        assertUpdate("DROP SCHEMA bare");
    }
}
