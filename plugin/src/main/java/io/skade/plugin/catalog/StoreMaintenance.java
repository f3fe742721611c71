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

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;
import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.airlift.units.Duration;
import io.skade.plugin.SkadeConfig;
import io.skade.ref.LocalDocuments;
import io.skade.ref.RefUpdates;
import io.skade.ref.TableMove;
import io.skade.store.CatalogState;
import io.skade.store.CommitAuthor;
import io.skade.store.PointerKind;
import io.skade.store.PointerStore;
import io.skade.store.RefChange;
import io.trino.spi.catalog.CatalogName;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;

import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;

import static io.airlift.concurrent.Threads.daemonThreadsNamed;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.Executors.newSingleThreadScheduledExecutor;
import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * What a coordinator does by itself: it restores metadata files on the local disk when it starts, makes new ones durable some seconds after they were written,
 * trims the log once a day and, where that is configured, drops the refs that are older than their {@code max_ref_age}.
 */
public final class StoreMaintenance
{
    private static final Logger log = Logger.get(StoreMaintenance.class);

    private static final String USER = "skade";
    private static final long SETTLE_SECONDS = 5;

    private final PointerStore store;
    private final SkadeTables tables;
    private final LocalDocuments documents;
    private final Duration logRetention;
    private final Optional<Duration> refExpiryInterval;
    private final ScheduledExecutorService executor;

    @Inject
    public StoreMaintenance(CatalogName catalogName, SkadeTables tables, LocalDocuments documents, SkadeConfig config)
    {
        this.store = tables.store();
        this.tables = requireNonNull(tables, "tables is null");
        this.documents = requireNonNull(documents, "documents is null");
        this.logRetention = config.getLogRetention();
        this.refExpiryInterval = config.getRefExpiryInterval().filter(_ -> tables.readRef().isEmpty());
        this.executor = newSingleThreadScheduledExecutor(daemonThreadsNamed("skade-maintenance-" + catalogName + "-%s"));
    }

    @PostConstruct
    public void start()
    {
        documents.restore();
        executor.scheduleWithFixedDelay(() -> run("make metadata files durable", documents::settle), SETTLE_SECONDS, SETTLE_SECONDS, SECONDS);
        executor.scheduleWithFixedDelay(() -> run("trim the log", this::trimLog), 0, DAYS.toMillis(1), MILLISECONDS);
        refExpiryInterval.ifPresent(interval ->
                executor.scheduleWithFixedDelay(() -> run("expire refs", this::expireRefs), interval.toMillis(), interval.toMillis(), MILLISECONDS));
    }

    @PreDestroy
    public void stop()
            throws InterruptedException
    {
        executor.shutdownNow();
        // what runs must not meet a store that is closed
        executor.awaitTermination(10, SECONDS);
    }

    private static void run(String what, Runnable task)
    {
        try {
            task.run();
        }
        catch (RuntimeException e) {
            // an exception would end the schedule
            log.error(e, "Cannot %s, it is tried again later", what);
        }
    }

    private void trimLog()
    {
        int count = store.trimLog(Instant.now().minusMillis(logRetention.toMillis()));
        log.debug("Took %s entries older than %s from the log", count, logRetention);
    }

    /**
     * One commit a table. A table that cannot be read or changed does not keep the others from theirs.
     */
    private void expireRefs()
    {
        Instant now = Instant.now();
        CatalogState state = store.state();
        for (Namespace namespace : state.namespaces()) {
            for (TableIdentifier table : state.list(namespace, PointerKind.TABLE)) {
                if (Thread.interrupted()) {
                    return;
                }
                // what has main only has nothing that expires
                if (!Sets.difference(state.find(table).orElseThrow().refs().keySet(), ImmutableSet.of(MAIN_BRANCH)).isEmpty()) {
                    run("expire refs of " + table, () -> expireRefs(table, now));
                }
            }
        }
    }

    private void expireRefs(TableIdentifier table, Instant now)
    {
        TableMove move = tables.committer().commit(tables.fileIo(USER), new CommitAuthor(USER, Optional.empty()), ImmutableMap.of(table, RefUpdates.expireRefs(now, _ -> true))).getFirst();
        for (RefChange change : move.refChanges()) {
            log.info("Dropped %s of %s, which is older than its max_ref_age: it was at snapshot %s", change.ref(), table, change.before().orElseThrow().snapshotId());
        }
    }
}
