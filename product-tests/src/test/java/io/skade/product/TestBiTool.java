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

import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import static io.skade.product.Sql.execute;
import static io.skade.product.Sql.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What a BI tool does through JDBC: it lists the tables and columns of a catalog that is bound to a ref, and reads {@code "t@ref"}.
 */
final class TestBiTool
{
    @Test
    void testCatalogBoundToATag()
            throws Exception
    {
        try (SkadeServer server = SkadeServer.builder("bi-tool")
                .catalog("eoy", "connector.name", "skade")
                .catalog("eoy", "skade.store.path", "${ENV:SKADE_DATA}/store")
                .catalog("eoy", "skade.warehouse", "file://${ENV:SKADE_DATA}/warehouse")
                .catalog("eoy", "skade.read-ref", "EoY-2025")
                .catalog("eoy", "fs.local.enabled", "true")
                .catalog("eoy", "local.location", "/")
                .start();
                Connection lake = server.connect("lake", "sales");
                Connection eoy = server.connect("eoy", "sales")) {
            execute(lake, "CREATE SCHEMA sales");
            execute(lake, "CREATE TABLE nation AS SELECT nationkey, name FROM tpch.tiny.nation");
            execute(lake, "CREATE TABLE region AS SELECT * FROM tpch.tiny.region");
            execute(lake, "CALL lake.system.create_tag('sales', 'nation', 'EoY-2025')");
            execute(lake, "ALTER TABLE nation DROP COLUMN name");
            execute(lake, "ALTER TABLE nation ADD COLUMN continent varchar");
            execute(lake, "DELETE FROM nation WHERE nationkey > 3");

            DatabaseMetaData metadata = eoy.getMetaData();
            assertThat(names(metadata.getTables("eoy", "sales", "%", null), "TABLE_NAME")).containsExactly("nation");
            assertThat(names(metadata.getColumns("eoy", "sales", "%", "%"), "COLUMN_NAME")).containsExactly("nationkey", "name");
            assertThat(query(eoy, "SELECT count(*), count(name) FROM nation")).containsExactly("25 | 25");
            assertThat(query(eoy, "SELECT name FROM nation WHERE nationkey = 7")).containsExactly("GERMANY");
            assertThatThrownBy(() -> execute(eoy, "DELETE FROM nation")).hasMessageContaining("Access Denied");
            assertThatThrownBy(() -> query(eoy, "SELECT * FROM region")).hasMessageContaining("does not exist");

            // tools that name a table and nothing else
            assertThat(query(lake, "SELECT count(*), count(name) FROM \"nation@eoy-2025\"")).containsExactly("25 | 25");
            assertThat(query(lake, "SELECT count(*) FROM \"nation@main\" m JOIN \"nation@eoy-2025\" e ON m.nationkey = e.nationkey")).containsExactly("4");
            assertThat(names(lake.getMetaData().getColumns("lake", "sales", "nation@eoy-2025", "%"), "COLUMN_NAME")).containsExactly("nationkey", "name");
            assertThat(names(lake.getMetaData().getTables("lake", "sales", "%", null), "TABLE_NAME")).containsExactly("nation", "region");
            execute(lake, "CREATE VIEW last_year AS SELECT name FROM \"nation@eoy-2025\" WHERE nationkey < 5");
            assertThat(query(lake, "SELECT count(*) FROM last_year")).containsExactly("5");
        }
    }

    private static List<String> names(ResultSet rows, String column)
            throws SQLException
    {
        List<String> names = new ArrayList<>();
        try (rows) {
            while (rows.next()) {
                names.add(rows.getString(column));
            }
        }
        return names;
    }
}
