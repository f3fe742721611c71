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

import com.google.common.collect.ImmutableMap;
import io.trino.Session;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;

import java.util.Map;

import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A catalog that reads every table at one ref.
 */
class TestReadRef
        extends AbstractTestQueryFramework
{
    private static final Session GOLD = testSessionBuilder().setCatalog("gold").setSchema("tpch").build();

    private Map<String, String> properties;

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        DistributedQueryRunner queryRunner = SkadeQueryRunner.builder().setWorkerCount(0).build();
        properties = SkadeQueryRunner.catalogProperties(queryRunner.getCoordinator().getBaseDataDir().resolve("skade"));
        return queryRunner;
    }

    @Test
    void tablesAreReadAtTheRefAndOthersAreNotThere()
    {
        assertUpdate("CREATE TABLE tagged (n int)");
        assertUpdate("INSERT INTO tagged VALUES 1", 1);
        assertUpdate("CALL system.create_tag('tpch', 'tagged', 'Gold')");
        assertUpdate("ALTER TABLE tagged ADD COLUMN later int");
        assertUpdate("INSERT INTO tagged VALUES (2, 2)", 1);
        assertUpdate("CREATE TABLE branched (n int)");
        assertUpdate("CREATE BRANCH \"Gold\" IN TABLE branched");
        assertUpdate("INSERT INTO branched@\"Gold\" VALUES 7", 1);
        assertUpdate("CREATE TABLE plain (n int)");
        assertUpdate("CREATE VIEW shown AS SELECT * FROM tagged");

        getQueryRunner().createCatalog("gold", "skade", ImmutableMap.<String, String>builder().putAll(properties).put("skade.read-ref", "Gold").buildOrThrow());
        assertQuery(GOLD, "SHOW TABLES", "VALUES 'tagged', 'branched'");
        assertQuery(GOLD, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'tpch'", "VALUES ('tagged', 'n'), ('branched', 'n')");
        assertQuery(GOLD, "SELECT * FROM tagged", "VALUES 1");
        assertQuery(GOLD, "SELECT n FROM tagged WHERE n > 0", "VALUES 1");
        assertQuery(GOLD, "SELECT * FROM branched", "VALUES 7");
        assertQuery(GOLD, "SELECT count(*) FROM \"branched$files\"", "VALUES 1");
        assertQueryFails(GOLD, "SELECT * FROM plain", ".*Table 'gold.tpch.plain' does not exist");
        assertQueryFails(GOLD, "SELECT * FROM shown", ".*Table 'gold.tpch.shown' does not exist");
        assertQueryFails(GOLD, "SELECT * FROM tagged FOR VERSION AS OF 'main'", "Catalog gold reads every table at Gold, other versions are not supported");
        for (String call : new String[] {
                "ancestors_of('tpch', 'tagged', 'Gold')",
                "ref_graph('tpch', 'tagged')",
                "ref_diff('tpch', 'tagged', 'main', 'Gold')",
                "publish_preview('tpch', 'Gold')",
        }) {
            assertQueryFails(GOLD, "SELECT * FROM TABLE(gold.system.%s)".formatted(call), "Access Denied: Cannot execute function gold.system.%s".formatted(call.substring(0, call.indexOf('('))));
        }
        for (String statement : new String[] {
                "INSERT INTO tagged VALUES 3",
                "INSERT INTO branched VALUES 3",
                "DROP TABLE tagged",
                "CREATE TABLE another (n int)",
                "CREATE BRANCH b IN TABLE tagged",
                "CALL system.create_tag('tpch', 'tagged', 'x')",
        }) {
            assertQueryFails(GOLD, statement, "Access Denied: .*");
        }

        // a new table comes when it has the ref, and the branch moves on
        assertUpdate("CREATE BRANCH \"Gold\" IN TABLE plain");
        assertUpdate("INSERT INTO branched@\"Gold\" VALUES 8", 1);
        assertQuery(GOLD, "SHOW TABLES", "VALUES 'tagged', 'branched', 'plain'");
        assertQuery(GOLD, "SELECT * FROM branched", "VALUES 7, 8");
        assertQueryReturnsEmptyResult("SELECT * FROM branched");
    }

    @Test
    void anotherSecurityIsRefused()
    {
        assertThatThrownBy(() -> getQueryRunner().createCatalog("wrong", "skade", ImmutableMap.<String, String>builder()
                .putAll(properties)
                .put("skade.read-ref", "Gold")
                .put("iceberg.security", "allow_all")
                .buildOrThrow()))
                .hasStackTraceContaining("Configuration property 'skade.read-ref' makes a read-only catalog, 'iceberg.security' cannot be 'allow_all'");
    }
}
