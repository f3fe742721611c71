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

import java.time.Duration;

/**
 * How long to measure.
 *
 * @param warmUp a contender's turn before all rounds
 * @param turn how long a contender's turn in a round is, if it has enough to do
 */
record Scale(boolean quick, Duration warmUp, Duration turn, int rounds)
{
    static final Scale QUICK = new Scale(true, Duration.ofMillis(500), Duration.ofMillis(150), 5);
    static final Scale FULL = new Scale(false, Duration.ofSeconds(4), Duration.ofMillis(700), 15);

    /**
     * One statement a turn: what a statement leaves must not be more of it for who is faster.
     */
    Scale statements()
    {
        return new Scale(quick, warmUp, Duration.ZERO, quick ? 7 : 31);
    }
}
