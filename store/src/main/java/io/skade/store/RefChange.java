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
package io.skade.store;

import com.google.common.collect.ImmutableList;
import org.apache.iceberg.SnapshotRef;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Comparator.comparing;
import static java.util.Objects.requireNonNull;

/**
 * What one commit did to one ref: the ref before and after, retention included.
 *
 * @param before empty for a ref that was created
 * @param after empty for a ref that was dropped
 */
public record RefChange(String ref, Optional<SnapshotRef> before, Optional<SnapshotRef> after)
{
    public RefChange
    {
        requireNonNull(ref, "ref is null");
        requireNonNull(before, "before is null");
        requireNonNull(after, "after is null");
        checkArgument(!before.equals(after), "ref %s did not change", ref);
    }

    /**
     * What became of each ref, in the order of the names.
     */
    public static List<RefChange> between(Map<String, SnapshotRef> before, Map<String, SnapshotRef> after)
    {
        List<RefChange> changes = new ArrayList<>();
        int kept = 0;
        for (Map.Entry<String, SnapshotRef> entry : after.entrySet()) {
            SnapshotRef old = before.get(entry.getKey());
            if (old != null) {
                kept++;
            }
            if (!entry.getValue().equals(old)) {
                changes.add(new RefChange(entry.getKey(), Optional.ofNullable(old), Optional.of(entry.getValue())));
            }
        }
        if (kept < before.size()) {
            before.forEach((name, old) -> {
                if (!after.containsKey(name)) {
                    changes.add(new RefChange(name, Optional.of(old), Optional.empty()));
                }
            });
        }
        changes.sort(comparing(RefChange::ref));
        return ImmutableList.copyOf(changes);
    }

    public RefChangeKind kind()
    {
        if (before.isEmpty()) {
            return RefChangeKind.CREATED;
        }
        if (after.isEmpty()) {
            return RefChangeKind.DROPPED;
        }
        return before.get().snapshotId() == after.get().snapshotId() ? RefChangeKind.RETENTION_CHANGED : RefChangeKind.MOVED;
    }
}
