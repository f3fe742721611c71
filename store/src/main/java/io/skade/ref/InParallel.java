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

import com.google.common.collect.ImmutableList;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;

import static com.google.common.base.Throwables.throwIfUnchecked;
import static java.util.concurrent.Executors.newFixedThreadPool;

/**
 * Work that waits for a file system most of the time.
 */
public final class InParallel
{
    private static final int THREADS = 8;

    private InParallel() {}

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
     * The results of a function, in the order of its arguments.
     *
     * @throws RuntimeException what the function threw for the first argument for which it did
     */
    public static <A, R> List<R> map(Collection<A> arguments, Function<A, R> function)
    {
        if (arguments.size() < 2) {
            return arguments.stream().map(function).toList();
        }
        try (ExecutorService executor = newFixedThreadPool(Math.min(THREADS, arguments.size()), Thread.ofPlatform().daemon().name("skade-files-", 0).factory())) {
            List<Future<R>> futures = arguments.stream()
                    .map(argument -> executor.submit(() -> function.apply(argument)))
                    .toList();
            ImmutableList.Builder<R> results = ImmutableList.builder();
            try {
                for (Future<R> future : futures) {
                    results.add(future.get());
                }
            }
            catch (InterruptedException e) {
                executor.shutdownNow();
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted", e);
            }
            catch (ExecutionException e) {
                executor.shutdownNow();
                throwIfUnchecked(e.getCause());
                throw new IllegalStateException(e.getCause());
            }
            return results.build();
        }
    }
}
