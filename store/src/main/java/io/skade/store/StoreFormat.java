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
import io.skade.store.LogEntry.TableChange;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SnapshotRefType;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Every key and value byte of the store, version {@value #VERSION}.
 *
 * <p>All keys are in one column family. The first byte of a key says what it is:
 * <pre>
 * 'd' pointer id (16 bytes)                 the metadata document of a pointer, as a whole
 * 'd' pointer id (16 bytes) number (int)    what came after the whole document: patches, each on the one before
 * 'f'                                       the format version (int)
 * 'l' inverted log id (8 bytes)             a log entry; the newest sorts first
 * 'n' namespace                             properties of a namespace
 * 'p' namespace name                        a pointer without its refs
 * 'r' namespace name ref                    a ref of the pointer of that name; the name of the ref is the rest of the key
 * 't' pointer id (16 bytes) inverted log id nothing: the entry is the one under 'l'
 * </pre>
 * Numbers are big-endian. A string is its length in bytes (int) and its UTF-8 bytes, a namespace the number of its levels (int) and
 * the levels. Lengths come first, so that no character of a name can be taken for a separator.
 *
 * <p>All that read throw an {@link UnreadableRecordException} for bytes that are not of this format.
 */
final class StoreFormat
{
    static final int VERSION = 3;

    private static final byte DOCUMENT = 'd';
    private static final byte FORMAT = 'f';
    private static final byte LOG = 'l';
    private static final byte NAMESPACE = 'n';
    private static final byte POINTER = 'p';
    private static final byte REF = 'r';
    private static final byte TABLE_LOG = 't';

    private StoreFormat() {}

    static byte[] formatKey()
    {
        return new byte[] {FORMAT};
    }

    static byte[] documentPrefix()
    {
        return new byte[] {DOCUMENT};
    }

    static byte[] documentKey(UUID pointerId)
    {
        return write(out -> {
            out.writeByte(DOCUMENT);
            writeUuid(out, pointerId);
        });
    }

    /**
     * @param number from 1 on
     */
    static byte[] patchKey(UUID pointerId, int number)
    {
        return write(out -> {
            out.writeByte(DOCUMENT);
            writeUuid(out, pointerId);
            out.writeInt(number);
        });
    }

    /**
     * Whether the key is that of a whole document, not of a patch.
     */
    static boolean isDocumentKey(byte[] key)
    {
        return key.length == 1 + 16;
    }

    /**
     * The pointer id in the key of a document or patch.
     */
    static UUID readDocumentKey(byte[] key)
    {
        return read(key, in -> {
            in.skipNBytes(1);
            UUID pointerId = readUuid(in);
            if (!isDocumentKey(key)) {
                in.readInt();
            }
            return pointerId;
        });
    }

    static byte[] documentValue(MetadataDocument document)
    {
        return write(out -> {
            writeString(out, document.location());
            for (byte[] part : document.parts()) {
                out.write(part);
            }
        });
    }

    static MetadataDocument readDocumentValue(byte[] value)
    {
        return read(value, in -> MetadataDocument.of(readString(in), in.readAllBytes()));
    }

    /**
     * @param location of the document that the patch makes
     */
    static byte[] patchValue(String location, DocumentPatch patch)
    {
        return write(out -> {
            writeString(out, location);
            out.writeInt(patch.length());
            out.writeInt(patch.checksum());
            out.writeInt(patch.pieces().size());
            for (DocumentPatch.Piece piece : patch.pieces()) {
                switch (piece) {
                    case DocumentPatch.Copy(int offset, int length) -> {
                        out.writeByte(0);
                        out.writeInt(offset);
                        out.writeInt(length);
                    }
                    case DocumentPatch.Insert(byte[] bytes) -> {
                        out.writeByte(1);
                        out.writeInt(bytes.length);
                        out.write(bytes);
                    }
                }
            }
        });
    }

    /**
     * The document that the value of a patch makes of the one before.
     */
    static MetadataDocument readPatchValue(MetadataDocument base, byte[] value)
    {
        return read(value, in -> {
            String location = readString(in);
            int length = in.readInt();
            int checksum = in.readInt();
            int count = readCount(in);
            ImmutableList.Builder<DocumentPatch.Piece> pieces = ImmutableList.builder();
            for (int i = 0; i < count; i++) {
                pieces.add(switch (in.readByte()) {
                    case 0 -> new DocumentPatch.Copy(in.readInt(), in.readInt());
                    case 1 -> new DocumentPatch.Insert(in.readNBytes(readCount(in)));
                    default -> throw new IOException("unknown kind of piece");
                });
            }
            return new DocumentPatch(base.location(), length, checksum, pieces.build()).apply(base, location);
        });
    }

    /**
     * The location of the document that the value of a patch makes.
     */
    static String readPatchLocation(byte[] value)
    {
        return read(value, in -> {
            String location = readString(in);
            in.readAllBytes();
            return location;
        });
    }

    static byte[] namespacePrefix()
    {
        return new byte[] {NAMESPACE};
    }

    static byte[] pointerPrefix()
    {
        return new byte[] {POINTER};
    }

    static byte[] refPrefix()
    {
        return new byte[] {REF};
    }

    static byte[] refKey(TableIdentifier table, String ref)
    {
        return write(out -> {
            out.writeByte(REF);
            writeName(out, table);
            out.write(encode(ref));
        });
    }

    static TableIdentifier readTableOfRefKey(byte[] key)
    {
        return read(key, in -> {
            in.skipNBytes(1);
            TableIdentifier table = readName(in);
            in.readAllBytes();
            return table;
        });
    }

    static String readNameOfRefKey(byte[] key)
    {
        return read(key, in -> {
            in.skipNBytes(1);
            readName(in);
            return decode(in.readAllBytes());
        });
    }

    static byte[] refValue(SnapshotRef ref)
    {
        return write(out -> writeRef(out, ref));
    }

    static SnapshotRef readRefValue(byte[] value)
    {
        return read(value, StoreFormat::readRef);
    }

    static byte[] logPrefix()
    {
        return new byte[] {LOG};
    }

    /**
     * Sorts after every log entry.
     */
    static byte[] logEnd()
    {
        return new byte[] {LOG + 1};
    }

    static byte[] logKey(long logId)
    {
        return write(out -> {
            out.writeByte(LOG);
            out.writeLong(~logId);
        });
    }

    static byte[] tableLogPrefix(UUID pointerId)
    {
        return write(out -> {
            out.writeByte(TABLE_LOG);
            writeUuid(out, pointerId);
        });
    }

    static byte[] tableLogKey(UUID pointerId, long logId)
    {
        return write(out -> {
            out.writeByte(TABLE_LOG);
            writeUuid(out, pointerId);
            out.writeLong(~logId);
        });
    }

    static long readTableLogKey(byte[] key)
    {
        return read(key, in -> {
            in.skipNBytes(1 + 16);
            return ~in.readLong();
        });
    }

    static byte[] namespaceKey(Namespace namespace)
    {
        return write(out -> {
            out.writeByte(NAMESPACE);
            writeNamespace(out, namespace);
        });
    }

    static Namespace readNamespaceKey(byte[] key)
    {
        return read(key, in -> {
            in.skipNBytes(1);
            return readNamespace(in);
        });
    }

    static byte[] pointerKey(TableIdentifier name)
    {
        return write(out -> {
            out.writeByte(POINTER);
            writeName(out, name);
        });
    }

    static TableIdentifier readPointerKey(byte[] key)
    {
        return read(key, in -> {
            in.skipNBytes(1);
            return readName(in);
        });
    }

    static byte[] formatValue(int version)
    {
        return write(out -> out.writeInt(version));
    }

    static int readFormatValue(byte[] value)
    {
        return read(value, DataInputStream::readInt);
    }

    static byte[] namespaceValue(Map<String, String> properties)
    {
        return write(out -> {
            out.writeInt(properties.size());
            for (Map.Entry<String, String> property : properties.entrySet()) {
                writeString(out, property.getKey());
                writeString(out, property.getValue());
            }
        });
    }

    static Map<String, String> readNamespaceValue(byte[] value)
    {
        return read(value, in -> {
            ImmutableMap.Builder<String, String> properties = ImmutableMap.builder();
            int size = readCount(in);
            for (int i = 0; i < size; i++) {
                properties.put(readString(in), readString(in));
            }
            return properties.buildOrThrow();
        });
    }

    static byte[] pointerValue(TablePointer pointer)
    {
        return write(out -> {
            out.writeByte(switch (pointer.kind()) {
                case TABLE -> 0;
                case VIEW -> 1;
            });
            writeUuid(out, pointer.id());
            writeString(out, pointer.uuid());
            writeString(out, pointer.metadataLocation());
            out.writeLong(pointer.version());
        });
    }

    /**
     * @param refs of the pointer
     */
    static TablePointer readPointerValue(byte[] value, Map<String, SnapshotRef> refs)
    {
        return read(value, in -> {
            PointerKind kind = switch (in.readByte()) {
                case 0 -> PointerKind.TABLE;
                case 1 -> PointerKind.VIEW;
                default -> throw new IOException("unknown kind of pointer");
            };
            UUID id = readUuid(in);
            String uuid = readString(in);
            String metadataLocation = readString(in);
            return new TablePointer(kind, id, uuid, metadataLocation, refs, in.readLong());
        });
    }

    static byte[] logValue(LogEntry entry)
    {
        return write(out -> {
            out.writeLong(entry.logId());
            out.writeLong(entry.committedAt().toEpochMilli());
            writeString(out, entry.author().user());
            writeOptional(out, entry.author().queryId(), StoreFormat::writeString);
            out.writeInt(entry.tables().size());
            for (TableChange table : entry.tables()) {
                writeName(out, table.name());
                writeUuid(out, table.pointerId());
                writeString(out, table.operation());
                writeOptional(out, table.metadataLocation(), StoreFormat::writeString);
                out.writeInt(table.refChanges().size());
                for (RefChange change : table.refChanges()) {
                    writeString(out, change.ref());
                    writeOptional(out, change.before(), StoreFormat::writeRef);
                    writeOptional(out, change.after(), StoreFormat::writeRef);
                }
                out.writeInt(table.undoSteps());
            }
        });
    }

    static LogEntry readLogValue(byte[] value)
    {
        return read(value, in -> {
            long logId = in.readLong();
            Instant committedAt = Instant.ofEpochMilli(in.readLong());
            CommitAuthor author = new CommitAuthor(readString(in), readOptional(in, StoreFormat::readString));
            int tableCount = readCount(in);
            ImmutableList.Builder<TableChange> tables = ImmutableList.builder();
            for (int table = 0; table < tableCount; table++) {
                TableIdentifier name = readName(in);
                UUID pointerId = readUuid(in);
                String operation = readString(in);
                Optional<String> metadataLocation = readOptional(in, StoreFormat::readString);
                int changeCount = readCount(in);
                ImmutableList.Builder<RefChange> changes = ImmutableList.builder();
                for (int change = 0; change < changeCount; change++) {
                    changes.add(new RefChange(readString(in), readOptional(in, StoreFormat::readRef), readOptional(in, StoreFormat::readRef)));
                }
                tables.add(new TableChange(name, pointerId, operation, metadataLocation, changes.build(), in.readInt()));
            }
            return new LogEntry(logId, committedAt, author, tables.build());
        });
    }

    private static void writeRef(DataOutputStream out, SnapshotRef ref)
            throws IOException
    {
        out.writeByte(switch (ref.type()) {
            case BRANCH -> 0;
            case TAG -> 1;
        });
        out.writeLong(ref.snapshotId());
        writeOptional(out, Optional.ofNullable(ref.minSnapshotsToKeep()), DataOutputStream::writeInt);
        writeOptional(out, Optional.ofNullable(ref.maxSnapshotAgeMs()), DataOutputStream::writeLong);
        writeOptional(out, Optional.ofNullable(ref.maxRefAgeMs()), DataOutputStream::writeLong);
    }

    private static SnapshotRef readRef(DataInputStream in)
            throws IOException
    {
        SnapshotRefType type = switch (in.readByte()) {
            case 0 -> SnapshotRefType.BRANCH;
            case 1 -> SnapshotRefType.TAG;
            default -> throw new IOException("unknown type of ref");
        };
        SnapshotRef.Builder ref = SnapshotRef.builderFor(in.readLong(), type);
        readOptional(in, DataInputStream::readInt).ifPresent(ref::minSnapshotsToKeep);
        readOptional(in, DataInputStream::readLong).ifPresent(ref::maxSnapshotAgeMs);
        readOptional(in, DataInputStream::readLong).ifPresent(ref::maxRefAgeMs);
        return ref.build();
    }

    private static void writeName(DataOutputStream out, TableIdentifier name)
            throws IOException
    {
        writeNamespace(out, name.namespace());
        writeString(out, name.name());
    }

    private static TableIdentifier readName(DataInputStream in)
            throws IOException
    {
        return TableIdentifier.of(readNamespace(in), readString(in));
    }

    private static void writeNamespace(DataOutputStream out, Namespace namespace)
            throws IOException
    {
        out.writeInt(namespace.length());
        for (String level : namespace.levels()) {
            writeString(out, level);
        }
    }

    private static Namespace readNamespace(DataInputStream in)
            throws IOException
    {
        String[] levels = new String[readCount(in)];
        for (int i = 0; i < levels.length; i++) {
            levels[i] = readString(in);
        }
        return Namespace.of(levels);
    }

    private static void writeUuid(DataOutputStream out, UUID uuid)
            throws IOException
    {
        out.writeLong(uuid.getMostSignificantBits());
        out.writeLong(uuid.getLeastSignificantBits());
    }

    private static UUID readUuid(DataInputStream in)
            throws IOException
    {
        return new UUID(in.readLong(), in.readLong());
    }

    private static void writeString(DataOutputStream out, String value)
            throws IOException
    {
        byte[] bytes = encode(value);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String readString(DataInputStream in)
            throws IOException
    {
        return decode(in.readNBytes(readCount(in)));
    }

    private static byte[] encode(String value)
            throws IOException
    {
        byte[] bytes = value.getBytes(UTF_8);
        // what is not well-formed becomes a question mark: one string would be made of two different ones
        if (!value.equals(new String(bytes, UTF_8))) {
            throw new CharacterCodingException();
        }
        return bytes;
    }

    private static String decode(byte[] bytes)
            throws IOException
    {
        return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }

    /**
     * A number of things that follow, each of at least one byte.
     */
    private static int readCount(DataInputStream in)
            throws IOException
    {
        int count = in.readInt();
        if (count < 0 || count > in.available()) {
            throw new IOException("%s things announced where %s bytes are left".formatted(count, in.available()));
        }
        return count;
    }

    private static <T> void writeOptional(DataOutputStream out, Optional<T> value, ValueWriter<T> writer)
            throws IOException
    {
        out.writeBoolean(value.isPresent());
        if (value.isPresent()) {
            writer.write(out, value.get());
        }
    }

    private static <T> Optional<T> readOptional(DataInputStream in, ValueReader<T> reader)
            throws IOException
    {
        return switch (in.readByte()) {
            case 0 -> Optional.empty();
            case 1 -> Optional.of(reader.read(in));
            default -> throw new IOException("a value is neither there nor absent");
        };
    }

    private static byte[] write(Writer writer)
    {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            writer.write(new DataOutputStream(bytes));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static <T> T read(byte[] bytes, ValueReader<T> reader)
    {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        try {
            T value = reader.read(in);
            if (in.available() > 0) {
                throw new IOException("%s bytes are left over".formatted(in.available()));
            }
            return value;
        }
        catch (EOFException e) {
            throw new UnreadableRecordException("it ends too early", e);
        }
        catch (IOException | IllegalArgumentException e) {
            throw new UnreadableRecordException(e.getMessage(), e);
        }
    }

    private interface Writer
    {
        void write(DataOutputStream out)
                throws IOException;
    }

    private interface ValueWriter<T>
    {
        void write(DataOutputStream out, T value)
                throws IOException;
    }

    private interface ValueReader<T>
    {
        T read(DataInputStream in)
                throws IOException;
    }
}
