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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Spark with Iceberg's runtime: {@code io.skade.spark.SparkRequests} of the module {@code product-tests/spark}.
 */
final class SparkProcess
        implements AutoCloseable
{
    // Spark's own list of what it needs of a Java newer than 8
    private static final List<String> OPENED = List.of(
            "java.base/java.io",
            "java.base/java.lang",
            "java.base/java.lang.invoke",
            "java.base/java.lang.reflect",
            "java.base/java.net",
            "java.base/java.nio",
            "java.base/java.util",
            "java.base/java.util.concurrent",
            "java.base/java.util.concurrent.atomic",
            "java.base/sun.nio.ch",
            "java.base/sun.nio.cs",
            "java.base/sun.security.action",
            "java.base/sun.util.calendar");

    private final EngineProcess process;

    private SparkProcess(EngineProcess process)
    {
        this.process = process;
    }

    /**
     * @param warehouse folder of the Hadoop catalog that is Spark's current one
     */
    static SparkProcess start(Path java, Path warehouse, Path log)
            throws IOException
    {
        return start(java, warehouse, log, Map.of());
    }

    /**
     * Starts a Spark that also has a catalog {@code lake}: the tables that a server serves over REST.
     *
     * @param token of the user that Spark is for the server
     */
    static SparkProcess start(Path java, Path warehouse, Path log, SkadeServer server, String token)
            throws IOException
    {
        return start(java, warehouse, log, Map.of(
                "spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog",
                "spark.sql.catalog.lake.type", "rest",
                "spark.sql.catalog.lake.uri", server.restUri().toString(),
                "spark.sql.catalog.lake.token", token,
                // it is to see what others do at once
                "spark.sql.catalog.lake.cache-enabled", "false"));
    }

    private static SparkProcess start(Path java, Path warehouse, Path log, Map<String, String> settings)
            throws IOException
    {
        List<String> arguments = new ArrayList<>(List.of(warehouse.toUri().toString()));
        settings.forEach((key, value) -> arguments.add(key + "=" + value));
        return new SparkProcess(EngineProcess.start(
                java,
                "spark",
                "io.skade.spark.SparkRequests",
                OPENED.stream().map(opened -> "--add-opens=" + opened + "=ALL-UNNAMED").toList(),
                arguments,
                log));
    }

    /**
     * Gives the rows of a statement of Spark SQL.
     */
    List<String> sql(String statement)
            throws IOException
    {
        return process.ask("sql " + statement);
    }

    /**
     * Runs statements of Spark SQL, {@code count} at the same time.
     *
     * @return a line for each, in their order: {@code ok}, or the message of its failure
     */
    List<String> together(int count, List<String> statements)
            throws IOException
    {
        return process.ask("together %s %s".formatted(count, String.join(";", statements)));
    }

    /**
     * Gives the rows of a table at a branch, in the order of its first column, read from its metadata file alone.
     */
    List<String> readBranch(String branch, String metadataLocation)
            throws IOException
    {
        return process.ask("branch %s %s".formatted(branch, metadataLocation));
    }

    List<String> readTag(String tag, String metadataLocation)
            throws IOException
    {
        return process.ask("tag %s %s".formatted(tag, metadataLocation));
    }

    @Override
    public void close()
            throws IOException, InterruptedException
    {
        process.close();
    }
}
