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
package io.skade.plugin.rest;

import io.skade.ref.RefRefusedException;
import io.skade.ref.RefRefusedException.Reason;
import io.skade.store.StoreException;
import io.trino.spi.TrinoException;
import jakarta.ws.rs.core.Response;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.UnprocessableEntityException;
import org.apache.iceberg.rest.responses.ErrorResponse;
import org.junit.jupiter.api.Test;

import static io.trino.spi.StandardErrorCode.CONFIGURATION_UNAVAILABLE;
import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.INVALID_ARGUMENTS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Failures that no request of {@link TestRestServer} meets.
 */
class TestRestErrors
{
    @Test
    void unknownStateIsNeverAConflict()
    {
        assertError(new CommitStateUnknownException(new RuntimeException("the disk does not answer")), 500, "CommitStateUnknownException");
        // nothing was changed
        assertError(new StoreException("The store takes no commit"), 503, "ServiceUnavailableException");
        assertError(new TrinoException(CONFIGURATION_UNAVAILABLE, "Cannot read the token file"), 503, "ServiceUnavailableException");
    }

    @Test
    void refusals()
    {
        assertError(new RefRefusedException(Reason.PROTECTED, "Cannot change main"), 403, "ForbiddenException");
        assertError(new RefRefusedException(Reason.INVALID_VALUE, "Invalid ref name"), 400, "BadRequestException");
        assertError(new UnsupportedOperationException("A transaction of many tables cannot create one"), 406, "UnsupportedOperationException");
        assertError(new UnprocessableEntityException("Cannot set and remove"), 422, "UnprocessableEntityException");
        assertError(new TrinoException(INVALID_ARGUMENTS, "Invalid name"), 400, "BadRequestException");
    }

    @Test
    void faults()
    {
        assertError(new TrinoException(GENERIC_INTERNAL_ERROR, "Cannot read a file"), 500, "TrinoException");
        assertError(new IllegalStateException(), 500, "IllegalStateException");
        assertError(new StackOverflowError(), 500, "StackOverflowError");
    }

    private static void assertError(Throwable failure, int status, String type)
    {
        try (Response response = new RestErrors().toResponse(failure)) {
            assertThat(response.getStatus()).isEqualTo(status);
            ErrorResponse error = (ErrorResponse) response.getEntity();
            assertThat(error.code()).isEqualTo(status);
            assertThat(error.type()).isEqualTo(type);
            assertThat(error.message()).isNotNull();
            // only what was certainly not done may be sent again
            assertThat(response.getHeaderString("Retry-After")).isEqualTo(status == 503 ? "1" : null);
        }
    }
}
