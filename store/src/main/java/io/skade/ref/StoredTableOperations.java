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

import org.apache.iceberg.LocationProviders;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.io.LocationProvider;

/**
 * What all table operations of this package share: where a table's files go.
 */
interface StoredTableOperations
        extends TableOperations
{
    @Override
    default String metadataFileLocation(String fileName)
    {
        return MetadataFiles.location(current(), fileName);
    }

    @Override
    default LocationProvider locationProvider()
    {
        return LocationProviders.locationsFor(current().location(), current().properties());
    }
}
