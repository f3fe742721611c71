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
package io.skade.plugin.rest;

import io.trino.spi.TrinoException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.function.Function;

import static io.trino.spi.StandardErrorCode.CONFIGURATION_INVALID;
import static io.trino.spi.StandardErrorCode.CONFIGURATION_UNAVAILABLE;
import static java.util.Objects.requireNonNull;

/**
 * What stands in a file, read again when the file was changed.
 */
final class WatchedFile<T>
{
    private final Path file;
    private final Function<List<String>, T> parser;
    private volatile Content<T> content;

    /**
     * @param parser throws {@link IllegalArgumentException} if the lines are wrong
     * @throws TrinoException if the file cannot be read or is wrong
     */
    WatchedFile(Path file, Function<List<String>, T> parser)
    {
        this.file = requireNonNull(file, "file is null");
        this.parser = requireNonNull(parser, "parser is null");
        this.content = read();
    }

    /**
     * @throws TrinoException if the file cannot be read or is wrong
     */
    T get()
    {
        Content<T> present = content;
        if (!present.modified().equals(modified())) {
            present = read();
            content = present;
        }
        return present.value();
    }

    private Content<T> read()
    {
        FileTime modified = modified();
        try {
            return new Content<>(modified, parser.apply(Files.readAllLines(file)));
        }
        catch (IOException e) {
            throw new TrinoException(CONFIGURATION_UNAVAILABLE, "Cannot read " + file, e);
        }
        catch (IllegalArgumentException e) {
            throw new TrinoException(CONFIGURATION_INVALID, "Invalid file %s: %s".formatted(file, e.getMessage()), e);
        }
    }

    private FileTime modified()
    {
        try {
            return Files.getLastModifiedTime(file);
        }
        catch (IOException e) {
            throw new TrinoException(CONFIGURATION_UNAVAILABLE, "Cannot read " + file, e);
        }
    }

    private record Content<T>(FileTime modified, T value) {}
}
