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
package io.skade.catalog;

import io.skade.store.PointerChange;
import org.apache.iceberg.catalog.TableIdentifier;

import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * What a rebuild makes of one table or view whose files it found.
 *
 * @param metadataLocation the newest metadata file, or one of several of which none is the newest
 * @param message why; empty if there is nothing to say
 * @param change what it does to the pointer; empty if it does nothing
 */
public record RebuildStep(TableIdentifier name, Outcome outcome, String metadataLocation, String message, Optional<PointerChange> change)
{
    public RebuildStep
    {
        requireNonNull(name, "name is null");
        requireNonNull(outcome, "outcome is null");
        requireNonNull(metadataLocation, "metadataLocation is null");
        requireNonNull(message, "message is null");
        requireNonNull(change, "change is null");
        checkArgument(change.isPresent() == (outcome == Outcome.CREATED || outcome == Outcome.MOVED), "outcome %s with change %s", outcome, change);
    }

    public enum Outcome
    {
        /**
         * The store has the newest metadata.
         */
        UP_TO_DATE,
        /**
         * The store does not know the table or view.
         */
        CREATED,
        /**
         * The store has other metadata, which the newest descends from or which cannot be read any more.
         */
        MOVED,
        /**
         * Somebody has to decide; nothing is done.
         */
        CONFLICT,
    }

    static RebuildStep conflict(TableIdentifier name, String metadataLocation, String message)
    {
        return new RebuildStep(name, Outcome.CONFLICT, metadataLocation, message, Optional.empty());
    }
}
