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

import io.skade.product.SqlCase.Step;
import io.skade.product.SqlCaseRunner.Outcome;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

/**
 * Runs a case for a person to read: the comments tell the story, each statement is printed with what it gave. Arguments: the
 * JDBC URL with the catalog, and the case file. The exit status is 0 only if every statement gave what the file says.
 */
public final class Demo
{
    private final PrintStream out;

    private Demo(PrintStream out)
    {
        this.out = out;
    }

    public static void main(String[] args)
            throws IOException, SQLException, InterruptedException
    {
        PrintStream out = new PrintStream(System.out, true, UTF_8);
        Path file = Path.of(args[1]);
        SqlCase story = SqlCase.parse(file.getFileName().toString().replace(".slt", ""), Files.readString(file));
        try (Connection connection = DriverManager.getConnection(args[0])) {
            new SqlCaseRunner(connection, new Demo(out)::print).run(story);
        }
        catch (AssertionError e) {
            out.println("\nThis is not what it should be: " + e.getMessage());
            System.exit(1);
        }
        out.println("\nAll %s statements gave what they should.".formatted(story.steps().size()));
    }

    private void print(Step step, String sql, Outcome outcome)
    {
        if (!step.comment().isEmpty()) {
            out.println();
        }
        step.comment().forEach(line -> out.println("-- " + line));
        out.println("\nskade> " + sql.replace("\n", "\n     > ") + ";");
        switch (outcome) {
            case Outcome.Done(long changedRows) -> out.println(changedRows > 0 ? changedRows + " rows" : "done");
            case Outcome.Rows rows -> print(rows);
            case Outcome.Refusal refusal -> out.println("refused: " + refusal.message());
        }
    }

    private void print(Outcome.Rows rows)
    {
        List<List<String>> lines = new ArrayList<>();
        lines.add(rows.columns());
        lines.addAll(rows.values());
        List<Integer> widths = IntStream.range(0, rows.columns().size())
                .mapToObj(column -> lines.stream().mapToInt(line -> line.get(column).length()).max().orElseThrow())
                .toList();
        lines.add(1, widths.stream().map("-"::repeat).toList());
        for (List<String> line : lines) {
            out.println(IntStream.range(0, widths.size())
                    .mapToObj(column -> line.get(column) + " ".repeat(widths.get(column) - line.get(column).length()))
                    .collect(joining("  "))
                    .stripTrailing());
        }
    }
}
