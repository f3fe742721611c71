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

/**
 * Refs: the rules under which they move, and tables as one ref sees them.
 *
 * <p>Start at {@link io.skade.ref.RefUpdate} and its factories in {@link io.skade.ref.RefUpdates}; {@link io.skade.ref.RefCommitter} runs
 * them. Reads and writes at a ref go through {@link io.skade.ref.BranchTableOperations} and {@link io.skade.ref.SnapshotTableOperations}.
 */
package io.skade.ref;
