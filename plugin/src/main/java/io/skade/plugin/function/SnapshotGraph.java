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

import com.google.common.collect.HashMultiset;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Maps;
import com.google.common.collect.Multiset;
import org.apache.iceberg.Snapshot;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Draws snapshots and their parents line by line, as {@code git log --graph} draws commits: every snapshot is below its children, what has no children
 * stands in the order of time, newest first, and one line of history is not mixed with another.
 *
 * <p>Each history that is still open has a lane of two characters. Where lanes meet in a common parent, lines of edges follow the snapshot, until each
 * lane has reached the place that it has from then on. Lanes only move to the left: one character a line, two to cross another lane, and one lane a line
 * may go all the way along the bottom of those that it crosses.
 */
final class SnapshotGraph
{
    private static final int NONE = -1;

    /**
     * @param snapshot empty for a line that only draws edges
     */
    record Line(String drawing, Optional<Snapshot> snapshot)
    {
        Line
        {
            requireNonNull(drawing, "drawing is null");
            requireNonNull(snapshot, "snapshot is null");
        }
    }

    private final ImmutableList.Builder<Line> lines = ImmutableList.builder();
    // the snapshot that each lane comes to next
    private List<Long> lanes = new ArrayList<>();
    // by character of the last line of edges: the lane to which the edge there leads. Empty if the last line has a snapshot
    private int[] arriving = new int[0];

    private SnapshotGraph() {}

    static List<Line> draw(Collection<Snapshot> snapshots)
    {
        Map<Long, Snapshot> byId = Maps.uniqueIndex(snapshots, Snapshot::snapshotId);
        SnapshotGraph graph = new SnapshotGraph();
        sort(byId).forEach(snapshot -> graph.add(snapshot, parent(byId, snapshot)));
        return graph.lines.build();
    }

    /**
     * The parent, empty if it is none of the snapshots to draw.
     */
    private static Optional<Snapshot> parent(Map<Long, Snapshot> byId, Snapshot snapshot)
    {
        return Optional.ofNullable(snapshot.parentId()).map(byId::get);
    }

    private static List<Snapshot> sort(Map<Long, Snapshot> byId)
    {
        Multiset<Long> children = HashMultiset.create();
        byId.values().forEach(snapshot -> parent(byId, snapshot).ifPresent(parent -> children.add(parent.snapshotId())));
        // the last one is drawn next
        Deque<Snapshot> ready = new ArrayDeque<>();
        byId.values().stream()
                .filter(snapshot -> !children.contains(snapshot.snapshotId()))
                .sorted(Comparator.comparingLong(Snapshot::timestampMillis).thenComparingLong(Snapshot::sequenceNumber).thenComparingLong(Snapshot::snapshotId))
                .forEach(ready::push);
        List<Snapshot> sorted = new ArrayList<>();
        while (!ready.isEmpty()) {
            Snapshot snapshot = ready.pop();
            sorted.add(snapshot);
            parent(byId, snapshot).ifPresent(parent -> {
                children.remove(parent.snapshotId());
                if (!children.contains(parent.snapshotId())) {
                    ready.push(parent);
                }
            });
        }
        return sorted;
    }

    private void add(Snapshot snapshot, Optional<Snapshot> parent)
    {
        if (!lanes.contains(snapshot.snapshotId())) {
            lanes.add(snapshot.snapshotId());
        }
        List<Long> nextLanes = new ArrayList<>();
        int[] edges = new int[2 * lanes.size()];
        Arrays.fill(edges, NONE);
        for (int lane = 0; lane < lanes.size(); lane++) {
            boolean here = lanes.get(lane) == snapshot.snapshotId();
            if (here && parent.isEmpty()) {
                continue;
            }
            long next = here ? parent.get().snapshotId() : lanes.get(lane);
            if (!nextLanes.contains(next)) {
                nextLanes.add(next);
            }
            edges[2 * lane] = nextLanes.indexOf(next);
        }
        drawSnapshot(snapshot, edges);
        lanes = nextLanes;
        arriving = new int[0];
        while (!isSettled(edges)) {
            edges = drawEdges(edges);
        }
    }

    private void drawSnapshot(Snapshot snapshot, int[] edges)
    {
        StringBuilder drawing = new StringBuilder();
        for (int lane = 0; lane < lanes.size(); lane++) {
            if (lanes.get(lane) == snapshot.snapshotId()) {
                drawing.append('*');
            }
            else {
                // an edge that came from the right and goes on to the left passes straight
                boolean passes = 2 * lane + 1 < arriving.length && arriving[2 * lane + 1] == lane && edges[2 * lane] < lane;
                drawing.append(passes ? '/' : '|');
            }
            drawing.append(' ');
        }
        lines.add(new Line(drawing.toString().stripTrailing(), Optional.of(snapshot)));
    }

    /**
     * Whether each edge is in its lane, or right beside it: the next line then draws it there.
     */
    private static boolean isSettled(int[] edges)
    {
        for (int i = 0; i < edges.length; i++) {
            if (edges[i] != NONE && edges[i] != i / 2) {
                return false;
            }
        }
        return true;
    }

    /**
     * Moves each edge one step towards its lane and draws the line.
     *
     * @param edges by character: the lane to which the edge there leads
     * @return the edges after the step
     */
    private int[] drawEdges(int[] edges)
    {
        int[] moved = new int[edges.length];
        Arrays.fill(moved, NONE);
        // where the one edge that goes along the bottom comes from, and its lane
        int bottomEnd = NONE;
        int bottomLane = NONE;
        for (int i = 0; i < edges.length; i++) {
            int lane = edges[i];
            if (lane == NONE) {
                continue;
            }
            if (2 * lane == i) {
                moved[i] = lane;
                continue;
            }
            if (moved[i - 1] == lane) {
                // joins the edge on its left
                continue;
            }
            int to = moved[i - 1] == NONE ? i - 1 : i - 2;
            moved[to] = lane;
            if (bottomEnd == NONE) {
                bottomEnd = to;
                bottomLane = lane;
                for (int between = 2 * lane + 3; between < i - 2; between += 2) {
                    moved[between] = lane;
                }
            }
        }
        arriving = moved.clone();

        StringBuilder drawing = new StringBuilder();
        boolean alongBottom = false;
        for (int i = 0; i < moved.length; i++) {
            int lane = moved[i];
            if (lane == NONE) {
                drawing.append(' ');
            }
            else if (2 * lane == i) {
                drawing.append('|');
            }
            else if (lane == bottomLane && i != bottomEnd) {
                drawing.append('_');
                alongBottom = true;
                // it goes on from its left end
                if (i != 2 * lane + 3) {
                    moved[i] = NONE;
                }
            }
            else {
                drawing.append('/');
                if (alongBottom && i <= bottomEnd) {
                    moved[i] = NONE;
                }
            }
        }
        lines.add(new Line(drawing.toString().stripTrailing(), Optional.empty()));
        return moved;
    }
}
