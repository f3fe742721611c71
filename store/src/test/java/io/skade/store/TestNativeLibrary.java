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
package io.skade.store;

import com.google.common.collect.ImmutableList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How RocksDB's library gets into a process: once for each plugin folder, by way of the temporary folder.
 */
class TestNativeLibrary
{
    @TempDir
    private Path temporary;

    @Test
    void testTemporaryFolderThatCannotBeWritten()
            throws Exception
    {
        Path missing = temporary.resolve("missing");
        assertRefused(missing, "No such file or directory");
    }

    @Test
    void testTemporaryFolderThatMayNotExecute()
            throws Exception
    {
        Path folder = temporary.resolve("disk");
        try (TestingDisk _ = TestingDisk.create(folder, "size=64m,noexec")) {
            assertRefused(folder, "failed to map segment from shared object");
        }
    }

    private void assertRefused(Path temporaryFolder, String reason)
            throws Exception
    {
        try (ChildJvm process = ChildJvm.start(ImmutableList.of(), ImmutableList.of("-Djava.io.tmpdir=" + temporaryFolder), OpenTwice.class, temporary.resolve("store").toString())) {
            for (int i = 0; i < 2; i++) {
                assertThat(process.readLine())
                        .startsWith("Cannot load the native library of RocksDB (")
                        .contains(reason)
                        .endsWith("). It is unpacked into the temporary folder " + temporaryFolder + ", which must allow to write and to execute files. Set another with -Djava.io.tmpdir=.., or name one with the environment variable ROCKSDB_SHAREDLIB_DIR, and restart the server");
            }
            assertThat(process.exitCode()).isZero();
        }
    }

    @Test
    void testTwoClassLoaders()
            throws Exception
    {
        Path one = temporary.resolve("one");
        Path other = temporary.resolve("other");
        Path unpacked = Files.createDirectories(temporary.resolve("unpacked"));
        try (ChildJvm process = ChildJvm.start(ImmutableList.of(), ImmutableList.of("-Djava.io.tmpdir=" + unpacked), TwoClassLoaders.class, one.toString(), other.toString())) {
            assertThat(process.readLine()).isEqualTo("opened");
            // one folder is one store, however many copies of RocksDB there are
            for (int i = 0; i < 2; i++) {
                assertThat(process.readLine())
                        .startsWith("The store folder %s is in use (process %s since ".formatted(one, process.pid()))
                        .endsWith("). One process opens a store at a time, and once");
            }
            assertThat(process.readLine()).isEqualTo("opened");
            assertThat(process.readLine()).isEqualTo("closed");
            assertThat(process.readLine()).isEqualTo("opened");
            assertThat(process.exitCode()).isZero();
        }
        assertThat(unpacked).isEmptyDirectory();
    }

    static final class OpenTwice
    {
        private OpenTwice() {}

        public static void main(String[] arguments)
        {
            for (int i = 0; i < 2; i++) {
                try {
                    RocksDbPointerStore.open(Path.of(arguments[0])).close();
                    System.out.println("opened");
                }
                catch (StoreException e) {
                    System.out.println(e.getMessage());
                }
            }
        }
    }

    static final class TwoClassLoaders
    {
        private TwoClassLoaders() {}

        public static void main(String[] arguments)
                throws Exception
        {
            UnaryOperator<String> left = newStores();
            UnaryOperator<String> right = newStores();
            System.out.println(left.apply(arguments[0]));
            System.out.println(right.apply(arguments[0]));
            System.out.println(left.apply(arguments[0]));
            System.out.println(right.apply(arguments[1]));
            System.out.println(left.apply(""));
            System.out.println(right.apply(arguments[0]));
            right.apply("");
        }

        @SuppressWarnings("unchecked")
        private static UnaryOperator<String> newStores()
                throws Exception
        {
            List<URL> classPath = new ArrayList<>();
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                classPath.add(Path.of(entry).toUri().toURL());
            }
            ClassLoader loader = new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
            return (UnaryOperator<String>) loader.loadClass(Stores.class.getName()).getConstructor().newInstance();
        }
    }

    /**
     * Opens the store in a folder, and closes all stores if there is no folder.
     */
    public static final class Stores
            implements UnaryOperator<String>
    {
        private final List<RocksDbPointerStore> opened = new ArrayList<>();

        @Override
        public String apply(String folder)
        {
            if (folder.isEmpty()) {
                opened.forEach(RocksDbPointerStore::close);
                return "closed";
            }
            try {
                opened.add(RocksDbPointerStore.open(Path.of(folder)));
                return "opened";
            }
            catch (StoreException e) {
                return e.getMessage();
            }
        }
    }
}
