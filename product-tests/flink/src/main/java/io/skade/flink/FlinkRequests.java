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
package io.skade.flink;

import io.skade.engine.EngineRequests;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static java.util.stream.IntStream.range;

/**
 * Flink for another process to use: each request is a statement of Flink SQL, which runs as a batch job in this process.
 */
public final class FlinkRequests
{
    private FlinkRequests() {}

    public static void main(String[] args)
            throws IOException
    {
        EngineRequests requests = new EngineRequests();
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.newInstance()
                .inBatchMode()
                .withConfiguration(Configuration.fromMap(Map.of(
                        "parallelism.default", "1",
                        "jobmanager.bind-host", "127.0.0.1",
                        "taskmanager.bind-host", "127.0.0.1",
                        "rest.bind-address", "127.0.0.1")))
                .build());
        requests.serve(statement -> {
            List<List<Object>> rows = new ArrayList<>();
            // ends by itself; to close it would be to cancel a job that has ended
            CloseableIterator<Row> results = tables.executeSql(statement).collect();
            results.forEachRemaining(row -> rows.add(range(0, row.getArity()).mapToObj(row::getField).toList()));
            return rows;
        });
    }
}
