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

import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.io.FileIO;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * A table as one of its branches sees it, writable: the branch's snapshot is the current one, and what Iceberg commits to {@code main} here
 * goes to the branch, and nowhere else.
 */
public final class BranchTableOperations
        implements StoredTableOperations
{
    private final PointerTableOperations table;
    private final RefViews views;
    private final String branch;

    private TableMetadata viewed;
    private TableMetadata view;

    public BranchTableOperations(PointerTableOperations table, RefViews views, String branch)
    {
        this.table = requireNonNull(table, "table is null");
        this.views = requireNonNull(views, "views is null");
        this.branch = requireNonNull(branch, "branch is null");
    }

    /**
     * The view of the branch, null if there is no such table.
     *
     * @throws RefRefusedException if the table has no such branch, or if its rows cannot be read with the present schema
     */
    @Override
    public TableMetadata current()
    {
        return view(table.current());
    }

    @Override
    public TableMetadata refresh()
    {
        return view(table.refresh());
    }

    private TableMetadata view(TableMetadata metadata)
    {
        if (metadata == null) {
            return null;
        }
        if (metadata != viewed) {
            view = views.branch(new RefTarget(table.name(), metadata, io()), branch);
            viewed = metadata;
        }
        return view;
    }

    @Override
    public void commit(TableMetadata base, TableMetadata metadata)
    {
        checkArgument(base != null, "A table cannot be created at a branch: %s", branch);
        if (base != metadata) {
            table.commit(MetadataChanges.onBranch(branch, base, metadata));
        }
    }

    @Override
    public TableOperations temp(TableMetadata uncommittedMetadata)
    {
        return table.temp(uncommittedMetadata);
    }

    @Override
    public FileIO io()
    {
        return table.io();
    }
}
