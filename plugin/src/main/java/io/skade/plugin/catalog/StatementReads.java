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
package io.skade.plugin.catalog;

import io.skade.ref.ReadFilter;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.expressions.Expression;

/**
 * Takes what a statement reads to the snapshot that it writes. Trino's connector has no way to add to a snapshot's summary.
 */
public final class StatementReads
{
    private static final ScopedValue<String> READ_FILTER = ScopedValue.newInstance();

    private StatementReads() {}

    /**
     * Runs the end of a statement. What it commits says that the statement could have read the rows that match the filter.
     */
    public static <T> T recording(Expression filter, ScopedValue.CallableOp<T, RuntimeException> write)
    {
        return ScopedValue.where(READ_FILTER, ReadFilter.toProperty(filter)).call(write);
    }

    static TableMetadata record(TableMetadata base, TableMetadata metadata)
    {
        return READ_FILTER.isBound() ? ReadFilter.record(READ_FILTER.get(), base, metadata) : metadata;
    }
}
