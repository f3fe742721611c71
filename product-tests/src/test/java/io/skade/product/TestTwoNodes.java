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

import org.junit.jupiter.api.Test;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A coordinator that leaves the work to a worker in another process.
 */
final class TestTwoNodes
{
    @Test
    void testWorkerNeedsNoStore()
            throws Exception
    {
        try (SkadeServer coordinator = SkadeServer.builder("two-nodes-coordinator").config("node-scheduler.include-coordinator", "false").start();
                SkadeServer worker = SkadeServer.builder("two-nodes-worker").workerOf(coordinator).start()) {
            Sql.runCase(coordinator, Path.of("src/test/resources/two-nodes.slt"));

            assertThat(coordinator.data().resolve("store")).isDirectory();
            assertThat(worker.data().resolve("store")).doesNotExist();
            assertThat(worker.data().resolve("warehouse")).doesNotExist();
        }
    }
}
