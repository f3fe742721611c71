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

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.ext.MessageBodyReader;
import jakarta.ws.rs.ext.MessageBodyWriter;
import org.apache.iceberg.exceptions.BadRequestException;
import org.apache.iceberg.rest.RESTMessage;
import org.apache.iceberg.rest.RESTSerializers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;

/**
 * The bodies of the protocol's requests and responses, as Iceberg reads and writes them in JSON.
 */
final class RestMessages
        implements MessageBodyReader<RESTMessage>, MessageBodyWriter<RESTMessage>
{
    private static final ObjectMapper MAPPER = createMapper();

    private static ObjectMapper createMapper()
    {
        ObjectMapper mapper = JsonMapper.builder()
                .visibility(PropertyAccessor.FIELD, Visibility.ANY)
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .propertyNamingStrategy(PropertyNamingStrategies.KEBAB_CASE)
                .build();
        RESTSerializers.registerAll(mapper);
        return mapper;
    }

    @Override
    public boolean isReadable(Class<?> type, Type genericType, Annotation[] annotations, MediaType mediaType)
    {
        return RESTMessage.class.isAssignableFrom(type);
    }

    /**
     * @throws BadRequestException if the body is not what the protocol has in this place
     */
    @Override
    public RESTMessage readFrom(
            Class<RESTMessage> type,
            Type genericType,
            Annotation[] annotations,
            MediaType mediaType,
            MultivaluedMap<String, String> headers,
            InputStream body)
    {
        try {
            RESTMessage message = MAPPER.readValue(body, type);
            if (message == null) {
                throw new BadRequestException("The request has no body");
            }
            message.validate();
            return message;
        }
        catch (IOException | RuntimeException e) {
            throw new BadRequestException(e, "Invalid body of the request: %s", e.getMessage());
        }
    }

    @Override
    public boolean isWriteable(Class<?> type, Type genericType, Annotation[] annotations, MediaType mediaType)
    {
        return RESTMessage.class.isAssignableFrom(type);
    }

    @Override
    public void writeTo(
            RESTMessage message,
            Class<?> type,
            Type genericType,
            Annotation[] annotations,
            MediaType mediaType,
            MultivaluedMap<String, Object> headers,
            OutputStream body)
            throws IOException
    {
        MAPPER.writeValue(body, message);
    }
}
