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
import io.skade.store.CatalogState;
import io.skade.store.CommitAuthor;
import io.skade.store.PointerKind;
import io.skade.store.TablePointer;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadata.MetadataLogEntry;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.io.FileIO;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Iceberg's view of a table whose pointer is in the store. The first look is taken at a given catalog state, every refresh at the newest one.
 *
 * <p>A commit built from a version that is not the newest any more is applied to the newest if that is safe, see {@link MetadataChanges}.
 */
public final class PointerTableOperations
        implements StoredTableOperations
{
    private final RefCommitter committer;
    private final TableIdentifier name;
    private final FileIO io;
    private final CommitAuthor author;
    private final Supplier<CatalogState> firstState;

    private boolean loaded;
    private boolean lostRace;
    private TableMetadata current;

    public PointerTableOperations(RefCommitter committer, TableIdentifier name, FileIO io, CommitAuthor author, Supplier<CatalogState> firstState)
    {
        this.committer = requireNonNull(committer, "committer is null");
        this.name = requireNonNull(name, "name is null");
        this.io = requireNonNull(io, "io is null");
        this.author = requireNonNull(author, "author is null");
        this.firstState = requireNonNull(firstState, "firstState is null");
    }

    TableIdentifier name()
    {
        return name;
    }

    /**
     * The table's metadata, null if there is no such table.
     */
    @Override
    public TableMetadata current()
    {
        if (!loaded) {
            load(firstState.get());
        }
        return current;
    }

    @Override
    public TableMetadata refresh()
    {
        boolean existed = current != null;
        if (lostRace) {
            committer.turns().await(name, this);
        }
        load(committer.store().state());
        if (existed && current == null) {
            throw new NoSuchTableException("Table does not exist: %s", name);
        }
        return current;
    }

    private void load(CatalogState state)
    {
        Optional<TablePointer> pointer = state.find(name, PointerKind.TABLE);
        if (current != null && pointer.isPresent() && pointer.get().metadataLocation().equals(current.metadataFileLocation())) {
            // the same object: Iceberg takes another one for a change of the table
            return;
        }
        TableMetadata found = pointer.map(value -> committer.files().read(io, name, value)).orElse(null);
        if (current != null && found != null && current.uuid() != null && !current.uuid().equals(found.uuid())) {
            throw new CommitFailedException("Table %s was dropped and created again: uuid %s is now %s", name, current.uuid(), found.uuid());
        }
        current = found;
        loaded = true;
    }

    @Override
    public void commit(TableMetadata base, TableMetadata metadata)
    {
        if (base != null && metadata.previousFiles().isEmpty() && !metadata.changes().isEmpty() && base.metadataFileLocation() != null) {
            // a create-or-replace transaction that found no table when it began
            throw new AlreadyExistsException("Requirement failed: table already exists: %s", name);
        }
        if (base == null) {
            if (current() != null) {
                throw new AlreadyExistsException("Requirement failed: table already exists: %s", name);
            }
            current = committer.create(io, author, name, metadata);
            loaded = true;
            return;
        }
        if (base == metadata) {
            return;
        }
        commit(MetadataChanges.onTable(origin(base, metadata), metadata));
    }

    /**
     * Runs an update on the table in its turn, and takes its result as the current metadata.
     */
    void commit(MetadataChanges update)
    {
        committer.turns().await(name, this);
        try {
            current = committer.commit(io, author, ImmutableMap.of(name, update)).getFirst().current();
            loaded = true;
        }
        catch (CommitFailedException e) {
            // Iceberg builds the commit anew, after a refresh
            committer.turns().end(name, this);
            committer.turns().claim(name, this);
            lostRace = true;
            throw e;
        }
        catch (RuntimeException e) {
            committer.turns().end(name, this);
            throw e;
        }
        committer.turns().end(name, this);
        lostRace = false;
    }

    /**
     * The version that {@code metadata} was built from. It is {@code base} in all cases but one: a replacing transaction gives the
     * newest version as its base, although it was built from the one that it began with.
     */
    private TableMetadata origin(TableMetadata base, TableMetadata metadata)
    {
        List<MetadataLogEntry> previous = metadata.previousFiles();
        if (previous.isEmpty() || previous.getLast().file().equals(base.metadataFileLocation())) {
            return base;
        }
        return committer.files().read(io, previous.getLast().file());
    }

    @Override
    public TableOperations temp(TableMetadata uncommittedMetadata)
    {
        return new SnapshotTableOperations(uncommittedMetadata, io);
    }

    @Override
    public FileIO io()
    {
        return io;
    }
}
