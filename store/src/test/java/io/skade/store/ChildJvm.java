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
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * A Java process of its own with the class path of this one, spoken to in lines.
 */
public final class ChildJvm
        implements AutoCloseable
{
    private final Process process;
    private final BufferedReader output;
    private final BufferedWriter input;

    /**
     * @param folder where the native library is put, once for all processes with this folder; a killed process would leave its own behind
     */
    public static ChildJvm start(Class<?> main, Path folder, String... arguments)
            throws IOException
    {
        return start(ImmutableList.of(), main, folder, arguments);
    }

    /**
     * @param prefix a command that runs the command behind it
     */
    public static ChildJvm start(List<String> prefix, Class<?> main, Path folder, String... arguments)
            throws IOException
    {
        return start(prefix, ImmutableList.of("-Djava.library.path=" + copyLibrary(folder)), main, arguments);
    }

    /**
     * @param options of the Java process; without more RocksDB unpacks its library
     */
    public static ChildJvm start(List<String> prefix, List<String> options, Class<?> main, String... arguments)
            throws IOException
    {
        ProcessBuilder builder = new ProcessBuilder(ImmutableList.<String>builder()
                .addAll(prefix)
                .add(Path.of(System.getProperty("java.home"), "bin", "java").toString())
                .add("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED")
                .addAll(options)
                .add(main.getName())
                .add(arguments)
                .build());
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        builder.redirectError(ProcessBuilder.Redirect.INHERIT);
        return new ChildJvm(builder.start());
    }

    /**
     * Puts RocksDB's library into a folder if it is not there, and gives the folder.
     */
    static Path copyLibrary(Path folder)
            throws IOException
    {
        String name = Environment.getJniLibraryFileName("rocksdb");
        if (!Files.exists(folder.resolve(name))) {
            try (InputStream library = RocksDB.class.getResourceAsStream("/" + name)) {
                Files.copy(requireNonNull(library, "library is null"), folder.resolve(name));
            }
        }
        return folder;
    }

    private ChildJvm(Process process)
    {
        this.process = process;
        this.output = process.inputReader(UTF_8);
        this.input = process.outputWriter(UTF_8);
    }

    long pid()
    {
        return process.pid();
    }

    /**
     * The next whole line that the process prints, null if it ended. What a killed process printed of a line without its end is no line.
     */
    public String readLine()
            throws IOException
    {
        StringBuilder line = new StringBuilder();
        for (int next = output.read(); next != -1; next = output.read()) {
            if (next == '\n') {
                return line.toString();
            }
            line.append((char) next);
        }
        return null;
    }

    void writeLine(String line)
            throws IOException
    {
        input.write(line);
        input.newLine();
        input.flush();
    }

    /**
     * Kills the process. What it printed before can still be read.
     */
    void kill()
    {
        process.toHandle().destroyForcibly();
    }

    /**
     * Waits for the end of the process.
     */
    public int exitCode()
            throws InterruptedException
    {
        return process.waitFor();
    }

    @Override
    public void close()
            throws InterruptedException
    {
        process.destroyForcibly();
        process.waitFor();
    }
}
