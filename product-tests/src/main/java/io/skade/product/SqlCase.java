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

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * One scenario in SQL with what each statement must give: the steps of a case file, in order. The format of the files is a
 * small subset of sqllogictest: blocks separated by blank lines, each a header line and SQL, lines that start with {@code #}
 * are comments.
 *
 * @param name the file's name without its ending
 */
public record SqlCase(String name, List<Step> steps)
{
    private static final String RESULT_MARK = "----";

    public SqlCase
    {
        requireNonNull(name, "name is null");
        steps = List.copyOf(steps);
    }

    /**
     * What a step does and expects.
     */
    public sealed interface Action
    {
        /**
         * {@code statement ok}: the SQL must succeed.
         */
        record Succeed(String sql)
                implements Action {}

        /**
         * {@code statement error}: the server must refuse the SQL with a message in which the pattern is found.
         */
        record Refuse(String sql, String pattern)
                implements Action {}

        /**
         * {@code query} and {@code query rowsort}: the SQL must give these rows.
         */
        record Query(String sql, List<String> rows, Order order)
                implements Action {}

        /**
         * {@code let}: the single value of the SQL goes by this name from here on.
         */
        record Let(String variable, String sql)
                implements Action {}

        /**
         * {@code sleep}: waits, where a case needs two different times.
         */
        record Sleep(long millis)
                implements Action {}
    }

    public enum Order
    {
        AS_RETURNED,
        SORTED,
    }

    /**
     * @param line number of the header line in the file, from one
     * @param comment the comment lines above it, without their mark
     */
    public record Step(int line, List<String> comment, Action action)
    {
        public Step
        {
            comment = List.copyOf(comment);
            requireNonNull(action, "action is null");
        }
    }

    /**
     * @throws IllegalArgumentException if the text is not in the format
     */
    public static SqlCase parse(String name, String text)
    {
        List<Step> steps = new ArrayList<>();
        List<String> comment = new ArrayList<>();
        List<String> block = new ArrayList<>();
        int number = 0;
        int start = 0;
        for (String line : (text + "\n\n").split("\n", -1)) {
            number++;
            if (line.startsWith("#")) {
                comment.add(line.substring(1).strip());
            }
            else if (!line.isEmpty()) {
                if (block.isEmpty()) {
                    start = number;
                }
                block.add(line);
            }
            else if (!block.isEmpty()) {
                steps.add(new Step(start, comment, parseBlock(name, start, block)));
                comment.clear();
                block.clear();
            }
        }
        return new SqlCase(name, steps);
    }

    private static Action parseBlock(String name, int line, List<String> block)
    {
        String header = block.getFirst();
        List<String> body = block.subList(1, block.size());
        int mark = body.indexOf(RESULT_MARK);
        String sql = String.join("\n", mark < 0 ? body : body.subList(0, mark));
        Optional<List<String>> rows = mark < 0 ? Optional.empty() : Optional.of(List.copyOf(body.subList(mark + 1, body.size())));

        if (header.startsWith("sleep ") && body.isEmpty()) {
            return new Action.Sleep(Long.parseLong(header.substring("sleep ".length()).strip()));
        }
        if (!sql.isEmpty() && rows.isPresent()) {
            if (header.equals("query")) {
                return new Action.Query(sql, rows.get(), Order.AS_RETURNED);
            }
            if (header.equals("query rowsort")) {
                return new Action.Query(sql, rows.get(), Order.SORTED);
            }
        }
        if (!sql.isEmpty() && rows.isEmpty()) {
            if (header.equals("statement ok")) {
                return new Action.Succeed(sql);
            }
            if (header.startsWith("statement error ")) {
                String pattern = header.substring("statement error ".length());
                Pattern.compile(pattern);
                return new Action.Refuse(sql, pattern);
            }
            if (header.startsWith("let ")) {
                return new Action.Let(header.substring("let ".length()).strip(), sql);
            }
        }
        throw new IllegalArgumentException("Not a block of a case: %s line %s: %s".formatted(name, line, header));
    }
}
