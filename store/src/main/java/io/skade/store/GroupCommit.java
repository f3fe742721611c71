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

import com.google.common.collect.ImmutableList;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Objects.requireNonNull;

/**
 * Lets threads that commit at the same moment share one commit: one of them does the work of all who came while the work before was done. The others
 * sleep until theirs is done, and meet no lock when they wake.
 */
public final class GroupCommit<T>
{
    private final Queue<Waiter<T>> waiting = new ArrayDeque<>(); // guarded by this
    private boolean busy; // guarded by this

    /**
     * Returns when the work is done, be it in this thread or in another. What either wrote before is visible then.
     *
     * @param worker does all the work it is given, in one thread at a time. What it throws is thrown here, and its other works count as done
     */
    public void run(T work, Consumer<List<T>> worker)
    {
        Waiter<T> own = new Waiter<>(work);
        if (!enter(own)) {
            own.await();
        }
        if (own.state == State.DONE) {
            return;
        }
        List<Waiter<T>> taken = takeAll();
        try {
            worker.accept(taken.stream().map(waiter -> waiter.work).collect(toImmutableList()));
        }
        finally {
            // the next one first: those who are done have no hurry
            handOver();
            for (Waiter<T> waiter : taken) {
                if (waiter != own) {
                    waiter.wake(State.DONE);
                }
            }
        }
    }

    /**
     * Whether the caller has to work.
     */
    private synchronized boolean enter(Waiter<T> waiter)
    {
        waiting.add(waiter);
        if (busy) {
            return false;
        }
        busy = true;
        waiter.state = State.WORKING;
        return true;
    }

    private synchronized List<Waiter<T>> takeAll()
    {
        List<Waiter<T>> taken = ImmutableList.copyOf(waiting);
        waiting.clear();
        return taken;
    }

    private synchronized void handOver()
    {
        Waiter<T> next = waiting.peek();
        if (next == null) {
            busy = false;
        }
        else {
            next.wake(State.WORKING);
        }
    }

    private enum State
    {
        WAITING,
        WORKING,
        DONE,
    }

    private static final class Waiter<T>
    {
        private final T work;
        private final Thread thread = Thread.currentThread();
        private volatile State state = State.WAITING;

        private Waiter(T work)
        {
            this.work = requireNonNull(work, "work is null");
        }

        private void wake(State state)
        {
            this.state = state;
            LockSupport.unpark(thread);
        }

        private void await()
        {
            boolean interrupted = false;
            while (state == State.WAITING) {
                LockSupport.park(this);
                interrupted |= Thread.interrupted();
            }
            if (interrupted) {
                thread.interrupt();
            }
        }
    }
}
