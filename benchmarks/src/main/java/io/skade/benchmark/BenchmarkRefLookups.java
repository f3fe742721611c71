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

import com.google.common.collect.ImmutableList;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The JMH benchmarks of refs: rounds of a fork for each catalog.
 */
final class BenchmarkRefLookups
        implements Part
{
    private static final String FLOOR = "map";
    private static final String ALLOCATION = "gc.alloc.rate.norm";

    @Override
    public void run(Scale scale, Path folder, Report report)
            throws Exception
    {
        List<String> all = ImmutableList.<String>builder().addAll(Peers.names()).add(FLOOR).build();
        measure(scale, folder, report, "resolve", "lookup: resolve a ref, 1 thread", 1, all);
        measure(scale, folder, report, "resolve", "lookup: resolve a ref, 2 threads", 2, List.of(Peers.SKADE, FLOOR));
        measure(scale, folder, report, "list", "lookup: list 256 refs", 1, all);
    }

    private static void measure(Scale scale, Path folder, Report report, String method, String work, int threads, List<String> subjects)
            throws Exception
    {
        Map<String, List<Double>> nanos = new LinkedHashMap<>();
        Map<String, List<Double>> bytes = new LinkedHashMap<>();
        for (int round = 0; round < (scale.quick() ? 2 : 5); round++) {
            for (String subject : subjects) {
                for (IterationResult iteration : iterations(scale, folder, method, threads, subject)) {
                    nanos.computeIfAbsent(subject, _ -> new ArrayList<>()).add(iteration.getPrimaryResult().getScore());
                    Result<?> allocated = iteration.getSecondaryResults().get(ALLOCATION);
                    bytes.computeIfAbsent(subject, _ -> new ArrayList<>()).add(allocated.getScore());
                }
            }
        }
        report.add(work, "ns", nanos);
        if (threads == 1) {
            report.add(work + ", allocated", "B", bytes);
        }
    }

    private static Iterable<IterationResult> iterations(Scale scale, Path folder, String method, int threads, String subject)
            throws Exception
    {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .forks(1)
                .jvmArgs("-Xmx2g", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow")
                .threads(threads)
                .warmupIterations(scale.quick() ? 1 : 2)
                .warmupTime(TimeValue.milliseconds(scale.quick() ? 500 : 1500))
                .measurementIterations(scale.quick() ? 2 : 3)
                .measurementTime(TimeValue.milliseconds(scale.quick() ? 300 : 1000))
                .addProfiler(GCProfiler.class)
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
        if (subject.equals(FLOOR)) {
            options.include(MapLookupBenchmark.class.getName() + "." + method + "$");
        }
        else {
            options.include(RefLookupBenchmark.class.getName() + "." + method + "$")
                    .param("catalog", subject)
                    .jvmArgsAppend(
                            "-D%s=%s".formatted(RefLookupBenchmark.FOLDER, folder),
                            "-D%s=%s".formatted(Peers.POSTGRESQL_URL, System.getProperty(Peers.POSTGRESQL_URL, "")));
        }
        List<RunResult> results = List.copyOf(new Runner(options.build()).run());
        return results.getFirst().getBenchmarkResults().iterator().next().getIterationResults();
    }
}
