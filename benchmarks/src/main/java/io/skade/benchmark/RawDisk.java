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
package io.skade.benchmark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

import static java.lang.Math.toIntExact;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * What the disk itself does: the floor of all that is durable.
 */
final class RawDisk
        implements AutoCloseable
{
    static final String NAME = "disk";

    private static final int RECORD_BYTES = 1024;
    private static final int FILE_BYTES = 60 * 1024;

    private final Path folder;
    private final FileChannel log;
    private long arrived; // guarded by this
    private long durable; // guarded by this
    private boolean syncing; // guarded by this

    RawDisk(Path folder)
            throws IOException
    {
        this.folder = folder;
        this.log = FileChannel.open(folder.resolve("log"), CREATE_NEW, APPEND);
    }

    /**
     * Appends 1 KiB to a file, durably. One thread does it for all who wait; who comes meanwhile is in the next sync.
     */
    void append()
            throws IOException, InterruptedException
    {
        long records;
        synchronized (this) {
            long number = ++arrived;
            while (durable < number && syncing) {
                wait();
            }
            if (durable >= number) {
                return;
            }
            syncing = true;
            records = arrived - durable;
        }
        try {
            log.write(ByteBuffer.allocate(toIntExact(RECORD_BYTES * records)));
            log.force(false);
        }
        finally {
            synchronized (this) {
                durable += records;
                syncing = false;
                notifyAll();
            }
        }
    }

    /**
     * Writes a new file of 60 KiB.
     */
    void writeFile(String name)
            throws IOException
    {
        try (FileChannel channel = create(name)) {
            channel.write(ByteBuffer.allocate(FILE_BYTES));
        }
    }

    /**
     * Writes a new file of 60 KiB, durably with the folder's entry for it.
     */
    void writeSyncedFile(String name)
            throws IOException
    {
        try (FileChannel channel = create(name)) {
            channel.write(ByteBuffer.allocate(FILE_BYTES));
            channel.force(true);
        }
        try (FileChannel channel = FileChannel.open(folder, READ)) {
            channel.force(true);
        }
    }

    private FileChannel create(String name)
            throws IOException
    {
        return FileChannel.open(folder.resolve(name), CREATE_NEW, WRITE);
    }

    @Override
    public void close()
            throws IOException
    {
        log.close();
    }
}
