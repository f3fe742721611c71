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
 * Measures the catalog against others on the same work. {@link io.skade.benchmark.Benchmarks} is the command; each {@link io.skade.benchmark.Part} is
 * one kind of work. All of a kind take turns in one run, and what counts is their ratio, also to what the raw disk does in its turn.
 */
package io.skade.benchmark;
