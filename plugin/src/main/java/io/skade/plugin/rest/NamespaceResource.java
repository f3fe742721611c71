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
import org.apache.iceberg.rest.CatalogHandlers;
import org.apache.iceberg.rest.RESTUtil;
import org.apache.iceberg.rest.requests.CreateNamespaceRequest;
import org.apache.iceberg.rest.requests.UpdateNamespacePropertiesRequest;
import org.apache.iceberg.rest.responses.CreateNamespaceResponse;
import org.apache.iceberg.rest.responses.GetNamespaceResponse;
import org.apache.iceberg.rest.responses.ListNamespacesResponse;
import org.apache.iceberg.rest.responses.UpdateNamespacePropertiesResponse;

import static java.util.Objects.requireNonNull;

@Path("/v1")
@Consumes(MediaType.APPLICATION_JSON)
@Produces(MediaType.APPLICATION_JSON)
public final class NamespaceResource
{
    private static final String NAMESPACES = "namespaces";
    private static final String NAMESPACE = NAMESPACES + "/{namespace}";

    private final RestCatalogs catalogs;

    NamespaceResource(RestCatalogs catalogs)
    {
        this.catalogs = requireNonNull(catalogs, "catalogs is null");
    }

    @GET
    @Path(NAMESPACES)
    public ListNamespacesResponse list(
            @QueryParam("parent") String parent,
            @QueryParam("pageToken") String pageToken,
            @QueryParam("pageSize") String pageSize,
            @Context SecurityContext sender)
    {
        Namespace namespace = parent == null || parent.isEmpty() ? Namespace.empty() : RESTUtil.namespaceFromQueryParam(parent);
        return Pages.isPaged(pageToken, pageSize)
                ? CatalogHandlers.listNamespaces(catalogs.open(sender), namespace, pageToken, pageSize)
                : CatalogHandlers.listNamespaces(catalogs.open(sender), namespace);
    }

    @POST
    @Path(NAMESPACES)
    public CreateNamespaceResponse create(CreateNamespaceRequest request, @Context SecurityContext sender)
    {
        RestNames.checkNew(request.namespace());
        return CatalogHandlers.createNamespace(catalogs.open(sender), request);
    }

    @GET
    @Path(NAMESPACE)
    public GetNamespaceResponse load(@PathParam("namespace") @Encoded String namespace, @Context SecurityContext sender)
    {
        return CatalogHandlers.loadNamespace(catalogs.open(sender), RESTUtil.decodeNamespace(namespace));
    }

    @HEAD
    @Path(NAMESPACE)
    public void exists(@PathParam("namespace") @Encoded String namespace, @Context SecurityContext sender)
    {
        CatalogHandlers.namespaceExists(catalogs.open(sender), RESTUtil.decodeNamespace(namespace));
    }

    @DELETE
    @Path(NAMESPACE)
    public void drop(@PathParam("namespace") @Encoded String namespace, @Context SecurityContext sender)
    {
        CatalogHandlers.dropNamespace(catalogs.open(sender), RESTUtil.decodeNamespace(namespace));
    }

    @POST
    @Path(NAMESPACE + "/properties")
    public UpdateNamespacePropertiesResponse update(
            @PathParam("namespace") @Encoded String namespace,
            UpdateNamespacePropertiesRequest request,
            @Context SecurityContext sender)
    {
        return CatalogHandlers.updateNamespaceProperties(catalogs.open(sender), RESTUtil.decodeNamespace(namespace), request);
    }
}
