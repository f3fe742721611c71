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
package io.skade.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static java.util.stream.IntStream.range;

/**
 * Spark for another process to use. Its argument is the folder of a Hadoop catalog of Iceberg tables, which is the current
 * catalog. Each line of the standard input is one request; the answer is its rows, a line each with the values joined by
 * {@code " | "}, and a line with a mark: {@code .} for success, {@code !} and the message for a failure.
 * <ul>
 * <li>{@code sql STATEMENT}
 * <li>{@code branch NAME LOCATION} or {@code tag NAME LOCATION}: the rows at a ref of the table whose metadata file has this
 * location, in the order of the first column
 * </ul>
 */
public final class SparkRequests
{
    private SparkRequests() {}

    public static void main(String[] args)
            throws IOException
    {
        // Spark's own output must not get between the answers
        PrintStream answers = System.out;
        System.setOut(System.err);

        SparkSession spark = SparkSession.builder()
                .master("local[1]")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.sql.shuffle.partitions", "1")
                .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
                .config("spark.sql.catalog.hadoop", "org.apache.iceberg.spark.SparkCatalog")
                .config("spark.sql.catalog.hadoop.type", "hadoop")
                .config("spark.sql.catalog.hadoop.warehouse", args[0])
                .config("spark.sql.defaultCatalog", "hadoop")
                // loads tables by location; without a type it wants a Hive metastore
                .config("spark.sql.catalog.default_iceberg", "org.apache.iceberg.spark.SparkCatalog")
                .config("spark.sql.catalog.default_iceberg.type", "hadoop")
                .config("spark.sql.catalog.default_iceberg.warehouse", args[0])
                .getOrCreate();

        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String request = requests.readLine(); request != null; request = requests.readLine()) {
            try {
                answer(spark, request).forEach(answers::println);
                answers.println(".");
            }
            catch (Exception e) {
                answers.println("! " + e.toString().lines().collect(joining(" ")));
            }
            answers.flush();
        }
        spark.stop();
    }

    private static List<String> answer(SparkSession spark, String request)
    {
        String verb = request.substring(0, request.indexOf(' '));
        String rest = request.substring(verb.length() + 1);
        if (verb.equals("sql")) {
            return lines(spark.sql(rest));
        }
        String ref = rest.substring(0, rest.indexOf(' '));
        Dataset<Row> table = spark.read().format("iceberg").option(verb, ref).load(rest.substring(ref.length() + 1));
        return lines(table.orderBy(table.columns()[0]));
    }

    private static List<String> lines(Dataset<Row> rows)
    {
        return rows.collectAsList().stream()
                .map(row -> range(0, row.length()).mapToObj(column -> String.valueOf(row.get(column))).collect(joining(" | ")))
                .toList();
    }
}
