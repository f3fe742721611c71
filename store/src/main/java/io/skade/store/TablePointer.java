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

import com.google.common.collect.Comparators;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Iterables;
import org.apache.iceberg.SnapshotRef;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Comparator.naturalOrder;
import static java.util.Objects.requireNonNull;

/**
 * Which metadata file is a table's (or view's) current one, and the table's refs.
 *
 * @param id identity of the pointer from creation to drop; a rename keeps it, the log is kept under it
 * @param uuid the uuid inside the metadata file, empty for a table of format version 1 that has none
 * @param refs by name, in the order of the names; empty for a view
 * @param version 0 when created, one more after each commit
 */
public record TablePointer(PointerKind kind, UUID id, String uuid, String metadataLocation, Map<String, SnapshotRef> refs, long version)
{
    public TablePointer
    {
        requireNonNull(kind, "kind is null");
        requireNonNull(id, "id is null");
        requireNonNull(uuid, "uuid is null");
        requireNonNull(metadataLocation, "metadataLocation is null");
        checkArgument(!metadataLocation.isEmpty(), "metadataLocation is empty");
        checkArgument(version >= 0, "version is negative: %s", version);
        refs = Comparators.isInStrictOrder(refs.keySet(), naturalOrder()) ? ImmutableMap.copyOf(refs) : inOrder(refs, ImmutableSet.of());
    }

    /**
     * @param known some names, in order
     */
    private static Map<String, SnapshotRef> inOrder(Map<String, SnapshotRef> refs, Set<String> known)
    {
        List<String> kept = new ArrayList<>(known.size());
        for (String name : known) {
            if (refs.containsKey(name)) {
                kept.add(name);
            }
        }
        List<String> others = kept.size() == refs.size() ? ImmutableList.of() : refs.keySet().stream().filter(name -> !known.contains(name)).sorted().toList();
        ImmutableMap.Builder<String, SnapshotRef> ordered = ImmutableMap.builderWithExpectedSize(refs.size());
        for (String name : others.isEmpty() ? kept : Iterables.mergeSorted(ImmutableList.of(kept, others), naturalOrder())) {
            ordered.put(name, refs.get(name));
        }
        return ordered.buildOrThrow();
    }

    /**
     * A pointer for a table that did not exist before.
     */
    public static TablePointer newTable(String uuid, String metadataLocation, Map<String, SnapshotRef> refs)
    {
        return new TablePointer(PointerKind.TABLE, UUID.randomUUID(), uuid, metadataLocation, refs, 0);
    }

    /**
     * A pointer for a view that did not exist before.
     */
    public static TablePointer newView(String uuid, String metadataLocation)
    {
        return new TablePointer(PointerKind.VIEW, UUID.randomUUID(), uuid, metadataLocation, ImmutableMap.of(), 0);
    }

    /**
     * This pointer moved to another metadata file.
     */
    public TablePointer moveTo(String newUuid, String newMetadataLocation, Map<String, SnapshotRef> newRefs)
    {
        return new TablePointer(kind, id, newUuid, newMetadataLocation, inOrder(newRefs, refs.keySet()), version + 1);
    }
}
