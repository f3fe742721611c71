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

import com.google.common.io.ByteStreams;
import com.google.common.net.HttpHeaders;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import java.io.IOException;

/**
 * Reads what is left of the body of a request that was answered without it, such as one without credentials. If it were cut off, its sender might see
 * the end of the connection and not the answer.
 */
final class UnreadBodyFilter
        extends HttpFilter
{
    private static final long MAX_BYTES = 1_000_000;

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException
    {
        chain.doFilter(request, response);
        if (request.getHeader(HttpHeaders.EXPECT) != null) {
            // who waits to be asked for it keeps it
            return;
        }
        try {
            ByteStreams.exhaust(ByteStreams.limit(request.getInputStream(), MAX_BYTES));
        }
        catch (IOException _) {
            // the sender is gone
        }
    }
}
