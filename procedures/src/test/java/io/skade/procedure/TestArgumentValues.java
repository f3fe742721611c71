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
package io.skade.procedure;

import io.skade.ref.RefRefusedException;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.RefUpdates.IfMissing;
import io.skade.ref.Retention;
import io.skade.ref.SnapshotSelector;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestArgumentValues
{
    @Test
    void testString()
    {
        ArgumentValues values = values("branch", "audit", "tag", null, "ref", "", "to", " ");
        assertThat(values.string("branch")).isEqualTo("audit");
        assertThat(values.string("to")).isEqualTo(" ");
        assertInvalid(() -> values.string("tag"), "tag cannot be null or empty");
        assertInvalid(() -> values.string("ref"), "ref cannot be null or empty");

        assertThat(values.findString("branch")).hasValue("audit");
        assertThat(values.findString("tag")).isEmpty();
        assertInvalid(() -> values.findString("ref"), "ref cannot be null or empty");
    }

    @Test
    void testBigint()
    {
        ArgumentValues values = values("snapshot_id", 8954597067493422955L, "expected_snapshot_id", null);
        assertThat(values.bigint("snapshot_id")).isEqualTo(8954597067493422955L);
        assertThat(values.findBigint("snapshot_id")).hasValue(8954597067493422955L);
        assertThat(values.findBigint("expected_snapshot_id")).isEmpty();
        assertInvalid(() -> values.bigint("expected_snapshot_id"), "expected_snapshot_id cannot be null");
    }

    @Test
    void testFlag()
    {
        ArgumentValues values = values("drop_branch", true, "if_exists", false, "or_replace", null);
        assertThat(values.flag("drop_branch")).isTrue();
        assertThat(values.flag("if_exists")).isFalse();
        assertInvalid(() -> values.flag("or_replace"), "or_replace cannot be null");
    }

    @Test
    void testUnknownArgument()
    {
        assertThatThrownBy(() -> values("branch", "audit").findString("brunch"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("No such argument: brunch");
    }

    @Test
    void testRetention()
    {
        assertThat(values("max_ref_age", "7d", "min_snapshots_to_keep", 3L, "max_snapshot_age", "12h").retention())
                .isEqualTo(new Retention(Optional.of(Duration.ofDays(7)), Optional.of(3), Optional.of(Duration.ofHours(12))));
        assertThat(values("max_ref_age", null, "min_snapshots_to_keep", null, "max_snapshot_age", null).retention())
                .isEqualTo(Retention.DEFAULT);
        assertInvalid(
                () -> values("max_ref_age", null, "min_snapshots_to_keep", 3_000_000_000L, "max_snapshot_age", null).retention(),
                "Invalid min_snapshots_to_keep: 3000000000 is not between 1 and 2147483647");
    }

    @Test
    void testIfExists()
    {
        assertThat(values("if_not_exists", false, "or_replace", false).ifExists()).isEqualTo(IfExists.REFUSE);
        assertThat(values("if_not_exists", true, "or_replace", false).ifExists()).isEqualTo(IfExists.KEEP);
        assertThat(values("if_not_exists", false, "or_replace", true).ifExists()).isEqualTo(IfExists.REPLACE);
        assertInvalid(() -> values("if_not_exists", true, "or_replace", true).ifExists(), "At most one of if_not_exists, or_replace can be true");
        assertThat(values("if_exists", false).ifMissing()).isEqualTo(IfMissing.REFUSE);
        assertThat(values("if_exists", true).ifMissing()).isEqualTo(IfMissing.IGNORE);
    }

    @Test
    void testSelectors()
    {
        ArgumentValues none = values("ref", null, "snapshot_id", null, "timestamp", null);
        assertThat(none.atMostOne("ref", "snapshot_id", "timestamp")).isEmpty();
        assertInvalid(() -> none.exactlyOne("ref", "snapshot_id", "timestamp"), "Exactly one of ref, snapshot_id, timestamp must be given");

        assertSelector(values("ref", "eoy", "snapshot_id", null, "timestamp", null), new SnapshotSelector.AtRef("eoy"));
        assertSelector(values("ref", null, "snapshot_id", 0L, "timestamp", null), new SnapshotSelector.AtSnapshot(0));
        assertSelector(
                values("ref", null, "snapshot_id", null, "timestamp", "2026-11-30 10:00:00 UTC"),
                new SnapshotSelector.AtTime(Instant.parse("2026-11-30T10:00:00Z")));

        ArgumentValues two = values("ref", "", "snapshot_id", 1L, "timestamp", null);
        assertInvalid(() -> two.atMostOne("ref", "snapshot_id", "timestamp"), "At most one of ref, snapshot_id, timestamp can be given");
        assertInvalid(() -> two.exactlyOne("ref", "snapshot_id", "timestamp"), "Exactly one of ref, snapshot_id, timestamp must be given");

        ArgumentValues empty = values("ref", "", "snapshot_id", null, "timestamp", null);
        assertInvalid(() -> empty.atMostOne("ref", "snapshot_id", "timestamp"), "ref cannot be null or empty");
        assertInvalid(() -> empty.exactlyOne("ref", "snapshot_id", "timestamp"), "ref cannot be null or empty");
    }

    private static void assertSelector(ArgumentValues values, SnapshotSelector expected)
    {
        assertThat(values.exactlyOne("ref", "snapshot_id", "timestamp")).isEqualTo(expected);
        assertThat(values.atMostOne("ref", "snapshot_id", "timestamp")).hasValue(expected);
    }

    private static ArgumentValues values(Object... namesAndValues)
    {
        return new ArgumentValues(ProcedureRunner.map(namesAndValues));
    }

    private static void assertInvalid(ThrowingCallable callable, String message)
    {
        assertThatThrownBy(callable)
                .isInstanceOfSatisfying(RefRefusedException.class, e -> assertThat(e.reason()).isEqualTo(INVALID_VALUE))
                .hasMessage(message);
    }
}
