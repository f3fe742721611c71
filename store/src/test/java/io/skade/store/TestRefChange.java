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

import org.apache.iceberg.SnapshotRef;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import static java.util.Comparator.comparing;
import static org.assertj.core.api.Assertions.assertThat;

class TestRefChange
{
    @Test
    void testBetween()
    {
        Random random = new Random(7);
        for (int round = 0; round < 1_000; round++) {
            Map<String, SnapshotRef> before = refs(random);
            Map<String, SnapshotRef> after = refs(random);
            List<RefChange> changes = RefChange.between(before, after);
            assertThat(changes).isSortedAccordingTo(comparing(RefChange::ref));
            Map<String, SnapshotRef> changed = new TreeMap<>(before);
            changes.forEach(change -> change.after().ifPresentOrElse(ref -> changed.put(change.ref(), ref), () -> changed.remove(change.ref())));
            assertThat(changed).isEqualTo(after);
        }
        assertThat(RefChange.between(Map.of(), Map.of())).isEmpty();
    }

    private static Map<String, SnapshotRef> refs(Random random)
    {
        Map<String, SnapshotRef> refs = new TreeMap<>();
        for (int i = random.nextInt(6); i > 0; i--) {
            refs.put("r" + random.nextInt(8), SnapshotRef.tagBuilder(random.nextInt(3)).build());
        }
        return refs;
    }
}
