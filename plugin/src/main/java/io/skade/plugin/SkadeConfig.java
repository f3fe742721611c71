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

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.units.DataSize;
import io.airlift.units.Duration;
import io.airlift.units.MinDuration;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;
import java.util.Optional;

import static io.airlift.units.DataSize.Unit.MEGABYTE;
import static java.util.concurrent.TimeUnit.DAYS;

public class SkadeConfig
{
    private Path storePath;
    private String warehouse;
    private Optional<Path> backupPath = Optional.empty();
    private Optional<String> readRef = Optional.empty();
    private DataSize metadataCacheMaxSize = DataSize.of(256, MEGABYTE);
    private boolean localSync = true;
    private Duration logRetention = new Duration(365, DAYS);
    private Optional<Duration> refExpiryInterval = Optional.empty();

    @NotNull
    public Path getStorePath()
    {
        return storePath;
    }

    @Config("skade.store.path")
    @ConfigDescription("Folder of the pointer store on the coordinator's own disk")
    public SkadeConfig setStorePath(Path storePath)
    {
        this.storePath = storePath;
        return this;
    }

    @NotNull
    public String getWarehouse()
    {
        return warehouse;
    }

    @Config("skade.warehouse")
    @ConfigDescription("Location under which schemas without a location of their own keep their tables")
    public SkadeConfig setWarehouse(String warehouse)
    {
        this.warehouse = warehouse;
        return this;
    }

    public Optional<Path> getBackupPath()
    {
        return backupPath;
    }

    @Config("skade.backup.path")
    @ConfigDescription("Folder on the coordinator's disk under which backup_store puts its backups; there are none if not set")
    public SkadeConfig setBackupPath(Path backupPath)
    {
        this.backupPath = Optional.ofNullable(backupPath);
        return this;
    }

    public Optional<String> getReadRef()
    {
        return readRef;
    }

    @Config("skade.read-ref")
    @ConfigDescription("Branch or tag at which this catalog reads every table; it is read-only then, and does not list tables without the ref")
    public SkadeConfig setReadRef(String readRef)
    {
        this.readRef = Optional.ofNullable(readRef);
        return this;
    }

    @NotNull
    public DataSize getMetadataCacheMaxSize()
    {
        return metadataCacheMaxSize;
    }

    @Config("skade.metadata-cache.max-size")
    @ConfigDescription("How much memory parsed table metadata may take, roughly")
    public SkadeConfig setMetadataCacheMaxSize(DataSize metadataCacheMaxSize)
    {
        this.metadataCacheMaxSize = metadataCacheMaxSize;
        return this;
    }

    public boolean isLocalSync()
    {
        return localSync;
    }

    @Config("skade.local-sync")
    @ConfigDescription("Whether commits on the coordinator's own disk survive a power cut: the files that they add are made durable before them, and the store keeps metadata documents")
    public SkadeConfig setLocalSync(boolean localSync)
    {
        this.localSync = localSync;
        return this;
    }

    @NotNull
    @MinDuration("1m")
    public Duration getLogRetention()
    {
        return logRetention;
    }

    @Config("skade.log.retention")
    @ConfigDescription("How long the log of commits is kept: no undo goes further back")
    public SkadeConfig setLogRetention(Duration logRetention)
    {
        this.logRetention = logRetention;
        return this;
    }

    public Optional<@MinDuration("1s") Duration> getRefExpiryInterval()
    {
        return refExpiryInterval;
    }

    @Config("skade.ref-expiry.interval")
    @ConfigDescription("How often to drop the refs of all tables that are older than their max_ref_age; never if not set")
    public SkadeConfig setRefExpiryInterval(Duration refExpiryInterval)
    {
        this.refExpiryInterval = Optional.ofNullable(refExpiryInterval);
        return this;
    }
}
