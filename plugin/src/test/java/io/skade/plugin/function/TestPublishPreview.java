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
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code publish_preview}.
 */
class TestPublishPreview
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder().setWorkerCount(1).build();
    }

    @Test
    void outcomeOfEachTable()
    {
        assertUpdate("CREATE SCHEMA shop");
        for (String table : new String[] {"same", "ahead", "behind", "both", "clash", "without"}) {
            assertUpdate("CREATE TABLE shop.%s (n int)".formatted(table));
            assertUpdate("INSERT INTO shop.%s VALUES 1, 2".formatted(table), 2);
            if (!table.equals("without")) {
                assertUpdate("CREATE BRANCH rc IN TABLE shop." + table);
            }
        }
        assertUpdate("CALL system.create_tag('shop', 'without', 'rc')");
        assertUpdate("CREATE VIEW shop.shown AS SELECT * FROM shop.same");
        assertUpdate("INSERT INTO shop.ahead@rc VALUES 3", 1);
        assertUpdate("INSERT INTO shop.behind VALUES 3", 1);
        assertUpdate("INSERT INTO shop.both@rc VALUES 3", 1);
        assertUpdate("INSERT INTO shop.both VALUES 4", 1);
        assertUpdate("DELETE FROM shop.clash@rc WHERE n = 1", 1);
        assertUpdate("UPDATE shop.clash SET n = 10 WHERE n = 1", 1);

        Object log = computeActual("SELECT * FROM system.commit_log").getMaterializedRows();
        assertThat(computeActual("SELECT table_name || ' ' || outcome FROM TABLE(system.publish_preview('SHOP', 'rc'))").getOnlyColumn())
                .containsExactly("ahead fast_forward", "behind behind", "both rebase", "clash conflict", "same up_to_date");
        assertThat(computeActual("SELECT table_name, outcome FROM TABLE(system.publish_preview('shop', 'rc', 'main', NULL))").getRowCount()).isEqualTo(5);
        assertQuery(
                "SELECT table_name, outcome FROM TABLE(system.publish_preview(schema_name => 'shop', branch => 'rc', tables => ARRAY['same', 'Ahead']))",
                "VALUES ('ahead', 'fast_forward'), ('same', 'up_to_date')");
        assertQuery("SELECT table_name FROM TABLE(system.publish_preview('shop', 'rc')) WHERE message IS NULL", "VALUES 'ahead', 'same'");
        assertThat((String) computeScalar("SELECT message FROM TABLE(system.publish_preview('shop', 'rc')) WHERE table_name = 'clash'")).contains("shop.clash");
        assertThat(computeActual("SELECT * FROM system.commit_log").getMaterializedRows()).isEqualTo(log);

        // to another branch
        assertUpdate("CREATE BRANCH release IN TABLE shop.ahead FROM rc");
        assertQuery("SELECT * FROM TABLE(system.publish_preview('shop', 'rc', 'release', ARRAY['ahead']))", "VALUES ('ahead', 'up_to_date', NULL)");
        assertQuery("SELECT outcome FROM TABLE(system.publish_preview('shop', 'main', 'release', ARRAY['ahead']))", "VALUES 'behind'");

        assertFails("'shop', 'rc', 'release'", "Branch does not exist in shop.behind, shop.both, shop.clash, shop.same: release");
        assertFails("'shop', 'rc', 'rc'", "branch and to are the same: rc");
        assertFails("'shop', 'nobody'", "Branch does not exist in any table of shop: nobody");
        assertFails("'nowhere', 'rc'", ".*Schema nowhere not found.*");
        assertFails("'shop', 'rc', 'main', ARRAY['without', 'same']", "Branch does not exist in shop.without: rc");
        assertFails("'shop', 'rc', 'main', ARRAY['same', 'SAME']", "tables has a table twice: shop.same");
        assertFails("'shop', 'rc', 'main', ARRAY['same', 'no_table']", ".*Table 'shop.no_table' not found.*");
        assertFails("'shop', 'rc', 'main', ARRAY['shown']", ".*Table 'shop.shown' not found.*");
        assertFails("'shop', 'rc', 'main', ARRAY['same$refs']", ".*Table 'shop.same\\$refs' not found.*");
        assertFails("'shop', 'rc', 'main', CAST(ARRAY[] AS array(varchar))", "tables cannot be empty");
        assertFails("'shop', 'rc', 'main', ARRAY['same', NULL]", "A value of tables cannot be null or empty");
        assertFails("'shop', NULL", "branch cannot be null or empty");
        assertFails("'shop', 'rc', ''", "to cannot be null or empty");
        assertUpdate("DROP SCHEMA shop CASCADE");
    }

    private void assertFails(String arguments, String message)
    {
        assertQueryFails("SELECT * FROM TABLE(system.publish_preview(%s))".formatted(arguments), message);
    }
}
