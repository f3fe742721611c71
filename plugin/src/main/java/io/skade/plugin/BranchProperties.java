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

import com.google.common.collect.ImmutableList;
import io.skade.ref.Retention;
import io.skade.ref.SnapshotSelector;
import io.trino.spi.TrinoException;
import io.trino.spi.session.PropertyMetadata;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import static com.google.common.collect.MoreCollectors.toOptional;
import static io.skade.procedure.SqlLiterals.parseAge;
import static io.trino.spi.StandardErrorCode.INVALID_BRANCH_PROPERTY;
import static io.trino.spi.session.PropertyMetadata.longProperty;
import static io.trino.spi.session.PropertyMetadata.stringProperty;
import static java.lang.Math.toIntExact;
import static java.util.Objects.requireNonNull;

/**
 * The properties of {@code CREATE BRANCH .. WITH (..)}: where the branch starts, and its retention.
 */
public class BranchProperties
{
    private static final String SNAPSHOT_ID = "snapshot_id";
    private static final String FROM_TAG = "from_tag";
    private static final String MAX_REF_AGE = "max_ref_age";
    private static final String MIN_SNAPSHOTS_TO_KEEP = "min_snapshots_to_keep";
    private static final String MAX_SNAPSHOT_AGE = "max_snapshot_age";

    private final List<PropertyMetadata<?>> properties = ImmutableList.of(
            longProperty(SNAPSHOT_ID, "Snapshot at which the branch starts", null, false),
            stringProperty(FROM_TAG, "Tag at which the branch starts", null, false),
            stringProperty(MAX_REF_AGE, "How long the branch is kept, for example '30d'", null, false),
            longProperty(MIN_SNAPSHOTS_TO_KEEP, "How many of the branch's snapshots are kept at least", null, false),
            stringProperty(MAX_SNAPSHOT_AGE, "How long the branch's snapshots are kept, for example '7d'", null, false));

    public List<PropertyMetadata<?>> getBranchProperties()
    {
        return properties;
    }

    /**
     * Where the branch starts, empty if the properties do not say.
     */
    static Optional<SnapshotSelector> start(Map<String, Object> properties, Optional<String> fromBranch)
    {
        Optional<SnapshotSelector> snapshot = Optional.ofNullable((Long) properties.get(SNAPSHOT_ID)).map(SnapshotSelector.AtSnapshot::new);
        Optional<SnapshotSelector> tag = Optional.ofNullable((String) properties.get(FROM_TAG)).map(SnapshotSelector.AtTag::new);
        Optional<SnapshotSelector> branch = fromBranch.map(SnapshotSelector.AtRef::new);
        if (Stream.of(snapshot, tag, branch).filter(Optional::isPresent).count() > 1) {
            throw new TrinoException(INVALID_BRANCH_PROPERTY, "At most one of snapshot_id, from_tag and FROM may be given");
        }
        return Stream.of(snapshot, tag, branch).flatMap(Optional::stream).collect(toOptional());
    }

    /**
     * @throws io.skade.ref.RefRefusedException if a value cannot be used
     */
    static Retention retention(Map<String, Object> properties)
    {
        return new Retention(
                Optional.ofNullable((String) properties.get(MAX_REF_AGE)).map(age -> parseAge(MAX_REF_AGE, age)),
                Optional.ofNullable((Long) properties.get(MIN_SNAPSHOTS_TO_KEEP)).map(count -> toIntExact(Math.clamp(requireNonNull(count), Integer.MIN_VALUE, Integer.MAX_VALUE))),
                Optional.ofNullable((String) properties.get(MAX_SNAPSHOT_AGE)).map(age -> parseAge(MAX_SNAPSHOT_AGE, age)));
    }
}
