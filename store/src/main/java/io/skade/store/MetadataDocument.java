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

import com.google.common.collect.ImmutableList;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The content of a metadata file. A store keeps it from the commit that names the file until the file is known to be durable.
 *
 * @param parts of the content, in their order; documents of one table may share them
 * @param patch how it comes from an earlier document of the table, if that is known
 */
public record MetadataDocument(String location, List<byte[]> parts, Optional<DocumentPatch> patch)
{
    public MetadataDocument
    {
        requireNonNull(location, "location is null");
        parts = ImmutableList.copyOf(parts);
        requireNonNull(patch, "patch is null");
    }

    public static MetadataDocument of(String location, byte[] content)
    {
        return new MetadataDocument(location, ImmutableList.of(content), Optional.empty());
    }

    /**
     * In bytes.
     */
    public int length()
    {
        int length = 0;
        for (byte[] part : parts) {
            length = Math.addExact(length, part.length);
        }
        return length;
    }

    public byte[] content()
    {
        if (parts.size() == 1) {
            return parts.getFirst();
        }
        byte[] content = new byte[length()];
        int position = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, content, position, part.length);
            position += part.length;
        }
        return content;
    }

    /**
     * Whether location and content are the same.
     */
    @Override
    public boolean equals(Object other)
    {
        return other instanceof MetadataDocument document && location.equals(document.location) && Arrays.equals(content(), document.content());
    }

    @Override
    public int hashCode()
    {
        return location.hashCode();
    }

    @Override
    public String toString()
    {
        return "%s (%s bytes)".formatted(location, length());
    }
}
