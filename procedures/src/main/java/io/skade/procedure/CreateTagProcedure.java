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
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code create_tag}: a new tag at a ref, a snapshot or a time, by default where {@code main} is.
 */
final class CreateTagProcedure
        extends RefProcedure
{
    CreateTagProcedure()
    {
        super("create_tag",
                required("tag", VARCHAR),
                optional("ref", VARCHAR),
                optional("snapshot_id", BIGINT),
                optional("timestamp", VARCHAR),
                optional("max_ref_age", VARCHAR),
                flag("if_not_exists"),
                flag("or_replace"));
    }

    @Override
    RefRequest read(ArgumentValues values)
    {
        String tag = values.string("tag");
        SnapshotSelector from = values.atMostOne("ref", "snapshot_id", "timestamp").orElse(new SnapshotSelector.AtRef(MAIN_BRANCH));
        Retention retention = new Retention(values.findAge("max_ref_age"), Optional.empty(), Optional.empty());
        IfExists ifExists = values.ifExists();
        return creating(tag, ifExists, RefUpdates.createTag(tag, from, retention, ifExists));
    }
}
