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

import io.skade.engine.EngineRequests;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static java.util.stream.Collectors.joining;
import static java.util.stream.IntStream.range;

/**
 * Spark for another process to use. Its first argument is the folder of a Hadoop catalog of Iceberg tables, which is the current
 * catalog; those that follow are settings, {@code key=value}. The requests are:
 * <ul>
 * <li>{@code sql STATEMENT}
 * <li>{@code together COUNT STATEMENT;STATEMENT;..}: runs the statements, that many at the same time. The rows are a line for each
 * statement, in their order: {@code ok}, or the message of its failure
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
        EngineRequests requests = new EngineRequests();
        SparkSession.Builder builder = SparkSession.builder()
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
                .config("spark.sql.catalog.default_iceberg.warehouse", args[0]);
        for (String setting : List.of(args).subList(1, args.length)) {
            int equals = setting.indexOf('=');
            builder.config(setting.substring(0, equals), setting.substring(equals + 1));
        }
        SparkSession spark = builder.getOrCreate();

        requests.serve(request -> answer(spark, request));
        spark.stop();
    }

    private static List<? extends List<?>> answer(SparkSession spark, String request)
            throws InterruptedException
    {
        String verb = request.substring(0, request.indexOf(' '));
        String rest = request.substring(verb.length() + 1);
        if (verb.equals("sql")) {
            return rows(spark.sql(rest));
        }
        String first = rest.substring(0, rest.indexOf(' '));
        String last = rest.substring(first.length() + 1);
        if (verb.equals("together")) {
            return together(spark, Integer.parseInt(first), last.split(";"));
        }
        Dataset<Row> table = spark.read().format("iceberg").option(verb, first).load(last);
        return rows(table.orderBy(table.columns()[0]));
    }

    private static List<List<String>> together(SparkSession spark, int count, String[] statements)
            throws InterruptedException
    {
        ExecutorService executor = Executors.newFixedThreadPool(count);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (String statement : statements) {
                running.add(executor.submit(() -> spark.sql(statement)));
            }
            List<List<String>> outcomes = new ArrayList<>();
            for (Future<?> statement : running) {
                outcomes.add(List.of(outcome(statement)));
            }
            return outcomes;
        }
        finally {
            executor.shutdown();
        }
    }

    private static String outcome(Future<?> statement)
            throws InterruptedException
    {
        try {
            statement.get();
            return "ok";
        }
        catch (ExecutionException e) {
            return e.getCause().toString().lines().collect(joining(" "));
        }
    }

    private static List<List<Object>> rows(Dataset<Row> rows)
    {
        return rows.collectAsList().stream()
                .map(row -> range(0, row.length()).mapToObj(row::get).toList())
                .toList();
    }
}
