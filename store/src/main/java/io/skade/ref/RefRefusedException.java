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

import com.google.errorprone.annotations.FormatMethod;

import java.util.List;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * A ref update that is not allowed. Nothing was changed.
 */
public class RefRefusedException
        extends RuntimeException
{
    /**
     * Why an update is refused.
     */
    public enum Reason
    {
        /**
         * The ref does not exist, or is of the other kind.
         */
        REF_NOT_FOUND,
        REF_ALREADY_EXISTS,
        /**
         * The new snapshot does not descend from the branch's present one.
         */
        NOT_FAST_FORWARD,
        /**
         * The new snapshot is not an ancestor of the branch's present one.
         */
        NOT_ANCESTOR,
        /**
         * A branch cannot be replayed on another one: the two branches changed the same, or their histories do not meet.
         */
        REBASE_CONFLICT,
        /**
         * The ref is protected, see {@link ProtectedRefs}.
         */
        PROTECTED,
        /**
         * The ref is not at the snapshot that the caller expects.
         */
        UNEXPECTED_SNAPSHOT,
        /**
         * The rows of a branch do not fit the present schema of the table.
         */
        NOT_READABLE,
        /**
         * A name, a snapshot id, an age or another value cannot be used.
         */
        INVALID_VALUE,
    }

    private final Reason reason;

    @FormatMethod
    public RefRefusedException(Reason reason, String message, Object... arguments)
    {
        super(message.formatted(arguments));
        this.reason = requireNonNull(reason, "reason is null");
    }

    /**
     * One refusal for several: its message has all of theirs, its reason is that of the first.
     */
    static RefRefusedException ofAll(List<RefRefusedException> refusals)
    {
        if (refusals.size() == 1) {
            return refusals.getFirst();
        }
        String messages = refusals.stream().map(RefRefusedException::getMessage).distinct().collect(joining("; "));
        return new RefRefusedException(refusals.getFirst().reason(), "%s", messages);
    }

    public Reason reason()
    {
        return reason;
    }
}
