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

import io.skade.store.ForwardingPointerStore;
import io.skade.store.PointerStore;
import jakarta.annotation.PreDestroy;

import java.io.Closeable;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * The open stores of this server: catalogs on one folder share one store, which closes with the last of them.
 */
final class SharedStores
{
    private final Function<Path, PointerStore> opener;
    private final Map<Path, Shared> stores = new HashMap<>(); // guarded by this

    SharedStores(Function<Path, PointerStore> opener)
    {
        this.opener = requireNonNull(opener, "opener is null");
    }

    /**
     * The store in a folder, opened if it is not open. Every result must be closed.
     */
    synchronized Lease open(Path folder)
    {
        Path key = folder.toAbsolutePath().normalize();
        Shared shared = stores.get(key);
        if (shared == null) {
            shared = new Shared(opener.apply(key));
            stores.put(key, shared);
        }
        shared.users++;
        return new Lease(key, shared.store);
    }

    private synchronized void release(Path key)
    {
        Shared shared = stores.get(key);
        shared.users--;
        if (shared.users == 0) {
            stores.remove(key);
            shared.store.close();
        }
    }

    private static final class Shared
    {
        private final PointerStore store;
        private int users;

        private Shared(PointerStore store)
        {
            this.store = requireNonNull(store, "store is null");
        }
    }

    final class Lease
            extends ForwardingPointerStore
            implements Closeable
    {
        private final Path key;
        private boolean closed; // guarded by this

        private Lease(Path key, PointerStore store)
        {
            super(store);
            this.key = requireNonNull(key, "key is null");
        }

        @PreDestroy
        @Override
        public synchronized void close()
        {
            if (!closed) {
                closed = true;
                release(key);
            }
        }
    }
}
