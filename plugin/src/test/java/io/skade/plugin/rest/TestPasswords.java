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

import at.favre.lib.crypto.bcrypt.BCrypt;
import com.google.common.collect.ImmutableList;
import org.junit.jupiter.api.Test;

import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

import java.security.GeneralSecurityException;
import java.util.HexFormat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestPasswords
{
    @Test
    void bothHashesOfTrinosFile()
            throws GeneralSecurityException
    {
        byte[] salt = {1, 2, 3, 4, 5, 6, 7, 8};
        byte[] hash = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA1").generateSecret(new PBEKeySpec("pass:word".toCharArray(), salt, 1000, 160)).getEncoded();
        Passwords passwords = Passwords.parse(ImmutableList.of(
                "alice:" + BCrypt.with(BCrypt.Version.VERSION_2Y).hashToString(8, "secret".toCharArray()),
                "",
                "bob:1000:%s:%s".formatted(HexFormat.of().formatHex(salt), HexFormat.of().formatHex(hash))));

        for (int round = 0; round < 2; round++) {
            assertThat(passwords.verify("alice", "secret")).isTrue();
            assertThat(passwords.verify("bob", "pass:word")).isTrue();
            assertThat(passwords.verify("alice", "Secret")).isFalse();
            assertThat(passwords.verify("alice", "")).isFalse();
            assertThat(passwords.verify("bob", "secret")).isFalse();
            assertThat(passwords.verify("carol", "secret")).isFalse();
        }
    }

    @Test
    void wrongLines()
    {
        assertThatThrownBy(() -> Passwords.parse(ImmutableList.of("alice:secret")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the password of user 'alice' is not hashed by BCrypt or PBKDF2");
        assertThatThrownBy(() -> Tokens.parse(ImmutableList.of("", "alice")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("line 2 is not 'user:value'");
        assertThatThrownBy(() -> Tokens.parse(ImmutableList.of("alice:x", "alice:y")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("line 2: user 'alice' stands twice");
        assertThatThrownBy(() -> Tokens.parse(ImmutableList.of("alice:x", "bob:x")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("user 'bob' has the token of another one");
    }

    @Test
    void usersByToken()
    {
        Tokens tokens = Tokens.parse(ImmutableList.of("alice:s3cr3t:with-colon", "bob:other"));
        assertThat(tokens.findUser("s3cr3t:with-colon")).contains("alice");
        assertThat(tokens.findUser("other")).contains("bob");
        assertThat(tokens.findUser("another")).isEmpty();
        assertThat(tokens.findUser("")).isEmpty();
    }
}
