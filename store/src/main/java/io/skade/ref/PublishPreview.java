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

import static java.util.Objects.requireNonNull;

/**
 * What publishing a branch would do now.
 *
 * @param message empty, or what there is to know about the outcome; for a conflict the text with which a rebase is refused
 */
public record PublishPreview(Outcome outcome, String message)
{
    public PublishPreview
    {
        requireNonNull(outcome, "outcome is null");
        requireNonNull(message, "message is null");
    }

    public enum Outcome
    {
        /**
         * Both branches are at the same snapshot.
         */
        UP_TO_DATE,
        FAST_FORWARD,
        /**
         * The branch is at an ancestor of where the other one is: it has nothing to publish.
         */
        BEHIND,
        REBASE,
        /**
         * Neither mode can publish the branch.
         */
        CONFLICT,
    }

    /**
     * The outcome by the checks of the publish itself. Writes nothing.
     *
     * @throws RefRefusedException if one of the branches is missing or both are the same
     */
    public static PublishPreview of(RefTarget target, String branch, String to)
    {
        Divergence divergence = RefUpdates.compare(target, branch, to);
        return switch (divergence.kind()) {
            case NONE -> new PublishPreview(Outcome.UP_TO_DATE, "");
            case AHEAD -> new PublishPreview(Outcome.FAST_FORWARD, "");
            case BEHIND -> new PublishPreview(Outcome.BEHIND, "%s has no snapshot that %s does not have".formatted(branch, to));
            case BOTH -> rebase(target, branch, to, divergence);
        };
    }

    private static PublishPreview rebase(RefTarget target, String branch, String to, Divergence divergence)
    {
        try {
            Rebase rebase = Rebase.plan(target, branch, to, divergence);
            return new PublishPreview(Outcome.REBASE, "Snapshots of %s to replay on %s: %s".formatted(branch, to, rebase.replayed()));
        }
        catch (RefRefusedException e) {
            return new PublishPreview(Outcome.CONFLICT, e.getMessage());
        }
    }
}
