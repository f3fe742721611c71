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
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.store.CommitResult;
import io.skade.store.InterceptedPointerStore;
import io.skade.store.MetadataDocument;
import io.skade.store.TablePointer;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;

import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestLocalDocuments
{
    @TempDir
    private Path warehouse;

    private TestingCatalog lake;
    private LocalDocuments documents;

    @BeforeEach
    void createLake()
    {
        LocalDisk disk = new LocalDisk(location -> Optional.of(Path.of(location)), warehouse);
        lake = new TestingCatalog(warehouse, disk);
        documents = new LocalDocuments(lake.store(), disk);
        lake.createTable(T, ImmutableMap.of());
    }

    private Path file()
    {
        return Path.of(lake.pointer(T).metadataLocation());
    }

    /**
     * What the store keeps is what the file holds, of creations, verbs and commits of Iceberg.
     */
    private void assertKept()
            throws IOException
    {
        TablePointer pointer = lake.pointer(T);
        assertThat(lake.store().keptDocuments()).isEqualTo(ImmutableMap.of(pointer.id(), pointer.metadataLocation()));
        assertThat(lake.store().document(pointer.id())).hasValue(MetadataDocument.of(pointer.metadataLocation(), Files.readAllBytes(file())));
    }

    private void tag(String name)
    {
        lake.commit(T, createTag(name, new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
    }

    @Test
    void testEveryCommitBringsItsDocument()
            throws IOException
    {
        assertKept();
        append(lake.load(T));
        assertKept();
        tag("v1");
        assertKept();
        lake.load(T).updateProperties().set("write.metadata.compression-codec", "gzip").commit();
        assertKept();
        assertThat(file().toString()).endsWith(".gz.metadata.json");
    }

    @Test
    void testDamagedFilesAreRestored()
            throws IOException
    {
        append(lake.load(T));
        tag("v1");
        byte[] content = Files.readAllBytes(file());
        TableMetadata metadata = TableMetadataParser.read(lake.io(), file().toString());
        assertThat(documents.restore()).isZero();

        Files.write(file(), new byte[0]);
        assertThat(documents.restore()).isEqualTo(1);
        assertThat(Files.readAllBytes(file())).isEqualTo(content);

        // of the right length, as a file system may leave it that writes lengths before content
        Files.write(file(), new byte[content.length]);
        assertThat(documents.restore()).isEqualTo(1);
        assertThat(Files.readAllBytes(file())).isEqualTo(content);

        Files.delete(file());
        assertThat(documents.restore()).isEqualTo(1);
        assertThat(TableMetadataParser.read(lake.io(), file().toString()).refs()).isEqualTo(metadata.refs());
        assertThat(Files.list(file().getParent())).allMatch(path -> !path.toString().endsWith(".restored"));
    }

    @Test
    void testAFolderThatIsGoneIsRestored()
            throws IOException
    {
        Path renamed = file().getParent().resolveSibling("elsewhere");
        Files.move(file().getParent(), renamed);
        assertThat(documents.restore()).isEqualTo(1);
        assertThat(file()).exists();
    }

    @Test
    void testDurableFilesAreNotKept()
            throws IOException
    {
        assertThat(documents.settle()).isEqualTo(1);
        assertThat(lake.store().keptDocuments()).isEmpty();
        assertThat(documents.settle()).isZero();
        append(lake.load(T));
        assertKept();
    }

    /**
     * Its document is the only whole copy.
     */
    @Test
    void testAFileThatIsGoneIsKept()
            throws IOException
    {
        Files.delete(file());
        // it may be about to be written
        assertThat(documents.settle()).isZero();
        assertThat(file()).doesNotExist();
        assertThat(documents.settle()).isEqualTo(1);
        assertThat(file()).exists();
        assertThat(lake.store().keptDocuments()).isEmpty();
    }

    /**
     * A file that is just being written, or of which the disk took a part only.
     */
    @Test
    void testAFileThatIsShortIsKept()
            throws IOException
    {
        byte[] content = Files.readAllBytes(file());
        Files.write(file(), Arrays.copyOf(content, content.length - 1));
        assertThat(documents.settle()).isZero();
        assertThat(lake.store().keptDocuments()).hasSize(1);
        assertThat(Files.size(file())).isEqualTo(content.length - 1);
        assertThat(documents.settle()).isEqualTo(1);
        assertThat(Files.readAllBytes(file())).isEqualTo(content);
        assertThat(lake.store().keptDocuments()).isEmpty();
    }

    /**
     * A file is written after its commit: what is not committed leaves none behind, not even for a moment.
     */
    @Test
    void testNoFileWithoutCommit()
    {
        append(lake.load(T));
        Set<Path> files = lake.metadataFiles();
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store());
        store.intercept(commits -> {
            assertThat(lake.metadataFiles()).isEqualTo(files);
            return lake.store().commit(commits);
        });
        lake.over(store).commit(T, createTag("v1", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
        assertThat(lake.metadataFiles()).hasSize(files.size() + 1).contains(file());

        Set<Path> before = lake.metadataFiles();
        store.failBefore();
        assertThatThrownBy(() -> lake.over(store).commit(T, createTag("v2", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE)))
                .isInstanceOf(CommitStateUnknownException.class);
        assertThat(lake.metadataFiles()).isEqualTo(before);
    }

    /**
     * What is durable is acknowledged, though the disk takes no file.
     */
    @Test
    void testAFileThatCannotBeWritten()
            throws IOException
    {
        append(lake.load(T));
        Path folder = file().getParent();
        Path moved = folder.resolveSibling("moved");
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store());
        store.intercept(commits -> {
            CommitResult result = lake.store().commit(commits);
            move(folder, moved);
            createFile(folder);
            return result;
        });
        lake.over(store).commit(T, createTag("v1", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
        assertThat(lake.refs(T)).containsKey("v1");
        Files.delete(folder);
        move(moved, folder);
        assertThat(file()).doesNotExist();
        assertThat(LocalDocuments.find(lake.store(), file().toString())).isPresent();
        assertThat(documents.restore()).isEqualTo(1);
        assertThat(TableMetadataParser.read(lake.io(), file().toString()).refs()).containsKey("v1");
    }

    private static void createFile(Path file)
    {
        try {
            Files.createFile(file);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void move(Path from, Path to)
    {
        try {
            Files.move(from, to);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void testWhatIsNotLocalIsNotKept()
    {
        TestingCatalog remote = new TestingCatalog(warehouse.resolve("remote"));
        remote.createTable(T, ImmutableMap.of());
        append(remote.load(T));
        assertThat(remote.store().keptDocuments()).isEmpty();
    }
}
