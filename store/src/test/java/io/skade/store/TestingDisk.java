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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A disk of its own in a folder, gone when it is closed. Who may not mount skips the test.
 */
final class TestingDisk
        implements AutoCloseable
{
    private final Path folder;

    /**
     * A new empty disk in memory.
     *
     * @param options of {@code mount}, such as {@code size=4m}
     */
    static TestingDisk create(Path folder, String options)
            throws IOException, InterruptedException
    {
        return new TestingDisk(folder, "-t", "tmpfs", "-o", options, "tmpfs");
    }

    /**
     * A folder once more, read-only.
     */
    static TestingDisk readOnly(Path folder, Path original)
            throws IOException, InterruptedException
    {
        return new TestingDisk(folder, "--bind", "-o", "ro", original.toString());
    }

    private TestingDisk(Path folder, String... arguments)
            throws IOException, InterruptedException
    {
        this.folder = Files.createDirectories(folder);
        Path output = Files.createTempFile(folder.getParent(), "mount", ".txt");
        ProcessBuilder mount = new ProcessBuilder(ImmutableList.<String>builder().add("mount").add(arguments).add(folder.toString()).build())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        int exitCode;
        try {
            exitCode = mount.start().waitFor();
        }
        catch (IOException e) {
            Files.writeString(output, e.getMessage(), UTF_8);
            exitCode = -1;
        }
        assumeTrue(exitCode == 0, "Cannot mount a disk: " + Files.readString(output, UTF_8).strip());
    }

    @Override
    public void close()
            throws IOException, InterruptedException
    {
        assertThat(new ProcessBuilder("umount", folder.toString()).inheritIO().start().waitFor()).isZero();
    }
}
