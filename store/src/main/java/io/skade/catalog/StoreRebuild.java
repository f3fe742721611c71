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
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import io.skade.catalog.RebuildStep.Outcome;
import io.skade.ref.MetadataFiles;
import io.skade.store.CatalogState;
import io.skade.store.PointerChange;
import io.skade.store.PointerKind;
import io.skade.store.RefChange;
import io.skade.store.TablePointer;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.catalog.RebuildStep.conflict;
import static java.util.Comparator.comparing;
import static java.util.Locale.ENGLISH;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

/**
 * Finds out from the metadata files in the warehouse what the store should have.
 *
 * <p>The newest version of a table is the one from whose metadata log all others are, except for those that a commit left which was never made. If
 * several could be the newest, that is a conflict. A table or view that the store knows is found by its uuid, whatever its name. For one that the store
 * does not know, the names of its folder and the folder above have to do: a name stands in the store and nowhere else.
 *
 * <p>As with {@link StoreCheck}, there are two looks at what would be changed, since a commit may be under way.
 */
public final class StoreRebuild
{
    // what makes the location of a table unique
    private static final Pattern FOLDER_NAME = Pattern.compile("(.+?)(?:-[0-9a-f]{32})?");

    private final FileIO io;
    private final Function<String, List<String>> listing;
    private final Predicate<TableIdentifier> possibleNames;

    /**
     * @param listing the locations of all files under a folder, empty if there is no such folder
     * @param possibleNames which names a table or view can have
     */
    public StoreRebuild(FileIO io, Function<String, List<String>> listing, Predicate<TableIdentifier> possibleNames)
    {
        this.io = requireNonNull(io, "io is null");
        this.listing = requireNonNull(listing, "listing is null");
        this.possibleNames = requireNonNull(possibleNames, "possibleNames is null");
    }

    /**
     * What to do about the tables and views that have metadata files under a location.
     *
     * @param states the state to look at, each time
     * @param pause what to do between the two looks; not called if there is nothing to change
     */
    public RebuildPlan plan(String location, Supplier<CatalogState> states, Runnable pause)
    {
        Map<String, MetadataFolder> folders = new TreeMap<>(read(listing.apply(location)));
        RebuildPlan first = plan(states.get(), folders);
        Set<String> changed = first.changes().stream()
                .map(change -> MetadataVersion.folder(change.next().orElseThrow().metadataLocation()))
                .collect(toImmutableSet());
        if (changed.isEmpty()) {
            return first;
        }
        pause.run();
        folders.keySet().removeAll(changed);
        folders.putAll(Maps.filterKeys(read(changed.stream().flatMap(folder -> listing.apply(folder).stream()).toList()), changed::contains));
        return plan(states.get(), folders);
    }

    private Map<String, MetadataFolder> read(Collection<String> files)
    {
        Map<String, List<String>> byFolder = files.stream()
                .filter(MetadataFolder::isMetadataFile)
                .collect(groupingBy(MetadataVersion::folder));
        ImmutableMap.Builder<String, MetadataFolder> folders = ImmutableMap.builder();
        InParallel.map(byFolder.entrySet(), folder -> Map.entry(folder.getKey(), MetadataFolder.read(io, folder.getValue()))).forEach(folders::put);
        return folders.buildOrThrow();
    }

    private RebuildPlan plan(CatalogState state, Map<String, MetadataFolder> folders)
    {
        List<RebuildStep> steps = new ArrayList<>();
        Map<String, List<MetadataVersion>> tables = new TreeMap<>();
        Set<String> damaged = new HashSet<>();
        folders.forEach((folder, content) -> {
            damaged.addAll(content.damaged());
            if (content.leaves().isEmpty() && !content.damaged().isEmpty()) {
                steps.addAll(unreadable(state, folder, content.damaged()));
            }
            for (MetadataVersion leaf : content.leaves()) {
                if (leaf.isInPlace()) {
                    String identity = leaf.uuid().isEmpty() ? leaf.base() : leaf.uuid();
                    tables.computeIfAbsent(leaf.kind() + identity, _ -> new ArrayList<>()).add(leaf);
                }
                else {
                    steps.add(conflict(name(leaf.base()), leaf.location(), "It belongs into %s by its content, so it is a copy or was moved".formatted(leaf.folder())));
                }
            }
        });
        Map<String, List<Map.Entry<TableIdentifier, TablePointer>>> pointers = new HashMap<>();
        state.namespaces().stream().flatMap(state::pointers).forEach(entry -> {
            pointers.computeIfAbsent(entry.getValue().kind() + entry.getValue().uuid(), _ -> new ArrayList<>()).add(entry);
        });
        List<RebuildStep> created = new ArrayList<>();
        tables.values().forEach(versions -> {
            // the metadata folder of a table can be moved
            Set<String> older = versions.stream().flatMap(version -> version.previous().stream()).collect(toImmutableSet());
            List<MetadataVersion> leaves = versions.stream().filter(version -> !older.contains(version.location())).collect(toImmutableList());
            if (leaves.isEmpty()) {
                // each names the other in its log: nothing that a catalog wrote
                return;
            }
            List<Map.Entry<TableIdentifier, TablePointer>> known = pointers.getOrDefault(leaves.getFirst().kind() + leaves.getFirst().uuid(), ImmutableList.of()).stream()
                    .filter(entry -> !entry.getValue().uuid().isEmpty() || leaves.stream().anyMatch(leaf -> isOnLineOf(leaf, entry.getValue())))
                    .toList();
            known.forEach(entry -> steps.add(known(entry.getKey(), entry.getValue(), leaves, damaged)));
            if (known.isEmpty()) {
                created.add(unknown(state, leaves, damaged));
            }
        });
        steps.addAll(withoutTakenTwice(created));
        return new RebuildPlan(
                steps.stream()
                        .filter(step -> step.outcome() == Outcome.CREATED)
                        .map(step -> step.name().namespace())
                        .distinct()
                        .filter(namespace -> !state.namespaceExists(namespace))
                        .collect(toImmutableList()),
                steps.stream()
                        .sorted(comparing((RebuildStep step) -> step.name().toString()).thenComparing(RebuildStep::metadataLocation))
                        .collect(toImmutableList()));
    }

    private static boolean isOnLineOf(MetadataVersion leaf, TablePointer pointer)
    {
        return leaf.location().equals(pointer.metadataLocation()) || leaf.descendsFrom(pointer.metadataLocation());
    }

    private RebuildStep known(TableIdentifier name, TablePointer pointer, List<MetadataVersion> leaves, Set<String> damaged)
    {
        String location = pointer.metadataLocation();
        List<MetadataVersion> newer = leaves.stream()
                .filter(leaf -> leaf.kind() == PointerKind.VIEW ? isAhead(leaf, pointer) : leaf.descendsFrom(location))
                .collect(toImmutableList());
        if (!newer.isEmpty()) {
            return MetadataVersion.newest(newer)
                    .map(newest -> moved(name, pointer, newest, "It descends from %s, where the pointer is".formatted(location), damaged))
                    .orElseGet(() -> severalNewest(name, newer));
        }
        boolean found = leaves.stream().anyMatch(leaf -> leaf.location().equals(location));
        if (!found && !isReadable(location)) {
            return MetadataVersion.newest(leaves)
                    .map(newest -> moved(name, pointer, newest, "The file where the pointer is, %s, is gone or damaged: this is the newest that is left".formatted(location), damaged))
                    .orElseGet(() -> severalNewest(name, leaves));
        }
        List<MetadataVersion> others = leaves.stream().filter(leaf -> isAhead(leaf, pointer)).collect(toImmutableList());
        if (!others.isEmpty()) {
            return conflict(name, others.getFirst().location(), "It has a higher number than %s, where the pointer is, but does not descend from it".formatted(location));
        }
        return new RebuildStep(name, Outcome.UP_TO_DATE, location, "", Optional.empty());
    }

    private static boolean isAhead(MetadataVersion leaf, TablePointer pointer)
    {
        return leaf.number() > MetadataFiles.version(pointer.metadataLocation());
    }

    private boolean isReadable(String location)
    {
        try {
            MetadataVersion.read(io, location);
            return true;
        }
        catch (NotFoundException _) {
            return false;
        }
        catch (RuntimeException e) {
            if (!MetadataFiles.isDamage(e)) {
                throw e;
            }
            return false;
        }
    }

    private RebuildStep unknown(CatalogState state, List<MetadataVersion> leaves, Set<String> damaged)
    {
        TableIdentifier name = name(leaves.getFirst().base());
        Optional<MetadataVersion> newest = MetadataVersion.newest(leaves);
        if (newest.isEmpty()) {
            return severalNewest(name, leaves);
        }
        MetadataVersion version = newest.get();
        Optional<TablePointer> taken = state.find(name);
        if (taken.isPresent()) {
            return conflict(name, version.location(), "The name is taken by another table or view, with uuid %s: register this one under a name of its own".formatted(taken.get().uuid()));
        }
        if (name.namespace().isEmpty() || !possibleNames.test(name)) {
            return conflict(name, version.location(), "The folder %s makes no name: register this one under a name of its own".formatted(version.base()));
        }
        TablePointer pointer = switch (version.kind()) {
            case TABLE -> TablePointer.newTable(version.uuid(), version.location(), version.refs());
            case VIEW -> TablePointer.newView(version.uuid(), version.location());
        };
        return new RebuildStep(
                name,
                Outcome.CREATED,
                version.location(),
                describeDamaged(version, damaged),
                Optional.of(new PointerChange(name, Optional.empty(), Optional.of(pointer), "rebuild", RefChange.between(ImmutableMap.of(), version.refs()))));
    }

    private static RebuildStep moved(TableIdentifier name, TablePointer pointer, MetadataVersion version, String reason, Set<String> damaged)
    {
        String note = describeDamaged(version, damaged);
        return new RebuildStep(
                name,
                Outcome.MOVED,
                version.location(),
                note.isEmpty() ? reason : reason + ". " + note,
                Optional.of(new PointerChange(
                        name,
                        Optional.of(pointer),
                        Optional.of(pointer.moveTo(version.uuid(), version.location(), version.refs())),
                        "rebuild",
                        RefChange.between(pointer.refs(), version.refs()))));
    }

    /**
     * What was newer once, beside a version that is taken.
     */
    private static String describeDamaged(MetadataVersion version, Set<String> damaged)
    {
        String files = damaged.stream()
                .filter(file -> MetadataVersion.folder(file).equals(version.folder()) && MetadataFiles.version(file) > version.number())
                .sorted()
                .collect(joining(", "));
        return files.isEmpty() ? "" : "What was newer is damaged: " + files;
    }

    private static RebuildStep severalNewest(TableIdentifier name, List<MetadataVersion> leaves)
    {
        return conflict(name, leaves.getFirst().location(), leaves.stream()
                .map(MetadataVersion::location)
                .sorted()
                .collect(joining(", ", "Each of these could be the newest: ", "")));
    }

    private static List<RebuildStep> unreadable(CatalogState state, String folder, List<String> damaged)
    {
        List<TableIdentifier> names = state.namespaces().stream()
                .flatMap(state::pointers)
                .filter(entry -> MetadataVersion.folder(entry.getValue().metadataLocation()).equals(folder))
                .map(Map.Entry::getKey)
                .toList();
        return (names.isEmpty() ? ImmutableList.of(name(folder.replaceFirst("/metadata$", ""))) : names).stream()
                .map(name -> conflict(name, damaged.getFirst(), "No metadata file of its folder can be read"))
                .collect(toImmutableList());
    }

    /**
     * Two tables of one folder name: one of them was renamed.
     */
    private static List<RebuildStep> withoutTakenTwice(List<RebuildStep> created)
    {
        Map<TableIdentifier, List<RebuildStep>> byName = created.stream()
                .filter(step -> step.outcome() == Outcome.CREATED)
                .collect(groupingBy(RebuildStep::name));
        return created.stream()
                .map(step -> byName.getOrDefault(step.name(), ImmutableList.of()).size() < 2 ? step : conflict(
                        step.name(),
                        step.metadataLocation(),
                        "Several tables or views have folders of this name: register each under a name of its own"))
                .collect(toImmutableList());
    }

    /**
     * The name that a location stands for.
     */
    private static TableIdentifier name(String base)
    {
        List<String> parts = ImmutableList.copyOf(base.split("/"));
        Matcher matcher = FOLDER_NAME.matcher(parts.getLast().toLowerCase(ENGLISH));
        String table = matcher.matches() ? matcher.group(1) : "";
        String schema = parts.size() < 2 ? "" : parts.get(parts.size() - 2).toLowerCase(ENGLISH);
        return TableIdentifier.of(schema.isEmpty() || schema.endsWith(":") ? Namespace.empty() : Namespace.of(schema), table);
    }
}
