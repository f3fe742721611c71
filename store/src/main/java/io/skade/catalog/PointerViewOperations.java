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
import io.skade.ref.InvalidMetadataException;
import io.skade.ref.LocalDisk;
import io.skade.ref.MetadataFiles;
import io.skade.ref.MissingMetadataException;
import io.skade.ref.RefCommitter;
import io.skade.store.CommitAuthor;
import io.skade.store.CommitResult.Committed;
import io.skade.store.CommitResult.Conflict;
import io.skade.store.CommitResult.Mismatch;
import io.skade.store.CommitResult.NamespaceMissing;
import io.skade.store.CommitResult.PointerMismatch;
import io.skade.store.PointerChange;
import io.skade.store.PointerCommit;
import io.skade.store.PointerKind;
import io.skade.store.PointerStore;
import io.skade.store.TablePointer;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchViewException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.view.BaseViewOperations;
import org.apache.iceberg.view.ViewMetadata;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A view whose pointer is in the store. A commit built from an older version of the view is applied to the newest one.
 */
final class PointerViewOperations
        extends BaseViewOperations
{
    private static final int MAX_ATTEMPTS = 100;
    private static final int MAX_READS = 5;

    private final PointerStore store;
    private final TableIdentifier name;
    private final FileIO io;
    private final CommitAuthor author;
    private final LocalDisk disk;

    PointerViewOperations(RefCommitter committer, TableIdentifier name, FileIO io, CommitAuthor author)
    {
        this.store = committer.store();
        this.disk = committer.disk();
        this.name = requireNonNull(name, "name is null");
        this.io = requireNonNull(io, "io is null");
        this.author = requireNonNull(author, "author is null");
    }

    @Override
    protected void doRefresh()
    {
        store.state().find(name, PointerKind.VIEW).ifPresentOrElse(
                pointer -> refreshFromMetadataLocation(pointer.metadataLocation(), PointerViewOperations::mayPass, MAX_READS, _ -> MetadataFiles.readView(io, name, pointer)),
                this::disableRefresh);
    }

    private static boolean mayPass(Exception failure)
    {
        return !(failure instanceof MissingMetadataException) && !(failure instanceof InvalidMetadataException);
    }

    @Override
    protected void doCommit(ViewMetadata base, ViewMetadata metadata)
    {
        if (base == null) {
            commit(Optional.empty(), metadata, "create_view");
        }
        else {
            replace(base, metadata);
        }
    }

    @Override
    public void commit(ViewMetadata base, ViewMetadata metadata)
    {
        if (base == metadata) {
            return;
        }
        if (base == null && current() != null) {
            throw new AlreadyExistsException("View already exists: %s", name);
        }
        doCommit(base, metadata);
        requestRefresh();
    }

    private void replace(ViewMetadata base, ViewMetadata metadata)
    {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            TablePointer pointer = store.state().find(name, PointerKind.VIEW).orElseThrow(() -> new NoSuchViewException("View does not exist: %s", name));
            if (commit(Optional.of(pointer), rebase(pointer, base, metadata), "replace_view")) {
                return;
            }
        }
        throw new CommitFailedException("Cannot commit to view %s: other commits won %s times in a row", name, MAX_ATTEMPTS);
    }

    private ViewMetadata rebase(TablePointer pointer, ViewMetadata base, ViewMetadata metadata)
    {
        if (pointer.metadataLocation().equals(base.metadataFileLocation())) {
            return metadata;
        }
        ViewMetadata newest = MetadataFiles.readView(io, name, pointer);
        if (!newest.uuid().equals(base.uuid())) {
            throw new CommitFailedException("Commit failed: view %s was dropped and created again: uuid %s is now %s", name, base.uuid(), newest.uuid());
        }
        ViewMetadata.Builder builder = ViewMetadata.buildFrom(newest);
        metadata.changes().forEach(change -> change.applyTo(builder));
        return builder.build();
    }

    /**
     * Whether the commit won; false is a definite conflict over a view that is still there.
     */
    private boolean commit(Optional<TablePointer> expected, ViewMetadata metadata, String operation)
    {
        boolean registers = metadata.metadataFileLocation() != null;
        String location = writeNewMetadataIfRequired(metadata);
        TablePointer next = expected
                .map(pointer -> pointer.moveTo(metadata.uuid(), location, pointer.refs()))
                .orElseGet(() -> TablePointer.newView(metadata.uuid(), location));
        boolean keepFile = registers;
        try {
            disk.force(ImmutableList.of(location));
            switch (store.commit(PointerCommit.of(author, new PointerChange(name, expected, Optional.of(next), operation, ImmutableList.of())))) {
                case Committed _ -> {
                    keepFile = true;
                    return true;
                }
                case Conflict(List<Mismatch> mismatches) -> {
                    checkRetryable(expected, mismatches.getFirst());
                    return false;
                }
            }
        }
        catch (CommitStateUnknownException e) {
            keepFile = true;
            throw e;
        }
        finally {
            if (!keepFile) {
                io.deleteFile(location);
            }
        }
    }

    private void checkRetryable(Optional<TablePointer> expected, Mismatch mismatch)
    {
        if (mismatch instanceof NamespaceMissing) {
            throw new NoSuchNamespaceException("Cannot create view %s. Namespace does not exist: %s", name, name.namespace());
        }
        Optional<TablePointer> actual = mismatch instanceof PointerMismatch other ? other.actual() : Optional.empty();
        if (actual.isPresent() && actual.get().kind() == PointerKind.TABLE) {
            throw new AlreadyExistsException("Table with same name already exists: %s", name);
        }
        if (expected.isEmpty()) {
            throw new AlreadyExistsException("View already exists: %s", name);
        }
    }

    @Override
    protected String viewName()
    {
        return name.toString();
    }

    @Override
    protected FileIO io()
    {
        return io;
    }
}
