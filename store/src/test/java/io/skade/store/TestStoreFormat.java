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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.skade.store.DocumentPatch.Copy;
import io.skade.store.DocumentPatch.Insert;
import io.skade.store.LogEntry.TableChange;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The bytes on disk. A change that breaks one of these tests makes stores unreadable that were written before: it needs a new
 * {@link StoreFormat#VERSION}.
 */
class TestStoreFormat
{
    private static final UUID ID = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");
    private static final String ID_BYTES = "00112233445566778899aabbccddeeff ";

    private static final TablePointer TABLE = new TablePointer(
            PointerKind.TABLE,
            ID,
            "u",
            "s3://b/m",
            ImmutableMap.of(
                    "v1", SnapshotRef.tagBuilder(2).maxRefAgeMs(1000L).build(),
                    "main", SnapshotRef.branchBuilder(-1).build(),
                    "dev", SnapshotRef.branchBuilder(3).minSnapshotsToKeep(4).maxSnapshotAgeMs(5L).maxRefAgeMs(6L).build()),
            7);
    private static final String TABLE_BYTES = "00 " + ID_BYTES +
            "00000001 75 " +
            "00000008 73333a2f2f622f6d " +
            "0000000000000007";
    private static final String BRANCH_BYTES = "00 0000000000000003 01 00000004 01 0000000000000005 01 0000000000000006";
    private static final String TAG_BYTES = "01 0000000000000002 00 00 01 00000000000003e8";

    private static final TablePointer VIEW = new TablePointer(PointerKind.VIEW, ID, "", "x", ImmutableMap.of(), 0);
    private static final String VIEW_BYTES = "01 " + ID_BYTES + "00000000 00000001 78 0000000000000000";

    private static final LogEntry ENTRY = new LogEntry(
            258,
            Instant.ofEpochMilli(1_800_000_000_123L),
            new CommitAuthor("älice", Optional.of("q1")),
            ImmutableList.of(
                    new TableChange(
                            TableIdentifier.of("db", "t"),
                            ID,
                            "fast_forward",
                            Optional.of("m"),
                            ImmutableList.of(
                                    new RefChange("main", Optional.of(SnapshotRef.branchBuilder(1).build()), Optional.of(SnapshotRef.branchBuilder(2).build())),
                                    new RefChange("v1", Optional.empty(), Optional.of(SnapshotRef.tagBuilder(2).build())))),
                    new TableChange(TableIdentifier.of("db", "s"), ID, "drop_table", Optional.empty(), ImmutableList.of(), -3)));
    private static final String ENTRY_BYTES = "0000000000000102 000001a3185c507b " +
            "00000006 c3a46c696365 01 00000002 7131 " +
            "00000002 " +
            "00000001 00000002 6462 00000001 74 " + ID_BYTES +
            "0000000c 666173745f666f7277617264 01 00000001 6d 00000002 " +
            "00000004 6d61696e 01 00 0000000000000001 00 00 00 01 00 0000000000000002 00 00 00 " +
            "00000002 7631 00 01 01 0000000000000002 00 00 00 00000000 " +
            "00000001 00000002 6462 00000001 73 " + ID_BYTES +
            "0000000a 64726f705f7461626c65 00 00000000 fffffffd";

    @Test
    void testFormatVersion()
    {
        assertHex(StoreFormat.formatKey(), "66");
        assertHex(StoreFormat.formatValue(StoreFormat.VERSION), "00000003");
        assertThat(StoreFormat.readFormatValue(bytes("00000001"))).isEqualTo(1);
        assertThat(StoreFormat.readFormatValue(StoreFormat.formatValue(7))).isEqualTo(7);
    }

    @Test
    void testDocument()
    {
        assertHex(StoreFormat.documentPrefix(), "64");
        assertHex(StoreFormat.documentKey(ID), "64 " + ID_BYTES);
        assertThat(StoreFormat.readDocumentKey(bytes("64 " + ID_BYTES))).isEqualTo(ID);
        MetadataDocument document = MetadataDocument.of("m", new byte[] {1, 2, -1});
        assertHex(StoreFormat.documentValue(document), "00000001 6d 0102ff");
        assertThat(StoreFormat.readDocumentValue(bytes("00000001 6d 0102ff"))).isEqualTo(document);
        assertUnreadable(StoreFormat::readDocumentValue, bytes("00000002 6d"), "2 things announced where 1 bytes are left");
        assertUnreadable(StoreFormat::readDocumentKey, bytes("64 00"), "it ends too early");
    }

    @Test
    void testPatch()
    {
        assertHex(StoreFormat.patchKey(ID, 258), "64 " + ID_BYTES + "00000102");
        assertThat(StoreFormat.readDocumentKey(bytes("64 " + ID_BYTES + "00000102"))).isEqualTo(ID);
        assertThat(StoreFormat.isDocumentKey(StoreFormat.documentKey(ID))).isTrue();
        assertThat(StoreFormat.isDocumentKey(StoreFormat.patchKey(ID, 1))).isFalse();

        DocumentPatch patch = new DocumentPatch("m", 5, 0x364B3FB7, ImmutableList.of(new Insert("ab".getBytes(UTF_8)), new Copy(1, 3)));
        String hex = "00000001 6e 00000005 364b3fb7 00000002 01 00000002 6162 00 00000001 00000003";
        assertHex(StoreFormat.patchValue("n", patch), hex);
        assertThat(StoreFormat.readPatchLocation(bytes(hex))).isEqualTo("n");
        MetadataDocument base = MetadataDocument.of("m", "?cde?".getBytes(UTF_8));
        // CRC-32C of "abcde": RFC 3720, B.4 has the polynomial
        CRC32C checksum = new CRC32C();
        checksum.update("abcde".getBytes(UTF_8));
        String valid = hex.replace("364b3fb7", HexFormat.of().toHexDigits((int) checksum.getValue()));
        assertThat(StoreFormat.readPatchValue(base, bytes(valid))).isEqualTo(MetadataDocument.of("n", "abcde".getBytes(UTF_8)));

        assertUnreadable(value -> StoreFormat.readPatchValue(base, value), bytes(hex.replace("364b3fb7", "00000000")), "a patch makes another document than the one that was committed");
        assertUnreadable(value -> StoreFormat.readPatchValue(base, value), bytes(hex.replace("00000005 364b3fb7", "00000006 364b3fb7")), "a patch makes 5 bytes, not 6");
        assertUnreadable(value -> StoreFormat.readPatchValue(base, value), bytes(hex.replace("00 00000001 00000003", "00 00000003 00000003")), "a piece reaches from 3 over 3 bytes, the document before has 5");
        assertUnreadable(value -> StoreFormat.readPatchValue(base, value), bytes(hex.replace("00 00000001 00000003", "02 00000001 00000003")), "unknown kind of piece");
    }

    @Test
    void testRef()
    {
        assertHex(StoreFormat.refPrefix(), "72");
        String key = "72 00000001 00000002 6462 00000001 74 c3a42f62";
        assertHex(StoreFormat.refKey(TableIdentifier.of("db", "t"), "ä/b"), key);
        assertThat(StoreFormat.readTableOfRefKey(bytes(key))).isEqualTo(TableIdentifier.of("db", "t"));
        assertThat(StoreFormat.readNameOfRefKey(bytes(key))).isEqualTo("ä/b");
        assertHex(StoreFormat.refValue(TABLE.refs().get("dev")), BRANCH_BYTES);
        assertHex(StoreFormat.refValue(TABLE.refs().get("v1")), TAG_BYTES);
        assertHex(StoreFormat.refValue(TABLE.refs().get("main")), "00 ffffffffffffffff 00 00 00");
        assertThat(StoreFormat.readRefValue(bytes(BRANCH_BYTES))).isEqualTo(TABLE.refs().get("dev"));
        assertThat(StoreFormat.readRefValue(bytes(TAG_BYTES))).isEqualTo(TABLE.refs().get("v1"));
    }

    @Test
    void testLogKey()
    {
        assertHex(StoreFormat.logPrefix(), "6c");
        assertHex(StoreFormat.logEnd(), "6d");
        assertHex(StoreFormat.logKey(1), "6c fffffffffffffffe");
        assertHex(StoreFormat.logKey(258), "6c fffffffffffffefd");
    }

    @Test
    void testNewestLogKeySortsFirst()
    {
        long[] logIds = {1, 2, 255, 256, 65_536, 1L << 40, Long.MAX_VALUE};
        for (int i = 1; i < logIds.length; i++) {
            assertThat(Arrays.compareUnsigned(StoreFormat.logKey(logIds[i]), StoreFormat.logKey(logIds[i - 1]))).as("log id %s", logIds[i]).isNegative();
            assertThat(Arrays.compareUnsigned(StoreFormat.tableLogKey(ID, logIds[i]), StoreFormat.tableLogKey(ID, logIds[i - 1]))).as("log id %s", logIds[i]).isNegative();
        }
    }

    @Test
    void testTableLogKey()
    {
        assertHex(StoreFormat.tableLogPrefix(ID), "74 " + ID_BYTES);
        assertHex(StoreFormat.tableLogKey(ID, 5), "74 " + ID_BYTES + "fffffffffffffffa");
        assertThat(StoreFormat.readTableLogKey(bytes("74 " + ID_BYTES + "fffffffffffffffa"))).isEqualTo(5);
    }

    @Test
    void testNamespaceKey()
    {
        assertHex(StoreFormat.namespacePrefix(), "6e");
        assertNamespaceKey(Namespace.empty(), "6e 00000000");
        assertNamespaceKey(Namespace.of("db"), "6e 00000001 00000002 6462");
        assertNamespaceKey(Namespace.of("a.b", "ü", ""), "6e 00000003 00000003 612e62 00000002 c3bc 00000000");
    }

    private static void assertNamespaceKey(Namespace namespace, String hex)
    {
        assertHex(StoreFormat.namespaceKey(namespace), hex);
        assertThat(StoreFormat.readNamespaceKey(bytes(hex))).isEqualTo(namespace);
    }

    @Test
    void testPointerKey()
    {
        assertHex(StoreFormat.pointerPrefix(), "70");
        assertPointerKey(TableIdentifier.of("db", "t"), "70 00000001 00000002 6462 00000001 74");
        assertPointerKey(TableIdentifier.of(Namespace.empty(), "t"), "70 00000000 00000001 74");
        assertPointerKey(TableIdentifier.of("a", "b", "😀/t"), "70 00000002 00000001 61 00000001 62 00000006 f09f98802f74");
    }

    private static void assertPointerKey(TableIdentifier name, String hex)
    {
        assertHex(StoreFormat.pointerKey(name), hex);
        assertThat(StoreFormat.readPointerKey(bytes(hex))).isEqualTo(name);
    }

    @Test
    void testKeysOfSimilarNamesDiffer()
    {
        assertThat(Stream.of(
                        TableIdentifier.of("a", "b", "c"),
                        TableIdentifier.of(Namespace.of("a.b"), "c"),
                        TableIdentifier.of(Namespace.of("a"), "b.c"),
                        TableIdentifier.of(Namespace.empty(), "a.b.c"))
                .map(StoreFormat::pointerKey)
                .map(HexFormat.of()::formatHex))
                .doesNotHaveDuplicates();
    }

    @Test
    void testNamespaceValue()
    {
        assertHex(StoreFormat.namespaceValue(ImmutableMap.of()), "00000000");
        assertHex(StoreFormat.namespaceValue(ImmutableMap.of("k", "v", "e", "")), "00000002 00000001 6b 00000001 76 00000001 65 00000000");
        assertThat(StoreFormat.readNamespaceValue(bytes("00000002 00000001 6b 00000001 76 00000001 65 00000000"))).isEqualTo(ImmutableMap.of("k", "v", "e", ""));
    }

    @Test
    void testPointerValue()
    {
        assertHex(StoreFormat.pointerValue(TABLE), TABLE_BYTES);
        assertThat(readPointer(bytes(TABLE_BYTES))).isEqualTo(TABLE);
        assertHex(StoreFormat.pointerValue(VIEW), VIEW_BYTES);
        assertThat(StoreFormat.readPointerValue(bytes(VIEW_BYTES), ImmutableMap.of())).isEqualTo(VIEW);
    }

    private static TablePointer readPointer(byte[] value)
    {
        return StoreFormat.readPointerValue(value, TABLE.refs());
    }

    @Test
    void testLogValue()
    {
        assertHex(StoreFormat.logValue(ENTRY), ENTRY_BYTES);
        assertThat(StoreFormat.readLogValue(bytes(ENTRY_BYTES))).isEqualTo(ENTRY);
    }

    private static Stream<Readable> readables()
    {
        return Stream.of(
                new Readable("format version", "00000001", StoreFormat::readFormatValue),
                new Readable("log key of a table", "74 " + ID_BYTES + "fffffffffffffffa", StoreFormat::readTableLogKey),
                new Readable("namespace key", "6e 00000002 00000001 61 00000001 62", StoreFormat::readNamespaceKey),
                new Readable("pointer key", "70 00000001 00000002 6462 00000001 74", StoreFormat::readPointerKey),
                new Readable("namespace", "00000001 00000001 6b 00000001 76", StoreFormat::readNamespaceValue),
                new Readable("table", TABLE_BYTES, TestStoreFormat::readPointer),
                new Readable("view", VIEW_BYTES, TestStoreFormat::readPointer),
                new Readable("branch", BRANCH_BYTES, StoreFormat::readRefValue),
                new Readable("tag", TAG_BYTES, StoreFormat::readRefValue),
                new Readable("log entry", ENTRY_BYTES, StoreFormat::readLogValue));
    }

    @ParameterizedTest
    @MethodSource("readables")
    void testCutBytesAreRefused(Readable readable)
    {
        byte[] whole = bytes(readable.hex());
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> readable.reader().apply(cut))
                    .as("first %s bytes", length)
                    .isInstanceOf(UnreadableRecordException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("readables")
    void testLeftOverBytesAreRefused(Readable readable)
    {
        byte[] whole = bytes(readable.hex());
        assertUnreadable(readable.reader(), Arrays.copyOf(whole, whole.length + 1), "1 bytes are left over");
    }

    /**
     * Any byte of a record may be damaged: that gives another value or an {@link UnreadableRecordException}, never another error.
     */
    @ParameterizedTest
    @MethodSource("readables")
    void testDamagedBytes(Readable readable)
    {
        byte[] whole = bytes(readable.hex());
        for (int i = 0; i < whole.length; i++) {
            for (int value : new int[] {0, 1, 2, 0x7F, 0x80, 0xFF}) {
                byte[] damaged = whole.clone();
                damaged[i] = (byte) value;
                try {
                    readable.reader().apply(damaged);
                }
                catch (UnreadableRecordException e) {
                    assertThat(e.getMessage()).as("byte %s set to %s", i, value).isNotEmpty();
                }
            }
        }
    }

    @Test
    void testUnreadableValues()
    {
        assertUnreadable(TestStoreFormat::readPointer, bytes("02" + VIEW_BYTES.substring(2)), "unknown kind of pointer");
        assertUnreadable(TestStoreFormat::readPointer, bytes(VIEW_BYTES.replace("0000000000000000", "ffffffffffffffff")), "version is negative: -1");
        assertUnreadable(TestStoreFormat::readPointer, bytes("01 " + ID_BYTES + "00000000 00000000 0000000000000000"), "metadataLocation is empty");
        assertUnreadable(StoreFormat::readRefValue, bytes("02 " + TAG_BYTES.substring(3)), "unknown type of ref");
        assertUnreadable(StoreFormat::readRefValue, bytes("00 ffffffffffffffff 02 00 00"), "a value is neither there nor absent");
        assertUnreadable(StoreFormat::readNamespaceValue, bytes("00000001 00000001 ff 00000001 76"), "Input length = 1");
        assertUnreadable(StoreFormat::readNamespaceValue, bytes("00000002 00000001 6b 00000001 76 00000001 6b 00000001 76"), "Multiple entries with same key: k=v and k=v");
    }

    @Test
    void testUnreadableCounts()
    {
        for (String count : new String[] {"ffffffff", "80000000", "7fffffff", "00000010"}) {
            String message = " things announced where ";
            assertUnreadable(StoreFormat::readNamespaceKey, bytes("6e " + count + " 00000001 61"), message);
            assertUnreadable(StoreFormat::readNamespaceKey, bytes("6e 00000001 " + count + " 61"), message);
            assertUnreadable(StoreFormat::readNamespaceValue, bytes(count + " 00000001 6b 00000001 76"), message);
            assertUnreadable(TestStoreFormat::readPointer, bytes("01 " + ID_BYTES + count + " 00000001 78 0000000000000000"), message);
            assertUnreadable(StoreFormat::readLogValue, bytes("0000000000000001 0000000000000001 00000001 61 00 " + count), message);
        }
    }

    /**
     * Such a string has no bytes of its own in UTF-8; with a replacement two names would become one.
     */
    @Test
    void testStringThatIsNotUnicodeIsNotWritten()
    {
        assertThatThrownBy(() -> StoreFormat.pointerKey(TableIdentifier.of("db", "t\ud800"))).isInstanceOf(UncheckedIOException.class);
        assertThatThrownBy(() -> StoreFormat.namespaceValue(ImmutableMap.of("k", "\udc00"))).isInstanceOf(UncheckedIOException.class);
    }

    private static void assertUnreadable(Function<byte[], ?> reader, byte[] value, String reason)
    {
        assertThatThrownBy(() -> reader.apply(value))
                .isInstanceOf(UnreadableRecordException.class)
                .hasMessageContaining(reason);
    }

    private static void assertHex(byte[] actual, String expected)
    {
        assertThat(HexFormat.of().formatHex(actual)).isEqualTo(expected.replace(" ", ""));
    }

    private static byte[] bytes(String hex)
    {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    private record Readable(String name, String hex, Function<byte[], ?> reader)
    {
        @Override
        public String toString()
        {
            return name;
        }
    }
}
