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

import com.google.common.base.CharMatcher;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import io.airlift.log.Logger;
import io.skade.store.CommitResult.Committed;
import io.skade.store.CommitResult.Conflict;
import io.skade.store.CommitResult.Mismatch;
import io.skade.store.LogEntry.TableChange;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.rocksdb.BackupEngine;
import org.rocksdb.BackupEngineOptions;
import org.rocksdb.BackupInfo;
import org.rocksdb.CompressionType;
import org.rocksdb.Env;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.RestoreOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Status;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

import static com.google.common.base.Preconditions.checkArgument;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.util.Collections.unmodifiableMap;
import static java.util.Objects.requireNonNull;

/**
 * A pointer store in a folder of the local disk, kept by RocksDB.
 *
 * <p><b>One commit.</b> Commits that come at the same moment share a write ({@link GroupCommit}). Whoever writes takes everything
 * that waits, compares each commit with the state that the one before left, and writes all that match in one RocksDB batch with one
 * synced write: commits that come in during a sync share the next one. The new state is published after the write has returned, so a
 * reader never sees what a crash could take back. A conflict is decided before anything is written.
 *
 * <p><b>A failed write.</b> When RocksDB reports an error for a write, its log may or may not hold the batch. Every commit of that batch
 * ends as {@link CommitStateUnknownException}. RocksDB takes no more writes then, so the next commit opens it again and reads what is on the
 * disk: the state before the failed batch or the one with it, nothing else, since a batch is one record of the log. That state is published,
 * and the commit is compared with it. As long as RocksDB cannot be opened, no commit is taken and each tries again; reads go on.
 *
 * <p><b>Damage.</b> A record that a crash left half written is the last one of the log, since each record is synced before the next is
 * written; it was never acknowledged and is dropped. If records follow the damaged one, acknowledged commits would be dropped with it: the
 * store is not opened. A damaged table file fails what reads it.
 *
 * <p><b>Close.</b> Every native call is made under the read side of a lock whose write side {@link #close} and the opening after a failed
 * write take: RocksDB's handles are closed after the last call on them.
 */
public final class RocksDbPointerStore
        implements PointerStore
{
    private static final Logger log = Logger.get(RocksDbPointerStore.class);

    private static final String HOLDER_FILE = "HOLDER";
    private static final String WAY_BACK = "Restore the folder from a backup, or make the store anew with rebuild_store";
    private static final long MAX_TRIM_BYTES = 1 << 20;
    // bounds the work of reading a document
    private static final int MAX_PATCHES = 64;

    private final Path folder;
    private final Clock clock;
    private final FileChannel holder;
    private final Options options;
    private final WriteOptions writeOptions;

    private final ReadWriteLock openLock = new ReentrantReadWriteLock();
    private RocksDB db; // guarded by openLock, null if it could not be opened again
    private boolean closed; // guarded by openLock

    private final ReentrantLock backupLock = new ReentrantLock();
    private final ReentrantLock writerLock = new ReentrantLock();
    private final GroupCommit<Waiting> groupCommit = new GroupCommit<>();
    private Optional<FailedWrite> failure = Optional.empty(); // guarded by writerLock, or by the write side of openLock

    private final Map<UUID, KeptDocument> keptDocuments = new ConcurrentHashMap<>(); // written under writerLock

    private volatile CatalogState state;

    /**
     * Opens the store in a folder, and makes it if the folder is empty or absent.
     *
     * @throws StoreException if another process holds the folder, if its format is unknown, or if it cannot be read; nothing was changed
     */
    public static RocksDbPointerStore open(Path folder)
    {
        return open(folder, Clock.systemUTC());
    }

    static RocksDbPointerStore open(Path folder, Clock clock)
    {
        return new RocksDbPointerStore(folder.toAbsolutePath(), clock);
    }

    private RocksDbPointerStore(Path folder, Clock clock)
    {
        this.folder = requireNonNull(folder, "folder is null");
        this.clock = requireNonNull(clock, "clock is null");
        try {
            Files.createDirectories(folder);
        }
        catch (FileAlreadyExistsException e) {
            throw new StoreException("Cannot create the store folder %s: %s is a file".formatted(folder, e.getFile()), e);
        }
        catch (IOException e) {
            throw new StoreException("Cannot create the store folder %s: %s".formatted(folder, e), e);
        }
        loadLibrary();
        this.holder = lockFolder();
        this.options = new Options()
                // but not in the place of one that lost its files, see RocksDbFiles
                .setCreateIfMissing(true)
                // Of the recovery modes only this one opens after a power cut in the middle of a record, whatever is left of it, and skips
                // nothing: the strictest refuses a record that is cut off, the tolerant one a last record with a hole, and the fourth leaves
                // out what it cannot read. That this one drops all records after a damaged one is not used, see RocksDbFiles
                .setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery)
                // a log file that is used again has old records behind the new ones. Recycled logs were rejected on open when compressed as
                // well: https://github.com/facebook/rocksdb/issues/15007. Log compression is off by default
                .setRecycleLogFileNum(0)
                // the default, and what the reading of the state relies on: damage is an error, not a shorter answer
                .setParanoidChecks(true)
                // RocksDB would mend itself in the background after some errors; the store opens it again, to see what is on the disk
                .setMaxBgErrorResumeCount(0)
                // a store is some megabytes, and compression libraries are not everywhere
                .setCompressionType(CompressionType.NO_COMPRESSION)
                // the default keeps every file open for ever
                .setMaxOpenFiles(128)
                // bounds the log, and so the time to open
                .setWriteBufferSize(8 << 20)
                // RocksDB's own messages: what matters, in few files
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setKeepLogFileNum(4);
        this.writeOptions = new WriteOptions()
                // an acknowledged commit survives a power cut
                .setSync(true)
                .setDisableWAL(false);
        try {
            // the holder is written after the first record
            boolean isNew = holder.size() == 0 || !RocksDbFiles.holdsData(folder);
            this.db = openDb();
            checkFormat(db, isNew);
            Content content = readContent(db);
            this.state = content.state();
            keptDocuments.putAll(content.documents());
            holder.truncate(0);
            holder.write(ByteBuffer.wrap("process %s since %s%n".formatted(ProcessHandle.current().pid(), clock.instant()).getBytes(UTF_8)));
        }
        catch (IOException e) {
            closeAll();
            throw new StoreException("Cannot write into the store folder %s: %s".formatted(folder, e.getMessage()), e);
        }
        catch (RuntimeException e) {
            closeAll();
            throw e;
        }
        log.debug("Opened store %s at log id %s", folder, state.lastLogId());
    }

    private static void loadLibrary()
    {
        if (Library.FAILURE.isPresent()) {
            throw new StoreException(
                    "Cannot load the native library of RocksDB (%s). It is unpacked into the temporary folder %s, which must allow to write and to execute files. Set another with -Djava.io.tmpdir=.., or name one with the environment variable ROCKSDB_SHAREDLIB_DIR, and restart the server"
                            .formatted(Library.FAILURE.get(), System.getProperty("java.io.tmpdir")),
                    Library.FAILURE.get());
        }
    }

    /**
     * RocksDB locks the folder against other processes, and against itself. In a process with two plugin folders there are two of it, which do
     * not know of each other, and whose locks do not meet within a process; Java's locks are the same for both.
     */
    private FileChannel lockFolder()
    {
        FileChannel channel = null;
        try {
            channel = FileChannel.open(folder.resolve(HOLDER_FILE), CREATE, WRITE);
            if (channel.tryLock() != null) {
                return channel;
            }
            channel.close();
        }
        catch (OverlappingFileLockException e) {
            closeQuietly(channel);
        }
        catch (IOException e) {
            closeQuietly(channel);
            throw new StoreException("Cannot write into the store folder %s: %s".formatted(folder, e.getMessage()), e);
        }
        throw inUse(null);
    }

    private static void closeQuietly(FileChannel channel)
    {
        try {
            if (channel != null) {
                channel.close();
            }
        }
        catch (IOException e) {
            log.debug(e, "Cannot close a lock file");
        }
    }

    private StoreException inUse(RocksDBException cause)
    {
        return new StoreException("The store folder %s is in use (%s). One process opens a store at a time, and once".formatted(folder, holder()), cause);
    }

    private String holder()
    {
        try {
            return Files.readString(folder.resolve(HOLDER_FILE), UTF_8).strip();
        }
        catch (IOException e) {
            return "unknown";
        }
    }

    private RocksDB openDb()
    {
        try {
            RocksDbFiles.findDamage(folder).ifPresent(damage -> {
                throw new StoreException("Cannot open the store in %s: %s. %s".formatted(folder, damage, WAY_BACK));
            });
            return RocksDB.open(options, folder.toString());
        }
        catch (IOException e) {
            throw new StoreException("Cannot read the store folder %s: %s".formatted(folder, e.getMessage()), e);
        }
        catch (RocksDBException e) {
            // RocksDB has no code of its own for it: the first message is for a lock of another process, the second for one of this process
            String message = String.valueOf(e.getMessage());
            if (message.contains("While lock file") || message.contains("lock hold by current process")) {
                throw inUse(e);
            }
            throw failed("open", e);
        }
    }

    private void checkFormat(RocksDB opened, boolean isNew)
    {
        try {
            byte[] value = opened.get(StoreFormat.formatKey());
            if (value == null) {
                try (RocksIterator iterator = opened.newIterator()) {
                    iterator.seekToFirst();
                    if (iterator.isValid()) {
                        throw new StoreException("The folder %s holds a RocksDB database that is not a Skade store".formatted(folder));
                    }
                    iterator.status();
                }
                if (!isNew) {
                    throw new StoreException("The store in %s is damaged: it has lost its content. %s".formatted(folder, WAY_BACK));
                }
                opened.put(writeOptions, StoreFormat.formatKey(), StoreFormat.formatValue(StoreFormat.VERSION));
                return;
            }
            int version = StoreFormat.readFormatValue(value);
            if (version != StoreFormat.VERSION) {
                throw new StoreException("The store in %s has format version %s, this release knows version %s. Open it with the release that wrote it".formatted(folder, version, StoreFormat.VERSION));
            }
        }
        catch (RocksDBException e) {
            throw failed("read", e);
        }
        catch (UnreadableRecordException e) {
            throw unreadable(e);
        }
    }

    private Content readContent(RocksDB opened)
    {
        CatalogState result = CatalogState.EMPTY;
        Map<UUID, KeptDocument> documents = new HashMap<>();
        Map<TableIdentifier, ImmutableMap.Builder<String, SnapshotRef>> refs = new HashMap<>();
        try (RocksIterator iterator = opened.newIterator()) {
            for (iterator.seek(StoreFormat.refPrefix()); has(iterator, StoreFormat.refPrefix()); iterator.next()) {
                byte[] key = iterator.key();
                refs.computeIfAbsent(StoreFormat.readTableOfRefKey(key), _ -> ImmutableMap.builder())
                        .put(StoreFormat.readNameOfRefKey(key), StoreFormat.readRefValue(iterator.value()));
            }
            iterator.status();
            for (iterator.seek(StoreFormat.namespacePrefix()); has(iterator, StoreFormat.namespacePrefix()); iterator.next()) {
                result = result.withNamespace(StoreFormat.readNamespaceKey(iterator.key()), StoreFormat.readNamespaceValue(iterator.value()));
            }
            iterator.status();
            for (iterator.seek(StoreFormat.pointerPrefix()); has(iterator, StoreFormat.pointerPrefix()); iterator.next()) {
                TableIdentifier name = StoreFormat.readPointerKey(iterator.key());
                if (!result.namespaceExists(name.namespace())) {
                    throw new StoreException("The store in %s is damaged: it has a pointer %s, but no namespace %s. %s".formatted(folder, name, name.namespace(), WAY_BACK));
                }
                result = result.with(name, Optional.of(StoreFormat.readPointerValue(iterator.value(), buildRefs(refs.remove(name)))));
            }
            iterator.status();
            if (!refs.isEmpty()) {
                throw new StoreException("The store in %s is damaged: it has refs, but no pointer %s. %s".formatted(folder, refs.keySet().iterator().next(), WAY_BACK));
            }
            for (iterator.seek(StoreFormat.documentPrefix()); has(iterator, StoreFormat.documentPrefix()); iterator.next()) {
                byte[] value = iterator.value();
                UUID id = StoreFormat.readDocumentKey(iterator.key());
                if (StoreFormat.isDocumentKey(iterator.key())) {
                    documents.put(id, KeptDocument.whole(StoreFormat.readDocumentValue(value)));
                }
                else if (documents.computeIfPresent(id, (_, document) -> document.patched(StoreFormat.readPatchLocation(value), value.length)) == null) {
                    throw new StoreException("The store in %s is damaged: it has a patch, but no document of the pointer %s. %s".formatted(folder, id, WAY_BACK));
                }
            }
            iterator.status();
            iterator.seek(StoreFormat.logPrefix());
            if (has(iterator, StoreFormat.logPrefix())) {
                result = result.withLastLogId(StoreFormat.readLogValue(iterator.value()).logId());
            }
            iterator.status();
        }
        catch (RocksDBException e) {
            throw failed("read", e);
        }
        catch (UnreadableRecordException e) {
            throw unreadable(e);
        }
        return new Content(result, documents);
    }

    private static Map<String, SnapshotRef> buildRefs(ImmutableMap.Builder<String, SnapshotRef> refs)
    {
        return refs == null ? ImmutableMap.of() : refs.buildOrThrow();
    }

    /**
     * Opens RocksDB again after a failed write, and publishes what is on the disk.
     *
     * @throws StoreException if that is not possible; the published state stays, and what can be read can still be read
     */
    private void reopen()
    {
        openLock.writeLock().lock();
        try {
            if (closed || failure.isEmpty()) {
                return;
            }
            FailedWrite failed = failure.get();
            closeDb();
            try {
                db = openDb();
                Content content = readContent(db);
                if (content.state().isSameAs(state)) {
                    log.info("The store in %s is open again, without the write that failed", folder);
                }
                else if (content.state().isSameAs(failed.next())) {
                    log.info("The store in %s is open again, with the write that failed", folder);
                }
                else {
                    throw new StoreException("The store in %s is damaged: it has lost commits. %s, and restart the server".formatted(folder, WAY_BACK));
                }
                keptDocuments.keySet().retainAll(content.documents().keySet());
                keptDocuments.putAll(content.documents());
                state = content.state();
                failure = Optional.empty();
            }
            catch (StoreException e) {
                openForReads();
                throw new StoreException("The store in %s takes no commits since a write failed (%s). The next commit tries to open it again, as this one did: %s".formatted(folder, failed.cause().getMessage(), e.getMessage()), e);
            }
        }
        finally {
            openLock.writeLock().unlock();
        }
    }

    private void openForReads()
    {
        closeDb();
        try {
            db = RocksDB.openReadOnly(options, folder.toString());
        }
        catch (RocksDBException e) {
            log.warn(e, "The log of the store in %s cannot be read either", folder);
        }
    }

    /**
     * The absolute folder of the store.
     */
    public Path folder()
    {
        return folder;
    }

    @Override
    public CatalogState state()
    {
        CatalogState result = state;
        if (result == null) {
            throw closedException();
        }
        return result;
    }

    @Override
    public CommitResult commit(List<PointerCommit> commits)
    {
        checkArgument(!commits.isEmpty(), "no commits");
        Optional<CommitResult> result = commitIfWritable(commits);
        while (result.isEmpty()) {
            reopen();
            result = commitIfWritable(commits);
        }
        return result.get();
    }

    /**
     * Empty if a write failed before; nothing was done then.
     */
    private Optional<CommitResult> commitIfWritable(List<PointerCommit> commits)
    {
        return whileOpen(() -> {
            Waiting own = new Waiting(commits);
            groupCommit.run(own, this::write);
            return own.result();
        });
    }

    private void write(List<Waiting> taken)
    {
        writerLock.lock();
        try {
            writeLocked(taken);
        }
        finally {
            writerLock.unlock();
        }
    }

    private void writeLocked(List<Waiting> taken)
    {
        if (failure.isPresent()) {
            taken.forEach(Waiting::refuse);
            return;
        }
        List<Waiting> written = new ArrayList<>();
        Map<Waiting, Conflict> conflicts = new HashMap<>();
        CatalogState next = state;
        Map<UUID, Optional<KeptDocument>> documents = new HashMap<>();
        try (WriteBatch batch = new WriteBatch()) {
            for (Waiting group : taken) {
                CatalogState stateAfter = next;
                Map<UUID, Optional<KeptDocument>> documentsAfter = new HashMap<>(documents);
                List<Mismatch> mismatches = ImmutableList.of();
                batch.setSavePoint();
                try {
                    for (PointerCommit commit : group.commits()) {
                        mismatches = StateChanges.check(stateAfter, commit);
                        if (!mismatches.isEmpty()) {
                            break;
                        }
                        long logId = stateAfter.lastLogId() + (commit.pointers().isEmpty() ? 0 : 1);
                        put(batch, commit, logId, documentsAfter);
                        stateAfter = StateChanges.apply(stateAfter, commit).withLastLogId(logId);
                    }
                }
                catch (UncheckedIOException e) {
                    // a string that has no bytes in UTF-8; the other commits are not to blame
                    batch.rollbackToSavePoint();
                    group.fail(new StoreException("Cannot write to the store in %s: a string is not well-formed Unicode".formatted(folder), e));
                    continue;
                }
                if (!mismatches.isEmpty()) {
                    batch.rollbackToSavePoint();
                    conflicts.put(group, new Conflict(mismatches));
                    continue;
                }
                documents = documentsAfter;
                next = stateAfter;
                group.logId = next.lastLogId();
                written.add(group);
            }
            if (!written.isEmpty() && !write(batch, written, next)) {
                // they may be in conflict with what is not there
                conflicts.keySet().forEach(Waiting::refuse);
                return;
            }
        }
        catch (RocksDBException | RuntimeException | Error e) {
            // nothing was given to RocksDB
            taken.stream().filter(commit -> !commit.done()).forEach(commit -> commit.fail(new StoreException("Cannot write to the store in %s: %s".formatted(folder, e.getMessage()), e)));
            return;
        }
        documents.forEach((id, location) -> location.ifPresentOrElse(value -> keptDocuments.put(id, value), () -> keptDocuments.remove(id)));
        state = next;
        conflicts.forEach(Waiting::complete);
        for (Waiting commit : written) {
            commit.complete(new Committed(next, commit.logId));
        }
    }

    /**
     * Whether the write succeeded. If not, it may be on the disk all the same.
     */
    private boolean write(WriteBatch batch, List<Waiting> written, CatalogState next)
    {
        try {
            db.write(writeOptions, batch);
            return true;
        }
        catch (RocksDBException | RuntimeException | Error e) {
            // no error is safe to try again: RocksDB says "busy" and "try again" to its transactions only
            failure = Optional.of(new FailedWrite(e, next));
            written.forEach(commit -> commit.fail(new CommitStateUnknownException(e)));
            log.error(e, "A write to the store in %s failed: the next commit opens it again", folder);
            return false;
        }
    }

    /**
     * @param documents takes which documents are kept after the batch, by the ids of their pointers
     */
    private void put(WriteBatch batch, PointerCommit commit, long logId, Map<UUID, Optional<KeptDocument>> documents)
            throws RocksDBException
    {
        for (NamespaceChange change : commit.namespaces()) {
            byte[] key = StoreFormat.namespaceKey(change.namespace());
            if (change.next().isPresent()) {
                batch.put(key, StoreFormat.namespaceValue(change.next().get()));
            }
            else {
                batch.delete(key);
            }
        }
        if (commit.pointers().isEmpty()) {
            return;
        }
        // a rename is a pointer that is put and taken away
        Map<UUID, Optional<String>> locations = new HashMap<>();
        for (PointerChange change : commit.pointers()) {
            byte[] key = StoreFormat.pointerKey(change.name());
            if (change.next().isPresent()) {
                batch.put(key, StoreFormat.pointerValue(change.next().get()));
            }
            else {
                batch.delete(key);
            }
            putRefs(batch, change.name(), refs(change.expected()), refs(change.next()));
            change.next().ifPresentOrElse(
                    next -> locations.put(next.id(), Optional.of(next.metadataLocation())),
                    () -> locations.putIfAbsent(change.expected().orElseThrow().id(), Optional.empty()));
        }
        for (Map.Entry<UUID, Optional<String>> location : locations.entrySet()) {
            putDocument(batch, location.getKey(), location.getValue(), commit.documents(), documents);
        }
        LogEntry entry = logEntry(commit, logId, clock.instant());
        batch.put(StoreFormat.logKey(logId), StoreFormat.logValue(entry));
        for (TableChange table : entry.tables()) {
            batch.put(StoreFormat.tableLogKey(table.pointerId(), logId), new byte[0]);
        }
    }

    private static Map<String, SnapshotRef> refs(Optional<TablePointer> pointer)
    {
        return pointer.map(TablePointer::refs).orElseGet(ImmutableMap::of);
    }

    private static void putRefs(WriteBatch batch, TableIdentifier name, Map<String, SnapshotRef> before, Map<String, SnapshotRef> after)
            throws RocksDBException
    {
        for (RefChange change : RefChange.between(before, after)) {
            byte[] key = StoreFormat.refKey(name, change.ref());
            if (change.after().isPresent()) {
                batch.put(key, StoreFormat.refValue(change.after().get()));
            }
            else {
                batch.delete(key);
            }
        }
    }

    /**
     * A document is kept as long as its location is that of the pointer. Several commits of a batch may bring the same one.
     */
    private void putDocument(WriteBatch batch, UUID pointerId, Optional<String> location, List<MetadataDocument> candidates, Map<UUID, Optional<KeptDocument>> documents)
            throws RocksDBException
    {
        Optional<MetadataDocument> document = candidates.stream()
                .filter(candidate -> location.equals(Optional.of(candidate.location())))
                .findFirst();
        Optional<KeptDocument> kept = documents.getOrDefault(pointerId, Optional.ofNullable(keptDocuments.get(pointerId)));
        if (kept.isPresent() && location.equals(Optional.of(kept.get().location()))) {
            return;
        }
        if (document.isPresent()) {
            Optional<DocumentPatch> patch = document.get().patch().filter(candidate -> kept.filter(base -> base.takes(candidate)).isPresent());
            if (patch.isPresent()) {
                byte[] value = StoreFormat.patchValue(location.orElseThrow(), patch.get());
                batch.put(StoreFormat.patchKey(pointerId, kept.orElseThrow().patches() + 1), value);
                documents.put(pointerId, Optional.of(kept.get().patched(location.get(), value.length)));
                return;
            }
            deletePatches(batch, pointerId, kept);
            batch.put(StoreFormat.documentKey(pointerId), StoreFormat.documentValue(document.get()));
            documents.put(pointerId, Optional.of(KeptDocument.whole(document.get())));
        }
        else if (kept.isPresent()) {
            deletePatches(batch, pointerId, kept);
            batch.delete(StoreFormat.documentKey(pointerId));
            documents.put(pointerId, Optional.empty());
        }
    }

    private static void deletePatches(WriteBatch batch, UUID pointerId, Optional<KeptDocument> kept)
            throws RocksDBException
    {
        for (int number = 1; number <= kept.map(KeptDocument::patches).orElse(0); number++) {
            batch.delete(StoreFormat.patchKey(pointerId, number));
        }
    }

    /**
     * The log entry of a commit. The two halves of a rename become one row under the new name.
     */
    static LogEntry logEntry(PointerCommit commit, long logId, Instant now)
    {
        List<TableChange> tables = new ArrayList<>();
        for (PointerChange change : commit.pointers()) {
            UUID pointerId = change.next().or(change::expected).orElseThrow().id();
            boolean renamedAway = change.next().isEmpty() && commit.pointers().stream()
                    .anyMatch(other -> other.next().isPresent() && other.next().get().id().equals(pointerId));
            if (!renamedAway) {
                tables.add(new TableChange(change.name(), pointerId, change.operation(), change.next().map(TablePointer::metadataLocation), change.refChanges(), change.undoSteps()));
            }
        }
        return new LogEntry(logId, Instant.ofEpochMilli(now.toEpochMilli()), commit.author(), tables);
    }

    @Override
    public List<LogEntry> log(int limit)
    {
        checkArgument(limit >= 0, "limit is negative: %s", limit);
        return whileReadable(opened -> {
            ImmutableList.Builder<LogEntry> entries = ImmutableList.builder();
            try (RocksIterator iterator = opened.newIterator()) {
                int count = 0;
                // a write whose outcome is unknown may have left a newer entry
                for (iterator.seek(StoreFormat.logKey(state.lastLogId())); count < limit && has(iterator, StoreFormat.logPrefix()); iterator.next()) {
                    entries.add(StoreFormat.readLogValue(iterator.value()));
                    count++;
                }
                iterator.status();
            }
            return entries.build();
        });
    }

    @Override
    public List<LogEntry> log(UUID pointerId, int limit)
    {
        checkArgument(limit >= 0, "limit is negative: %s", limit);
        byte[] prefix = StoreFormat.tableLogPrefix(pointerId);
        return whileReadable(opened -> {
            ImmutableList.Builder<LogEntry> entries = ImmutableList.builder();
            try (RocksIterator iterator = opened.newIterator()) {
                int count = 0;
                for (iterator.seek(StoreFormat.tableLogKey(pointerId, state.lastLogId())); count < limit && has(iterator, prefix); iterator.next()) {
                    byte[] value = opened.get(StoreFormat.logKey(StoreFormat.readTableLogKey(iterator.key())));
                    if (value != null) {
                        entries.add(StoreFormat.readLogValue(value));
                        count++;
                    }
                }
                iterator.status();
            }
            return entries.build();
        });
    }

    @Override
    public Map<UUID, String> keptDocuments()
    {
        return Maps.transformValues(unmodifiableMap(keptDocuments), KeptDocument::location);
    }

    @Override
    public Optional<MetadataDocument> document(UUID pointerId)
    {
        byte[] prefix = StoreFormat.documentKey(pointerId);
        return whileReadable(opened -> {
            // an iterator sees one moment, in which the patches fit
            try (RocksIterator iterator = opened.newIterator()) {
                iterator.seek(prefix);
                if (!has(iterator, prefix)) {
                    iterator.status();
                    return Optional.empty();
                }
                MetadataDocument document = StoreFormat.readDocumentValue(iterator.value());
                for (iterator.next(); has(iterator, prefix); iterator.next()) {
                    document = StoreFormat.readPatchValue(document, iterator.value());
                }
                iterator.status();
                return Optional.of(document);
            }
        });
    }

    @Override
    public void forgetDocuments(Map<UUID, String> locations)
    {
        whileReadable(opened -> {
            writerLock.lock();
            try (WriteBatch batch = new WriteBatch()) {
                List<UUID> forgotten = new ArrayList<>();
                for (Map.Entry<UUID, String> entry : locations.entrySet()) {
                    Optional<KeptDocument> kept = Optional.ofNullable(keptDocuments.get(entry.getKey()))
                            .filter(document -> document.location().equals(entry.getValue()));
                    if (kept.isPresent()) {
                        deletePatches(batch, entry.getKey(), kept);
                        batch.delete(StoreFormat.documentKey(entry.getKey()));
                        forgotten.add(entry.getKey());
                    }
                }
                if (!forgotten.isEmpty()) {
                    cleanUp(opened, batch);
                    forgotten.forEach(keptDocuments::remove);
                }
                return null;
            }
            finally {
                writerLock.unlock();
            }
        });
    }

    @Override
    public int trimLog(Instant before)
    {
        return whileReadable(opened -> {
            int count = 0;
            try (RocksIterator iterator = opened.newIterator();
                    WriteBatch batch = new WriteBatch()) {
                // the oldest entry sorts last
                for (iterator.seekForPrev(StoreFormat.logEnd()); has(iterator, StoreFormat.logPrefix()); iterator.prev()) {
                    LogEntry entry = StoreFormat.readLogValue(iterator.value());
                    if (entry.logId() >= state.lastLogId() || !entry.committedAt().isBefore(before)) {
                        break;
                    }
                    batch.delete(iterator.key());
                    for (TableChange table : entry.tables()) {
                        batch.delete(StoreFormat.tableLogKey(table.pointerId(), entry.logId()));
                    }
                    count++;
                    if (batch.getDataSize() > MAX_TRIM_BYTES) {
                        cleanUp(opened, batch);
                        batch.clear();
                    }
                }
                iterator.status();
                if (batch.count() > 0) {
                    cleanUp(opened, batch);
                }
            }
            return count;
        });
    }

    /**
     * Writes what leaves the published state as it is.
     */
    private void cleanUp(RocksDB opened, WriteBatch batch)
            throws RocksDBException
    {
        writerLock.lock();
        try {
            if (failure.isPresent()) {
                throw new StoreException("The store in %s is not written to since a write failed (%s). The next commit tries to open it again".formatted(folder, failure.get().cause().getMessage()), failure.get().cause());
            }
            opened.write(writeOptions, batch);
        }
        catch (RocksDBException e) {
            failure = failure.or(() -> Optional.of(new FailedWrite(e, state)));
            throw e;
        }
        finally {
            writerLock.unlock();
        }
    }

    @Override
    public void backup(Path backups)
    {
        Path target = backups.toAbsolutePath();
        whileReadable(opened -> {
            backupLock.lock();
            try (BackupEngineOptions backupOptions = backupOptions(Files.createDirectories(target));
                    BackupEngine engine = BackupEngine.open(Env.getDefault(), backupOptions)) {
                for (BackupInfo backup : engine.getBackupInfo()) {
                    if (!backup.appMetadata().equals(folder.toString())) {
                        throw new StoreException("Cannot back up the store in %s to %s: it holds backups of the store in %s".formatted(folder, target, backup.appMetadata()));
                    }
                }
                // the log travels with the backup, so nothing has to be flushed for it
                engine.createNewBackupWithMetadata(opened, folder.toString(), false);
            }
            catch (IOException e) {
                throw new StoreException("Cannot back up the store in %s to %s: %s".formatted(folder, target, e), e);
            }
            catch (RocksDBException e) {
                throw new StoreException("Cannot back up the store in %s to %s: %s".formatted(folder, target, e.getMessage()), e);
            }
            finally {
                backupLock.unlock();
            }
            return null;
        });
    }

    private static BackupEngineOptions backupOptions(Path backups)
    {
        return new BackupEngineOptions(backups.toString())
                .setShareTableFiles(true)
                .setShareFilesWithChecksum(true)
                .setBackupLogFiles(true)
                .setSync(true);
    }

    /**
     * Makes a store of the newest backup in a folder.
     *
     * @param folder where the store shall be, empty or absent
     * @return the state of the store
     * @throws StoreException if there is no backup, if {@code folder} holds something, or if a file is damaged or cannot be written; {@code folder} is
     *         empty then or has what it had
     */
    public static CatalogState restore(Path backups, Path folder)
    {
        Path source = backups.toAbsolutePath();
        Path target = folder.toAbsolutePath();
        // the engine would make one
        if (!Files.isDirectory(source.resolve("meta"))) {
            throw new StoreException("There is no backup in " + source);
        }
        try {
            Files.createDirectories(target);
            try (Stream<Path> content = Files.list(target)) {
                if (content.findAny().isPresent()) {
                    throw new StoreException("Cannot restore a store into %s: the folder is not empty".formatted(target));
                }
            }
            try {
                restoreNewest(source, target);
                try (RocksDbPointerStore restored = open(target)) {
                    return restored.state();
                }
            }
            catch (RocksDBException | StoreException e) {
                deleteContent(target);
                throw e;
            }
        }
        catch (IOException | RocksDBException e) {
            throw new StoreException("Cannot restore the store in %s from %s: %s".formatted(target, source, e.getMessage()), e);
        }
    }

    /**
     * No thread of the engine writes any more when this returns or fails.
     */
    private static void restoreNewest(Path backups, Path folder)
            throws RocksDBException
    {
        RocksDB.loadLibrary();
        try (BackupEngineOptions backupOptions = backupOptions(backups);
                BackupEngine engine = BackupEngine.open(Env.getDefault(), backupOptions);
                RestoreOptions restoreOptions = new RestoreOptions(false)) {
            if (engine.getBackupInfo().isEmpty()) {
                throw new StoreException("There is no backup in " + backups);
            }
            engine.restoreDbFromLatestBackup(folder.toString(), folder.toString(), restoreOptions);
        }
    }

    private static void deleteContent(Path folder)
            throws IOException
    {
        // a store has files only
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    @Override
    public void close()
    {
        openLock.writeLock().lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            state = null;
            flush();
            closeAll();
        }
        finally {
            openLock.writeLock().unlock();
        }
    }

    private void flush()
    {
        if (db == null) {
            return;
        }
        try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
            db.flush(flush);
        }
        catch (RocksDBException e) {
            // the log holds everything
            log.debug(e, "Cannot flush the store in %s while closing it", folder);
        }
    }

    private void closeAll()
    {
        closeDb();
        writeOptions.close();
        options.close();
        closeQuietly(holder);
    }

    private void closeDb()
    {
        if (db != null) {
            db.close();
            db = null;
        }
    }

    private <T> T whileOpen(Supplier<T> call)
    {
        openLock.readLock().lock();
        try {
            if (closed) {
                throw closedException();
            }
            return call.get();
        }
        finally {
            openLock.readLock().unlock();
        }
    }

    private <T> T whileReadable(NativeCall<T> call)
    {
        return whileOpen(() -> {
            if (db == null) {
                throw new StoreException("The store in %s cannot be read since a write failed and it could not be opened again. The next commit tries it".formatted(folder));
            }
            try {
                return call.apply(db);
            }
            catch (RocksDBException e) {
                throw failed("use", e);
            }
            catch (UnreadableRecordException e) {
                throw unreadable(e);
            }
        });
    }

    private StoreException failed(String verb, RocksDBException e)
    {
        boolean damaged = e.getStatus() != null && e.getStatus().getCode() == Status.Code.Corruption;
        return new StoreException("Cannot %s the store in %s: %s%s".formatted(verb, folder, CharMatcher.is('.').trimTrailingFrom(String.valueOf(e.getMessage())), damaged ? ". " + WAY_BACK : ""), e);
    }

    private StoreException unreadable(UnreadableRecordException e)
    {
        return new StoreException("The store in %s is damaged: a record cannot be read: %s. %s".formatted(folder, e.getMessage(), WAY_BACK), e);
    }

    private StoreException closedException()
    {
        return new StoreException("The store in %s is closed".formatted(folder));
    }

    private static boolean has(RocksIterator iterator, byte[] prefix)
    {
        if (!iterator.isValid()) {
            return false;
        }
        byte[] key = iterator.key();
        return key.length >= prefix.length && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
    }

    private interface NativeCall<T>
    {
        T apply(RocksDB db)
                throws RocksDBException;
    }

    /**
     * RocksDB's library. One attempt is made to load it: after some failures RocksDB would wait for ever for a second one.
     */
    private static final class Library
    {
        private static final Optional<Throwable> FAILURE = load();

        private Library() {}

        private static Optional<Throwable> load()
        {
            try {
                RocksDB.loadLibrary();
                return Optional.empty();
            }
            catch (RuntimeException | LinkageError e) {
                return Optional.of(e.getCause() instanceof IOException cause ? cause : e);
            }
        }
    }

    /**
     * What RocksDB holds.
     */
    private record Content(CatalogState state, Map<UUID, KeptDocument> documents) {}

    /**
     * A document in the store: a whole one, and the patches that make the present one of it.
     *
     * @param location of the present document
     * @param patches how many
     * @param patchBytes what they take
     * @param wholeBytes what the whole one takes
     */
    private record KeptDocument(String location, int patches, long patchBytes, long wholeBytes)
    {
        static KeptDocument whole(MetadataDocument document)
        {
            return new KeptDocument(document.location(), 0, 0, document.length());
        }

        KeptDocument patched(String newLocation, int bytes)
        {
            return new KeptDocument(newLocation, patches + 1, patchBytes + bytes, wholeBytes);
        }

        /**
         * Whether a patch fits, and takes less than another whole document in the long run.
         */
        boolean takes(DocumentPatch patch)
        {
            return patch.base().equals(location) && patches < MAX_PATCHES && patchBytes + patch.size() < wholeBytes;
        }
    }

    /**
     * @param next the state if the write is on the disk all the same
     */
    private record FailedWrite(Throwable cause, CatalogState next) {}

    /**
     * Commits in the queue that are made all or not at all. The fields are written by the thread that writes, and read by the one that waits when it is woken.
     */
    private static final class Waiting
    {
        private final List<PointerCommit> commits;
        private long logId;
        private Optional<CommitResult> result = Optional.empty();
        private Optional<RuntimeException> failure = Optional.empty();
        private boolean done;

        private Waiting(List<PointerCommit> commits)
        {
            this.commits = ImmutableList.copyOf(commits);
        }

        private List<PointerCommit> commits()
        {
            return commits;
        }

        private boolean done()
        {
            return done;
        }

        private void complete(CommitResult result)
        {
            this.result = Optional.of(result);
            done = true;
        }

        private void fail(RuntimeException failure)
        {
            this.failure = Optional.of(failure);
            done = true;
        }

        /**
         * Ends without a result: nothing was done.
         */
        private void refuse()
        {
            done = true;
        }

        private Optional<CommitResult> result()
        {
            failure.ifPresent(exception -> {
                throw exception;
            });
            return result;
        }
    }
}
