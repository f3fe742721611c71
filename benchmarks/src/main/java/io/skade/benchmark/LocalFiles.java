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

import org.apache.iceberg.Files;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.io.PositionOutputStream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * Files of the local disk. Iceberg's own reader of local files starts a process for each.
 */
final class LocalFiles
        implements FileIO
{
    private static final Pattern SCHEME = Pattern.compile("^file:(//)?");
    private static final int BUFFER_BYTES = 1 << 16;

    private final boolean sync;

    /**
     * Leaves it to the operating system when files become durable.
     */
    LocalFiles()
    {
        this(false);
    }

    private LocalFiles(boolean sync)
    {
        this.sync = sync;
    }

    /**
     * Makes each file durable before it is closed.
     */
    static LocalFiles synced()
    {
        return new LocalFiles(true);
    }

    static Path path(String location)
    {
        return Path.of(SCHEME.matcher(location).replaceFirst(""));
    }

    @Override
    public InputFile newInputFile(String location)
    {
        Path path = path(location);
        if (!java.nio.file.Files.exists(path)) {
            throw new NotFoundException("File does not exist: %s", location);
        }
        return Files.localInput(path.toFile());
    }

    @Override
    public OutputFile newOutputFile(String location)
    {
        return new LocalOutput(location);
    }

    @Override
    public void deleteFile(String location)
    {
        try {
            java.nio.file.Files.deleteIfExists(path(location));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private final class LocalOutput
            implements OutputFile
    {
        private final String location;

        private LocalOutput(String location)
        {
            this.location = location;
        }

        @Override
        public PositionOutputStream create()
        {
            try {
                return new LocalStream(open(path(location)));
            }
            catch (FileAlreadyExistsException e) {
                throw new AlreadyExistsException(e, "File already exists: %s", location);
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static FileChannel open(Path path)
                throws IOException
        {
            try {
                return FileChannel.open(path, CREATE_NEW, WRITE);
            }
            catch (NoSuchFileException _) {
                java.nio.file.Files.createDirectories(path.getParent());
                return FileChannel.open(path, CREATE_NEW, WRITE);
            }
        }

        @Override
        public PositionOutputStream createOrOverwrite()
        {
            deleteFile(location);
            return create();
        }

        @Override
        public String location()
        {
            return location;
        }

        @Override
        public InputFile toInputFile()
        {
            return newInputFile(location);
        }
    }

    private final class LocalStream
            extends PositionOutputStream
    {
        private final FileChannel channel;
        private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        private long written;

        private LocalStream(FileChannel channel)
        {
            this.channel = channel;
        }

        @Override
        public long getPos()
        {
            return written + buffer.position();
        }

        @Override
        public void write(int value)
                throws IOException
        {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length)
                throws IOException
        {
            if (length > buffer.remaining()) {
                flush();
            }
            if (length > buffer.remaining()) {
                write(ByteBuffer.wrap(bytes, offset, length));
                return;
            }
            buffer.put(bytes, offset, length);
        }

        @Override
        public void flush()
                throws IOException
        {
            write(buffer.flip());
            buffer.clear();
        }

        private void write(ByteBuffer bytes)
                throws IOException
        {
            while (bytes.hasRemaining()) {
                written += channel.write(bytes);
            }
        }

        @Override
        public void close()
                throws IOException
        {
            if (!channel.isOpen()) {
                return;
            }
            try (channel) {
                flush();
                if (sync) {
                    channel.force(true);
                }
            }
        }
    }
}
