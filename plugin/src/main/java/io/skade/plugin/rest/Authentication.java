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

import jakarta.annotation.Priority;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.SecurityContext;
import org.apache.iceberg.exceptions.NotAuthorizedException;

import java.security.Principal;
import java.util.Base64;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Who sends a request: the owner of its bearer token, or the user of basic authentication. If neither is configured nobody is asked for one: the user is then who the request says,
 * as with a Trino server without authentication.
 */
@Priority(Priorities.AUTHENTICATION)
final class Authentication
        implements ContainerRequestFilter
{
    static final String DEFAULT_USER = "rest";

    private static final String USER_HEADER = "X-Trino-User";
    private static final String BASIC = "basic ";
    private static final String BEARER = "bearer ";

    private final boolean required;
    private final Optional<WatchedFile<Passwords>> passwords;
    private final Optional<WatchedFile<Tokens>> tokens;

    /**
     * @throws io.trino.spi.TrinoException if a file of the configuration cannot be read or is wrong
     */
    Authentication(RestConfig config)
    {
        this.required = config.isAuthenticating();
        this.passwords = config.getPasswordFile().map(file -> new WatchedFile<>(file, Passwords::parse));
        this.tokens = config.getTokenFile().map(file -> new WatchedFile<>(file, Tokens::parse));
    }

    @Override
    public void filter(ContainerRequestContext request)
    {
        String user = required
                ? authenticate(request.getHeaderString(HttpHeaders.AUTHORIZATION))
                : Optional.ofNullable(request.getHeaderString(USER_HEADER)).filter(name -> !name.isBlank()).orElse(DEFAULT_USER);
        request.setSecurityContext(new UserContext(user, request.getSecurityContext().isSecure()));
    }

    private String authenticate(String authorization)
    {
        if (authorization == null) {
            throw new NotAuthorizedException("The request has no header %s", HttpHeaders.AUTHORIZATION);
        }
        return findUser(authorization).orElseThrow(() -> new NotAuthorizedException("The token, or the user or password, is not valid"));
    }

    private Optional<String> findUser(String authorization)
    {
        if (authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
            return tokens.flatMap(file -> file.get().findUser(authorization.substring(BEARER.length()).strip()));
        }
        if (authorization.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            return decode(authorization.substring(BASIC.length()).strip())
                    .filter(credentials -> credentials.indexOf(':') > 0)
                    .flatMap(this::findUserByPassword);
        }
        return Optional.empty();
    }

    private Optional<String> findUserByPassword(String credentials)
    {
        int colon = credentials.indexOf(':');
        String user = credentials.substring(0, colon);
        return passwords
                .filter(file -> file.get().verify(user, credentials.substring(colon + 1)))
                .map(_ -> user);
    }

    private static Optional<String> decode(String base64)
    {
        try {
            return Optional.of(new String(Base64.getDecoder().decode(base64), UTF_8));
        }
        catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private record UserContext(String user, boolean isSecure)
            implements SecurityContext
    {
        @Override
        public Principal getUserPrincipal()
        {
            return () -> user;
        }

        @Override
        public boolean isUserInRole(String role)
        {
            return false;
        }

        @Override
        public String getAuthenticationScheme()
        {
            return null;
        }
    }
}
