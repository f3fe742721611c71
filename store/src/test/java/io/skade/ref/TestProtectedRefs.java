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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.RefUpdates.IfMissing;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.ref.SnapshotSelector.AtSnapshot;
import io.skade.store.InterceptedPointerStore;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.TablePointer;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataOperations;
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.MetadataUpdate.AddSnapshot;
import org.apache.iceberg.MetadataUpdate.RemoveProperties;
import org.apache.iceberg.MetadataUpdate.RemoveSnapshotRef;
import org.apache.iceberg.MetadataUpdate.RemoveSnapshots;
import org.apache.iceberg.MetadataUpdate.SetProperties;
import org.apache.iceberg.MetadataUpdate.SetSnapshotRef;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.SnapshotRefType;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.Transaction;
import org.apache.iceberg.catalog.TableIdentifier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

import static io.skade.ref.PublishMode.FAST_FORWARD;
import static io.skade.ref.RefRefusedException.Reason.PROTECTED;
import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.RefUpdates.dropRef;
import static io.skade.ref.RefUpdates.fastForward;
import static io.skade.ref.RefUpdates.protect;
import static io.skade.ref.RefUpdates.publishAndDropBranch;
import static io.skade.ref.RefUpdates.publishBranch;
import static io.skade.ref.RefUpdates.rename;
import static io.skade.ref.RefUpdates.replace;
import static io.skade.ref.RefUpdates.rollbackTo;
import static io.skade.ref.RefUpdates.setCurrentSnapshot;
import static io.skade.ref.RefUpdates.setRetention;
import static io.skade.ref.RefUpdates.unprotect;
import static io.skade.ref.TestingCatalog.SCHEMA;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static io.skade.ref.TestingCatalog.dataFile;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A table with protected {@code main} and {@code release}, and the branches {@code dev} ahead of {@code main} and {@code audit} at {@code main}.
 */
class TestProtectedRefs
{
    private static final AtRef MAIN = new AtRef("main");

    @TempDir
    private Path warehouse;

    private TestingCatalog lake;
    private long first;
    private DataFile file;

    @BeforeEach
    void createTable()
    {
        lake = new TestingCatalog(warehouse);
        Table table = lake.createTable(T, ImmutableMap.of());
        first = append(table).snapshotId();
        file = dataFile();
        table.newFastAppend().appendFile(file).commit();
        for (String branch : new String[] {"release", "dev", "audit"}) {
            lake.commit(T, createBranch(branch, MAIN, Retention.DEFAULT, IfExists.REFUSE));
        }
        append(lake.loadBranch(T, "dev"));
        lake.commit(T, protect("main"));
        lake.commit(T, protect("release"));
    }

    @Test
    void testNewTableIsNotProtected()
    {
        TableIdentifier name = TableIdentifier.of("db", "made");
        assertThatThrownBy(() -> lake.createTable(name, ImmutableMap.of(ProtectedRefs.PROPERTY, "main")))
                .isInstanceOf(RefRefusedException.class)
                .hasMessage("Cannot create db.made with the property skade.protected-refs: only protect_ref sets it");
        assertThat(lake.createTable(name, ImmutableMap.of()).properties()).doesNotContainKey(ProtectedRefs.PROPERTY);
    }

    @Test
    void testNamesInTheProperty()
    {
        Set<String> names = ImmutableSet.of("a,b", "a b", "%", "+", "ä", "😀", "main", "a%2Cb");
        assertThat(ProtectedRefs.of(ImmutableMap.of(ProtectedRefs.PROPERTY, ProtectedRefs.toProperty(names)))).isEqualTo(names);
        assertThat(ProtectedRefs.toProperty(ImmutableSet.of("b,c", "a"))).isEqualTo("a,b%2Cc");
        assertThat(ProtectedRefs.of(ImmutableMap.of())).isEmpty();
        assertThat(ProtectedRefs.of(ImmutableMap.of(ProtectedRefs.PROPERTY, ""))).isEmpty();
        assertThat(ProtectedRefs.of(ImmutableMap.of(ProtectedRefs.PROPERTY, ",a,,b,"))).containsExactly("a", "b");
    }

    /**
     * A table made elsewhere may come with anything.
     */
    @Test
    void testPropertyThatCannotBeDecoded()
    {
        assertThat(ProtectedRefs.of(ImmutableMap.of(ProtectedRefs.PROPERTY, "100%,main,%zz"))).containsExactly("100%", "main", "%zz");
    }

    @Test
    void testPublishMovesProtected()
    {
        lake.commit(T, publishBranch("dev", "main", FAST_FORWARD, OptionalLong.empty()));
        assertThat(lake.snapshotId(T, "main")).isEqualTo(lake.snapshotId(T, "dev"));
        lake.commit(T, fastForward("release", MAIN, OptionalLong.empty()));
        assertThat(lake.snapshotId(T, "release")).isEqualTo(lake.snapshotId(T, "dev"));
        lake.commit(T, publishAndDropBranch("dev", "main", FAST_FORWARD, OptionalLong.empty()));
        assertThat(lake.refs(T)).containsOnlyKeys("main", "release", "audit");
        assertThat(ProtectedRefs.of(lake.metadata(T))).containsExactlyInAnyOrder("main", "release");
    }

    @Test
    void testVerbsDoNotMoveProtected()
    {
        assertProtected("main", "rollback_to", () -> lake.commit(T, rollbackTo("main", new AtSnapshot(first))));
        assertProtected("main", "set_current_snapshot", () -> lake.commit(T, setCurrentSnapshot("main", new AtSnapshot(first))));
        assertProtected("main", "replace_branch", () -> lake.commit(T, replace(SnapshotRefType.BRANCH, "main", new AtSnapshot(first), OptionalLong.empty())));
        assertProtected("main", "set_ref_retention", () -> lake.commit(T, setRetention("main", new Retention(Optional.of(Duration.ofDays(1)), Optional.empty(), Optional.empty()))));
        assertProtected("release", "drop_ref", () -> lake.commit(T, dropRef("release", IfMissing.REFUSE)));
        assertProtected("release", "rename_ref", () -> lake.commit(T, rename("release", "other")));
        assertProtected("release", "create_branch", () -> lake.commit(T, createBranch("release", new AtSnapshot(first), Retention.DEFAULT, IfExists.REPLACE)));
        assertRefused("Cannot drop release of db.t: it is protected", () -> lake.commit(T, publishAndDropBranch("release", "dev", FAST_FORWARD, OptionalLong.empty())));
        // what changes nothing is not refused
        lake.commit(T, rollbackTo("main", MAIN));
        lake.commit(T, createBranch("release", MAIN, Retention.DEFAULT, IfExists.KEEP));
    }

    @Test
    void testCommitsByIcebergDoNotMoveProtected()
    {
        assertProtected("main", "append", () -> append(lake.load(T)));
        assertProtected("release", "append", () -> append(lake.loadBranch(T, "release")));
        assertProtected("main", "delete", () -> lake.load(T).newDelete().deleteFile(file).commit());
        assertProtected("main", "rollback_to", () -> lake.load(T).manageSnapshots().rollbackTo(first).commit());
        assertProtected("release", "drop_branch", () -> lake.load(T).manageSnapshots().removeBranch("release").commit());
        assertProtected("main", "replace_table", () -> lake.catalog().newReplaceTableTransaction(T, SCHEMA, false).commitTransaction());
    }

    /**
     * Other branches, and what is not a branch, can be changed as ever.
     */
    @Test
    void testWhatIsNotProtected()
    {
        append(lake.loadBranch(T, "audit"));
        lake.commit(T, rollbackTo("dev", MAIN));
        lake.load(T).updateSchema().addColumn("c", SCHEMA.findType("id")).commit();
        lake.load(T).updateProperties().set("a", "b").commit();
        lake.commit(T, dropRef("dev", IfMissing.REFUSE));
        assertThat(ProtectedRefs.of(lake.metadata(T))).containsExactlyInAnyOrder("main", "release");
    }

    /**
     * A compaction: the same rows in other files.
     */
    @Test
    void testRewriteMovesProtected()
    {
        lake.load(T).newRewrite().deleteFile(file).addFile(dataFile()).commit();
        assertThat(lake.lastLogEntry().tables()).extracting(TableChange::operation).containsExactly("replace");
        assertThat(lake.snapshotId(T, "main")).isNotEqualTo(lake.snapshotId(T, "release"));

        // together with other rows it is none
        Transaction transaction = lake.load(T).newTransaction();
        transaction.newRewrite().deleteFile(lake.load(T).currentSnapshot().addedDataFiles(lake.io()).iterator().next()).addFile(dataFile()).commit();
        transaction.newAppend().appendFile(dataFile()).commit();
        assertProtected("main", "append", transaction::commitTransaction);
    }

    /**
     * A compaction opens the door for itself only.
     */
    @Test
    void testRewriteWithOtherChanges()
    {
        Transaction properties = rewrite();
        properties.updateProperties().set(ProtectedRefs.PROPERTY, "").commit();
        assertRefused("Cannot change the property skade.protected-refs of db.t: only protect_ref and unprotect_ref do", properties::commitTransaction);
        Transaction refs = rewrite();
        refs.manageSnapshots().removeBranch("release").commit();
        assertProtected("release", "replace", refs::commitTransaction);
        Transaction rollback = rewrite();
        rollback.manageSnapshots().setCurrentSnapshot(first).commit();
        assertProtected("main", "replace", rollback::commitTransaction);
    }

    /**
     * What another process asks for is judged by what becomes of each protected branch, whatever else it asks for.
     */
    @Test
    void testRequestedMoves()
    {
        long main = lake.snapshotId(T, "main");
        long dev = lake.snapshotId(T, "dev");
        append(lake.loadBranch(T, "audit"));
        long audit = lake.snapshotId(T, "audit");
        assertProtected("main", "rollback_to", () -> request(setBranch("main", first)));
        assertProtected("release", "set_ref", () -> request(setBranch("main", dev), setBranch("release", first)));
        assertProtected("main", "set_ref", () -> request(setBranch("main", dev), setBranch("main", first)));
        assertProtected("main", "set_ref_retention", () -> request(new SetSnapshotRef("main", main, SnapshotRefType.BRANCH, 5, null, null)));
        assertProtected("main", "fast_forward", () -> request(new SetSnapshotRef("main", dev, SnapshotRefType.BRANCH, null, null, 5L)));
        assertProtected("release", "replace_tag", () -> request(new SetSnapshotRef("release", dev, SnapshotRefType.TAG, null, null, null)));
        assertProtected("release", "drop_branch", () -> request(new RemoveSnapshotRef("release")));
        assertRefused(
                "Cannot change the property skade.protected-refs of db.t: only protect_ref and unprotect_ref do",
                () -> request(setBranch("main", dev), new SetProperties(ImmutableMap.of(ProtectedRefs.PROPERTY, "release"))));
        assertRefused(
                "Cannot change the property skade.protected-refs of db.t: only protect_ref and unprotect_ref do",
                () -> request(setBranch("main", dev), new RemoveProperties(ImmutableSet.of(ProtectedRefs.PROPERTY))));

        // a rewrite that begins before main
        assertProtected("main", "replace", () -> request(rewriteOf(first, 7), setBranch("main", 7)));
        // not the snapshot that had this id before
        assertProtected("main", "append", () -> request(new RemoveSnapshotRef("dev"), new RemoveSnapshots(dev), added(main, dev, "append"), setBranch("main", dev)));

        // forward, with whatever else
        request(setBranch("main", dev), new SetSnapshotRef("v1", dev, SnapshotRefType.TAG, null, null, null), new RemoveSnapshotRef("dev"), new SetProperties(ImmutableMap.of("a", "b")));
        assertThat(lake.snapshotId(T, "main")).isEqualTo(dev);
        assertThat(lake.refs(T)).containsOnlyKeys("main", "release", "audit", "v1");
        // a rewrite of another branch is none of main
        assertProtected("main", "replace", () -> request(rewriteOf(audit, 7), setBranch("main", 7)));
        request(rewriteOf(dev, 7), setBranch("main", 7), new RemoveSnapshotRef("audit"));
        assertThat(lake.snapshotId(T, "main")).isEqualTo(7);
        assertThat(ProtectedRefs.of(lake.metadata(T))).containsExactlyInAnyOrder("main", "release");
    }

    private void request(MetadataUpdate... updates)
    {
        lake.commit(T, new RequestedChanges(ImmutableList.of(), ImmutableList.copyOf(updates)));
    }

    private static MetadataUpdate setBranch(String name, long snapshotId)
    {
        return new SetSnapshotRef(name, snapshotId, SnapshotRefType.BRANCH, null, null, null);
    }

    private MetadataUpdate rewriteOf(long parent, long snapshotId)
    {
        return added(parent, snapshotId, DataOperations.REPLACE);
    }

    private MetadataUpdate added(long parent, long snapshotId, String operation)
    {
        TableMetadata metadata = lake.metadata(T);
        return new AddSnapshot(SnapshotParser.fromJson(
                """
                {"snapshot-id": %s, "parent-snapshot-id": %s, "sequence-number": %s, "timestamp-ms": %s, "manifest-list": "/snap-%s.avro", "summary": {"operation": "%s"}}
                """.formatted(snapshotId, parent, metadata.lastSequenceNumber() + 1, metadata.lastUpdatedMillis(), snapshotId, operation)));
    }

    private Transaction rewrite()
    {
        Transaction transaction = lake.load(T).newTransaction();
        transaction.newRewrite().deleteFile(file).addFile(dataFile()).commit();
        return transaction;
    }

    @Test
    void testThePropertyIsChangedByVerbsOnly()
    {
        String message = "Cannot change the property skade.protected-refs of db.t: only protect_ref and unprotect_ref do";
        assertRefused(message, () -> lake.load(T).updateProperties().set(ProtectedRefs.PROPERTY, "").commit());
        assertRefused(message, () -> lake.load(T).updateProperties().remove(ProtectedRefs.PROPERTY).commit());
        assertRefused(message, () -> lake.load(T).updateProperties().set(ProtectedRefs.PROPERTY, "main,release,dev").commit());
        // the same set in another order is no change of it
        lake.load(T).updateProperties().set(ProtectedRefs.PROPERTY, "release,main").commit();
    }

    @Test
    void testUnprotect()
    {
        lake.commit(T, unprotect("main"));
        append(lake.load(T));
        assertProtected("release", "append", () -> append(lake.loadBranch(T, "release")));
        lake.commit(T, unprotect("release"));
        append(lake.loadBranch(T, "release"));
        assertThat(lake.metadata(T).properties()).doesNotContainKey(ProtectedRefs.PROPERTY);
    }

    /**
     * Protection that comes while an insert is under way holds for the insert.
     */
    @Test
    void testProtectionDuringAnInsert()
    {
        lake.commit(T, unprotect("main"));
        InterceptedPointerStore store = new InterceptedPointerStore(lake.store()).interfere(() -> lake.commit(T, protect("main")));
        long before = lake.snapshotId(T, "main");
        assertThatThrownBy(() -> append(lake.over(store).load(T)))
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(PROTECTED))
                .hasMessage("Cannot change main of db.t by append: it is protected, only publish_branch and fast_forward move it");
        assertThat(lake.snapshotId(T, "main")).isEqualTo(before);
    }

    private void assertProtected(String ref, String operation, ThrowingCallable call)
    {
        assertRefused("Cannot change %s of db.t by %s: it is protected, only publish_branch and fast_forward move it".formatted(ref, operation), call);
    }

    private void assertRefused(String message, ThrowingCallable call)
    {
        TablePointer pointer = lake.pointer(T);
        Set<Path> files = lake.metadataFiles();
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(PROTECTED))
                .hasMessage(message);
        assertThat(lake.pointer(T)).isEqualTo(pointer);
        assertThat(lake.metadataFiles()).isEqualTo(files);
    }
}
