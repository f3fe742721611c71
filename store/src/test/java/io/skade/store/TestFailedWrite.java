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
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.committed;
import static io.skade.store.TestingPointers.content;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.moved;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A disk that takes no more bytes, played by a process that may not write long files.
 */
@DisabledOnOs(OS.WINDOWS)
class TestFailedWrite
{
    @TempDir
    private Path temporary;

    @Test
    void testFailedWrite()
            throws Exception
    {
        Path folder = temporary.resolve("store");
        RocksDbPointerStore.open(folder).close();
        long acknowledged = 0;
        try (ChildJvm writer = ChildJvm.start(ImmutableList.of("bash", "-c", "ulimit -f 128; exec \"$@\"", "bash"), Writer.class, temporary, folder.toString())) {
            for (String line = writer.readLine(); line != null; line = writer.readLine()) {
                if (line.equals("failed")) {
                    break;
                }
                acknowledged = Long.parseLong(line);
            }
            assertThat(writer.exitCode()).isZero();
        }
        assertThat(acknowledged).isPositive();
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            TablePointer pointer = store.state().find(table("t")).orElseThrow();
            // the commit of unknown outcome may be there
            assertThat(pointer.version()).isBetween(acknowledged, acknowledged + 1);
            assertThat(store.log(Integer.MAX_VALUE)).hasSize((int) pointer.version() + 1);
            // opened again, the store takes commits
            committed(store.commit(PointerCommit.of(ALICE, move(table("t"), pointer, pointer.version() + 1))));
        }
    }

    /**
     * Commits until a write fails, and checks what the store does then.
     */
    static final class Writer
    {
        private Writer() {}

        public static void main(String[] arguments)
        {
            try (RocksDbPointerStore store = RocksDbPointerStore.open(Path.of(arguments[0]))) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                TablePointer pointer = newTable(0);
                committed(store.commit(PointerCommit.of(ALICE, create(table("t"), pointer))));
                CommitAuthor author = new CommitAuthor("alice", Optional.of("q".repeat(1000)));
                Map<String, Object> before = content(store.state());
                try {
                    while (true) {
                        committed(store.commit(PointerCommit.of(author, move(table("t"), pointer, pointer.version() + 1))));
                        pointer = moved(pointer, pointer.version() + 1);
                        System.out.println(pointer.version());
                        before = content(store.state());
                    }
                }
                catch (CommitStateUnknownException e) {
                    // the first failure leaves the outcome open
                }
                TablePointer last = pointer;
                for (int i = 0; i < 3; i++) {
                    assertThatThrownBy(() -> store.commit(PointerCommit.of(ALICE, move(table("t"), last, last.version() + 1))))
                            .isInstanceOf(StoreException.class)
                            .hasMessageStartingWith("The store in %s takes no commits since a write failed (", store.folder())
                            .hasMessageEndingWith("). Restart the server or create the catalog again");
                }
                // reads go on
                assertThat(content(store.state())).isEqualTo(before);
                assertThat(store.log(Integer.MAX_VALUE)).hasSizeGreaterThanOrEqualTo((int) last.version() + 1);
            }
            System.out.println("failed");
        }
    }
}
