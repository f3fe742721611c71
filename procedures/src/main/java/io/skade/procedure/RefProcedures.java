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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import io.trino.spi.procedure.Procedure;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static com.google.common.collect.MoreCollectors.onlyElement;

/**
 * All verbs on refs.
 */
public final class RefProcedures
{
    private static final List<RefProcedure> VERBS = ImmutableList.of(
            new CreateBranchProcedure(),
            new CreateTagProcedure(),
            new DropRefProcedure(),
            new DropBranchProcedure(),
            new DropTagProcedure(),
            new RenameRefProcedure(),
            new ReplaceBranchProcedure(),
            new ReplaceTagProcedure(),
            new SetRefRetentionProcedure(),
            new FastForwardProcedure(),
            new PublishBranchProcedure(),
            new RollbackToProcedure(),
            new SetCurrentSnapshotProcedure(),
            new CherrypickSnapshotProcedure(),
            new PublishChangesProcedure(),
            new ProtectRefProcedure(),
            new UnprotectRefProcedure(),
            new UndoRefProcedure(),
            new RollbackToSnapshotProcedure());

    private static final List<CallProcedure<TableLoader>> OTHERS = ImmutableList.of(
            new ExpireRefsProcedure(),
            new CreateBranchesProcedure(),
            new CreateTagsProcedure(),
            new DropRefsProcedure(),
            new PublishBranchesProcedure(),
            new RollbackTablesProcedure());

    private static final Set<String> TABLE_VERBS = ImmutableSet.of(
            "cherrypick_snapshot",
            "create_branch",
            "create_tag",
            "drop_ref",
            "fast_forward",
            "publish_branch",
            "rollback_to",
            "rollback_to_snapshot",
            "set_current_snapshot");

    private RefProcedures() {}

    /**
     * What {@code CALL} finds in the schema {@code system}.
     */
    public static Set<Procedure> all(TableLoader tables)
    {
        return Stream.concat(VERBS.stream(), OTHERS.stream())
                .map(verb -> verb.bind(tables))
                .collect(toImmutableSet());
    }

    /**
     * The verbs that exist as {@code ALTER TABLE .. EXECUTE}, too.
     */
    public static List<RefProcedure> tableVerbs()
    {
        return VERBS.stream()
                .filter(verb -> TABLE_VERBS.contains(verb.name()))
                .toList();
    }

    /**
     * The verb of a name that is known to be one.
     */
    public static RefProcedure verb(String name)
    {
        return VERBS.stream()
                .filter(verb -> verb.name().equals(name))
                .collect(onlyElement());
    }
}
