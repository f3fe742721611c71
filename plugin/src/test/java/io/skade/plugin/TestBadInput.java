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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import io.skade.procedure.RefProcedures;
import io.skade.procedure.TableLoader;
import io.skade.ref.RefUpdate;
import io.skade.ref.TableMove;
import io.skade.store.CatalogState;
import io.trino.client.ErrorInfo;
import io.trino.client.FailureException;
import io.trino.spi.ErrorCode;
import io.trino.spi.ErrorType;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.QueryFailedException;
import io.trino.testing.QueryRunner;
import org.apache.iceberg.catalog.TableIdentifier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

import static java.util.Locale.ENGLISH;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Statements that nobody should write. Each is done, or refused with an error of the right kind and without any change; nothing is an internal error.
 *
 * <p>{@code -Dskade.test.seed=..} repeats a run.
 */
@Execution(ExecutionMode.SAME_THREAD)
class TestBadInput
        extends AbstractTestQueryFramework
{
    private static final int REFUSALS = 1_000;
    private static final int DAMAGED_FILES = 200;

    private static final List<String> BAD_TEXTS = ImmutableList.of(
            "",
            " ",
            "  dev",
            "dev ",
            "nobody",
            "DEV",
            "MAIN",
            "x".repeat(256),
            "x".repeat(100_000),
            "a\nb",
            "a\u0000b",
            "\u001e",
            "t\u001eb646576",
            "\u007f",
            "'",
            "''",
            "\"",
            ";--",
            "../../etc/passwd",
            "/",
            "\\",
            ".",
            "..",
            "t@dev",
            "t@",
            "@dev",
            "t$refs",
            "$refs",
            "t@dev$files",
            "a.b.c",
            "%s",
            "{}",
            "${x}",
            "null",
            "NULL",
            "true",
            "-1",
            "0",
            "1e9",
            "NaN",
            "9223372036854775808",
            "\ud83d\ude00",
            "\u202e",
            "\ufeff",
            "7",
            "7 days",
            "-7d",
            "0d",
            "1ns",
            "99999999999999999999d",
            "2026-01-01",
            "2026-13-45 99:00:00 UTC",
            "2026-01-01 00:00:00",
            "1970-01-01 00:00:00 UTC",
            "9999-12-31 00:00:00 UTC",
            "fast_forward",
            "rebase",
            "REBASE",
            "information_schema",
            "system",
            "file:///etc/passwd",
            "s3://bucket/x",
            "local:///../..",
            "local:///nowhere");
    private static final List<String> BAD_NUMBERS = ImmutableList.of("0", "1", "-1", "BIGINT '-9223372036854775808'", "9223372036854775807", "2147483648", "NULL");
    private static final Map<String, List<String>> GOOD = Map.of(
            "schema_name", List.of("fuzz"),
            "schema", List.of("fuzz"),
            "table_name", List.of("t", "u"),
            "table", List.of("t"),
            "branch", List.of("dev", "main"),
            "tag", List.of("v1"),
            "ref", List.of("dev", "main", "v1"),
            "to", List.of("dev", "main"),
            "max_ref_age", List.of("1d"),
            "mode", List.of("rebase"));

    private final long seed = Long.getLong("skade.test.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final List<String> wrong = new ArrayList<>();
    private Path data;

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        DistributedQueryRunner queryRunner = SkadeQueryRunner.builder()
                .addCatalogProperty("iceberg.register-table-procedure.enabled", "true")
                .setWorkerCount(0)
                .build();
        data = queryRunner.getCoordinator().getBaseDataDir().resolve("skade");
        return queryRunner;
    }

    @BeforeAll
    void createTables()
    {
        assertUpdate("CREATE SCHEMA fuzz");
        for (String table : List.of("t", "u")) {
            assertUpdate("CREATE TABLE fuzz.%s (id bigint, v varchar) WITH (partitioning = ARRAY['id'])".formatted(table));
            assertUpdate("INSERT INTO fuzz.%s VALUES (1, 'a'), (2, 'b')".formatted(table), 2);
            assertUpdate("CREATE BRANCH dev IN TABLE fuzz.%s".formatted(table));
            assertUpdate("INSERT INTO fuzz.%s@dev VALUES (3, 'c')".formatted(table), 1);
            assertUpdate("CALL system.create_tag('fuzz', '%s', 'v1')".formatted(table));
        }
    }

    @Test
    void statementsAreDoneOrRefused()
    {
        List<Procedure> procedures = RefProcedures.all(new NoTables()).stream()
                .sorted(Comparator.comparing(Procedure::getName))
                .toList();
        Map<String, Integer> codes = new TreeMap<>();
        int refusals = 0;
        List<?> state = state();
        for (int step = 0; refusals < REFUSALS; step++) {
            assertThat(step).as("statements of seed %s", seed).isLessThan(10 * REFUSALS);
            String sql = random.nextInt(4) == 0 ? statement() : call(procedures.get(random.nextInt(procedures.size())));
            Optional<ErrorCode> code = run(sql);
            List<?> after = state();
            if (code.isPresent()) {
                refusals++;
                codes.merge(code.get().getName(), 1, Integer::sum);
                assertThat(after).as("seed %s: state after %s", seed, shortened(sql)).isEqualTo(state);
            }
            else if (!after.equals(state)) {
                restore();
                state = state();
            }
        }
        assertThat(wrong).as("seed %s", seed).isEmpty();
        assertThat(codes).as("seed %s", seed).containsKeys("INVALID_PROCEDURE_ARGUMENT", "REF_NOT_FOUND", "TABLE_NOT_FOUND");
    }

    /**
     * What a good guess changed is made as it was, so that later guesses have something to be about.
     */
    private void restore()
    {
        computeActual("SELECT DISTINCT table_name, name FROM system.refs WHERE table_schema = 'fuzz' AND name <> 'main'").getMaterializedRows().forEach(row -> {
            run("CALL system.unprotect_ref('fuzz', '%s', '%s')".formatted(row.getField(0), quoted((String) row.getField(1))));
            run("CALL system.drop_ref('fuzz', '%s', '%s')".formatted(row.getField(0), quoted((String) row.getField(1))));
        });
        for (String table : List.of("t", "u")) {
            run("CALL system.unprotect_ref('fuzz', '%s', 'main')".formatted(table));
            run("CREATE BRANCH dev IN TABLE fuzz.%s".formatted(table));
            run("INSERT INTO fuzz.%s@dev VALUES (3, 'c')".formatted(table));
            run("CALL system.create_tag('fuzz', '%s', 'v1')".formatted(table));
        }
    }

    private List<?> state()
    {
        return computeActual(
                """
                SELECT table_name, name, type, snapshot_id FROM system.refs WHERE table_schema = 'fuzz'
                UNION ALL SELECT 'last commit', '', '', max(log_id) FROM system.commit_log
                """).getMaterializedRows().stream()
                .map(Object::toString)
                .sorted()
                .toList();
    }

    private String statement()
    {
        String name = text();
        return switch (random.nextInt(18)) {
            case 0 -> "CREATE BRANCH %s IN TABLE fuzz.t FROM %s".formatted(identifier(name), identifier(text()));
            case 1 -> "DROP BRANCH %s IN TABLE fuzz.t".formatted(identifier(name));
            case 2 -> "ALTER BRANCH %s IN TABLE fuzz.t FAST FORWARD TO %s".formatted(identifier(name), identifier(text()));
            case 3 -> "INSERT INTO fuzz.t@%s VALUES (1, 'x')".formatted(identifier(name));
            case 4 -> "DELETE FROM fuzz.t@%s WHERE id = 1".formatted(identifier(name));
            case 5 -> "SELECT * FROM fuzz.t FOR VERSION AS OF '%s'".formatted(quoted(name));
            case 6 -> "SELECT * FROM fuzz.%s".formatted(identifier("t@" + name));
            case 7 -> "SELECT * FROM fuzz.%s".formatted(identifier("t@" + name + "$files"));
            case 8 -> "SELECT * FROM fuzz.%s".formatted(identifier(name));
            case 9 -> "SELECT * FROM TABLE(system.ref_diff('fuzz', 't', '%s', '%s'))".formatted(quoted(name), quoted(text()));
            case 10 -> "SELECT * FROM TABLE(system.ancestors_of('fuzz', '%s', '%s'))".formatted(quoted(text()), quoted(name));
            case 11 -> "SELECT * FROM TABLE(system.publish_preview(schema_name => 'fuzz', branch => '%s', tables => ARRAY['%s']))".formatted(quoted(name), quoted(text()));
            case 12 -> "CREATE BRANCH odd WITH (max_ref_age = '%s', snapshot_id = %s) IN TABLE fuzz.t".formatted(quoted(name), BAD_NUMBERS.get(random.nextInt(BAD_NUMBERS.size())));
            case 13 -> "CREATE TABLE %s.%s (n int) WITH (location = '%s')".formatted(identifier(text()), identifier("t@" + name), quoted(text()));
            case 14 -> "SELECT * FROM %s.t".formatted(identifier(name));
            case 15 -> "SHOW TABLES FROM %s".formatted(identifier(name));
            case 16 -> "DROP SCHEMA %s".formatted(identifier(name + "/"));
            default -> "CALL system.register_table('fuzz', '%s', '%s')".formatted(quoted(text()), quoted(name));
        };
    }

    private String call(Procedure procedure)
    {
        List<String> arguments = new ArrayList<>();
        for (Argument argument : procedure.getArguments()) {
            String name = argument.getName().toLowerCase(ENGLISH);
            if (argument.isRequired() ? random.nextInt(20) > 0 : random.nextInt(3) == 0) {
                arguments.add("%s => %s".formatted(name, value(name, argument.getType().toString())));
            }
        }
        if (random.nextInt(50) == 0) {
            arguments.add("surprise => 1");
        }
        return "CALL system.%s(%s)".formatted(procedure.getName(), String.join(", ", arguments));
    }

    private String value(String name, String type)
    {
        return switch (type) {
            case "varchar" -> GOOD.containsKey(name) && random.nextInt(3) > 0
                    ? "'" + GOOD.get(name).get(random.nextInt(GOOD.get(name).size())) + "'"
                    : random.nextInt(10) == 0 ? "NULL" : "'" + quoted(text()) + "'";
            case "bigint" -> BAD_NUMBERS.get(random.nextInt(BAD_NUMBERS.size()));
            case "boolean" -> List.of("true", "false", "NULL").get(random.nextInt(3));
            case "array(varchar)" -> random.ints(random.nextInt(4), 0, 3)
                    .mapToObj(kind -> kind == 0 ? "NULL" : "'%s'".formatted(kind == 1 ? "t" : quoted(text())))
                    .collect(joining(", ", "ARRAY[", "]"));
            default -> throw new AssertionError(type);
        };
    }

    private String text()
    {
        return BAD_TEXTS.get(random.nextInt(BAD_TEXTS.size()));
    }

    private static String quoted(String text)
    {
        return text.replace("'", "''");
    }

    private static String identifier(String text)
    {
        return '"' + text.replace("\"", "\"\"") + '"';
    }

    private static String shortened(String sql)
    {
        return sql.length() > 500 ? sql.substring(0, 500) + ".." : sql;
    }

    /**
     * The code of the error, if the statement was refused.
     */
    private Optional<ErrorCode> run(String sql)
    {
        try {
            getQueryRunner().execute(sql);
            return Optional.empty();
        }
        catch (QueryFailedException e) {
            ErrorInfo error = ((FailureException) e.getCause()).getFailureInfo().getErrorInfo();
            ErrorCode code = new ErrorCode(error.getCode(), error.getName(), ErrorType.valueOf(error.getType()));
            if (!isOfTheRightKind(code) || e.getMessage().isBlank()) {
                wrong.add("%s is %s: %s".formatted(shortened(sql), code, shortened(e.getMessage())));
            }
            return Optional.of(code);
        }
    }

    private static boolean isOfTheRightKind(ErrorCode code)
    {
        Set<String> external = ImmutableSet.of("REF_COMMIT_CONFLICT", "ICEBERG_INVALID_METADATA", "ICEBERG_FILESYSTEM_ERROR", "ICEBERG_MISSING_METADATA");
        return code.getType() == ErrorType.USER_ERROR || external.contains(code.getName());
    }

    /**
     * A metadata file with some bytes damaged is registered as what it says, or refused.
     */
    @Test
    void damagedMetadataFilesAreRefused()
            throws IOException
    {
        String location = (String) computeScalar("SELECT file FROM fuzz.\"u$metadata_log_entries\" ORDER BY timestamp DESC, file DESC LIMIT 1");
        byte[] content = Files.readAllBytes(data.resolve(location.substring("local:///".length())));
        int refused = 0;
        for (int round = 0; round < DAMAGED_FILES; round++) {
            Path folder = Files.createDirectories(data.resolve("damaged-%s/metadata".formatted(round)));
            Files.write(folder.resolve("00000-damaged.metadata.json"), damaged(content));
            List<?> before = state();
            if (run("CALL system.register_table('fuzz', 'damaged', 'local:///damaged-%s')".formatted(round)).isPresent()) {
                refused++;
                assertThat(state()).as("seed %s, round %s", seed, round).isEqualTo(before);
            }
            else {
                // of what was taken, a statement may complain, but clearly
                run("SELECT * FROM fuzz.damaged");
                run("SELECT * FROM fuzz.\"damaged$refs\"");
                run("CALL system.create_tag('fuzz', 'damaged', 'g')");
                assertUpdate("CALL system.unregister_table('fuzz', 'damaged')");
            }
        }
        assertThat(wrong).as("seed %s", seed).isEmpty();
        assertThat(refused).as("seed %s", seed).isGreaterThan(DAMAGED_FILES / 2);
        assertQuery("SELECT count(*) FROM fuzz.u", "VALUES 2");
    }

    private byte[] damaged(byte[] content)
    {
        byte[] result = content.clone();
        int at = random.nextInt(content.length);
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(result, at);
            case 1 -> {
                result[at] = (byte) random.nextInt(256);
                yield result;
            }
            case 2 -> {
                Arrays.fill(result, at, Math.min(content.length, at + 1 + random.nextInt(100)), (byte) 0);
                yield result;
            }
            default -> {
                // a part is gone
                int end = Math.min(content.length, at + 1 + random.nextInt(50));
                byte[] shorter = Arrays.copyOf(result, content.length - (end - at));
                System.arraycopy(content, end, shorter, at, content.length - end);
                yield shorter;
            }
        };
    }

    private static final class NoTables
            implements TableLoader
    {
        @Override
        public List<TableMove> commit(ConnectorSession session, Map<TableIdentifier, RefUpdate> updates)
        {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<TableMove> dryRun(ConnectorSession session, Map<TableIdentifier, RefUpdate> updates)
        {
            throw new UnsupportedOperationException();
        }

        @Override
        public CatalogState state()
        {
            throw new UnsupportedOperationException();
        }
    }
}
