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
import com.google.common.collect.Sets;
import com.google.common.primitives.Ints;
import io.skade.store.RefChange;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SnapshotRefType;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.util.SnapshotUtil;
import org.apache.iceberg.util.WapUtil;

import java.math.BigInteger;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

import static io.skade.ref.RefRefusedException.Reason.INVALID_VALUE;
import static io.skade.ref.RefRefusedException.Reason.NOT_ANCESTOR;
import static io.skade.ref.RefRefusedException.Reason.NOT_FAST_FORWARD;
import static io.skade.ref.RefRefusedException.Reason.REF_ALREADY_EXISTS;
import static io.skade.ref.RefRefusedException.Reason.REF_NOT_FOUND;
import static io.skade.ref.RefRefusedException.Reason.UNEXPECTED_SNAPSHOT;
import static java.lang.Math.toIntExact;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * All ways to move a ref. Nothing else knows under which conditions a ref may move.
 *
 * <ul>
 * <li>A fast-forward takes a branch to a descendant of its snapshot, a rollback to an ancestor; nothing else does for them.
 * <li>Leaving that line takes one of the forced moves: {@link #replace}, {@link #setCurrentSnapshot}, {@link #undo}, or a creation that
 * {@link IfExists#REPLACE replaces}.
 * <li>A publish by {@link PublishMode#REBASE rebase} takes the branch it moves to a descendant, and the published branch to the same snapshot.
 * <li>A tag moves only when replaced, or back by an undo.
 * <li>Every move keeps the retention of the ref that moves; an undo brings back what it was.
 * <li>{@code main} is a branch and stays: it cannot be dropped, renamed or made a tag.
 * </ul>
 */
public final class RefUpdates
{
    private RefUpdates() {}

    /**
     * What to do when the ref to create is there already.
     */
    public enum IfExists
    {
        REFUSE,
        /**
         * Leave it as it is.
         */
        KEEP,
        /**
         * Move it, keep the retention that is not given anew.
         */
        REPLACE,
    }

    /**
     * Whether a ref that is not there is an error of a drop.
     */
    public enum IfMissing
    {
        REFUSE,
        IGNORE,
    }

    /**
     * Creates a branch. On a table without snapshots a branch at {@code main} starts at a new empty snapshot.
     */
    public static RefUpdate createBranch(String branch, SnapshotSelector from, Retention retention, IfExists ifExists)
    {
        return create("create_branch", branch, SnapshotRefType.BRANCH, from, retention, ifExists);
    }

    public static RefUpdate createTag(String tag, SnapshotSelector from, Retention retention, IfExists ifExists)
    {
        return create("create_tag", tag, SnapshotRefType.TAG, from, retention, ifExists);
    }

    private static RefUpdate create(String operation, String name, SnapshotRefType type, SnapshotSelector from, Retention retention, IfExists ifExists)
    {
        RefNames.check(name);
        requireNonNull(retention, "retention is null");
        return update(operation, target -> {
            Optional<SnapshotRef> existing = find(target, name);
            if (existing.isPresent()) {
                SnapshotRef ref = existing.get();
                if (ref.type() != type || ifExists == IfExists.REFUSE) {
                    throw new RefRefusedException(REF_ALREADY_EXISTS, "Cannot create %s %s in %s: a %s of that name already exists", noun(type), name, target.name(), noun(ref.type()));
                }
                if (ifExists == IfExists.KEEP) {
                    return target.metadata();
                }
                long snapshotId = select(target, from).orElseThrow(() -> noSnapshot(target, "replace %s %s".formatted(noun(type), name)));
                return with(target, name, retention.orElse(ref).applyTo(at(ref, snapshotId)));
            }
            if (type == SnapshotRefType.TAG && name.equals(MAIN_BRANCH)) {
                throw new RefRefusedException(INVALID_VALUE, "Cannot create tag %s in %s: main is a branch", name, target.name());
            }
            OptionalLong snapshotId = select(target, from);
            if (snapshotId.isPresent()) {
                return with(target, name, retention.applyTo(SnapshotRef.builderFor(snapshotId.getAsLong(), type).build()));
            }
            if (type == SnapshotRefType.TAG) {
                throw noSnapshot(target, "create tag " + name);
            }
            // an append of nothing: no rows and no parent
            Snapshot snapshot = new BaseTable(new SnapshotTableOperations(target.metadata(), target.io()), target.name().toString()).newFastAppend()
                    .set(Rebase.START_OF_BRANCH, "true")
                    .apply();
            return TableMetadata.buildFrom(target.metadata())
                    .addSnapshot(snapshot)
                    .setRef(name, retention.applyTo(SnapshotRef.branchBuilder(snapshot.snapshotId()).build()))
                    .build();
        });
    }

    /**
     * Drops a ref of either kind.
     */
    public static RefUpdate dropRef(String ref, IfMissing ifMissing)
    {
        return drop("drop_ref", ref, Optional.empty(), ifMissing);
    }

    /**
     * Drops a branch; a tag of that name is refused, whatever {@code ifMissing}.
     */
    public static RefUpdate dropBranch(String branch, IfMissing ifMissing)
    {
        return drop("drop_branch", branch, Optional.of(SnapshotRefType.BRANCH), ifMissing);
    }

    /**
     * Drops a tag; a branch of that name is refused, whatever {@code ifMissing}.
     */
    public static RefUpdate dropTag(String tag, IfMissing ifMissing)
    {
        return drop("drop_tag", tag, Optional.of(SnapshotRefType.TAG), ifMissing);
    }

    private static RefUpdate drop(String operation, String name, Optional<SnapshotRefType> type, IfMissing ifMissing)
    {
        return update(operation, target -> {
            if (name.equals(MAIN_BRANCH)) {
                throw new RefRefusedException(INVALID_VALUE, "Cannot drop main of %s: every table has a branch main", target.name());
            }
            Optional<SnapshotRef> existing = find(target, name);
            if (existing.isEmpty()) {
                if (ifMissing == IfMissing.IGNORE) {
                    return target.metadata();
                }
                throw notFound(target, type.map(RefUpdates::noun).orElse("ref"), name);
            }
            type.ifPresent(expected -> checkType(target, name, existing.get(), expected));
            return TableMetadata.buildFrom(target.metadata()).removeRef(name).build();
        });
    }

    /**
     * Renames a ref; kind, snapshot and retention stay.
     */
    public static RefUpdate rename(String ref, String to)
    {
        RefNames.check(to);
        return update("rename_ref", target -> {
            if (ref.equals(MAIN_BRANCH) || to.equals(MAIN_BRANCH)) {
                throw new RefRefusedException(INVALID_VALUE, "Cannot rename %s of %s to %s: main keeps its name, and no other ref gets it", ref, target.name(), to);
            }
            SnapshotRef existing = find(target, ref).orElseThrow(() -> notFound(target, "ref", ref));
            Optional<SnapshotRef> taken = find(target, to);
            if (taken.isPresent()) {
                throw new RefRefusedException(REF_ALREADY_EXISTS, "Cannot rename %s of %s to %s: a %s of that name already exists", ref, target.name(), to, noun(taken.get().type()));
            }
            return TableMetadata.buildFrom(target.metadata())
                    .removeRef(ref)
                    .setRef(to, existing)
                    .build();
        });
    }

    /**
     * Forced move of a branch or tag to any snapshot.
     *
     * @param expectedSnapshotId where the ref must be now
     */
    public static RefUpdate replace(SnapshotRefType type, String name, SnapshotSelector to, OptionalLong expectedSnapshotId)
    {
        return update("replace_" + noun(type), target -> {
            SnapshotRef ref = load(target, name, type);
            checkExpected(target, name, ref, expectedSnapshotId);
            long snapshotId = select(target, to).orElseThrow(() -> noSnapshot(target, "replace %s %s".formatted(noun(type), name)));
            return with(target, name, at(ref, snapshotId));
        });
    }

    /**
     * Sets all of a ref's retention; what is empty goes back to the table's default.
     */
    public static RefUpdate setRetention(String name, Retention retention)
    {
        return update("set_ref_retention", target -> {
            SnapshotRef ref = find(target, name).orElseThrow(() -> notFound(target, "ref", name));
            return with(target, name, retention.applyTo(ref));
        });
    }

    /**
     * Moves a branch to a descendant of its snapshot. Nothing changes if it is there already.
     */
    public static RefUpdate fastForward(String branch, SnapshotSelector to, OptionalLong expectedSnapshotId)
    {
        return movesProtected("fast_forward", target -> fastForward(target, branch, to, expectedSnapshotId));
    }

    /**
     * Brings {@code to} to what {@code branch} has. Nothing changes if both are at the same snapshot. A rebase moves {@code branch} as well.
     *
     * @param expectedSnapshotId where {@code to} must be now
     */
    public static RefUpdate publishBranch(String branch, String to, PublishMode mode, OptionalLong expectedSnapshotId)
    {
        requireNonNull(mode, "mode is null");
        return publishes(mode, target -> publish(target, branch, to, mode, expectedSnapshotId));
    }

    /**
     * As {@link #publishBranch}, and drops {@code branch}.
     */
    public static RefUpdate publishAndDropBranch(String branch, String to, PublishMode mode, OptionalLong expectedSnapshotId)
    {
        requireNonNull(mode, "mode is null");
        return publishes(mode, target -> {
            if (branch.equals(MAIN_BRANCH)) {
                throw new RefRefusedException(INVALID_VALUE, "Cannot drop main of %s: every table has a branch main", target.name());
            }
            if (ProtectedRefs.of(target.metadata()).contains(branch)) {
                throw new RefRefusedException(RefRefusedException.Reason.PROTECTED, "Cannot drop %s of %s: it is protected", branch, target.name());
            }
            return TableMetadata.buildFrom(publish(target, branch, to, mode, expectedSnapshotId))
                    .removeRef(branch)
                    .build();
        });
    }

    private static TableMetadata publish(RefTarget target, String branch, String to, PublishMode mode, OptionalLong expectedSnapshotId)
    {
        Divergence divergence = compare(target, branch, to);
        checkExpected(target, to, target.metadata().ref(to), expectedSnapshotId);
        if (mode == PublishMode.FAST_FORWARD) {
            return fastForward(target, to, new SnapshotSelector.AtRef(branch), expectedSnapshotId);
        }
        return switch (divergence.kind()) {
            case NONE, AHEAD -> fastForward(target, to, new SnapshotSelector.AtRef(branch), expectedSnapshotId);
            case BEHIND -> fastForward(target, branch, new SnapshotSelector.AtRef(to), OptionalLong.empty());
            case BOTH -> Rebase.plan(target, branch, to, divergence).apply();
        };
    }

    /**
     * How a branch differs from the one that it is to be published to.
     *
     * @throws RefRefusedException if one of them is missing or both are the same
     */
    static Divergence compare(RefTarget target, String branch, String to)
    {
        if (branch.equals(to)) {
            throw new RefRefusedException(INVALID_VALUE, "Cannot publish %s of %s to itself", branch, target.name());
        }
        SnapshotRef ref = load(target, branch, SnapshotRefType.BRANCH);
        OptionalLong toId = to.equals(MAIN_BRANCH) && find(target, to).isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(load(target, to, SnapshotRefType.BRANCH).snapshotId());
        return Divergence.between(target.metadata(), ref.snapshotId(), toId);
    }

    private static TableMetadata fastForward(RefTarget target, String branch, SnapshotSelector to, OptionalLong expectedSnapshotId)
    {
        Optional<SnapshotRef> ref = find(target, branch);
        if (ref.isEmpty() && branch.equals(MAIN_BRANCH)) {
            // main of a table without snapshots: everything descends from nothing
            long snapshotId = select(target, to).orElseThrow(() -> noSnapshot(target, "fast-forward main"));
            checkExpected(target, branch, null, expectedSnapshotId);
            return with(target, branch, SnapshotRef.branchBuilder(snapshotId).build());
        }
        SnapshotRef from = load(target, branch, SnapshotRefType.BRANCH);
        checkExpected(target, branch, from, expectedSnapshotId);
        long snapshotId = select(target, to).orElseThrow(() -> noSnapshot(target, "fast-forward " + branch));
        if (!isAncestor(target.metadata(), from.snapshotId(), snapshotId)) {
            throw new RefRefusedException(
                    NOT_FAST_FORWARD,
                    "Cannot fast-forward %s of %s to %s: %s is not an ancestor of %s",
                    branch,
                    target.name(),
                    describe(to),
                    from.snapshotId(),
                    snapshotId);
        }
        return with(target, branch, at(from, snapshotId));
    }

    /**
     * Moves a branch back to an ancestor of its snapshot. Nothing changes if it is there already, and no snapshot is deleted.
     */
    public static RefUpdate rollbackTo(String branch, SnapshotSelector to)
    {
        return rollback("rollback_to", branch, to);
    }

    /**
     * {@link #rollbackTo} under the name of Trino's own procedure, for {@code main}.
     */
    public static RefUpdate rollbackToSnapshot(long snapshotId)
    {
        return rollback("rollback_to_snapshot", MAIN_BRANCH, new SnapshotSelector.AtSnapshot(snapshotId));
    }

    private static RefUpdate rollback(String operation, String branch, SnapshotSelector to)
    {
        return update(operation, target -> {
            SnapshotRef from = load(target, branch, SnapshotRefType.BRANCH);
            long snapshotId = to instanceof SnapshotSelector.AtTime(Instant time)
                    ? newestAncestor(target, branch, from, time)
                    : select(target, to).orElseThrow(() -> noSnapshot(target, "roll back " + branch));
            if (!isAncestor(target.metadata(), snapshotId, from.snapshotId())) {
                throw new RefRefusedException(
                        NOT_ANCESTOR,
                        "Cannot roll back %s of %s to %s: %s is not an ancestor of %s",
                        branch,
                        target.name(),
                        describe(to),
                        snapshotId,
                        from.snapshotId());
            }
            return with(target, branch, at(from, snapshotId));
        });
    }

    private static long newestAncestor(RefTarget target, String branch, SnapshotRef from, Instant time)
    {
        for (Snapshot snapshot : SnapshotUtil.ancestorsOf(from.snapshotId(), target.metadata()::snapshot)) {
            if (snapshot.timestampMillis() <= time.toEpochMilli()) {
                return snapshot.snapshotId();
            }
        }
        throw new RefRefusedException(INVALID_VALUE, "Cannot roll back %s of %s to %s: it has no snapshot that old", branch, target.name(), time);
    }

    /**
     * Forced move of a branch to any snapshot.
     */
    public static RefUpdate setCurrentSnapshot(String branch, SnapshotSelector to)
    {
        return update("set_current_snapshot", target -> {
            SnapshotRef ref = find(target, branch)
                    .or(() -> branch.equals(MAIN_BRANCH) ? select(target, to).stream().mapToObj(id -> SnapshotRef.branchBuilder(id).build()).findFirst() : Optional.empty())
                    .orElseThrow(() -> notFound(target, "branch", branch));
            checkType(target, branch, ref, SnapshotRefType.BRANCH);
            long snapshotId = select(target, to).orElseThrow(() -> noSnapshot(target, "set the snapshot of " + branch));
            return with(target, branch, at(ref, snapshotId));
        });
    }

    /**
     * Applies the changes of a snapshot once more, on a branch. By Iceberg's rules: an append or a replacement of whole partitions, or any snapshot whose
     * parent the branch is at, and none that the branch has already.
     */
    public static RefUpdate cherrypickSnapshot(long snapshotId, String branch)
    {
        return readsFiles("cherrypick_snapshot", target -> {
            select(target, new SnapshotSelector.AtSnapshot(snapshotId));
            return cherrypick(target, snapshotId, branch);
        });
    }

    /**
     * Cherry-picks the one snapshot that another engine staged under a write-audit-publish id to {@code main}.
     */
    public static RefUpdate publishChanges(String wapId)
    {
        return readsFiles("publish_changes", target -> {
            List<Snapshot> staged = target.metadata().snapshots().stream()
                    .filter(snapshot -> wapId.equals(WapUtil.stagedWapId(snapshot)))
                    .toList();
            if (staged.size() != 1) {
                throw new RefRefusedException(INVALID_VALUE, "Cannot publish changes of %s: %s snapshots are staged with wap_id %s", target.name(), staged.isEmpty() ? "no" : staged.size(), wapId);
            }
            return cherrypick(target, staged.getFirst().snapshotId(), MAIN_BRANCH);
        });
    }

    private static TableMetadata cherrypick(RefTarget target, long snapshotId, String branch)
    {
        if (!branch.equals(MAIN_BRANCH)) {
            load(target, branch, SnapshotRefType.BRANCH);
        }
        checkReadable(target, snapshotId, branch);
        TableMetadata view = RefViews.viewBranch(target.metadata(), branch);
        BuildingTableOperations operations = new BuildingTableOperations(view, target.io());
        try {
            new BaseTable(operations, target.name().toString()).manageSnapshots().cherrypick(snapshotId).commit();
        }
        catch (ValidationException e) {
            throw new RefRefusedException(INVALID_VALUE, "Cannot cherry-pick %s to %s of %s: %s", snapshotId, branch, target.name(), e.getMessage());
        }
        if (operations.current() == view) {
            return target.metadata();
        }
        return branch.equals(MAIN_BRANCH)
                ? operations.current()
                : MetadataChanges.onBranch(branch, view, operations.current()).apply(target);
    }

    /**
     * A snapshot that is made of another one, on top of a branch, has the present schema.
     */
    private static void checkReadable(RefTarget target, long snapshotId, String branch)
    {
        Snapshot picked = target.metadata().snapshot(snapshotId);
        SnapshotRef ref = target.metadata().ref(branch);
        if (picked == null || ref == null || Objects.equals(picked.parentId(), ref.snapshotId())) {
            return;
        }
        for (Snapshot snapshot : ImmutableList.of(picked, target.metadata().snapshot(ref.snapshotId()))) {
            SchemaConflict.find(target.io(), target.metadata(), snapshot, Type::toString).ifPresent(conflict -> {
                throw new RefRefusedException(INVALID_VALUE, "Cannot cherry-pick %s to %s of %s: %s cannot be read: %s", snapshotId, branch, target.name(), snapshot.snapshotId(), conflict);
            });
        }
    }

    /**
     * Takes back the last changes of a ref, or with negative {@code steps} makes again what the last undos took back. It is a change like any other to
     * whoever looks at the log, but an undo that follows does not count it, nor what it took back. An undo never drops a ref.
     */
    public static RefUpdate undo(String ref, long steps)
    {
        // more than an int is refused in any case
        return new Verb("undo_ref", target -> undo(target, ref, steps), false, false, Ints.saturatedCast(steps));
    }

    private static TableMetadata undo(RefTarget target, String name, long steps)
    {
        if (steps == 0) {
            throw new RefRefusedException(INVALID_VALUE, "steps cannot be 0");
        }
        RefHistory history = new RefHistory(target.log().get(), name);
        if (find(target, name).isEmpty() && history.undoable() == 0 && history.redoable() == 0) {
            throw new RefRefusedException(REF_NOT_FOUND, "Ref does not exist in %s, and its log does not know it: %s", target.name(), name);
        }
        String count = steps == 1 || steps == -1 ? "1 change" : BigInteger.valueOf(steps).abs() + " changes";
        String what = "%s %s of %s of %s".formatted(steps > 0 ? "undo" : "redo", count, name, target.name());
        if (steps > history.undoable()) {
            throw new RefRefusedException(INVALID_VALUE, "Cannot %s: the log holds only %s", what, history.undoable());
        }
        if (steps < -history.redoable()) {
            throw new RefRefusedException(INVALID_VALUE, "Cannot %s: only %s were undone", what, history.redoable());
        }
        Optional<SnapshotRef> ref = history.after(toIntExact(steps));
        if (ref.isEmpty()) {
            if (steps > 0) {
                throw new RefRefusedException(INVALID_VALUE, "Cannot %s: there was no %s before %s, and an undo does not drop it", what, name, history.lastUndone(toIntExact(steps)));
            }
            return TableMetadata.buildFrom(target.metadata()).removeRef(name).build();
        }
        long snapshotId = ref.get().snapshotId();
        if (target.metadata().snapshot(snapshotId) == null) {
            throw new RefRefusedException(INVALID_VALUE, "Cannot %s: it was at snapshot %s, which is expired", what, snapshotId);
        }
        return with(target, name, ref.get());
    }

    /**
     * Drops the refs that are older than their {@code max_ref_age} at a time, but neither {@code main} nor protected ones.
     *
     * @param among which refs to look at
     */
    public static RefUpdate expireRefs(Instant now, Predicate<String> among)
    {
        return update("expire_refs", target -> {
            TableMetadata metadata = target.metadata();
            TableMetadata.Builder builder = TableMetadata.buildFrom(metadata);
            Sets.difference(metadata.refs().keySet(), ProtectedRefs.of(metadata)).stream()
                    .filter(among)
                    .filter(name -> Retention.expiresAt(metadata, name).orElse(Long.MAX_VALUE) < now.toEpochMilli())
                    .forEach(builder::removeRef);
            return builder.build();
        });
    }

    /**
     * An update of the one table that has this uuid: refused if another one has its name by now.
     */
    public static RefUpdate ofTable(String uuid, RefUpdate update)
    {
        return new OfTable(uuid, update);
    }

    /**
     * Protects a branch. Nothing changes if it is protected already.
     */
    public static RefUpdate protect(String branch)
    {
        return movesProtected("protect_ref", target -> {
            if (!branch.equals(MAIN_BRANCH)) {
                load(target, branch, SnapshotRefType.BRANCH);
            }
            return withProtected(target, Sets.union(ProtectedRefs.of(target.metadata()), ImmutableSet.of(branch)));
        });
    }

    /**
     * Takes a branch's protection away. Nothing changes if it is not protected.
     */
    public static RefUpdate unprotect(String branch)
    {
        return movesProtected("unprotect_ref", target -> {
            Set<String> refs = ProtectedRefs.of(target.metadata());
            if (!refs.contains(branch) && !branch.equals(MAIN_BRANCH)) {
                load(target, branch, SnapshotRefType.BRANCH);
            }
            return withProtected(target, Sets.difference(refs, ImmutableSet.of(branch)));
        });
    }

    private static TableMetadata withProtected(RefTarget target, Set<String> refs)
    {
        if (refs.equals(ProtectedRefs.of(target.metadata()))) {
            return target.metadata();
        }
        TableMetadata.Builder builder = TableMetadata.buildFrom(target.metadata());
        if (refs.isEmpty()) {
            return builder.removeProperties(ImmutableSet.of(ProtectedRefs.PROPERTY)).build();
        }
        return builder.setProperties(ImmutableMap.of(ProtectedRefs.PROPERTY, ProtectedRefs.toProperty(refs))).build();
    }

    /**
     * The snapshot that a selector means in a table; empty only for {@code main} of a table that has no snapshot.
     *
     * @throws RefRefusedException if there is no such ref or snapshot
     */
    public static OptionalLong select(RefTarget target, SnapshotSelector selector)
    {
        TableMetadata metadata = target.metadata();
        return switch (selector) {
            case SnapshotSelector.AtRef(String ref) -> {
                if (ref.equals(MAIN_BRANCH) && metadata.ref(MAIN_BRANCH) == null) {
                    yield OptionalLong.empty();
                }
                yield OptionalLong.of(find(target, ref).orElseThrow(() -> notFound(target, "ref", ref)).snapshotId());
            }
            case SnapshotSelector.AtTag(String tag) -> OptionalLong.of(load(target, tag, SnapshotRefType.TAG).snapshotId());
            case SnapshotSelector.AtSnapshot(long snapshotId) -> {
                if (metadata.snapshot(snapshotId) == null) {
                    throw new RefRefusedException(INVALID_VALUE, "Snapshot does not exist in %s: %s", target.name(), snapshotId);
                }
                yield OptionalLong.of(snapshotId);
            }
            case SnapshotSelector.AtTime(Instant time) -> OptionalLong.of(asOf(target, time));
        };
    }

    private static long asOf(RefTarget target, Instant time)
    {
        long result = -1;
        for (var entry : target.metadata().snapshotLog()) {
            if (entry.timestampMillis() <= time.toEpochMilli()) {
                result = entry.snapshotId();
            }
        }
        if (result == -1) {
            throw new RefRefusedException(INVALID_VALUE, "No snapshot of %s was current at %s", target.name(), time);
        }
        if (target.metadata().snapshot(result) == null) {
            throw new RefRefusedException(INVALID_VALUE, "The snapshot of %s that was current at %s is expired: %s", target.name(), time, result);
        }
        return result;
    }

    private static boolean isAncestor(TableMetadata metadata, long ancestorId, long snapshotId)
    {
        return SnapshotUtil.isAncestorOf(snapshotId, ancestorId, metadata::snapshot);
    }

    private static Optional<SnapshotRef> find(RefTarget target, String name)
    {
        return Optional.ofNullable(target.metadata().ref(name));
    }

    private static SnapshotRef load(RefTarget target, String name, SnapshotRefType type)
    {
        SnapshotRef ref = find(target, name).orElseThrow(() -> notFound(target, noun(type), name));
        checkType(target, name, ref, type);
        return ref;
    }

    private static void checkType(RefTarget target, String name, SnapshotRef ref, SnapshotRefType type)
    {
        if (ref.type() != type) {
            throw new RefRefusedException(REF_NOT_FOUND, "%s does not exist in %s: %s is a %s", capitalized(noun(type)), target.name(), name, noun(ref.type()));
        }
    }

    private static void checkExpected(RefTarget target, String name, SnapshotRef ref, OptionalLong expectedSnapshotId)
    {
        if (expectedSnapshotId.isPresent() && (ref == null || ref.snapshotId() != expectedSnapshotId.getAsLong())) {
            throw new RefRefusedException(
                    UNEXPECTED_SNAPSHOT,
                    "Cannot move %s of %s: expected at snapshot %s, but it is at %s",
                    name,
                    target.name(),
                    expectedSnapshotId.getAsLong(),
                    ref == null ? "none" : ref.snapshotId());
        }
    }

    private static RefRefusedException notFound(RefTarget target, String noun, String name)
    {
        return new RefRefusedException(REF_NOT_FOUND, "%s does not exist in %s: %s", capitalized(noun), target.name(), name);
    }

    private static RefRefusedException noSnapshot(RefTarget target, String what)
    {
        return new RefRefusedException(INVALID_VALUE, "Cannot %s: %s has no snapshot yet", what, target.name());
    }

    private static TableMetadata with(RefTarget target, String name, SnapshotRef ref)
    {
        try {
            return TableMetadata.buildFrom(target.metadata()).setRef(name, ref).build();
        }
        catch (ValidationException e) {
            throw new RefRefusedException(INVALID_VALUE, "Cannot set %s of %s: %s", name, target.name(), e.getMessage());
        }
    }

    private static SnapshotRef at(SnapshotRef ref, long snapshotId)
    {
        return SnapshotRef.builderFrom(ref, snapshotId).build();
    }

    private static String describe(SnapshotSelector selector)
    {
        return switch (selector) {
            case SnapshotSelector.AtRef(String ref) -> ref;
            case SnapshotSelector.AtTag(String tag) -> tag;
            case SnapshotSelector.AtSnapshot(long snapshotId) -> "snapshot " + snapshotId;
            case SnapshotSelector.AtTime(Instant time) -> time.toString();
        };
    }

    private static String noun(SnapshotRefType type)
    {
        return switch (type) {
            case BRANCH -> "branch";
            case TAG -> "tag";
        };
    }

    private static String capitalized(String noun)
    {
        return Character.toUpperCase(noun.charAt(0)) + noun.substring(1);
    }

    private static RefUpdate update(String operation, Function<RefTarget, TableMetadata> function)
    {
        return new Verb(operation, function, false, false, 0);
    }

    private static RefUpdate readsFiles(String operation, Function<RefTarget, TableMetadata> function)
    {
        return new Verb(operation, function, true, false, 0);
    }

    private static RefUpdate movesProtected(String operation, Function<RefTarget, TableMetadata> function)
    {
        return new Verb(operation, function, false, true, 0);
    }

    private static RefUpdate publishes(PublishMode mode, Function<RefTarget, TableMetadata> function)
    {
        return new Verb("publish_branch", function, mode == PublishMode.REBASE, true, 0);
    }

    /**
     * @param readsFiles see {@link RefUpdate#readsFiles}
     */
    private record Verb(String operation, Function<RefTarget, TableMetadata> function, boolean readsFiles, boolean movesProtected, int undoSteps)
            implements RefUpdate
    {
        @Override
        public String operation(TableMetadata before)
        {
            return operation;
        }

        @Override
        public TableMetadata apply(RefTarget target)
        {
            return function.apply(target);
        }

        @Override
        public boolean mayMoveProtected()
        {
            return movesProtected;
        }
    }

    private record OfTable(String uuid, RefUpdate update)
            implements RefUpdate
    {
        @Override
        public String operation(TableMetadata before)
        {
            return update.operation(before);
        }

        @Override
        public TableMetadata apply(RefTarget target)
        {
            if (!uuid.equals(Objects.requireNonNullElse(target.metadata().uuid(), ""))) {
                throw new RefRefusedException(INVALID_VALUE, "Cannot change %s: it was dropped and created again meanwhile", target.name());
            }
            return update.apply(target);
        }

        @Override
        public boolean readsFiles()
        {
            return update.readsFiles();
        }

        @Override
        public boolean mayMoveProtected()
        {
            return update.mayMoveProtected();
        }

        @Override
        public boolean mayMoveProtected(RefChange move, TableMetadata before, TableMetadata after)
        {
            return update.mayMoveProtected(move, before, after);
        }

        @Override
        public int undoSteps()
        {
            return update.undoSteps();
        }
    }
}
