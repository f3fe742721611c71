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
package io.skade.catalog;

import com.google.common.collect.ImmutableList;
import io.skade.ref.MetadataFiles;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Comparator.comparing;
import static java.util.Comparator.naturalOrder;
import static java.util.Comparator.reverseOrder;

/**
 * The newest metadata among files of one folder. Files that the metadata log of another one names are not read: they are older.
 *
 * @param leaves the versions from which no other one descends
 * @param damaged the files that cannot be read
 */
record MetadataFolder(List<MetadataVersion> leaves, List<String> damaged)
{
    MetadataFolder
    {
        leaves = ImmutableList.copyOf(leaves);
        damaged = ImmutableList.copyOf(damaged);
    }

    static boolean isMetadataFile(String location)
    {
        return location.endsWith(".metadata.json") || location.endsWith(".metadata.json.gz");
    }

    /**
     * @throws RuntimeException if a file cannot be read for another reason than its content
     */
    static MetadataFolder read(FileIO io, Collection<String> files)
    {
        List<String> newestFirst = files.stream()
                .sorted(comparing(MetadataFiles::version, reverseOrder()).thenComparing(naturalOrder()))
                .toList();
        Set<String> older = new HashSet<>();
        int oldestInLogs = 0;
        List<MetadataVersion> versions = new ArrayList<>();
        ImmutableList.Builder<String> damaged = ImmutableList.builder();
        for (String file : newestFirst) {
            int number = MetadataFiles.version(file);
            // a log forgets its oldest entries
            boolean forgotten = number >= 0 && number < oldestInLogs;
            if (older.contains(file) || forgotten) {
                continue;
            }
            try {
                MetadataVersion version = MetadataVersion.read(io, file);
                versions.add(version);
                older.addAll(version.previous());
                if (!version.previous().isEmpty()) {
                    oldestInLogs = Math.max(oldestInLogs, MetadataFiles.version(version.previous().getFirst()));
                }
            }
            catch (NotFoundException _) {
                // deleted since the folder was listed
            }
            catch (RuntimeException e) {
                if (!MetadataFiles.isDamage(e)) {
                    throw e;
                }
                damaged.add(file);
            }
        }
        return new MetadataFolder(
                versions.stream().filter(version -> !older.contains(version.location())).collect(toImmutableList()),
                damaged.build());
    }
}
