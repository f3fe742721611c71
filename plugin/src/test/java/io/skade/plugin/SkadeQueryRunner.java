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

import com.google.common.collect.ImmutableMap;
import io.airlift.log.Logger;
import io.trino.Session;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.spi.Plugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.QueryRunner;
import io.trino.tpch.TpchTable;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static io.airlift.testing.Closeables.closeAllSuppress;
import static io.trino.plugin.tpch.TpchMetadata.TINY_SCHEMA_NAME;
import static io.trino.testing.QueryAssertions.copyTpchTables;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static java.util.Objects.requireNonNull;

/**
 * A Trino in this process with a catalog {@code lake}. Its {@link #main} runs one on port 8080 until it is stopped.
 */
public final class SkadeQueryRunner
{
    public static final String CATALOG = "lake";
    public static final String SCHEMA = "tpch";

    private SkadeQueryRunner() {}

    /**
     * What a catalog with its store and its tables in a folder needs.
     */
    public static Map<String, String> catalogProperties(Path data)
    {
        return ImmutableMap.of(
                "skade.store.path", data.resolve("store").toString(),
                "skade.warehouse", "local:///warehouse",
                "fs.local.enabled", "true",
                "local.location", data.toString());
    }

    public static Builder builder()
    {
        return new Builder();
    }

    public static final class Builder
            extends DistributedQueryRunner.Builder<Builder>
    {
        private final Map<String, String> catalogProperties = new HashMap<>();
        private List<TpchTable<?>> initialTables = List.of();
        private Plugin plugin = new SkadePlugin();

        private Builder()
        {
            super(testSessionBuilder()
                    .setCatalog(CATALOG)
                    .setSchema(SCHEMA)
                    .build());
        }

        public Builder addCatalogProperty(String name, String value)
        {
            catalogProperties.put(name, value);
            return self();
        }

        public Builder setPlugin(Plugin plugin)
        {
            this.plugin = requireNonNull(plugin, "plugin is null");
            return self();
        }

        public Builder setInitialTables(List<TpchTable<?>> initialTables)
        {
            this.initialTables = List.copyOf(requireNonNull(initialTables, "initialTables is null"));
            return self();
        }

        @Override
        public DistributedQueryRunner build()
                throws Exception
        {
            DistributedQueryRunner queryRunner = super.build();
            try {
                queryRunner.installPlugin(new TpchPlugin());
                queryRunner.createCatalog("tpch", "tpch");

                queryRunner.installPlugin(plugin);
                Path data = Files.createDirectories(queryRunner.getCoordinator().getBaseDataDir().resolve("skade"));
                queryRunner.createCatalog(CATALOG, "skade", ImmutableMap.<String, String>builder()
                        .putAll(catalogProperties(data))
                        .put("iceberg.register-table-procedure.enabled", "true")
                        .putAll(catalogProperties)
                        .buildKeepingLast());
                queryRunner.execute("CREATE SCHEMA " + CATALOG + "." + SCHEMA);
                copyTpchTables(queryRunner, "tpch", TINY_SCHEMA_NAME, defaultSession(), initialTables);
                return queryRunner;
            }
            catch (Throwable e) {
                closeAllSuppress(e, queryRunner);
                throw e;
            }
        }

        private static Session defaultSession()
        {
            return testSessionBuilder()
                    .setCatalog(CATALOG)
                    .setSchema(SCHEMA)
                    .build();
        }
    }

    static void main()
            throws Exception
    {
        QueryRunner queryRunner = builder()
                .addCoordinatorProperty("http-server.http.port", "8080")
                .setInitialTables(TpchTable.getTables())
                .build();
        Logger.get(SkadeQueryRunner.class).info("Serving %s", ((DistributedQueryRunner) queryRunner).getCoordinator().getBaseUrl());
    }
}
