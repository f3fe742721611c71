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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.DB;
import static io.skade.store.TestingPointers.committed;
import static io.skade.store.TestingPointers.content;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.move;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * One process opens a store at a time, and once.
 */
class TestSecondProcess
{
    @TempDir
    private Path temporary;

    @Test
    void testFolderHeldByAnotherProcess()
            throws Exception
    {
        Path folder = temporary.resolve("store");
        try (ChildJvm holder = ChildJvm.start(Holder.class, temporary, folder.toString())) {
            assertThat(holder.readLine()).isEqualTo("opened");
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> RocksDbPointerStore.open(folder, new ManualClock()))
                        .isInstanceOf(StoreException.class)
                        .hasMessageStartingWith("The store folder %s is in use (process %s since ", folder, holder.pid())
                        .hasMessageEndingWith("). One process opens a store at a time, and once");
            }
            // the one that holds it is unharmed
            holder.writeLine("commit");
            assertThat(holder.readLine()).isEqualTo("committed");
            holder.writeLine("close");
            assertThat(holder.exitCode()).isZero();
        }
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            assertThat(store.state().find(table("t")).orElseThrow().metadataLocation()).isEqualTo("1.metadata.json");
            assertThat(Files.readString(folder.resolve("HOLDER"), UTF_8)).startsWith("process " + ProcessHandle.current().pid() + " since ");
        }
    }

    @Test
    void testFolderOfAKilledProcess()
            throws Exception
    {
        Path folder = temporary.resolve("store");
        try (ChildJvm holder = ChildJvm.start(Holder.class, temporary, folder.toString())) {
            assertThat(holder.readLine()).isEqualTo("opened");
            holder.writeLine("commit");
            assertThat(holder.readLine()).isEqualTo("committed");
            holder.kill();
            holder.exitCode();
        }
        assertThat(folder.resolve("LOCK")).exists();
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            assertThat(store.state().find(table("t")).orElseThrow().metadataLocation()).isEqualTo("1.metadata.json");
        }
    }

    @Test
    void testSecondOpenInTheSameProcess()
    {
        Path folder = temporary.resolve("store");
        try (RocksDbPointerStore store = RocksDbPointerStore.open(folder)) {
            committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
            TablePointer pointer = newTable(1);
            committed(store.commit(PointerCommit.of(ALICE, create(table("t"), pointer))));
            Map<String, Object> before = content(store.state());
            assertThatThrownBy(() -> RocksDbPointerStore.open(folder))
                    .isInstanceOf(StoreException.class)
                    .hasMessageStartingWith("The store folder %s is in use (process %s since ", folder, ProcessHandle.current().pid());
            assertThat(content(store.state())).isEqualTo(before);
            committed(store.commit(PointerCommit.of(ALICE, move(table("t"), pointer, 2))));
            List<LogEntry> log = store.log(10);
            assertThat(log).extracting(LogEntry::logId).containsExactly(2L, 1L);
        }
    }

    /**
     * Opens a store, and commits and closes it when told to.
     */
    static final class Holder
    {
        private Holder() {}

        public static void main(String[] arguments)
                throws Exception
        {
            BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
            try (RocksDbPointerStore store = RocksDbPointerStore.open(Path.of(arguments[0]))) {
                committed(store.commit(PointerCommit.of(ALICE, createNamespace(DB))));
                System.out.println("opened");
                while (commands.readLine().equals("commit")) {
                    committed(store.commit(PointerCommit.of(ALICE, create(table("t"), newTable(1)))));
                    System.out.println("committed");
                }
            }
        }
    }
}
