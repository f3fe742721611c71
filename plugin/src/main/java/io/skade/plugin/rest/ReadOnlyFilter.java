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

import com.google.common.collect.ImmutableSet;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import org.apache.iceberg.exceptions.ForbiddenException;

import java.util.Set;

/**
 * Lets nobody change anything.
 */
final class ReadOnlyFilter
        implements ContainerRequestFilter
{
    private static final Set<String> READS = ImmutableSet.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS);

    @Override
    public void filter(ContainerRequestContext request)
    {
        if (!READS.contains(request.getMethod()) && !request.getUriInfo().getPath().endsWith("/metrics")) {
            throw new ForbiddenException("The catalog is read-only");
        }
    }
}
