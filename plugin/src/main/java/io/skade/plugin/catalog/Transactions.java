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

import com.google.inject.Inject;
import io.skade.store.PointerStore;
import io.trino.spi.connector.ConnectorTransactionHandle;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import static com.google.common.base.Preconditions.checkState;
import static java.util.Objects.requireNonNull;

/**
 * The transactions under way, each with the catalog state that it reads.
 */
public final class Transactions
{
    private final PointerStore store;
    private final Map<ConnectorTransactionHandle, TransactionState> states = new ConcurrentHashMap<>();

    @Inject
    public Transactions(PointerStore store)
    {
        this.store = requireNonNull(store, "store is null");
    }

    public void begin(ConnectorTransactionHandle transaction)
    {
        states.put(transaction, new TransactionState(store));
    }

    public TransactionState load(ConnectorTransactionHandle transaction)
    {
        TransactionState state = states.get(transaction);
        checkState(state != null, "No such transaction: %s", transaction);
        return state;
    }

    public void end(ConnectorTransactionHandle transaction)
    {
        states.remove(transaction);
    }
}
