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
package io.skade.plugin;

import io.trino.spi.connector.Connector;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class TestSkadeConnector
{
    private static final Set<String> NOT_FORWARDED = Set.of(
            // replaced by the factory of page source providers
            "getPageSourceProvider",
            // Trino's Iceberg connector has neither
            "getRecordSetProvider",
            "getIndexProvider");

    /**
     * A method that a new release of Trino adds to connectors must be forwarded, or the capability is lost without a word.
     */
    @Test
    void forwardsEverything()
    {
        assertThat(Arrays.stream(Connector.class.getMethods())
                .filter(method -> !NOT_FORWARDED.contains(method.getName()))
                .filter(method -> !isDeclared(method)))
                .isEmpty();
    }

    private static boolean isDeclared(Method method)
    {
        return Arrays.stream(SkadeConnector.class.getDeclaredMethods())
                .anyMatch(declared -> declared.getName().equals(method.getName()) && Arrays.equals(declared.getParameterTypes(), method.getParameterTypes()));
    }
}
