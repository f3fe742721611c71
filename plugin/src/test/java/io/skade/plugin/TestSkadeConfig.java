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
package io.skade.plugin;

import com.google.common.collect.ImmutableMap;
import io.airlift.units.DataSize;
import io.airlift.units.Duration;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.Map;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static io.airlift.units.DataSize.Unit.GIGABYTE;
import static io.airlift.units.DataSize.Unit.MEGABYTE;
import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.HOURS;

class TestSkadeConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(SkadeConfig.class)
                .setStorePath(null)
                .setWarehouse(null)
                .setBackupPath(null)
                .setReadRef(null)
                .setMetadataCacheMaxSize(DataSize.of(256, MEGABYTE))
                .setLocalSync(true)
                .setLogRetention(new Duration(365, DAYS))
                .setRefExpiryInterval(null));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        Map<String, String> properties = ImmutableMap.<String, String>builder()
                .put("skade.store.path", "/var/lib/skade/store")
                .put("skade.warehouse", "s3://bucket/warehouse")
                .put("skade.backup.path", "/var/backups/skade")
                .put("skade.read-ref", "gold")
                .put("skade.metadata-cache.max-size", "2GB")
                .put("skade.local-sync", "false")
                .put("skade.log.retention", "30d")
                .put("skade.ref-expiry.interval", "1h")
                .buildOrThrow();

        SkadeConfig expected = new SkadeConfig()
                .setStorePath(Path.of("/var/lib/skade/store"))
                .setWarehouse("s3://bucket/warehouse")
                .setBackupPath(Path.of("/var/backups/skade"))
                .setReadRef("gold")
                .setMetadataCacheMaxSize(DataSize.of(2, GIGABYTE))
                .setLocalSync(false)
                .setLogRetention(new Duration(30, DAYS))
                .setRefExpiryInterval(new Duration(1, HOURS));

        assertFullMapping(properties, expected);
    }
}
