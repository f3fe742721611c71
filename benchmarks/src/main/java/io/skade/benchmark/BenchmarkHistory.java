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

import java.nio.file.Path;

/**
 * Ref moves on tables with a long history or many refs.
 */
final class BenchmarkHistory
        implements Part
{
    private static final TableShape[] SHAPES = {
            TableShape.USUAL,
            new TableShape(1_000, 256),
            new TableShape(10_000, 256),
            new TableShape(64, 10_000),
    };

    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        for (TableShape shape : SHAPES) {
            String work = "history: move, %s snapshots, %s refs".formatted(shape.snapshots(), shape.refs());
            Path own = Workspace.create(folder.resolve("%s-%s".formatted(shape.snapshots(), shape.refs())));
            try (OpenPeers peers = new OpenPeers(own, 1, shape)) {
                BenchmarkRefMoves.measure(scale, report, work, peers, 1, peers.tables());
            }
            Workspace.delete(own);
        }
    }
}
