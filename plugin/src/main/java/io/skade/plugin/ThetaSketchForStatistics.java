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
package io.skade.plugin;

import io.trino.plugin.iceberg.aggregation.DataSketchState;
import io.trino.plugin.iceberg.aggregation.IcebergThetaSketchForStats;
import io.trino.spi.block.BlockBuilder;
import io.trino.spi.block.ValueBlock;
import io.trino.spi.function.AggregationFunction;
import io.trino.spi.function.AggregationState;
import io.trino.spi.function.BlockIndex;
import io.trino.spi.function.BlockPosition;
import io.trino.spi.function.CombineFunction;
import io.trino.spi.function.InputFunction;
import io.trino.spi.function.OutputFunction;
import io.trino.spi.function.SqlType;
import io.trino.spi.function.TypeParameter;
import io.trino.spi.type.StandardTypes;
import io.trino.spi.type.Type;

/**
 * The function by which a write counts distinct values: the one of Trino's Iceberg plugin under a name of its own. Two plugins that register
 * functions of one name keep a server from starting, and without Trino's Iceberg plugin nobody registers that one.
 */
@AggregationFunction(value = ThetaSketchForStatistics.NAME, hidden = true)
public final class ThetaSketchForStatistics
{
    static final String NAME = "$skade_theta_stat";

    private ThetaSketchForStatistics() {}

    @InputFunction
    @TypeParameter("T")
    public static void input(@TypeParameter("T") Type type, @AggregationState DataSketchState state, @BlockPosition @SqlType("T") ValueBlock block, @BlockIndex int index)
    {
        IcebergThetaSketchForStats.input(type, state, block, index);
    }

    @CombineFunction
    public static void combine(@AggregationState DataSketchState state, @AggregationState DataSketchState otherState)
    {
        IcebergThetaSketchForStats.combine(state, otherState);
    }

    @OutputFunction(StandardTypes.VARBINARY)
    public static void output(@AggregationState DataSketchState state, BlockBuilder out)
    {
        IcebergThetaSketchForStats.output(state, out);
    }
}
