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

import com.google.inject.Binder;
import com.google.inject.Key;
import com.google.inject.Module;
import com.google.inject.Scopes;
import io.skade.plugin.function.AncestorsOfFunction;
import io.skade.plugin.function.CheckStoreFunction;
import io.skade.plugin.function.PublishPreviewFunction;
import io.skade.plugin.function.RebuildPreviewFunction;
import io.skade.plugin.function.RefDiffFunction;
import io.skade.plugin.function.RefGraphFunction;
import io.skade.plugin.function.SkadeFunctionProvider;
import io.skade.plugin.function.SkadeSplitManager;
import io.skade.plugin.system.CommitLogTable;
import io.skade.plugin.system.RefsOfAllTables;
import io.trino.plugin.iceberg.ForIcebergFileDelete;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.function.table.ConnectorTableFunction;

import java.util.concurrent.ExecutorService;

import static com.google.inject.multibindings.Multibinder.newSetBinder;
import static io.airlift.bootstrap.ClosingBinder.closingBinder;

/**
 * What is added to Trino's Iceberg connector.
 */
class SkadeModule
        implements Module
{
    @Override
    public void configure(Binder binder)
    {
        binder.bind(SkadeConnector.class).in(Scopes.SINGLETON);
        binder.bind(BranchProperties.class).in(Scopes.SINGLETON);
        newSetBinder(binder, SystemTable.class).addBinding().to(RefsOfAllTables.class).in(Scopes.SINGLETON);
        newSetBinder(binder, SystemTable.class).addBinding().to(CommitLogTable.class).in(Scopes.SINGLETON);
        binder.bind(SkadeSplitManager.class).in(Scopes.SINGLETON);
        binder.bind(SkadeFunctionProvider.class).in(Scopes.SINGLETON);
        newSetBinder(binder, ConnectorTableFunction.class).addBinding().to(AncestorsOfFunction.class).in(Scopes.SINGLETON);
        newSetBinder(binder, ConnectorTableFunction.class).addBinding().to(CheckStoreFunction.class).in(Scopes.SINGLETON);
        newSetBinder(binder, ConnectorTableFunction.class).addBinding().to(PublishPreviewFunction.class).in(Scopes.SINGLETON);
        newSetBinder(binder, ConnectorTableFunction.class).addBinding().to(RebuildPreviewFunction.class).in(Scopes.SINGLETON);
        newSetBinder(binder, ConnectorTableFunction.class).addBinding().to(RefDiffFunction.class).in(Scopes.SINGLETON);
        newSetBinder(binder, ConnectorTableFunction.class).addBinding().to(RefGraphFunction.class).in(Scopes.SINGLETON);
        // Trino's connector ends its other executors
        closingBinder(binder).registerExecutor(Key.get(ExecutorService.class, ForIcebergFileDelete.class));
    }
}
