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
package io.skade.benchmark;

import org.apache.iceberg.catalog.TableIdentifier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Refs of a table as they are by now: one by its name, and all in the order of their names.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RefLookupBenchmark
{
    static final String FOLDER = "skade.benchmark.folder";

    private static final TableShape SHAPE = TableShape.USUAL;
    private static final TableIdentifier TABLE = TableIdentifier.of(Peers.NAMESPACE, "t");

    @Param(Peers.SKADE)
    public String catalog;

    private final String[] names = new String[SHAPE.refs()];
    private Path folder;
    private Peer peer;

    @Setup(Level.Trial)
    public void setUp()
            throws IOException
    {
        for (int number = 0; number < names.length; number++) {
            names[number] = SHAPE.ref(number);
        }
        folder = Path.of(System.getProperty(FOLDER), UUID.randomUUID().toString());
        Files.createDirectories(folder);
        peer = Peers.open(catalog, folder);
        peer.createTables(List.of(TABLE), SHAPE);
    }

    @TearDown(Level.Trial)
    public void tearDown()
            throws IOException
    {
        peer.close();
        Workspace.delete(folder);
    }

    @Benchmark
    public long resolve(Cursor cursor)
    {
        return peer.snapshotId(TABLE, names[cursor.next(names.length)]);
    }

    @Benchmark
    public void list(Blackhole blackhole)
    {
        for (Map.Entry<String, ?> ref : peer.refs(TABLE).entrySet()) {
            blackhole.consume(ref.getKey());
            blackhole.consume(ref.getValue());
        }
    }

    /**
     * Goes through the names.
     */
    @State(Scope.Thread)
    public static class Cursor
    {
        private int position;

        int next(int limit)
        {
            position = (position + 1) % limit;
            return position;
        }
    }
}
