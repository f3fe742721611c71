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
package io.skade.catalog;

import org.apache.iceberg.catalog.TableIdentifier;

import static java.util.Objects.requireNonNull;

/**
 * Something about a pointer that is not as it should be.
 *
 * @param metadataLocation the file that it is about
 */
public record StoreProblem(TableIdentifier name, Kind kind, String metadataLocation, String message)
{
    public StoreProblem
    {
        requireNonNull(name, "name is null");
        requireNonNull(kind, "kind is null");
        requireNonNull(metadataLocation, "metadataLocation is null");
        requireNonNull(message, "message is null");
    }

    public enum Kind
    {
        /**
         * There is no file where the pointer points.
         */
        MISSING,
        /**
         * The file cannot be read, or is not the metadata of a table or view.
         */
        UNREADABLE,
        /**
         * The file belongs to another table or view than the pointer.
         */
        UUID_DIFFERS,
        /**
         * The file has other refs than the pointer.
         */
        REFS_DIFFER,
        /**
         * There is a file that descends from the one where the pointer points.
         */
        NEWER_METADATA,
    }
}
