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
package io.skade.store;

import java.util.Arrays;

import static java.util.Objects.requireNonNull;

/**
 * The content of a metadata file. A store keeps it from the commit that names the file until the file is known to be durable.
 */
public record MetadataDocument(String location, byte[] content)
{
    public MetadataDocument
    {
        requireNonNull(location, "location is null");
        requireNonNull(content, "content is null");
    }

    @Override
    public boolean equals(Object other)
    {
        return other instanceof MetadataDocument document && location.equals(document.location) && Arrays.equals(content, document.content);
    }

    @Override
    public int hashCode()
    {
        return 31 * location.hashCode() + Arrays.hashCode(content);
    }

    @Override
    public String toString()
    {
        return "%s (%s bytes)".formatted(location, content.length);
    }
}
