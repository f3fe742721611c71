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
package io.skade.plugin.rest;

import com.google.common.collect.ImmutableMap;
import jakarta.validation.constraints.AssertTrue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static io.airlift.testing.ValidationAssertions.assertFailsValidation;
import static io.airlift.testing.ValidationAssertions.assertValidates;

class TestRestConfig
{
    @TempDir
    private Path folder;

    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(RestConfig.class)
                .setEnabled(false)
                .setPort(8181)
                .setBindAddress("127.0.0.1")
                .setPasswordFile(null)
                .setTokenFile(null)
                .setKeystorePath(null)
                .setKeystoreKey(null));
    }

    @Test
    void testExplicitPropertyMappings()
            throws IOException
    {
        Path passwords = Files.createFile(folder.resolve("passwords"));
        Path tokens = Files.createFile(folder.resolve("tokens"));
        Path keystore = Files.createFile(folder.resolve("keystore.pem"));
        Map<String, String> properties = ImmutableMap.<String, String>builder()
                .put("skade.rest.enabled", "true")
                .put("skade.rest.port", "8443")
                .put("skade.rest.bind-address", "10.0.0.7")
                .put("skade.rest.password-file", passwords.toString())
                .put("skade.rest.token-file", tokens.toString())
                .put("skade.rest.https.keystore.path", keystore.toString())
                .put("skade.rest.https.keystore.key", "secret")
                .buildOrThrow();

        RestConfig expected = new RestConfig()
                .setEnabled(true)
                .setPort(8443)
                .setBindAddress("10.0.0.7")
                .setPasswordFile(passwords)
                .setTokenFile(tokens)
                .setKeystorePath(keystore)
                .setKeystoreKey("secret");

        assertFullMapping(properties, expected);
    }

    /**
     * The same file of a catalog is on every node, but the files that it names are only on the coordinator.
     */
    @Test
    void filesAreTheCoordinators()
    {
        Path absent = folder.resolve("absent");
        assertValidates(new RestConfig().setEnabled(true).setPasswordFile(absent).setTokenFile(absent).setKeystorePath(absent));
    }

    @Test
    void onlyTheLoopbackAddressIsOpenToAll()
            throws IOException
    {
        Path tokens = Files.createFile(folder.resolve("tokens"));
        String any = "0.0.0.0";
        assertValidates(new RestConfig().setEnabled(true));
        assertValidates(new RestConfig().setBindAddress(any));
        assertValidates(new RestConfig().setEnabled(true).setBindAddress(any).setTokenFile(tokens));
        assertFailsValidation(
                new RestConfig().setEnabled(true).setBindAddress(any),
                "safe",
                "skade.rest.password-file or skade.rest.token-file is required if skade.rest.bind-address is not the loopback address",
                AssertTrue.class);
    }
}
