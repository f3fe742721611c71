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
package io.skade.plugin.catalog;

import com.google.common.io.BaseEncoding;
import io.skade.ref.RefNames;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.SchemaTableName;
import org.apache.iceberg.SnapshotRef;

import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static io.trino.spi.StandardErrorCode.INVALID_ARGUMENTS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.apache.iceberg.SnapshotRef.MAIN_BRANCH;

/**
 * A table as a ref sees it, written as one name: the private name under which the catalog loads it for Trino's connector.
 *
 * <p>The name of the table, a separator that no statement gets past {@link #isReserved}, a letter for the kind, and the ref. Names lose their
 * case in {@link SchemaTableName}, so a branch is written in hexadecimal.
 */
public sealed interface RefTableName
{
    char SEPARATOR = '\u001e';

    SchemaTableName table();

    /**
     * The table at a branch, writable.
     */
    record AtBranch(SchemaTableName table, String branch)
            implements RefTableName
    {
        public AtBranch
        {
            requireNonNull(table, "table is null");
            requireNonNull(branch, "branch is null");
        }

        @Override
        public SchemaTableName privateName()
        {
            return RefTableName.privateName(table, "b" + BaseEncoding.base16().lowerCase().encode(branch.getBytes(UTF_8)));
        }
    }

    /**
     * The table at a snapshot, read-only.
     */
    record AtSnapshot(SchemaTableName table, long snapshotId)
            implements RefTableName
    {
        public AtSnapshot
        {
            requireNonNull(table, "table is null");
        }

        @Override
        public SchemaTableName privateName()
        {
            return RefTableName.privateName(table, "s" + snapshotId);
        }
    }

    SchemaTableName privateName();

    private static SchemaTableName privateName(SchemaTableName table, String suffix)
    {
        return new SchemaTableName(table.getSchemaName(), table.getTableName() + SEPARATOR + suffix);
    }

    /**
     * The name under which the catalog loads a table at one of its refs; at {@code main} that is the plain one.
     */
    static SchemaTableName nameAt(SchemaTableName table, String name, SnapshotRef ref)
    {
        if (name.equals(MAIN_BRANCH)) {
            return table;
        }
        return ref.isBranch()
                ? new AtBranch(table, name).privateName()
                : new AtSnapshot(table, ref.snapshotId()).privateName();
    }

    /**
     * Whether a name has the form of a private name. Such a name in a statement means no table.
     */
    static boolean isReserved(SchemaTableName name)
    {
        return name.getTableName().indexOf(SEPARATOR) >= 0;
    }

    /**
     * Whether a name asks neither for a ref nor for a metadata table.
     */
    static boolean isPlain(SchemaTableName name)
    {
        return name.getTableName().indexOf('@') < 0 && name.getTableName().indexOf('$') < 0;
    }

    /**
     * @throws TrinoException if a table or view of this name could not be reached
     */
    static void checkName(SchemaTableName name)
    {
        String table = name.getTableName();
        if (!isPlain(name) || table.chars().anyMatch(Character::isISOControl)) {
            throw new TrinoException(INVALID_ARGUMENTS, "Invalid name of a table or view: it contains '@', '$' or a control character: %s".formatted(name));
        }
        if (!RefNames.isWellFormed(table)) {
            throw new TrinoException(INVALID_ARGUMENTS, "Invalid name of a table or view: it is not well-formed Unicode");
        }
    }

    /**
     * What a private name means, empty if it is the plain name of a table.
     */
    static Optional<RefTableName> parse(SchemaTableName name)
    {
        int separator = name.getTableName().indexOf(SEPARATOR);
        if (separator < 0) {
            return Optional.empty();
        }
        SchemaTableName table = new SchemaTableName(name.getSchemaName(), name.getTableName().substring(0, separator));
        String kind = name.getTableName().substring(separator + 1, separator + 2);
        String value = name.getTableName().substring(separator + 2);
        checkArgument(kind.equals("b") || kind.equals("s"), "Invalid private name: %s", name);
        return Optional.of(kind.equals("b")
                ? new AtBranch(table, new String(BaseEncoding.base16().lowerCase().decode(value), UTF_8))
                : new AtSnapshot(table, Long.parseLong(value)));
    }
}
