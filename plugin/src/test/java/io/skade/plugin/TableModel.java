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
package io.skade.plugin;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.ImmutableSortedMap;
import com.google.common.collect.Sets;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * One table as git would keep it: snapshots that know their parent and their rows, refs, and for each name of a ref what an undo goes back to. It says
 * what a statement would do or why it is refused, from the rules in {@code docs/sql.md} alone: it shares no code with the product.
 *
 * <p>Where a statement is wrong in more than one way, any of the reasons may be told.
 */
final class TableModel
{
    static final String MAIN = "main";

    /**
     * Stands for the snapshot that a change adds, until the server has given it an id.
     */
    static final long NEW_SNAPSHOT = -1;

    private static final History NO_HISTORY = new History(ImmutableList.of(), ImmutableList.of());

    private final String name;
    private Map<Long, Commit> commits = ImmutableMap.of();
    private Map<String, Ref> refs = ImmutableSortedMap.of();
    private Set<String> protectedRefs = ImmutableSet.of();
    private Map<String, History> histories = ImmutableMap.of();
    private List<LogRow> log = ImmutableList.of();

    /**
     * A table that was just created: {@code main} is at a snapshot without rows.
     */
    TableModel(String name, long step, long snapshotId)
    {
        this.name = requireNonNull(name, "name is null");
        Ref main = new Ref(Kind.BRANCH, NEW_SNAPSHOT, Retention.DEFAULT);
        Commit commit = new Commit(OptionalLong.empty(), ImmutableList.of());
        apply(step, new Change("create_table", ImmutableMap.of(MAIN, main), protectedRefs, Optional.of(commit), 0, OptionalLong.empty()), OptionalLong.of(snapshotId));
    }

    enum Kind
    {
        BRANCH,
        TAG,
    }

    enum IfExists
    {
        REFUSE,
        KEEP,
        REPLACE,
    }

    enum Refusal
    {
        NOT_FOUND,
        ALREADY_EXISTS,
        NOT_FAST_FORWARD,
        NOT_ANCESTOR,
        PROTECTED,
        UNEXPECTED_SNAPSHOT,
        BAD_ARGUMENT,
    }

    record Row(long id, Optional<String> v) {}

    /**
     * A snapshot.
     */
    record Commit(OptionalLong parent, List<Row> rows) {}

    /**
     * Ages in milliseconds.
     */
    record Retention(Optional<Long> maxRefAge, Optional<Long> minSnapshotsToKeep, Optional<Long> maxSnapshotAge)
    {
        static final Retention DEFAULT = new Retention(Optional.empty(), Optional.empty(), Optional.empty());

        Retention orElse(Retention other)
        {
            return new Retention(maxRefAge.or(other::maxRefAge), minSnapshotsToKeep.or(other::minSnapshotsToKeep), maxSnapshotAge.or(other::maxSnapshotAge));
        }
    }

    record Ref(Kind kind, long snapshotId, Retention retention)
    {
        Ref at(long snapshotId)
        {
            return new Ref(kind, snapshotId, retention);
        }
    }

    sealed interface Target {}

    record AtRef(String ref)
            implements Target {}

    record AtSnapshot(long snapshotId)
            implements Target {}

    /**
     * What a write does to the rows of a branch.
     *
     * @param count the rows that the statement says it touched
     */
    record Edit(List<Row> removed, List<Row> added, long count) {}

    /**
     * A row of the log of refs.
     *
     * @param step the step of the test that made it
     */
    record LogRow(long step, String ref, Kind type, String operation, OptionalLong oldSnapshotId, OptionalLong newSnapshotId) {}

    sealed interface Outcome {}

    /**
     * Nothing changes.
     *
     * @param reasons one of them is told
     */
    record Refused(Set<Refusal> reasons)
            implements Outcome {}

    /**
     * What the statement makes of the table, which may be what it is already.
     *
     * @param undoSteps how many changes it takes back, 0 if it is not an undo
     * @param rowCount the rows that it touches, empty if it is not a write
     */
    record Change(String operation, Map<String, Ref> refs, Set<String> protectedRefs, Optional<Commit> added, int undoSteps, OptionalLong rowCount)
            implements Outcome {}

    /**
     * What was there before the changes of a ref that can be undone, and after those that can be made again; the nearest is the last.
     */
    private record History(List<Optional<Ref>> before, List<Optional<Ref>> after) {}

    String name()
    {
        return name;
    }

    Map<String, Ref> refs()
    {
        return refs;
    }

    Map<Long, Commit> commits()
    {
        return commits;
    }

    Set<String> protectedRefs()
    {
        return protectedRefs;
    }

    /**
     * Oldest first.
     */
    List<LogRow> log()
    {
        return log;
    }

    OptionalLong snapshotId(String ref)
    {
        return refs.containsKey(ref) ? OptionalLong.of(refs.get(ref).snapshotId()) : OptionalLong.empty();
    }

    List<Row> rows(String ref)
    {
        return commits.get(refs.get(ref).snapshotId()).rows();
    }

    boolean isBranch(String ref)
    {
        return refs.containsKey(ref) && refs.get(ref).kind() == Kind.BRANCH;
    }

    boolean isChangedBy(Change change)
    {
        return !change.refs().equals(refs) || !change.protectedRefs().equals(protectedRefs);
    }

    /**
     * How many changes of a ref were undone and can be made again.
     */
    int redoable(String ref)
    {
        return histories.getOrDefault(ref, NO_HISTORY).after().size();
    }

    /**
     * @param alwaysCommits whether the statement makes a snapshot even if it touches no row
     */
    Outcome write(String branch, Function<List<Row>, Edit> statement, boolean alwaysCommits)
    {
        if (!isBranch(branch)) {
            return refused(Refusal.NOT_FOUND);
        }
        List<Row> rows = rows(branch);
        Edit edit = statement.apply(rows);
        if (edit.removed().isEmpty() && edit.added().isEmpty() && !alwaysCommits) {
            return new Change("", refs, protectedRefs, Optional.empty(), 0, OptionalLong.of(0));
        }
        List<Row> after = new ArrayList<>(rows);
        edit.removed().forEach(after::remove);
        after.addAll(edit.added());
        String operation = edit.added().isEmpty() ? "delete" : edit.removed().isEmpty() ? "append" : "overwrite";
        return guarded(new Change(operation, with(branch, refs.get(branch).at(NEW_SNAPSHOT)), protectedRefs, Optional.of(new Commit(snapshotId(branch), ImmutableList.copyOf(after))), 0, OptionalLong.of(edit.count())));
    }

    Outcome create(Kind kind, String ref, Target from, Retention retention, IfExists ifExists)
    {
        String operation = kind == Kind.BRANCH ? "create_branch" : "create_tag";
        Set<Refusal> reasons = EnumSet.noneOf(Refusal.class);
        Ref existing = refs.get(ref);
        if (existing != null && existing.kind() == kind && ifExists == IfExists.KEEP) {
            return unchanged(operation);
        }
        if (existing != null && (existing.kind() != kind || ifExists == IfExists.REFUSE)) {
            reasons.add(Refusal.ALREADY_EXISTS);
        }
        if (ref.equals(MAIN) && kind == Kind.TAG) {
            reasons.add(Refusal.BAD_ARGUMENT);
        }
        OptionalLong snapshotId = resolve(from, reasons);
        if (!reasons.isEmpty()) {
            return refused(reasons, ref);
        }
        return moved(operation, ref, new Ref(kind, snapshotId.getAsLong(), existing == null ? retention : retention.orElse(existing.retention())));
    }

    /**
     * @param kind empty if either may be dropped
     */
    Outcome drop(String operation, Optional<Kind> kind, String ref, boolean ifExists)
    {
        Set<Refusal> reasons = EnumSet.noneOf(Refusal.class);
        if (ref.equals(MAIN)) {
            reasons.add(Refusal.BAD_ARGUMENT);
        }
        Ref existing = refs.get(ref);
        if (existing == null && ifExists && reasons.isEmpty()) {
            return unchanged(operation);
        }
        if (existing == null || (kind.isPresent() && existing.kind() != kind.get())) {
            reasons.add(Refusal.NOT_FOUND);
        }
        if (!reasons.isEmpty()) {
            return refused(reasons, ref);
        }
        return guarded(new Change(operation, without(refs, ref), protectedRefs, Optional.empty(), 0, OptionalLong.empty()));
    }

    Outcome rename(String ref, String to)
    {
        Set<Refusal> reasons = EnumSet.noneOf(Refusal.class);
        if (ref.equals(MAIN) || to.equals(MAIN)) {
            reasons.add(Refusal.BAD_ARGUMENT);
        }
        if (!refs.containsKey(ref)) {
            reasons.add(Refusal.NOT_FOUND);
        }
        if (refs.containsKey(to)) {
            reasons.add(Refusal.ALREADY_EXISTS);
        }
        if (!reasons.isEmpty()) {
            return refused(reasons, ref, to);
        }
        return guarded(new Change("rename_ref", without(with(to, refs.get(ref)), ref), protectedRefs, Optional.empty(), 0, OptionalLong.empty()));
    }

    Outcome replace(Kind kind, String ref, Target to, OptionalLong expectedSnapshotId)
    {
        Set<Refusal> reasons = EnumSet.noneOf(Refusal.class);
        OptionalLong snapshotId = resolve(to, reasons);
        checkKind(ref, kind, reasons);
        checkExpected(ref, expectedSnapshotId, reasons);
        if (!reasons.isEmpty()) {
            return refused(reasons, ref);
        }
        return moved(kind == Kind.BRANCH ? "replace_branch" : "replace_tag", ref, refs.get(ref).at(snapshotId.getAsLong()));
    }

    Outcome setRetention(String ref, Retention retention)
    {
        Ref existing = refs.get(ref);
        if (existing == null) {
            return refused(Refusal.NOT_FOUND);
        }
        if (existing.kind() == Kind.TAG && (retention.minSnapshotsToKeep().isPresent() || retention.maxSnapshotAge().isPresent())) {
            return refused(Refusal.BAD_ARGUMENT);
        }
        return moved("set_ref_retention", ref, new Ref(existing.kind(), existing.snapshotId(), retention));
    }

    Outcome fastForward(String branch, Target to, OptionalLong expectedSnapshotId)
    {
        return fastForward("fast_forward", branch, to, expectedSnapshotId, EnumSet.noneOf(Refusal.class));
    }

    Outcome publish(String branch, String to, OptionalLong expectedSnapshotId, boolean dropBranch)
    {
        Set<Refusal> reasons = EnumSet.noneOf(Refusal.class);
        if (branch.equals(to) || (dropBranch && branch.equals(MAIN))) {
            reasons.add(Refusal.BAD_ARGUMENT);
        }
        if (dropBranch && protectedRefs.contains(branch)) {
            reasons.add(Refusal.PROTECTED);
        }
        checkKind(branch, Kind.BRANCH, reasons);
        Outcome outcome = fastForward("publish_branch", to, new AtRef(branch), expectedSnapshotId, reasons);
        if (dropBranch && outcome instanceof Change change) {
            return new Change(change.operation(), without(change.refs(), branch), protectedRefs, Optional.empty(), 0, OptionalLong.empty());
        }
        return outcome;
    }

    private Outcome fastForward(String operation, String branch, Target to, OptionalLong expectedSnapshotId, Set<Refusal> reasons)
    {
        OptionalLong snapshotId = resolve(to, reasons);
        checkKind(branch, Kind.BRANCH, reasons);
        checkExpected(branch, expectedSnapshotId, reasons);
        OptionalLong from = snapshotId(branch);
        if (from.isPresent() && snapshotId.isPresent() && !isAncestor(from.getAsLong(), snapshotId.getAsLong())) {
            reasons.add(Refusal.NOT_FAST_FORWARD);
        }
        if (!reasons.isEmpty()) {
            return new Refused(reasons);
        }
        return new Change(operation, with(branch, refs.get(branch).at(snapshotId.getAsLong())), protectedRefs, Optional.empty(), 0, OptionalLong.empty());
    }

    Outcome rollback(String operation, String branch, Target to)
    {
        Set<Refusal> reasons = EnumSet.noneOf(Refusal.class);
        OptionalLong snapshotId = resolve(to, reasons);
        checkKind(branch, Kind.BRANCH, reasons);
        OptionalLong from = snapshotId(branch);
        if (from.isPresent() && snapshotId.isPresent() && !isAncestor(snapshotId.getAsLong(), from.getAsLong())) {
            reasons.add(Refusal.NOT_ANCESTOR);
        }
        if (!reasons.isEmpty()) {
            return refused(reasons, branch);
        }
        return moved(operation, branch, refs.get(branch).at(snapshotId.getAsLong()));
    }

    Outcome setCurrentSnapshot(String branch, Target to)
    {
        Set<Refusal> reasons = EnumSet.noneOf(Refusal.class);
        OptionalLong snapshotId = resolve(to, reasons);
        checkKind(branch, Kind.BRANCH, reasons);
        if (!reasons.isEmpty()) {
            return refused(reasons, branch);
        }
        return moved("set_current_snapshot", branch, refs.get(branch).at(snapshotId.getAsLong()));
    }

    /**
     * An undo to where the ref is already is as if it had not been.
     */
    Outcome undo(String ref, int steps)
    {
        History history = histories.getOrDefault(ref, NO_HISTORY);
        Set<Refusal> reasons = EnumSet.noneOf(Refusal.class);
        if (!refs.containsKey(ref) && history.equals(NO_HISTORY)) {
            reasons.add(Refusal.NOT_FOUND);
        }
        List<Optional<Ref>> states = steps > 0 ? history.before() : history.after();
        if (steps == 0 || Math.abs(steps) > states.size()) {
            reasons.add(Refusal.BAD_ARGUMENT);
        }
        if (!reasons.isEmpty()) {
            return refused(reasons, ref);
        }
        Optional<Ref> state = states.get(states.size() - Math.abs(steps));
        if (state.isEmpty() && steps > 0) {
            // an undo never drops a ref
            return refused(EnumSet.of(Refusal.BAD_ARGUMENT), ref);
        }
        Map<String, Ref> after = state.map(value -> with(ref, value)).orElseGet(() -> without(refs, ref));
        return guarded(new Change("undo_ref", after, protectedRefs, Optional.empty(), steps, OptionalLong.empty()));
    }

    Outcome protect(String ref)
    {
        if (!isBranch(ref)) {
            return refused(Refusal.NOT_FOUND);
        }
        return new Change("protect_ref", refs, Sets.union(protectedRefs, ImmutableSet.of(ref)).immutableCopy(), Optional.empty(), 0, OptionalLong.empty());
    }

    Outcome unprotect(String ref)
    {
        if (!isBranch(ref)) {
            return refused(Refusal.NOT_FOUND);
        }
        return new Change("unprotect_ref", refs, Sets.difference(protectedRefs, ImmutableSet.of(ref)).immutableCopy(), Optional.empty(), 0, OptionalLong.empty());
    }

    Outcome unchanged(String operation)
    {
        return new Change(operation, refs, protectedRefs, Optional.empty(), 0, OptionalLong.empty());
    }

    /**
     * Makes the change, which {@link #isChangedBy changes something}.
     *
     * @param newSnapshotId the id of the snapshot that was added
     */
    void apply(long step, Change change, OptionalLong newSnapshotId)
    {
        ImmutableSortedMap.Builder<String, Ref> resolved = ImmutableSortedMap.naturalOrder();
        change.refs().forEach((ref, value) -> resolved.put(ref, value.snapshotId() == NEW_SNAPSHOT ? value.at(newSnapshotId.getAsLong()) : value));
        Map<String, Ref> next = resolved.buildOrThrow();
        change.added().ifPresent(commit -> commits = ImmutableMap.<Long, Commit>builder().putAll(commits).put(newSnapshotId.getAsLong(), commit).buildOrThrow());
        Map<String, History> nextHistories = new HashMap<>(histories);
        ImmutableList.Builder<LogRow> nextLog = ImmutableList.<LogRow>builder().addAll(log);
        for (String ref : Sets.union(refs.keySet(), next.keySet())) {
            Optional<Ref> before = Optional.ofNullable(refs.get(ref));
            Optional<Ref> after = Optional.ofNullable(next.get(ref));
            if (!before.equals(after)) {
                nextLog.add(new LogRow(step, ref, after.or(() -> before).orElseThrow().kind(), change.operation(), id(before), id(after)));
                History history = histories.getOrDefault(ref, NO_HISTORY);
                nextHistories.put(ref, change.undoSteps() == 0
                        ? new History(append(history.before(), before), ImmutableList.of())
                        : shifted(history, before, change.undoSteps()));
            }
        }
        histories = ImmutableMap.copyOf(nextHistories);
        log = nextLog.build();
        refs = next;
        protectedRefs = change.protectedRefs();
    }

    private static OptionalLong id(Optional<Ref> ref)
    {
        return ref.stream().mapToLong(Ref::snapshotId).findFirst();
    }

    /**
     * The history after an undo, or redo if {@code steps} is negative: step by step, the present state goes to the other side.
     */
    private static History shifted(History history, Optional<Ref> present, int steps)
    {
        List<Optional<Ref>> from = new ArrayList<>(steps > 0 ? history.before() : history.after());
        List<Optional<Ref>> to = new ArrayList<>(steps > 0 ? history.after() : history.before());
        Optional<Ref> state = present;
        for (int i = 0; i < Math.abs(steps); i++) {
            to.add(state);
            state = from.removeLast();
        }
        return steps > 0 ? new History(from, to) : new History(to, from);
    }

    private static <T> List<T> append(List<T> list, T element)
    {
        return ImmutableList.<T>builder().addAll(list).add(element).build();
    }

    private Outcome moved(String operation, String ref, Ref to)
    {
        return guarded(new Change(operation, with(ref, to), protectedRefs, Optional.empty(), 0, OptionalLong.empty()));
    }

    /**
     * A change that a protected ref does not take.
     */
    private Outcome guarded(Change change)
    {
        boolean guarded = protectedRefs.stream().anyMatch(ref -> !refs.get(ref).equals(change.refs().get(ref)));
        return guarded ? refused(Refusal.PROTECTED) : change;
    }

    private static Outcome refused(Refusal reason)
    {
        return new Refused(ImmutableSet.of(reason));
    }

    /**
     * @param changed the refs that the statement wanted to change
     */
    private Outcome refused(Set<Refusal> reasons, String... changed)
    {
        boolean guarded = List.of(changed).stream().anyMatch(protectedRefs::contains);
        return new Refused(guarded ? Sets.union(reasons, ImmutableSet.of(Refusal.PROTECTED)).immutableCopy() : reasons);
    }

    private OptionalLong resolve(Target target, Set<Refusal> reasons)
    {
        switch (target) {
            case AtRef(String ref) -> {
                if (!refs.containsKey(ref)) {
                    reasons.add(Refusal.NOT_FOUND);
                }
                return snapshotId(ref);
            }
            case AtSnapshot(long snapshotId) -> {
                if (!commits.containsKey(snapshotId)) {
                    reasons.add(Refusal.BAD_ARGUMENT);
                    return OptionalLong.empty();
                }
                return OptionalLong.of(snapshotId);
            }
        }
    }

    private void checkKind(String ref, Kind kind, Set<Refusal> reasons)
    {
        if (!refs.containsKey(ref) || refs.get(ref).kind() != kind) {
            reasons.add(Refusal.NOT_FOUND);
        }
    }

    private void checkExpected(String ref, OptionalLong expectedSnapshotId, Set<Refusal> reasons)
    {
        if (expectedSnapshotId.isPresent() && !expectedSnapshotId.equals(snapshotId(ref))) {
            reasons.add(Refusal.UNEXPECTED_SNAPSHOT);
        }
    }

    /**
     * Whether going from parent to parent leads from a snapshot to another one, or it is the same.
     */
    private boolean isAncestor(long ancestor, long snapshotId)
    {
        OptionalLong next = OptionalLong.of(snapshotId);
        while (next.isPresent() && next.getAsLong() != ancestor) {
            next = commits.get(next.getAsLong()).parent();
        }
        return next.isPresent();
    }

    private Map<String, Ref> with(String ref, Ref value)
    {
        Map<String, Ref> result = new TreeMap<>(refs);
        result.put(ref, value);
        return result;
    }

    private static Map<String, Ref> without(Map<String, Ref> refs, String ref)
    {
        Map<String, Ref> result = new TreeMap<>(refs);
        result.remove(ref);
        return result;
    }
}
