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
package io.skade.benchmark;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;

import static java.util.Objects.requireNonNull;

/**
 * The server of all parts that need one, started for the first of them.
 */
final class LazyServer
        implements AutoCloseable
{
    private final Path root;
    private final Path folder;
    private TrinoServer server;

    LazyServer(Path root, Path folder)
    {
        this.root = requireNonNull(root, "root is null");
        this.folder = requireNonNull(folder, "folder is null");
    }

    TrinoServer get()
            throws IOException, InterruptedException, SQLException
    {
        if (server == null) {
            server = TrinoServer.start(root, Workspace.create(folder));
        }
        return server;
    }

    @Override
    public void close()
            throws InterruptedException
    {
        if (server != null) {
            server.close();
        }
    }
}
