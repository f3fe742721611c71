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

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.airlift.json.JsonMapperProvider;
import io.airlift.slice.Slices;
import io.skade.plugin.function.RefDiffSplit.ChangeType;
import io.trino.block.BlockJsonSerde;
import io.trino.plugin.iceberg.IcebergFileFormat;
import io.trino.plugin.iceberg.IcebergSplit.ParquetFileDecryptionData;
import io.trino.plugin.iceberg.delete.DeleteFile;
import io.trino.spi.Page;
import io.trino.spi.block.Block;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.function.table.TableFunctionProcessorState.Processed;
import io.trino.spi.function.table.TableFunctionSplitProcessor;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.FileFormat;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

import static io.trino.metadata.InternalBlockEncodingSerde.TESTING_BLOCK_ENCODING_SERDE;
import static io.trino.spi.function.table.TableFunctionProcessorState.Finished.FINISHED;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.TypeUtils.writeNativeValue;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What travels to the workers arrives as it was.
 */
class TestFunctionHandles
{
    private static final JsonMapper JSON = new JsonMapperProvider().get().rebuild()
            .addModule(new SimpleModule()
                    .addSerializer(Block.class, new BlockJsonSerde.Serializer(TESTING_BLOCK_ENCODING_SERDE))
                    .addDeserializer(Block.class, new BlockJsonSerde.Deserializer(TESTING_BLOCK_ENCODING_SERDE)))
            .build();
    private static final SchemaTableName TABLE = new SchemaTableName("sales", "orders");

    @Test
    void handles()
            throws IOException
    {
        assertRoundTrip(new AncestorsOfFunction.Handle(TABLE, OptionalLong.of(Long.MIN_VALUE)));
        assertRoundTrip(new AncestorsOfFunction.Handle(TABLE, OptionalLong.empty()));
        assertRoundTrip(new RefGraphFunction.Handle(TABLE));
        assertRoundTrip(new CheckStoreFunction.Handle(ImmutableSet.of(TABLE)));
        assertRoundTrip(new RebuildPreviewFunction.Handle(Optional.of("local:///warehouse")));
        assertRoundTrip(new RebuildPreviewFunction.Handle(Optional.empty()));
        assertRoundTrip(new PublishPreviewFunction.Handle(ImmutableList.of(TABLE), "Äudit", "main"));
        assertRoundTrip(new RefDiffFunction.Handle(TABLE, "{}", "{ }", ImmutableMap.of(0, "[]", 7, "[ ]"), Optional.of("[]"), ImmutableList.of(1L, Long.MAX_VALUE)));
    }

    private static void assertRoundTrip(Object value)
            throws IOException
    {
        assertThat((Object) JSON.readValue(JSON.writeValueAsString(value), value.getClass())).isEqualTo(value);
    }

    @Test
    void splitOfAFile()
            throws IOException
    {
        DeleteFile deletionVector = new DeleteFile(
                FileContent.POSITION_DELETES,
                "local:///dv",
                FileFormat.PUFFIN,
                3,
                100,
                ImmutableList.of(),
                OptionalLong.empty(),
                OptionalLong.of(9),
                4,
                OptionalLong.of(5),
                Optional.of(40),
                Optional.of(new ParquetFileDecryptionData(new byte[] {1}, new byte[] {2})));
        RefDiffSplit split = new RefDiffSplit(
                ChangeType.DELETE,
                17,
                2,
                1_796_038_000_123L,
                "local:///file",
                1000,
                10,
                IcebergFileFormat.ORC,
                3,
                ImmutableList.of(writeNativeValue(BIGINT, 5L), writeNativeValue(VARCHAR, null)),
                OptionalLong.of(6),
                ImmutableList.of(),
                Optional.of(ImmutableList.of(deletionVector)),
                Optional.empty());
        RefDiffSplit read = JSON.readValue(JSON.writeValueAsString(split), RefDiffSplit.class);
        assertThat(read).usingRecursiveComparison().ignoringFields("partitionValues").isEqualTo(split);
        assertThat(BIGINT.getLong(read.partitionValues().get(0), 0)).isEqualTo(5);
        assertThat(read.partitionValues().get(1).isNull(0)).isTrue();
        assertThat(read.getRetainedSizeInBytes()).isPositive();
    }

    @Test
    void splitOfRows()
            throws IOException
    {
        List<List<Object>> rows = ImmutableList.of(Arrays.asList(1L, "one"), Arrays.asList(2L, null), Arrays.asList(null, ""));
        RowsSplit split = RowsSplit.of(ImmutableList.of(BIGINT, VARCHAR), rows);
        RowsSplit read = JSON.readValue(JSON.writeValueAsString(split), RowsSplit.class);
        TableFunctionSplitProcessor processor = read.processor();
        Page page = ((Processed) processor.process()).getResult();
        assertThat(page.getPositionCount()).isEqualTo(3);
        assertThat(BIGINT.getLong(page.getBlock(0), 1)).isEqualTo(2);
        assertThat(page.getBlock(0).isNull(2)).isTrue();
        assertThat(VARCHAR.getSlice(page.getBlock(1), 0)).isEqualTo(Slices.utf8Slice("one"));
        assertThat(page.getBlock(1).isNull(1)).isTrue();
        assertThat(VARCHAR.getSlice(page.getBlock(1), 2)).isEqualTo(Slices.EMPTY_SLICE);
        assertThat(processor.process()).isEqualTo(FINISHED);
        assertThat(RowsSplit.of(ImmutableList.of(BIGINT), ImmutableList.of()).processor().process()).isEqualTo(FINISHED);
    }
}
