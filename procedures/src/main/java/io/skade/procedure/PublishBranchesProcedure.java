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

import java.util.Optional;
import java.util.OptionalLong;

import static io.trino.spi.type.VarcharType.VARCHAR;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * {@code publish_branches}: {@code publish_branch} in many tables at once.
 */
final class PublishBranchesProcedure
        extends ManyTablesProcedure
{
    PublishBranchesProcedure()
    {
        super("publish_branches",
                required("branch", VARCHAR),
                withDefault("to", MAIN_BRANCH),
                withDefault("mode", "fast_forward"),
                flag("drop_branch"));
    }

    @Override
    RefRequest read(ArgumentValues values)
    {
        return PublishBranchProcedure.publish(values, OptionalLong.empty());
    }

    @Override
    Optional<String> neededRef(ArgumentValues values)
    {
        return Optional.of(values.string("branch"));
    }
}
