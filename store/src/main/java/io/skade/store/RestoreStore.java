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

import org.apache.iceberg.catalog.Namespace;

import java.nio.file.Path;

/**
 * Restores a store from a backup, while no server has it open. Arguments: the folder of the backup, the folder of the store.
 */
public final class RestoreStore
{
    private RestoreStore() {}

    static void main(String[] args)
    {
        if (args.length != 2) {
            System.err.println("Arguments: FOLDER_OF_THE_BACKUP FOLDER_OF_THE_STORE");
            System.exit(2);
        }
        Path folder = Path.of(args[1]).toAbsolutePath();
        try {
            CatalogState state = RocksDbPointerStore.restore(Path.of(args[0]), folder);
            System.out.printf("Restored the store in %s. Tables and views: %s, last log id: %s%n", folder, count(state), state.lastLogId());
        }
        catch (StoreException e) {
            System.err.println(e.getMessage());
            System.exit(1);
        }
    }

    private static long count(CatalogState state)
    {
        long count = 0;
        for (Namespace namespace : state.namespaces()) {
            count += state.pointers(namespace).count();
        }
        return count;
    }
}
