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

/**
 * How a branch is published to another one.
 */
public enum PublishMode
{
    /**
     * The other branch moves to where the published one is, and must be at an ancestor of that.
     */
    FAST_FORWARD,
    /**
     * Where the other branch went its own way, the snapshots of the published one are replayed on it. Afterwards both are at the same snapshot.
     */
    REBASE,
}
