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
package io.skade.plugin;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Multiset;
import com.google.common.collect.Sets;
import io.skade.plugin.TableModel.AtRef;
import io.skade.plugin.TableModel.AtSnapshot;
import io.skade.plugin.TableModel.Change;
import io.skade.plugin.TableModel.Edit;
import io.skade.plugin.TableModel.IfExists;
import io.skade.plugin.TableModel.Kind;
import io.skade.plugin.TableModel.LogRow;
import io.skade.plugin.TableModel.Outcome;
import io.skade.plugin.TableModel.Ref;
import io.skade.plugin.TableModel.Refusal;
import io.skade.plugin.TableModel.Refused;
import io.skade.plugin.TableModel.Retention;
import io.skade.plugin.TableModel.Row;
import io.skade.plugin.TableModel.Target;
import io.skade.procedure.SkadeErrorCode;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.StandardErrorCode;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.MaterializedResult;
import io.trino.testing.MaterializedRow;
import io.trino.testing.QueryFailedException;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.skade.plugin.TableModel.MAIN;
import static io.trino.testing.assertions.TrinoExceptionAssert.assertThatTrinoException;
import static java.util.Collections.nCopies;
import static java.util.Collections.shuffle;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random writes and verbs on a few tables, through SQL, next to {@link TableModel a model}: each statement does what the model says, or is refused for a
 * reason that the model gives and then changes nothing. The refs are compared after each step, all rows at all refs, the snapshots and the logs now and then.
 *
 * <p>{@code -Dskade.test.seed=..} repeats a run, {@code -Dskade.test.steps=..} makes it longer.
 */
class TestRandomVerbs
        extends AbstractTestQueryFramework
{
    private static final int STEPS = 2_000;
    private static final int STEPS_BETWEEN_FULL_COMPARISONS = 100;

    private static final String SCHEMA = "shop";
    private static final List<String> NAMES = ImmutableList.of(MAIN, "dev", "Dev", "v1", "it's");
    private static final Map<String, String> TABLES = ImmutableMap.of(
            "a", "format_version = 2",
            "b", "format_version = 3",
            "c", "format_version = 2, partitioning = ARRAY['bucket(id, 2)']");
    private static final int IDS = 8;
    private static final int MAX_DRAWS = 200;

    private final List<TableModel> tables = new ArrayList<>();
    // a set a commit, oldest first
    private final List<Set<CommittedTable>> commits = new ArrayList<>();
    private final Map<String, Integer> succeeded = new TreeMap<>();
    private final Map<String, Integer> refused = new TreeMap<>();
    private final List<Statement> statements = ImmutableList.of(
            new Statement("insert", 14, this::insert),
            new Statement("delete", 5, this::delete),
            new Statement("update", 5, this::update),
            new Statement("merge", 5, this::merge),
            new Statement("truncate", 3, this::truncate),
            new Statement("create branch", 6, () -> create(Kind.BRANCH)),
            new Statement("create tag", 5, () -> create(Kind.TAG)),
            new Statement("create branch, native", 3, this::createBranchStatement),
            new Statement("drop ref", 4, this::drop),
            new Statement("drop branch, native", 2, this::dropBranchStatement),
            new Statement("rename ref", 3, this::rename),
            new Statement("replace branch", 3, () -> replace(Kind.BRANCH)),
            new Statement("replace tag", 3, () -> replace(Kind.TAG)),
            new Statement("set retention", 4, this::setRetention),
            new Statement("fast-forward", 5, this::fastForward),
            new Statement("fast-forward, native", 3, this::fastForwardStatement),
            new Statement("publish", 6, this::publish),
            new Statement("roll back", 5, this::rollback),
            new Statement("set current snapshot", 3, this::setCurrentSnapshot),
            new Statement("undo", 7, this::undo),
            new Statement("redo", 4, this::redo),
            new Statement("protect", 3, this::protect),
            new Statement("unprotect", 4, this::unprotect),
            new Statement("create branches", 2, () -> createMany(Kind.BRANCH)),
            new Statement("create tags", 2, () -> createMany(Kind.TAG)),
            new Statement("drop refs", 2, this::dropMany),
            new Statement("publish branches", 4, this::publishMany),
            new Statement("roll back tables", 3, this::rollbackMany),
            new Statement("drop table", 1, this::dropTable));
    private Random random;
    private long step;

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return SkadeQueryRunner.builder()
                .addCatalogProperty("iceberg.extended-statistics.collect-on-write", "false")
                .setWorkerCount(0)
                .build();
    }

    private record CommittedTable(String table, String operation) {}

    /**
     * A kind of statement.
     *
     * @param weight how many there are in a round of all kinds
     * @param arguments gives one with random arguments
     */
    private record Statement(String kind, int weight, Supplier<Step> arguments) {}

    /**
     * A statement and what the model says of it.
     *
     * @param refusals the errors of which it must fail with one, empty if it must succeed
     */
    private record Step(String sql, List<TableModel> tables, Set<ErrorCodeSupplier> refusals, Map<TableModel, Change> changes)
    {
        boolean isRefused()
        {
            return !refusals.isEmpty();
        }

        boolean dropsTable()
        {
            return changes.values().stream().anyMatch(change -> change.operation().equals("drop_table"));
        }

        boolean changesSomething()
        {
            return dropsTable() || changes.entrySet().stream().anyMatch(entry -> entry.getKey().isChangedBy(entry.getValue()));
        }
    }

    @Test
    void randomVerbsDoWhatTheModelSays()
    {
        long seed = Long.getLong("skade.test.seed", System.nanoTime());
        int steps = Integer.getInteger("skade.test.steps", STEPS);
        System.out.println("TestRandomVerbs: seed " + seed);
        random = new Random(seed);
        List<String> done = new ArrayList<>();
        List<Statement> round = new ArrayList<>();
        assertUpdate("CREATE SCHEMA " + SCHEMA);
        TABLES.keySet().forEach(name -> tables.add(createTable(name)));
        try {
            for (step = 1; step <= steps; step++) {
                if (round.isEmpty()) {
                    statements.forEach(statement -> round.addAll(nCopies(statement.weight(), statement)));
                    shuffle(round, random);
                }
                Statement statement = round.removeLast();
                Step next = nextStep(statement);
                done.add(step + ": " + next.sql());
                run(statement.kind(), next);
                if (step % STEPS_BETWEEN_FULL_COMPARISONS == 0) {
                    compareEverything();
                }
            }
            compareEverything();
            compareCounts(steps);
        }
        catch (RuntimeException | AssertionError e) {
            throw new AssertionError("seed %s, step %s: %s%nthe statements before:%n%s".formatted(
                    seed,
                    step,
                    e.getMessage(),
                    String.join("\n", done.subList(Math.max(0, done.size() - 40), done.size()))), e);
        }
    }

    /**
     * A run that hardly changes anything, or hardly refuses anything, shows nothing.
     */
    private void compareCounts(int steps)
    {
        System.out.println("TestRandomVerbs: succeeded " + succeeded + ", refused " + refused);
        assertThat(succeeded.values().stream().mapToInt(Integer::intValue).sum()).isGreaterThan(steps * 2 / 5);
        assertThat(refused.values().stream().mapToInt(Integer::intValue).sum()).isGreaterThan(steps / 5);
        if (steps >= STEPS) {
            for (Statement statement : statements) {
                assertThat(succeeded.getOrDefault(statement.kind(), 0)).as("successes of " + statement.kind()).isGreaterThanOrEqualTo(statement.weight());
                assertThat(refused.getOrDefault(statement.kind(), 0)).as("refusals of " + statement.kind()).isGreaterThanOrEqualTo(statement.weight());
            }
        }
    }

    private TableModel createTable(String name)
    {
        assertUpdate("CREATE TABLE %s.%s (id bigint, v varchar) WITH (%s)".formatted(SCHEMA, name, TABLES.get(name)));
        commits.add(ImmutableSet.of(new CommittedTable(name, "create_table")));
        return new TableModel(name, step, (long) computeScalar("SELECT snapshot_id FROM %s.\"%s$refs\"".formatted(SCHEMA, name)));
    }

    // the statements

    /**
     * The next one of its kind, with random arguments. Most of those would be refused, so they are drawn until the model says what is wanted, if it ever does.
     */
    private Step nextStep(Statement statement)
    {
        Predicate<Step> wanted = switch (random.nextInt(10)) {
            case 0 -> _ -> true;
            case 1, 2, 3 -> Step::isRefused;
            default -> Step::changesSomething;
        };
        Step result = statement.arguments().get();
        for (int i = 0; i < MAX_DRAWS && !wanted.test(result); i++) {
            result = statement.arguments().get();
        }
        return result;
    }

    private Step insert()
    {
        TableModel table = table();
        String branch = name();
        List<Row> rows = IntStream.rangeClosed(0, random.nextInt(3)).mapToObj(_ -> new Row(random.nextInt(IDS), value())).toList();
        return statement(
                "INSERT INTO %s VALUES ".formatted(at(table, branch)) + rows.stream().map(row -> "(%s, %s)".formatted(row.id(), literal(row.v()))).collect(joining(", ")),
                table,
                table.write(branch, _ -> new Edit(ImmutableList.of(), rows, rows.size()), false));
    }

    private Step delete()
    {
        TableModel table = table();
        String branch = name();
        if (random.nextInt(4) == 0) {
            return statement("DELETE FROM " + at(table, branch), table, table.write(branch, TestRandomVerbs::removed, true));
        }
        Condition condition = condition();
        return statement(
                "DELETE FROM %s WHERE %s".formatted(at(table, branch), condition.sql()),
                table,
                table.write(branch, rows -> removed(rows.stream().filter(condition.rows()).toList()), false));
    }

    private static Edit removed(List<Row> rows)
    {
        return new Edit(rows, ImmutableList.of(), rows.size());
    }

    private Step update()
    {
        TableModel table = table();
        String branch = name();
        Condition condition = condition();
        Optional<String> value = value();
        return statement(
                "UPDATE %s SET v = %s WHERE %s".formatted(at(table, branch), literal(value), condition.sql()),
                table,
                table.write(branch, rows -> {
                    List<Row> matching = rows.stream().filter(condition.rows()).toList();
                    return new Edit(matching, matching.stream().map(row -> new Row(row.id(), value)).toList(), matching.size());
                }, false));
    }

    private Step merge()
    {
        TableModel table = table();
        String branch = name();
        Map<Long, String> source = Stream.of(random.nextLong(IDS), random.nextLong(IDS)).distinct().collect(toMap(id -> id, _ -> random.nextInt(4) == 0 ? "gone" : "m" + step));
        return statement(
                """
                MERGE INTO %s t USING (VALUES %s) s(id, v) ON t.id = s.id
                WHEN MATCHED AND s.v = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)\
                """.formatted(at(table, branch), source.entrySet().stream().map(entry -> "(%s, '%s')".formatted(entry.getKey(), entry.getValue())).collect(joining(", "))),
                table,
                table.write(branch, rows -> merged(rows, source), false));
    }

    private static Edit merged(List<Row> rows, Map<Long, String> source)
    {
        List<Row> matched = rows.stream().filter(row -> source.containsKey(row.id())).toList();
        List<Row> updated = matched.stream()
                .filter(row -> !source.get(row.id()).equals("gone"))
                .map(row -> new Row(row.id(), Optional.of(source.get(row.id()))))
                .toList();
        Set<Long> present = matched.stream().map(Row::id).collect(toImmutableSet());
        List<Row> inserted = source.entrySet().stream()
                .filter(entry -> !present.contains(entry.getKey()))
                .map(entry -> new Row(entry.getKey(), Optional.of(entry.getValue())))
                .toList();
        return new Edit(matched, ImmutableList.<Row>builder().addAll(updated).addAll(inserted).build(), matched.size() + inserted.size());
    }

    private Step truncate()
    {
        TableModel table = table();
        return statement("TRUNCATE TABLE " + qualified(table), table, table.write(MAIN, TestRandomVerbs::removed, true));
    }

    private Step create(Kind kind)
    {
        TableModel table = table();
        String ref = name();
        Optional<Target> from = random.nextInt(3) == 0 ? Optional.empty() : Optional.of(target(table));
        Retention retention = random.nextInt(2) == 0 ? Retention.DEFAULT : retention(kind);
        IfExists ifExists = ifExists();
        Outcome outcome = table.create(kind, ref, from.orElse(new AtRef(MAIN)), retention, ifExists);
        String noun = kind == Kind.BRANCH ? "branch" : "tag";
        return verb("create_" + noun, true, table, outcome, new Arguments()
                .add(noun, ref)
                .add("ref", from)
                .add(retention)
                .add("if_not_exists", ifExists == IfExists.KEEP)
                .add("or_replace", ifExists == IfExists.REPLACE));
    }

    private Step createBranchStatement()
    {
        TableModel table = table();
        String branch = name();
        Optional<Target> from = random.nextBoolean() ? Optional.empty() : Optional.of(target(table));
        Retention retention = random.nextInt(2) == 0 ? Retention.DEFAULT : retention(Kind.BRANCH);
        IfExists ifExists = ifExists();
        Outcome outcome = table.create(Kind.BRANCH, branch, from.orElse(new AtRef(MAIN)), retention, ifExists);
        boolean keeps = ifExists == IfExists.KEEP && table.isBranch(branch);
        if (!keeps && from.isPresent() && from.get() instanceof AtRef(String source) && !table.isBranch(source)) {
            // the statement starts a branch from a branch only
            outcome = alsoRefused(outcome, Refusal.NOT_FOUND);
        }
        List<String> properties = new ArrayList<>();
        if (from.isPresent() && from.get() instanceof AtSnapshot(long snapshotId)) {
            properties.add("snapshot_id = " + snapshotId);
        }
        retention.maxRefAge().ifPresent(age -> properties.add("max_ref_age = '%sms'".formatted(age)));
        retention.minSnapshotsToKeep().ifPresent(count -> properties.add("min_snapshots_to_keep = " + count));
        retention.maxSnapshotAge().ifPresent(age -> properties.add("max_snapshot_age = '%sms'".formatted(age)));
        String sql = "CREATE %sBRANCH %s%s%s IN TABLE %s%s".formatted(
                ifExists == IfExists.REPLACE ? "OR REPLACE " : "",
                ifExists == IfExists.KEEP ? "IF NOT EXISTS " : "",
                quote(branch),
                properties.isEmpty() ? "" : " WITH (%s)".formatted(String.join(", ", properties)),
                qualified(table),
                from.isPresent() && from.get() instanceof AtRef(String source) ? " FROM " + quote(source) : "");
        return statement(sql, table, outcome);
    }

    private static Outcome alsoRefused(Outcome outcome, Refusal reason)
    {
        return switch (outcome) {
            case Refused(Set<Refusal> reasons) -> new Refused(Sets.union(reasons, EnumSet.of(reason)).immutableCopy());
            case Change _ -> new Refused(EnumSet.of(reason));
        };
    }

    private Step drop()
    {
        TableModel table = table();
        String ref = name();
        boolean ifExists = random.nextInt(4) == 0;
        return switch (random.nextInt(4)) {
            case 0 -> verb("drop_branch", false, table, table.drop("drop_branch", Optional.of(Kind.BRANCH), ref, ifExists), new Arguments().add("branch", ref).add("if_exists", ifExists));
            case 1 -> verb("drop_tag", false, table, table.drop("drop_tag", Optional.of(Kind.TAG), ref, ifExists), new Arguments().add("tag", ref).add("if_exists", ifExists));
            default -> verb("drop_ref", true, table, table.drop("drop_ref", Optional.empty(), ref, ifExists), new Arguments().add("ref", ref).add("if_exists", ifExists));
        };
    }

    private Step dropBranchStatement()
    {
        TableModel table = table();
        String branch = name();
        boolean ifExists = random.nextInt(4) == 0;
        // the engine takes a tag for nothing there
        Outcome outcome = ifExists && !table.isBranch(branch) ? table.unchanged("drop_branch") : table.drop("drop_branch", Optional.of(Kind.BRANCH), branch, false);
        return statement("DROP BRANCH %s%s IN TABLE %s".formatted(ifExists ? "IF EXISTS " : "", quote(branch), qualified(table)), table, outcome);
    }

    private Step rename()
    {
        TableModel table = table();
        String ref = name();
        String to = name();
        return verb("rename_ref", false, table, table.rename(ref, to), new Arguments().add("ref", ref).add("to", to));
    }

    private Step replace(Kind kind)
    {
        TableModel table = table();
        String ref = name();
        Target to = target(table);
        OptionalLong expected = expectedSnapshotId(table, ref);
        String noun = kind == Kind.BRANCH ? "branch" : "tag";
        return verb("replace_" + noun, false, table, table.replace(kind, ref, to, expected), new Arguments()
                .add(noun, ref)
                .add("ref", Optional.of(to))
                .add("expected_snapshot_id", expected));
    }

    private Step setRetention()
    {
        TableModel table = table();
        String ref = name();
        Retention retention = random.nextInt(4) == 0 ? Retention.DEFAULT : retention(random.nextBoolean() ? Kind.BRANCH : Kind.TAG);
        return verb("set_ref_retention", false, table, table.setRetention(ref, retention), new Arguments().add("ref", ref).add(retention));
    }

    private Step fastForward()
    {
        TableModel table = table();
        String branch = name();
        Target to = target(table);
        OptionalLong expected = expectedSnapshotId(table, branch);
        return verb("fast_forward", true, table, table.fastForward(branch, to, expected), new Arguments()
                .add("branch", branch)
                .add("to", Optional.of(to))
                .add("expected_snapshot_id", expected));
    }

    private Step fastForwardStatement()
    {
        TableModel table = table();
        String branch = name();
        String to = name();
        Outcome outcome = table.fastForward(branch, new AtRef(to), OptionalLong.empty());
        if (branch.equals(to)) {
            // the engine does not even look
            outcome = table.unchanged("fast_forward");
        }
        else if (!table.isBranch(to)) {
            outcome = alsoRefused(outcome, Refusal.NOT_FOUND);
        }
        return statement("ALTER BRANCH %s IN TABLE %s FAST FORWARD TO %s".formatted(quote(branch), qualified(table), quote(to)), table, outcome);
    }

    private Step publish()
    {
        TableModel table = table();
        String branch = name();
        String to = random.nextBoolean() ? MAIN : name();
        OptionalLong expected = expectedSnapshotId(table, to);
        boolean dropBranch = random.nextInt(3) == 0;
        return verb("publish_branch", true, table, table.publish(branch, to, expected, dropBranch), new Arguments()
                .add("branch", branch)
                .add("to", to)
                .add("expected_snapshot_id", expected)
                .add("drop_branch", dropBranch));
    }

    private Step rollback()
    {
        TableModel table = table();
        String branch = name();
        Target to = target(table);
        if (branch.equals(MAIN) && to instanceof AtSnapshot(long snapshotId) && random.nextBoolean()) {
            return procedure("CALL system.rollback_to_snapshot('%s', '%s', %s)".formatted(SCHEMA, table.name(), snapshotId), table, table.rollback("rollback_to_snapshot", branch, to));
        }
        return verb("rollback_to", true, table, table.rollback("rollback_to", branch, to), new Arguments().add("ref", Optional.of(to)).add("branch", branch));
    }

    private Step setCurrentSnapshot()
    {
        TableModel table = table();
        String branch = name();
        Target to = target(table);
        return verb("set_current_snapshot", true, table, table.setCurrentSnapshot(branch, to), new Arguments().add("ref", Optional.of(to)).add("branch", branch));
    }

    private Step undo()
    {
        TableModel table = table();
        return undo(table, name(), ImmutableList.of(1, 1, 1, 1, 2, 2, 3, 4, 0, 50).get(random.nextInt(10)));
    }

    private Step redo()
    {
        TableModel table = table();
        List<String> undone = NAMES.stream().filter(name -> table.redoable(name) > 0).toList();
        String ref = undone.isEmpty() || random.nextInt(4) == 0 ? name() : undone.get(random.nextInt(undone.size()));
        return undo(table, ref, -1 - random.nextInt(2));
    }

    private Step undo(TableModel table, String ref, int steps)
    {
        return verb("undo_ref", false, table, table.undo(ref, steps), new Arguments().add("ref", ref).add("steps", steps == 1 ? OptionalLong.empty() : OptionalLong.of(steps)));
    }

    private Step protect()
    {
        TableModel table = table();
        String ref = name();
        return verb("protect_ref", false, table, table.protect(ref), new Arguments().add("ref", ref));
    }

    private Step unprotect()
    {
        TableModel table = table();
        String ref = name();
        return verb("unprotect_ref", false, table, table.unprotect(ref), new Arguments().add("ref", ref));
    }

    private Step createMany(Kind kind)
    {
        String ref = name();
        String from = random.nextInt(3) == 0 ? name() : MAIN;
        String noun = kind == Kind.BRANCH ? "branch" : "tag";
        return many(
                kind == Kind.BRANCH ? "create_branches" : "create_tags",
                Optional.empty(),
                table -> table.create(kind, ref, new AtRef(from), Retention.DEFAULT, IfExists.REFUSE),
                new Arguments().add(noun, ref).add("ref", from));
    }

    private Step dropMany()
    {
        String ref = name();
        return many("drop_refs", Optional.of(ref), table -> table.drop("drop_ref", Optional.empty(), ref, false), new Arguments().add("ref", ref));
    }

    private Step publishMany()
    {
        String branch = name();
        String to = random.nextBoolean() ? MAIN : name();
        boolean dropBranch = random.nextInt(3) == 0;
        return many(
                "publish_branches",
                Optional.of(branch),
                table -> table.publish(branch, to, OptionalLong.empty(), dropBranch),
                new Arguments().add("branch", branch).add("to", to).add("drop_branch", dropBranch));
    }

    private Step rollbackMany()
    {
        String ref = name();
        String branch = name();
        return many("rollback_tables", Optional.of(ref), table -> table.rollback("rollback_to", branch, new AtRef(ref)), new Arguments().add("ref", ref).add("branch", branch));
    }

    /**
     * @param needed the ref that the tables of the statement have
     */
    private Step many(String verb, Optional<String> needed, Function<TableModel, Outcome> model, Arguments arguments)
    {
        Predicate<TableModel> hasRef = table -> needed.isEmpty() || table.refs().containsKey(needed.get());
        Set<Refusal> reasons = EnumSet.noneOf(Refusal.class);
        List<TableModel> chosen = tables.stream().filter(hasRef).toList();
        if (random.nextInt(3) > 0) {
            chosen = tables.stream().filter(_ -> random.nextInt(3) > 0).toList();
            if (chosen.isEmpty()) {
                reasons.add(Refusal.BAD_ARGUMENT);
            }
            List<String> listed = new ArrayList<>(chosen.stream().map(TableModel::name).toList());
            if (!listed.isEmpty() && random.nextInt(8) == 0) {
                reasons.add(Refusal.BAD_ARGUMENT);
                listed.add(listed.getFirst());
            }
            arguments.add("tables", listed);
        }
        if (chosen.isEmpty() || !chosen.stream().allMatch(hasRef)) {
            reasons.add(Refusal.NOT_FOUND);
        }
        Map<TableModel, Change> changes = new LinkedHashMap<>();
        for (TableModel table : chosen) {
            switch (model.apply(table)) {
                case Refused(Set<Refusal> refusals) -> reasons.addAll(refusals);
                case Change change -> changes.put(table, change);
            }
        }
        String sql = "CALL system.%s(schema_name => '%s', %s)".formatted(verb, SCHEMA, arguments.sql());
        return new Step(sql, tables, reasons.stream().map(TestRandomVerbs::codeOfProcedure).collect(toImmutableSet()), reasons.isEmpty() ? changes : ImmutableMap.of());
    }

    private Step dropTable()
    {
        TableModel table = table();
        Outcome outcome = table.protectedRefs().isEmpty() ? table.unchanged("drop_table") : new Refused(EnumSet.of(Refusal.PROTECTED));
        return statement("DROP TABLE " + qualified(table), table, outcome);
    }

    private static Step statement(String sql, TableModel table, Outcome outcome)
    {
        return switch (outcome) {
            case Refused(Set<Refusal> reasons) -> new Step(sql, ImmutableList.of(table), reasons.stream().flatMap(TestRandomVerbs::codesOfStatement).collect(toImmutableSet()), ImmutableMap.of());
            case Change change -> new Step(sql, ImmutableList.of(table), ImmutableSet.of(), ImmutableMap.of(table, change));
        };
    }

    /**
     * @param executes whether the verb is one of {@code ALTER TABLE .. EXECUTE} as well
     */
    private Step verb(String name, boolean executes, TableModel table, Outcome outcome, Arguments arguments)
    {
        String sql = executes && random.nextInt(4) == 0
                ? "ALTER TABLE %s EXECUTE %s(%s)".formatted(qualified(table), name, arguments.sql())
                : "CALL system.%s(schema_name => '%s', table_name => '%s', %s)".formatted(name, SCHEMA, table.name(), arguments.sql());
        return procedure(sql, table, outcome);
    }

    private static Step procedure(String sql, TableModel table, Outcome outcome)
    {
        return switch (outcome) {
            case Refused(Set<Refusal> reasons) -> new Step(sql, ImmutableList.of(table), reasons.stream().map(TestRandomVerbs::codeOfProcedure).collect(toImmutableSet()), ImmutableMap.of());
            case Change change -> new Step(sql, ImmutableList.of(table), ImmutableSet.of(), ImmutableMap.of(table, change));
        };
    }

    private static ErrorCodeSupplier codeOfProcedure(Refusal reason)
    {
        return switch (reason) {
            case NOT_FOUND -> SkadeErrorCode.REF_NOT_FOUND;
            case ALREADY_EXISTS -> SkadeErrorCode.REF_ALREADY_EXISTS;
            case NOT_FAST_FORWARD -> SkadeErrorCode.REF_NOT_FAST_FORWARD;
            case NOT_ANCESTOR -> SkadeErrorCode.REF_NOT_ANCESTOR;
            case PROTECTED -> SkadeErrorCode.REF_PROTECTED;
            case UNEXPECTED_SNAPSHOT -> SkadeErrorCode.REF_COMMIT_CONFLICT;
            case BAD_ARGUMENT -> StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
        };
    }

    private static Stream<ErrorCodeSupplier> codesOfStatement(Refusal reason)
    {
        return switch (reason) {
            case NOT_FOUND -> Stream.of(StandardErrorCode.BRANCH_NOT_FOUND);
            case ALREADY_EXISTS -> Stream.of(StandardErrorCode.BRANCH_ALREADY_EXISTS);
            case BAD_ARGUMENT -> Stream.of(StandardErrorCode.INVALID_BRANCH_PROPERTY, StandardErrorCode.INVALID_ARGUMENTS);
            default -> Stream.of(codeOfProcedure(reason));
        };
    }

    // their arguments

    private static final class Arguments
    {
        private final List<String> arguments = new ArrayList<>();

        Arguments add(String name, String value)
        {
            arguments.add("%s => %s".formatted(name, literal(Optional.of(value))));
            return this;
        }

        Arguments add(String name, boolean value)
        {
            if (value) {
                arguments.add(name + " => true");
            }
            return this;
        }

        Arguments add(String name, OptionalLong value)
        {
            value.ifPresent(number -> arguments.add("%s => %s".formatted(name, number)));
            return this;
        }

        Arguments add(String name, List<String> values)
        {
            arguments.add("%s => ARRAY[%s]".formatted(name, values.stream().map(value -> literal(Optional.of(value))).collect(joining(", "))));
            return this;
        }

        /**
         * @param refArgument what the argument is called if it is a ref
         */
        Arguments add(String refArgument, Optional<Target> target)
        {
            return switch (target.orElse(null)) {
                case null -> this;
                case AtRef(String ref) -> add(refArgument, ref);
                case AtSnapshot(long snapshotId) -> add("snapshot_id", OptionalLong.of(snapshotId));
            };
        }

        Arguments add(Retention retention)
        {
            retention.maxRefAge().ifPresent(age -> add("max_ref_age", age + "ms"));
            retention.minSnapshotsToKeep().ifPresent(count -> add("min_snapshots_to_keep", OptionalLong.of(count)));
            retention.maxSnapshotAge().ifPresent(age -> add("max_snapshot_age", age + "ms"));
            return this;
        }

        String sql()
        {
            return String.join(", ", arguments);
        }
    }

    private record Condition(String sql, Predicate<Row> rows) {}

    private Condition condition()
    {
        long id = random.nextInt(IDS);
        return switch (random.nextInt(4)) {
            case 0 -> new Condition("id < " + id, row -> row.id() < id);
            case 1 -> new Condition("v IS NULL", row -> row.v().isEmpty());
            case 2 -> new Condition("id %% 2 = %s".formatted(id % 2), row -> row.id() % 2 == id % 2);
            default -> new Condition("id = " + id, row -> row.id() == id);
        };
    }

    private TableModel table()
    {
        return tables.get(random.nextInt(tables.size()));
    }

    private String name()
    {
        return NAMES.get(Math.max(0, random.nextInt(NAMES.size() + 1) - 1));
    }

    private Target target(TableModel table)
    {
        if (random.nextInt(3) > 0) {
            return new AtRef(name());
        }
        List<Long> known = ImmutableList.copyOf((random.nextInt(8) > 0 ? table : table()).commits().keySet());
        return new AtSnapshot(known.get(random.nextInt(known.size())));
    }

    private OptionalLong expectedSnapshotId(TableModel table, String ref)
    {
        return switch (random.nextInt(4)) {
            case 0 -> table.snapshotId(ref);
            case 1 -> table.snapshotId(name());
            default -> OptionalLong.empty();
        };
    }

    private Retention retention(Kind kind)
    {
        Optional<Long> maxRefAge = random.nextInt(3) == 0 ? Optional.empty() : Optional.of(Duration.ofDays(1 + random.nextInt(3)).toMillis());
        if (kind == Kind.TAG) {
            return new Retention(maxRefAge, Optional.empty(), Optional.empty());
        }
        return new Retention(
                maxRefAge,
                random.nextBoolean() ? Optional.empty() : Optional.of(1L + random.nextInt(3)),
                random.nextBoolean() ? Optional.empty() : Optional.of(Duration.ofDays(1 + random.nextInt(3)).toMillis()));
    }

    private IfExists ifExists()
    {
        return IfExists.values()[random.nextInt(IfExists.values().length)];
    }

    private Optional<String> value()
    {
        return random.nextInt(5) == 0 ? Optional.empty() : Optional.of("s" + step);
    }

    private static String literal(Optional<String> value)
    {
        return value.map(text -> "'" + text.replace("'", "''") + "'").orElse("NULL");
    }

    private static String quote(String name)
    {
        return "\"" + name + "\"";
    }

    private static String qualified(TableModel table)
    {
        return SCHEMA + "." + table.name();
    }

    private String at(TableModel table, String branch)
    {
        return branch.equals(MAIN) && random.nextBoolean() ? qualified(table) : qualified(table) + "@" + quote(branch);
    }

    private static String metadataTable(TableModel table, String type)
    {
        return SCHEMA + ".\"%s$%s\"".formatted(table.name(), type);
    }

    // the comparison

    private void run(String kind, Step next)
    {
        Optional<QueryFailedException> failure = Optional.empty();
        MaterializedResult result = null;
        try {
            result = getQueryRunner().execute(next.sql());
        }
        catch (QueryFailedException e) {
            failure = Optional.of(e);
        }
        if (next.isRefused()) {
            assertThat(failure).as("refused with one of %s: %s", next.refusals(), next.sql()).isPresent();
            assertThatTrinoException(failure.get()).hasErrorCode(next.refusals().toArray(ErrorCodeSupplier[]::new));
            refused.merge(kind, 1, Integer::sum);
        }
        else {
            failure.ifPresent(e -> {
                throw e;
            });
            if (next.changesSomething()) {
                succeeded.merge(kind, 1, Integer::sum);
            }
            for (Change change : next.changes().values()) {
                if (change.rowCount().isPresent() && result.getUpdateCount().isPresent()) {
                    assertThat(result.getUpdateCount()).as(next.sql()).isEqualTo(change.rowCount());
                }
            }
        }
        if (next.dropsTable()) {
            TableModel dropped = next.changes().keySet().iterator().next();
            commits.add(ImmutableSet.of(new CommittedTable(dropped.name(), "drop_table")));
            tables.set(tables.indexOf(dropped), createTable(dropped.name()));
        }
        else {
            compareRefs(next.tables(), next.changes());
        }
    }

    /**
     * Makes the changes in the model as well, with the ids that the server gave.
     */
    private void compareRefs(List<TableModel> tables, Map<TableModel, Change> changes)
    {
        String sql = tables.stream()
                .map(table -> "SELECT '%s', name, type, snapshot_id, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms, is_protected FROM %s".formatted(table.name(), metadataTable(table, "refs")))
                .collect(joining(" UNION ALL "));
        Map<String, List<MaterializedRow>> rows = computeActual(sql).getMaterializedRows().stream().collect(groupingBy(row -> (String) row.getField(0)));
        ImmutableSet.Builder<CommittedTable> committed = ImmutableSet.builder();
        for (TableModel table : tables) {
            Map<String, Ref> refs = new HashMap<>();
            ImmutableSet.Builder<String> protectedRefs = ImmutableSet.builder();
            for (MaterializedRow row : rows.getOrDefault(table.name(), ImmutableList.of())) {
                String name = (String) row.getField(1);
                Retention retention = new Retention(Optional.ofNullable((Long) row.getField(4)), Optional.ofNullable((Integer) row.getField(5)).map(Integer::longValue), Optional.ofNullable((Long) row.getField(6)));
                refs.put(name, new Ref(Kind.valueOf((String) row.getField(2)), (long) row.getField(3), retention));
                if ((boolean) row.getField(7)) {
                    protectedRefs.add(name);
                }
            }
            Change change = changes.get(table);
            if (change != null && table.isChangedBy(change)) {
                table.apply(step, change, newSnapshotId(table, change, refs));
                committed.add(new CommittedTable(table.name(), change.operation()));
            }
            assertThat(refs).as("refs of %s", table.name()).isEqualTo(table.refs());
            assertThat(protectedRefs.build()).as("protected refs of %s", table.name()).isEqualTo(Sets.intersection(table.protectedRefs(), table.refs().keySet()));
        }
        Set<CommittedTable> commit = committed.build();
        if (!commit.isEmpty()) {
            commits.add(commit);
        }
    }

    private static OptionalLong newSnapshotId(TableModel table, Change change, Map<String, Ref> refs)
    {
        if (change.added().isEmpty()) {
            return OptionalLong.empty();
        }
        String name = change.refs().entrySet().stream()
                .filter(entry -> entry.getValue().snapshotId() == TableModel.NEW_SNAPSHOT)
                .map(Map.Entry::getKey)
                .findFirst().orElseThrow();
        assertThat(refs).as("refs of %s", table.name()).containsKey(name);
        assertThat(table.commits()).as("%s of %s is at a new snapshot", name, table.name()).doesNotContainKey(refs.get(name).snapshotId());
        return OptionalLong.of(refs.get(name).snapshotId());
    }

    private void compareEverything()
    {
        compareRefs(tables, ImmutableMap.of());
        for (TableModel table : tables) {
            compareRows(table);
            compareSnapshots(table);
            compareLog(table);
        }
        List<Set<CommittedTable>> logged = new ArrayList<>();
        computeActual("SELECT log_id, table_name, operation FROM system.commit_log WHERE table_schema = '%s'".formatted(SCHEMA)).getMaterializedRows().stream()
                .collect(groupingBy(row -> (Long) row.getField(0), TreeMap::new, mapping(row -> new CommittedTable((String) row.getField(1), (String) row.getField(2)), toImmutableSet())))
                .forEach((_, commit) -> logged.add(commit));
        assertThat(logged).as("commit log").isEqualTo(commits);
        assertThat(computeActual("SELECT table_name, name, type, snapshot_id FROM system.refs WHERE table_schema = '%s'".formatted(SCHEMA)).getMaterializedRows().stream()
                .map(MaterializedRow::getFields))
                .as("refs of all tables")
                .containsExactlyInAnyOrderElementsOf(tables.stream()
                        .flatMap(table -> table.refs().entrySet().stream()
                                .map(entry -> List.<Object>of(table.name(), entry.getKey(), entry.getValue().kind().name(), entry.getValue().snapshotId())))
                        .toList());
    }

    /**
     * At all refs, and at two snapshots that need not be at any ref.
     */
    private void compareRows(TableModel table)
    {
        Map<String, List<Row>> expected = new LinkedHashMap<>();
        expected.put("", table.rows(MAIN));
        table.refs().keySet().forEach(ref -> expected.put(" FOR VERSION AS OF " + literal(Optional.of(ref)), table.rows(ref)));
        List<Long> snapshots = ImmutableList.copyOf(table.commits().keySet());
        for (int i = 0; i < 2; i++) {
            long snapshotId = snapshots.get(random.nextInt(snapshots.size()));
            expected.put(" FOR VERSION AS OF " + snapshotId, table.commits().get(snapshotId).rows());
        }
        Map<String, Multiset<Row>> actual = new HashMap<>();
        expected.keySet().forEach(version -> actual.put(version, HashMultiset.create()));
        computeActual(expected.keySet().stream()
                .map(version -> "SELECT %s, id, v FROM %s%s".formatted(literal(Optional.of(version)), qualified(table), version))
                .collect(joining(" UNION ALL ")))
                .forEach(row -> actual.get(row.getField(0)).add(new Row((long) row.getField(1), Optional.ofNullable((String) row.getField(2)))));
        expected.forEach((version, rows) -> assertThat(actual.get(version)).as(table.name() + version).isEqualTo(HashMultiset.create(rows)));
    }

    private void compareSnapshots(TableModel table)
    {
        Map<Long, OptionalLong> parents = new HashMap<>();
        computeActual("SELECT snapshot_id, parent_id FROM " + metadataTable(table, "snapshots"))
                .forEach(row -> parents.put((Long) row.getField(0), optional(row.getField(1))));
        Map<Long, OptionalLong> expected = new HashMap<>();
        table.commits().forEach((snapshotId, commit) -> expected.put(snapshotId, commit.parent()));
        assertThat(parents).as("snapshots of %s and their parents", table.name()).isEqualTo(expected);
    }

    private void compareLog(TableModel table)
    {
        List<Set<LogRow>> logged = new ArrayList<>();
        computeActual("SELECT log_id, ref, type, operation, old_snapshot_id, new_snapshot_id FROM " + metadataTable(table, "ref_log")).getMaterializedRows().stream()
                .collect(groupingBy(row -> (Long) row.getField(0), TreeMap::new, mapping(row -> new LogRow(
                        0,
                        (String) row.getField(1),
                        Kind.valueOf((String) row.getField(2)),
                        (String) row.getField(3),
                        optional(row.getField(4)),
                        optional(row.getField(5))), toImmutableSet())))
                .forEach((_, rows) -> logged.add(rows));
        List<Set<LogRow>> expected = new ArrayList<>();
        table.log().stream()
                .collect(groupingBy(LogRow::step, TreeMap::new, mapping(row -> new LogRow(0, row.ref(), row.type(), row.operation(), row.oldSnapshotId(), row.newSnapshotId()), toImmutableSet())))
                .forEach((_, rows) -> expected.add(rows));
        assertThat(logged).as("log of %s", table.name()).isEqualTo(expected);
    }

    private static OptionalLong optional(Object value)
    {
        return value == null ? OptionalLong.empty() : OptionalLong.of((long) value);
    }
}
