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

import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.Encoded;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.SecurityContext;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.CatalogHandlers;
import org.apache.iceberg.rest.RESTUtil;
import org.apache.iceberg.rest.requests.CreateViewRequest;
import org.apache.iceberg.rest.requests.RegisterViewRequest;
import org.apache.iceberg.rest.requests.RenameTableRequest;
import org.apache.iceberg.rest.requests.UpdateTableRequest;
import org.apache.iceberg.rest.responses.ListTablesResponse;
import org.apache.iceberg.rest.responses.LoadViewResponse;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

@Path("/v1")
@Consumes(MediaType.APPLICATION_JSON)
@Produces(MediaType.APPLICATION_JSON)
public final class ViewResource
{
    private static final String VIEWS = "namespaces/{namespace}/views";
    private static final String VIEW = VIEWS + "/{view}";

    private final RestCatalogs catalogs;

    ViewResource(RestCatalogs catalogs)
    {
        this.catalogs = requireNonNull(catalogs, "catalogs is null");
    }

    @GET
    @Path(VIEWS)
    public ListTablesResponse list(
            @PathParam("namespace") @Encoded String namespace,
            @QueryParam("pageToken") String pageToken,
            @QueryParam("pageSize") String pageSize,
            @Context SecurityContext sender)
    {
        Namespace name = RESTUtil.decodeNamespace(namespace);
        return Pages.isPaged(pageToken, pageSize)
                ? CatalogHandlers.listViews(catalogs.open(sender), name, pageToken, pageSize)
                : CatalogHandlers.listViews(catalogs.open(sender), name);
    }

    @POST
    @Path(VIEWS)
    public LoadViewResponse create(@PathParam("namespace") @Encoded String namespace, CreateViewRequest request, @Context SecurityContext sender)
    {
        Namespace name = RESTUtil.decodeNamespace(namespace);
        RestNames.checkNew(TableIdentifier.of(name, request.name()));
        checkArgument(!request.viewVersion().representations().isEmpty(), "Cannot create view %s without a query", request.name());
        return CatalogHandlers.createView(catalogs.open(sender), name, request);
    }

    @POST
    @Path("namespaces/{namespace}/register-view")
    public LoadViewResponse register(@PathParam("namespace") @Encoded String namespace, RegisterViewRequest request, @Context SecurityContext sender)
    {
        Namespace name = RESTUtil.decodeNamespace(namespace);
        RestNames.checkNew(TableIdentifier.of(name, request.name()));
        return CatalogHandlers.registerView(catalogs.open(sender), name, request);
    }

    @GET
    @Path(VIEW)
    public LoadViewResponse load(@PathParam("namespace") @Encoded String namespace, @PathParam("view") @Encoded String view, @Context SecurityContext sender)
    {
        return CatalogHandlers.loadView(catalogs.open(sender), RestNames.identifier(namespace, view));
    }

    @HEAD
    @Path(VIEW)
    public void exists(@PathParam("namespace") @Encoded String namespace, @PathParam("view") @Encoded String view, @Context SecurityContext sender)
    {
        CatalogHandlers.viewExists(catalogs.open(sender), RestNames.identifier(namespace, view));
    }

    @POST
    @Path(VIEW)
    public LoadViewResponse update(
            @PathParam("namespace") @Encoded String namespace,
            @PathParam("view") @Encoded String view,
            UpdateTableRequest request,
            @Context SecurityContext sender)
    {
        return CatalogHandlers.updateView(catalogs.open(sender), RestNames.identifier(namespace, view), request);
    }

    @DELETE
    @Path(VIEW)
    public void drop(@PathParam("namespace") @Encoded String namespace, @PathParam("view") @Encoded String view, @Context SecurityContext sender)
    {
        CatalogHandlers.dropView(catalogs.open(sender), RestNames.identifier(namespace, view));
    }

    @POST
    @Path("views/rename")
    public void rename(RenameTableRequest request, @Context SecurityContext sender)
    {
        RestNames.checkNew(request.destination());
        CatalogHandlers.renameView(catalogs.open(sender), request);
    }
}
