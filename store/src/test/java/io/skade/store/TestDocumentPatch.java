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
package io.skade.store;

import io.skade.store.DocumentPatch.Copy;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestDocumentPatch
{
    @Test
    void testSameDocument()
    {
        DocumentPatch patch = patch(parts("abc", "", "def"), parts("abc", "", "def"));
        assertThat(patch.pieces()).containsExactly(new Copy(0, 6));
        assertThat(patch.base()).isEqualTo("base");
        assertThat(patch.length()).isEqualTo(6);
    }

    @Test
    void testChangeInTheMiddleOfAPart()
    {
        String refs = "{'a':1,'c':3}".repeat(100);
        assertSmall(parts("head", refs, "tail"), parts("head", refs.substring(0, 500) + "'b':2," + refs.substring(500), "tail"), 60);
        assertSmall(parts("head", refs, "tail"), parts("head", refs.substring(0, 500) + refs.substring(520), "tail"), 60);
        assertSmall(parts("head1", refs, "tail1"), parts("head2", refs, "tail2"), 60);
    }

    /**
     * A list that loses its first entry and gets another at its end.
     */
    @Test
    void testListThatMovesOn()
    {
        List<String> entries = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            entries.add("{'timestamp-ms':%s,'metadata-file':'/warehouse/db/t/metadata/%05d-%s.metadata.json'}".formatted(1_700_000_000_000L + 977L * i, i, "x".repeat(i % 7)));
        }
        String before = entries.subList(0, 99).toString();
        String after = entries.subList(1, 100).toString();
        assertSmall(parts("head", before, "tail"), parts("head", after, "tail"), 200);
    }

    @Test
    void testOtherNumberOfParts()
    {
        assertThat(DocumentPatch.between("base", parts("a", "b"), parts("ab"))).isEmpty();
    }

    @Test
    void testSize()
    {
        DocumentPatch patch = patch(parts("abc".repeat(100)), parts("abc".repeat(50) + "x" + "abc".repeat(50)));
        assertThat(patch.size()).isEqualTo(9 + 5 + 1 + 9);
    }

    @Test
    void testRandomDocuments()
    {
        Random random = new Random(1);
        for (int round = 0; round < 5_000; round++) {
            List<byte[]> before = randomParts(random, 1 + random.nextInt(4));
            List<byte[]> after = new ArrayList<>();
            for (byte[] part : before) {
                after.add(random.nextBoolean() ? part : changed(random, part));
            }
            assertMakes(patch(before, after), before, after);
        }
    }

    private static List<byte[]> randomParts(Random random, int count)
    {
        return Stream.generate(() -> randomBytes(random, random.nextInt(300))).limit(count).toList();
    }

    /**
     * Of few values, so that likeness is everywhere.
     */
    private static byte[] randomBytes(Random random, int length)
    {
        byte[] bytes = new byte[length];
        int values = 1 + random.nextInt(4);
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) random.nextInt(values);
        }
        return bytes;
    }

    private static byte[] changed(Random random, byte[] bytes)
    {
        int from = random.nextInt(bytes.length + 1);
        int to = from + random.nextInt(bytes.length - from + 1);
        byte[] inserted = randomBytes(random, random.nextInt(100));
        byte[] result = new byte[from + inserted.length + bytes.length - to];
        System.arraycopy(bytes, 0, result, 0, from);
        System.arraycopy(inserted, 0, result, from, inserted.length);
        System.arraycopy(bytes, to, result, from + inserted.length, bytes.length - to);
        return result;
    }

    @Test
    void testOtherBase()
    {
        DocumentPatch patch = patch(parts("abc".repeat(100)), parts("abc".repeat(99)));
        assertThatThrownBy(() -> patch.apply(MetadataDocument.of("base", "xyz".repeat(100).getBytes(UTF_8)), "next"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a patch makes another document than the one that was committed");
        assertThatThrownBy(() -> patch.apply(MetadataDocument.of("base", new byte[0]), "next"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a piece reaches from 0 over 297 bytes, the document before has 0");
    }

    private static void assertSmall(List<byte[]> before, List<byte[]> after, int maxSize)
    {
        DocumentPatch patch = patch(before, after);
        assertThat(patch.size()).isLessThanOrEqualTo(maxSize);
        assertMakes(patch, before, after);
    }

    private static void assertMakes(DocumentPatch patch, List<byte[]> before, List<byte[]> after)
    {
        MetadataDocument base = new MetadataDocument("base", before, Optional.empty());
        MetadataDocument made = patch.apply(base, "next");
        assertThat(made.location()).isEqualTo("next");
        assertThat(made.content()).isEqualTo(new MetadataDocument("next", after, Optional.empty()).content());
        // by way of its bytes in a store
        assertThat(StoreFormat.readPatchValue(base, StoreFormat.patchValue("next", patch))).isEqualTo(made);
    }

    private static DocumentPatch patch(List<byte[]> before, List<byte[]> after)
    {
        return DocumentPatch.between("base", before, after).orElseThrow();
    }

    private static List<byte[]> parts(String... parts)
    {
        return Arrays.stream(parts).map(part -> part.getBytes(UTF_8)).collect(toImmutableList());
    }
}
