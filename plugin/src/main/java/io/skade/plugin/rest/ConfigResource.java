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

import com.google.common.collect.ImmutableList;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.apache.iceberg.rest.Endpoint;
import org.apache.iceberg.rest.responses.ConfigResponse;

import java.util.List;

/**
 * What the endpoint can do. It serves one catalog, so it does not ask for the name of a warehouse.
 */
@Path("/v1")
@Produces(MediaType.APPLICATION_JSON)
public final class ConfigResource
{
    private static final List<Endpoint> ENDPOINTS = ImmutableList.of(
            Endpoint.V1_LIST_NAMESPACES,
            Endpoint.V1_LOAD_NAMESPACE,
            Endpoint.V1_NAMESPACE_EXISTS,
            Endpoint.V1_CREATE_NAMESPACE,
            Endpoint.V1_UPDATE_NAMESPACE,
            Endpoint.V1_DELETE_NAMESPACE,
            Endpoint.V1_COMMIT_TRANSACTION,
            Endpoint.V1_LIST_TABLES,
            Endpoint.V1_LOAD_TABLE,
            Endpoint.V1_TABLE_EXISTS,
            Endpoint.V1_CREATE_TABLE,
            Endpoint.V1_UPDATE_TABLE,
            Endpoint.V1_DELETE_TABLE,
            Endpoint.V1_RENAME_TABLE,
            Endpoint.V1_REGISTER_TABLE,
            Endpoint.V1_REPORT_METRICS,
            Endpoint.V1_LIST_VIEWS,
            Endpoint.V1_LOAD_VIEW,
            Endpoint.V1_VIEW_EXISTS,
            Endpoint.V1_CREATE_VIEW,
            Endpoint.V1_UPDATE_VIEW,
            Endpoint.V1_DELETE_VIEW,
            Endpoint.V1_RENAME_VIEW,
            Endpoint.V1_REGISTER_VIEW);

    @GET
    @Path("config")
    public ConfigResponse getConfig()
    {
        return ConfigResponse.builder().withEndpoints(ENDPOINTS).build();
    }
}
