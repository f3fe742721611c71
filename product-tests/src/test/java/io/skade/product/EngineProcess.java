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
package io.skade.product;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Another engine in a process of its own, on Java 17, with its own jars: a main class that serves {@code EngineRequests} of the module
 * {@code product-tests/engine}.
 */
final class EngineProcess
        implements AutoCloseable
{
    private final Process process;
    private final Writer requests;
    private final BufferedReader answers;
    private final Path log;

    private EngineProcess(Process process, Path log)
    {
        this.process = process;
        this.requests = new OutputStreamWriter(process.getOutputStream(), UTF_8);
        this.answers = process.inputReader(UTF_8);
        this.log = log;
    }

    /**
     * The {@code java} of the JDK or JRE 17 of this machine: {@code JAVA17_HOME}, or one in the usual places. Without one the test is skipped.
     */
    static Path assumeJava(String engine)
            throws IOException
    {
        Optional<Path> java = findJava();
        assumeTrue(java.isPresent(), engine + " needs a Java 17 in JAVA17_HOME or in /usr/lib/jvm");
        return java.get();
    }

    private static Optional<Path> findJava()
            throws IOException
    {
        List<Path> candidates = new ArrayList<>();
        Optional.ofNullable(System.getenv("JAVA17_HOME")).map(Path::of).ifPresent(candidates::add);
        for (Path folder : List.of(Path.of("/usr/lib/jvm"), Path.of(System.getProperty("user.home"), ".sdkman/candidates/java"))) {
            if (Files.isDirectory(folder)) {
                try (Stream<Path> homes = Files.list(folder)) {
                    homes.sorted().forEach(candidates::add);
                }
            }
        }
        for (Path home : candidates) {
            if (Files.isExecutable(home.resolve("bin/java")) && Files.isReadable(home.resolve("release"))) {
                Properties release = new Properties();
                try (var reader = Files.newBufferedReader(home.resolve("release"))) {
                    release.load(reader);
                }
                if (release.getProperty("JAVA_VERSION", "").startsWith("\"17")) {
                    return Optional.of(home.resolve("bin/java"));
                }
            }
        }
        return Optional.empty();
    }

    /**
     * @param engine the module under {@code product-tests} with the main class
     * @param options of the JVM
     * @param log file that takes the standard error
     */
    static EngineProcess start(Path java, String engine, String mainClass, List<String> options, List<String> arguments, Path log)
            throws IOException
    {
        Path module = Path.of(engine, "target").toAbsolutePath();
        List<String> command = new ArrayList<>();
        command.add(java.toString());
        command.add("-Xmx1g");
        command.add("-Duser.timezone=UTC");
        command.addAll(options);
        command.addAll(List.of("-cp", module.resolve("classes") + ":" + Files.readString(module.resolve("classpath")).strip(), mainClass));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command)
                .redirectError(Redirect.to(log.toFile()))
                .start();
        return new EngineProcess(process, log);
    }

    /**
     * Gives the rows that answer a request.
     *
     * @throws AssertionError if the engine refuses it, with what the engine says
     */
    List<String> ask(String request)
            throws IOException
    {
        requests.write(request + "\n");
        requests.flush();
        List<String> rows = new ArrayList<>();
        for (String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.equals(".")) {
                return rows;
            }
            if (line.startsWith("!")) {
                throw new AssertionError("Refused: %s: %s".formatted(request, line));
            }
            rows.add(line);
        }
        throw new IllegalStateException("The engine ended at: %s, see %s".formatted(request, log));
    }

    @Override
    public void close()
            throws IOException, InterruptedException
    {
        requests.close();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }
}
