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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Publishes by rebase of what statements really write.
 */
class TestPublishByRebase
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder().setWorkerCount(0).build();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void everyStatementIsReplayed(int formatVersion)
    {
        String table = "replayed_%s".formatted(formatVersion);
        assertUpdate("CREATE TABLE %s (id int, part int, v varchar) WITH (format_version = %s, partitioning = ARRAY['part'])".formatted(table, formatVersion));
        assertUpdate("INSERT INTO %s VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 3, 'd')".formatted(table), 4);
        assertUpdate("CREATE BRANCH audit IN TABLE " + table);
        assertUpdate("INSERT INTO %s@audit VALUES (5, 1, 'e'), (6, 9, 'f')".formatted(table), 2);
        assertUpdate("UPDATE %s@audit SET v = v || '!' WHERE part = 1 AND id IN (1, 5)".formatted(table), 2);
        assertUpdate("DELETE FROM %s@audit WHERE part = 1 AND id = 2".formatted(table), 1);
        assertUpdate("DELETE FROM %s@audit WHERE part = 2".formatted(table), 1);
        assertUpdate("MERGE INTO %s@audit t USING (VALUES (1, 'merged'), (7, 'new')) s(id, v) ON t.id = s.id AND t.part = 1 WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1, s.v)".formatted(table), 2);
        assertUpdate("INSERT INTO %s VALUES (8, 3, 'main')".formatted(table), 1);
        assertUpdate("DELETE FROM %s WHERE part = 3 AND id = 4".formatted(table), 1);

        assertUpdate("CALL system.publish_branch(schema_name => 'tpch', table_name => '%s', branch => 'audit', mode => 'rebase')".formatted(table));
        for (String ref : new String[] {"main", "audit"}) {
            assertQuery(
                    "SELECT * FROM %s FOR VERSION AS OF '%s'".formatted(table, ref),
                    "VALUES (1, 1, 'merged'), (5, 1, 'e!'), (6, 9, 'f'), (7, 1, 'new'), (8, 3, 'main')");
        }
        assertThat(computeScalar("SELECT count(DISTINCT element_at(summary, 'trino_query_id')) FROM \"%s$snapshots\" WHERE element_at(summary, 'source-snapshot-id') IS NOT NULL".formatted(table))).isEqualTo(5L);
        assertUpdate("UPDATE %s SET v = 'later' WHERE id = 1".formatted(table), 1);
        assertQuery("SELECT v FROM %s WHERE part = 1".formatted(table), "VALUES 'later', 'e!', 'new'");
        assertUpdate("DROP TABLE " + table);
    }

    /**
     * Only what changes rows that are there says what it could have read, and only on a branch.
     */
    @Test
    void statementsSayWhatTheyRead()
    {
        assertUpdate("CREATE TABLE reads (id bigint, part int) WITH (partitioning = ARRAY['part'])");
        assertUpdate("INSERT INTO reads VALUES (1, 1), (2, 1), (3, 2)", 3);
        assertUpdate("CREATE BRANCH audit IN TABLE reads");
        assertUpdate("INSERT INTO reads@audit VALUES (4, 4)", 1);
        assertThat(readFilter("audit")).isNull();
        assertUpdate("UPDATE reads@audit SET id = 5 WHERE part = 4", 1);
        assertThat(readFilter("audit")).isEqualTo("{\"type\":\"in\",\"term\":\"part\",\"values\":[4]}");
        assertUpdate("DELETE FROM reads@audit WHERE part = 4", 1);
        assertThat(readFilter("audit")).isEqualTo("{\"type\":\"in\",\"term\":\"part\",\"values\":[4]}");
        assertUpdate("DELETE FROM reads@audit WHERE id = 2", 1);
        assertThat(readFilter("audit")).isEqualTo("{\"type\":\"in\",\"term\":\"id\",\"values\":[2]}");
        // read twice, once as a whole
        assertUpdate("DELETE FROM reads@audit WHERE part = 1 AND id IN (SELECT id - 2 FROM reads FOR VERSION AS OF 'audit')", 1);
        assertThat(readFilter("audit")).isEqualTo("true");
        assertUpdate("DELETE FROM reads@audit", 1);
        assertThat(readFilter("audit")).isEqualTo("true");
        assertUpdate("DELETE FROM reads WHERE id = 2", 1);
        assertThat(readFilter("main")).isNull();
        assertUpdate("DROP TABLE reads");
    }

    private Object readFilter(String ref)
    {
        return computeScalar("SELECT element_at(summary, 'skade.read-filter') FROM \"reads$snapshots\" JOIN \"reads$refs\" USING (snapshot_id) WHERE name = '%s'".formatted(ref));
    }

    /**
     * By its files alone the update would go through: it changes no partition that {@code main} changed.
     */
    @Test
    void rowsThatAStatementShouldHaveSeenAreAConflict()
    {
        assertUpdate("CREATE TABLE missed (id bigint, part int, v varchar) WITH (partitioning = ARRAY['part'])");
        assertUpdate("INSERT INTO missed VALUES (1, 1, 'a')", 1);
        assertUpdate("CREATE BRANCH audit IN TABLE missed");
        assertUpdate("UPDATE missed@audit SET v = 'b' WHERE id BETWEEN 1 AND 10", 1);
        assertUpdate("INSERT INTO missed VALUES (20, 2, 'a')", 1);
        long beforeConflict = (long) computeScalar("SELECT snapshot_id FROM \"missed$refs\" WHERE name = 'main'");
        assertUpdate("INSERT INTO missed VALUES (2, 3, 'a')", 1);
        String publish = "CALL system.publish_branch(schema_name => 'tpch', table_name => 'missed', branch => 'audit', mode => 'rebase')";
        assertQueryFails(publish, "Cannot rebase audit of tpch.missed onto main: \\d+ may have had to read rows that \\d+ added");
        assertQuery("SELECT * FROM missed", "VALUES (1, 1, 'a'), (20, 2, 'a'), (2, 3, 'a')");

        assertUpdate("CALL system.rollback_to(schema_name => 'tpch', table_name => 'missed', snapshot_id => %s)".formatted(beforeConflict));
        assertUpdate(publish);
        assertQuery("SELECT * FROM missed", "VALUES (1, 1, 'b'), (20, 2, 'a')");
        assertUpdate("DROP TABLE missed");
    }
}
