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

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static io.skade.product.Sql.queryLong;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * Who may change which ref, and what users see of one: with {@link BranchRules} as the server's access control, and with the rules of a catalog's file.
 */
@TestInstance(PER_CLASS)
final class TestAccessControl
{
    /**
     * Every change of a ref there is, with the rights that it takes.
     */
    private static final List<Change> CHANGES = List.of(
            call("create_branch", "branch => 'new'", "INSERT t@new"),
            call("create_branch", "branch => 'new', if_not_exists => true", "INSERT t@new"),
            call("create_branch", "branch => 'dev', or_replace => true", "INSERT t@dev", "DELETE t@dev"),
            call("create_tag", "tag => 'new'", "INSERT t@new"),
            call("create_tag", "tag => 'tag', ref => 'dev', or_replace => true", "INSERT t@tag", "DELETE t@tag"),
            call("drop_ref", "ref => 'dev'", "INSERT t@dev", "DELETE t@dev"),
            call("drop_branch", "branch => 'dev'", "INSERT t@dev", "DELETE t@dev"),
            call("drop_tag", "tag => 'tag'", "INSERT t@tag", "DELETE t@tag"),
            call("rename_ref", "ref => 'dev', to => 'new'", "INSERT t@dev", "DELETE t@dev", "INSERT t@new", "DELETE t@new"),
            call("replace_branch", "branch => 'dev', ref => 'tag'", "INSERT t@dev", "DELETE t@dev"),
            call("replace_tag", "tag => 'tag', ref => 'dev'", "INSERT t@tag", "DELETE t@tag"),
            call("set_ref_retention", "ref => 'dev', max_ref_age => '7d'", "INSERT t@dev", "DELETE t@dev"),
            call("fast_forward", "branch => 'main', to => 'dev'", "INSERT t@main", "DELETE t@main"),
            call("publish_branch", "branch => 'dev'", "INSERT t@main", "DELETE t@main"),
            call("publish_branch", "branch => 'dev', drop_branch => true", "INSERT t@main", "DELETE t@main", "INSERT t@dev", "DELETE t@dev"),
            call("publish_branch", "branch => 'dev', mode => 'rebase'", "INSERT t@main", "DELETE t@main", "INSERT t@dev", "DELETE t@dev"),
            call("publish_branch", "branch => 'main', to => 'old'", "INSERT t@old", "DELETE t@old")
                    .after("CALL {catalog}.system.create_branch('{schema}', 't', 'old', 'tag')"),
            call("rollback_to", "snapshot_id => {first}", "INSERT t@main", "DELETE t@main"),
            call("rollback_to", "ref => 'tag', branch => 'dev'", "INSERT t@dev", "DELETE t@dev"),
            call("set_current_snapshot", "ref => 'dev'", "INSERT t@main", "DELETE t@main"),
            call("set_current_snapshot", "snapshot_id => {first}, branch => 'dev'", "INSERT t@dev", "DELETE t@dev"),
            call("cherrypick_snapshot", "snapshot_id => {dev}", "INSERT t@main", "DELETE t@main"),
            call("cherrypick_snapshot", "snapshot_id => {main}, branch => 'old'", "INSERT t@old", "DELETE t@old")
                    .after("CALL {catalog}.system.create_branch('{schema}', 't', 'old', 'tag')"),
            call("protect_ref", "ref => 'dev'", "INSERT t@dev", "DELETE t@dev"),
            call("unprotect_ref", "ref => 'dev'", "INSERT t@dev", "DELETE t@dev")
                    .after("CALL {catalog}.system.protect_ref('{schema}', 't', 'dev')"),
            call("undo_ref", "ref => 'dev'", "INSERT t@dev", "DELETE t@dev"),
            call("undo_ref", "ref => 'dev'", "INSERT t@dev", "DELETE t@dev")
                    .after("DROP BRANCH dev IN TABLE {catalog}.{schema}.t"),
            call("expire_refs", "dry_run => false", "INSERT t@dev", "DELETE t@dev", "INSERT t@tag", "DELETE t@tag")
                    .after("CALL {catalog}.system.set_ref_retention('{schema}', 't', 'dev', '1ms')")
                    .after("CALL {catalog}.system.set_ref_retention('{schema}', 't', 'tag', '1ms')"),
            change("CALL {catalog}.system.rollback_to_snapshot('{schema}', 't', {first})", "INSERT t@main", "DELETE t@main"),

            change("CALL {catalog}.system.create_branches('{schema}', 'new')", "INSERT t@new", "INSERT u@new"),
            change("CALL {catalog}.system.create_tags('{schema}', 'new', 'dev', ARRAY['u'])", "INSERT u@new"),
            change("CALL {catalog}.system.drop_refs('{schema}', 'dev')", "INSERT t@dev", "DELETE t@dev", "INSERT u@dev", "DELETE u@dev"),
            change("CALL {catalog}.system.publish_branches('{schema}', 'dev')", "INSERT t@main", "DELETE t@main", "INSERT u@main", "DELETE u@main"),
            change("CALL {catalog}.system.publish_branches(schema_name => '{schema}', branch => 'dev', drop_branch => true, tables => ARRAY['t'])", "INSERT t@main", "DELETE t@main", "INSERT t@dev", "DELETE t@dev"),
            change("CALL {catalog}.system.rollback_tables('{schema}', 'tag')", "INSERT t@main", "DELETE t@main", "INSERT u@main", "DELETE u@main"),
            change("CALL {catalog}.system.rollback_tables('{schema}', 'tag', 'dev', ARRAY['u'])", "INSERT u@dev", "DELETE u@dev"),

            execution("create_branch(branch => 'new')", "INSERT t@new"),
            execution("create_branch(branch => 'dev', or_replace => true)", "INSERT t@dev", "DELETE t@dev"),
            execution("create_tag(tag => 'new')", "INSERT t@new"),
            execution("drop_ref(ref => 'dev')", "INSERT t@dev", "DELETE t@dev"),
            execution("fast_forward(branch => 'main', to => 'dev')", "INSERT t@main", "DELETE t@main"),
            execution("publish_branch(branch => 'dev')", "INSERT t@main", "DELETE t@main"),
            execution("publish_branch(branch => 'dev', drop_branch => true)", "INSERT t@main", "DELETE t@main", "INSERT t@dev", "DELETE t@dev"),
            execution("rollback_to(ref => 'tag', branch => 'dev')", "INSERT t@dev", "DELETE t@dev"),
            execution("rollback_to_snapshot(snapshot_id => {first})", "INSERT t@main", "DELETE t@main"),
            execution("set_current_snapshot(ref => 'dev')", "INSERT t@main", "DELETE t@main"),
            execution("cherrypick_snapshot(snapshot_id => {dev})", "INSERT t@main", "DELETE t@main"),

            change("CREATE BRANCH new IN TABLE {catalog}.{schema}.t", "CREATE t@new"),
            change("CREATE OR REPLACE BRANCH dev IN TABLE {catalog}.{schema}.t", "CREATE t@dev"),
            change("DROP BRANCH dev IN TABLE {catalog}.{schema}.t", "DROP t@dev"),
            change("ALTER BRANCH main IN TABLE {catalog}.{schema}.t FAST FORWARD TO dev", "FAST_FORWARD t@main"),

            change("INSERT INTO {catalog}.{schema}.t@dev VALUES 4", "INSERT t@dev"),
            change("INSERT INTO {catalog}.{schema}.t@main VALUES 4", "INSERT t@main"),
            change("INSERT INTO {catalog}.{schema}.t VALUES 4", "INSERT t@main"),
            change("UPDATE {catalog}.{schema}.t@dev SET n = 5 WHERE n = 3", "UPDATE t@dev"),
            change("UPDATE {catalog}.{schema}.t SET n = 5", "UPDATE t@main"),
            change("DELETE FROM {catalog}.{schema}.t@dev WHERE n = 3", "DELETE t@dev"),
            change("DELETE FROM {catalog}.{schema}.t@dev", "DELETE t@dev"),
            change("DELETE FROM {catalog}.{schema}.t", "DELETE t@main"),
            change("TRUNCATE TABLE {catalog}.{schema}.t", "TRUNCATE t@main"),
            change(
                    """
                    MERGE INTO {catalog}.{schema}.t@dev AS t USING (VALUES 1, 3, 6) AS v(n) ON t.n = v.n
                    WHEN MATCHED AND v.n = 1 THEN DELETE
                    WHEN MATCHED THEN UPDATE SET n = 5
                    WHEN NOT MATCHED THEN INSERT VALUES (v.n)
                    """,
                    "INSERT t@dev",
                    "UPDATE t@dev",
                    "DELETE t@dev"));

    private SkadeServer server;

    @BeforeAll
    void startServer()
            throws IOException, InterruptedException
    {
        SkadeServer.Builder builder = SkadeServer.builder("access-control")
                .branchRule("only.alice", "INSERT t@dev, DELETE t@dev, UPDATE t@dev, CREATE t@dev, DROP t@dev")
                .branchRule("only.bob", "INSERT t@main, DELETE t@main, UPDATE t@main, FAST_FORWARD t@main")
                .branchRule("but.carol", "SELECT t@dev")
                .branchRule("filter.veiled_by_server.t", "region = 'east'")
                .branchRule("mask.veiled_by_server.t.secret", "CAST(-1 AS bigint)")
                .branchRule("filter.eastern_by_server.t", "region = 'east'");
        for (Change change : CHANGES) {
            builder.branchRule("only." + holderOf(change.rights()), String.join(", ", change.rights()));
            change.rights().forEach(right -> builder.branchRule("but." + holderOfAllBut(right), right));
        }
        addCatalog(builder, "filed", Map.of("iceberg.security", "file", "security.config-file", Path.of("target/test-classes/access-rules.json").toAbsolutePath().toString()));
        addCatalog(builder, "frozen", Map.of("iceberg.security", "read_only"));
        addCatalog(builder, "governed", Map.of("iceberg.security", "system"));
        addCatalog(builder, "tagged", Map.of("skade.read-ref", "tag"));
        server = builder.start();
    }

    private static void addCatalog(SkadeServer.Builder builder, String catalog, Map<String, String> properties)
    {
        builder.catalog(catalog, "connector.name", "skade")
                .catalog(catalog, "skade.store.path", "${ENV:SKADE_DATA}/store")
                .catalog(catalog, "skade.warehouse", "file://${ENV:SKADE_DATA}/warehouse")
                .catalog(catalog, "fs.local.enabled", "true")
                .catalog(catalog, "local.location", "/");
        properties.forEach((key, value) -> builder.catalog(catalog, key, value));
    }

    @AfterAll
    void stopServer()
            throws IOException, InterruptedException
    {
        if (server != null) {
            server.close();
        }
    }

    /**
     * Each of the rights is needed, and all of them are enough; in a catalog that is read-only, or bound to a ref, nobody may.
     */
    @TestFactory
    Stream<DynamicTest> testBranchRules()
    {
        return changes("rules", (schema, admin, change) -> {
            String sql = change.sql(admin, "lake", schema);
            List<String> before = state(admin, schema);

            assertDenied(admin, change.sql(admin, "frozen", schema));
            String atTag = change.sql(admin, "tagged", schema);
            assertThatThrownBy(() -> execute(admin, atTag)).hasMessageMatching("(?s).*(Access Denied|Catalog tagged reads every table at tag).*");
            assertThat(state(admin, schema)).isEqualTo(before);

            for (String right : change.rights()) {
                assertThatThrownBy(() -> execute(connect(holderOfAllBut(right), "lake", schema), sql))
                        .hasMessageContaining("Access Denied")
                        .hasMessageContaining("may not " + right);
                assertThat(state(admin, schema)).isEqualTo(before);
            }
            execute(connect(holderOf(change.rights()), "lake", schema), sql);
            assertThat(state(admin, schema)).isNotEqualTo(before);
        });
    }

    /**
     * A catalog's file knows users and tables, but no branches: a right on a table is one on all its branches. The branch statements take ownership.
     */
    @TestFactory
    Stream<DynamicTest> testFileRules()
    {
        Map<String, Set<String>> users = Map.of(
                "reader", Set.of(),
                "inserter", Set.of("INSERT"),
                "writer", Set.of("INSERT", "DELETE", "UPDATE", "TRUNCATE"),
                "owner", Set.of("INSERT", "DELETE", "UPDATE", "TRUNCATE", "CREATE", "DROP", "FAST_FORWARD"));
        return changes("filed", (schema, admin, change) -> {
            String sql = change.sql(admin, "filed", schema);
            List<String> before = state(admin, schema);
            for (String user : List.of("reader", "inserter", "writer", "owner")) {
                Connection connection = connect(user, "filed", schema);
                if (change.rights().stream().allMatch(right -> users.get(user).contains(right.substring(0, right.indexOf(' '))))) {
                    execute(connection, sql);
                    assertThat(state(admin, schema)).isNotEqualTo(before);
                    return;
                }
                assertThatThrownBy(() -> execute(connection, sql)).as(user).hasMessageContaining("Access Denied");
                assertThat(state(admin, schema)).isEqualTo(before);
            }
            throw new AssertionError("The owner may do everything");
        });
    }

    @Test
    void testTwoUsersWithABranchEach()
            throws SQLException
    {
        Connection admin = createTables("two");
        Connection alice = connect("alice", "lake", "two");
        Connection bob = connect("bob", "lake", "two");

        execute(alice, "INSERT INTO t@dev VALUES 4");
        execute(alice, "DELETE FROM t@dev WHERE n = 1");
        assertDenied(alice, "INSERT INTO t VALUES 4");
        assertDenied(alice, "CALL system.publish_branch('two', 't', 'dev')");
        assertDenied(alice, "ALTER BRANCH main IN TABLE t FAST FORWARD TO dev");
        assertThat(query(admin, "SELECT n FROM t ORDER BY n")).containsExactly("1", "2");

        assertDenied(bob, "INSERT INTO t@dev VALUES 5");
        assertDenied(bob, "DROP BRANCH dev IN TABLE t");
        assertDenied(bob, "CALL system.publish_branch(schema_name => 'two', table_name => 't', branch => 'dev', drop_branch => true)");
        assertThat(query(admin, "SELECT n FROM t FOR VERSION AS OF 'dev' ORDER BY n")).containsExactly("2", "3", "4");
        execute(bob, "ALTER BRANCH main IN TABLE t FAST FORWARD TO dev");
        assertThat(query(bob, "SELECT n FROM t ORDER BY n")).containsExactly("2", "3", "4");
        execute(alice, "DROP BRANCH dev IN TABLE t");
        assertThat(query(admin, "SHOW BRANCHES IN TABLE t")).containsExactly("main");
    }

    /**
     * There is no snapshot staged under the id: who lacks a right is not told.
     */
    @Test
    void testPublishChanges()
            throws SQLException
    {
        createTables("staged");
        for (String right : List.of("INSERT t@main", "DELETE t@main")) {
            assertDenied(connect(holderOfAllBut(right), "lake", "staged"), "CALL system.publish_changes('staged', 't', 'w')");
        }
        assertThatThrownBy(() -> execute(connect("bob", "lake", "staged"), "CALL system.publish_changes('staged', 't', 'w')")).hasMessageContaining("no snapshots are staged with wap_id w");
    }

    /**
     * Who may change nothing is told so, also when nothing is to be done.
     */
    @Test
    void testNothingToExpire()
            throws SQLException
    {
        createTables("fresh");
        assertDenied(connect("alice", "lake", "fresh"), "CALL system.expire_refs('fresh', 't')");
        assertDenied(connect("alice", "lake", "fresh"), "CALL system.expire_refs('fresh', 't', true)");
        execute(connect("bob", "lake", "fresh"), "CALL system.expire_refs('fresh', 't')");
    }

    @Test
    void testGrantsOnBranchesAreNotSupported()
            throws SQLException
    {
        Connection admin = createTables("granted");
        for (String statement : List.of(
                "GRANT INSERT ON BRANCH dev IN %s TO USER alice",
                "GRANT SELECT, DELETE ON BRANCH dev IN TABLE %s TO ROLE PUBLIC WITH GRANT OPTION",
                "REVOKE INSERT ON BRANCH dev IN TABLE %s FROM USER alice",
                "DENY INSERT ON BRANCH dev IN TABLE %s TO USER alice")) {
            assertThatThrownBy(() -> execute(admin, statement.formatted("lake.granted.t"))).hasMessageMatching(".*This connector does not support (grants|revokes|denys) on branches in tables");
            assertThatThrownBy(() -> execute(connect("owner", "filed", "granted"), statement.formatted("filed.granted.t"))).hasMessageMatching(".*This connector does not support (grants|revokes|denys) on branches in tables");
            assertDenied(connect("writer", "filed", "granted"), statement.formatted("filed.granted.t"));
            assertDenied(admin, statement.formatted("frozen.granted.t"));
            assertThatThrownBy(() -> execute(admin, statement.formatted("governed.granted.t"))).hasMessageContaining("does not support");
            assertThatThrownBy(() -> execute(admin, statement.formatted("lake.granted.missing"))).hasMessageContaining("does not exist");
        }
    }

    /**
     * The engine asks for the branch of a read that is written as a literal; {@code "t@dev"} is such a read of {@code t}.
     */
    @Test
    void testReadsOfABranch()
            throws SQLException
    {
        Connection admin = createTables("hidden");
        execute(admin, "CREATE VIEW at_dev SECURITY INVOKER AS SELECT * FROM t FOR VERSION AS OF 'dev'");
        Connection carol = connect("carol", "lake", "hidden");
        assertThat(query(carol, "SELECT n FROM t ORDER BY n")).containsExactly("1", "2");
        assertThat(query(carol, "SELECT n FROM \"t@tag\"")).containsExactly("1");
        for (String relation : List.of("t FOR VERSION AS OF 'dev'", "\"t@dev\"", "at_dev")) {
            assertThatThrownBy(() -> query(carol, "SELECT n FROM " + relation)).as(relation).hasMessageContaining("carol may not SELECT t@dev");
            assertDenied(carol, "CREATE TABLE copied AS SELECT * FROM " + relation);
            assertDenied(carol, "INSERT INTO u SELECT * FROM " + relation);
        }
        assertThat(query(admin, "SHOW TABLES")).containsExactlyInAnyOrder("t", "u", "at_dev");
        assertThat(query(admin, "SELECT count(*) FROM u")).containsExactly("2");
    }

    /**
     * Rules see names as they are typed: one for {@code t} says nothing of {@code "t@dev"} and of metadata tables.
     */
    @Test
    void testNamesThatNoRuleAllows()
            throws SQLException
    {
        createTables("narrow");
        Connection narrow = connect("narrow", "filed", "narrow");
        assertThat(query(narrow, "SELECT n FROM t FOR VERSION AS OF 'dev' ORDER BY n")).containsExactly("1", "2", "3");
        Connection quoting = connect("quoting", "filed", "narrow");
        assertThat(query(quoting, "SELECT n FROM \"t@dev\" ORDER BY n")).containsExactly("1", "2", "3");
        assertDenied(narrow, "SELECT * FROM \"t@dev\"");
        Connection summing = connect("summing", "filed", "narrow");
        for (String table : List.of("t$partitions", "t@dev$partitions")) {
            assertThatThrownBy(() -> query(summing, "SELECT * FROM \"%s\"".formatted(table))).hasMessageContaining("Access Denied").hasMessageContaining("t$files");
        }
        for (String metadataTable : List.of("files", "partitions", "snapshots", "history", "refs", "ref_log")) {
            for (Connection connection : List.of(narrow, quoting)) {
                assertDenied(connection, "SELECT * FROM \"t$%s\"".formatted(metadataTable));
                assertDenied(connection, "SELECT * FROM \"t@dev$%s\"".formatted(metadataTable));
            }
        }
    }

    @Test
    void testFiltersAndMasksOfTheServerHoldAtEveryRef()
            throws SQLException
    {
        assertFiltersAndMasksHold("lake", "veiled_by_server");
    }

    @Test
    void testFiltersAndMasksOfTheFileHoldAtEveryRef()
            throws SQLException
    {
        assertFiltersAndMasksHold("filed", "veiled_by_file");
    }

    private void assertFiltersAndMasksHold(String catalog, String user)
            throws SQLException
    {
        String schema = "of_" + user;
        Connection admin = createVeiledTable(schema);
        Connection veiled = connect(user, catalog, schema);
        execute(admin, "CREATE VIEW at_dev SECURITY INVOKER AS SELECT * FROM %s.%s.t FOR VERSION AS OF 'dev'".formatted(catalog, schema));
        execute(admin, "CREATE VIEW quoted_dev SECURITY INVOKER AS SELECT * FROM %s.%s.\"t@dev\"".formatted(catalog, schema));
        execute(veiled, "CREATE VIEW own_dev SECURITY DEFINER AS SELECT * FROM t FOR VERSION AS OF 'dev'");
        String devId = query(admin, "SELECT snapshot_id FROM \"t$refs\" WHERE name = 'dev'").getFirst();
        String mainTime = query(admin, "SELECT CAST(max(made_current_at) AS varchar) FROM \"t$history\"").getFirst();

        List<String> mainRelations = new ArrayList<>(List.of(
                "t",
                "t FOR VERSION AS OF 'main'",
                "t FOR VERSION AS OF 'tag'",
                "t FOR TIMESTAMP AS OF TIMESTAMP '%s'".formatted(mainTime),
                "\"t@main\"",
                "\"t@TAG\""));
        if (catalog.equals("lake")) {
            mainRelations.add("tagged.%s.t".formatted(schema));
        }
        List<String> devRelations = List.of(
                "t FOR VERSION AS OF 'dev'",
                "t FOR VERSION AS OF " + devId,
                "\"t@dev\"",
                "at_dev",
                "quoted_dev",
                "own_dev");
        for (String relation : mainRelations) {
            assertThat(query(veiled, "SELECT n, secret FROM %s ORDER BY n".formatted(relation))).as(relation).containsExactly("2 | -1");
        }
        for (String relation : devRelations) {
            assertThat(query(veiled, "SELECT n, secret FROM %s ORDER BY n".formatted(relation))).as(relation).containsExactly("2 | -1", "4 | -1");
        }
        for (String relation : Stream.concat(mainRelations.stream(), devRelations.stream()).toList()) {
            assertThat(queryLong(veiled, "SELECT count(*) FROM %s WHERE secret > 4000".formatted(relation))).as(relation).isEqualTo(0);
            assertThat(query(veiled, "SELECT DISTINCT region FROM %s".formatted(relation))).as(relation).containsExactly("east");
            assertThat(query(veiled, "SHOW STATS FOR (SELECT secret FROM %s)".formatted(relation)).toString()).as(relation).doesNotContain("471");
        }
        // as whoever defined it
        assertThat(query(admin, "SELECT n, secret FROM own_dev ORDER BY n")).containsExactly("2 | -1", "4 | -1");
        assertThat(query(admin, "SELECT n, secret FROM at_dev ORDER BY n")).containsExactly("1 | 4711", "2 | 4712", "3 | 4713", "4 | 4714");

        execute(veiled, "CREATE TABLE copied AS SELECT * FROM t FOR VERSION AS OF 'dev'");
        execute(veiled, "INSERT INTO copied SELECT * FROM \"t@main\"");
        assertThat(query(admin, "SELECT n, secret FROM copied ORDER BY n")).containsExactly("2 | -1", "2 | -1", "4 | -1");

        // the engine writes nothing where there is a mask
        List<String> before = query(admin, "SELECT * FROM t FOR VERSION AS OF 'dev' ORDER BY n");
        for (String statement : List.of(
                "INSERT INTO t@dev VALUES (6, 'east', 4716)",
                "UPDATE t@dev SET n = 7",
                "DELETE FROM t@dev",
                "MERGE INTO t@dev AS t USING (VALUES 1) AS v(n) ON t.n = v.n WHEN MATCHED THEN DELETE")) {
            assertThatThrownBy(() -> execute(veiled, statement)).hasMessageMatching("(?s).*(column masks?|row filters?).*");
        }
        assertThatThrownBy(() -> execute(veiled, "ALTER TABLE t EXECUTE create_branch(branch => 'new')")).hasMessageContaining("not supported for table with row filter");
        assertThat(query(admin, "SELECT * FROM t FOR VERSION AS OF 'dev' ORDER BY n")).isEqualTo(before);

        String changes = "SELECT * FROM TABLE(system.table_changes('%s', 't', %s, %s))".formatted(schema, query(admin, "SELECT snapshot_id FROM \"t$refs\" WHERE name = 'main'").getFirst(), devId);
        assertThat(query(admin, changes)).hasSize(2);
        assertThatThrownBy(() -> query(veiled, changes)).hasMessageContaining("Function table_changes does not support tables with row filters or column masks: %s.t".formatted(schema));
    }

    @Test
    void testRowFilterOfTheServerHoldsForWritesOnABranch()
            throws SQLException
    {
        assertFilterHoldsForWrites("lake", "eastern_by_server");
    }

    @Test
    void testRowFilterOfTheFileHoldsForWritesOnABranch()
            throws SQLException
    {
        assertFilterHoldsForWrites("filed", "eastern_by_file");
    }

    private void assertFilterHoldsForWrites(String catalog, String user)
            throws SQLException
    {
        String schema = "of_" + user;
        Connection admin = createVeiledTable(schema);
        Connection eastern = connect(user, catalog, schema);
        assertThatThrownBy(() -> execute(eastern, "INSERT INTO t@dev VALUES (6, 'west', 4716)")).hasMessageContaining("row filter");
        assertThatThrownBy(() -> execute(eastern, "UPDATE t@dev SET secret = 0")).hasMessageContaining("row filter");
        assertThatThrownBy(() -> execute(eastern, "MERGE INTO t@dev AS t USING (VALUES 1, 2) AS v(n) ON t.n = v.n WHEN MATCHED THEN DELETE")).hasMessageContaining("row filter");
        execute(eastern, "INSERT INTO t@dev VALUES (6, 'east', 4716)");
        execute(eastern, "DELETE FROM t@dev WHERE n < 4");
        assertThat(query(admin, "SELECT n FROM t FOR VERSION AS OF 'dev' ORDER BY n")).containsExactly("1", "3", "4", "6");
        execute(eastern, "DELETE FROM t@dev");
        assertThat(query(admin, "SELECT n FROM t FOR VERSION AS OF 'dev' ORDER BY n")).containsExactly("1", "3");
        assertThat(query(admin, "SELECT n FROM t ORDER BY n")).containsExactly("1", "2");
    }

    /**
     * {@code main} and the tag have the rows 1 and 2, the branch 3 and 4 as well.
     */
    private Connection createVeiledTable(String schema)
            throws SQLException
    {
        Connection admin = connect("owner", "lake", schema);
        execute(admin, "CREATE SCHEMA " + schema);
        execute(admin, "CREATE TABLE t (n integer, region varchar, secret bigint)");
        execute(admin, "INSERT INTO t VALUES (1, 'west', 4711), (2, 'east', 4712)");
        execute(admin, "CALL system.create_tag('%s', 't', 'tag')".formatted(schema));
        execute(admin, "CREATE BRANCH dev IN TABLE t");
        execute(admin, "INSERT INTO t@dev VALUES (3, 'west', 4713), (4, 'east', 4714)");
        return admin;
    }

    /**
     * Two tables, with the tag at the first snapshot of {@code main}, {@code main} at its second and the branch one further.
     */
    private Connection createTables(String schema)
            throws SQLException
    {
        Connection admin = connect("owner", "lake", schema);
        execute(admin, "CREATE SCHEMA " + schema);
        for (String table : List.of("t", "u")) {
            execute(admin, "CREATE TABLE %s AS SELECT 1 AS n".formatted(table));
            execute(admin, "CALL system.create_tag('%s', '%s', 'tag')".formatted(schema, table));
            execute(admin, "INSERT INTO %s VALUES 2".formatted(table));
            execute(admin, "CREATE BRANCH dev IN TABLE " + table);
            execute(admin, "INSERT INTO %s@dev VALUES 3".formatted(table));
        }
        return admin;
    }

    private Stream<DynamicTest> changes(String schemaPrefix, ChangeTest test)
    {
        return CHANGES.stream().map(change -> DynamicTest.dynamicTest(change.sql(), () -> {
            String schema = schemaPrefix + CHANGES.indexOf(change);
            Connection admin = createTables(schema);
            for (String statement : change.before()) {
                execute(admin, resolve(statement, "lake", schema));
            }
            test.run(schema, admin, change);
        }));
    }

    private interface ChangeTest
    {
        void run(String schema, Connection admin, Change change)
                throws SQLException;
    }

    private Connection connect(String user, String catalog, String schema)
            throws SQLException
    {
        return server.connect(user, catalog, schema);
    }

    private static void assertDenied(Connection connection, String sql)
    {
        assertThatThrownBy(() -> execute(connection, sql)).hasMessageContaining("Access Denied");
    }

    /**
     * Refs, protection and the length of the log of both tables.
     */
    private static List<String> state(Connection admin, String schema)
            throws SQLException
    {
        return query(
                admin,
                """
                SELECT 't' AS table_name, *, is_protected, (SELECT count(*) FROM lake.%1$s."t$ref_log") FROM lake.%1$s."t$refs"
                UNION ALL
                SELECT 'u' AS table_name, *, is_protected, (SELECT count(*) FROM lake.%1$s."u$ref_log") FROM lake.%1$s."u$refs"
                ORDER BY table_name, name
                """.formatted(schema));
    }

    private static String holderOf(Set<String> rights)
    {
        return "only_" + rights.stream().map(TestAccessControl::word).collect(joining("_"));
    }

    private static String holderOfAllBut(String right)
    {
        return "all_but_" + word(right);
    }

    private static String word(String right)
    {
        return right.replaceAll("[ @]", "_");
    }

    private static String resolve(String sql, String catalog, String schema)
    {
        return sql.replace("{catalog}", catalog).replace("{schema}", schema);
    }

    private static Change call(String procedure, String arguments, String... rights)
    {
        return change("CALL {catalog}.system.%s(schema_name => '{schema}', table_name => 't', %s)".formatted(procedure, arguments), rights);
    }

    private static Change execution(String procedure, String... rights)
    {
        return change("ALTER TABLE {catalog}.{schema}.t EXECUTE " + procedure, rights);
    }

    private static Change change(String sql, String... rights)
    {
        return new Change(sql, new TreeSet<>(List.of(rights)), List.of());
    }

    /**
     * A statement that changes the tables of {@link #createTables}.
     *
     * @param rights as {@link BranchRules} has them
     * @param before what is done first
     */
    private record Change(String sql, Set<String> rights, List<String> before)
    {
        Change after(String statement)
        {
            return new Change(sql, rights, Stream.concat(before.stream(), Stream.of(statement)).toList());
        }

        String sql(Connection admin, String catalog, String schema)
                throws SQLException
        {
            String resolved = resolve(sql, catalog, schema);
            for (Map.Entry<String, String> snapshot : Map.of("{first}", "tag", "{main}", "main", "{dev}", "dev").entrySet()) {
                if (resolved.contains(snapshot.getKey())) {
                    resolved = resolved.replace(snapshot.getKey(), query(admin, "SELECT snapshot_id FROM \"t$refs\" WHERE name = '%s'".formatted(snapshot.getValue())).getFirst());
                }
            }
            return resolved;
        }
    }
}
