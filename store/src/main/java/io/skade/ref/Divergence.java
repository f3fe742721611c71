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
package io.skade.ref;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.util.Objects.requireNonNull;

/**
 * How two branches differ by their histories, which are followed by the ids of parents.
 *
 * @param mergeBase the newest snapshot that both have
 * @param branch what the first branch has since then, without one the whole of its history
 * @param to what the second branch has since then, without one the whole of its history
 */
public record Divergence(Kind kind, Optional<Snapshot> mergeBase, History branch, History to)
{
    public enum Kind
    {
        /**
         * Both are at the same snapshot.
         */
        NONE,
        /**
         * Only the first has snapshots of its own.
         */
        AHEAD,
        /**
         * Only the second has snapshots of its own.
         */
        BEHIND,
        BOTH,
    }

    public Divergence
    {
        requireNonNull(kind, "kind is null");
        requireNonNull(mergeBase, "mergeBase is null");
        requireNonNull(branch, "branch is null");
        requireNonNull(to, "to is null");
    }

    /**
     * @param toId empty for a branch without snapshots
     */
    public static Divergence between(TableMetadata metadata, long branchId, OptionalLong toId)
    {
        History branch = History.until(metadata, OptionalLong.of(branchId), ImmutableSet.of());
        Set<Long> branchIds = branch.ids();
        History to = History.until(metadata, toId, branchIds);
        Optional<Snapshot> mergeBase = to.stoppedAt().isPresent() && branchIds.contains(to.stoppedAt().getAsLong())
                ? Optional.of(metadata.snapshot(to.stoppedAt().getAsLong()))
                : Optional.empty();
        if (mergeBase.isEmpty()) {
            return new Divergence(to.snapshots().isEmpty() ? Kind.AHEAD : Kind.BOTH, mergeBase, branch, to);
        }
        History branchSince = History.until(metadata, OptionalLong.of(branchId), ImmutableSet.of(mergeBase.get().snapshotId()));
        return new Divergence(kind(branchSince, to), mergeBase, branchSince, to);
    }

    private static Kind kind(History branch, History to)
    {
        if (branch.snapshots().isEmpty()) {
            return to.snapshots().isEmpty() ? Kind.NONE : Kind.BEHIND;
        }
        return to.snapshots().isEmpty() ? Kind.AHEAD : Kind.BOTH;
    }

    /**
     * A part of a history.
     *
     * @param snapshots oldest first
     * @param stoppedAt the parent of the oldest one, which is gone or at which the part was to end; empty if there is no parent
     */
    public record History(List<Snapshot> snapshots, OptionalLong stoppedAt)
    {
        public History
        {
            snapshots = ImmutableList.copyOf(snapshots);
            requireNonNull(stoppedAt, "stoppedAt is null");
        }

        private static History until(TableMetadata metadata, OptionalLong snapshotId, Set<Long> ends)
        {
            ImmutableList.Builder<Snapshot> snapshots = ImmutableList.builder();
            OptionalLong next = snapshotId;
            while (next.isPresent() && !ends.contains(next.getAsLong()) && metadata.snapshot(next.getAsLong()) != null) {
                Snapshot snapshot = metadata.snapshot(next.getAsLong());
                snapshots.add(snapshot);
                next = snapshot.parentId() == null ? OptionalLong.empty() : OptionalLong.of(snapshot.parentId());
            }
            return new History(snapshots.build().reverse(), next);
        }

        private Set<Long> ids()
        {
            return snapshots.stream()
                    .map(Snapshot::snapshotId)
                    .collect(toImmutableSet());
        }
    }
}
