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

import java.util.TreeMap;

/**
 * Which sequence numbers the snapshots of a replayed branch have got.
 */
final class SequenceNumbers
{
    private final TreeMap<Long, Long> replayed = new TreeMap<>();

    /**
     * @param unchanged the last number that means the same as before
     */
    SequenceNumbers(long unchanged)
    {
        replayed.put(unchanged, unchanged);
    }

    void put(long before, long after)
    {
        replayed.put(before, after);
    }

    /**
     * A number with which a file is after the same snapshots of the branch as before.
     */
    long replayed(long number)
    {
        return number <= replayed.firstKey() ? number : replayed.floorEntry(number).getValue();
    }
}
