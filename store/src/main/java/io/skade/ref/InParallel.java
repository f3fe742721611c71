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
package io.skade.ref;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future.State;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;
import java.util.function.Function;

import static com.google.common.base.Throwables.throwIfUnchecked;
import static com.google.common.util.concurrent.Uninterruptibles.getUninterruptibly;
import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * Work that waits for a file system most of the time. Whoever waits for it does himself what no other thread has begun.
 */
public final class InParallel
{
    private static final int THREADS = 8;
    private static final ThreadPoolExecutor EXECUTOR = createExecutor();

    private InParallel() {}

    private static ThreadPoolExecutor createExecutor()
    {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(THREADS, THREADS, 5, SECONDS, new LinkedBlockingQueue<>(), Thread.ofPlatform().daemon().name("skade-files-", 0).factory());
        // nothing closes it
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /**
     * Runs an action with each argument.
     *
     * @throws RuntimeException as {@link #map}
     */
    public static <A> void forEach(Collection<A> arguments, Consumer<A> action)
    {
        map(arguments, argument -> {
            action.accept(argument);
            return Optional.empty();
        });
    }

    /**
     * The results of a function, in the order of its arguments. All calls have ended when this returns or fails.
     *
     * @throws RuntimeException what the function threw for the first argument for which it did
     */
    public static <A, R> List<R> map(Collection<A> arguments, Function<A, R> function)
    {
        List<FutureTask<R>> tasks = arguments.stream()
                .map(argument -> new FutureTask<>(() -> function.apply(argument)))
                .toList();
        for (int i = 1; i < Math.min(THREADS, tasks.size()); i++) {
            EXECUTOR.execute(() -> tasks.forEach(FutureTask::run));
        }
        tasks.forEach(FutureTask::run);
        // all have to end before one fails
        tasks.forEach(InParallel::awaitEnd);
        return tasks.stream().map(InParallel::get).toList();
    }

    private static void awaitEnd(FutureTask<?> task)
    {
        try {
            getUninterruptibly(task);
        }
        catch (ExecutionException _) {
            // the result tells
        }
    }

    private static <R> R get(FutureTask<R> task)
    {
        if (task.state() == State.FAILED) {
            throwIfUnchecked(task.exceptionNow());
        }
        return task.resultNow();
    }
}
