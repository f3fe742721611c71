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

import com.google.common.net.InetAddresses;
import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.configuration.ConfigSecuritySensitive;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Optional;

public class RestConfig
{
    private boolean enabled;
    private int port = 8181;
    private InetAddress bindAddress = InetAddress.getLoopbackAddress();
    private Optional<Path> passwordFile = Optional.empty();
    private Optional<Path> tokenFile = Optional.empty();
    private Optional<Path> keystorePath = Optional.empty();
    private Optional<String> keystoreKey = Optional.empty();

    public boolean isEnabled()
    {
        return enabled;
    }

    @Config("skade.rest.enabled")
    @ConfigDescription("Whether the coordinator serves the catalog to other engines by Iceberg's REST protocol")
    public RestConfig setEnabled(boolean enabled)
    {
        this.enabled = enabled;
        return this;
    }

    @Min(0)
    @Max(65535)
    public int getPort()
    {
        return port;
    }

    @Config("skade.rest.port")
    @ConfigDescription("Port of the REST catalog, 0 for a free one")
    public RestConfig setPort(int port)
    {
        this.port = port;
        return this;
    }

    @NotNull
    public InetAddress getBindAddress()
    {
        return bindAddress;
    }

    @Config("skade.rest.bind-address")
    @ConfigDescription("IP address at which the REST catalog listens; all but the loopback address take a password file or a token file")
    public RestConfig setBindAddress(String bindAddress)
    {
        this.bindAddress = InetAddresses.forString(bindAddress);
        return this;
    }

    public Optional<Path> getPasswordFile()
    {
        return passwordFile;
    }

    @Config("skade.rest.password-file")
    @ConfigDescription("Users and hashed passwords for basic authentication, in the format of Trino's password file")
    public RestConfig setPasswordFile(Path passwordFile)
    {
        this.passwordFile = Optional.ofNullable(passwordFile);
        return this;
    }

    public Optional<Path> getTokenFile()
    {
        return tokenFile;
    }

    @Config("skade.rest.token-file")
    @ConfigDescription("Bearer tokens, a line user:token each")
    public RestConfig setTokenFile(Path tokenFile)
    {
        this.tokenFile = Optional.ofNullable(tokenFile);
        return this;
    }

    public Optional<Path> getKeystorePath()
    {
        return keystorePath;
    }

    @Config("skade.rest.https.keystore.path")
    @ConfigDescription("PEM or Java keystore file with the certificate of the REST catalog, which speaks only HTTPS then")
    public RestConfig setKeystorePath(Path keystorePath)
    {
        this.keystorePath = Optional.ofNullable(keystorePath);
        return this;
    }

    public Optional<String> getKeystoreKey()
    {
        return keystoreKey;
    }

    @Config("skade.rest.https.keystore.key")
    @ConfigDescription("Password of the keystore")
    @ConfigSecuritySensitive
    public RestConfig setKeystoreKey(String keystoreKey)
    {
        this.keystoreKey = Optional.ofNullable(keystoreKey);
        return this;
    }

    boolean isAuthenticating()
    {
        return passwordFile.isPresent() || tokenFile.isPresent();
    }

    @AssertTrue(message = "skade.rest.password-file or skade.rest.token-file is required if skade.rest.bind-address is not the loopback address")
    public boolean isSafe()
    {
        return !enabled || bindAddress.isLoopbackAddress() || isAuthenticating();
    }
}
