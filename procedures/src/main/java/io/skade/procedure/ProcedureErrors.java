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

import io.skade.ref.RefRefusedException;
import io.skade.store.StoreException;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableNotFoundException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.NoSuchTableException;

import java.util.Set;

import static io.skade.procedure.SkadeErrorCode.REF_ALREADY_EXISTS;
import static io.skade.procedure.SkadeErrorCode.REF_COMMIT_CONFLICT;
import static io.skade.procedure.SkadeErrorCode.REF_COMMIT_STATE_UNKNOWN;
import static io.skade.procedure.SkadeErrorCode.REF_NOT_ANCESTOR;
import static io.skade.procedure.SkadeErrorCode.REF_NOT_FAST_FORWARD;
import static io.skade.procedure.SkadeErrorCode.REF_NOT_FOUND;
import static io.skade.procedure.SkadeErrorCode.REF_PROTECTED;
import static io.skade.procedure.SkadeErrorCode.REF_REBASE_CONFLICT;
import static io.skade.procedure.SkadeErrorCode.SKADE_STORE_ERROR;
import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.StandardErrorCode.TABLE_NOT_FOUND;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.mapping;

/**
 * What the engine is told when a change of a table fails.
 */
public final class ProcedureErrors
{
    private ProcedureErrors() {}

    /**
     * As {@link #translate(RuntimeException)}, for a change of one table: if it is missing, a {@link TableNotFoundException}.
     */
    public static TrinoException translate(RuntimeException exception, SchemaTableName table)
    {
        if (exception instanceof NoSuchTableException) {
            return new TableNotFoundException(table, exception);
        }
        return translate(exception);
    }

    /**
     * The error of the engine for a failure, with the failure as its cause. What is one already stays as it is, what is not known becomes an internal error.
     */
    public static TrinoException translate(RuntimeException exception)
    {
        return switch (exception) {
            case TrinoException known -> known;
            case RefRefusedException refused -> new TrinoException(errorCode(refused.reason()), refused.getMessage(), refused);
            case NoSuchTableException _ -> new TrinoException(TABLE_NOT_FOUND, exception.getMessage(), exception);
            case CommitFailedException _ -> new TrinoException(REF_COMMIT_CONFLICT, exception.getMessage(), exception);
            case CommitStateUnknownException _ -> new TrinoException(REF_COMMIT_STATE_UNKNOWN, exception.getMessage(), exception);
            case StoreException _ -> new TrinoException(SKADE_STORE_ERROR, exception.getMessage(), exception);
            default -> new TrinoException(GENERIC_INTERNAL_ERROR, exception.getMessage(), exception);
        };
    }

    static TrinoException tablesNotFound(Set<SchemaTableName> tables)
    {
        if (tables.size() == 1) {
            return new TableNotFoundException(tables.iterator().next());
        }
        return new TrinoException(TABLE_NOT_FOUND, tables.stream().collect(mapping(table -> "'" + table + "'", joining(", ", "Tables ", " not found"))));
    }

    /**
     * The code under which a procedure reports a refusal. An expected snapshot that is not met is a conflict: the argument is a good one, but the ref
     * moved since the caller looked.
     */
    public static ErrorCodeSupplier errorCode(RefRefusedException.Reason reason)
    {
        return switch (reason) {
            case REF_NOT_FOUND -> REF_NOT_FOUND;
            case REF_ALREADY_EXISTS -> REF_ALREADY_EXISTS;
            case NOT_FAST_FORWARD -> REF_NOT_FAST_FORWARD;
            case NOT_ANCESTOR -> REF_NOT_ANCESTOR;
            case REBASE_CONFLICT -> REF_REBASE_CONFLICT;
            case PROTECTED -> REF_PROTECTED;
            case UNEXPECTED_SNAPSHOT -> REF_COMMIT_CONFLICT;
            case NOT_READABLE -> NOT_SUPPORTED;
            case INVALID_VALUE -> INVALID_PROCEDURE_ARGUMENT;
        };
    }
}
