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

import io.skade.plugin.catalog.RefTableName;
import io.trino.spi.connector.SchemaTableName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestNames
{
    private static final SchemaTableName ORDERS = new SchemaTableName("sales", "orders");

    @ParameterizedTest
    @ValueSource(strings = {"dev", "Dev", "DEV", "a.b", "a/b", "a@b", "a$b", "ünï", "日本", "😀", "b", "s12"})
    void aBranchSurvivesThePrivateName(String branch)
    {
        SchemaTableName name = new RefTableName.AtBranch(ORDERS, branch).privateName();
        assertThat(name.getTableName()).doesNotContain("@", "$");
        assertThat(RefTableName.isReserved(name)).isTrue();
        assertThat(RefTableName.parse(name)).contains(new RefTableName.AtBranch(ORDERS, branch));
    }

    @Test
    void aSnapshotSurvivesThePrivateName()
    {
        SchemaTableName name = new RefTableName.AtSnapshot(ORDERS, Long.MIN_VALUE).privateName();
        assertThat(RefTableName.parse(name)).contains(new RefTableName.AtSnapshot(ORDERS, Long.MIN_VALUE));
        assertThat(RefTableName.parse(ORDERS)).isEmpty();
        assertThat(RefTableName.isReserved(ORDERS)).isFalse();
    }

    @Test
    void quotedRefIsWhatFollowsTheFirstAt()
    {
        assertThat(QuotedRefName.parse(name("orders@v1"))).contains(new QuotedRefName(ORDERS, "v1"));
        assertThat(QuotedRefName.parse(name("orders@a@b"))).contains(new QuotedRefName(ORDERS, "a@b"));
        assertThat(QuotedRefName.parse(name("orders@"))).contains(new QuotedRefName(ORDERS, ""));
        assertThat(QuotedRefName.parse(name("@v1"))).isEmpty();
        assertThat(QuotedRefName.parse(ORDERS)).isEmpty();
    }

    @Test
    void metadataTableIsWhatFollowsTheLastDollar()
    {
        assertThat(MetadataTableName.parse(name("orders$files"))).contains(new MetadataTableName(ORDERS, "files"));
        assertThat(MetadataTableName.parse(name("orders$ref_log"))).contains(new MetadataTableName(ORDERS, "ref_log"));
        assertThat(MetadataTableName.parse(name("orders@a$b$refs"))).contains(new MetadataTableName(name("orders@a$b"), "refs"));
        assertThat(MetadataTableName.parse(name("orders$data"))).isEqualTo(Optional.empty());
        assertThat(MetadataTableName.parse(name("orders$nothing"))).isEqualTo(Optional.empty());
        assertThat(MetadataTableName.parse(name("$files"))).isEqualTo(Optional.empty());
    }

    private static SchemaTableName name(String tableName)
    {
        return new SchemaTableName("sales", tableName);
    }
}
