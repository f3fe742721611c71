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

import com.google.common.collect.ImmutableMap;
import io.skade.ref.RefRefusedException;
import io.skade.ref.RefRefusedException.Reason;
import io.skade.store.StoreException;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableNotFoundException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.junit.jupiter.api.Test;

import java.util.Map;

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
import static org.assertj.core.api.Assertions.assertThat;

class TestProcedureErrors
{
    private static final SchemaTableName TABLE = new SchemaTableName("sales", "orders");

    @Test
    void testRefusals()
    {
        Map<Reason, ErrorCodeSupplier> expected = ImmutableMap.<Reason, ErrorCodeSupplier>builder()
                .put(Reason.REF_NOT_FOUND, REF_NOT_FOUND)
                .put(Reason.REF_ALREADY_EXISTS, REF_ALREADY_EXISTS)
                .put(Reason.NOT_FAST_FORWARD, REF_NOT_FAST_FORWARD)
                .put(Reason.NOT_ANCESTOR, REF_NOT_ANCESTOR)
                .put(Reason.REBASE_CONFLICT, REF_REBASE_CONFLICT)
                .put(Reason.PROTECTED, REF_PROTECTED)
                .put(Reason.UNEXPECTED_SNAPSHOT, REF_COMMIT_CONFLICT)
                .put(Reason.NOT_READABLE, NOT_SUPPORTED)
                .put(Reason.INVALID_VALUE, INVALID_PROCEDURE_ARGUMENT)
                .buildOrThrow();
        assertThat(expected).containsOnlyKeys(Reason.values());
        expected.forEach((reason, code) -> {
            assertThat(ProcedureErrors.errorCode(reason)).isEqualTo(code);
            assertTranslated(new RefRefusedException(reason, "Cannot do %s: 100%% no", "it"), code, "Cannot do it: 100% no");
        });
    }

    @Test
    void testFailures()
    {
        assertTranslated(new CommitFailedException("Cannot commit"), REF_COMMIT_CONFLICT, "Cannot commit");
        assertTranslated(new StoreException("Store is closed"), SKADE_STORE_ERROR, "Store is closed");
        assertTranslated(new IllegalStateException("Never seen"), GENERIC_INTERNAL_ERROR, "Never seen");

        CommitStateUnknownException unknown = new CommitStateUnknownException("Disk failed", new RuntimeException());
        assertTranslated(unknown, REF_COMMIT_STATE_UNKNOWN, unknown.getMessage());
    }

    @Test
    void testMissingTable()
    {
        NoSuchTableException missing = new NoSuchTableException("Table does not exist: sales.orders");
        assertTranslated(missing, TABLE_NOT_FOUND, "Table does not exist: sales.orders");
        assertThat(ProcedureErrors.translate(missing, TABLE))
                .isInstanceOf(TableNotFoundException.class)
                .hasMessage("Table 'sales.orders' not found")
                .hasCause(missing);
    }

    @Test
    void testErrorOfEngine()
    {
        TrinoException exception = new TrinoException(NOT_SUPPORTED, "Not yet");
        assertThat(ProcedureErrors.translate(exception)).isSameAs(exception);
        assertThat(ProcedureErrors.translate(exception, TABLE)).isSameAs(exception);
    }

    private static void assertTranslated(RuntimeException exception, ErrorCodeSupplier code, String message)
    {
        TrinoException translated = ProcedureErrors.translate(exception);
        assertThat(translated.getErrorCode()).isEqualTo(code.toErrorCode());
        assertThat(translated)
                .hasMessage(message)
                .hasCause(exception);
    }
}
