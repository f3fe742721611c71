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
import com.google.common.collect.Maps;
import com.google.common.collect.Sets;
import io.skade.ref.PublishPreview.Outcome;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.SnapshotSelector.AtRef;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.DeleteFiles;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ManifestContent;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestReader;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.OverwriteFiles;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.RewriteFiles;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SnapshotUpdate;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableListMultimap.toImmutableListMultimap;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static com.google.common.util.concurrent.MoreExecutors.newDirectExecutorService;
import static io.skade.ref.PublishMode.REBASE;
import static io.skade.ref.RefRefusedException.Reason.REBASE_CONFLICT;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random statements on two branches, of which one is then rebased on the other. A rebase that succeeds has the rows that the branch's statements make of
 * the rows of the other branch; one is refused if and only if both branches touched the same.
 *
 * <p>{@code -Dskade.test.seed=..} repeats a run, {@code -Dskade.test.rounds=..} makes it longer.
 */
class TestRandomRebases
{
    private static final TableIdentifier NAME = TableIdentifier.of("db", "t");
    private static final Schema SCHEMA = new Schema(
            Types.NestedField.required(1, "id", Types.LongType.get()),
            Types.NestedField.required(2, "p", Types.StringType.get()),
            Types.NestedField.required(3, "v", Types.LongType.get()));
    private static final List<String> PARTITIONS = ImmutableList.of("a", "b", "c", "d");
    private static final int IDS = 40;

    @Test
    void testRandomRebases()
    {
        long seed = Long.getLong("skade.test.seed", System.nanoTime());
        int rounds = Integer.getInteger("skade.test.rounds", 500);
        System.out.println("TestRandomRebases: seed " + seed);
        Map<Outcome, Integer> outcomes = new HashMap<>();
        for (int round = 0; round < rounds; round++) {
            // a round needs none of those before it
            Outcome outcome = new Round(new Random(seed + round), "seed %s, round %s".formatted(seed, round)).run();
            outcomes.merge(outcome, 1, Integer::sum);
        }
        // a run that hardly rebases or hardly ever fails shows nothing
        assertThat(outcomes.get(Outcome.REBASE)).as("seed %s", seed).isGreaterThan(rounds / 5);
        assertThat(outcomes.get(Outcome.CONFLICT)).as("seed %s", seed).isGreaterThan(rounds / 10);
    }

    /**
     * One table with its two branches.
     */
    private static final class Round
    {
        private final Random random;
        private final String where;
        private final FileIO io = new InMemoryFileIO();
        // the files are few and small
        private final ExecutorService directExecutor = newDirectExecutorService();
        private final PartitionSpec spec;
        private final Map<String, List<Row>> rowsOfDataFiles = new HashMap<>();
        // by delete file and data file
        private final Map<FileKey, Map<String, Set<Integer>>> deletedPositions = new HashMap<>();

        private final Map<Long, LiveFiles> liveFiles = new HashMap<>();

        private BuildingTableOperations operations;
        private Table table;
        private int files;

        Round(Random random, String where)
        {
            this.random = random;
            this.where = where;
            this.spec = random.nextInt(5) == 0 ? PartitionSpec.unpartitioned() : PartitionSpec.builderFor(SCHEMA).identity("p").build();
            String formatVersion = random.nextBoolean() ? "2" : "3";
            set(TableMetadata.newTableMetadata(SCHEMA, spec, "/warehouse/" + where.replace(' ', '_'), ImmutableMap.of(TableProperties.FORMAT_VERSION, formatVersion)));
        }

        Outcome run()
        {
            execute("main", new Insert(PARTITIONS.stream().flatMap(p -> randomRows(p).stream()).toList()));
            for (int i = random.nextInt(3); i > 0; i--) {
                execute("main", randomStatement());
            }
            apply(RefUpdates.createBranch("audit", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE));
            boolean swapped = random.nextInt(4) == 0;
            String branch = swapped ? "main" : "audit";
            String to = swapped ? "audit" : "main";
            LiveFiles base = liveFiles("main");
            List<Executed> replayed = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                execute(branch, randomStatement()).ifPresent(replayed::add);
            }
            // many changes are sure to conflict
            for (int i = random.nextInt(8) == 0 ? 2 : 1; i > 0; i--) {
                execute(to, randomStatement());
            }
            Set<Long> picked = maybePick(replayed, to);
            if (!picked.isEmpty() && random.nextBoolean()) {
                execute(to, randomStatement());
            }

            boolean justified = isRefusalJustified(replayed, picked, base, liveFiles(to));
            List<Row> expected = rows(to);
            for (Executed executed : replayed) {
                if (!picked.contains(executed.snapshotId())) {
                    expected = executed.statement().applyTo(expected);
                }
            }
            return publish(branch, to, expected, justified);
        }

        private Outcome publish(String branch, String to, List<Row> expected, boolean justified)
        {
            PublishPreview preview = PublishPreview.of(target(), branch, to);
            long toId = snapshotId(to);
            try {
                apply(RefUpdates.publishBranch(branch, to, REBASE, OptionalLong.of(toId)));
            }
            catch (RefRefusedException e) {
                assertThat(e.reason()).as(where).isEqualTo(REBASE_CONFLICT);
                assertThat(preview).as(where).isEqualTo(new PublishPreview(Outcome.CONFLICT, e.getMessage()));
                assertThat(justified).as("%s: justified is: %s", where, e.getMessage()).isTrue();
                return preview.outcome();
            }
            assertThat(preview.outcome()).as(where).isNotEqualTo(Outcome.CONFLICT);
            assertThat(snapshotId(branch)).as(where).isEqualTo(snapshotId(to));
            assertThat(rows(to)).as(where).containsExactlyInAnyOrderElementsOf(expected);
            assertTotals(to);
            if (preview.outcome() == Outcome.REBASE) {
                assertThat(justified).as("%s: both touched the same", where).isFalse();
            }
            else {
                long head = preview.outcome() == Outcome.FAST_FORWARD ? snapshotId(branch) : toId;
                assertThat(snapshotId(to)).as(where).isEqualTo(head);
            }
            return preview.outcome();
        }

        private void assertTotals(String ref)
        {
            LiveFiles live = liveFiles(ref);
            assertThat(operations.current().snapshot(snapshotId(ref)).summary()).as(where)
                    .containsEntry("total-data-files", String.valueOf(live.dataFiles().size()))
                    .containsEntry("total-delete-files", String.valueOf(live.deleteFiles().size()));
        }

        /**
         * Cherry-picks an append of the branch now and then.
         */
        private Set<Long> maybePick(List<Executed> replayed, String to)
        {
            List<Long> appends = replayed.stream()
                    .filter(executed -> executed.statement() instanceof Insert)
                    .map(Executed::snapshotId)
                    .filter(id -> !Optional.ofNullable(operations.current().snapshot(id).parentId()).equals(Optional.of(snapshotId(to))))
                    .toList();
            if (appends.isEmpty() || random.nextBoolean()) {
                return ImmutableSet.of();
            }
            long id = appends.get(random.nextInt(appends.size()));
            apply(RefUpdates.cherrypickSnapshot(id, to));
            return ImmutableSet.of(id);
        }

        private Statement randomStatement()
        {
            return switch (random.nextInt(10)) {
                case 0, 1, 2 -> new Insert(randomRows(randomPartition()));
                case 3 -> new Delete(new Predicate(Optional.of(randomPartition()), 0, IDS));
                case 4, 5 -> new Delete(randomPredicate());
                case 6 -> new Optimize(randomPartition());
                default -> new Update(randomPredicate(), random.nextInt(4) == 0 ? Optional.of(randomPartition()) : Optional.empty(), random.nextInt(1, 100));
            };
        }

        private Predicate randomPredicate()
        {
            int from = random.nextInt(IDS);
            return new Predicate(
                    random.nextInt(3) == 0 ? Optional.empty() : Optional.of(randomPartition()),
                    from,
                    from + random.nextInt(1, 12));
        }

        private String randomPartition()
        {
            return PARTITIONS.get(random.nextInt(PARTITIONS.size()));
        }

        private List<Row> randomRows(String p)
        {
            int from = random.nextInt(IDS - 5);
            return random.ints(4, from, from + 5)
                    .mapToObj(id -> new Row(id, p, random.nextInt(100)))
                    .collect(toImmutableList());
        }

        /**
         * Runs a statement as an engine does; empty if there was nothing for it to do.
         */
        private Optional<Executed> execute(String ref, Statement statement)
        {
            OptionalLong before = operations.current().ref(ref) == null ? OptionalLong.empty() : OptionalLong.of(snapshotId(ref));
            switch (statement) {
                case Insert(List<Row> rows) -> {
                    var append = random.nextBoolean() ? table.newFastAppend() : table.newAppend();
                    dataFiles(rows).forEach(append::appendFile);
                    append.scanManifestsWith(directExecutor).toBranch(ref).commit();
                }
                case Delete(Predicate predicate) -> {
                    if (!spec.isUnpartitioned() && predicate.isWholePartition() && random.nextBoolean()) {
                        DeleteFiles delete = table.newDelete().deleteFromRowFilter(Expressions.equal("p", predicate.p().orElseThrow()));
                        commit(ref, delete, predicate);
                    }
                    else {
                        rewriteRows(ref, statement, predicate);
                    }
                }
                case Update update -> rewriteRows(ref, update, update.predicate());
                case Optimize(String p) -> optimize(ref, p);
            }
            return before.equals(OptionalLong.of(snapshotId(ref))) ? Optional.empty() : Optional.of(new Executed(statement, snapshotId(ref)));
        }

        private void commit(String ref, SnapshotUpdate<?> update, Predicate predicate)
        {
            update.toBranch(ref);
            update.scanManifestsWith(directExecutor);
            update.set(ReadFilter.PROPERTY, ReadFilter.toProperty(predicate.toExpression()));
            update.commit();
        }

        private void rewriteRows(String ref, Statement statement, Predicate predicate)
        {
            List<FileScanTask> matching = tasks(ref).stream()
                    .filter(task -> liveRows(task).stream().anyMatch(predicate::matches))
                    .toList();
            if (matching.isEmpty()) {
                return;
            }
            if (random.nextInt(3) == 0) {
                copyOnWrite(ref, statement, predicate, matching);
            }
            else {
                mergeOnRead(ref, statement, predicate, matching);
            }
        }

        private void copyOnWrite(String ref, Statement statement, Predicate predicate, List<FileScanTask> matching)
        {
            OverwriteFiles overwrite = table.newOverwrite();
            List<Row> written = new ArrayList<>();
            for (FileScanTask task : matching) {
                overwrite.deleteFile(task.file());
                written.addAll(statement.applyTo(liveRows(task)));
            }
            dataFiles(written).forEach(overwrite::addFile);
            commit(ref, overwrite, predicate);
        }

        private void mergeOnRead(String ref, Statement statement, Predicate predicate, List<FileScanTask> matching)
        {
            RowDelta delta = table.newRowDelta().validateFromSnapshot(snapshotId(ref));
            List<Row> written = new ArrayList<>();
            Map<String, Set<Integer>> deleted = new HashMap<>();
            for (FileScanTask task : matching) {
                List<Row> rows = rowsOfDataFiles.get(task.file().location());
                Set<Integer> gone = deletedPositions(task);
                Set<Integer> newlyGone = new HashSet<>();
                for (int i = 0; i < rows.size(); i++) {
                    if (!gone.contains(i) && predicate.matches(rows.get(i))) {
                        newlyGone.add(i);
                        written.addAll(statement.applyTo(ImmutableList.of(rows.get(i))));
                    }
                }
                if (gone.size() + newlyGone.size() == rows.size() && random.nextBoolean()) {
                    delta.removeRows(task.file());
                }
                else if (operations.current().formatVersion() >= 3) {
                    task.deletes().forEach(delta::removeDeletes);
                    delta.addDeletes(deleteFile(task.file(), Optional.of(task.file().location()), ImmutableMap.of(task.file().location(), Sets.union(gone, newlyGone))));
                }
                else if (random.nextBoolean()) {
                    delta.addDeletes(deleteFile(task.file(), Optional.of(task.file().location()), ImmutableMap.of(task.file().location(), newlyGone)));
                }
                else {
                    deleted.put(task.file().location(), newlyGone);
                }
            }
            // one delete file for all files of a partition
            matching.stream()
                    .map(FileScanTask::file)
                    .filter(file -> deleted.containsKey(file.location()))
                    .collect(toImmutableListMultimap(file -> partition(file), file -> file))
                    .asMap()
                    .values()
                    .forEach(siblings -> delta.addDeletes(deleteFile(
                            siblings.iterator().next(),
                            Optional.empty(),
                            Maps.toMap(siblings.stream().map(DataFile::location).toList(), deleted::get))));
            dataFiles(written).forEach(delta::addRows);
            commit(ref, delta, predicate);
        }

        private void optimize(String ref, String p)
        {
            List<FileScanTask> rewritten = tasks(ref).stream()
                    .filter(task -> spec.isUnpartitioned() || partition(task.file()).equals("p=" + p))
                    .toList();
            if (rewritten.isEmpty()) {
                return;
            }
            RewriteFiles rewrite = table.newRewrite().validateFromSnapshot(snapshotId(ref));
            List<Row> written = new ArrayList<>();
            for (FileScanTask task : rewritten) {
                rewrite.deleteFile(task.file());
                task.deletes().stream().filter(file -> file.referencedDataFile() != null).forEach(rewrite::deleteFile);
                written.addAll(liveRows(task));
            }
            dataFiles(written).forEach(rewrite::addFile);
            if (random.nextBoolean()) {
                rewrite.dataSequenceNumber(operations.current().snapshot(snapshotId(ref)).sequenceNumber());
            }
            rewrite.scanManifestsWith(directExecutor).toBranch(ref).commit();
        }

        private List<DataFile> dataFiles(List<Row> rows)
        {
            return rows.stream()
                    .collect(toImmutableListMultimap(row -> spec.isUnpartitioned() ? "" : "p=" + row.p(), row -> row))
                    .asMap()
                    .entrySet()
                    .stream()
                    .map(entry -> dataFile(entry.getKey(), ImmutableList.copyOf(entry.getValue())))
                    .toList();
        }

        private DataFile dataFile(String partition, List<Row> rows)
        {
            String location = "/data/%s.parquet".formatted(files++);
            rowsOfDataFiles.put(location, rows);
            return DataFiles.builder(spec)
                    .withPath(location)
                    .withPartitionPath(partition)
                    .withFileSizeInBytes(100)
                    .withMetrics(new Metrics(
                            (long) rows.size(),
                            null,
                            ImmutableMap.of(1, (long) rows.size()),
                            ImmutableMap.of(1, 0L),
                            null,
                            ImmutableMap.of(1, id(rows.stream().mapToLong(Row::id).min().orElseThrow())),
                            ImmutableMap.of(1, id(rows.stream().mapToLong(Row::id).max().orElseThrow()))))
                    .build();
        }

        private static ByteBuffer id(long id)
        {
            return Conversions.toByteBuffer(Types.LongType.get(), id);
        }

        private DeleteFile deleteFile(DataFile sibling, Optional<String> referenced, Map<String, Set<Integer>> positions)
        {
            FileMetadata.Builder builder = FileMetadata.deleteFileBuilder(spec)
                    .ofPositionDeletes()
                    .withPartition(sibling.partition())
                    .withFileSizeInBytes(100)
                    .withRecordCount(positions.values().stream().mapToInt(Set::size).sum());
            referenced.ifPresent(builder::withReferencedDataFile);
            DeleteFile file = operations.current().formatVersion() >= 3
                    ? builder.withPath("/data/%s.puffin".formatted(files / 2)).withFormat(FileFormat.PUFFIN).withContentOffset(files).withContentSizeInBytes(1).build()
                    : builder.withPath("/data/%s-deletes.parquet".formatted(files)).build();
            files++;
            deletedPositions.put(FileKey.of(file), ImmutableMap.copyOf(Maps.transformValues(positions, ImmutableSet::copyOf)));
            return file;
        }

        private List<Row> rows(String ref)
        {
            return tasks(ref).stream().flatMap(task -> liveRows(task).stream()).collect(toImmutableList());
        }

        private List<Row> liveRows(FileScanTask task)
        {
            List<Row> rows = rowsOfDataFiles.get(task.file().location());
            Set<Integer> deleted = deletedPositions(task);
            ImmutableList.Builder<Row> live = ImmutableList.builder();
            for (int i = 0; i < rows.size(); i++) {
                if (!deleted.contains(i)) {
                    live.add(rows.get(i));
                }
            }
            return live.build();
        }

        private Set<Integer> deletedPositions(FileScanTask task)
        {
            return task.deletes().stream()
                    .flatMap(file -> deletedPositions.get(FileKey.of(file)).getOrDefault(task.file().location(), ImmutableSet.of()).stream())
                    .collect(toImmutableSet());
        }

        private List<FileScanTask> tasks(String ref)
        {
            try (CloseableIterable<FileScanTask> tasks = table.newScan().planWith(directExecutor).useSnapshot(snapshotId(ref)).planFiles()) {
                // planned in any order
                return ImmutableList.sortedCopyOf(Comparator.comparing(task -> task.file().location()), tasks);
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private LiveFiles liveFiles(String ref)
        {
            return filesAt(snapshotId(ref));
        }

        private LiveFiles filesAt(long snapshotId)
        {
            return liveFiles.computeIfAbsent(snapshotId, this::readLiveFiles);
        }

        private LiveFiles readLiveFiles(long snapshotId)
        {
            Map<FileKey, ContentFile<?>> live = new HashMap<>();
            for (ManifestFile manifest : operations.current().snapshot(snapshotId).allManifests(io)) {
                try (ManifestReader<? extends ContentFile<?>> reader = manifest.content() == ManifestContent.DATA
                        ? ManifestFiles.read(manifest, io, table.specs())
                        : ManifestFiles.readDeleteManifest(manifest, io, table.specs())) {
                    reader.forEach(file -> live.put(FileKey.of(file), file.copy()));
                }
                catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return new LiveFiles(live);
        }

        /**
         * Whether both branches touched the same, by the files that were there before and after.
         */
        private boolean isRefusalJustified(List<Executed> replayed, Set<Long> picked, LiveFiles base, LiveFiles to)
        {
            LiveFiles removed = base.minus(to);
            LiveFiles added = to.minus(base);
            for (Executed executed : replayed) {
                if (picked.contains(executed.snapshotId())) {
                    // these are no longer files of the other branch alone
                    removed = removed.plus(added(executed).minus(to));
                    added = added.minus(added(executed));
                    continue;
                }
                boolean touched = switch (executed.statement()) {
                    case Insert _ -> false;
                    case Optimize _ -> touchesFiles(executed, removed, added);
                    case Delete(Predicate predicate) -> touchesRows(executed, predicate, removed, added);
                    case Update(Predicate predicate, _, _) -> touchesRows(executed, predicate, removed, added);
                };
                if (touched) {
                    return true;
                }
            }
            return false;
        }

        private LiveFiles added(Executed executed)
        {
            return filesAt(executed.snapshotId()).minus(filesAt(parentId(executed)));
        }

        private LiveFiles removed(Executed executed)
        {
            return filesAt(parentId(executed)).minus(filesAt(executed.snapshotId()));
        }

        private long parentId(Executed executed)
        {
            return operations.current().snapshot(executed.snapshotId()).parentId();
        }

        private boolean touchesRows(Executed executed, Predicate predicate, LiveFiles removed, LiveFiles added)
        {
            if (touchesPartitions(executed, removed.plus(added)) || mayMatch(predicate, added.dataFiles())) {
                return true;
            }
            // files do not tell the rows that an update changed from those that a delete kept
            return !added(executed).dataFiles().isEmpty() &&
                    Stream.concat(removed.dataFiles().stream(), added.deleteFiles().stream()).anyMatch(file -> mayMatchPartition(predicate, file));
        }

        private boolean touchesPartitions(Executed executed, LiveFiles other)
        {
            Set<String> partitions = other.files().values().stream().map(this::partition).collect(toImmutableSet());
            return removed(executed).plus(added(executed)).files().values().stream().map(this::partition).anyMatch(partitions::contains);
        }

        private boolean touchesFiles(Executed executed, LiveFiles removed, LiveFiles added)
        {
            return removed(executed).files().keySet().stream().anyMatch(removed.files()::containsKey) ||
                    removed(executed).dataFiles().stream().anyMatch(file -> added.deleteFiles().stream().anyMatch(deletes -> mayDelete(deletes, file)));
        }

        private boolean mayDelete(DeleteFile deletes, DataFile file)
        {
            return deletes.referencedDataFile() == null ? partition(deletes).equals(partition(file)) : deletes.referencedDataFile().equals(file.location());
        }

        private boolean mayMatch(Predicate predicate, List<DataFile> dataFiles)
        {
            return dataFiles.stream().anyMatch(file -> mayMatchPartition(predicate, file) &&
                    range(file, Row::id, true) <= predicate.toId() && range(file, Row::id, false) >= predicate.fromId());
        }

        private long range(DataFile file, ToLongFunction<Row> column, boolean lowest)
        {
            var values = rowsOfDataFiles.get(file.location()).stream().mapToLong(column);
            return (lowest ? values.min() : values.max()).orElseThrow();
        }

        private boolean mayMatchPartition(Predicate predicate, ContentFile<?> file)
        {
            return spec.isUnpartitioned() || predicate.p().isEmpty() || partition(file).equals("p=" + predicate.p().get());
        }

        private String partition(ContentFile<?> file)
        {
            return spec.partitionToPath(file.partition());
        }

        private RefTarget target()
        {
            return new RefTarget(NAME, operations.current(), io);
        }

        private void apply(RefUpdate update)
        {
            set(update.apply(target()));
        }

        private void set(TableMetadata metadata)
        {
            operations = new BuildingTableOperations(metadata, io);
            table = new BaseTable(operations, NAME.toString());
        }

        private long snapshotId(String ref)
        {
            return operations.current().ref(ref).snapshotId();
        }
    }

    private record Row(long id, String p, long v) {}

    private record Predicate(Optional<String> p, long fromId, long toId)
    {
        boolean matches(Row row)
        {
            return row.id() >= fromId && row.id() <= toId && p.stream().allMatch(row.p()::equals);
        }

        boolean isWholePartition()
        {
            return fromId == 0 && toId == IDS && p.isPresent();
        }

        Expression toExpression()
        {
            Expression ids = isWholePartition()
                    ? Expressions.alwaysTrue()
                    : Expressions.and(Expressions.greaterThanOrEqual("id", fromId), Expressions.lessThanOrEqual("id", toId));
            return p.<Expression>map(value -> Expressions.and(ids, Expressions.equal("p", value))).orElse(ids);
        }
    }

    private sealed interface Statement
    {
        /**
         * What the statement makes of the rows of a table.
         */
        List<Row> applyTo(List<Row> rows);
    }

    private record Insert(List<Row> rows)
            implements Statement
    {
        @Override
        public List<Row> applyTo(List<Row> before)
        {
            return ImmutableList.<Row>builder().addAll(before).addAll(rows).build();
        }
    }

    private record Delete(Predicate predicate)
            implements Statement
    {
        @Override
        public List<Row> applyTo(List<Row> rows)
        {
            return rows.stream().filter(row -> !predicate.matches(row)).toList();
        }
    }

    /**
     * Counts {@code v} up, and may move rows to another partition.
     */
    private record Update(Predicate predicate, Optional<String> p, long added)
            implements Statement
    {
        @Override
        public List<Row> applyTo(List<Row> rows)
        {
            return rows.stream()
                    .map(row -> predicate.matches(row) ? new Row(row.id(), p.orElse(row.p()), row.v() + added) : row)
                    .toList();
        }
    }

    /**
     * Rewrites the files of a partition, or of a table that is not partitioned.
     */
    private record Optimize(String p)
            implements Statement
    {
        @Override
        public List<Row> applyTo(List<Row> rows)
        {
            return rows;
        }
    }

    private record Executed(Statement statement, long snapshotId)
    {
        Executed
        {
            requireNonNull(statement, "statement is null");
        }
    }

    private record FileKey(String location, Optional<Long> contentOffset)
    {
        static FileKey of(ContentFile<?> file)
        {
            return new FileKey(file.location(), file instanceof DeleteFile deletes ? Optional.ofNullable(deletes.contentOffset()) : Optional.empty());
        }
    }

    private record LiveFiles(Map<FileKey, ContentFile<?>> files)
    {
        static final LiveFiles NONE = new LiveFiles(ImmutableMap.of());

        LiveFiles
        {
            files = ImmutableMap.copyOf(files);
        }

        LiveFiles minus(LiveFiles other)
        {
            return new LiveFiles(Maps.filterKeys(files, key -> !other.files().containsKey(key)));
        }

        LiveFiles plus(LiveFiles other)
        {
            return new LiveFiles(ImmutableMap.<FileKey, ContentFile<?>>builder().putAll(files).putAll(other.files()).buildKeepingLast());
        }

        List<DataFile> dataFiles()
        {
            return files.values().stream().filter(DataFile.class::isInstance).map(DataFile.class::cast).toList();
        }

        List<DeleteFile> deleteFiles()
        {
            return files.values().stream().filter(DeleteFile.class::isInstance).map(DeleteFile.class::cast).toList();
        }
    }
}
