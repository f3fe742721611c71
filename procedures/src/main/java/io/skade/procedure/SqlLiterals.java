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

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static com.google.common.base.Strings.padEnd;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static java.lang.Integer.parseInt;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * How ages, counts and times are written in SQL. Each method takes the name of the argument or property, for the text of the error, and
 * throws {@link RefRefusedException} with reason {@code INVALID_VALUE} if the value cannot be used.
 */
public final class SqlLiterals
{
    private static final int MAX_FRACTION_DIGITS = 12;
    private static final int NANO_DIGITS = 9;

    // io.trino.type.DateTimes.DATETIME_PATTERN, which a connector cannot see
    private static final Pattern TIMESTAMP = Pattern.compile(
            "(?<year>[-+]?\\d{4,9})-(?<month>\\d{1,2})-(?<day>\\d{1,2})" +
                    "(?: (?:(?<hour>\\d{1,2}):(?<minute>\\d{1,2})(?::(?<second>\\d{1,2})(?:\\.(?<fraction>\\d+))?)?)?" +
                    "\\s*(?<zone>.+)?)?");

    private SqlLiterals() {}

    /**
     * A duration as Trino writes it, for example {@code 7d} or {@code 12h}: at least a millisecond, at most as many as a bigint can count.
     */
    public static Duration parseAge(String name, String value)
    {
        io.airlift.units.Duration duration;
        try {
            duration = io.airlift.units.Duration.valueOf(value);
        }
        catch (IllegalArgumentException _) {
            throw new RefRefusedException(INVALID_VALUE, "Invalid %s: '%s' is not a duration such as '7d' or '12h'", name, value);
        }
        if (duration.getValue(MILLISECONDS) >= Long.MAX_VALUE) {
            throw new RefRefusedException(INVALID_VALUE, "Invalid %s: '%s' is too long", name, value);
        }
        long millis = duration.toMillis();
        if (millis < 1) {
            throw new RefRefusedException(INVALID_VALUE, "Invalid %s: '%s' is shorter than 1ms", name, value);
        }
        return Duration.ofMillis(millis);
    }

    /**
     * How many of something there are to be: at least one.
     */
    public static int parseCount(String name, long value)
    {
        if (value < 1 || value > Integer.MAX_VALUE) {
            throw new RefRefusedException(INVALID_VALUE, "Invalid %s: %s is not between 1 and %s", name, value, Integer.MAX_VALUE);
        }
        return (int) value;
    }

    /**
     * A time in the form of a {@code TIMESTAMP WITH TIME ZONE} literal, for example {@code 2026-11-30 10:00:00.123 Europe/Vienna}: cut to
     * milliseconds, midnight if there is a date only. A value without a zone is refused, the zone of the session is not taken for it.
     */
    public static Instant parseTimestamp(String name, String value)
    {
        Matcher matcher = TIMESTAMP.matcher(value.strip());
        if (!matcher.matches()) {
            throw invalidTimestamp(name, value, "is not a time");
        }
        if (matcher.group("zone") == null) {
            throw invalidTimestamp(name, value, "has no time zone");
        }
        String fraction = matcher.group("fraction") == null ? "" : matcher.group("fraction");
        if (fraction.length() > MAX_FRACTION_DIGITS) {
            throw invalidTimestamp(name, value, "has more than %s digits of a second".formatted(MAX_FRACTION_DIGITS));
        }
        try {
            Instant instant = ZonedDateTime.of(
                            number(matcher, "year"),
                            number(matcher, "month"),
                            number(matcher, "day"),
                            number(matcher, "hour"),
                            number(matcher, "minute"),
                            number(matcher, "second"),
                            parseInt(padEnd(fraction, NANO_DIGITS, '0').substring(0, NANO_DIGITS)),
                            ZoneId.of(matcher.group("zone")))
                    .toInstant();
            return Instant.ofEpochMilli(instant.toEpochMilli());
        }
        catch (DateTimeException e) {
            throw invalidTimestamp(name, value, "is not a time (%s)".formatted(e.getMessage()));
        }
        catch (ArithmeticException _) {
            throw invalidTimestamp(name, value, "is out of range");
        }
    }

    private static int number(Matcher matcher, String group)
    {
        String digits = matcher.group(group);
        return digits == null ? 0 : parseInt(digits);
    }

    private static RefRefusedException invalidTimestamp(String name, String value, String problem)
    {
        return new RefRefusedException(INVALID_VALUE, "Invalid %s: '%s' %s. Expected a time with its zone, such as '2026-11-30 10:00:00 UTC'", name, value, problem);
    }
}
