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

import io.airlift.stats.CounterStat;
import io.airlift.stats.TimeStat;
import org.weakref.jmx.Managed;
import org.weakref.jmx.Nested;

/**
 * What became of the commits of a {@link RefCommitter}.
 */
public final class CommitStats
{
    private final CounterStat commits = new CounterStat();
    private final TimeStat commitTime = new TimeStat();
    private final TimeStat syncTime = new TimeStat();
    private final CounterStat conflicts = new CounterStat();
    private final CounterStat failures = new CounterStat();
    private final CounterStat unknownOutcomes = new CounterStat();

    CommitStats() {}

    /**
     * Commits that are durable.
     */
    @Managed
    @Nested
    public CounterStat getCommits()
    {
        return commits;
    }

    /**
     * How long they took from their beginning, all attempts included.
     */
    @Managed
    @Nested
    public TimeStat getCommitTime()
    {
        return commitTime;
    }

    /**
     * The part of it from giving a commit to the store until the answer: the wait for the commits before it, and the sync that it shares.
     */
    @Managed
    @Nested
    public TimeStat getSyncTime()
    {
        return syncTime;
    }

    /**
     * Attempts that lost a race; each was followed by another attempt or ended in a failure.
     */
    @Managed
    @Nested
    public CounterStat getConflicts()
    {
        return conflicts;
    }

    /**
     * Commits that were refused or could not be made, and changed nothing.
     */
    @Managed
    @Nested
    public CounterStat getFailures()
    {
        return failures;
    }

    /**
     * Commits of which it is not known whether they are durable.
     */
    @Managed
    @Nested
    public CounterStat getUnknownOutcomes()
    {
        return unknownOutcomes;
    }
}
