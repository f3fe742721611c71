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

import java.util.ArrayList;
import java.util.List;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * What was measured of one subject, in the order of the rounds.
 */
record Samples(List<Double> values)
{
    Samples
    {
        values = ImmutableList.copyOf(values);
        checkArgument(!values.isEmpty(), "no samples");
    }

    double median()
    {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /**
     * The median of the distances from the median.
     */
    double deviation()
    {
        double median = median();
        return new Samples(values.stream().map(value -> Math.abs(value - median)).toList()).median();
    }

    double min()
    {
        return values.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    }

    double max()
    {
        return values.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    }

    /**
     * The median of the ratios of the rounds, which a slow moment that met both leaves as it was.
     */
    double ratioTo(Samples other)
    {
        checkArgument(values.size() == other.values.size(), "%s samples to %s", values.size(), other.values.size());
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < values.size(); round++) {
            ratios.add(values.get(round) / other.values.get(round));
        }
        return new Samples(ratios).median();
    }
}
