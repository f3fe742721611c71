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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.util.Comparator.comparingLong;

/**
 * RocksDB's log files, read to see whether records follow one that is damaged. When RocksDB opens them in the mode that we need, it drops
 * the damaged record and all that follow, and says nothing.
 *
 * <p>A log file consists of blocks, a block of chunks, and a record is a whole chunk or a row of chunks; see
 * <a href="https://github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format">the format</a>. A record is a batch, which begins with the
 * number of its first write and how many it has. Batches are numbered without a gap, in all files together.
 */
final class WriteAheadLog
{
    private static final int BLOCK_BYTES = 32768;
    private static final int HEADER_BYTES = 7;
    private static final int BATCH_HEADER_BYTES = 12;

    private static final int FULL = 1;
    private static final int FIRST = 2;
    private static final int LAST = 4;

    private final ByteBuffer batchHeader = ByteBuffer.allocate(BATCH_HEADER_BYTES).order(LITTLE_ENDIAN);
    // whether a record has begun and was whole so far
    private boolean inRecord;
    // whether there was damage since the last whole record
    private boolean damaged;
    // the number that follows on the last whole record
    private OptionalLong next = OptionalLong.empty();

    private WriteAheadLog() {}

    /**
     * The first file with a whole record that does not follow on the last whole one before some damage; empty if nothing whole would be dropped.
     */
    static Optional<Path> findLostRecord(Path folder)
            throws IOException
    {
        WriteAheadLog log = new WriteAheadLog();
        for (Path file : files(folder)) {
            if (!log.read(ByteBuffer.wrap(Files.readAllBytes(file)).order(LITTLE_ENDIAN))) {
                return Optional.of(file);
            }
        }
        return Optional.empty();
    }

    private static List<Path> files(Path folder)
            throws IOException
    {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches("\\d{1,18}\\.log"))
                    .sorted(comparingLong(file -> Long.parseLong(file.getFileName().toString().replace(".log", ""))))
                    .collect(toImmutableList());
        }
    }

    /**
     * Reads a file, false if it has a whole record that does not follow on the last one before some damage.
     */
    private boolean read(ByteBuffer file)
    {
        int offset = 0;
        while (offset < file.limit()) {
            int leftInBlock = BLOCK_BYTES - offset % BLOCK_BYTES;
            int left = Math.min(leftInBlock, file.limit() - offset);
            if (leftInBlock < HEADER_BYTES) {
                offset += left;
            }
            else if (!isWhole(file, offset, left)) {
                damage();
                // not the length, which may be what is damaged
                offset++;
            }
            else {
                if (!follows(file.get(offset + 6), file.slice(offset + HEADER_BYTES, length(file, offset)))) {
                    return false;
                }
                offset += HEADER_BYTES + length(file, offset);
            }
        }
        if (inRecord) {
            damage();
        }
        return true;
    }

    private void damage()
    {
        damaged = true;
        inRecord = false;
    }

    private boolean follows(int type, ByteBuffer chunk)
    {
        if (type == FULL || type == FIRST) {
            if (inRecord) {
                damage();
            }
            inRecord = true;
            batchHeader.clear();
        }
        if (!inRecord) {
            // what is left of a damaged record
            damage();
            return true;
        }
        batchHeader.put(chunk.limit(Math.min(chunk.limit(), batchHeader.remaining())));
        if (type == FULL || type == LAST) {
            inRecord = false;
            long number = batchHeader.getLong(0);
            if (damaged && (next.isEmpty() || next.getAsLong() != number)) {
                return false;
            }
            damaged = false;
            next = OptionalLong.of(number + batchHeader.getInt(8));
        }
        return true;
    }

    private static boolean isWhole(ByteBuffer file, int offset, int left)
    {
        if (left < HEADER_BYTES) {
            return false;
        }
        int type = file.get(offset + 6);
        int length = length(file, offset);
        if (type < FULL || type > LAST || HEADER_BYTES + length > left) {
            return false;
        }
        CRC32C checksum = new CRC32C();
        checksum.update(file.slice(offset + 6, 1 + length));
        int value = (int) checksum.getValue();
        return file.getInt(offset) == ((value >>> 15) | (value << 17)) + 0xa282ead8;
    }

    private static int length(ByteBuffer file, int offset)
    {
        return Short.toUnsignedInt(file.getShort(offset + 4));
    }
}
