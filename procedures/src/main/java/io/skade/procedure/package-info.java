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
 * The git verbs as {@code CALL system.<verb>(...)}: reading of arguments, access control, errors.
 *
 * <p>What a verb does is a {@link io.skade.ref.RefUpdate}; a class here only says how it is called. {@link io.skade.procedure.RefProcedures}
 * lists them all; start at {@link io.skade.procedure.RefProcedure}, which does what they have in common.
 */
package io.skade.procedure;
