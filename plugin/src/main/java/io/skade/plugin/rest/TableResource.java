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
import io.airlift.log.Logger;
import io.skade.catalog.PointerCatalog;
import io.skade.ref.RefUpdate;
import io.skade.ref.RequestedChanges;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.Encoded;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.SecurityContext;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.UpdateRequirement.AssertTableDoesNotExist;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.CatalogHandlers;
import org.apache.iceberg.rest.RESTCatalogProperties.SnapshotMode;
import org.apache.iceberg.rest.RESTUtil;
import org.apache.iceberg.rest.requests.CommitTransactionRequest;
import org.apache.iceberg.rest.requests.CreateTableRequest;
import org.apache.iceberg.rest.requests.RegisterTableRequest;
import org.apache.iceberg.rest.requests.RenameTableRequest;
import org.apache.iceberg.rest.requests.ReportMetricsRequest;
import org.apache.iceberg.rest.requests.UpdateTableRequest;
import org.apache.iceberg.rest.responses.ListTablesResponse;
import org.apache.iceberg.rest.responses.LoadTableResponse;

import java.util.LinkedHashMap;
import java.util.Map;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.hash.Hashing.sha256;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

@Path("/v1")
@Consumes(MediaType.APPLICATION_JSON)
@Produces(MediaType.APPLICATION_JSON)
public final class TableResource
{
    private static final Logger log = Logger.get(TableResource.class);

    private static final String TABLES = "namespaces/{namespace}/tables";
    private static final String TABLE = TABLES + "/{table}";

    static final String METRICS = TABLE + "/metrics";

    private final RestCatalogs catalogs;

    TableResource(RestCatalogs catalogs)
    {
        this.catalogs = requireNonNull(catalogs, "catalogs is null");
    }

    @GET
    @Path(TABLES)
    public ListTablesResponse list(
            @PathParam("namespace") @Encoded String namespace,
            @QueryParam("pageToken") String pageToken,
            @QueryParam("pageSize") String pageSize,
            @Context SecurityContext sender)
    {
        Namespace name = RESTUtil.decodeNamespace(namespace);
        return Pages.isPaged(pageToken, pageSize)
                ? CatalogHandlers.listTables(catalogs.open(sender), name, pageToken, pageSize)
                : CatalogHandlers.listTables(catalogs.open(sender), name);
    }

    @POST
    @Path(TABLES)
    public Response create(@PathParam("namespace") @Encoded String namespace, CreateTableRequest request, @Context SecurityContext sender)
    {
        Namespace name = RESTUtil.decodeNamespace(namespace);
        RestNames.checkNew(TableIdentifier.of(name, request.name()));
        PointerCatalog catalog = catalogs.open(sender);
        return respond(request.stageCreate() ? CatalogHandlers.stageTableCreate(catalog, name, request) : CatalogHandlers.createTable(catalog, name, request), SnapshotMode.ALL);
    }

    @POST
    @Path("namespaces/{namespace}/register")
    public Response register(@PathParam("namespace") @Encoded String namespace, RegisterTableRequest request, @Context SecurityContext sender)
    {
        Namespace name = RESTUtil.decodeNamespace(namespace);
        RestNames.checkNew(TableIdentifier.of(name, request.name()));
        return respond(CatalogHandlers.registerTable(catalogs.open(sender), name, request), SnapshotMode.ALL);
    }

    /**
     * @param knownTag the tag of what the sender has already
     */
    @GET
    @Path(TABLE)
    public Response load(
            @PathParam("namespace") @Encoded String namespace,
            @PathParam("table") @Encoded String table,
            @QueryParam("snapshots") @DefaultValue("all") String snapshots,
            @HeaderParam(HttpHeaders.IF_NONE_MATCH) String knownTag,
            @Context SecurityContext sender)
    {
        SnapshotMode mode = parseMode(snapshots);
        LoadTableResponse loaded = CatalogHandlers.loadTable(catalogs.open(sender), RestNames.identifier(namespace, table), mode);
        String tag = tag(loaded.metadataLocation(), mode);
        if (tag.equals(knownTag)) {
            return Response.notModified().header(HttpHeaders.ETAG, tag).build();
        }
        return respond(loaded, mode);
    }

    private static SnapshotMode parseMode(String value)
    {
        for (SnapshotMode mode : SnapshotMode.values()) {
            if (mode.name().equalsIgnoreCase(value)) {
                return mode;
            }
        }
        throw new IllegalArgumentException("Invalid value of snapshots: " + value);
    }

    /**
     * A table that is only staged has no metadata file, and no tag.
     */
    private static Response respond(LoadTableResponse table, SnapshotMode mode)
    {
        Response.ResponseBuilder response = Response.ok(table);
        if (table.metadataLocation() != null) {
            response.header(HttpHeaders.ETAG, tag(table.metadataLocation(), mode));
        }
        return response.build();
    }

    private static String tag(String metadataLocation, SnapshotMode mode)
    {
        return "\"" + sha256().hashString(mode + metadataLocation, UTF_8) + "\"";
    }

    @HEAD
    @Path(TABLE)
    public void exists(@PathParam("namespace") @Encoded String namespace, @PathParam("table") @Encoded String table, @Context SecurityContext sender)
    {
        CatalogHandlers.tableExists(catalogs.open(sender), RestNames.identifier(namespace, table));
    }

    @DELETE
    @Path(TABLE)
    public void drop(
            @PathParam("namespace") @Encoded String namespace,
            @PathParam("table") @Encoded String table,
            @QueryParam("purgeRequested") boolean purge,
            @Context SecurityContext sender)
    {
        PointerCatalog catalog = catalogs.open(sender);
        if (purge) {
            CatalogHandlers.purgeTable(catalog, RestNames.identifier(namespace, table));
        }
        else {
            CatalogHandlers.dropTable(catalog, RestNames.identifier(namespace, table));
        }
    }

    @POST
    @Path("tables/rename")
    public void rename(RenameTableRequest request, @Context SecurityContext sender)
    {
        RestNames.checkNew(request.destination());
        CatalogHandlers.renameTable(catalogs.open(sender), request);
    }

    @POST
    @Path(TABLE)
    public Response update(
            @PathParam("namespace") @Encoded String namespace,
            @PathParam("table") @Encoded String table,
            UpdateTableRequest request,
            @Context SecurityContext sender)
    {
        TableIdentifier name = RestNames.identifier(namespace, table);
        PointerCatalog catalog = catalogs.open(sender);
        if (isCreate(request)) {
            RestNames.checkNew(name);
            return respond(catalog.createTable(name, changes(request).create(name)));
        }
        return respond(catalog.commit(ImmutableMap.of(name, changes(request))).getFirst());
    }

    private static Response respond(TableMetadata metadata)
    {
        return respond(LoadTableResponse.builder().withTableMetadata(metadata).build(), SnapshotMode.ALL);
    }

    /**
     * Commits to many tables at once, or to none.
     */
    @POST
    @Path("transactions/commit")
    public void commit(CommitTransactionRequest request, @Context SecurityContext sender)
    {
        Map<TableIdentifier, RefUpdate> updates = new LinkedHashMap<>();
        for (UpdateTableRequest change : request.tableChanges()) {
            if (isCreate(change)) {
                throw new UnsupportedOperationException("A transaction of many tables cannot create one: " + change.identifier());
            }
            checkArgument(updates.put(change.identifier(), changes(change)) == null, "The transaction has table %s twice", change.identifier());
        }
        catalogs.open(sender).commit(updates);
    }

    private static boolean isCreate(UpdateTableRequest request)
    {
        return request.requirements().stream().anyMatch(AssertTableDoesNotExist.class::isInstance);
    }

    private static RequestedChanges changes(UpdateTableRequest request)
    {
        return new RequestedChanges(request.requirements(), request.updates());
    }

    @POST
    @Path(METRICS)
    public void report(
            @PathParam("namespace") @Encoded String namespace,
            @PathParam("table") @Encoded String table,
            ReportMetricsRequest request,
            @Context SecurityContext sender)
    {
        log.debug("Metrics of %s by %s: %s", RestNames.identifier(namespace, table), sender.getUserPrincipal().getName(), request.report());
    }
}
