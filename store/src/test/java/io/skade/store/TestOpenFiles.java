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
import io.airlift.log.Logger;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.committed;
import static io.skade.store.TestingPointers.content;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A process that may open 256 files.
 */
class TestOpenFiles
{
    private static final List<String> FEW_FILES = ImmutableList.of("bash", "-c", "ulimit -n 256; exec \"$@\"", "bash");

    @TempDir
    private Path temporary;

    @Test
    void testNoFileCanBeOpened()
            throws Exception
    {
        Path folder = temporary.resolve("store");
        long version;
        try (ChildJvm process = ChildJvm.start(FEW_FILES, ImmutableList.of("-Xmx256m", "-Djava.library.path=" + ChildJvm.copyLibrary(temporary)), NoFiles.class, folder.toString())) {
            version = Long.parseLong(process.readLine());
            assertThat(process.exitCode()).isZero();
        }
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            assertThat(store.state().find(table("t")).orElseThrow().version()).isEqualTo(version);
        }
    }

    @Test
    void testManyCommits()
            throws Exception
    {
        Path folder = temporary.resolve("store");
        try (ChildJvm process = ChildJvm.start(FEW_FILES, ImmutableList.of("-Xmx256m", "-Djava.library.path=" + ChildJvm.copyLibrary(temporary)), ManyCommits.class, folder.toString())) {
            // beside the store's 128 files there are those of Java
            assertThat(Long.parseLong(process.readLine())).isLessThan(200);
            assertThat(process.exitCode()).isZero();
        }
    }

    /**
     * A commit that fills an eighth of RocksDB's buffer: after eight of them it needs a new file.
     */
    private static PointerCommit bigCommit(TablePointer pointer)
    {
        PointerChange change = move(table("t"), pointer, pointer.version() + 1);
        MetadataDocument document = MetadataDocument.of(change.next().orElseThrow().metadataLocation(), new byte[1 << 20]);
        return new PointerCommit(ALICE, ImmutableList.of(), ImmutableList.of(change), ImmutableList.of(document));
    }

    /**
     * Commits until RocksDB needs a file that it cannot have, then when it can.
     */
    static final class NoFiles
    {
        private NoFiles() {}

        public static void main(String[] arguments)
                throws Exception
        {
            // with no file left no class could be loaded either, and no time zone for the log
            Logger.get(NoFiles.class).info("Begins");
            for (Class<?> nested : RocksDbPointerStore.class.getDeclaredClasses()) {
                Class.forName(nested.getName());
            }
            assertThatThrownBy(() -> {
                throw new StoreException("too many");
            }).isInstanceOf(StoreException.class).hasMessageContaining("many").hasMessageStartingWith("too %s", "many");

            try (RocksDbPointerStore store = RocksDbPointerStore.open(Path.of(arguments[0]))) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                committed(store.commit(PointerCommit.of(ALICE, create(table("t"), newTable(0)))));
                committed(store.commit(bigCommit(store.state().find(table("t")).orElseThrow())));
                assertThat(content(store.state())).isNotEmpty();
                assertThat(store.log(Integer.MAX_VALUE)).hasSize(2);
                assertThat(new CommitStateUnknownException(new StoreException("too many"))).hasMessageContaining("many");

                List<InputStream> files = openAll();
                Optional<CommitStateUnknownException> failure = commit(store);
                List<StoreException> refusals = refusals(store);
                Map<String, Object> state = content(store.state());
                close(files);

                assertThat(failure.orElseThrow()).hasMessageContaining("Too many open files");
                assertThat(refusals).hasSize(3).allSatisfy(e -> assertThat(e)
                        .hasMessageStartingWith("The store in %s takes no commits since a write failed (", store.folder())
                        .hasMessageContaining("Too many open files"));
                assertThat(content(store.state())).isEqualTo(state);
                assertThat(commit(store)).isEmpty();
                assertThat(store.log(Integer.MAX_VALUE).size()).isEqualTo((int) store.state().lastLogId());
                System.out.println(store.state().find(table("t")).orElseThrow().version());
            }
        }

        private static List<InputStream> openAll()
        {
            List<InputStream> files = new ArrayList<>();
            try {
                while (true) {
                    files.add(Files.newInputStream(Path.of("/dev/null")));
                }
            }
            catch (IOException e) {
                return files;
            }
        }

        private static void close(List<InputStream> files)
        {
            files.forEach(file -> {
                try {
                    file.close();
                }
                catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        private static Optional<CommitStateUnknownException> commit(PointerStore store)
        {
            try {
                for (int i = 0; i < 40; i++) {
                    store.commit(bigCommit(store.state().find(table("t")).orElseThrow()));
                }
                return Optional.empty();
            }
            catch (CommitStateUnknownException e) {
                return Optional.of(e);
            }
        }

        private static List<StoreException> refusals(PointerStore store)
        {
            List<StoreException> refusals = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                try {
                    store.commit(bigCommit(store.state().find(table("t")).orElseThrow()));
                }
                catch (StoreException e) {
                    refusals.add(e);
                }
            }
            return refusals;
        }
    }

    /**
     * Commits that make many files, and many small ones, with reads between them.
     */
    static final class ManyCommits
    {
        private ManyCommits() {}

        public static void main(String[] arguments)
                throws Exception
        {
            long most = 0;
            for (int round = 0; round < 4; round++) {
                try (RocksDbPointerStore store = RocksDbPointerStore.open(Path.of(arguments[0]))) {
                    if (round == 0) {
                        committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                        committed(store.commit(PointerCommit.of(ALICE, create(table("t"), newTable(0)))));
                    }
                    for (int i = 0; i < 50; i++) {
                        TablePointer pointer = store.state().find(table("t")).orElseThrow();
                        committed(store.commit(bigCommit(pointer)));
                        committed(store.commit(PointerCommit.of(ALICE, create(table("t" + round + "_" + i), newTable(0)))));
                        assertThat(store.log(pointer.id(), 10)).isNotEmpty();
                        most = Math.max(most, TestStoreFolder.openFiles());
                    }
                    assertThat(store.log(Integer.MAX_VALUE).size()).isEqualTo((int) store.state().lastLogId());
                }
            }
            System.out.println(most);
        }
    }
}
