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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * How a metadata document comes from an earlier one of the same table: by pieces of it and pieces of its own.
 *
 * @param base the location of the earlier document
 * @param length of the document, in bytes
 * @param checksum CRC-32C of the document
 */
public record DocumentPatch(String base, int length, int checksum, List<Piece> pieces)
{
    // what a copy takes in a store; a shorter one does not pay
    private static final int COPY_BYTES = 9;
    private static final int ANCHOR_BYTES = 64;

    public DocumentPatch
    {
        requireNonNull(base, "base is null");
        pieces = ImmutableList.copyOf(pieces);
    }

    public sealed interface Piece {}

    /**
     * Bytes of the earlier document.
     */
    public record Copy(int offset, int length)
            implements Piece {}

    /**
     * Bytes that the earlier document does not have, or not there.
     */
    public record Insert(byte[] bytes)
            implements Piece
    {
        public Insert
        {
            requireNonNull(bytes, "bytes is null");
        }
    }

    /**
     * The patch from one document to another. Compares them part by part, and in each part finds what both begin and end with, and what moved
     * ahead because something before it is gone; other likeness is not looked for. Empty if the documents have not the same number of parts.
     *
     * @param base the location of the earlier document
     */
    public static Optional<DocumentPatch> between(String base, List<byte[]> baseParts, List<byte[]> parts)
    {
        if (baseParts.size() != parts.size()) {
            return Optional.empty();
        }
        Pieces pieces = new Pieces();
        CRC32C checksum = new CRC32C();
        int start = 0;
        int length = 0;
        for (int i = 0; i < parts.size(); i++) {
            byte[] before = baseParts.get(i);
            byte[] after = parts.get(i);
            addPart(pieces, start, before, after);
            checksum.update(after);
            start += before.length;
            length = Math.addExact(length, after.length);
        }
        return Optional.of(new DocumentPatch(base, length, (int) checksum.getValue(), pieces.build()));
    }

    private static void addPart(Pieces pieces, int start, byte[] before, byte[] after)
    {
        int prefix = before == after ? before.length : Arrays.mismatch(before, after);
        if (prefix < 0 || before == after) {
            pieces.copy(start, after.length);
            return;
        }
        int rest = Math.min(before.length, after.length) - prefix;
        int suffix = 0;
        while (suffix < rest && before[before.length - 1 - suffix] == after[after.length - 1 - suffix]) {
            suffix++;
        }
        int end = after.length - suffix;
        pieces.copy(start, prefix);
        int position = prefix;
        int moved = find(before, prefix, before.length - suffix, after, prefix, end);
        if (moved >= 0) {
            int mismatch = Arrays.mismatch(before, moved, before.length - suffix, after, prefix, end);
            int common = mismatch < 0 ? end - prefix : mismatch;
            pieces.copy(start + moved, common);
            position += common;
        }
        pieces.insert(after, position, end);
        pieces.copy(start + before.length - suffix, suffix);
    }

    /**
     * Where in {@code before} the next bytes of {@code after} are; -1 if nowhere, or if they are too few to look for.
     */
    private static int find(byte[] before, int from, int to, byte[] after, int position, int end)
    {
        if (end - position < ANCHOR_BYTES) {
            return -1;
        }
        for (int candidate = from; candidate <= to - ANCHOR_BYTES; candidate++) {
            if (before[candidate] == after[position] && Arrays.equals(before, candidate, candidate + ANCHOR_BYTES, after, position, position + ANCHOR_BYTES)) {
                return candidate;
            }
        }
        return -1;
    }

    /**
     * Roughly what the patch takes in a store, in bytes.
     */
    public int size()
    {
        int size = 0;
        for (Piece piece : pieces) {
            size += switch (piece) {
                case Copy _ -> COPY_BYTES;
                case Insert(byte[] bytes) -> 5 + bytes.length;
            };
        }
        return size;
    }

    /**
     * The document that comes from {@code document}.
     *
     * @param location of the new document
     * @throws IllegalArgumentException if the patch does not fit, or what comes out is damaged
     */
    public MetadataDocument apply(MetadataDocument document, String location)
    {
        byte[] before = document.content();
        checkArgument(length >= 0, "length is negative: %s", length);
        long sum = 0;
        for (Piece piece : pieces) {
            switch (piece) {
                case Copy(int offset, int count) -> {
                    checkArgument(offset >= 0 && count >= 0 && (long) offset + count <= before.length, "a piece reaches from %s over %s bytes, the document before has %s", offset, count, before.length);
                    sum += count;
                }
                case Insert(byte[] bytes) -> sum += bytes.length;
            }
        }
        checkArgument(sum == length, "a patch makes %s bytes, not %s", sum, length);
        byte[] content = new byte[length];
        int position = 0;
        for (Piece piece : pieces) {
            switch (piece) {
                case Copy(int offset, int count) -> {
                    System.arraycopy(before, offset, content, position, count);
                    position += count;
                }
                case Insert(byte[] bytes) -> {
                    System.arraycopy(bytes, 0, content, position, bytes.length);
                    position += bytes.length;
                }
            }
        }
        CRC32C actual = new CRC32C();
        actual.update(content);
        checkArgument((int) actual.getValue() == checksum, "a patch makes another document than the one that was committed");
        return MetadataDocument.of(location, content);
    }

    /**
     * Collects pieces, and joins those that follow one another.
     */
    private static final class Pieces
    {
        private final List<Piece> pieces = new ArrayList<>();
        private int copyOffset;
        private int copyLength;

        void copy(int offset, int length)
        {
            if (length > 0 && copyLength > 0 && copyOffset + copyLength == offset) {
                copyLength += length;
            }
            else if (length > 0) {
                flush();
                copyOffset = offset;
                copyLength = length;
            }
        }

        void insert(byte[] bytes, int from, int to)
        {
            if (to > from) {
                flush();
                pieces.add(new Insert(Arrays.copyOfRange(bytes, from, to)));
            }
        }

        private void flush()
        {
            if (copyLength > 0) {
                pieces.add(new Copy(copyOffset, copyLength));
                copyLength = 0;
            }
        }

        List<Piece> build()
        {
            flush();
            return ImmutableList.copyOf(pieces);
        }
    }
}
