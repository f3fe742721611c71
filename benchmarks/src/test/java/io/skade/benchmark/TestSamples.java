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

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

final class TestSamples
{
    @Test
    void testSummary()
    {
        Samples samples = new Samples(List.of(4.0, 1.0, 100.0, 2.0, 3.0));
        assertThat(samples.median()).isEqualTo(3);
        assertThat(samples.deviation()).isEqualTo(1);
        assertThat(samples.min()).isEqualTo(1);
        assertThat(samples.max()).isEqualTo(100);
        assertThat(new Samples(List.of(1.0, 2.0)).median()).isEqualTo(1.5);
    }

    /**
     * A round in which everything was ten times slower does not change the ratio.
     */
    @Test
    void testRatioIsOfRounds()
    {
        Samples ours = new Samples(List.of(1.0, 10.0, 1.0));
        Samples theirs = new Samples(List.of(3.0, 30.0, 3.0));
        assertThat(theirs.ratioTo(ours)).isEqualTo(3);
        assertThatThrownBy(() -> ours.ratioTo(new Samples(List.of(1.0))))
                .hasMessage("3 samples to 1");
    }
}
