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

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Function;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * A JSON array or object as bytes, of which most entries stand in the next version of it as well.
 *
 * @param start what stands before the first entry
 * @param entries what the entries were made of
 * @param bytes the entries, with what separates them
 * @param ends where each of them ends in {@code bytes}
 */
record JsonEntries<E>(byte[] start, List<E> entries, byte[] bytes, int[] ends, byte end)
{
    // more that are gone in one place are written again
    private static final int MAX_DROPPED = 4;

    JsonEntries
    {
        requireNonNull(start, "start is null");
        entries = ImmutableList.copyOf(entries);
        requireNonNull(bytes, "bytes is null");
        requireNonNull(ends, "ends is null");
    }

    static <E> JsonEntries<E> empty(String start, char end)
    {
        return new JsonEntries<>(start.getBytes(UTF_8), ImmutableList.of(), new byte[0], new int[0], (byte) end);
    }

    /**
     * The same with other entries.
     *
     * @param isSame whether an entry of before and one of {@code next} are written in the same way
     * @param writer what an entry is written as
     */
    JsonEntries<E> with(List<E> next, BiPredicate<E, E> isSame, Function<E, byte[]> writer)
    {
        ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length + 256);
        int[] nextEnds = new int[next.size()];
        int position = 0;
        int i = 0;
        while (i < next.size()) {
            if (i > 0) {
                out.write(',');
            }
            int found = find(position, next.get(i), isSame);
            if (found < 0) {
                out.writeBytes(writer.apply(next.get(i)));
                nextEnds[i] = out.size();
                i++;
                continue;
            }
            int from = found == 0 ? 0 : ends[found - 1] + 1;
            int shift = out.size() - from;
            position = found;
            while (i < next.size() && position < ends.length && isSame.test(entries.get(position), next.get(i))) {
                nextEnds[i] = ends[position] + shift;
                position++;
                i++;
            }
            out.write(bytes, from, ends[position - 1] - from);
        }
        return new JsonEntries<>(start, next, out.toByteArray(), nextEnds, end);
    }

    private int find(int position, E entry, BiPredicate<E, E> isSame)
    {
        for (int candidate = position; candidate < Math.min(position + MAX_DROPPED, ends.length); candidate++) {
            if (isSame.test(entries.get(candidate), entry)) {
                return candidate;
            }
        }
        return -1;
    }

    byte[] toByteArray()
    {
        byte[] whole = Arrays.copyOf(start, start.length + bytes.length + 1);
        System.arraycopy(bytes, 0, whole, start.length, bytes.length);
        whole[whole.length - 1] = end;
        return whole;
    }
}
