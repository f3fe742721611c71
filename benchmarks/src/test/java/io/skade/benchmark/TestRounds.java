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

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

final class TestRounds
{
    private static final Scale ONE_STEP = new Scale(true, Duration.ZERO, Duration.ZERO, 3);

    @Test
    void testContendersTakeTurns()
            throws Exception
    {
        List<String> turns = new ArrayList<>();
        assertThat(Rounds.run(ONE_STEP, 1, List.of(
                new Contender("a", (_, _) -> turns.add("a")),
                new Contender("b", (_, _) -> turns.add("b")))))
                .hasSize(2)
                .allSatisfy((_, samples) -> assertThat(samples).hasSize(3));
        assertThat(turns).containsExactly(
                // warm-up
                "a",
                "b",
                // rounds
                "a",
                "b",
                "b",
                "a",
                "a",
                "b");
    }

    @Test
    void testThreadsAndSteps()
            throws Exception
    {
        AtomicInteger prepared = new AtomicInteger();
        AtomicInteger steps = new AtomicInteger();
        Contender contender = new Contender("a", prepared::incrementAndGet, (_, _) -> steps.incrementAndGet(), 5);
        Rounds.run(new Scale(true, Duration.ofDays(1), Duration.ofDays(1), 2), 4, List.of(contender));
        assertThat(prepared).hasValue(3);
        assertThat(steps).hasValue(3 * 4 * 5);
    }

    @Test
    void testFailureEndsTheRun()
    {
        assertThatThrownBy(() -> Rounds.run(ONE_STEP, 2, List.of(new Contender("a", (_, _) -> {
            throw new IllegalStateException("broken");
        }))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("broken");
    }
}
