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
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Function;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * A field with a JSON array or object as bytes, of which most entries stand in the next version of it as well.
 *
 * @param start where the first entry begins in {@code bytes}
 * @param entries what the entries were made of
 * @param bytes the field, of which the last byte ends the array or object
 * @param ends where each of the entries ends in {@code bytes}
 */
record JsonEntries<E>(int start, List<E> entries, byte[] bytes, int[] ends)
{
    // more that are gone in one place are written again
    private static final int MAX_DROPPED = 4;

    JsonEntries
    {
        entries = ImmutableList.copyOf(entries);
        requireNonNull(bytes, "bytes is null");
        requireNonNull(ends, "ends is null");
    }

    static <E> JsonEntries<E> empty(String start, char end)
    {
        return new JsonEntries<>(start.length(), ImmutableList.of(), (start + end).getBytes(UTF_8), new int[0]);
    }

    /**
     * The same with other entries.
     *
     * @param isSame whether an entry of before and one of {@code next} are written in the same way
     * @param writer what an entry is written as
     */
    JsonEntries<E> with(List<E> next, BiPredicate<E, E> isSame, Function<E, byte[]> writer)
    {
        if (next.size() == entries.size() && countSame(0, next, 0, isSame) == next.size()) {
            return this;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length + 256);
        out.write(bytes, 0, start);
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
            int from = found == 0 ? start : ends[found - 1] + 1;
            int shift = out.size() - from;
            int count = countSame(found, next, i, isSame);
            for (int j = 0; j < count; j++) {
                nextEnds[i + j] = ends[found + j] + shift;
            }
            i += count;
            position = found + count;
            out.write(bytes, from, ends[position - 1] - from);
        }
        out.write(bytes[bytes.length - 1]);
        return new JsonEntries<>(start, next, out.toByteArray(), nextEnds);
    }

    /**
     * How many entries are the same as those of {@code next}, one after the other.
     */
    private int countSame(int position, List<E> next, int nextPosition, BiPredicate<E, E> isSame)
    {
        int most = Math.min(entries.size() - position, next.size() - nextPosition);
        int count = 0;
        while (count < most && isSame.test(entries.get(position + count), next.get(nextPosition + count))) {
            count++;
        }
        return count;
    }

    private int find(int position, E entry, BiPredicate<E, E> isSame)
    {
        for (int candidate = position; candidate < Math.min(position + MAX_DROPPED, entries.size()); candidate++) {
            if (isSame.test(entries.get(candidate), entry)) {
                return candidate;
            }
        }
        return -1;
    }
}
