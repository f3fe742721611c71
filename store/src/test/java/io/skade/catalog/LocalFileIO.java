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
package io.skade.catalog;

import org.apache.iceberg.Files;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.io.PositionOutputStream;
import org.apache.iceberg.io.SeekableInputStream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * Files of the local disk, under their paths or {@code file:} locations.
 */
public final class LocalFileIO
        implements FileIO
{
    private static Path toPath(String location)
    {
        return Path.of(location.replaceFirst("^file:", ""));
    }

    @Override
    public InputFile newInputFile(String path)
    {
        if (!java.nio.file.Files.exists(toPath(path))) {
            throw new NotFoundException("Failed to open input stream for file: %s", path);
        }
        return new LocalInput(path);
    }

    @Override
    public OutputFile newOutputFile(String path)
    {
        return new LocalOutput(path);
    }

    @Override
    public void deleteFile(String path)
    {
        try {
            java.nio.file.Files.deleteIfExists(toPath(path));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record LocalInput(String location)
            implements InputFile
    {
        @Override
        public long getLength()
        {
            return file().getLength();
        }

        @Override
        public SeekableInputStream newStream()
        {
            return file().newStream();
        }

        @Override
        public boolean exists()
        {
            return file().exists();
        }

        private InputFile file()
        {
            return Files.localInput(toPath(location).toFile());
        }
    }

    private record LocalOutput(String location)
            implements OutputFile
    {
        @Override
        public PositionOutputStream create()
        {
            return file().create();
        }

        @Override
        public PositionOutputStream createOrOverwrite()
        {
            return file().createOrOverwrite();
        }

        @Override
        public InputFile toInputFile()
        {
            return new LocalInput(location);
        }

        private OutputFile file()
        {
            return Files.localOutput(toPath(location).toFile());
        }
    }
}
