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

import io.skade.product.SqlCase.Action;
import io.skade.product.SqlCase.Order;
import io.skade.product.SqlCase.Step;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * Runs cases on one connection, whose catalog and schema are the cases' own. Values are compared as text: joined by
 * {@code " | "}, {@code NULL} for no value. A refusal is the server's message followed by its error code, as in
 * {@code Ref does not exist: nope [4]}, so that a case can tell a refusal meant for the user from an internal error,
 * whose codes begin at 65536. An error that does not come from the server is never taken for a refusal.
 */
public final class SqlCaseRunner
{
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{(\\w+)}");
    private static final Pattern SERVER_ERROR = Pattern.compile("^Query failed \\(#\\w+\\): ");

    private final Connection connection;
    private final Map<String, String> variables = new HashMap<>();
    private final Observer observer;

    public SqlCaseRunner(Connection connection, Observer observer)
            throws SQLException
    {
        this.connection = requireNonNull(connection, "connection is null");
        this.observer = requireNonNull(observer, "observer is null");
        variables.put("catalog", connection.getCatalog());
        variables.put("schema", connection.getSchema());
    }

    /**
     * Sees each statement as it was run, with what it gave.
     */
    public interface Observer
    {
        void observe(Step step, String sql, Outcome outcome);
    }

    /**
     * What a statement gave.
     */
    public sealed interface Outcome
    {
        /**
         * @param changedRows how many rows a write wrote or removed, zero for any other statement
         */
        record Done(long changedRows)
                implements Outcome {}

        record Rows(List<String> columns, List<List<String>> values)
                implements Outcome
        {
            List<String> lines()
            {
                return values.stream().map(row -> String.join(" | ", row)).toList();
            }
        }

        record Refusal(String message, int code)
                implements Outcome
        {
            @Override
            public String toString()
            {
                return "%s [%s]".formatted(message, code);
            }
        }
    }

    /**
     * Runs the steps up to the first that does not give what it should.
     *
     * @throws AssertionError if a step gave something else; the text names the step and both outcomes
     */
    public void run(SqlCase sqlCase)
            throws SQLException, InterruptedException
    {
        for (Step step : sqlCase.steps()) {
            Optional<String> difference = run(step);
            if (difference.isPresent()) {
                throw new AssertionError("%s.slt line %s\n%s".formatted(sqlCase.name(), step.line(), difference.get()));
            }
        }
    }

    // Empty if the step gave what it should
    private Optional<String> run(Step step)
            throws SQLException, InterruptedException
    {
        return switch (step.action()) {
            case Action.Sleep(long millis) -> {
                Thread.sleep(millis);
                yield Optional.empty();
            }
            case Action.Succeed(String sql) -> switch (execute(step, sql)) {
                case Outcome.Done _, Outcome.Rows _ -> Optional.empty();
                case Outcome.Refusal refusal -> difference(sql, "success", refusal.toString());
            };
            case Action.Refuse(String sql, String pattern) -> switch (execute(step, sql)) {
                case Outcome.Done _ -> difference(sql, "an error with " + pattern, "success");
                case Outcome.Rows rows -> difference(sql, "an error with " + pattern, "success\n" + String.join("\n", rows.lines()));
                case Outcome.Refusal refusal when Pattern.compile(substitute(pattern)).matcher(refusal.toString()).find() -> Optional.empty();
                case Outcome.Refusal refusal -> difference(sql, "an error with " + pattern, refusal.toString());
            };
            case Action.Query(String sql, List<String> rows, Order order) -> {
                List<String> expected = ordered(rows.stream().map(this::substitute).toList(), order);
                yield switch (execute(step, sql)) {
                    case Outcome.Done _ -> difference(sql, String.join("\n", expected), "no result");
                    case Outcome.Refusal refusal -> difference(sql, String.join("\n", expected), refusal.toString());
                    case Outcome.Rows actual when ordered(actual.lines(), order).equals(expected) -> Optional.empty();
                    case Outcome.Rows actual -> difference(sql, String.join("\n", expected), String.join("\n", ordered(actual.lines(), order)));
                };
            }
            case Action.Let(String variable, String sql) -> switch (execute(step, sql)) {
                case Outcome.Done _ -> difference(sql, "one value", "no result");
                case Outcome.Refusal refusal -> difference(sql, "one value", refusal.toString());
                case Outcome.Rows rows when rows.values().size() == 1 && rows.columns().size() == 1 -> {
                    variables.put(variable, rows.values().getFirst().getFirst());
                    yield Optional.empty();
                }
                case Outcome.Rows rows -> difference(sql, "one value", String.join("\n", rows.lines()));
            };
        };
    }

    private Optional<String> difference(String sql, String expected, String actual)
    {
        return Optional.of("%s\n-- expected\n%s\n-- actual\n%s".formatted(substitute(sql), expected, actual));
    }

    private static List<String> ordered(List<String> rows, Order order)
    {
        return switch (order) {
            case AS_RETURNED -> rows;
            case SORTED -> rows.stream().sorted().toList();
        };
    }

    private Outcome execute(Step step, String text)
            throws SQLException
    {
        String sql = substitute(text);
        Outcome outcome = execute(sql);
        observer.observe(step, sql, outcome);
        return outcome;
    }

    private Outcome execute(String sql)
            throws SQLException
    {
        try (Statement statement = connection.createStatement()) {
            if (!statement.execute(sql)) {
                return new Outcome.Done(statement.getLargeUpdateCount());
            }
            try (ResultSet results = statement.getResultSet()) {
                return read(results);
            }
        }
        catch (SQLException e) {
            Matcher serverError = SERVER_ERROR.matcher(e.getMessage());
            if (!serverError.find()) {
                throw e;
            }
            return new Outcome.Refusal(e.getMessage().substring(serverError.end()), e.getErrorCode());
        }
    }

    private static Outcome.Rows read(ResultSet results)
            throws SQLException
    {
        ResultSetMetaData metadata = results.getMetaData();
        List<String> columns = new ArrayList<>();
        for (int column = 1; column <= metadata.getColumnCount(); column++) {
            columns.add(metadata.getColumnLabel(column));
        }
        List<List<String>> values = new ArrayList<>();
        while (results.next()) {
            List<String> row = new ArrayList<>();
            for (int column = 1; column <= columns.size(); column++) {
                Object value = results.getObject(column);
                row.add(value == null ? "NULL" : value.toString());
            }
            values.add(row);
        }
        return new Outcome.Rows(columns, values);
    }

    private String substitute(String text)
    {
        return VARIABLE.matcher(text).replaceAll(match -> {
            String value = variables.get(match.group(1));
            if (value == null) {
                throw new IllegalStateException("No variable of this name: " + match.group());
            }
            return Matcher.quoteReplacement(value);
        });
    }
}
