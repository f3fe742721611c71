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
 * The pointer store: which metadata file and refs each table has now, and the log of every move.
 *
 * <p>Start at {@link io.skade.store.PointerStore}, then {@link io.skade.store.PointerCommit}. The store knows nothing
 * of what is inside a metadata file; that is the business of {@code io.skade.ref}.
 */
package io.skade.store;
