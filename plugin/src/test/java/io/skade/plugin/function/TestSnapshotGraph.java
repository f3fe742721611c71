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
package io.skade.plugin.function;

import com.google.common.base.Splitter;
import com.google.common.io.Resources;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static com.google.common.base.Preconditions.checkState;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The drawings of git 2.39.5: {@code git log --graph --all --format=%s}, without blanks at the ends of lines.
 */
class TestSnapshotGraph
{
    /**
     * The first line of a drawing has its commits in the order of time, oldest first, each with its parent.
     */
    static Stream<String> drawings()
            throws IOException
    {
        List<String> drawings = Splitter.on("\n\n").splitToList(Resources.toString(Resources.getResource(TestSnapshotGraph.class, "graphs.txt"), UTF_8).strip());
        checkState(drawings.size() > 20, "Too few drawings");
        return drawings.stream();
    }

    @ParameterizedTest
    @MethodSource("drawings")
    void drawsAsGitDoes(String drawing)
    {
        int end = drawing.indexOf('\n');
        List<Snapshot> snapshots = new ArrayList<>();
        for (String commit : Splitter.on(' ').split(drawing.substring(0, end))) {
            snapshots.add(snapshot(commit.charAt(0), commit.substring(2), snapshots.size()));
        }
        assertThat(SnapshotGraph.draw(snapshots).stream()
                .map(line -> line.drawing() + line.snapshot().map(snapshot -> " " + (char) snapshot.snapshotId()).orElse(""))
                .collect(joining("\n")))
                .isEqualTo(drawing.substring(end + 1).strip());
    }

    private static Snapshot snapshot(char id, String parent, int time)
    {
        return SnapshotParser.fromJson(
                """
                {"snapshot-id": %s, %s "timestamp-ms": %s, "manifest-list": "none", "summary": {"operation": "append"}}
                """.formatted((int) id, parent.isEmpty() ? "" : "\"parent-snapshot-id\": %s,".formatted((int) parent.charAt(0)), time));
    }
}
