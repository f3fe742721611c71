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
package io.skade.product;

import io.trino.plugin.base.security.AllowAllSystemAccessControl;
import io.trino.spi.connector.CatalogSchemaTableName;
import io.trino.spi.connector.ColumnSchema;
import io.trino.spi.security.AccessDeniedException;
import io.trino.spi.security.SystemAccessControl;
import io.trino.spi.security.SystemAccessControlFactory;
import io.trino.spi.security.SystemSecurityContext;
import io.trino.spi.security.ViewExpression;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static java.util.stream.Collectors.toUnmodifiableSet;

/**
 * An access control that knows branches. Each line of its configuration is a rule for one user, on the tables of one name in whatever catalog and schema:
 * <ul>
 * <li>{@code only.<user>=INSERT t@dev, DELETE t@dev}: the changes that the user may make
 * <li>{@code but.<user>=INSERT t@dev, SELECT t@dev}: what the user may not do
 * <li>{@code filter.<user>.<table>=<expression>}: the rows that the user sees
 * <li>{@code mask.<user>.<table>.<column>=<expression>}: what the user sees in place of the column
 * </ul>
 * A statement that names no branch is one on {@code main}. Users without a rule may do everything.
 */
final class BranchRules
        extends AllowAllSystemAccessControl
{
    private final Map<String, String> rules;

    private BranchRules(Map<String, String> rules)
    {
        this.rules = Map.copyOf(rules);
    }

    static final class Factory
            implements SystemAccessControlFactory
    {
        static final String NAME = "branch-rules";

        @Override
        public String getName()
        {
            return NAME;
        }

        @Override
        public SystemAccessControl create(Map<String, String> config, SystemAccessControlContext context)
        {
            return new BranchRules(config);
        }
    }

    @Override
    public void checkCanSelectFromColumns(SystemSecurityContext context, CatalogSchemaTableName table, Optional<String> branch, Set<String> columns)
    {
        checkNotExcepted(context, right("SELECT", table, branch));
    }

    @Override
    public void checkCanInsertIntoTable(SystemSecurityContext context, CatalogSchemaTableName table, Optional<String> branch)
    {
        check(context, "INSERT", table, branch);
    }

    @Override
    public void checkCanDeleteFromTable(SystemSecurityContext context, CatalogSchemaTableName table, Optional<String> branch)
    {
        check(context, "DELETE", table, branch);
    }

    @Override
    public void checkCanUpdateTableColumns(SystemSecurityContext context, CatalogSchemaTableName table, Optional<String> branch, Set<String> updatedColumnNames)
    {
        check(context, "UPDATE", table, branch);
    }

    @Override
    public void checkCanTruncateTable(SystemSecurityContext context, CatalogSchemaTableName table)
    {
        check(context, "TRUNCATE", table, Optional.empty());
    }

    @Override
    public void checkCanCreateBranch(SystemSecurityContext context, CatalogSchemaTableName table, String branch)
    {
        check(context, "CREATE", table, Optional.of(branch));
    }

    @Override
    public void checkCanDropBranch(SystemSecurityContext context, CatalogSchemaTableName table, String branch)
    {
        check(context, "DROP", table, Optional.of(branch));
    }

    @Override
    public void checkCanFastForwardBranch(SystemSecurityContext context, CatalogSchemaTableName table, String sourceBranch, String targetBranch)
    {
        check(context, "FAST_FORWARD", table, Optional.of(sourceBranch));
    }

    private void check(SystemSecurityContext context, String action, CatalogSchemaTableName table, Optional<String> branch)
    {
        String right = right(action, table, branch);
        String user = context.getIdentity().getUser();
        if (!rights("only." + user).map(only -> only.contains(right)).orElse(true)) {
            throw denied(user, right);
        }
        checkNotExcepted(context, right);
    }

    private void checkNotExcepted(SystemSecurityContext context, String right)
    {
        String user = context.getIdentity().getUser();
        if (rights("but." + user).map(but -> but.contains(right)).orElse(false)) {
            throw denied(user, right);
        }
    }

    private static AccessDeniedException denied(String user, String right)
    {
        return new AccessDeniedException("%s may not %s".formatted(user, right));
    }

    private static String right(String action, CatalogSchemaTableName table, Optional<String> branch)
    {
        return "%s %s@%s".formatted(action, table.getSchemaTableName().getTableName(), branch.orElse("main"));
    }

    private Optional<Set<String>> rights(String rule)
    {
        return Optional.ofNullable(rules.get(rule))
                .map(rights -> Arrays.stream(rights.split(", ")).collect(toUnmodifiableSet()));
    }

    @Override
    public List<ViewExpression> getRowFilters(SystemSecurityContext context, CatalogSchemaTableName table)
    {
        return expression("filter.%s.%s".formatted(context.getIdentity().getUser(), table.getSchemaTableName().getTableName()))
                .map(List::of)
                .orElse(List.of());
    }

    @Override
    public Map<ColumnSchema, ViewExpression> getColumnMasks(SystemSecurityContext context, CatalogSchemaTableName table, List<ColumnSchema> columns)
    {
        Map<ColumnSchema, ViewExpression> masks = new HashMap<>();
        for (ColumnSchema column : columns) {
            expression("mask.%s.%s.%s".formatted(context.getIdentity().getUser(), table.getSchemaTableName().getTableName(), column.getName()))
                    .ifPresent(mask -> masks.put(column, mask));
        }
        return masks;
    }

    private Optional<ViewExpression> expression(String rule)
    {
        return Optional.ofNullable(rules.get(rule))
                .map(expression -> ViewExpression.builder().expression(expression).build());
    }
}
