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

import com.google.common.collect.ImmutableSet;
import io.trino.spi.Plugin;
import io.trino.spi.function.ScalarFunction;
import io.trino.spi.function.SqlType;
import io.trino.spi.type.StandardTypes;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.util.List;
import java.util.Set;

import static io.skade.procedure.SkadeErrorCode.REF_COMMIT_CONFLICT;
import static io.trino.testing.assertions.TrinoExceptionAssert.assertThatTrinoException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Changes of a table between the analysis of a statement and its write.
 */
@Execution(ExecutionMode.SAME_THREAD)
class TestWriteRaces
        extends AbstractTestQueryFramework
{
    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        QueryRunner queryRunner = SkadeQueryRunner.builder().setWorkerCount(0).build();
        queryRunner.installPlugin(new Plugin()
        {
            @Override
            public Set<Class<?>> getFunctions()
            {
                return ImmutableSet.of(Interference.class);
            }
        });
        return queryRunner;
    }

    /**
     * The columns are changed after a statement was analyzed and before its write begins.
     */
    @Test
    void aWriteDoesNotBeginWithOtherColumns()
    {
        for (String statement : List.of(
                "INSERT INTO moving (a, b) SELECT 1, interfere()",
                "INSERT INTO moving@side (a, b) SELECT 1, interfere()",
                "UPDATE moving SET b = interfere() WHERE a = 5",
                "MERGE INTO moving USING (VALUES 6) s(id) ON moving.a = s.id WHEN NOT MATCHED THEN INSERT (a, b) VALUES (7, interfere())")) {
            assertUpdate("CREATE TABLE moving (a bigint, b bigint)");
            assertUpdate("INSERT INTO moving VALUES (5, 6)", 1);
            assertUpdate("CREATE BRANCH side IN TABLE moving");
            Interference.action = () -> {
                getQueryRunner().execute("ALTER TABLE moving DROP COLUMN a");
                getQueryRunner().execute("ALTER TABLE moving ADD COLUMN a bigint");
            };
            assertQueryFails(statement, "Cannot write to tpch.moving: its columns were changed while the statement was planned");
            assertQuery("SELECT a, b FROM moving", "VALUES (NULL, 6)");
            Interference.action = () -> {};
            computeActual(statement);
            assertUpdate("DROP TABLE moving");
        }
    }

    @Test
    void aWriteWhoseBranchMovedAwayIsAConflict()
    {
        assertUpdate("CREATE TABLE sliding (a bigint, b bigint)");
        assertUpdate("INSERT INTO sliding VALUES (1, 1)", 1);
        assertUpdate("CALL system.create_tag('tpch', 'sliding', 'start')");
        assertUpdate("INSERT INTO sliding VALUES (5, 6)", 1);
        Interference.action = () -> getQueryRunner().execute("CALL system.rollback_to('tpch', 'sliding', 'start')");
        assertThatTrinoException(catchThrowable(() -> computeActual("UPDATE sliding SET b = interfere() WHERE a = 1"))).hasErrorCode(REF_COMMIT_CONFLICT);
        assertQuery("SELECT a, b FROM sliding", "VALUES (1, 1)");
        Interference.action = () -> {};
        assertUpdate("DROP TABLE sliding");
    }

    /**
     * A function that the planner evaluates, once a statement is analyzed.
     */
    public static final class Interference
    {
        private static volatile Runnable action = () -> {};

        private Interference() {}

        @ScalarFunction("interfere")
        @SqlType(StandardTypes.BIGINT)
        public static long interfere()
        {
            action.run();
            return 2;
        }
    }
}
