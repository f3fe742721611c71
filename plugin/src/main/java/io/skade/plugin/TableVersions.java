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
package io.skade.plugin;

import io.trino.spi.TrinoException;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableVersion;
import io.trino.spi.type.DateType;
import io.trino.spi.type.LongTimestamp;
import io.trino.spi.type.LongTimestampWithTimeZone;
import io.trino.spi.type.TimestampType;
import io.trino.spi.type.TimestampWithTimeZoneType;
import io.trino.spi.type.Type;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;

import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.type.DateTimeEncoding.unpackMillisUtc;
import static io.trino.spi.type.Timestamps.MICROSECONDS_PER_SECOND;
import static io.trino.spi.type.Timestamps.NANOSECONDS_PER_MICROSECOND;
import static java.lang.Math.floorDiv;
import static java.lang.Math.floorMod;
import static java.time.ZoneOffset.UTC;

/**
 * The time that {@code FOR TIMESTAMP AS OF} means.
 */
final class TableVersions
{
    private TableVersions() {}

    /**
     * A date is its beginning, and what has no time zone is in that of the session.
     */
    static Instant toInstant(ConnectorSession session, ConnectorTableVersion version)
    {
        ZoneId zone = session.getTimeZoneKey().getZoneId();
        Type type = version.getVersionType();
        return switch (type) {
            case DateType _ -> LocalDate.ofEpochDay((long) version.getVersion()).atStartOfDay(zone).toInstant();
            case TimestampType timestamp -> {
                long micros = timestamp.isShort() ? (long) version.getVersion() : ((LongTimestamp) version.getVersion()).getEpochMicros();
                yield LocalDateTime.ofEpochSecond(
                                floorDiv(micros, MICROSECONDS_PER_SECOND),
                                floorMod(micros, MICROSECONDS_PER_SECOND) * NANOSECONDS_PER_MICROSECOND,
                                UTC)
                        .atZone(zone)
                        .toInstant();
            }
            case TimestampWithTimeZoneType timestamp -> Instant.ofEpochMilli(timestamp.isShort()
                    ? unpackMillisUtc((long) version.getVersion())
                    : ((LongTimestampWithTimeZone) version.getVersion()).getEpochMillis());
            default -> throw new TrinoException(NOT_SUPPORTED, "Unsupported type for temporal table version: " + type.getDisplayName());
        };
    }
}
