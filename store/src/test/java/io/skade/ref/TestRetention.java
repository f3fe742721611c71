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

import org.apache.iceberg.SnapshotRef;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.Optional;

import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestRetention
{
    private static final SnapshotRef BRANCH = SnapshotRef.branchBuilder(1).maxRefAgeMs(1L).minSnapshotsToKeep(2).maxSnapshotAgeMs(3L).build();
    private static final SnapshotRef TAG = SnapshotRef.tagBuilder(1).maxRefAgeMs(1L).build();

    @Test
    void testApplyToBranch()
    {
        assertThat(retention(4L, 5, 6L).applyTo(BRANCH)).isEqualTo(SnapshotRef.branchBuilder(1).maxRefAgeMs(4L).minSnapshotsToKeep(5).maxSnapshotAgeMs(6L).build());
        assertThat(retention(null, 5, null).applyTo(BRANCH)).isEqualTo(SnapshotRef.branchBuilder(1).minSnapshotsToKeep(5).build());
        assertThat(Retention.DEFAULT.applyTo(BRANCH)).isEqualTo(SnapshotRef.branchBuilder(1).build());
    }

    @Test
    void testApplyToTag()
    {
        assertThat(retention(4L, null, null).applyTo(TAG)).isEqualTo(SnapshotRef.tagBuilder(1).maxRefAgeMs(4L).build());
        assertThat(Retention.DEFAULT.applyTo(TAG)).isEqualTo(SnapshotRef.tagBuilder(1).build());
        for (Retention retention : new Retention[] {retention(null, 1, null), retention(null, null, 1L), retention(4L, 1, 1L)}) {
            assertRefused(() -> retention.applyTo(TAG), "A tag has a max_ref_age only: min_snapshots_to_keep and max_snapshot_age are for branches");
        }
    }

    @Test
    void testOrElse()
    {
        assertThat(Retention.DEFAULT.orElse(BRANCH)).isEqualTo(retention(1L, 2, 3L));
        assertThat(retention(4L, null, null).orElse(BRANCH)).isEqualTo(retention(4L, 2, 3L));
        assertThat(retention(null, 5, 6L).orElse(BRANCH)).isEqualTo(retention(1L, 5, 6L));
        assertThat(Retention.DEFAULT.orElse(TAG)).isEqualTo(retention(1L, null, null));
        assertThat(Retention.DEFAULT.orElse(SnapshotRef.branchBuilder(1).build())).isEqualTo(Retention.DEFAULT);
    }

    @Test
    void testInvalidAges()
    {
        assertRefused(() -> age(Duration.ZERO), "max_ref_age must be longer than 0: PT0S");
        assertRefused(() -> age(Duration.ofMillis(-1)), "max_ref_age must be longer than 0: PT-0.001S");
        // Iceberg counts in milliseconds
        assertRefused(() -> age(Duration.ofNanos(999_999)), "max_ref_age must be longer than 0: PT0.000999999S");
        assertRefused(() -> age(Duration.ofSeconds(Long.MAX_VALUE)), "max_ref_age is too long: PT2562047788015215H30M7S");
        assertRefused(() -> age(Duration.ofSeconds(Long.MIN_VALUE)), "max_ref_age must be longer than 0: PT-2562047788015215H-30M-8S");
        assertRefused(() -> retention(null, null, 0L), "max_snapshot_age must be longer than 0: PT0S");
        assertThat(age(Duration.ofMillis(Long.MAX_VALUE)).applyTo(TAG).maxRefAgeMs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void testInvalidCounts()
    {
        assertRefused(() -> retention(null, 0, null), "min_snapshots_to_keep must be at least 1: 0");
        assertRefused(() -> retention(null, -5, null), "min_snapshots_to_keep must be at least 1: -5");
        assertThat(retention(null, 1, null).minSnapshotsToKeep()).contains(1);
    }

    private static Retention age(Duration maxRefAge)
    {
        return new Retention(Optional.of(maxRefAge), Optional.empty(), Optional.empty());
    }

    private static Retention retention(Long maxRefAgeMs, Integer minSnapshotsToKeep, Long maxSnapshotAgeMs)
    {
        return new Retention(
                Optional.ofNullable(maxRefAgeMs).map(Duration::ofMillis),
                Optional.ofNullable(minSnapshotsToKeep),
                Optional.ofNullable(maxSnapshotAgeMs).map(Duration::ofMillis));
    }

    private static void assertRefused(Runnable runnable, String message)
    {
        assertThatThrownBy(runnable::run)
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(INVALID_VALUE))
                .hasMessage(message);
    }
}
