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
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The disk alone.
 */
final class BenchmarkDisk
        implements Part
{
    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        AtomicLong files = new AtomicLong();
        try (RawDisk disk = new RawDisk(folder)) {
            report.add("disk: write", "ms", Rounds.run(scale, 1, List.of(
                    new Contender("append 1K, synced", (_, _) -> disk.append()),
                    new Contender("file 60K, synced", (_, _) -> disk.writeSyncedFile("synced-" + files.incrementAndGet())),
                    new Contender("file 60K", (_, _) -> disk.writeFile("unsynced-" + files.incrementAndGet())))));
            for (int threads : new int[] {4, 16}) {
                report.add("disk: write, %s threads".formatted(threads), "ms", Rounds.run(scale, threads, List.of(
                        new Contender("append 1K, shared", (_, _) -> disk.append()))));
            }
        }
    }
}
