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
package io.skade.engine;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

/**
 * An engine for another process to use. Each line of the standard input is one request; the answer is its rows, a line each with
 * the values joined by {@code " | "}, and a line with a mark: {@code .} for success, {@code !} and the messages of the failure and
 * its causes for a failure. All else that is printed goes to the standard error.
 */
public final class EngineRequests
{
    private final PrintStream answers = System.out;

    /**
     * Takes over the standard output, so that nothing of the engine's own gets between the answers.
     */
    public EngineRequests()
    {
        System.setOut(System.err);
    }

    /**
     * Answers until the standard input ends.
     */
    public void serve(Engine engine)
            throws IOException
    {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String request = requests.readLine(); request != null; request = requests.readLine()) {
            try {
                for (List<?> row : engine.answer(request)) {
                    answers.println(row.stream().map(String::valueOf).collect(joining(" | ")));
                }
                answers.println(".");
            }
            catch (Exception e) {
                e.printStackTrace();
                StringBuilder messages = new StringBuilder();
                for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                    messages.append(' ').append(cause);
                }
                answers.println("!" + messages.toString().lines().collect(joining(" ")));
            }
            answers.flush();
        }
    }

    public interface Engine
    {
        /**
         * Gives the rows that answer a request.
         */
        List<? extends List<?>> answer(String request)
                throws Exception;
    }
}
