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
import io.skade.ref.RefRefusedException.Reason;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.RefUpdates.IfMissing;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.ref.SnapshotSelector.AtSnapshot;
import io.skade.ref.SnapshotSelector.AtTag;
import io.skade.ref.SnapshotSelector.AtTime;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SnapshotRefType;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

import static io.skade.ref.PublishMode.FAST_FORWARD;
import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.skade.ref.RefRefusedException.Reason.NOT_ANCESTOR;
import static io.skade.ref.RefRefusedException.Reason.NOT_FAST_FORWARD;
import static io.skade.ref.RefRefusedException.Reason.PROTECTED;
import static io.skade.ref.RefRefusedException.Reason.REF_ALREADY_EXISTS;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static io.skade.ref.RefRefusedException.Reason.UNEXPECTED_SNAPSHOT;
import static io.skade.ref.RefUpdates.createBranch;
import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.RefUpdates.dropBranch;
import static io.skade.ref.RefUpdates.dropRef;
import static io.skade.ref.RefUpdates.dropTag;
import static io.skade.ref.RefUpdates.expireRefs;
import static io.skade.ref.RefUpdates.fastForward;
import static io.skade.ref.RefUpdates.protect;
import static io.skade.ref.RefUpdates.publishAndDropBranch;
import static io.skade.ref.RefUpdates.publishBranch;
import static io.skade.ref.RefUpdates.rename;
import static io.skade.ref.RefUpdates.replace;
import static io.skade.ref.RefUpdates.rollbackTo;
import static io.skade.ref.RefUpdates.rollbackToSnapshot;
import static io.skade.ref.RefUpdates.setCurrentSnapshot;
import static io.skade.ref.RefUpdates.setRetention;
import static io.skade.ref.RefUpdates.undo;
import static io.skade.ref.RefUpdates.unprotect;
import static io.skade.ref.TestingMetadata.AUDIT;
import static io.skade.ref.TestingMetadata.DEV;
import static io.skade.ref.TestingMetadata.MAIN;
import static io.skade.ref.TestingMetadata.NAME;
import static io.skade.ref.TestingMetadata.START;
import static io.skade.ref.TestingMetadata.V1;
import static io.skade.ref.TestingMetadata.change;
import static io.skade.ref.TestingMetadata.emptyTable;
import static io.skade.ref.TestingMetadata.snapshot;
import static io.skade.ref.TestingMetadata.table;
import static io.skade.ref.TestingMetadata.time;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Each verb as the function that it is, on {@link TestingMetadata#table}.
 */
class TestRefUpdates
{
    private static final AtRef FROM_MAIN = new AtRef("main");
    private static final Retention ALL = new Retention(Optional.of(Duration.ofMillis(10)), Optional.of(20), Optional.of(Duration.ofMillis(30)));
    private static final Retention REF_AGE = new Retention(Optional.of(Duration.ofMillis(10)), Optional.empty(), Optional.empty());

    private TableMetadata metadata = table();

    @Nested
    class CreateBranch
    {
        @Test
        void testAtRef()
        {
            assertRefs(createBranch("b", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE), "b", SnapshotRef.branchBuilder(3).build());
            assertRefs(createBranch("b", new AtRef("audit"), Retention.DEFAULT, IfExists.KEEP), "b", SnapshotRef.branchBuilder(5).build());
            assertRefs(createBranch("b", new AtRef("v1"), Retention.DEFAULT, IfExists.REPLACE), "b", SnapshotRef.branchBuilder(1).build());
        }

        @Test
        void testAtTag()
        {
            assertRefs(createBranch("b", new AtTag("v1"), Retention.DEFAULT, IfExists.REFUSE), "b", SnapshotRef.branchBuilder(1).build());
            assertRefused(createBranch("b", new AtTag("audit"), Retention.DEFAULT, IfExists.REFUSE), REF_NOT_FOUND, "Tag does not exist in db.t: audit is a branch");
            assertRefused(createBranch("b", new AtTag("nope"), Retention.DEFAULT, IfExists.REFUSE), REF_NOT_FOUND, "Tag does not exist in db.t: nope");
        }

        @Test
        void testAtSnapshot()
        {
            assertRefs(createBranch("b", new AtSnapshot(4), Retention.DEFAULT, IfExists.REFUSE), "b", SnapshotRef.branchBuilder(4).build());
            assertRefused(createBranch("b", new AtSnapshot(99), Retention.DEFAULT, IfExists.REFUSE), INVALID_VALUE, "Snapshot does not exist in db.t: 99");
        }

        /**
         * By the history of {@code main}: snapshot 4 was made at its time, but not current in {@code main}.
         */
        @Test
        void testAtTime()
        {
            assertRefs(createBranch("b", new AtTime(time(2)), Retention.DEFAULT, IfExists.REFUSE), "b", SnapshotRef.branchBuilder(2).build());
            assertRefs(createBranch("b", new AtTime(time(3).minusMillis(1)), Retention.DEFAULT, IfExists.REFUSE), "b", SnapshotRef.branchBuilder(2).build());
            assertRefs(createBranch("b", new AtTime(time(5)), Retention.DEFAULT, IfExists.REFUSE), "b", SnapshotRef.branchBuilder(3).build());
            assertRefused(createBranch("b", new AtTime(START), Retention.DEFAULT, IfExists.REFUSE), INVALID_VALUE, "No snapshot of db.t was current at 2020-01-01T00:00:00Z");
        }

        @Test
        void testAtTimeOfAnExpiredSnapshot()
        {
            // Iceberg cuts the log there; other writers may not
            metadata = TableMetadataParser.fromJson(metadata.metadataFileLocation(), TableMetadataParser.toJson(metadata).replace(
                    "{\"timestamp-ms\":%s,\"snapshot-id\":2}".formatted(time(2).toEpochMilli()),
                    "{\"timestamp-ms\":%s,\"snapshot-id\":77}".formatted(time(2).toEpochMilli())));
            assertRefused(
                    createBranch("b", new AtTime(time(2)), Retention.DEFAULT, IfExists.REFUSE),
                    INVALID_VALUE,
                    "The snapshot of db.t that was current at 2020-01-01T02:00:00Z is expired: 77");
        }

        @Test
        void testAtMissingRef()
        {
            assertRefused(createBranch("b", new AtRef("nope"), Retention.DEFAULT, IfExists.REFUSE), REF_NOT_FOUND, "Ref does not exist in db.t: nope");
            assertRefused(createBranch("b", new AtRef("MAIN"), Retention.DEFAULT, IfExists.REFUSE), REF_NOT_FOUND, "Ref does not exist in db.t: MAIN");
        }

        @Test
        void testRetention()
        {
            assertRefs(
                    createBranch("b", FROM_MAIN, ALL, IfExists.REFUSE),
                    "b",
                    SnapshotRef.branchBuilder(3).maxRefAgeMs(10L).minSnapshotsToKeep(20).maxSnapshotAgeMs(30L).build());
        }

        @Test
        void testExisting()
        {
            assertRefused(
                    createBranch("audit", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE),
                    REF_ALREADY_EXISTS,
                    "Cannot create branch audit in db.t: a branch of that name already exists");
            assertRefused(
                    createBranch("main", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE),
                    REF_ALREADY_EXISTS,
                    "Cannot create branch main in db.t: a branch of that name already exists");
            assertUnchanged(createBranch("audit", FROM_MAIN, ALL, IfExists.KEEP));
            // names are case-sensitive
            assertRefs(createBranch("AUDIT", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE), "AUDIT", SnapshotRef.branchBuilder(3).build());
        }

        @Test
        void testExistingTag()
        {
            for (IfExists ifExists : IfExists.values()) {
                assertRefused(
                        createBranch("v1", FROM_MAIN, Retention.DEFAULT, ifExists),
                        REF_ALREADY_EXISTS,
                        "Cannot create branch v1 in db.t: a tag of that name already exists");
            }
        }

        @Test
        void testReplaceKeepsRetention()
        {
            assertRefs(createBranch("audit", FROM_MAIN, Retention.DEFAULT, IfExists.REPLACE), "audit", SnapshotRef.builderFrom(AUDIT, 3).build());
            assertRefs(
                    createBranch("audit", FROM_MAIN, REF_AGE, IfExists.REPLACE),
                    "audit",
                    SnapshotRef.branchBuilder(3).minSnapshotsToKeep(2).maxSnapshotAgeMs(1000L).maxRefAgeMs(10L).build());
            assertUnchanged(createBranch("audit", new AtSnapshot(5), Retention.DEFAULT, IfExists.REPLACE));
            assertRefused(createBranch("audit", new AtRef("nope"), Retention.DEFAULT, IfExists.REPLACE), REF_NOT_FOUND, "Ref does not exist in db.t: nope");
        }

        @Test
        void testInvalidName()
        {
            assertThatThrownBy(() -> createBranch("", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE))
                    .isInstanceOf(RefRefusedException.class)
                    .hasMessage("Invalid ref name: it is empty");
        }

        @Test
        void testInTableWithoutSnapshots()
        {
            metadata = emptyTable();
            TableMetadata after = apply(createBranch("b", FROM_MAIN, REF_AGE, IfExists.REFUSE));
            Snapshot empty = after.snapshots().getFirst();
            assertThat(after.refs()).isEqualTo(ImmutableMap.of("b", SnapshotRef.branchBuilder(empty.snapshotId()).maxRefAgeMs(10L).build()));
            assertThat(empty.parentId()).isNull();
            assertThat(empty.summary()).containsEntry("total-records", "0");
            assertThat(after.currentSnapshot()).isNull();

            after = apply(createBranch("main", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE));
            assertThat(after.refs()).isEqualTo(ImmutableMap.of("main", SnapshotRef.branchBuilder(after.snapshots().getFirst().snapshotId()).build()));
            assertRefused(createBranch("b", new AtRef("dev"), Retention.DEFAULT, IfExists.REFUSE), REF_NOT_FOUND, "Ref does not exist in db.t: dev");
            assertRefused(createBranch("b", new AtTime(time(9)), Retention.DEFAULT, IfExists.REFUSE), INVALID_VALUE, "No snapshot of db.t was current at 2020-01-01T09:00:00Z");
        }

        @Test
        void testReplaceByMainWithoutSnapshots()
        {
            metadata = change(emptyTable(), builder -> builder.setBranchSnapshot(snapshot(1, OptionalLong.empty()), "b"));
            assertRefused(createBranch("b", FROM_MAIN, Retention.DEFAULT, IfExists.REPLACE), INVALID_VALUE, "Cannot replace branch b: db.t has no snapshot yet");
        }
    }

    @Nested
    class CreateTag
    {
        @Test
        void testCreate()
        {
            assertRefs(createTag("v2", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE), "v2", SnapshotRef.tagBuilder(3).build());
            assertRefs(createTag("v2", new AtSnapshot(4), REF_AGE, IfExists.REFUSE), "v2", SnapshotRef.tagBuilder(4).maxRefAgeMs(10L).build());
            assertRefs(createTag("v2", new AtTime(time(2)), REF_AGE, IfExists.REFUSE), "v2", SnapshotRef.tagBuilder(2).maxRefAgeMs(10L).build());
        }

        @Test
        void testRetentionOfBranchesIsRefused()
        {
            assertRefused(
                    createTag("v2", FROM_MAIN, ALL, IfExists.REFUSE),
                    INVALID_VALUE,
                    "A tag has a max_ref_age only: min_snapshots_to_keep and max_snapshot_age are for branches");
            assertRefused(
                    createTag("v1", FROM_MAIN, ALL, IfExists.REPLACE),
                    INVALID_VALUE,
                    "A tag has a max_ref_age only: min_snapshots_to_keep and max_snapshot_age are for branches");
        }

        @Test
        void testExisting()
        {
            assertRefused(createTag("v1", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE), REF_ALREADY_EXISTS, "Cannot create tag v1 in db.t: a tag of that name already exists");
            assertUnchanged(createTag("v1", FROM_MAIN, REF_AGE, IfExists.KEEP));
            assertRefs(createTag("v1", FROM_MAIN, Retention.DEFAULT, IfExists.REPLACE), "v1", SnapshotRef.builderFrom(V1, 3).build());
            assertRefs(createTag("v1", FROM_MAIN, REF_AGE, IfExists.REPLACE), "v1", SnapshotRef.tagBuilder(3).maxRefAgeMs(10L).build());
            assertUnchanged(createTag("v1", new AtSnapshot(1), Retention.DEFAULT, IfExists.REPLACE));
        }

        @Test
        void testExistingBranch()
        {
            for (IfExists ifExists : IfExists.values()) {
                assertRefused(createTag("audit", FROM_MAIN, Retention.DEFAULT, ifExists), REF_ALREADY_EXISTS, "Cannot create tag audit in db.t: a branch of that name already exists");
                assertRefused(createTag("main", FROM_MAIN, Retention.DEFAULT, ifExists), REF_ALREADY_EXISTS, "Cannot create tag main in db.t: a branch of that name already exists");
            }
        }

        @Test
        void testInTableWithoutSnapshots()
        {
            metadata = emptyTable();
            assertRefused(createTag("v1", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE), INVALID_VALUE, "Cannot create tag v1: db.t has no snapshot yet");
            assertRefused(createTag("main", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE), INVALID_VALUE, "Cannot create tag main in db.t: main is a branch");
        }
    }

    @Nested
    class Drop
    {
        @Test
        void testDrop()
        {
            assertDropped(dropBranch("audit", IfMissing.REFUSE), "audit");
            assertDropped(dropTag("v1", IfMissing.REFUSE), "v1");
            assertDropped(dropRef("audit", IfMissing.REFUSE), "audit");
            assertDropped(dropRef("v1", IfMissing.IGNORE), "v1");
        }

        @Test
        void testMissing()
        {
            assertRefused(dropBranch("nope", IfMissing.REFUSE), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
            assertRefused(dropTag("nope", IfMissing.REFUSE), REF_NOT_FOUND, "Tag does not exist in db.t: nope");
            assertRefused(dropRef("nope", IfMissing.REFUSE), REF_NOT_FOUND, "Ref does not exist in db.t: nope");
            assertUnchanged(dropBranch("nope", IfMissing.IGNORE));
            assertUnchanged(dropTag("nope", IfMissing.IGNORE));
            assertUnchanged(dropRef("nope", IfMissing.IGNORE));
        }

        @Test
        void testOtherKind()
        {
            for (IfMissing ifMissing : IfMissing.values()) {
                assertRefused(dropBranch("v1", ifMissing), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
                assertRefused(dropTag("audit", ifMissing), REF_NOT_FOUND, "Tag does not exist in db.t: audit is a branch");
            }
        }

        @Test
        void testMain()
        {
            for (IfMissing ifMissing : IfMissing.values()) {
                assertRefused(dropBranch("main", ifMissing), INVALID_VALUE, "Cannot drop main of db.t: every table has a branch main");
                assertRefused(dropTag("main", ifMissing), INVALID_VALUE, "Cannot drop main of db.t: every table has a branch main");
                assertRefused(dropRef("main", ifMissing), INVALID_VALUE, "Cannot drop main of db.t: every table has a branch main");
            }
        }
    }

    @Nested
    class Rename
    {
        @Test
        void testRename()
        {
            assertThat(apply(rename("audit", "checked")).refs())
                    .isEqualTo(ImmutableMap.of("main", MAIN, "checked", AUDIT, "dev", DEV, "v1", V1));
            assertThat(apply(rename("v1", "V1")).refs())
                    .isEqualTo(ImmutableMap.of("main", MAIN, "audit", AUDIT, "dev", DEV, "V1", V1));
        }

        @Test
        void testRefused()
        {
            assertRefused(rename("nope", "b"), REF_NOT_FOUND, "Ref does not exist in db.t: nope");
            assertRefused(rename("audit", "dev"), REF_ALREADY_EXISTS, "Cannot rename audit of db.t to dev: a branch of that name already exists");
            assertRefused(rename("audit", "v1"), REF_ALREADY_EXISTS, "Cannot rename audit of db.t to v1: a tag of that name already exists");
            assertRefused(rename("audit", "audit"), REF_ALREADY_EXISTS, "Cannot rename audit of db.t to audit: a branch of that name already exists");
            assertRefused(rename("main", "b"), INVALID_VALUE, "Cannot rename main of db.t to b: main keeps its name, and no other ref gets it");
            assertRefused(rename("audit", "main"), INVALID_VALUE, "Cannot rename audit of db.t to main: main keeps its name, and no other ref gets it");
            assertThatThrownBy(() -> rename("audit", " "))
                    .isInstanceOf(RefRefusedException.class)
                    .hasMessage("Invalid ref name: it begins or ends with a blank: ' '");
        }
    }

    @Nested
    class Replace
    {
        @Test
        void testReplace()
        {
            assertRefs(replace(SnapshotRefType.BRANCH, "audit", FROM_MAIN, OptionalLong.empty()), "audit", SnapshotRef.builderFrom(AUDIT, 3).build());
            assertRefs(replace(SnapshotRefType.BRANCH, "main", new AtSnapshot(5), OptionalLong.of(3)), "main", SnapshotRef.builderFrom(MAIN, 5).build());
            assertRefs(replace(SnapshotRefType.TAG, "v1", new AtRef("audit"), OptionalLong.of(1)), "v1", SnapshotRef.builderFrom(V1, 5).build());
            assertUnchanged(replace(SnapshotRefType.TAG, "v1", new AtSnapshot(1), OptionalLong.empty()));
        }

        @Test
        void testRefused()
        {
            assertRefused(replace(SnapshotRefType.BRANCH, "nope", FROM_MAIN, OptionalLong.empty()), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
            assertRefused(replace(SnapshotRefType.BRANCH, "v1", FROM_MAIN, OptionalLong.empty()), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
            assertRefused(replace(SnapshotRefType.TAG, "audit", FROM_MAIN, OptionalLong.empty()), REF_NOT_FOUND, "Tag does not exist in db.t: audit is a branch");
            assertRefused(replace(SnapshotRefType.BRANCH, "audit", new AtSnapshot(99), OptionalLong.empty()), INVALID_VALUE, "Snapshot does not exist in db.t: 99");
            assertRefused(
                    replace(SnapshotRefType.BRANCH, "audit", FROM_MAIN, OptionalLong.of(4)),
                    UNEXPECTED_SNAPSHOT,
                    "Cannot move audit of db.t: expected at snapshot 4, but it is at 5");
            metadata = change(emptyTable(), builder -> builder.setBranchSnapshot(snapshot(1, OptionalLong.empty()), "b"));
            assertRefused(replace(SnapshotRefType.BRANCH, "b", FROM_MAIN, OptionalLong.empty()), INVALID_VALUE, "Cannot replace branch b: db.t has no snapshot yet");
        }
    }

    @Nested
    class SetRetention
    {
        @Test
        void testSet()
        {
            assertRefs(setRetention("audit", ALL), "audit", SnapshotRef.branchBuilder(5).maxRefAgeMs(10L).minSnapshotsToKeep(20).maxSnapshotAgeMs(30L).build());
            // what is not given goes back to the default
            assertRefs(setRetention("audit", REF_AGE), "audit", SnapshotRef.branchBuilder(5).maxRefAgeMs(10L).build());
            assertRefs(setRetention("audit", Retention.DEFAULT), "audit", SnapshotRef.branchBuilder(5).build());
            assertRefs(setRetention("v1", REF_AGE), "v1", SnapshotRef.tagBuilder(1).maxRefAgeMs(10L).build());
            assertRefs(setRetention("main", REF_AGE), "main", SnapshotRef.branchBuilder(3).maxRefAgeMs(10L).build());
            assertUnchanged(setRetention("dev", Retention.DEFAULT));
        }

        @Test
        void testRefused()
        {
            assertRefused(setRetention("nope", ALL), REF_NOT_FOUND, "Ref does not exist in db.t: nope");
            assertRefused(
                    setRetention("v1", ALL),
                    INVALID_VALUE,
                    "A tag has a max_ref_age only: min_snapshots_to_keep and max_snapshot_age are for branches");
        }
    }

    @Nested
    class FastForward
    {
        @Test
        void testFastForward()
        {
            assertRefs(fastForward("main", new AtRef("dev"), OptionalLong.empty()), "main", SnapshotRef.builderFrom(MAIN, 6).build());
            assertRefs(fastForward("main", new AtSnapshot(6), OptionalLong.of(3)), "main", SnapshotRef.builderFrom(MAIN, 6).build());
            // it is there already
            assertUnchanged(fastForward("main", FROM_MAIN, OptionalLong.empty()));
            assertUnchanged(fastForward("audit", new AtSnapshot(5), OptionalLong.of(5)));
        }

        @Test
        void testNotADescendant()
        {
            assertRefused(
                    fastForward("main", new AtRef("audit"), OptionalLong.empty()),
                    NOT_FAST_FORWARD,
                    "Cannot fast-forward main of db.t to audit: 3 is not an ancestor of 5");
            assertRefused(
                    fastForward("main", new AtTag("v1"), OptionalLong.empty()),
                    NOT_FAST_FORWARD,
                    "Cannot fast-forward main of db.t to v1: 3 is not an ancestor of 1");
            assertRefused(
                    fastForward("main", new AtSnapshot(2), OptionalLong.empty()),
                    NOT_FAST_FORWARD,
                    "Cannot fast-forward main of db.t to snapshot 2: 3 is not an ancestor of 2");
            assertRefused(
                    fastForward("dev", new AtTime(time(2)), OptionalLong.empty()),
                    NOT_FAST_FORWARD,
                    "Cannot fast-forward dev of db.t to 2020-01-01T02:00:00Z: 6 is not an ancestor of 2");
        }

        @Test
        void testRefused()
        {
            assertRefused(fastForward("nope", FROM_MAIN, OptionalLong.empty()), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
            assertRefused(fastForward("v1", FROM_MAIN, OptionalLong.empty()), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
            assertRefused(fastForward("main", new AtRef("nope"), OptionalLong.empty()), REF_NOT_FOUND, "Ref does not exist in db.t: nope");
            assertRefused(fastForward("main", new AtRef("dev"), OptionalLong.of(2)), UNEXPECTED_SNAPSHOT, "Cannot move main of db.t: expected at snapshot 2, but it is at 3");
        }

        @Test
        void testMainWithoutSnapshots()
        {
            metadata = change(emptyTable(), builder -> builder.setBranchSnapshot(snapshot(1, OptionalLong.empty()), "b"));
            assertThat(apply(fastForward("main", new AtRef("b"), OptionalLong.empty())).refs())
                    .isEqualTo(ImmutableMap.of("main", SnapshotRef.branchBuilder(1).build(), "b", SnapshotRef.branchBuilder(1).build()));
            assertRefused(fastForward("main", new AtRef("b"), OptionalLong.of(1)), UNEXPECTED_SNAPSHOT, "Cannot move main of db.t: expected at snapshot 1, but it is at none");
            assertRefused(fastForward("main", FROM_MAIN, OptionalLong.empty()), INVALID_VALUE, "Cannot fast-forward main: db.t has no snapshot yet");
            assertRefused(fastForward("b", FROM_MAIN, OptionalLong.empty()), INVALID_VALUE, "Cannot fast-forward b: db.t has no snapshot yet");
        }
    }

    @Nested
    class Publish
    {
        @Test
        void testPublish()
        {
            assertRefs(publishBranch("dev", "main", FAST_FORWARD, OptionalLong.empty()), "main", SnapshotRef.builderFrom(MAIN, 6).build());
            assertRefs(publishBranch("dev", "main", FAST_FORWARD, OptionalLong.of(3)), "main", SnapshotRef.builderFrom(MAIN, 6).build());
            metadata = change(metadata, builder -> builder.setRef("same", SnapshotRef.branchBuilder(3).build()));
            assertUnchanged(publishBranch("same", "main", FAST_FORWARD, OptionalLong.empty()));
        }

        @Test
        void testPublishAndDrop()
        {
            assertThat(apply(publishAndDropBranch("dev", "main", FAST_FORWARD, OptionalLong.of(3))).refs())
                    .isEqualTo(ImmutableMap.of("main", SnapshotRef.builderFrom(MAIN, 6).build(), "audit", AUDIT, "v1", V1));
            metadata = change(metadata, builder -> builder.setRef("same", SnapshotRef.branchBuilder(3).build()));
            assertDropped(publishAndDropBranch("same", "main", FAST_FORWARD, OptionalLong.empty()), "same");
        }

        @Test
        void testRefused()
        {
            for (boolean drop : new boolean[] {false, true}) {
                assertRefused(publish("audit", "main", OptionalLong.empty(), drop), NOT_FAST_FORWARD, "Cannot fast-forward main of db.t to audit: 3 is not an ancestor of 5");
                assertRefused(publish("dev", "main", OptionalLong.of(2), drop), UNEXPECTED_SNAPSHOT, "Cannot move main of db.t: expected at snapshot 2, but it is at 3");
                assertRefused(publish("nope", "main", OptionalLong.empty(), drop), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
                assertRefused(publish("v1", "main", OptionalLong.empty(), drop), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
                assertRefused(publish("dev", "nope", OptionalLong.empty(), drop), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
                assertRefused(publish("dev", "v1", OptionalLong.empty(), drop), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
                assertRefused(publish("dev", "dev", OptionalLong.empty(), drop), INVALID_VALUE, "Cannot publish dev of db.t to itself");
            }
            assertRefused(publishAndDropBranch("main", "dev", FAST_FORWARD, OptionalLong.empty()), INVALID_VALUE, "Cannot drop main of db.t: every table has a branch main");
        }

        @Test
        void testDropOfProtectedBranch()
        {
            metadata = apply(protect("dev"));
            assertRefused(publishAndDropBranch("dev", "main", FAST_FORWARD, OptionalLong.empty()), PROTECTED, "Cannot drop dev of db.t: it is protected");
        }

        private RefUpdate publish(String branch, String to, OptionalLong expectedSnapshotId, boolean drop)
        {
            return drop ? publishAndDropBranch(branch, to, FAST_FORWARD, expectedSnapshotId) : publishBranch(branch, to, FAST_FORWARD, expectedSnapshotId);
        }
    }

    @Nested
    class Rollback
    {
        @Test
        void testRollback()
        {
            assertRefs(rollbackTo("main", new AtSnapshot(1)), "main", SnapshotRef.builderFrom(MAIN, 1).build());
            assertRefs(rollbackTo("main", new AtRef("v1")), "main", SnapshotRef.builderFrom(MAIN, 1).build());
            assertRefs(rollbackTo("audit", new AtSnapshot(4)), "audit", SnapshotRef.builderFrom(AUDIT, 4).build());
            assertRefs(rollbackToSnapshot(2), "main", SnapshotRef.builderFrom(MAIN, 2).build());
            assertUnchanged(rollbackTo("main", FROM_MAIN));
            assertUnchanged(rollbackToSnapshot(3));
            // no snapshot is deleted
            assertThat(apply(rollbackToSnapshot(1)).snapshots()).hasSize(6);
        }

        @Test
        void testRollbackToTime()
        {
            assertRefs(rollbackTo("main", new AtTime(time(2))), "main", SnapshotRef.builderFrom(MAIN, 2).build());
            assertRefs(rollbackTo("main", new AtTime(time(3).minusMillis(1))), "main", SnapshotRef.builderFrom(MAIN, 2).build());
            // the branch's own line counts
            assertRefs(rollbackTo("audit", new AtTime(time(4))), "audit", SnapshotRef.builderFrom(AUDIT, 4).build());
            assertUnchanged(rollbackTo("main", new AtTime(time(6))));
            assertRefused(rollbackTo("audit", new AtTime(START)), INVALID_VALUE, "Cannot roll back audit of db.t to 2020-01-01T00:00:00Z: it has no snapshot that old");
        }

        @Test
        void testNotAnAncestor()
        {
            assertRefused(rollbackTo("main", new AtRef("dev")), NOT_ANCESTOR, "Cannot roll back main of db.t to dev: 6 is not an ancestor of 3");
            assertRefused(rollbackTo("main", new AtSnapshot(4)), NOT_ANCESTOR, "Cannot roll back main of db.t to snapshot 4: 4 is not an ancestor of 3");
            assertRefused(rollbackToSnapshot(6), NOT_ANCESTOR, "Cannot roll back main of db.t to snapshot 6: 6 is not an ancestor of 3");
        }

        @Test
        void testRefused()
        {
            assertRefused(rollbackTo("nope", FROM_MAIN), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
            assertRefused(rollbackTo("v1", FROM_MAIN), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
            assertRefused(rollbackTo("main", new AtRef("nope")), REF_NOT_FOUND, "Ref does not exist in db.t: nope");
            assertRefused(rollbackToSnapshot(99), INVALID_VALUE, "Snapshot does not exist in db.t: 99");
            metadata = emptyTable();
            assertRefused(rollbackToSnapshot(1), REF_NOT_FOUND, "Branch does not exist in db.t: main");
        }
    }

    @Nested
    class SetCurrentSnapshot
    {
        @Test
        void testSet()
        {
            assertRefs(setCurrentSnapshot("main", new AtSnapshot(5)), "main", SnapshotRef.builderFrom(MAIN, 5).build());
            assertRefs(setCurrentSnapshot("main", new AtTag("v1")), "main", SnapshotRef.builderFrom(MAIN, 1).build());
            assertRefs(setCurrentSnapshot("audit", new AtSnapshot(6)), "audit", SnapshotRef.builderFrom(AUDIT, 6).build());
            assertUnchanged(setCurrentSnapshot("main", new AtSnapshot(3)));
        }

        @Test
        void testRefused()
        {
            assertRefused(setCurrentSnapshot("nope", new AtSnapshot(1)), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
            assertRefused(setCurrentSnapshot("v1", new AtSnapshot(1)), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
            assertRefused(setCurrentSnapshot("main", new AtSnapshot(99)), INVALID_VALUE, "Snapshot does not exist in db.t: 99");
        }

        @Test
        void testMainWithoutSnapshots()
        {
            metadata = change(emptyTable(), builder -> builder.setBranchSnapshot(snapshot(1, OptionalLong.empty()), "b"));
            assertThat(apply(setCurrentSnapshot("main", new AtSnapshot(1))).refs().get("main")).isEqualTo(SnapshotRef.branchBuilder(1).build());
            assertRefused(setCurrentSnapshot("main", FROM_MAIN), REF_NOT_FOUND, "Branch does not exist in db.t: main");
        }
    }

    @Nested
    class Protect
    {
        @Test
        void testProtect()
        {
            metadata = apply(protect("main"));
            assertThat(ProtectedRefs.of(metadata)).containsExactly("main");
            assertThat(metadata.properties()).containsEntry(ProtectedRefs.PROPERTY, "main").containsEntry("owner", "alice");
            assertUnchanged(protect("main"));

            metadata = apply(protect("audit"));
            assertThat(ProtectedRefs.of(metadata)).containsExactlyInAnyOrder("audit", "main");

            metadata = apply(unprotect("main"));
            assertThat(ProtectedRefs.of(metadata)).containsExactly("audit");
            assertUnchanged(unprotect("main"));
            assertUnchanged(unprotect("dev"));

            // nothing is left of it
            assertThat(apply(unprotect("audit")).properties()).isEqualTo(table().properties());
        }

        @Test
        void testRefused()
        {
            assertRefused(protect("nope"), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
            assertRefused(protect("v1"), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
            assertRefused(unprotect("nope"), REF_NOT_FOUND, "Branch does not exist in db.t: nope");
            assertRefused(unprotect("v1"), REF_NOT_FOUND, "Branch does not exist in db.t: v1 is a tag");
        }

        @Test
        void testMainWithoutSnapshots()
        {
            metadata = emptyTable();
            metadata = apply(protect("main"));
            assertThat(ProtectedRefs.of(metadata)).containsExactly("main");
        }

        /**
         * A branch may be gone whose name is still in the list: it can be taken off.
         */
        @Test
        void testUnprotectMissingBranch()
        {
            metadata = change(metadata, builder -> builder.setProperties(ImmutableMap.of(ProtectedRefs.PROPERTY, "gone,main")));
            assertThat(ProtectedRefs.of(apply(unprotect("gone")))).containsExactly("main");
        }
    }

    @Test
    void testOperations()
    {
        Map<String, RefUpdate> updates = ImmutableMap.<String, RefUpdate>builder()
                .put("create_branch", createBranch("b", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE))
                .put("create_tag", createTag("b", FROM_MAIN, Retention.DEFAULT, IfExists.REFUSE))
                .put("drop_ref", dropRef("b", IfMissing.REFUSE))
                .put("drop_branch", dropBranch("b", IfMissing.REFUSE))
                .put("drop_tag", dropTag("b", IfMissing.REFUSE))
                .put("rename_ref", rename("b", "c"))
                .put("replace_branch", replace(SnapshotRefType.BRANCH, "b", FROM_MAIN, OptionalLong.empty()))
                .put("replace_tag", replace(SnapshotRefType.TAG, "b", FROM_MAIN, OptionalLong.empty()))
                .put("set_ref_retention", setRetention("b", ALL))
                .put("rollback_to", rollbackTo("b", FROM_MAIN))
                .put("rollback_to_snapshot", rollbackToSnapshot(1))
                .put("undo_ref", undo("b", 1))
                .put("expire_refs", expireRefs(Instant.EPOCH, _ -> true))
                .put("set_current_snapshot", setCurrentSnapshot("b", FROM_MAIN))
                .buildOrThrow();
        updates.forEach((operation, update) -> {
            assertThat(update.operation(metadata)).isEqualTo(operation);
            assertThat(update.mayMoveProtected()).as(operation).isFalse();
        });
        Map<String, RefUpdate> movesProtected = ImmutableMap.of(
                "fast_forward", fastForward("b", FROM_MAIN, OptionalLong.empty()),
                "publish_branch", publishBranch("b", "c", FAST_FORWARD, OptionalLong.empty()),
                "protect_ref", protect("b"),
                "unprotect_ref", unprotect("b"));
        movesProtected.forEach((operation, update) -> {
            assertThat(update.operation(metadata)).isEqualTo(operation);
            assertThat(update.mayMoveProtected()).as(operation).isTrue();
        });
        assertThat(publishAndDropBranch("b", "c", FAST_FORWARD, OptionalLong.empty()).operation(metadata)).isEqualTo("publish_branch");
    }

    /**
     * The age of a ref is that of its snapshot: audit is at 5 hours and may be 2 s old, v1 at 1 hour and may be 5 s old.
     */
    @Test
    void testExpireRefs()
    {
        assertUnchanged(expireRefs(time(1).plusMillis(5000), _ -> true));
        assertDropped(expireRefs(time(1).plusMillis(5001), _ -> true), "v1");
        assertUnchanged(expireRefs(time(1).plusMillis(5001), name -> !name.equals("v1")));
        assertUnchanged(expireRefs(time(5).plusMillis(2000), "audit"::equals));
        assertDropped(expireRefs(time(5).plusMillis(2001), "audit"::equals), "audit");
    }

    @Test
    void testExpireRefsByTheAgeOfTheTable()
    {
        metadata = change(metadata, builder -> builder.setProperties(ImmutableMap.of("history.expire.max-ref-age-ms", "1000")));
        assertUnchanged(expireRefs(time(6).plusMillis(1000), "dev"::equals));
        assertDropped(expireRefs(time(6).plusMillis(1001), "dev"::equals), "dev");
        // neither main nor what is protected
        metadata = change(metadata, builder -> builder.setProperties(ImmutableMap.of(ProtectedRefs.PROPERTY, ProtectedRefs.toProperty(Set.of("dev", "audit")))));
        assertDropped(expireRefs(time(1_000_000), _ -> true), "v1");
        assertThat(Retention.expiresAt(metadata, "main")).isEmpty();
        assertThat(Retention.expiresAt(metadata, "dev")).hasValue(time(6).plusMillis(1000).toEpochMilli());
        assertThat(Retention.expiresAt(metadata, "v1")).hasValue(time(1).plusMillis(5000).toEpochMilli());
    }

    private TableMetadata apply(RefUpdate update)
    {
        return update.apply(new RefTarget(NAME, metadata, new InMemoryFileIO()));
    }

    /**
     * The update sets one ref and changes nothing else.
     */
    private void assertRefs(RefUpdate update, String name, SnapshotRef ref)
    {
        Map<String, SnapshotRef> expected = new HashMap<>(metadata.refs());
        expected.put(name, ref);
        assertOnlyRefsChanged(apply(update), expected);
    }

    private void assertDropped(RefUpdate update, String name)
    {
        Map<String, SnapshotRef> expected = new HashMap<>(metadata.refs());
        assertThat(expected.remove(name)).isNotNull();
        assertOnlyRefsChanged(apply(update), expected);
    }

    private void assertOnlyRefsChanged(TableMetadata after, Map<String, SnapshotRef> refs)
    {
        assertThat(after.refs()).isEqualTo(refs);
        assertThat(after.currentSnapshot().snapshotId()).isEqualTo(refs.get("main").snapshotId());
        assertThat(after.snapshots()).isEqualTo(metadata.snapshots());
        assertThat(after.properties()).isEqualTo(metadata.properties());
        assertThat(after.lastSequenceNumber()).isEqualTo(metadata.lastSequenceNumber());
        assertThat(after.schemas()).isEqualTo(metadata.schemas());
        assertThat(after.previousFiles().getLast().file()).isEqualTo(metadata.metadataFileLocation());
    }

    private void assertUnchanged(RefUpdate update)
    {
        assertThat(apply(update)).isSameAs(metadata);
    }

    private void assertRefused(RefUpdate update, Reason reason, String message)
    {
        String before = TableMetadataParser.toJson(metadata);
        assertThatThrownBy(() -> apply(update))
                .isInstanceOfSatisfying(RefRefusedException.class, refused -> assertThat(refused.reason()).isEqualTo(reason))
                .hasMessage(message);
        assertThat(TableMetadataParser.toJson(metadata)).isEqualTo(before);
    }
}
