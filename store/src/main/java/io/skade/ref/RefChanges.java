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
import com.google.common.collect.Sets;
import io.skade.store.RefChange;
import org.apache.iceberg.SnapshotRef;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The difference of the refs of two versions of a table.
 */
public final class RefChanges
{
    private RefChanges() {}

    /**
     * What became of each ref, in the order of the names.
     */
    public static List<RefChange> between(Map<String, SnapshotRef> before, Map<String, SnapshotRef> after)
    {
        ImmutableList.Builder<RefChange> changes = ImmutableList.builder();
        for (String name : new TreeSet<>(Sets.union(before.keySet(), after.keySet()))) {
            Optional<SnapshotRef> old = Optional.ofNullable(before.get(name));
            Optional<SnapshotRef> present = Optional.ofNullable(after.get(name));
            if (!old.equals(present)) {
                changes.add(new RefChange(name, old, present));
            }
        }
        return changes.build();
    }
}
