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

import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.NotFoundException;

/**
 * The metadata file that a pointer names is not there.
 */
public class MissingMetadataException
        extends NotFoundException
{
    public MissingMetadataException(TableIdentifier name, String location, Throwable cause)
    {
        // Iceberg's suite for catalogs asks for the second half
        super(cause, "The metadata file of %s is missing: Failed to open input stream for file: %s", name, location);
    }
}
