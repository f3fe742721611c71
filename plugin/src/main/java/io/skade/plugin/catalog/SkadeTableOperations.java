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
package io.skade.plugin.catalog;

import io.skade.procedure.ProcedureErrors;
import io.skade.ref.RefRefusedException;
import io.skade.store.StoreException;
import io.trino.plugin.iceberg.catalog.AbstractIcebergTableOperations;
import io.trino.plugin.iceberg.encryption.EncryptionManagerFactory;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableNotFoundException;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.encryption.EncryptionUtil;
import org.apache.iceberg.encryption.StandardEncryptionManager;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.io.FileIO;

import java.util.Optional;

import static io.trino.plugin.iceberg.IcebergExceptions.translateMetadataException;
import static java.util.Objects.requireNonNull;

/**
 * What Trino's connector asks of the operations of a table, answered by those of the store.
 */
final class SkadeTableOperations
        extends AbstractIcebergTableOperations
{
    private final TableOperations operations;
    private final Runnable afterCommit;
    private boolean creates;

    SkadeTableOperations(
            FileIO fileIo,
            ConnectorSession session,
            SchemaTableName name,
            Optional<String> owner,
            Optional<String> location,
            EncryptionManagerFactory encryptionManagerFactory,
            TableOperations operations,
            Runnable afterCommit)
    {
        super(fileIo, session, name.getSchemaName(), name.getTableName(), owner, location, encryptionManagerFactory);
        this.operations = requireNonNull(operations, "operations is null");
        this.afterCommit = requireNonNull(afterCommit, "afterCommit is null");
        this.creates = location.isPresent();
    }

    @Override
    public void initializeFromMetadata(TableMetadata tableMetadata)
    {
        super.initializeFromMetadata(tableMetadata);
        creates = false;
    }

    @Override
    public TableMetadata refresh(boolean invalidateCaches)
    {
        if (creates) {
            shouldRefresh = false;
            return null;
        }
        TableMetadata refreshed;
        try {
            refreshed = invalidateCaches ? operations.refresh() : operations.current();
        }
        catch (NoSuchTableException e) {
            throw new TableNotFoundException(getSchemaTableName());
        }
        catch (RefRefusedException | StoreException e) {
            throw ProcedureErrors.translate(e);
        }
        catch (RuntimeException e) {
            throw translateMetadataException(DamagedTables.translate(e), getSchemaTableName().toString());
        }
        if (refreshed == null) {
            throw new TableNotFoundException(getSchemaTableName());
        }
        // sets it and what depends on it
        currentMetadata = null;
        super.initializeFromMetadata(refreshed);
        return currentMetadata;
    }

    @Override
    public void commit(TableMetadata base, TableMetadata metadata)
    {
        if (base == metadata) {
            return;
        }
        try {
            operations.commit(base, StatementReads.record(base, withEncryptionKeys(metadata)));
        }
        catch (RefRefusedException | StoreException e) {
            throw ProcedureErrors.translate(e);
        }
        finally {
            afterCommit.run();
        }
        creates = false;
        shouldRefresh = true;
    }

    /**
     * The keys that were made while the commit was built have to be in the metadata, or its files cannot be read.
     */
    private TableMetadata withEncryptionKeys(TableMetadata metadata)
    {
        if (!(encryption() instanceof StandardEncryptionManager)) {
            return metadata;
        }
        TableMetadata.Builder builder = TableMetadata.buildFrom(metadata);
        EncryptionUtil.encryptionKeys(encryption()).values().forEach(builder::addEncryptionKey);
        return builder.build();
    }

    @Override
    protected String getRefreshedLocation(boolean invalidateCaches)
    {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void commitNewTable(TableMetadata metadata)
    {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void commitToExistingTable(TableMetadata base, TableMetadata metadata)
    {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void commitMaterializedView(TableMetadata base, TableMetadata metadata)
    {
        throw new UnsupportedOperationException();
    }
}
