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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.infra.Blackhole;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

final class TestRefLookupBenchmark
{
    @TempDir
    private Path folder;

    @Test
    void testSameAsFloor()
            throws Exception
    {
        Blackhole blackhole = new Blackhole("Today's password is swordfish. I understand instantiating Blackholes directly is dangerous.");
        System.setProperty(RefLookupBenchmark.FOLDER, folder.toString());
        MapLookupBenchmark floor = new MapLookupBenchmark();
        floor.setUp();
        floor.list(blackhole);
        RefLookupBenchmark benchmark = new RefLookupBenchmark();
        benchmark.catalog = Peers.SKADE;
        benchmark.setUp();
        try {
            RefLookupBenchmark.Cursor cursor = new RefLookupBenchmark.Cursor();
            RefLookupBenchmark.Cursor floorCursor = new RefLookupBenchmark.Cursor();
            for (int lookup = 0; lookup < TableShape.USUAL.refs(); lookup++) {
                assertThat(benchmark.resolve(cursor)).isEqualTo(floor.resolve(floorCursor));
            }
            benchmark.list(blackhole);
        }
        finally {
            benchmark.tearDown();
        }
        assertThat(folder).isEmptyDirectory();
    }
}
