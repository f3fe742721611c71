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
package io.skade.ref;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Metadata documents as trees, for what Iceberg's builders cannot make. Their fields are those of the Iceberg table specification,
 * "Table Metadata Fields".
 */
final class MetadataJson
{
    private static final ObjectMapper JSON = JsonMapper.builder().build();

    private MetadataJson() {}

    /**
     * The document of a table, without the location of its file.
     */
    static ObjectNode of(TableMetadata metadata)
    {
        return (ObjectNode) parse(TableMetadataParser.toJson(metadata));
    }

    static ObjectNode create()
    {
        return JSON.createObjectNode();
    }

    static JsonNode parse(String json)
    {
        try {
            return JSON.readTree(json);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
