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
import org.junit.jupiter.api.Test;

/**
 * The way of a change from a branch to {@code main} and back.
 */
class TestRefStatements
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder().setWorkerCount(0).build();
    }

    @Test
    void publishesWhatWasWrittenOnABranch()
    {
        assertUpdate("CREATE TABLE wap (n int)");
        assertUpdate("INSERT INTO wap VALUES 1", 1);
        assertUpdate("CALL system.create_tag('tpch', 'wap', 'before')");
        assertUpdate("CREATE BRANCH audit IN TABLE wap");
        assertUpdate("INSERT INTO wap@audit VALUES 2, 3", 2);
        assertUpdate("UPDATE wap@audit SET n = 4 WHERE n = 2", 1);
        assertUpdate("DELETE FROM wap@audit WHERE n = 1", 1);

        assertQuery("SELECT * FROM wap", "VALUES 1");
        assertQuery("SELECT * FROM wap FOR VERSION AS OF 'audit'", "VALUES 3, 4");
        assertQuery("SELECT * FROM \"wap@audit\"", "VALUES 3, 4");

        assertUpdate("CALL system.publish_branch('tpch', 'wap', 'audit')");
        assertQuery("SELECT * FROM wap", "VALUES 3, 4");
        assertQuery("SELECT * FROM wap FOR VERSION AS OF 'before'", "VALUES 1");
        assertUpdate("CALL system.rollback_to(schema_name => 'tpch', table_name => 'wap', ref => 'before')");
        assertQuery("SELECT * FROM wap", "VALUES 1");
        assertUpdate("ALTER BRANCH main IN TABLE wap FAST FORWARD TO audit");
        assertQuery("SELECT * FROM wap", "VALUES 3, 4");
        assertQuery("SELECT name, type FROM \"wap$refs\"", "VALUES ('audit', 'BRANCH'), ('before', 'TAG'), ('main', 'BRANCH')");
        assertQuery("SELECT count(*) FROM \"wap$ref_log\" WHERE ref = 'main'", "VALUES 5");
        assertUpdate("DROP TABLE wap");
    }

    @Test
    void filtersAColumnThatWasRealOnEveryRef()
    {
        assertUpdate("CREATE TABLE widened (deg real, n int)");
        assertUpdate("INSERT INTO widened VALUES (REAL '1.5', 1), (REAL '2.5', 2)", 2);
        assertUpdate("CALL system.create_tag('tpch', 'widened', 'cold')");
        assertUpdate("CREATE BRANCH warm IN TABLE widened");
        assertUpdate("ALTER TABLE widened ALTER COLUMN deg SET DATA TYPE double");
        assertQuery("SELECT deg FROM widened WHERE deg > 2", "VALUES 2.5e0");
        assertQuery("SELECT deg FROM widened WHERE deg > 1 AND n = 1", "VALUES 1.5e0");
        assertQuery("SELECT deg FROM widened FOR VERSION AS OF 'warm' WHERE deg < 2", "VALUES 1.5e0");
        assertQuery("SELECT n FROM widened FOR VERSION AS OF 'cold' WHERE deg > 2", "VALUES 2");
        assertUpdate("INSERT INTO widened VALUES (3.5e0, 3)", 1);
        assertQuery("SELECT n FROM widened WHERE deg > 2", "VALUES 2, 3");
        assertUpdate("DROP TABLE widened");
    }
}
