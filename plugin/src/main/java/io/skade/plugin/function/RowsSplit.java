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
package io.skade.plugin.function;

import com.google.common.collect.ImmutableList;
import io.airlift.slice.SizeOf;
import io.airlift.slice.Slices;
import io.trino.spi.Page;
import io.trino.spi.PageBuilder;
import io.trino.spi.block.Block;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.function.table.TableFunctionProcessorState;
import io.trino.spi.function.table.TableFunctionProcessorState.Processed;
import io.trino.spi.function.table.TableFunctionSplitProcessor;
import io.trino.spi.type.Type;
import io.trino.spi.type.TypeUtils;

import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;

import static io.airlift.slice.SizeOf.estimatedSizeOf;
import static io.trino.spi.function.table.TableFunctionProcessorState.Finished.FINISHED;

/**
 * All rows of a call, column by column.
 */
public record RowsSplit(int rowCount, List<Block> columns)
        implements ConnectorSplit
{
    private static final int INSTANCE_SIZE = SizeOf.instanceSize(RowsSplit.class);
    private static final int ROWS_PER_PAGE = 1024;

    public RowsSplit
    {
        columns = ImmutableList.copyOf(columns);
    }

    /**
     * @param rows the values of each row: {@code Long} for a type that is one in the engine, {@code String} for a varchar, or null
     */
    static RowsSplit of(Collection<Type> types, Collection<List<Object>> rows)
    {
        List<Type> columns = ImmutableList.copyOf(types);
        PageBuilder page = new PageBuilder(rows.size(), columns);
        for (List<Object> row : rows) {
            page.declarePosition();
            for (int column = 0; column < columns.size(); column++) {
                Object value = row.get(column) instanceof String string ? Slices.utf8Slice(string) : row.get(column);
                TypeUtils.writeNativeValue(columns.get(column), page.getBlockBuilder(column), value);
            }
        }
        Page built = page.build();
        return new RowsSplit(built.getPositionCount(), IntStream.range(0, columns.size()).mapToObj(built::getBlock).toList());
    }

    /**
     * Gives the rows in their order.
     */
    TableFunctionSplitProcessor processor()
    {
        Page all = new Page(rowCount, columns.toArray(Block[]::new));
        return new TableFunctionSplitProcessor()
        {
            private int position;

            @Override
            public TableFunctionProcessorState process()
            {
                if (position == rowCount) {
                    return FINISHED;
                }
                Page page = all.getRegion(position, Math.min(ROWS_PER_PAGE, rowCount - position));
                position += page.getPositionCount();
                return Processed.produced(page);
            }
        };
    }

    @Override
    public long getRetainedSizeInBytes()
    {
        return INSTANCE_SIZE + estimatedSizeOf(columns, Block::getRetainedSizeInBytes);
    }
}
