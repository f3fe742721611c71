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
import io.skade.catalog.LocalFileIO;
import io.skade.catalog.PointerCatalog;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.SnapshotSelector.AtRef;
import io.skade.store.ChildJvm;
import io.skade.store.RocksDbPointerStore;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static io.skade.ref.RefUpdates.createTag;
import static io.skade.ref.TestingCatalog.ALICE;
import static io.skade.ref.TestingCatalog.SCHEMA;
import static io.skade.ref.TestingCatalog.T;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * What is durable when a commit is acknowledged, seen in the system calls of a process that makes an append and a tag. A power cut takes what
 * was not synced.
 */
class TestSystemCalls
{
    // a call as strace -f -y prints it: the thread, the call, the file descriptor and its path
    private static final Pattern SYNC = Pattern.compile("\\d+ +(fsync|fdatasync)\\(\\d+<([^>]+)>.*");
    private static final Pattern WRITE = Pattern.compile("\\d+ +(?:p?write(?:v|64)?)\\(\\d+<([^>]+)>.*");
    private static final Pattern MARK = Pattern.compile("\\d+ +openat\\([^\"]*\"[^\"]*/mark-([a-z]+)\".*");

    @TempDir
    private Path temporary;

    @Test
    void testAppendAndTag()
            throws Exception
    {
        Path folder = Files.createDirectories(temporary.toRealPath().resolve("disk"));
        List<Call> calls = trace(folder);

        // everything that the snapshot consists of is synced with its folders, then the log is written and synced, once
        List<Call> append = between(calls, "append", "tag");
        assertThat(append).filteredOn(Call::isLog).containsExactly(new Call("write", append.getLast().path()), new Call("fdatasync", append.getLast().path()));
        assertThat(append.subList(append.size() - 2, append.size())).allMatch(Call::isLog);
        List<String> synced = append.stream()
                .filter(call -> call.name().equals("fsync"))
                .map(call -> Path.of(call.path()))
                .map(path -> Files.isDirectory(path) ? path + "/" : path.toString())
                .toList();
        Path table = folder.resolve("warehouse").resolve("db").resolve("t");
        assertThat(synced).contains(table + "/data/", table + "/metadata/", table + "/", table.getParent() + "/", table.getParent().getParent() + "/", folder + "/");
        assertThat(synced).filteredOn(path -> path.endsWith(".parquet")).containsExactly(table + "/data/1.parquet");
        assertThat(synced).filteredOn(path -> path.matches(".*/metadata/snap-[^/]*\\.avro")).hasSize(1);
        assertThat(synced).filteredOn(path -> path.matches(".*/metadata/[^/]*-m\\d+\\.avro")).hasSize(1);
        // the log has it
        assertThat(synced).filteredOn(path -> path.endsWith(".metadata.json")).isEmpty();

        // a tag adds no file but the metadata file: the log is all there is to sync
        List<Call> tag = between(calls, "tag", "end");
        assertThat(tag).containsExactly(new Call("write", tag.getFirst().path()), new Call("fdatasync", tag.getFirst().path()));
        assertThat(tag.getFirst().isLog()).isTrue();
    }

    /**
     * All syncs, the writes to the store's log, and the marks, in their order.
     */
    private List<Call> trace(Path folder)
            throws Exception
    {
        Path trace = temporary.resolve("trace.txt");
        List<String> strace = ImmutableList.of("strace", "-f", "-y", "-e", "trace=openat,write,pwrite64,writev,fsync,fdatasync,sync_file_range,rename", "-o", trace.toString());
        String output;
        int exitCode;
        try (ChildJvm process = ChildJvm.start(strace, AppendAndTag.class, temporary, folder.toString())) {
            output = process.readLine();
            exitCode = process.exitCode();
        }
        catch (IOException e) {
            output = e.getMessage();
            exitCode = -1;
        }
        boolean traced = Files.exists(trace) && Files.readString(trace, UTF_8).contains("mark-append");
        assumeTrue(traced || "done".equals(output), "strace is missing or may not trace: " + output);
        assertThat(exitCode).isZero();
        List<Call> calls = new ArrayList<>();
        for (String line : Files.readAllLines(trace, UTF_8)) {
            Matcher sync = SYNC.matcher(line);
            Matcher write = WRITE.matcher(line);
            Matcher mark = MARK.matcher(line);
            if (sync.matches()) {
                calls.add(new Call(sync.group(1), sync.group(2)));
            }
            else if (write.matches() && Call.isLog(write.group(1))) {
                calls.add(new Call("write", write.group(1)));
            }
            else if (mark.matches()) {
                calls.add(new Call("mark", mark.group(1)));
            }
        }
        return calls;
    }

    private static List<Call> between(List<Call> calls, String from, String to)
    {
        return calls.subList(calls.indexOf(new Call("mark", from)) + 1, calls.indexOf(new Call("mark", to)));
    }

    private record Call(String name, String path)
    {
        private boolean isLog()
        {
            return isLog(path);
        }

        private static boolean isLog(String path)
        {
            return path.matches(".*/store/\\d+\\.log");
        }
    }

    /**
     * Appends a file to a table and makes a tag, with marks between them: attempts to open files that there are not.
     */
    static final class AppendAndTag
    {
        private AppendAndTag() {}

        public static void main(String[] arguments)
                throws Exception
        {
            Path folder = Path.of(arguments[0]);
            Path warehouse = folder.resolve("warehouse");
            LocalDisk disk = new LocalDisk(location -> Optional.of(Path.of(location)), folder);
            try (RocksDbPointerStore store = RocksDbPointerStore.open(folder.resolve("store"))) {
                RefCommitter committer = new RefCommitter(store, new MetadataFiles(1_000_000), disk);
                LocalFileIO io = new LocalFileIO();
                PointerCatalog catalog = new PointerCatalog("lake", committer, io, ALICE, ImmutableMap.of(CatalogProperties.WAREHOUSE_LOCATION, warehouse.toString()));
                catalog.createNamespace(Namespace.of("db"));
                Table table = catalog.createTable(T, SCHEMA);

                mark(folder, "append");
                Path file = Files.createDirectories(Path.of(table.location()).resolve("data")).resolve("1.parquet");
                Files.write(file, new byte[100]);
                DataFile dataFile = DataFiles.builder(PartitionSpec.unpartitioned())
                        .withPath(file.toString())
                        .withFileSizeInBytes(100)
                        .withRecordCount(1)
                        .build();
                table.newAppend().appendFile(dataFile).commit();
                mark(folder, "tag");
                committer.commit(io, ALICE, ImmutableMap.of(T, createTag("v1", new AtRef("main"), Retention.DEFAULT, IfExists.REFUSE)));
                mark(folder, "end");
            }
            System.out.println("done");
        }

        private static void mark(Path folder, String name)
        {
            try {
                Files.readAllBytes(folder.resolve("mark-" + name));
                throw new AssertionError("There is a file " + name);
            }
            catch (IOException e) {
                // as meant
            }
        }
    }
}
