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
import io.skade.ref.InParallel;
import io.skade.ref.MetadataFiles;
import io.skade.store.CatalogState;
import io.skade.store.PointerKind;
import io.skade.store.TablePointer;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.catalog.StoreProblem.Kind.MISSING;
import static io.skade.catalog.StoreProblem.Kind.NEWER_METADATA;
import static io.skade.catalog.StoreProblem.Kind.REFS_DIFFER;
import static io.skade.catalog.StoreProblem.Kind.UNREADABLE;
import static io.skade.catalog.StoreProblem.Kind.UUID_DIFFERS;
import static java.util.Comparator.comparing;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

/**
 * Compares the pointers with the files that they point at, and with what else lies beside those.
 *
 * <p>A commit writes its metadata file before it moves the pointer, and a table may be changed or dropped while it is looked at. So there are two looks: only
 * what is wrong at both is a problem.
 */
public final class StoreCheck
{
    private final FileIO io;
    private final Function<String, List<String>> listing;

    /**
     * @param listing the locations of all files under a folder, empty if there is no such folder
     */
    public StoreCheck(FileIO io, Function<String, List<String>> listing)
    {
        this.io = requireNonNull(io, "io is null");
        this.listing = requireNonNull(listing, "listing is null");
    }

    /**
     * The problems of some tables and views, by name.
     *
     * @param states the state to look at, each time
     * @param pause what to do between the two looks; not called if the first one finds nothing
     */
    public List<StoreProblem> check(Collection<TableIdentifier> names, Supplier<CatalogState> states, Runnable pause)
    {
        List<StoreProblem> suspected = check(names, states.get());
        if (suspected.isEmpty()) {
            return suspected;
        }
        pause.run();
        return check(suspected.stream().map(StoreProblem::name).collect(toImmutableSet()), states.get());
    }

    private List<StoreProblem> check(Collection<TableIdentifier> names, CatalogState state)
    {
        return InParallel.map(names, name -> state.find(name).map(pointer -> check(name, pointer)).orElseGet(ImmutableList::of)).stream()
                .flatMap(List::stream)
                .sorted(comparing((StoreProblem problem) -> problem.name().toString()).thenComparing(StoreProblem::kind).thenComparing(StoreProblem::metadataLocation))
                .collect(toImmutableList());
    }

    private List<StoreProblem> check(TableIdentifier name, TablePointer pointer)
    {
        String location = pointer.metadataLocation();
        ImmutableList.Builder<StoreProblem> problems = ImmutableList.builder();
        Optional<MetadataVersion> found = Optional.empty();
        try {
            found = Optional.of(MetadataVersion.read(io, location));
            check(name, pointer, found.get(), problems);
        }
        catch (NotFoundException _) {
            problems.add(new StoreProblem(name, MISSING, location, "There is no such file"));
        }
        catch (RuntimeException e) {
            problems.add(unreadable(name, location, e));
        }
        try {
            newerVersions(pointer, found).forEach(version -> problems.add(new StoreProblem(
                    name,
                    NEWER_METADATA,
                    version.location(),
                    "It descends from %s, where the pointer is: a commit that the store has lost, or one that was cut off before it was acknowledged".formatted(location))));
        }
        catch (RuntimeException e) {
            problems.add(unreadable(name, MetadataVersion.folder(location), e));
        }
        return problems.build();
    }

    private static void check(TableIdentifier name, TablePointer pointer, MetadataVersion found, ImmutableList.Builder<StoreProblem> problems)
    {
        String location = pointer.metadataLocation();
        if (found.kind() != pointer.kind()) {
            problems.add(new StoreProblem(name, UNREADABLE, location, "It is not the metadata of a " + switch (pointer.kind()) {
                case TABLE -> "table";
                case VIEW -> "view";
            }));
            return;
        }
        if (!found.uuid().equals(pointer.uuid())) {
            problems.add(new StoreProblem(name, UUID_DIFFERS, location, "The uuid is %s in the file and %s in the store".formatted(found.uuid(), pointer.uuid())));
        }
        if (!found.refs().equals(pointer.refs())) {
            problems.add(new StoreProblem(name, REFS_DIFFER, location, "The refs are %s in the file and %s in the store".formatted(found.refs(), pointer.refs())));
        }
    }

    /**
     * The newest versions that descend from the one where the pointer is, wherever the metadata folder has been since.
     */
    private List<MetadataVersion> newerVersions(TablePointer pointer, Optional<MetadataVersion> found)
    {
        String location = pointer.metadataLocation();
        int number = MetadataFiles.version(location);
        List<String> candidates = listing.apply(MetadataVersion.folder(location)).stream()
                .filter(MetadataFolder::isMetadataFile)
                .filter(file -> !file.equals(location) && MetadataFiles.version(file) > number)
                .filter(file -> found.isEmpty() || !found.get().descendsFrom(file))
                .collect(toImmutableList());
        List<MetadataVersion> newer = MetadataFolder.read(io, candidates).leaves().stream()
                .filter(version -> version.uuid().equals(pointer.uuid()))
                .filter(version -> pointer.kind() == PointerKind.VIEW || version.descendsFrom(location))
                .collect(toImmutableList());
        return newer.isEmpty() ? newer : MetadataVersion.newest(newer).map(ImmutableList::of).orElseGet(() -> ImmutableList.copyOf(newer));
    }

    private static StoreProblem unreadable(TableIdentifier name, String location, RuntimeException e)
    {
        return new StoreProblem(name, UNREADABLE, location, requireNonNullElse(e.getMessage(), e.toString()));
    }
}
