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
package io.skade.ref;

import com.google.common.collect.ImmutableMap;
import io.skade.catalog.LocalFileIO;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static io.skade.ref.TestingCatalog.SCHEMA;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestMetadataFiles
{
    @TempDir
    private Path folder;

    private final FileIO io = new LocalFileIO();
    private final MetadataFiles files = new MetadataFiles(10_000_000);

    private TableMetadata write(MetadataFiles target, TableMetadata metadata, int version)
    {
        MetadataFiles.Written written = target.prepare(metadata, version, Optional.empty());
        target.write(io, written.document());
        return written.metadata();
    }

    /**
     * A commit that was published before its file was written.
     */
    @Test
    void testAFileThatIsNotWrittenYet()
    {
        for (String codec : new String[] {"none", "gzip"}) {
            MetadataFiles.Written written = files.prepare(metadata(ImmutableMap.of(TableProperties.METADATA_COMPRESSION, codec)), 3, Optional.empty());
            String location = written.document().location();
            MetadataFiles others = new MetadataFiles(0, asked -> asked.equals(location) ? Optional.of(written.document()) : Optional.empty());
            assertThat(TableMetadataParser.toJson(others.read(io, location))).isEqualTo(TableMetadataParser.toJson(written.metadata()));
            assertThat(others.read(io, location).metadataFileLocation()).isEqualTo(location);
            assertThatThrownBy(() -> others.read(io, location + "x")).isInstanceOf(NotFoundException.class);
        }
    }

    /**
     * A commit that was published before its file was written: another catalog reads the beginning of it.
     */
    @Test
    void testAFileThatIsBeingWritten()
            throws IOException
    {
        for (String codec : new String[] {"none", "gzip"}) {
            MetadataFiles.Written written = files.prepare(metadata(ImmutableMap.of(TableProperties.METADATA_COMPRESSION, codec)), 3, Optional.empty());
            String location = written.document().location();
            byte[] content = written.document().content();
            Files.createDirectories(Path.of(location).getParent());
            for (int length : new int[] {0, 1, content.length / 2}) {
                Files.write(Path.of(location), Arrays.copyOf(content, length));
                MetadataFiles others = new MetadataFiles(0, _ -> Optional.of(written.document()));
                assertThat(TableMetadataParser.toJson(others.read(io, location))).as("%s bytes", length).isEqualTo(TableMetadataParser.toJson(written.metadata()));
                // without a document it is damage
                assertThatThrownBy(() -> new MetadataFiles(0).read(io, location)).as("%s bytes", length)
                        .isInstanceOfSatisfying(RuntimeException.class, e -> assertThat(MetadataFiles.isDamage(e)).isTrue());
            }
        }
    }

    @Test
    void testWriteAndRead()
            throws IOException
    {
        TableMetadata written = write(files, metadata(ImmutableMap.of()), 7);
        String location = written.metadataFileLocation();
        assertThat(location).matches(folder + "/metadata/00007-[0-9a-f-]{36}\\.metadata\\.json");
        assertThat(written.changes()).isEmpty();
        // as it would be read from the file
        TableMetadata read = new MetadataFiles(0).read(io, location);
        assertThat(TableMetadataParser.toJson(read)).isEqualTo(TableMetadataParser.toJson(written));
        assertThat(read.metadataFileLocation()).isEqualTo(location);
        // kept: the file is not looked at
        Files.delete(Path.of(location));
        assertThat(files.read(io, location)).isSameAs(written);
        files.forget(location);
        assertThatThrownBy(() -> files.read(io, location))
                .isInstanceOf(NotFoundException.class)
                .hasMessage("Failed to open input stream for file: %s", location);
    }

    /**
     * What was asked for often kept the place of what replaced it: after some commits each read of a big table read its file.
     */
    @Test
    void testTheNewestVersionIsKept()
            throws IOException
    {
        MetadataFiles small = new MetadataFiles(20_000);
        TableMetadata metadata = write(small, metadata(ImmutableMap.of()), 0);
        for (int version = 1; version < 20; version++) {
            TableMetadata next = write(small, metadata, version);
            small.replaced(metadata.metadataFileLocation(), next);
            Files.delete(Path.of(next.metadataFileLocation()));
            for (int read = 0; read < 10; read++) {
                assertThat(small.read(io, next.metadataFileLocation())).isSameAs(next);
            }
            metadata = next;
        }
    }

    @Test
    void testAReplacedVersionIsFoundWhileItIsUsed()
            throws IOException
    {
        TableMetadata before = write(files, metadata(ImmutableMap.of()), 0);
        TableMetadata next = write(files, before, 1);
        files.replaced(before.metadataFileLocation(), next);
        Files.delete(Path.of(before.metadataFileLocation()));
        assertThat(files.read(io, before.metadataFileLocation())).isSameAs(before);
        assertThat(files.read(io, next.metadataFileLocation())).isSameAs(next);
        assertThat(files.getSize()).isEqualTo(1);
    }

    @Test
    void testViewsAreKeptWithTheirTable()
    {
        TableMetadata metadata = write(files, metadata(ImmutableMap.of()), 0);
        TableMetadata view = TableMetadata.buildFrom(metadata).setProperties(ImmutableMap.of("view", "yes")).build();
        long bytes = files.getSizeBytes();
        assertThat(files.derived(metadata, "view", () -> view)).isSameAs(view);
        assertThat(files.derived(metadata, "view", () -> {
            throw new AssertionError("derived again");
        })).isSameAs(view);
        assertThat(files.derived(metadata, "other", () -> metadata)).isSameAs(metadata);
        assertThat(files.getSizeBytes()).isGreaterThan(bytes);
        files.replaced(metadata.metadataFileLocation(), write(files, metadata, 1));
        assertThat(files.getSizeBytes()).isEqualTo(bytes);
        assertThat(files.derived(metadata, "view", () -> metadata)).isSameAs(metadata);
    }

    @Test
    void testNothingIsKeptWithoutRoom()
    {
        MetadataFiles small = new MetadataFiles(0);
        TableMetadata written = write(small, metadata(ImmutableMap.of()), 0);
        assertThat(small.read(io, written.metadataFileLocation())).isNotSameAs(written);
    }

    /**
     * Two writers of the same version write two files.
     */
    @Test
    void testNamesDiffer()
    {
        TableMetadata metadata = metadata(ImmutableMap.of());
        assertThat(Set.of(files.prepare(metadata, 1, Optional.empty()).document().location(), files.prepare(metadata, 1, Optional.empty()).document().location())).hasSize(2);
    }

    @Test
    void testCompressedMetadata()
    {
        TableMetadata written = write(files, metadata(ImmutableMap.of(TableProperties.METADATA_COMPRESSION, "gzip")), 0);
        assertThat(written.metadataFileLocation()).endsWith(".gz.metadata.json");
        assertThat(TableMetadataParser.toJson(new MetadataFiles(0).read(io, written.metadataFileLocation()))).isEqualTo(TableMetadataParser.toJson(written));
    }

    @Test
    void testMetadataFolderOfItsOwn()
    {
        TableMetadata written = write(files, metadata(ImmutableMap.of(TableProperties.WRITE_METADATA_LOCATION, folder.resolve("elsewhere") + "/")), 0);
        assertThat(Path.of(written.metadataFileLocation()).getParent()).isEqualTo(folder.resolve("elsewhere"));
    }

    @Test
    void testVersion()
    {
        assertThat(MetadataFiles.version("s3://b/t/metadata/00012-8f2a.metadata.json")).isEqualTo(12);
        assertThat(MetadataFiles.version("/t/metadata/v3.metadata.json")).isEqualTo(3);
        assertThat(MetadataFiles.version("00001-a.gz.metadata.json")).isEqualTo(1);
        assertThat(MetadataFiles.version("/00009-folder/metadata/current.metadata.json")).isEqualTo(-1);
        assertThat(MetadataFiles.version("/t/metadata/99999999999-a.metadata.json")).isEqualTo(-1);
        assertThat(MetadataFiles.version("/t/metadata/12")).isEqualTo(-1);
    }

    private TableMetadata metadata(Map<String, String> properties)
    {
        return TableMetadata.newTableMetadata(SCHEMA, PartitionSpec.unpartitioned(), folder.toString(), properties);
    }
}
