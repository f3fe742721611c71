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

import com.google.common.base.Joiner;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableSortedSet;
import io.skade.store.RefChange;
import org.apache.iceberg.DataOperations;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.Map;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The branches of a table that only a publish or a fast-forward moves. They stand in the table property {@value #PROPERTY}: the names, URL-encoded,
 * with commas between.
 */
public final class ProtectedRefs
{
    public static final String PROPERTY = "skade.protected-refs";

    private ProtectedRefs() {}

    public static Set<String> of(TableMetadata metadata)
    {
        return of(metadata.properties());
    }

    public static Set<String> of(Map<String, String> properties)
    {
        return Splitter.on(',').omitEmptyStrings().splitToStream(properties.getOrDefault(PROPERTY, ""))
                .map(ProtectedRefs::decode)
                .collect(toImmutableSet());
    }

    /**
     * Whether a branch only goes forward: over snapshots that the table had before, as a fast-forward does, or over added ones that hold the rows of their
     * parents in other files.
     */
    static boolean isForward(RefChange move, TableMetadata before, TableMetadata after)
    {
        if (move.before().isEmpty() || move.after().isEmpty()) {
            return false;
        }
        SnapshotRef from = move.before().get();
        SnapshotRef to = move.after().get();
        if (!to.equals(SnapshotRef.builderFrom(from, to.snapshotId()).build())) {
            return false;
        }
        Long id = to.snapshotId();
        while (id != null && id != from.snapshotId()) {
            Snapshot old = before.snapshot(id);
            // one that is removed by the same change counts as it was
            Snapshot snapshot = after.snapshot(id) == null ? old : after.snapshot(id);
            if (snapshot == null || !(isSame(snapshot, old) || DataOperations.REPLACE.equals(snapshot.operation()))) {
                return false;
            }
            id = snapshot.parentId();
        }
        return id != null;
    }

    /**
     * An id may have been given to another snapshot.
     */
    private static boolean isSame(Snapshot snapshot, Snapshot old)
    {
        return snapshot == old || (snapshot.equals(old) && snapshot.manifestListLocation() != null && snapshot.manifestListLocation().equals(old.manifestListLocation()));
    }

    private static String decode(String name)
    {
        try {
            return URLDecoder.decode(name, UTF_8);
        }
        catch (IllegalArgumentException e) {
            // written by something else; such a name must not make the table unchangeable
            return name;
        }
    }

    static String toProperty(Set<String> refs)
    {
        return Joiner.on(',').join(ImmutableSortedSet.copyOf(refs).stream()
                .map(name -> URLEncoder.encode(name, UTF_8))
                .iterator());
    }
}
