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

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Parts with one step a turn.
 */
final class TestParts
{
    private static final Scale ONE_STEP = new Scale(true, Duration.ZERO, Duration.ZERO, 2);

    @TempDir
    private Path folder;

    @Test
    void testDisk()
            throws Exception
    {
        assertThat(run(new BenchmarkDisk())).containsExactly("append 1K, synced", "file 60K, synced", "file 60K", "append 1K, shared", "append 1K, shared");
    }

    @Test
    void testMoves()
            throws Exception
    {
        assertThat(run(new BenchmarkRefMoves()))
                .hasSize(5 * 6)
                .startsWith("skade", "jdbc-sqlite", "nessie", "hadoop", "in-memory", "disk");
    }

    /**
     * Gives the subjects of the rows.
     */
    private List<String> run(Part part)
            throws Exception
    {
        Report report = new Report(new PrintStream(OutputStream.nullOutputStream()), ImmutableMap.of());
        part.run(ONE_STEP, Workspace.create(folder.resolve("data")), report);
        Path file = folder.resolve("results.json");
        report.write(file);
        List<String> subjects = new ArrayList<>();
        for (JsonNode row : new ObjectMapper().readTree(file.toFile()).get("rows")) {
            assertThat(row.get("samples")).hasSize(2);
            subjects.add(row.get("of").textValue());
        }
        return subjects;
    }
}
