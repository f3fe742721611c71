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

import io.airlift.log.Logger;
import io.skade.ref.InvalidMetadataException;
import io.skade.ref.MissingMetadataException;
import io.skade.ref.RefRefusedException;
import io.skade.store.StoreException;
import io.trino.spi.ErrorType;
import io.trino.spi.TrinoException;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.BadRequestException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.ForbiddenException;
import org.apache.iceberg.exceptions.NamespaceNotEmptyException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.exceptions.NoSuchViewException;
import org.apache.iceberg.exceptions.NotAuthorizedException;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.exceptions.ServiceUnavailableException;
import org.apache.iceberg.exceptions.UnprocessableEntityException;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.rest.responses.ErrorResponse;

import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.util.Objects;

import static io.trino.spi.StandardErrorCode.CONFIGURATION_INVALID;
import static io.trino.spi.StandardErrorCode.CONFIGURATION_UNAVAILABLE;

/**
 * Failures as the protocol reports them. See the responses of each operation in the REST catalog specification of Iceberg.
 */
final class RestErrors
        implements ExceptionMapper<Throwable>
{
    private static final Logger log = Logger.get(RestErrors.class);

    private static final int RETRY_SECONDS = 1;

    @Override
    public Response toResponse(Throwable failure)
    {
        ErrorResponse error = translate(failure);
        if (error.code() >= 500) {
            log.error(failure, "REST request failed");
        }
        Response.ResponseBuilder response = Response.status(error.code()).type(MediaType.APPLICATION_JSON_TYPE).entity(error);
        if (error.code() == 503) {
            // nothing was done, so a client may send anything again
            response.header(HttpHeaders.RETRY_AFTER, RETRY_SECONDS);
        }
        if (error.code() == 401) {
            response.header(HttpHeaders.WWW_AUTHENTICATE, "Bearer realm=\"skade\"").header(HttpHeaders.WWW_AUTHENTICATE, "Basic realm=\"skade\"");
        }
        return response.build();
    }

    private static ErrorResponse translate(Throwable failure)
    {
        return switch (failure) {
            case NotAuthorizedException _ -> error(401, failure);
            case ForbiddenException _ -> error(403, failure);
            case MissingMetadataException _, InvalidMetadataException _ -> error(404, NotFoundException.class, failure);
            case NoSuchNamespaceException _, NoSuchTableException _, NoSuchViewException _, NotFoundException _ -> error(404, failure);
            case AlreadyExistsException _, CommitFailedException _, NamespaceNotEmptyException _ -> error(409, failure);
            case UnprocessableEntityException _ -> error(422, failure);
            case UnsupportedOperationException _ -> error(406, failure);
            // before the others of its kind: it is not known whether anything was changed
            case CommitStateUnknownException _ -> error(500, failure);
            case RefRefusedException refused when refused.reason() == RefRefusedException.Reason.PROTECTED -> error(403, ForbiddenException.class, failure);
            case BadRequestException _, RefRefusedException _ -> error(400, BadRequestException.class, failure);
            case ValidationException _, IllegalArgumentException _ -> error(400, failure);
            case StoreException store when store.getCause() instanceof UncheckedIOException io && io.getCause() instanceof CharacterCodingException -> error(400, BadRequestException.class, failure);
            case StoreException _ -> error(503, ServiceUnavailableException.class, failure);
            case TrinoException user when user.getErrorCode().getType() == ErrorType.USER_ERROR -> error(400, BadRequestException.class, failure);
            // the file with the users cannot be read
            case TrinoException e when e.getErrorCode().equals(CONFIGURATION_UNAVAILABLE.toErrorCode()) || e.getErrorCode().equals(CONFIGURATION_INVALID.toErrorCode()) -> error(503, ServiceUnavailableException.class, failure);
            case WebApplicationException web -> error(web.getResponse().getStatus(), failure);
            default -> error(500, failure);
        };
    }

    private static ErrorResponse error(int code, Throwable failure)
    {
        return error(code, failure.getClass(), failure);
    }

    private static ErrorResponse error(int code, Class<?> type, Throwable failure)
    {
        return ErrorResponse.builder()
                .responseCode(code)
                .withType(type.getSimpleName())
                .withMessage(Objects.requireNonNullElse(failure.getMessage(), ""))
                .build();
    }
}
