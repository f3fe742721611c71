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
import io.skade.store.CatalogState;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.Transaction;
import org.apache.iceberg.Transactions;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.TestingCatalog.ALICE;
import static io.skade.ref.TestingCatalog.NO_RETRIES;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static io.skade.ref.TestingCatalog.dataFile;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestPointerTableOperations
{
    @TempDir
    private Path warehouse;

    private TestingCatalog lake;

    @BeforeEach
    void createTable()
    {
        lake = new TestingCatalog(warehouse);
        append(lake.createTable(T, NO_RETRIES));
    }

    private void tag(String name)
    {
        lake.commit(T, createTag(name, new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
    }

    @Test
    void testFirstLookIsAtTheGivenState()
    {
        CatalogState state = lake.store().state();
        tag("v1");
        PointerTableOperations operations = new PointerTableOperations(lake.committer(), T, lake.io(), ALICE, () -> state);
        assertThat(operations.current().refs()).containsOnlyKeys("main");
        // it stays there until somebody asks for the newest
        assertThat(operations.current().refs()).containsOnlyKeys("main");
        assertThat(operations.refresh().refs()).containsOnlyKeys("main", "v1");
        assertThat(operations.current().refs()).containsOnlyKeys("main", "v1");
    }

    /**
     * Iceberg compares by identity, so this must hold even where no parsed metadata is kept.
     */
    @Test
    void testRefreshOfAnUnchangedTableIsTheSameObject()
    {
        PointerTableOperations operations = withoutCache();
        TableMetadata metadata = operations.current();
        assertThat(operations.refresh()).isSameAs(metadata);
        tag("v1");
        assertThat(operations.refresh()).isNotSameAs(metadata);
    }

    @Test
    void testTransactionWithoutCache()
    {
        Transaction transaction = Transactions.newTransaction("t", withoutCache());
        transaction.updateSchema().deleteColumn("name").commit();
        transaction.newAppend().appendFile(dataFile()).commit();
        transaction.updateProperties().set("a", "b").commit();
        transaction.commitTransaction();
        assertThat(lake.load(T).newScan().planFiles()).hasSize(2);
        assertThat(lake.load(T).properties()).containsEntry("a", "b");
        assertThat(lake.load(T).schema().findField("name")).isNull();
    }

    private PointerTableOperations withoutCache()
    {
        return new PointerTableOperations(new RefCommitter(lake.store(), new MetadataFiles(0), LocalDisk.NONE), T, lake.io(), ALICE, lake.store()::state);
    }

    @Test
    void testMissingTable()
    {
        lake.catalog().dropTable(T, false);
        PointerTableOperations operations = lake.operations(T);
        assertThat(operations.current()).isNull();
        assertThat(operations.refresh()).isNull();
    }

    @Test
    void testTableThatWasDropped()
    {
        PointerTableOperations operations = lake.operations(T);
        operations.current();
        lake.catalog().dropTable(T, false);
        assertThatThrownBy(operations::refresh)
                .isInstanceOf(NoSuchTableException.class)
                .hasMessage("Table does not exist: db.t");
    }

    @Test
    void testTableThatWasMadeAgain()
    {
        PointerTableOperations operations = lake.operations(T);
        String uuid = operations.current().uuid();
        lake.catalog().dropTable(T, false);
        Table second = lake.createTable(T, ImmutableMap.of());
        assertThatThrownBy(operations::refresh)
                .isInstanceOf(CommitFailedException.class)
                .hasMessage("Table db.t was dropped and created again: uuid %s is now %s", uuid, second.uuid());
    }

    @Test
    void testCommitOfNothing()
    {
        PointerTableOperations operations = lake.operations(T);
        long logId = lake.store().state().lastLogId();
        operations.commit(operations.current(), operations.current());
        assertThat(lake.store().state().lastLogId()).isEqualTo(logId);
    }

    @Test
    void testCreationOfAnExistingTable()
    {
        PointerTableOperations operations = lake.operations(T);
        TableMetadata metadata = operations.current();
        assertThatThrownBy(() -> operations.commit(null, metadata))
                .isInstanceOf(AlreadyExistsException.class)
                .hasMessage("Requirement failed: table already exists: db.t");
        assertThat(lake.metadata(T)).isSameAs(metadata);
    }

    /**
     * After a commit the table object is at its own result, without another look at the store.
     */
    @Test
    void testCurrentAfterCommit()
    {
        Table table = lake.load(T);
        table.updateProperties().set("a", "b").commit();
        assertThat(((BaseTable) table).operations().current()).isSameAs(lake.metadata(T));
    }
}
