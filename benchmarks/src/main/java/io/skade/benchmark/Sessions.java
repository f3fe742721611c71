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

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Open sessions of a server.
 */
final class Sessions
        implements AutoCloseable
{
    private final TrinoServer server;
    private final List<Connection> connections = new ArrayList<>();

    Sessions(TrinoServer server)
    {
        this.server = requireNonNull(server, "server is null");
    }

    Connection open(String catalog)
            throws SQLException
    {
        Connection connection = server.connect(catalog);
        connections.add(connection);
        return connection;
    }

    /**
     * A contender for each catalog that there is, with the same statement in a session of its own.
     */
    List<Contender> contenders(List<String> catalogs, String sql)
            throws SQLException
    {
        List<Contender> contenders = new ArrayList<>();
        for (String catalog : catalogs) {
            if (server.hasCatalog(catalog)) {
                contenders.add(contender(server.subject(catalog), catalog, sql));
            }
        }
        return contenders;
    }

    Contender contender(String name, String catalog, String sql)
            throws SQLException
    {
        Connection connection = open(catalog);
        return new Contender(name, (_, _) -> Sql.run(connection, sql));
    }

    @Override
    public void close()
            throws SQLException
    {
        for (Connection connection : connections) {
            connection.close();
        }
    }
}
