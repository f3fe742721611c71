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
package io.skade.procedure;

import io.trino.spi.ErrorCode;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.ErrorType;

import static io.trino.spi.ErrorType.EXTERNAL;
import static io.trino.spi.ErrorType.USER_ERROR;

/**
 * The errors that only this connector has. Numbers and names are what clients see, so they stay.
 */
public enum SkadeErrorCode
        implements ErrorCodeSupplier
{
    /**
     * The ref does not exist, or is of the other kind.
     */
    REF_NOT_FOUND(0, USER_ERROR, true),
    REF_ALREADY_EXISTS(1, USER_ERROR, true),
    /**
     * The new snapshot does not descend from the branch's present one.
     */
    REF_NOT_FAST_FORWARD(2, USER_ERROR, true),
    /**
     * The new snapshot is not an ancestor of the branch's present one.
     */
    REF_NOT_ANCESTOR(3, USER_ERROR, true),
    REF_PROTECTED(4, USER_ERROR, true),
    /**
     * The table or ref is not, or is no longer, what the caller expected. Nothing was changed: it is safe to look again and to retry.
     */
    REF_COMMIT_CONFLICT(5, EXTERNAL, false),
    /**
     * The change may or may not be durable.
     */
    REF_COMMIT_STATE_UNKNOWN(6, EXTERNAL, true),
    /**
     * The store cannot do its work, or a metadata file cannot be written. Nothing was changed.
     */
    SKADE_STORE_ERROR(7, EXTERNAL, false),
    /**
     * A branch cannot be replayed on another one: the two branches changed the same, or their histories do not meet.
     */
    REF_REBASE_CONFLICT(8, USER_ERROR, true),
    /**/;

    private static final int BASE = 0x0534_0000;

    private final ErrorCode errorCode;

    SkadeErrorCode(int number, ErrorType type, boolean fatal)
    {
        errorCode = new ErrorCode(BASE + number, name(), type, fatal);
    }

    @Override
    public ErrorCode toErrorCode()
    {
        return errorCode;
    }
}
