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

import java.time.Instant;

import static java.util.Objects.requireNonNull;

/**
 * A way to say which snapshot is meant.
 */
public sealed interface SnapshotSelector
{
    /**
     * The snapshot that a branch or tag is at.
     */
    record AtRef(String ref)
            implements SnapshotSelector
    {
        public AtRef
        {
            requireNonNull(ref, "ref is null");
        }
    }

    /**
     * The snapshot at which a tag is; a branch of that name is refused.
     */
    record AtTag(String tag)
            implements SnapshotSelector
    {
        public AtTag
        {
            requireNonNull(tag, "tag is null");
        }
    }

    record AtSnapshot(long snapshotId)
            implements SnapshotSelector {}

    /**
     * The snapshot that was current at a time: for a new ref and for a read, by {@code main}'s history; for a rollback, the newest ancestor
     * committed at or before the time.
     */
    record AtTime(Instant time)
            implements SnapshotSelector
    {
        public AtTime
        {
            requireNonNull(time, "time is null");
        }
    }
}
