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

import io.skade.ref.InvalidMetadataException;
import io.skade.ref.MissingMetadataException;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.TrinoException;

import java.util.function.Supplier;

import static io.trino.plugin.iceberg.IcebergErrorCode.ICEBERG_INVALID_METADATA;
import static io.trino.plugin.iceberg.IcebergErrorCode.ICEBERG_MISSING_METADATA;

/**
 * What the engine is told of a table whose metadata file is gone or damaged. Trino's connector lets such a table be dropped when it gets these errors.
 */
final class DamagedTables
{
    private DamagedTables() {}

    /**
     * The result of what reads or changes tables, whose failures are {@link #translate translated}.
     */
    static <T> T translating(Supplier<T> operation)
    {
        try {
            return operation.get();
        }
        catch (RuntimeException e) {
            throw translate(e);
        }
    }

    /**
     * The error of the engine for a failure that a damaged table caused; any other failure stays as it is.
     */
    static RuntimeException translate(RuntimeException failure)
    {
        return switch (failure) {
            case MissingMetadataException missing -> exception(ICEBERG_MISSING_METADATA, missing);
            case InvalidMetadataException invalid -> exception(ICEBERG_INVALID_METADATA, invalid);
            default -> failure;
        };
    }

    /**
     * Whether a failure says that the metadata file of a table or view is gone or damaged.
     */
    static boolean isDamaged(TrinoException failure)
    {
        return failure.getErrorCode().equals(ICEBERG_MISSING_METADATA.toErrorCode()) || failure.getErrorCode().equals(ICEBERG_INVALID_METADATA.toErrorCode());
    }

    private static TrinoException exception(ErrorCodeSupplier errorCode, RuntimeException failure)
    {
        return new TrinoException(
                errorCode,
                failure.getMessage() + ". Put the file back, or see TABLE(system.rebuild_preview()) for the newest metadata that is left; CALL system.rebuild_store() takes it. " +
                        "TABLE(system.check_store()) lists all such tables",
                failure);
    }
}
