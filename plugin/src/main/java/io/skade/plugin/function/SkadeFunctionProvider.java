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
package io.skade.plugin.function;

import com.google.inject.Inject;
import io.trino.plugin.base.classloader.ClassLoaderSafeTableFunctionProcessorProviderFactory;
import io.trino.plugin.base.classloader.ClassLoaderSafeTableFunctionSplitProcessor;
import io.trino.plugin.iceberg.IcebergPageSourceProviderFactory;
import io.trino.plugin.iceberg.IcebergTableCredentials;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableCredentials;
import io.trino.spi.function.AggregationImplementation;
import io.trino.spi.function.BoundSignature;
import io.trino.spi.function.FunctionDependencies;
import io.trino.spi.function.FunctionId;
import io.trino.spi.function.FunctionProvider;
import io.trino.spi.function.InvocationConvention;
import io.trino.spi.function.ScalarFunctionImplementation;
import io.trino.spi.function.WindowFunctionSupplier;
import io.trino.spi.function.table.ConnectorTableFunctionHandle;
import io.trino.spi.function.table.TableFunctionProcessorProvider;
import io.trino.spi.function.table.TableFunctionProcessorProviderFactory;
import io.trino.spi.function.table.TableFunctionSplitProcessor;
import io.trino.spi.type.TypeManager;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The functions of Trino's Iceberg connector, and the work of {@link RefFunction}s on any node.
 */
public final class SkadeFunctionProvider
        implements FunctionProvider
{
    private final FunctionProvider iceberg;
    private final IcebergPageSourceProviderFactory pageSources;
    private final TypeManager typeManager;

    @Inject
    public SkadeFunctionProvider(FunctionProvider iceberg, IcebergPageSourceProviderFactory pageSources, TypeManager typeManager)
    {
        this.iceberg = requireNonNull(iceberg, "iceberg is null");
        this.pageSources = requireNonNull(pageSources, "pageSources is null");
        this.typeManager = requireNonNull(typeManager, "typeManager is null");
    }

    @Override
    public ScalarFunctionImplementation getScalarFunctionImplementation(
            FunctionId functionId,
            BoundSignature boundSignature,
            FunctionDependencies functionDependencies,
            InvocationConvention invocationConvention)
    {
        return iceberg.getScalarFunctionImplementation(functionId, boundSignature, functionDependencies, invocationConvention);
    }

    @Override
    public AggregationImplementation getAggregationImplementation(FunctionId functionId, BoundSignature boundSignature, FunctionDependencies functionDependencies)
    {
        return iceberg.getAggregationImplementation(functionId, boundSignature, functionDependencies);
    }

    @Override
    public WindowFunctionSupplier getWindowFunctionSupplier(FunctionId functionId, BoundSignature boundSignature, FunctionDependencies functionDependencies)
    {
        return iceberg.getWindowFunctionSupplier(functionId, boundSignature, functionDependencies);
    }

    @Override
    public TableFunctionProcessorProvider getTableFunctionProcessorProvider(ConnectorTableFunctionHandle functionHandle)
    {
        return getTableFunctionProcessorProviderFactory(functionHandle).createTableFunctionProcessorProvider();
    }

    @Override
    public TableFunctionProcessorProviderFactory getTableFunctionProcessorProviderFactory(ConnectorTableFunctionHandle functionHandle)
    {
        return switch (functionHandle) {
            case RowsHandle _, StoreRowsHandle _, RefDiffFunction.Handle _ -> new ClassLoaderSafeTableFunctionProcessorProviderFactory(SplitProcessors::new, getClass().getClassLoader());
            default -> iceberg.getTableFunctionProcessorProviderFactory(functionHandle);
        };
    }

    private class SplitProcessors
            implements TableFunctionProcessorProvider
    {
        @Override
        public TableFunctionSplitProcessor getSplitProcessor(
                ConnectorSession session,
                ConnectorTableFunctionHandle handle,
                Optional<ConnectorTableCredentials> tableCredentials,
                ConnectorSplit split)
        {
            return switch (split) {
                case RowsSplit rows -> rows.processor();
                case RefDiffSplit diff -> new ClassLoaderSafeTableFunctionSplitProcessor(
                        new RefDiffProcessor(session, pageSources, typeManager, (RefDiffFunction.Handle) handle, diff, (IcebergTableCredentials) tableCredentials.orElseThrow()),
                        SkadeFunctionProvider.class.getClassLoader());
                default -> throw new IllegalArgumentException("Unexpected split: " + split);
            };
        }
    }
}
