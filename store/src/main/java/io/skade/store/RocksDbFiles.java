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
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.Comparator.comparingLong;

/**
 * RocksDB's files, looked at before it opens them, for damage over which it would open with less than what was committed: it makes a new
 * database where it finds none, takes a damaged end of the manifest for one that a crash cut off, and in the recovery mode that we need drops
 * a damaged record of the log and all that follow.
 *
 * <p>Logs and manifests consist of blocks, a block of chunks, and a record is a whole chunk or a row of chunks; see
 * <a href="https://github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format">the format</a>. A record of a log is a batch, which begins
 * with the number of its first write and how many it has. Batches are numbered without a gap, in all logs together.
 */
final class RocksDbFiles
{
    private static final int BLOCK_BYTES = 32768;
    private static final int HEADER_BYTES = 7;
    private static final int BATCH_HEADER_BYTES = 12;

    private static final int FULL = 1;
    private static final int FIRST = 2;
    private static final int LAST = 4;

    private RocksDbFiles() {}

    /**
     * What is wrong with the files, empty if nothing is. A record that a crash cut off at the end of a file is not.
     */
    static Optional<String> findDamage(Path folder)
            throws IOException
    {
        if (!holdsData(folder)) {
            return Optional.empty();
        }
        Path current = folder.resolve("CURRENT");
        if (!Files.exists(current)) {
            return Optional.of("CURRENT is missing");
        }
        String manifest = Files.readString(current, ISO_8859_1);
        if (!manifest.matches("MANIFEST-\\d+\n")) {
            return Optional.of("CURRENT is damaged");
        }
        Path manifestFile = folder.resolve(manifest.strip());
        if (!Files.exists(manifestFile)) {
            return Optional.of(manifestFile.getFileName() + " is missing");
        }
        if (!isWholeManifest(read(manifestFile))) {
            return Optional.of(manifestFile.getFileName() + " is damaged");
        }
        Logs logs = new Logs();
        for (Path log : logs(folder)) {
            if (!logs.read(read(log))) {
                return Optional.of("commits are lost before the end of " + log.getFileName());
            }
        }
        return Optional.empty();
    }

    /**
     * Whether there was a database before. RocksDB makes these files last.
     */
    static boolean holdsData(Path folder)
            throws IOException
    {
        try (Stream<Path> files = Files.list(folder)) {
            return files.anyMatch(file -> file.getFileName().toString().matches("\\d+\\.(log|sst)"));
        }
    }

    private static List<Path> logs(Path folder)
            throws IOException
    {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches("\\d{1,18}\\.log"))
                    .sorted(comparingLong(file -> Long.parseLong(file.getFileName().toString().replace(".log", ""))))
                    .collect(toImmutableList());
        }
    }

    private static ByteBuffer read(Path file)
            throws IOException
    {
        return ByteBuffer.wrap(Files.readAllBytes(file)).order(LITTLE_ENDIAN);
    }

    private static boolean isWholeManifest(ByteBuffer file)
    {
        int offset = 0;
        while (offset < file.limit()) {
            Chunk chunk = Chunk.at(file, offset);
            if (!chunk.isPadding() && !chunk.isWhole()) {
                return chunk.isCutOff();
            }
            offset += chunk.size();
        }
        return true;
    }

    /**
     * Where a chunk begins, or where bytes are left at the end of a block that are too few for one.
     */
    private record Chunk(ByteBuffer file, int offset, int left, boolean isPadding)
    {
        static Chunk at(ByteBuffer file, int offset)
        {
            int leftInBlock = BLOCK_BYTES - offset % BLOCK_BYTES;
            return new Chunk(file, offset, Math.min(leftInBlock, file.limit() - offset), leftInBlock < HEADER_BYTES);
        }

        int type()
        {
            return file.get(offset + 6);
        }

        private int length()
        {
            return Short.toUnsignedInt(file.getShort(offset + 4));
        }

        ByteBuffer content()
        {
            return file.slice(offset + HEADER_BYTES, length());
        }

        int size()
        {
            return isPadding ? left : HEADER_BYTES + length();
        }

        boolean isWhole()
        {
            return left >= HEADER_BYTES && type() >= FULL && type() <= LAST && HEADER_BYTES + length() <= left && hasChecksumOf(length());
        }

        /**
         * Whether a crash may have cut it off here: the file ends before the chunk does, and not because its length is damaged.
         */
        boolean isCutOff()
        {
            boolean endsFile = offset + left == file.limit();
            if (left < HEADER_BYTES) {
                return endsFile;
            }
            return endsFile && HEADER_BYTES + length() > left && !isWholeWithAnotherLength();
        }

        private boolean isWholeWithAnotherLength()
        {
            CRC32C checksum = new CRC32C();
            for (int i = 6; i < left; i++) {
                checksum.update(file.get(offset + i));
                if (isChecksum(checksum)) {
                    return true;
                }
            }
            return false;
        }

        private boolean hasChecksumOf(int length)
        {
            CRC32C checksum = new CRC32C();
            checksum.update(file.slice(offset + 6, 1 + length));
            return isChecksum(checksum);
        }

        private boolean isChecksum(CRC32C checksum)
        {
            int value = (int) checksum.getValue();
            return file.getInt(offset) == ((value >>> 15) | (value << 17)) + 0xA282EAD8;
        }
    }

    /**
     * The logs of a folder, one after the other.
     */
    private static final class Logs
    {
        private final ByteBuffer batchHeader = ByteBuffer.allocate(BATCH_HEADER_BYTES).order(LITTLE_ENDIAN);
        // whether a record has begun and was whole so far
        private boolean inRecord;
        // whether there was damage since the last whole record
        private boolean damaged;
        // the number that follows on the last whole record
        private OptionalLong next = OptionalLong.empty();

        /**
         * Reads a file, false if it has a whole record that does not follow on the last one before some damage.
         */
        private boolean read(ByteBuffer file)
        {
            int offset = 0;
            while (offset < file.limit()) {
                Chunk chunk = Chunk.at(file, offset);
                if (chunk.isPadding()) {
                    offset += chunk.size();
                }
                else if (!chunk.isWhole()) {
                    damage();
                    // not by its size, which may be what is damaged
                    offset++;
                }
                else {
                    if (!follows(chunk)) {
                        return false;
                    }
                    offset += chunk.size();
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

        private boolean follows(Chunk chunk)
        {
            if (chunk.type() == FULL || chunk.type() == FIRST) {
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
            ByteBuffer content = chunk.content();
            batchHeader.put(content.limit(Math.min(content.limit(), batchHeader.remaining())));
            if (chunk.type() == FULL || chunk.type() == LAST) {
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
    }
}
