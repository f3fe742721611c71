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
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableMap;
import com.google.common.hash.HashCode;

import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.hash.Hashing.sha256;
import static com.google.common.io.BaseEncoding.base16;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Users and their hashed passwords, in the format of Trino's password file: lines {@code user:hash} with a hash of BCrypt, or of PBKDF2 with HMAC-SHA1 as
 * {@code iterations:salt:hash} with the last two in hexadecimal digits. See "Password file authentication" in Trino's documentation.
 */
final class Passwords
{
    private static final int MAX_VERIFIED = 1_000;

    private final Map<String, String> hashes;
    // to verify takes a while by design, and each request has the password
    private final Cache<HashCode, Boolean> verified = Caffeine.newBuilder().maximumSize(MAX_VERIFIED).build();

    private Passwords(Map<String, String> hashes)
    {
        this.hashes = ImmutableMap.copyOf(hashes);
    }

    /**
     * @throws IllegalArgumentException if a line is wrong; the message tells which, but not what is in it
     */
    static Passwords parse(List<String> lines)
    {
        Map<String, String> hashes = UserLines.parse(lines);
        hashes.forEach((user, hash) -> checkArgument(isBCrypt(hash) || Pbkdf2.parse(hash).isPresent(), "the password of user '%s' is not hashed by BCrypt or PBKDF2", user));
        return new Passwords(hashes);
    }

    boolean verify(String user, String password)
    {
        String hash = hashes.get(user);
        if (hash == null) {
            return false;
        }
        HashCode key = sha256().hashString(user + ":" + password, UTF_8);
        if (verified.getIfPresent(key) != null) {
            return true;
        }
        boolean valid = Pbkdf2.parse(hash)
                .map(expected -> expected.verify(password))
                .orElseGet(() -> BCrypt.verifyer().verify(password.toCharArray(), hash).verified);
        if (valid) {
            verified.put(key, true);
        }
        return valid;
    }

    private static boolean isBCrypt(String hash)
    {
        return BCrypt.verifyer().verify(new char[0], hash).validFormat;
    }

    private record Pbkdf2(int iterations, byte[] salt, byte[] hash)
    {
        private static Optional<Pbkdf2> parse(String value)
        {
            List<String> parts = Splitter.on(':').splitToList(value);
            if (parts.size() != 3) {
                return Optional.empty();
            }
            try {
                return Optional.of(new Pbkdf2(Integer.parseInt(parts.get(0)), base16().lowerCase().decode(parts.get(1)), base16().lowerCase().decode(parts.get(2))));
            }
            catch (IllegalArgumentException _) {
                return Optional.empty();
            }
        }

        private boolean verify(String password)
        {
            try {
                PBEKeySpec spec = new PBEKeySpec(password.toCharArray(), salt, iterations, hash.length * Byte.SIZE);
                return MessageDigest.isEqual(hash, SecretKeyFactory.getInstance("PBKDF2WithHmacSHA1").generateSecret(spec).getEncoded());
            }
            catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
