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
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * One table before and after a commit; the same object twice if there was nothing to change.
 */
public record TableMove(TableIdentifier name, TableMetadata before, TableMetadata after)
{
    public TableMove
    {
        requireNonNull(name, "name is null");
        requireNonNull(before, "before is null");
        requireNonNull(after, "after is null");
    }

    public List<RefChange> refChanges()
    {
        return RefChange.between(before.refs(), after.refs());
    }
}
