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

import io.skade.store.RefChange;
import org.apache.iceberg.TableMetadata;

/**
 * A change of one table's metadata: a pure function that may be applied again to newer metadata. Everything that must hold for the change
 * is checked in {@link #apply}, so it holds for the metadata that is really replaced, however often the change had to be repeated.
 */
public interface RefUpdate
{
    /**
     * The name under which the log shows the change made to {@code before}.
     */
    String operation(TableMetadata before);

    /**
     * The table's new metadata, or {@code target.metadata()} itself if there is nothing to change.
     *
     * @throws RefRefusedException if the change is not allowed on this metadata
     */
    TableMetadata apply(RefTarget target);

    /**
     * By how many changes an undo takes a ref back along its log, negative if forward again; 0 for every other change.
     */
    default int undoSteps()
    {
        return 0;
    }

    /**
     * Whether {@link #apply} may take long, since it reads files of the table. Such a change has a commit of its own.
     */
    default boolean readsFiles()
    {
        return true;
    }

    /**
     * Whether the change may do anything to protected refs, and to which refs are protected.
     */
    default boolean mayMoveProtected()
    {
        return false;
    }

    /**
     * Whether what the change did to a protected ref is allowed, if it may not do everything.
     *
     * @param before the metadata that the change was applied to
     * @param after what {@link #apply} made of it
     */
    default boolean mayMoveProtected(RefChange move, TableMetadata before, TableMetadata after)
    {
        return false;
    }
}
