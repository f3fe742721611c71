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
package io.skade.product;

import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * What a write on a branch costs, against the same write on {@code main}: both in turns in one run, so that whatever else the machine does
 * meets both.
 */
public final class BranchWriteBenchmark
{
    private static final int WARM_UP_ROUNDS = 10;
    private static final int ROUNDS = 60;

    private BranchWriteBenchmark() {}

    public static void main(String[] args)
            throws SQLException
    {
        PrintStream out = new PrintStream(System.out, true, UTF_8);
        try (Connection connection = DriverManager.getConnection(args[0]);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA IF NOT EXISTS lake.bench");
            for (String table : new String[] {"on_main", "on_branch"}) {
                statement.execute("DROP TABLE IF EXISTS lake.bench." + table);
                statement.execute("CREATE TABLE lake.bench.%s (id bigint, v varchar)".formatted(table));
                statement.execute("INSERT INTO lake.bench.%s SELECT orderkey, comment FROM tpch.tiny.orders".formatted(table));
                statement.execute("CREATE BRANCH work IN TABLE lake.bench." + table);
            }
            out.printf(Locale.ROOT, "%-8s %12s %12s %8s%n", "", "main ms", "branch ms", "ratio");
            measure(out, statement, "insert", "INSERT INTO %s VALUES (-1, 'one row')");
            measure(out, statement, "update", "UPDATE %s SET v = 'changed' WHERE id = 7");
            measure(out, statement, "merge", "MERGE INTO %s t USING (VALUES 33, -5) s(id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'new')");
            statement.execute("DROP TABLE lake.bench.on_main");
            statement.execute("DROP TABLE lake.bench.on_branch");
        }
    }

    private static void measure(PrintStream out, Statement statement, String name, String sql)
            throws SQLException
    {
        List<Double> main = new ArrayList<>();
        List<Double> branch = new ArrayList<>();
        for (int round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
            // who is first changes from round to round
            double first = time(statement, sql.formatted(round % 2 == 0 ? "lake.bench.on_main" : "lake.bench.on_branch@work"));
            double second = time(statement, sql.formatted(round % 2 == 0 ? "lake.bench.on_branch@work" : "lake.bench.on_main"));
            if (round >= WARM_UP_ROUNDS) {
                main.add(round % 2 == 0 ? first : second);
                branch.add(round % 2 == 0 ? second : first);
            }
        }
        out.printf(Locale.ROOT, "%-8s %12.1f %12.1f %8.3f%n", name, median(main), median(branch), median(branch) / median(main));
    }

    private static double time(Statement statement, String sql)
            throws SQLException
    {
        long start = System.nanoTime();
        statement.execute(sql);
        return (System.nanoTime() - start) / 1e6;
    }

    private static double median(List<Double> values)
    {
        values.sort(Comparator.naturalOrder());
        return values.get(values.size() / 2);
    }
}
