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

import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedHashMap;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.exceptions.BadRequestException;
import org.apache.iceberg.rest.RESTMessage;
import org.apache.iceberg.rest.requests.CreateNamespaceRequest;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.lang.annotation.Annotation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestRestMessages
{
    @Test
    void unknownFieldsAreLeftOut()
    {
        CreateNamespaceRequest request = read("{\"namespace\": [\"a\"], \"unknown\": %s}".formatted("[".repeat(100) + "]".repeat(100)));
        assertThat(request.namespace()).isEqualTo(Namespace.of("a"));
    }

    @Test
    void noMessageIsTooLargeForTheServer()
    {
        assertThatThrownBy(() -> read("{\"namespace\": [\"a\"], \"unknown\": [%s[]]}".formatted("[],".repeat(6_000_000))))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("exceeds the maximum allowed");
        assertThatThrownBy(() -> read("{\"namespace\": [\"a\"], \"unknown\": " + "[".repeat(100_000)))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("exceeds the maximum allowed");
    }

    private static CreateNamespaceRequest read(String body)
    {
        @SuppressWarnings("unchecked") Class<RESTMessage> type = (Class<RESTMessage>) (Class<?>) CreateNamespaceRequest.class;
        return (CreateNamespaceRequest) new RestMessages().readFrom(
                type,
                type,
                new Annotation[0],
                MediaType.APPLICATION_JSON_TYPE,
                new MultivaluedHashMap<>(),
                new ByteArrayInputStream(body.getBytes(UTF_8)));
    }
}
