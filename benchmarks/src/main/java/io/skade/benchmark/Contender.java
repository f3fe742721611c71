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

import static java.util.Objects.requireNonNull;

/**
 * One of those that take turns at the same work.
 *
 * @param prepare what comes before each turn and is not measured
 * @param step what is measured
 * @param maxSteps how many a thread makes in a turn at most
 */
record Contender(String name, Action prepare, Step step, int maxSteps)
{
    Contender
    {
        requireNonNull(name, "name is null");
        requireNonNull(prepare, "prepare is null");
        requireNonNull(step, "step is null");
    }

    Contender(String name, Step step)
    {
        this(name, () -> {}, step, Integer.MAX_VALUE);
    }

    Contender withMaxSteps(int steps)
    {
        return new Contender(name, prepare, step, Math.min(maxSteps, steps));
    }

    interface Action
    {
        void run()
                throws Exception;
    }

    interface Step
    {
        /**
         * @param number counted from 0 in each turn
         */
        void run(int thread, int number)
                throws Exception;
    }
}
