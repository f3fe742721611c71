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

import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.catalog.TableIdentifier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * The floor of {@link RefLookupBenchmark}: maps of the JDK that nobody changes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MapLookupBenchmark
{
    private static final TableShape SHAPE = TableShape.USUAL;
    private static final TableIdentifier TABLE = TableIdentifier.of(Peers.NAMESPACE, "t");

    private final String[] names = new String[SHAPE.refs()];
    private final Map<TableIdentifier, Map<String, SnapshotRef>> hashed = new HashMap<>();
    private final Map<TableIdentifier, Map<String, SnapshotRef>> sorted = new HashMap<>();

    @Setup
    public void setUp()
    {
        for (int number = 0; number < names.length; number++) {
            names[number] = SHAPE.ref(number);
        }
        Map<String, SnapshotRef> refs = SHAPE.at("/t").refs();
        hashed.put(TABLE, new HashMap<>(refs));
        sorted.put(TABLE, new TreeMap<>(refs));
    }

    @Benchmark
    public long resolve(RefLookupBenchmark.Cursor cursor)
    {
        return hashed.get(TABLE).get(names[cursor.next(names.length)]).snapshotId();
    }

    @Benchmark
    public void list(Blackhole blackhole)
    {
        for (Map.Entry<String, SnapshotRef> ref : sorted.get(TABLE).entrySet()) {
            blackhole.consume(ref.getKey());
            blackhole.consume(ref.getValue());
        }
    }
}
