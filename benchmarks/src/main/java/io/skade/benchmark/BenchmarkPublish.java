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
 * A branch is moved forward, in many tables at once or in one after the other. Where it is a ref of the whole catalog and all tables are to move, that
 * ref alone is moved too.
 */
final class BenchmarkPublish
        implements Part
{
    private static final String BRANCH = "published";
    private static final int[] SIZES = {1, 10, 100};

    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        try (OpenPeers peers = new OpenPeers(folder, SIZES[SIZES.length - 1], TableShape.USUAL)) {
            for (int size : SIZES) {
                List<TableIdentifier> tables = peers.tables().subList(0, size);
                List<Contender> contenders = peers.contenders((name, peer) -> publish(name, peer, tables));
                if (size > 1) {
                    Peer skade = peers.peer(Peers.SKADE);
                    contenders.add(1, publish("skade, one by one", tables, skade, (_, number) -> {
                        for (TableIdentifier table : tables) {
                            skade.fastForward(List.of(table), BRANCH, target(number));
                        }
                    }));
                }
                if (size == peers.tables().size()) {
                    NessiePeer nessie = (NessiePeer) peers.peer(Peers.NESSIE);
                    contenders.add(publish("nessie, all by one ref", tables, nessie, (_, number) -> nessie.assign(BRANCH, target(number))));
                }
                report.add("publish: %s tables".formatted(size), "ms", Rounds.run(scale, 1, contenders));
            }
        }
    }

    private static Contender publish(String name, Peer peer, List<TableIdentifier> tables)
    {
        return publish(name, tables, peer, (_, number) -> peer.fastForward(tables, BRANCH, target(number)));
    }

    private static Contender publish(String name, List<TableIdentifier> tables, Peer peer, Contender.Step step)
    {
        return new Contender(
                name,
                () -> peer.setBranch(tables, BRANCH, TableShape.snapshotId(0)),
                step,
                // then the branch has arrived
                TableShape.USUAL.snapshots() - 1);
    }

    private static String target(int number)
    {
        return TableShape.USUAL.ref(number + 1);
    }
}
