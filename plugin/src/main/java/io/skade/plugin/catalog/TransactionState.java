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

import io.skade.store.CatalogState;
import io.skade.store.PointerStore;
import org.apache.iceberg.catalog.TableIdentifier;

import static java.util.Objects.requireNonNull;

/**
 * The catalog state that one transaction reads: the one that was the newest at its first look, with what the transaction itself committed since.
 */
public final class TransactionState
{
    private final PointerStore store;
    private CatalogState state; // guarded by this

    public TransactionState(PointerStore store)
    {
        this.store = requireNonNull(store, "store is null");
    }

    public synchronized CatalogState get()
    {
        if (state == null) {
            state = store.state();
        }
        return state;
    }

    /**
     * Takes over what the transaction committed to one table.
     */
    public synchronized void committed(TableIdentifier name)
    {
        if (state == null) {
            return;
        }
        if (state.namespaceExists(name.namespace())) {
            state = state.with(name, store.state().find(name));
        }
        else {
            state = store.state();
        }
    }

    /**
     * Takes over the newest state, after the transaction changed more than one table.
     */
    synchronized void committed()
    {
        state = null;
    }
}
