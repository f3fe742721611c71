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

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.hadoop.HadoopCatalog;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.jdbc.JdbcCatalog;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The catalogs that are measured, by name.
 */
final class Peers
{
    static final String SKADE = "skade";
    static final String POSTGRESQL = "jdbc-postgresql";
    static final String SQLITE = "jdbc-sqlite";
    static final String NESSIE = "nessie";
    static final String HADOOP = "hadoop";
    static final String IN_MEMORY = "in-memory";

    static final Namespace NAMESPACE = Namespace.of("db");

    /**
     * The address of the PostgreSQL database; there is none if it is not set.
     */
    static final String POSTGRESQL_URL = "skade.benchmark.postgresql";

    private static final int MAX_CLIENTS = 16;

    private Peers() {}

    /**
     * The names, ours first.
     */
    static List<String> names()
    {
        ImmutableList.Builder<String> names = ImmutableList.<String>builder().add(SKADE);
        if (!System.getProperty(POSTGRESQL_URL, "").isEmpty()) {
            names.add(POSTGRESQL);
        }
        return names.add(SQLITE, NESSIE, HADOOP, IN_MEMORY).build();
    }

    /**
     * How many commits a thread may make in a turn: what is in memory stays there.
     */
    static int maxSteps(String name)
    {
        return name.equals(IN_MEMORY) ? 10 : 1000;
    }

    /**
     * Opens a new catalog with its files in a folder of its own.
     */
    static Peer open(String name, Path parent)
    {
        Path folder = parent.resolve(name);
        try {
            Files.createDirectories(folder);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return switch (name) {
            case SKADE -> new SkadePeer(folder);
            case POSTGRESQL -> jdbc(folder, System.getProperty(POSTGRESQL_URL));
            // a sync a commit, and readers do not wait for writers
            case SQLITE -> jdbc(folder, "jdbc:sqlite:%s?journal_mode=WAL&synchronous=FULL&busy_timeout=60000&transaction_mode=IMMEDIATE".formatted(folder.resolve("catalog.db")));
            case NESSIE -> new NessiePeer(folder);
            case HADOOP -> hadoop(folder);
            case IN_MEMORY -> initialize(new InMemoryCatalog(), new InMemoryFileIO(), folder, ImmutableMap.of());
            default -> throw new IllegalArgumentException("No such catalog: " + name);
        };
    }

    /**
     * A catalog on a database, in which it makes its tables if they are not there.
     */
    static Peer jdbc(Path folder, String url)
    {
        LocalFiles io = LocalFiles.synced();
        JdbcCatalog catalog = new JdbcCatalog(_ -> io, null, true);
        return initialize(catalog, io, folder, ImmutableMap.of(
                CatalogProperties.URI, url,
                CatalogProperties.CLIENT_POOL_SIZE, String.valueOf(MAX_CLIENTS),
                "jdbc.schema-version", "V1"));
    }

    private static Peer hadoop(Path folder)
    {
        Configuration configuration = new Configuration(false);
        configuration.setClass("fs.file.impl", HadoopFiles.class, FileSystem.class);
        HadoopCatalog catalog = new HadoopCatalog();
        catalog.setConf(configuration);
        return initialize(catalog, new LocalFiles(), folder, ImmutableMap.of());
    }

    private static Peer initialize(Catalog catalog, FileIO io, Path folder, Map<String, String> properties)
    {
        Path warehouse = folder.resolve("warehouse");
        // the tables of a database are told apart by the catalog's name
        catalog.initialize("catalog_" + UUID.randomUUID(), ImmutableMap.<String, String>builder()
                .putAll(properties)
                .put(CatalogProperties.WAREHOUSE_LOCATION, warehouse.toString())
                .buildOrThrow());
        return new CatalogPeer(catalog, io, warehouse);
    }

    /**
     * Writes the metadata file of a new table, and takes it into a catalog.
     */
    static void register(Catalog catalog, FileIO io, Path warehouse, TableIdentifier table, TableShape shape)
    {
        String location = warehouse.resolve(table.namespace().toString()).resolve(table.name()).toString();
        String file = "%s/metadata/00000-%s.metadata.json".formatted(location, UUID.randomUUID());
        TableMetadataParser.write(shape.at(location), io.newOutputFile(file));
        catalog.registerTable(table, file);
    }
}
