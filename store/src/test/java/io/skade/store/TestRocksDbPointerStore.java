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

import com.google.common.collect.ImmutableMap;
import org.apache.iceberg.catalog.Namespace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import static com.google.common.collect.ImmutableMap.toImmutableMap;
import static io.skade.store.TestingPointers.ALICE;
import static io.skade.store.TestingPointers.committed;
import static io.skade.store.TestingPointers.content;
import static io.skade.store.TestingPointers.create;
import static io.skade.store.TestingPointers.createNamespace;
import static io.skade.store.TestingPointers.newTable;
import static io.skade.store.TestingPointers.table;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The contract on RocksDB; whatever a test leaves in a store, the store has it when it is opened again.
 */
class TestRocksDbPointerStore
        extends PointerStoreContract
{
    @TempDir
    private Path folder;

    @Override
    protected RocksDbPointerStore open(Clock clock)
    {
        return RocksDbPointerStore.open(folder, clock);
    }

    @Override
    @AfterEach
    void closeStore()
    {
        try {
            store.state();
        }
        catch (StoreException e) {
            // the test closed it
            return;
        }
        Map<String, Object> state = content(store.state());
        List<LogEntry> log = store.log(Integer.MAX_VALUE);
        Map<UUID, String> locations = ImmutableMap.copyOf(store.keptDocuments());
        Map<UUID, MetadataDocument> documents = documents(store);
        store.close();
        try (RocksDbPointerStore reopened = open(clock)) {
            assertThat(content(reopened.state())).isEqualTo(state);
            assertThat(reopened.log(Integer.MAX_VALUE)).isEqualTo(log);
            assertThat(reopened.keptDocuments()).isEqualTo(locations);
            assertThat(documents(reopened)).isEqualTo(documents);
        }
    }

    private static Map<UUID, MetadataDocument> documents(PointerStore store)
    {
        return store.keptDocuments().keySet().stream().collect(toImmutableMap(id -> id, id -> store.document(id).orElseThrow()));
    }

    @Test
    void testFolder()
    {
        assertThat(((RocksDbPointerStore) store).folder()).isEqualTo(folder.toAbsolutePath());
    }

    /**
     * Replaced by other bytes it would be another name after the next open.
     */
    @Test
    void testNameThatIsNotUnicode()
    {
        createDb();
        Map<String, Object> before = content(store.state());
        assertThatThrownBy(() -> store.commit(PointerCommit.of(ALICE, create(table("t\ud800"), newTable(1)))))
                .isInstanceOf(StoreException.class)
                .hasMessage("Cannot write to the store in %s: a string is not well-formed Unicode", folder);
        assertThatThrownBy(() -> store.commit(PointerCommit.of(ALICE, createNamespace(Namespace.of("\udc00")))))
                .isInstanceOf(StoreException.class)
                .hasMessage("Cannot write to the store in %s: a string is not well-formed Unicode", folder);
        assertThat(content(store.state())).isEqualTo(before);
        assertThat(store.log(10)).isEmpty();
        committed(store.commit(PointerCommit.of(ALICE, create(table("t?"), newTable(1)))));
    }
}
