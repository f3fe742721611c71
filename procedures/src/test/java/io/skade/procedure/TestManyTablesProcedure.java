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

import io.trino.spi.TrinoException;
import io.trino.spi.connector.SchemaNotFoundException;
import io.trino.spi.connector.TableNotFoundException;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;

import static io.skade.procedure.SkadeErrorCode.REF_NOT_FOUND;
import static io.skade.procedure.TestRefProcedure.assertInvalid;
import static io.skade.procedure.TestRefProcedure.assertRefused;
import static io.trino.spi.StandardErrorCode.TABLE_NOT_FOUND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestManyTablesProcedure
{
    private final ProcedureRunner runner = new ProcedureRunner();

    @Test
    void testListedTables()
    {
        runner.call("create_branches", "schema_name", "SALES", "branch", "b", "ref", "eoy", "tables", List.of("Orders"));
        assertThat(runner.refs()).isEqualTo("audit=4 b=1 eoy=1 main=3");
        runner.call("publish_branches", "branch", "audit", "to", "b", "drop_branch", true, "tables", List.of("orders"));
        assertThat(runner.refs()).isEqualTo("b=4 eoy=1 main=3");
        runner.call("rollback_tables", "ref", "eoy", "branch", "b", "tables", List.of("orders"));
        assertThat(runner.refs()).isEqualTo("b=1 eoy=1 main=3");
        runner.call("drop_refs", "ref", "b", "tables", List.of("orders"));
        assertThat(runner.refs()).isEqualTo("eoy=1 main=3");
        runner.call("create_tags", "tag", "t", "tables", List.of("orders"));
        assertThat(runner.refs()).isEqualTo("eoy=1 main=3 t=3");
    }

    @Test
    void testAllTables()
    {
        runner.call("create_tags", "tag", "t");
        runner.call("rollback_tables", "ref", "eoy");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=1 t=3");
    }

    @Test
    void testBadLists()
    {
        assertInvalid(() -> runner.call("create_tags", "tag", "t", "tables", List.of()), "tables cannot be empty: leave it out for all tables");
        assertInvalid(() -> runner.call("create_tags", "tag", "t", "tables", List.of("orders", "b", "c", "Orders", "c")), "tables names more than once: sales.orders, sales.c");
        assertInvalid(() -> runner.call("create_tags", "tag", "t", "tables", Arrays.asList("orders", null)), "tables cannot contain null or empty");
        assertInvalid(() -> runner.call("create_tags", "tag", "t", "tables", List.of("")), "tables cannot contain null or empty");
        assertThat(runner.takeEvents()).isEmpty();
    }

    @Test
    void testMissingTables()
    {
        assertThatThrownBy(() -> runner.call("create_tags", "tag", "t", "tables", List.of("orders", "nowhere")))
                .isInstanceOf(TableNotFoundException.class)
                .hasMessage("Table 'sales.nowhere' not found");
        // a view is no table
        assertThatThrownBy(() -> runner.call("create_tags", "tag", "t", "tables", List.of("view", "orders", "nowhere")))
                .isInstanceOfSatisfying(TrinoException.class, e -> assertThat(e.getErrorCode()).isEqualTo(TABLE_NOT_FOUND.toErrorCode()))
                .hasMessage("Tables 'sales.view', 'sales.nowhere' not found");
        assertThatThrownBy(() -> runner.call("create_tags", "schema_name", "nowhere", "tag", "t"))
                .isInstanceOf(SchemaNotFoundException.class)
                .hasMessage("Schema nowhere not found");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=3");
    }

    @Test
    void testMissingRefs()
    {
        for (String verb : List.of("drop_refs", "rollback_tables")) {
            assertRefused(() -> runner.call(verb, "ref", "nobody"), REF_NOT_FOUND, "Ref does not exist in any table of sales: nobody");
            assertRefused(() -> runner.call(verb, "ref", "nobody", "tables", List.of("orders")), REF_NOT_FOUND, "Ref does not exist in sales.orders: nobody");
        }
        assertRefused(() -> runner.call("publish_branches", "branch", "nobody"), REF_NOT_FOUND, "Ref does not exist in any table of sales: nobody");
        assertRefused(() -> runner.call("publish_branches", "branch", "eoy"), REF_NOT_FOUND, "Branch does not exist in sales.orders: eoy is a tag");
        assertRefused(() -> runner.call("create_tags", "tag", "t", "ref", "nobody"), REF_NOT_FOUND, "Ref does not exist in sales.orders: nobody");
        assertInvalid(() -> runner.call("drop_refs", "ref", "main"), "Cannot drop main of sales.orders: every table has a branch main");
        assertThat(runner.refs()).isEqualTo("audit=4 eoy=1 main=3");
    }
}
