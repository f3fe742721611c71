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
package io.skade.procedure;

import com.google.common.collect.ImmutableList;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;

import static io.trino.spi.type.VarcharType.VARCHAR;

/**
 * {@code backup_store}: adds a backup of the store to a folder, while commits go on. Who may execute the procedure may do it.
 */
final class BackupStoreProcedure
        extends CallProcedure<StoreOperations>
{
    BackupStoreProcedure()
    {
        super("backup_store", ImmutableList.of(required("location", VARCHAR)));
    }

    @Override
    void call(StoreOperations operations, ConnectorAccessControl accessControl, ConnectorSession session, ArgumentValues values)
    {
        String location = values.string("location");
        try {
            operations.backup(location);
        }
        catch (RuntimeException e) {
            throw ProcedureErrors.translate(e);
        }
    }
}
