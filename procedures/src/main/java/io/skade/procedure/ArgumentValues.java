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

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableList;
import io.skade.ref.PublishMode;
import io.skade.ref.RefRefusedException;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.RefUpdates.IfMissing;
import io.skade.ref.Retention;
import io.skade.ref.SnapshotSelector;
import io.trino.spi.connector.SchemaTableName;

import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

import static com.google.common.base.Preconditions.checkArgument;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;

/**
 * The values of one call's arguments, by their lower-case names; null where NULL was given. They are checked as they are read: a value that cannot be
 * used is a {@link RefRefusedException} with reason {@code INVALID_VALUE} that names the argument.
 */
final class ArgumentValues
{
    private final Map<String, Object> values;

    ArgumentValues(Map<String, ?> values)
    {
        this.values = Collections.unmodifiableMap(new HashMap<>(values));
    }

    /**
     * Neither NULL nor empty, and without a null byte, which no name of Iceberg may have.
     */
    String string(String name)
    {
        if (!(value(name) instanceof String value) || value.isEmpty()) {
            throw new RefRefusedException(INVALID_VALUE, "%s cannot be null or empty", name);
        }
        if (value.indexOf('\0') >= 0) {
            throw new RefRefusedException(INVALID_VALUE, "%s cannot contain a null byte", name);
        }
        return value;
    }

    /**
     * Empty if NULL.
     */
    Optional<String> findString(String name)
    {
        return isGiven(name) ? Optional.of(string(name)) : Optional.empty();
    }

    /**
     * Empty if NULL.
     */
    Optional<List<String>> findStrings(String name)
    {
        if (!(value(name) instanceof List<?> given)) {
            return Optional.empty();
        }
        ImmutableList.Builder<String> strings = ImmutableList.builder();
        for (Object value : given) {
            if (!(value instanceof String string) || string.isEmpty()) {
                throw new RefRefusedException(INVALID_VALUE, "%s cannot contain null or empty", name);
            }
            strings.add(string);
        }
        return Optional.of(strings.build());
    }

    SchemaTableName table(String schemaArgument, String tableArgument)
    {
        return new SchemaTableName(string(schemaArgument), string(tableArgument));
    }

    long bigint(String name)
    {
        return findBigint(name).orElseThrow(() -> new RefRefusedException(INVALID_VALUE, "%s cannot be null", name));
    }

    OptionalLong findBigint(String name)
    {
        return value(name) instanceof Long value ? OptionalLong.of(value) : OptionalLong.empty();
    }

    boolean flag(String name)
    {
        if (!(value(name) instanceof Boolean value)) {
            throw new RefRefusedException(INVALID_VALUE, "%s cannot be null", name);
        }
        return value;
    }

    Optional<Duration> findAge(String name)
    {
        return findString(name).map(value -> SqlLiterals.parseAge(name, value));
    }

    Optional<Integer> findCount(String name)
    {
        return findBigint(name).stream()
                .mapToObj(value -> SqlLiterals.parseCount(name, value))
                .findFirst();
    }

    /**
     * The arguments {@code max_ref_age}, {@code min_snapshots_to_keep} and {@code max_snapshot_age} of a branch.
     */
    Retention retention()
    {
        return new Retention(findAge("max_ref_age"), findCount("min_snapshots_to_keep"), findAge("max_snapshot_age"));
    }

    /**
     * The arguments {@code if_not_exists} and {@code or_replace} of a creation.
     */
    IfExists ifExists()
    {
        boolean ifNotExists = flag("if_not_exists");
        boolean orReplace = flag("or_replace");
        if (ifNotExists && orReplace) {
            throw new RefRefusedException(INVALID_VALUE, "At most one of if_not_exists, or_replace can be true");
        }
        if (orReplace) {
            return IfExists.REPLACE;
        }
        return ifNotExists ? IfExists.KEEP : IfExists.REFUSE;
    }

    /**
     * The argument {@code if_exists} of a drop.
     */
    IfMissing ifMissing()
    {
        return flag("if_exists") ? IfMissing.IGNORE : IfMissing.REFUSE;
    }

    /**
     * The argument {@code mode} of a publish.
     */
    PublishMode publishMode()
    {
        String mode = string("mode");
        return switch (mode) {
            case "fast_forward" -> PublishMode.FAST_FORWARD;
            case "rebase" -> PublishMode.REBASE;
            default -> throw new RefRefusedException(INVALID_VALUE, "Invalid mode: '%s' is neither fast_forward nor rebase", mode);
        };
    }

    /**
     * The snapshot that one of several arguments says, of which exactly one must be given: {@code snapshot_id}, {@code timestamp}, any other is the
     * name of a ref.
     */
    SnapshotSelector exactlyOne(String... names)
    {
        List<String> given = given(names);
        if (given.size() != 1) {
            throw new RefRefusedException(INVALID_VALUE, "Exactly one of %s must be given", Joiner.on(", ").join(names));
        }
        return selector(given.getFirst());
    }

    /**
     * As {@link #exactlyOne}, empty if none is given.
     */
    Optional<SnapshotSelector> atMostOne(String... names)
    {
        List<String> given = given(names);
        if (given.size() > 1) {
            throw new RefRefusedException(INVALID_VALUE, "At most one of %s can be given", Joiner.on(", ").join(names));
        }
        return given.stream().findFirst().map(this::selector);
    }

    private SnapshotSelector selector(String name)
    {
        return switch (name) {
            case "snapshot_id" -> new SnapshotSelector.AtSnapshot(bigint(name));
            case "timestamp" -> new SnapshotSelector.AtTime(SqlLiterals.parseTimestamp(name, string(name)));
            default -> new SnapshotSelector.AtRef(string(name));
        };
    }

    private List<String> given(String... names)
    {
        return Stream.of(names)
                .filter(this::isGiven)
                .toList();
    }

    private boolean isGiven(String name)
    {
        return value(name) != null;
    }

    private Object value(String name)
    {
        checkArgument(values.containsKey(name), "No such argument: %s", name);
        return values.get(name);
    }
}
