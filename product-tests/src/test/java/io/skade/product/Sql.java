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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * What the tests run on a server: cases, and single statements.
 */
final class Sql
{
    private Sql() {}

    /**
     * Runs the case of a file, in a schema of its own named like the file.
     *
     * @throws AssertionError if a statement does not give what it should
     */
    static void runCase(SkadeServer server, Path file)
            throws IOException, SQLException, InterruptedException
    {
        String name = file.getFileName().toString().replace(".slt", "");
        SqlCase sqlCase = SqlCase.parse(name, Files.readString(file));
        try (Connection connection = server.connect("lake", name.replace('-', '_'));
                TemporarySchema _ = createSchema(connection)) {
            new SqlCaseRunner(connection, (_, _, _) -> {}).run(sqlCase);
        }
    }

    /**
     * Creates the connection's current schema; closing the result drops it with its tables.
     */
    static TemporarySchema createSchema(Connection connection)
            throws SQLException
    {
        String schema = connection.getSchema();
        execute(connection, "CREATE SCHEMA " + schema);
        return () -> execute(connection, "DROP SCHEMA " + schema + " CASCADE");
    }

    interface TemporarySchema
            extends AutoCloseable
    {
        @Override
        void close()
                throws SQLException;
    }

    static void execute(Connection connection, String sql)
            throws SQLException
    {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /**
     * Gives the rows as lines with the values joined by {@code " | "}.
     */
    static List<String> query(Connection connection, String sql)
            throws SQLException
    {
        List<String> lines = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet results = statement.executeQuery(sql)) {
            int columns = results.getMetaData().getColumnCount();
            while (results.next()) {
                List<String> values = new ArrayList<>();
                for (int column = 1; column <= columns; column++) {
                    values.add(String.valueOf(results.getObject(column)));
                }
                lines.add(String.join(" | ", values));
            }
        }
        return lines;
    }

    /**
     * Gives the only value of the only row.
     */
    static long queryLong(Connection connection, String sql)
            throws SQLException
    {
        List<String> lines = query(connection, sql);
        if (lines.size() != 1) {
            throw new AssertionError("Not one row: %s gave %s".formatted(sql, lines));
        }
        return Long.parseLong(lines.getFirst());
    }
}
