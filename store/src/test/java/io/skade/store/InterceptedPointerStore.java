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

import org.apache.iceberg.exceptions.CommitStateUnknownException;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A pointer store whose next commits go another way than straight into the store behind it.
 */
public final class InterceptedPointerStore
        extends ForwardingPointerStore
{
    private final Queue<Interceptor> interceptors = new ConcurrentLinkedQueue<>();

    public InterceptedPointerStore(PointerStore store)
    {
        super(store);
    }

    /**
     * Adds what becomes of one more commit.
     */
    public InterceptedPointerStore intercept(Interceptor interceptor)
    {
        interceptors.add(interceptor);
        return this;
    }

    /**
     * One commit meets what the action does just before it.
     */
    public InterceptedPointerStore interfere(Runnable action)
    {
        return intercept(commits -> {
            action.run();
            return delegate().commit(commits);
        });
    }

    /**
     * One commit fails with an unknown outcome, and is not made.
     */
    public InterceptedPointerStore failBefore()
    {
        return intercept(_ -> {
            throw new CommitStateUnknownException(new RuntimeException("no answer"));
        });
    }

    /**
     * One commit fails with an unknown outcome, and is made.
     */
    public InterceptedPointerStore failAfter()
    {
        return intercept(commits -> {
            delegate().commit(commits);
            throw new CommitStateUnknownException(new RuntimeException("no answer"));
        });
    }

    @Override
    public CommitResult commit(List<PointerCommit> commits)
    {
        Interceptor interceptor = interceptors.poll();
        return interceptor == null ? delegate().commit(commits) : interceptor.commit(commits);
    }

    public interface Interceptor
    {
        CommitResult commit(List<PointerCommit> commits);
    }
}
