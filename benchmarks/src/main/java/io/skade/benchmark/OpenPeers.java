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

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.skade.benchmark.Peers.NAMESPACE;

/**
 * All catalogs with the same tables, and the disk that they share.
 */
final class OpenPeers
        implements AutoCloseable
{
    private final Map<String, Peer> peers = new LinkedHashMap<>();
    private final RawDisk disk;
    private final List<TableIdentifier> tables;

    OpenPeers(Path folder, int tables, TableShape shape)
            throws IOException
    {
        this.tables = IntStream.range(0, tables)
                .mapToObj(number -> TableIdentifier.of(NAMESPACE, "t" + number))
                .collect(toImmutableList());
        this.disk = new RawDisk(folder);
        for (String name : Peers.names()) {
            Peer peer = Peers.open(name, folder);
            peers.put(name, peer);
            peer.createTables(this.tables, shape);
        }
    }

    Peer peer(String name)
    {
        return peers.get(name);
    }

    List<TableIdentifier> tables()
    {
        return tables;
    }

    /**
     * Each catalog, ours first, then the disk with an append of 1 KiB a step.
     */
    List<Contender> contenders(BiFunction<String, Peer, Contender> contender)
    {
        List<Contender> contenders = new ArrayList<>();
        peers.forEach((name, peer) -> contenders.add(contender.apply(name, peer).withMaxSteps(Peers.maxSteps(name))));
        contenders.add(new Contender(RawDisk.NAME, (_, _) -> disk.append()));
        return contenders;
    }

    @Override
    public void close()
            throws IOException
    {
        for (Peer peer : peers.values()) {
            peer.close();
        }
        disk.close();
    }
}
