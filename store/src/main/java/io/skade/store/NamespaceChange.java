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

import org.apache.iceberg.catalog.Namespace;

import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * One namespace's part of a commit. A namespace that holds a pointer or another namespace cannot be taken away.
 *
 * @param expected the properties that must be there, or empty for "must not exist"
 * @param next the properties to put, or empty to take the namespace away
 */
public record NamespaceChange(Namespace namespace, Optional<Map<String, String>> expected, Optional<Map<String, String>> next)
{
    public NamespaceChange
    {
        requireNonNull(namespace, "namespace is null");
        requireNonNull(expected, "expected is null");
        requireNonNull(next, "next is null");
        checkArgument(expected.isPresent() || next.isPresent(), "nothing expected and nothing to put for %s", namespace);
    }
}
