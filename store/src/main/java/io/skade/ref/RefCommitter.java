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
import com.google.common.collect.Streams;
import io.airlift.log.Logger;
import io.skade.ref.MetadataFiles.Written;
import io.skade.store.CatalogState;
import io.skade.store.CommitAuthor;
import io.skade.store.CommitResult;
import io.skade.store.CommitResult.Committed;
import io.skade.store.CommitResult.Conflict;
import io.skade.store.CommitResult.Mismatch;
import io.skade.store.CommitResult.NamespaceMissing;
import io.skade.store.CommitResult.PointerMismatch;
import io.skade.store.LogEntry.TableChange;
import io.skade.store.MetadataDocument;
import io.skade.store.PointerChange;
import io.skade.store.PointerCommit;
import io.skade.store.PointerKind;
import io.skade.store.PointerStore;
import io.skade.store.RefChange;
import io.skade.store.StoreException;
import io.skade.store.TablePointer;
import io.vavr.control.Either;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.io.FileIO;
import org.weakref.jmx.Flatten;
import org.weakref.jmx.Managed;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

import static com.google.common.base.Throwables.throwIfUnchecked;
import static io.skade.ref.RefRefusedException.Reason.PROTECTED;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static java.util.stream.Collectors.joining;

/**
 * Runs ref updates on one table or many: the only place where a table's pointer moves from one metadata file to the next, but for a rebuild of the store.
 *
 * <p>Each attempt takes the newest catalog state, applies every update to the metadata it finds there, writes the new metadata files (on a local
 * disk the store takes their content, and they are written after the commit), and asks the store to move all pointers from what it found to what it wrote. The store refuses if any pointer is another one by then; that is a
 * definite conflict, the files are deleted, and the next attempt starts from the beginning, so that every precondition is checked against the
 * metadata that is really replaced. When the outcome is unknown, nothing is deleted.
 *
 * <p>Updates of one table on the local disk that come at the same moment share an attempt, if they read no files: each is applied to what the one before
 * left, and one metadata file has what all of them did. Each has its own entry in the log, and is refused without the others. In an object store each
 * writes its file with its own rights.
 */
public final class RefCommitter
{
    private static final Logger log = Logger.get(RefCommitter.class);

    private static final int MAX_ATTEMPTS = 100;
    private static final long MAX_BACKOFF_NANOS = MILLISECONDS.toNanos(20);
    private static final long SLOW_NANOS = SECONDS.toNanos(5);

    private final PointerStore store;
    private final MetadataFiles files;
    private final LocalDisk disk;
    private final CommitStats stats = new CommitStats();
    private final CommitTurns turns = new CommitTurns();
    private final TableQueues<SharedUpdate> queues = new TableQueues<>();

    public RefCommitter(PointerStore store, MetadataFiles files, LocalDisk disk)
    {
        this.disk = requireNonNull(disk, "disk is null");
        this.store = requireNonNull(store, "store is null");
        this.files = requireNonNull(files, "files is null");
    }

    public PointerStore store()
    {
        return store;
    }

    CommitTurns turns()
    {
        return turns;
    }

    @Managed
    @Flatten
    public CommitStats getStats()
    {
        return stats;
    }

    /**
     * Where the tables' files may be.
     */
    public LocalDisk disk()
    {
        return disk;
    }

    public MetadataFiles files()
    {
        return files;
    }

    /**
     * Applies all updates in one commit, or none. What an update leaves unchanged is not written.
     *
     * @return what became of the tables, in the order of {@code updates}
     * @throws RefRefusedException if an update is not allowed: one that tells of every table whose update is not; nothing was changed
     * @throws NoSuchTableException if a table does not exist; nothing was changed
     * @throws MissingMetadataException if the metadata file of a table is not there; nothing was changed
     * @throws InvalidMetadataException if the metadata file of a table is damaged; nothing was changed
     * @throws StoreException if the store or a metadata file cannot be written; nothing was changed
     * @throws CommitFailedException if other commits won every attempt, or an update cannot be applied to newer metadata; nothing was changed
     * @throws CommitStateUnknownException if it is not known whether the commit is durable; no file was deleted
     */
    public List<TableMove> commit(FileIO io, CommitAuthor author, Map<TableIdentifier, RefUpdate> updates)
    {
        try {
            return commitWithRetries(io, author, updates);
        }
        catch (CommitStateUnknownException e) {
            stats.getUnknownOutcomes().update(1);
            throw e;
        }
        catch (RuntimeException e) {
            stats.getFailures().update(1);
            throw e;
        }
    }

    private List<TableMove> commitWithRetries(FileIO io, CommitAuthor author, Map<TableIdentifier, RefUpdate> updates)
    {
        if (updates.size() == 1) {
            Map.Entry<TableIdentifier, RefUpdate> only = updates.entrySet().iterator().next();
            if (!only.getValue().readsFiles() && isLocal(only.getKey())) {
                SharedUpdate update = new SharedUpdate(author, only.getValue());
                queues.run(only.getKey(), update, waiting -> commitShared(io, only.getKey(), waiting));
                return ImmutableList.of(update.result());
            }
        }
        long start = System.nanoTime();
        return repeat(attempt -> {
            List<Step> steps = apply(store.state(), io, updates);
            List<Step> changed = steps.stream().filter(Step::changes).toList();
            if (changed.isEmpty()) {
                return Either.right(steps.stream().map(Step::move).toList());
            }
            List<Written> written = write(io, changed);
            Entry entry = new Entry(author, Streams.zip(changed.stream(), written.stream(), (step, file) -> step.pointerChange(file.document().location())).toList());
            return switch (commit(io, ImmutableList.of(entry), written)) {
                case Committed committed -> {
                    committed(committed.logId(), entry, attempt, System.nanoTime() - start);
                    Iterator<Written> newFiles = written.iterator();
                    ImmutableList.Builder<TableMove> moves = ImmutableList.builder();
                    for (Step step : steps) {
                        if (step.changes()) {
                            TableMetadata after = newFiles.next().metadata();
                            replaced(io, step.pointer(), step.before(), after);
                            moves.add(new TableMove(step.name(), step.before(), after));
                        }
                        else {
                            moves.add(step.move());
                        }
                    }
                    yield Either.right(moves.build());
                }
                case Conflict conflict -> Either.left(conflict);
            };
        });
    }

    /**
     * Repeats what lost a race against other commits.
     *
     * @param attempt gets its number, from 1 on
     */
    private <T> T repeat(IntFunction<Either<Conflict, T>> attempt)
    {
        List<Mismatch> mismatches = ImmutableList.of();
        for (int lost = 0; lost < MAX_ATTEMPTS; lost++) {
            Either<Conflict, T> result = attempt.apply(lost + 1);
            if (result.isRight()) {
                return result.get();
            }
            stats.getConflicts().update(1);
            mismatches = result.getLeft().mismatches();
            backOff(lost);
        }
        throw new CommitFailedException("Cannot commit: other commits won %s times in a row: %s", MAX_ATTEMPTS, describe(mismatches));
    }

    private boolean isLocal(TableIdentifier name)
    {
        return store.state().find(name).filter(pointer -> disk.find(pointer.metadataLocation()).isPresent()).isPresent();
    }

    /**
     * Applies updates one after the other in one commit of the store, those that are not refused.
     */
    private void commitShared(FileIO io, TableIdentifier name, List<SharedUpdate> updates)
    {
        long start = System.nanoTime();
        try {
            repeat(attempt -> {
                TablePointer pointer = find(store.state(), name);
                TableMetadata before = files.read(io, name, pointer);
                Map<SharedUpdate, Step> steps = applyAll(io, name, pointer, before, updates.stream().filter(update -> !update.isDone()).toList());
                if (steps.isEmpty()) {
                    return Either.right(steps);
                }
                TableMetadata after = ImmutableList.copyOf(steps.values()).getLast().after();
                Written file = write(io, pointer, before, after);
                ImmutableList.Builder<Entry> builder = ImmutableList.builder();
                TablePointer present = pointer;
                for (Map.Entry<SharedUpdate, Step> entry : steps.entrySet()) {
                    PointerChange change = entry.getValue().at(present).pointerChange(file.document().location());
                    builder.add(new Entry(entry.getKey().author, ImmutableList.of(change)));
                    present = change.next().orElseThrow();
                }
                List<Entry> entries = builder.build();
                return switch (commit(io, entries, ImmutableList.of(file))) {
                    case Committed committed -> {
                        long logId = committed.logId() - entries.size();
                        for (Entry entry : entries) {
                            logId++;
                            committed(logId, entry, attempt, System.nanoTime() - start);
                        }
                        replaced(io, pointer, before, file.metadata());
                        steps.forEach((update, step) -> update.complete(new TableMove(name, step.before(), step.after(), file.metadata())));
                        yield Either.right(steps);
                    }
                    case Conflict conflict -> Either.left(conflict);
                };
            });
        }
        catch (RuntimeException | Error e) {
            updates.stream().filter(update -> !update.isDone()).forEach(update -> update.fail(e));
        }
    }

    /**
     * Applies each update to what the one before made, and ends those that are refused or change nothing.
     *
     * @return the others, in their order
     */
    private Map<SharedUpdate, Step> applyAll(FileIO io, TableIdentifier name, TablePointer pointer, TableMetadata before, List<SharedUpdate> updates)
    {
        ImmutableMap.Builder<SharedUpdate, Step> steps = ImmutableMap.builder();
        List<TableChange> log = new ArrayList<>();
        TableMetadata present = before;
        for (SharedUpdate update : updates) {
            try {
                if (!present.changes().isEmpty()) {
                    // it builds on what the one before made as on the metadata of a file
                    present = TableMetadata.buildFrom(present).discardChanges().build();
                }
                List<TableChange> added = ImmutableList.copyOf(log).reverse();
                Step step = apply(new RefTarget(name, present, () -> ImmutableList.<TableChange>builder().addAll(added).addAll(log(pointer)).build(), io), pointer, update.update);
                if (!step.changes()) {
                    update.complete(step.move());
                    continue;
                }
                steps.put(update, step);
                log.add(new TableChange(name, pointer.id(), step.operation(), Optional.empty(), step.refChanges(), update.update.undoSteps()));
                present = step.after();
            }
            catch (RuntimeException e) {
                update.fail(e);
            }
        }
        return steps.buildOrThrow();
    }

    private void replaced(FileIO io, TablePointer pointer, TableMetadata before, TableMetadata after)
    {
        files.replaced(pointer.metadataLocation(), after);
        deleteRemovedMetadataFiles(io, before, after);
    }

    private void committed(long logId, Entry entry, int attempts, long nanos)
    {
        stats.getCommits().update(1);
        stats.getCommitTime().addNanos(nanos);
        if (nanos > SLOW_NANOS || log.isDebugEnabled()) {
            String line = "commit log_id=%s user=%s query_id=%s attempts=%s millis=%s tables=%s".formatted(
                    logId,
                    entry.author().user(),
                    entry.author().queryId().orElse("none"),
                    attempts,
                    NANOSECONDS.toMillis(nanos),
                    entry.pointers().stream().map(change -> change.name() + ":" + change.operation()).toList());
            if (nanos > SLOW_NANOS) {
                log.warn("Slow %s", line);
            }
            else {
                log.debug("%s", line);
            }
        }
    }

    /**
     * What {@link #commit} would do now. Writes no metadata file and changes nothing.
     *
     * @throws RefRefusedException as {@link #commit}
     * @throws NoSuchTableException if a table does not exist
     */
    public List<TableMove> dryRun(FileIO io, Map<TableIdentifier, RefUpdate> updates)
    {
        return apply(store.state(), io, updates).stream().map(Step::move).toList();
    }

    /**
     * Creates a table.
     *
     * @param metadata with the location of its metadata file if that is written already
     * @return the metadata as read from its file
     * @throws RefRefusedException if a new table would have protected branches; nothing was changed
     * @throws AlreadyExistsException if there is a table or view of that name; nothing was changed
     * @throws NoSuchNamespaceException if the namespace does not exist; nothing was changed
     * @throws StoreException if the store or the metadata file cannot be written; nothing was changed
     * @throws CommitStateUnknownException if it is not known whether the commit is durable; no file was deleted
     */
    public TableMetadata create(FileIO io, CommitAuthor author, TableIdentifier name, TableMetadata metadata)
    {
        boolean registers = metadata.metadataFileLocation() != null;
        if (!registers) {
            if (!ProtectedRefs.of(metadata).isEmpty()) {
                throw new RefRefusedException(PROTECTED, "Cannot create %s with the property %s: only protect_ref sets it", name, ProtectedRefs.PROPERTY);
            }
            disk.forceAdded(io, Optional.empty(), metadata);
        }
        Optional<Written> file = registers ? Optional.empty() : Optional.of(write(io, metadata, 0, Optional.empty()));
        TableMetadata written = file.map(Written::metadata).orElse(metadata);
        TablePointer pointer = TablePointer.newTable(Objects.requireNonNullElse(written.uuid(), ""), written.metadataFileLocation(), written.refs());
        PointerChange change = new PointerChange(
                name,
                Optional.empty(),
                Optional.of(pointer),
                registers ? "register_table" : "create_table",
                RefChange.between(ImmutableMap.of(), written.refs()));
        // a file that was there before stays, whatever comes
        long start = System.nanoTime();
        Entry entry = new Entry(author, ImmutableList.of(change));
        switch (commit(io, ImmutableList.of(entry), file.stream().toList())) {
            case Committed committed -> {
                committed(committed.logId(), entry, 1, System.nanoTime() - start);
                return written;
            }
            case Conflict(List<Mismatch> mismatches) -> throw switch (mismatches.getFirst()) {
                case NamespaceMissing _ -> new NoSuchNamespaceException("Cannot create table %s. Namespace does not exist: %s", name, name.namespace());
                case PointerMismatch(_, _, Optional<TablePointer> actual) when actual.isPresent() && actual.get().kind() == PointerKind.VIEW -> new AlreadyExistsException("View with same name already exists: %s", name);
                default -> new AlreadyExistsException("Requirement failed: table already exists: %s", name);
            };
        }
    }

    private List<Step> apply(CatalogState state, FileIO io, Map<TableIdentifier, RefUpdate> updates)
    {
        List<Either<RefRefusedException, Step>> steps = InParallel.map(updates.entrySet(), entry -> {
            TableIdentifier name = entry.getKey();
            TablePointer pointer = find(state, name);
            TableMetadata before = files.read(io, name, pointer);
            try {
                return Either.right(apply(new RefTarget(name, before, () -> log(pointer), io), pointer, entry.getValue()));
            }
            catch (RefRefusedException e) {
                return Either.left(e);
            }
        });
        List<RefRefusedException> refusals = steps.stream().filter(Either::isLeft).map(Either::getLeft).toList();
        if (!refusals.isEmpty()) {
            throw RefRefusedException.ofAll(refusals);
        }
        return steps.stream().map(Either::get).toList();
    }

    private static TablePointer find(CatalogState state, TableIdentifier name)
    {
        return state.find(name, PointerKind.TABLE).orElseThrow(() -> new NoSuchTableException("Table does not exist: %s", name));
    }

    private static Step apply(RefTarget target, TablePointer pointer, RefUpdate update)
    {
        Step step = new Step(target.name(), pointer, update, target.metadata(), update.apply(target));
        checkProtected(step);
        return step;
    }

    private List<TableChange> log(TablePointer pointer)
    {
        return store.log(pointer.id(), Integer.MAX_VALUE).stream()
                .flatMap(entry -> entry.tables().stream())
                .filter(change -> change.pointerId().equals(pointer.id()))
                .toList();
    }

    private static void checkProtected(Step step)
    {
        if (step.update().mayMoveProtected()) {
            return;
        }
        Set<String> protectedRefs = ProtectedRefs.of(step.before());
        if (!protectedRefs.equals(ProtectedRefs.of(step.after()))) {
            throw new RefRefusedException(PROTECTED, "Cannot change the property %s of %s: only protect_ref and unprotect_ref do", ProtectedRefs.PROPERTY, step.name());
        }
        for (RefChange change : step.refChanges()) {
            if (protectedRefs.contains(change.ref()) && !step.update().mayMoveProtected(change, step.before(), step.after())) {
                throw new RefRefusedException(
                        PROTECTED,
                        "Cannot change %s of %s by %s: it is protected, only publish_branch and fast_forward move it",
                        change.ref(),
                        step.name(),
                        step.operation());
            }
        }
    }

    /**
     * The files of the tables, in their order.
     */
    private List<Written> write(FileIO io, List<Step> changed)
    {
        Queue<Written> done = new ConcurrentLinkedQueue<>();
        try {
            return InParallel.map(changed, step -> {
                Written file = write(io, step.pointer(), step.before(), step.after());
                done.add(file);
                return file;
            });
        }
        catch (RuntimeException e) {
            deleteFiles(io, done);
            throw e;
        }
    }

    /**
     * The next version of a table. What it adds is durable then.
     */
    private Written write(FileIO io, TablePointer pointer, TableMetadata before, TableMetadata after)
    {
        disk.forceAdded(io, Optional.of(before), after);
        return write(io, after, MetadataFiles.version(pointer.metadataLocation()) + 1, Optional.of(pointer.metadataLocation()));
    }

    /**
     * A file on the local disk is written after the commit that carries its content. So none is ever newer than the store, unless the store lost commits.
     */
    private Written write(FileIO io, TableMetadata metadata, int version, Optional<String> before)
    {
        Written file = files.prepare(metadata, version, before);
        if (!isLocal(file.document())) {
            files.write(io, file.document());
        }
        return file;
    }

    private boolean isLocal(MetadataDocument document)
    {
        return disk.find(document.location()).isPresent();
    }

    /**
     * Commits. If it is certain that this did not happen, deletes the files in {@code written}.
     */
    private CommitResult commit(FileIO io, List<Entry> entries, List<Written> written)
    {
        List<MetadataDocument> documents = written.stream()
                .map(Written::document)
                .filter(this::isLocal)
                .toList();
        List<PointerCommit> commits = entries.stream()
                .map(entry -> new PointerCommit(entry.author(), ImmutableList.of(), entry.pointers(), documents))
                .toList();
        CommitResult result;
        long start = System.nanoTime();
        try {
            result = store.commit(commits);
            stats.getSyncTime().addNanos(System.nanoTime() - start);
        }
        catch (CommitStateUnknownException e) {
            // what the store keeps was committed
            documents.stream()
                    .filter(document -> store.keptDocuments().containsValue(document.location()))
                    .forEach(document -> writeCommitted(io, document));
            throw e;
        }
        catch (RuntimeException e) {
            deleteFiles(io, written);
            throw e;
        }
        if (result instanceof Conflict conflict) {
            // a rebuild of the store may have taken a file that it found
            deleteFiles(io, written.stream().filter(file -> !isTaken(conflict, file.document().location())).toList());
        }
        else {
            InParallel.forEach(documents, document -> writeCommitted(io, document));
        }
        return result;
    }

    private void writeCommitted(FileIO io, MetadataDocument document)
    {
        try {
            files.write(io, document);
        }
        catch (RuntimeException e) {
            // the commit is done; the store keeps the content until the file is there
            log.warn(e, "Cannot write metadata file %s, it is tried again later", document.location());
        }
    }

    private static boolean isTaken(Conflict conflict, String location)
    {
        return conflict.mismatches().stream()
                .anyMatch(mismatch -> mismatch instanceof PointerMismatch pointer && pointer.actual().filter(actual -> actual.metadataLocation().equals(location)).isPresent());
    }

    private void deleteFiles(FileIO io, Collection<Written> written)
    {
        for (Written file : written) {
            String location = file.document().location();
            files.forget(location);
            if (isLocal(file.document())) {
                continue;
            }
            try {
                io.deleteFile(location);
            }
            catch (RuntimeException e) {
                log.warn(e, "Cannot delete a metadata file that was not committed: %s", location);
            }
        }
    }

    private static void deleteRemovedMetadataFiles(FileIO io, TableMetadata before, TableMetadata after)
    {
        try {
            CatalogUtil.deleteRemovedMetadataFiles(io, before, after);
        }
        catch (RuntimeException e) {
            // the commit is done; what is left is taken by the removal of orphan files
            log.warn(e, "Cannot delete old metadata files of %s", after.location());
        }
    }

    private static void backOff(int attempt)
    {
        if (attempt > 1) {
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(Math.min(MAX_BACKOFF_NANOS, 100_000L << Math.min(attempt, 10))));
        }
    }

    private static String describe(List<Mismatch> mismatches)
    {
        return mismatches.stream()
                .map(mismatch -> mismatch instanceof PointerMismatch pointer ? describe(pointer) : mismatch.toString())
                .collect(joining(", "));
    }

    private static String describe(PointerMismatch mismatch)
    {
        List<RefChange> changes = RefChange.between(refs(mismatch.expected()), refs(mismatch.actual()));
        return changes.isEmpty() ? mismatch.name().toString() : mismatch.name() + changes.stream()
                                                                                  .map(change -> "%s went from %s to %s".formatted(change.ref(), snapshotId(change.before()), snapshotId(change.after())))
                                                                                  .collect(joining(", ", " (", ")"));
    }

    private static Map<String, SnapshotRef> refs(Optional<TablePointer> pointer)
    {
        return pointer.map(TablePointer::refs).orElseGet(ImmutableMap::of);
    }

    private static String snapshotId(Optional<SnapshotRef> ref)
    {
        return ref.map(value -> Long.toString(value.snapshotId())).orElse("none");
    }

    /**
     * What one attempt makes of one table.
     */
    private record Step(TableIdentifier name, TablePointer pointer, RefUpdate update, TableMetadata before, TableMetadata after, List<RefChange> refChanges)
    {
        Step(TableIdentifier name, TablePointer pointer, RefUpdate update, TableMetadata before, TableMetadata after)
        {
            this(name, pointer, update, before, after, RefChange.between(before.refs(), after.refs()));
        }

        boolean changes()
        {
            return before != after;
        }

        TableMove move()
        {
            return new TableMove(name, before, after);
        }

        String operation()
        {
            return update.operation(before);
        }

        Step at(TablePointer present)
        {
            return new Step(name, present, update, before, after, refChanges);
        }

        PointerChange pointerChange(String metadataLocation)
        {
            return new PointerChange(
                    name,
                    Optional.of(pointer),
                    Optional.of(pointer.moveTo(Objects.requireNonNullElse(after.uuid(), ""), metadataLocation, after.refs())),
                    operation(),
                    refChanges,
                    update.undoSteps());
        }
    }

    /**
     * What the log gets one entry for.
     */
    private record Entry(CommitAuthor author, List<PointerChange> pointers) {}

    /**
     * An update that may share a commit with others.
     */
    private static final class SharedUpdate
    {
        private final CommitAuthor author;
        private final RefUpdate update;
        private TableMove move;
        private Throwable failure;

        private SharedUpdate(CommitAuthor author, RefUpdate update)
        {
            this.author = requireNonNull(author, "author is null");
            this.update = requireNonNull(update, "update is null");
        }

        private boolean isDone()
        {
            return move != null || failure != null;
        }

        private void complete(TableMove result)
        {
            move = requireNonNull(result, "result is null");
        }

        private void fail(Throwable cause)
        {
            failure = requireNonNull(cause, "cause is null");
        }

        private TableMove result()
        {
            if (failure != null) {
                throwIfUnchecked(failure);
            }
            return move;
        }
    }
}
