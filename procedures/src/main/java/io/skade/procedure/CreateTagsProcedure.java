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
package io.skade.procedure;

import io.skade.ref.RefUpdates;
import io.skade.ref.RefUpdates.IfExists;
import io.skade.ref.Retention;
import io.skade.ref.SnapshotSelector;

import java.util.Optional;

import static io.skade.procedure.RefRequest.creating;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code create_tags}: a new tag in many tables at once.
 */
final class CreateTagsProcedure
        extends ManyTablesProcedure
{
    CreateTagsProcedure()
    {
        super("create_tags",
                required("tag", VARCHAR),
                withDefault("ref", MAIN_BRANCH));
    }

    @Override
    RefRequest read(ArgumentValues values)
    {
        String tag = values.string("tag");
        return creating(tag, IfExists.REFUSE, RefUpdates.createTag(tag, new SnapshotSelector.AtRef(values.string("ref")), Retention.DEFAULT, IfExists.REFUSE));
    }

    @Override
    Optional<String> neededRef(ArgumentValues values)
    {
        return Optional.empty();
    }
}
