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
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;

import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestSqlLiterals
{
    private static final String EXPECTED = ". Expected a time with its zone, such as '2026-11-30 10:00:00 UTC'";

    @Test
    void testParseAge()
    {
        assertThat(SqlLiterals.parseAge("age", "7d")).isEqualTo(Duration.ofDays(7));
        assertThat(SqlLiterals.parseAge("age", "12h")).isEqualTo(Duration.ofHours(12));
        assertThat(SqlLiterals.parseAge("age", "1.5m")).isEqualTo(Duration.ofSeconds(90));
        assertThat(SqlLiterals.parseAge("age", "1ms")).isEqualTo(Duration.ofMillis(1));
        assertThat(SqlLiterals.parseAge("age", "36500d")).isEqualTo(Duration.ofDays(36500));
        assertThat(SqlLiterals.parseAge("age", "100000000000d")).isEqualTo(Duration.ofDays(100_000_000_000L));
    }

    @Test
    void testParseInvalidAge()
    {
        for (String value : new String[] {"", "later", "7", "d", "7 days", "-1d", "NaNd", "P7D", "7d12h", "9".repeat(400) + "d"}) {
            assertInvalid(() -> SqlLiterals.parseAge("max_ref_age", value), "Invalid max_ref_age: '%s' is not a duration such as '7d' or '12h'".formatted(value));
        }
        for (String value : new String[] {"0s", "0d", "0.4ms", "1us"}) {
            assertInvalid(() -> SqlLiterals.parseAge("max_ref_age", value), "Invalid max_ref_age: '%s' is shorter than 1ms".formatted(value));
        }
        for (String value : new String[] {"999999999999d", "99999999999999999999ms"}) {
            assertInvalid(() -> SqlLiterals.parseAge("max_ref_age", value), "Invalid max_ref_age: '%s' is too long".formatted(value));
        }
    }

    @Test
    void testParseCount()
    {
        assertThat(SqlLiterals.parseCount("count", 1)).isEqualTo(1);
        assertThat(SqlLiterals.parseCount("count", Integer.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE);
        for (long value : new long[] {0, -1, Integer.MAX_VALUE + 1L, Long.MAX_VALUE, Long.MIN_VALUE, (1L << 32) + 1}) {
            assertInvalid(() -> SqlLiterals.parseCount("min_snapshots_to_keep", value), "Invalid min_snapshots_to_keep: %s is not between 1 and 2147483647".formatted(value));
        }
    }

    @Test
    void testParseTimestamp()
    {
        assertTimestamp("2026-11-30 10:00:00 UTC", "2026-11-30T10:00:00Z");
        assertTimestamp("2026-11-30 10:00:00.123 Europe/Vienna", "2026-11-30T09:00:00.123Z");
        assertTimestamp("2026-07-30 10:00:00 Europe/Vienna", "2026-07-30T08:00:00Z");
        assertTimestamp("2026-11-30 10:00:00 America/Argentina/Buenos_Aires", "2026-11-30T13:00:00Z");
        assertTimestamp("2026-11-30 10:00:00 +02:00", "2026-11-30T08:00:00Z");
        assertTimestamp("2026-11-30 10:00:00+02:00", "2026-11-30T08:00:00Z");
        assertTimestamp("2026-11-30 10:00:00 -05:30", "2026-11-30T15:30:00Z");
        assertTimestamp("2026-11-30 10:00:00Z", "2026-11-30T10:00:00Z");
        assertTimestamp("2026-11-30 10:00 UTC", "2026-11-30T10:00:00Z");
        assertTimestamp("2026-1-3 1:2:3 UTC", "2026-01-03T01:02:03Z");
        assertTimestamp("2026-11-30 UTC", "2026-11-30T00:00:00Z");
        assertTimestamp("  2026-11-30 10:00:00 UTC ", "2026-11-30T10:00:00Z");
        assertTimestamp("+12026-11-30 10:00:00 UTC", "+12026-11-30T10:00:00Z");
        assertTimestamp("-0001-11-30 10:00:00 UTC", "-0001-11-30T10:00:00Z");
        assertTimestamp("292278000-01-01 00:00:00 UTC", "+292278000-01-01T00:00:00Z");
    }

    @Test
    void testParseFraction()
    {
        for (String fraction : new String[] {"1", "12", "123", "1234", "123456", "1239", "123456789", "123999999999"}) {
            String millis = (fraction + "00").substring(0, 3);
            assertTimestamp("2026-11-30 10:00:00.%s UTC".formatted(fraction), "2026-11-30T10:00:00.%sZ".formatted(millis));
            assertTimestamp("1969-12-31 23:59:59.%s UTC".formatted(fraction), "1969-12-31T23:59:59.%sZ".formatted(millis));
        }
        assertInvalidTimestamp("2026-11-30 10:00:00.1234567890123 UTC", "has more than 12 digits of a second");
    }

    /**
     * As the engine takes them: a time that the clock leaves out is moved forward, of one that it shows twice the earlier is meant.
     */
    @Test
    void testParseTimestampAtClockChange()
    {
        assertTimestamp("2026-03-29 02:30:00 Europe/Vienna", "2026-03-29T01:30:00Z");
        assertTimestamp("2026-10-25 02:30:00 Europe/Vienna", "2026-10-25T00:30:00Z");
    }

    @Test
    void testParseInvalidTimestamp()
    {
        for (String value : new String[] {"2026-11-30 10:00:00", "2026-11-30 10:00:00.123", "2026-11-30 10:00", "2026-11-30", "2026-11-30 "}) {
            assertInvalidTimestamp(value, "has no time zone");
        }
        for (String value : new String[] {"", "yesterday", "10:00:00 UTC", "2026-11-30T10:00:00Z", "30.11.2026 10:00:00 UTC", "26-11-30 UTC", "1764496800"}) {
            assertInvalidTimestamp(value, "is not a time");
        }
        assertInvalidTimestamp("2026-13-30 10:00:00 UTC", "is not a time (Invalid value for MonthOfYear (valid values 1 - 12): 13)");
        assertInvalidTimestamp("2026-02-30 10:00:00 UTC", "is not a time (Invalid date 'FEBRUARY 30')");
        assertInvalidTimestamp("2026-11-30 24:00:00 UTC", "is not a time (Invalid value for HourOfDay (valid values 0 - 23): 24)");
        assertInvalidTimestamp("2026-11-30 10:00:00 Mars/Base", "is not a time (Unknown time-zone ID: Mars/Base)");
        assertInvalidTimestamp("2026-11-30 10 UTC", "is not a time (Invalid ID for region-based ZoneId, invalid format: 10 UTC)");
        assertInvalidTimestamp("999999999-01-01 00:00:00 UTC", "is out of range");
    }

    private static void assertTimestamp(String value, String expected)
    {
        assertThat(SqlLiterals.parseTimestamp("timestamp", value)).as(value).isEqualTo(Instant.parse(expected));
    }

    private static void assertInvalidTimestamp(String value, String problem)
    {
        assertInvalid(() -> SqlLiterals.parseTimestamp("timestamp", value), "Invalid timestamp: '%s' %s%s".formatted(value, problem, EXPECTED));
    }

    private static void assertInvalid(ThrowingCallable callable, String message)
    {
        assertThatThrownBy(callable)
                .isInstanceOfSatisfying(RefRefusedException.class, e -> assertThat(e.reason()).isEqualTo(INVALID_VALUE))
                .hasMessage(message);
    }
}
