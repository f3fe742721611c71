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
import io.skade.ref.RefUpdates.IfMissing;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.ref.SnapshotSelector.AtSnapshot;
import io.skade.store.CommitAuthor;
import io.skade.store.CommitResult;
import io.skade.store.ForwardingPointerStore;
import io.skade.store.LogEntry;
import io.skade.store.PointerCommit;
import io.skade.store.TablePointer;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;

import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.RefUpdates.dropRef;
import static io.skade.ref.RefUpdates.fastForward;
import static io.skade.ref.RefUpdates.undo;
import static io.skade.ref.TestingCatalog.ALICE;
import static io.skade.ref.TestingCatalog.T;
import static io.skade.ref.TestingCatalog.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Updates of one table that come while another one is committed.
 */
class TestSharedCommits
{
    @TempDir
    private Path warehouse;

    private TestingCatalog lake;
    private BlockedStore store;
    private RefCommitter committer;
    private Snapshot first;
    private Snapshot second;

    @BeforeEach
    void createLake()
    {
        lake = new TestingCatalog(warehouse, new LocalDisk(location -> Optional.of(Path.of(location)), warehouse));
        lake.createTable(T, ImmutableMap.of());
        first = append(lake.load(T));
        lake.commit(T, RefUpdates.createBranch("dev", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
        second = append(lake.load(T));
        store = new BlockedStore(lake);
        committer = lake.over(store).committer();
    }

    /**
     * Holds back the first commit.
     */
    private static final class BlockedStore
            extends ForwardingPointerStore
    {
        private final CountDownLatch blocked = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);
        private final List<Integer> groups = new ArrayList<>();
        private Runnable before = () -> {};
        private boolean fails;

        private BlockedStore(TestingCatalog lake)
        {
            super(lake.store());
        }

        @Override
        public CommitResult commit(List<PointerCommit> commits)
        {
            if (groups.isEmpty()) {
                groups.add(commits.size());
                blocked.countDown();
                try {
                    released.await();
                }
                catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return super.commit(commits);
            }
            groups.add(commits.size());
            Runnable action = before;
            before = () -> {};
            action.run();
            CommitResult result = super.commit(commits);
            if (fails) {
                throw new CommitStateUnknownException(new RuntimeException("no answer"));
            }
            return result;
        }
    }

    /**
     * Runs the first update up to its commit, lets the others come one after the other, and then goes on.
     */
    private List<FutureTask<TableMove>> run(RefUpdate... updates)
            throws InterruptedException
    {
        List<FutureTask<TableMove>> tasks = new ArrayList<>();
        for (int i = 0; i < updates.length; i++) {
            RefUpdate update = updates[i];
            CommitAuthor author = new CommitAuthor("user" + i, Optional.empty());
            FutureTask<TableMove> task = new FutureTask<>(() -> committer.commit(lake.io(), author, ImmutableMap.of(T, update)).getFirst());
            tasks.add(task);
            Thread thread = Thread.ofPlatform().start(task);
            if (i == 0) {
                store.blocked.await();
            }
            while (thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        store.released.countDown();
        return tasks;
    }

    private static RefUpdate tag(String name, String from)
    {
        return createTag(name, new AtRef(from), Retention.DEFAULT, IfExists.REFUSE);
    }

    private List<LogEntry> newestLog(int count)
    {
        return store.log(count).reversed();
    }

    @Test
    void testEachSeesWhatTheOneBeforeMade()
            throws Exception
    {
        int files = lake.metadataFiles().size();
        List<FutureTask<TableMove>> tasks = run(
                tag("v0", "main"),
                fastForward("dev", new AtRef("main"), OptionalLong.empty()),
                tag("v1", "dev"),
                tag("v1", "main"),
                dropRef("nothing", IfMissing.IGNORE),
                undo("dev", 1),
                dropRef("v0", IfMissing.REFUSE));

        assertThat(tasks.get(0).get().after().ref("v0").snapshotId()).isEqualTo(second.snapshotId());
        TableMove moved = tasks.get(1).get();
        assertThat(moved.before().ref("dev").snapshotId()).isEqualTo(first.snapshotId());
        assertThat(moved.after().ref("dev").snapshotId()).isEqualTo(second.snapshotId());
        assertThat(moved.after().ref("v1")).isNull();
        assertThat(moved.refChanges()).extracting("ref").containsExactly("dev");
        assertThat(tasks.get(2).get().after().ref("v1").snapshotId()).isEqualTo(second.snapshotId());
        assertThatThrownBy(() -> tasks.get(3).get())
                .hasCauseInstanceOf(RefRefusedException.class)
                .hasMessageContaining("Cannot create tag v1 in db.t: a tag of that name already exists");
        assertThat(tasks.get(4).get().refChanges()).isEmpty();
        assertThat(tasks.get(5).get().after().ref("dev").snapshotId()).isEqualTo(first.snapshotId());
        assertThat(tasks.get(6).get().after().ref("v0")).isNull();

        assertThat(store.groups).containsExactly(1, 4);
        assertThat(lake.metadataFiles()).hasSize(files + 2);
        assertThat(lake.refs(T)).containsOnlyKeys("main", "dev", "v1");
        assertThat(lake.snapshotId(T, "dev")).isEqualTo(first.snapshotId());
        assertThat(newestLog(5)).extracting(entry -> entry.author().user()).containsExactly("user0", "user1", "user2", "user5", "user6");
        assertThat(newestLog(5)).extracting(entry -> entry.tables().getFirst().operation()).containsExactly("create_tag", "fast_forward", "create_tag", "undo_ref", "drop_ref");

        // the file is what all of them made, and the next version of the one before
        TableMetadata metadata = TableMetadataParser.read(lake.io(), lake.pointer(T).metadataLocation());
        assertThat(metadata.refs()).isEqualTo(lake.pointer(T).refs());
        assertThat(tasks.get(6).get().current().metadataFileLocation()).isEqualTo(lake.pointer(T).metadataLocation());
        assertThat(tasks.get(1).get().current()).isSameAs(tasks.get(6).get().current());
        assertThat(metadata.previousFiles().getLast().file()).isEqualTo(tasks.get(0).get().current().metadataFileLocation());
    }

    /**
     * A move that another one took back is history all the same.
     */
    @Test
    void testSnapshotLog()
            throws Exception
    {
        List<FutureTask<TableMove>> tasks = run(
                tag("v0", "main"),
                RefUpdates.rollbackTo("main", new AtSnapshot(first.snapshotId())),
                fastForward("main", new AtSnapshot(second.snapshotId()), OptionalLong.empty()));
        for (FutureTask<TableMove> task : tasks) {
            task.get();
        }
        assertThat(lake.metadata(T).snapshotLog()).extracting("snapshotId").containsExactly(first.snapshotId(), second.snapshotId(), first.snapshotId(), second.snapshotId());
    }

    @Test
    void testLostRace()
            throws Exception
    {
        store.before = () -> append(lake.load(T));
        List<FutureTask<TableMove>> tasks = run(tag("v0", "main"), tag("v1", "main"), tag("v2", "main"));
        long third = tasks.get(1).get().after().currentSnapshot().snapshotId();
        assertThat(third).isNotEqualTo(second.snapshotId());
        assertThat(tasks.get(2).get().after().ref("v2").snapshotId()).isEqualTo(third);
        assertThat(store.groups).containsExactly(1, 2, 2);
        assertThat(lake.refs(T)).containsOnlyKeys("main", "dev", "v0", "v1", "v2");
    }

    @Test
    void testUnknownOutcomeOfAll()
            throws Exception
    {
        store.fails = true;
        List<FutureTask<TableMove>> tasks = run(tag("v0", "main"), tag("v1", "main"), tag("v1", "dev"), tag("v2", "main"));
        tasks.getFirst().get();
        for (int i : new int[] {1, 3}) {
            assertThatThrownBy(() -> tasks.get(i).get()).hasCauseInstanceOf(CommitStateUnknownException.class);
        }
        // refused before anything was written
        assertThatThrownBy(() -> tasks.get(2).get()).hasCauseInstanceOf(RefRefusedException.class);
        assertThat(lake.refs(T)).containsOnlyKeys("main", "dev", "v0", "v1", "v2");
        assertThat(TableMetadataParser.read(lake.io(), lake.pointer(T).metadataLocation()).refs()).containsOnlyKeys("main", "dev", "v0", "v1", "v2");
    }

    @Test
    void testTableIsDroppedMeanwhile()
            throws Exception
    {
        store.before = () -> lake.catalog().dropTable(T, false);
        List<FutureTask<TableMove>> tasks = run(tag("v0", "main"), tag("v1", "main"), tag("v2", "main"));
        for (FutureTask<TableMove> task : tasks.subList(1, 3)) {
            assertThatThrownBy(task::get).hasMessageContaining("Table does not exist: db.t");
        }
    }

    /**
     * Many writers of one table, each of which tags and drops.
     */
    @Test
    void testManyWriters()
            throws Exception
    {
        store.released.countDown();
        List<FutureTask<Void>> writers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String name = "tag" + i;
            FutureTask<Void> writer = new FutureTask<>(() -> {
                for (int round = 0; round < 25; round++) {
                    committer.commit(lake.io(), ALICE, ImmutableMap.of(T, tag(name, "main")));
                    committer.commit(lake.io(), ALICE, ImmutableMap.of(T, dropRef(name, IfMissing.REFUSE)));
                }
                committer.commit(lake.io(), ALICE, ImmutableMap.of(T, tag(name, "dev")));
                return null;
            });
            writers.add(writer);
            Thread.ofPlatform().start(writer);
        }
        TablePointer before = lake.pointer(T);
        for (FutureTask<Void> writer : writers) {
            writer.get();
        }
        assertThat(lake.refs(T)).hasSize(2 + 8);
        assertThat(lake.pointer(T).version()).isGreaterThan(before.version());
        List<LogEntry> log = store.log(lake.pointer(T).id(), 8 * 51);
        assertThat(log).allSatisfy(entry -> assertThat(entry.tables().getFirst().operation()).isIn("create_tag", "drop_ref"));
        assertThat(log).extracting(LogEntry::logId).doesNotHaveDuplicates();
    }
}
