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

import java.nio.file.Path;
import java.util.List;

/**
 * Tags are created and dropped in turns, each in a commit of its own.
 */
final class BenchmarkRefMoves
        implements Part
{
    private static final int MAX_THREADS = 16;

    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        try (OpenPeers peers = new OpenPeers(folder, MAX_THREADS, TableShape.USUAL)) {
            for (int threads : new int[] {MAX_THREADS, 4}) {
                measure(scale, report, "moves: %s threads, a table each".formatted(threads), peers, threads, peers.tables());
                measure(scale, report, "moves: %s threads, one table".formatted(threads), peers, threads, peers.tables().subList(0, 1));
            }
            // the last, when the compiler is done with the others
            measure(scale, report, "moves: 1 thread", peers, 1, peers.tables().subList(0, 1));
        }
    }

    /**
     * Thread {@code i} moves tags of table {@code i} modulo the number of tables.
     */
    static void measure(Scale scale, Report report, String work, OpenPeers peers, int threads, List<TableIdentifier> tables)
            throws Exception
    {
        report.add(work, "ms", Rounds.run(scale, threads, peers.contenders((name, peer) -> {
            boolean[] created = new boolean[threads];
            return new Contender(name, (thread, _) -> {
                TableIdentifier table = tables.get(thread % tables.size());
                // what a run leaves does not meet the next one
                String tag = "moving_%s_%s_%s".formatted(threads, tables.size(), thread);
                if (created[thread]) {
                    peer.dropTag(table, tag);
                }
                else {
                    peer.createTag(table, tag, TableShape.snapshotId(thread));
                }
                created[thread] = !created[thread];
            });
        })));
    }
}
