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

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

final class TestReport
{
    @TempDir
    private Path folder;

    @Test
    void testTableAndJson()
            throws Exception
    {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        Report report = new Report(new PrintStream(text, true, UTF_8), ImmutableMap.of("scale", "quick"));
        report.add("moves: 1 thread", "ms", ImmutableMap.of("skade", List.of(2.0, 2.0, 4.0), "disk", List.of(1.0, 1.0, 1.0)));
        report.note("nessie", "not measured");
        Path file = folder.resolve("results/run.json");
        report.write(file);

        assertThat(text.toString(UTF_8).lines()).anySatisfy(line ->
                assertThat(line.trim().split(" {2,}")).containsExactly("moves: 1 thread", "disk", "1.00", "0.0000", "1.00", "1.00 ms", "0.500"));
        JsonNode document = new ObjectMapper().readTree(file.toFile());
        assertThat(document.get("scale").textValue()).isEqualTo("quick");
        JsonNode row = document.get("rows").get(0);
        assertThat(row.get("of").textValue()).isEqualTo("skade");
        assertThat(row.get("median").doubleValue()).isEqualTo(2);
        assertThat(row.get("max").doubleValue()).isEqualTo(4);
        assertThat(row.get("ratio").doubleValue()).isEqualTo(1);
        assertThat(row.get("samples")).hasSize(3);
        assertThat(document.get("rows").get(2).get("note").textValue()).isEqualTo("not measured");
    }
}
