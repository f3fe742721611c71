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
import io.skade.store.StoreException;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

import static com.google.common.util.concurrent.Uninterruptibles.awaitUninterruptibly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestSharedStores
{
    private static final Path FOLDER = Path.of("/lake/store");

    private final List<String> events = new CopyOnWriteArrayList<>();
    private final CountDownLatch closeBegins = new CountDownLatch(1);
    private volatile CountDownLatch closeMayEnd = new CountDownLatch(0);

    private final SharedStores stores = new SharedStores(folder -> {
        events.add("open " + folder);
        return new ForwardingPointerStore(new WorkerStore())
        {
            @Override
            public void close()
            {
                closeBegins.countDown();
                awaitUninterruptibly(closeMayEnd);
                events.add("closed " + folder);
            }
        };
    });

    @Test
    void testTheLastUserClosesTheStore()
    {
        SharedStores.Lease first = stores.open(FOLDER);
        SharedStores.Lease second = stores.open(Path.of("/lake/x/../store"));
        first.close();
        // the end of a catalog may come twice
        first.close();
        assertThat(events).containsExactly("open /lake/store");
        second.close();
        assertThat(events).containsExactly("open /lake/store", "closed /lake/store");
        stores.open(FOLDER).close();
        assertThat(events).containsExactly("open /lake/store", "closed /lake/store", "open /lake/store", "closed /lake/store");
    }

    /**
     * A catalog that is created again while the end of the first waits for those who use it.
     */
    @Test
    void testOpenWhileTheStoreCloses()
            throws Exception
    {
        closeMayEnd = new CountDownLatch(1);
        SharedStores.Lease lease = stores.open(FOLDER);
        AtomicReference<Thread> opening = new AtomicReference<>();
        try (ExecutorService executor = Executors.newCachedThreadPool()) {
            Future<?> close = executor.submit(lease::close);
            closeBegins.await();
            Future<SharedStores.Lease> open = executor.submit(() -> {
                opening.set(Thread.currentThread());
                return stores.open(FOLDER);
            });
            try {
                while (opening.get() == null || opening.get().getState() == Thread.State.RUNNABLE) {
                    Thread.sleep(1);
                }
                assertThat(events).containsExactly("open /lake/store");
            }
            finally {
                closeMayEnd.countDown();
            }
            close.get();
            open.get();
        }
        assertThat(events).containsExactly("open /lake/store", "closed /lake/store", "open /lake/store");
    }

    @Test
    void testAStoreThatCannotBeOpened()
    {
        SharedStores failing = new SharedStores(folder -> {
            events.add("open " + folder);
            throw new StoreException("The store folder is in use");
        });
        for (int i = 1; i <= 2; i++) {
            assertThatThrownBy(() -> failing.open(FOLDER)).hasMessage("The store folder is in use");
            assertThat(events).hasSize(i);
        }
    }
}
