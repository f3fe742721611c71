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

import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;
import static org.apache.iceberg.TableProperties.MAX_REF_AGE_MS;
import static org.apache.iceberg.TableProperties.MAX_REF_AGE_MS_DEFAULT;

/**
 * How long a ref and the snapshots behind it are kept. What is empty is left to the table's default.
 */
public record Retention(Optional<Duration> maxRefAge, Optional<Integer> minSnapshotsToKeep, Optional<Duration> maxSnapshotAge)
{
    // what a long of milliseconds, as the metadata has it, can hold
    private static final Duration MAX_AGE = Duration.ofMillis(Long.MAX_VALUE);

    public static final Retention DEFAULT = new Retention(Optional.empty(), Optional.empty(), Optional.empty());

    public Retention
    {
        requireNonNull(maxRefAge, "maxRefAge is null");
        requireNonNull(minSnapshotsToKeep, "minSnapshotsToKeep is null");
        requireNonNull(maxSnapshotAge, "maxSnapshotAge is null");
        maxRefAge.ifPresent(age -> checkAge("max_ref_age", age));
        maxSnapshotAge.ifPresent(age -> checkAge("max_snapshot_age", age));
        minSnapshotsToKeep.ifPresent(count -> {
            if (count < 1) {
                throw new RefRefusedException(INVALID_VALUE, "min_snapshots_to_keep must be at least 1: %s", count);
            }
        });
    }

    /**
     * The time, in milliseconds of the epoch, after which a ref is older than its {@code max_ref_age}, or than the table's where it has none; empty if
     * that never comes, as for {@code main}. The age of a ref is that of its snapshot, as Iceberg counts.
     */
    public static OptionalLong expiresAt(TableMetadata metadata, String name)
    {
        SnapshotRef ref = metadata.ref(name);
        Snapshot snapshot = metadata.snapshot(ref.snapshotId());
        long maxAge = ref.maxRefAgeMs() == null ? metadata.propertyAsLong(MAX_REF_AGE_MS, MAX_REF_AGE_MS_DEFAULT) : ref.maxRefAgeMs();
        if (name.equals(MAIN_BRANCH) || snapshot == null || maxAge > Long.MAX_VALUE - snapshot.timestampMillis()) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(snapshot.timestampMillis() + maxAge);
    }

    private static void checkAge(String name, Duration age)
    {
        if (age.compareTo(Duration.ofMillis(1)) < 0) {
            throw new RefRefusedException(INVALID_VALUE, "%s must be longer than 0: %s", name, age);
        }
        if (age.compareTo(MAX_AGE) > 0) {
            throw new RefRefusedException(INVALID_VALUE, "%s is too long: %s", name, age);
        }
    }

    /**
     * A ref of the same type and snapshot with this retention in place of its own.
     *
     * @throws RefRefusedException if the ref is a tag and more than {@code maxRefAge} is given
     */
    SnapshotRef applyTo(SnapshotRef ref)
    {
        if (ref.isTag() && (minSnapshotsToKeep.isPresent() || maxSnapshotAge.isPresent())) {
            throw new RefRefusedException(INVALID_VALUE, "A tag has a max_ref_age only: min_snapshots_to_keep and max_snapshot_age are for branches");
        }
        return SnapshotRef.builderFor(ref.snapshotId(), ref.type())
                .maxRefAgeMs(maxRefAge.map(Duration::toMillis).orElse(null))
                .minSnapshotsToKeep(minSnapshotsToKeep.orElse(null))
                .maxSnapshotAgeMs(maxSnapshotAge.map(Duration::toMillis).orElse(null))
                .build();
    }

    /**
     * This retention, with what it leaves empty taken from a ref.
     */
    Retention orElse(SnapshotRef ref)
    {
        return new Retention(
                maxRefAge.or(() -> Optional.ofNullable(ref.maxRefAgeMs()).map(Duration::ofMillis)),
                minSnapshotsToKeep.or(() -> Optional.ofNullable(ref.minSnapshotsToKeep())),
                maxSnapshotAge.or(() -> Optional.ofNullable(ref.maxSnapshotAgeMs()).map(Duration::ofMillis)));
    }
}
