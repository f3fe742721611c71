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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * Rounds in which each contender has a turn: whatever else the machine does meets all of them. Who is first changes from round to round.
 */
final class Rounds
{
    private Rounds() {}

    /**
     * The milliseconds a step of each contender, one sample a round: with several threads, the time of the turn by the steps of all.
     */
    static Map<String, List<Double>> run(Scale scale, int threads, List<Contender> contenders)
            throws Exception
    {
        checkArgument(!contenders.isEmpty(), "no contenders");
        Map<String, List<Double>> samples = new LinkedHashMap<>();
        contenders.forEach(contender -> samples.put(contender.name(), new ArrayList<>()));
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            for (Contender contender : contenders) {
                turn(executor, threads, contender, scale.warmUp());
            }
            for (int round = 0; round < scale.rounds(); round++) {
                for (int place = 0; place < contenders.size(); place++) {
                    Contender contender = contenders.get((round + place) % contenders.size());
                    samples.get(contender.name()).add(turn(executor, threads, contender, scale.turn()));
                }
            }
        }
        return samples;
    }

    private static double turn(ExecutorService executor, int threads, Contender contender, Duration duration)
            throws Exception
    {
        contender.prepare().run();
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Future<Turn>> turns = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int number = thread;
            turns.add(executor.submit(() -> {
                start.await();
                return steps(contender, number, duration);
            }));
        }
        long begin = Long.MAX_VALUE;
        long end = Long.MIN_VALUE;
        long steps = 0;
        for (Future<Turn> future : turns) {
            Turn turn = get(future);
            begin = Math.min(begin, turn.begin());
            end = Math.max(end, turn.end());
            steps += turn.steps();
        }
        return (end - begin) / 1e6 / steps;
    }

    private static Turn steps(Contender contender, int thread, Duration duration)
            throws Exception
    {
        long begin = System.nanoTime();
        long now = begin;
        int steps = 0;
        while (steps == 0 || (now - begin < duration.toNanos() && steps < contender.maxSteps())) {
            contender.step().run(thread, steps);
            steps++;
            now = System.nanoTime();
        }
        return new Turn(begin, now, steps);
    }

    private static Turn get(Future<Turn> turn)
            throws Exception
    {
        try {
            return turn.get();
        }
        catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private record Turn(long begin, long end, int steps) {}
}
