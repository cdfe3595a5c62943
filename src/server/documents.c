/*
 * What the server says about itself: discovery and OpenAPI. Each worker makes the documents that it
 * is asked for.
 *
 * Follows k8s.io/apiserver pkg/endpoints/discovery/aggregated, func
 * WrapAggregatedDiscoveryToHandler.
 */
#include "server/server_int.h"

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static struct str accept_of(const struct server__call *c) {
    return net_headers_find(net_exchange_request(c->x)->headers, STR("Accept"));
}

/* Is this clause before all others that a server without aggregation would take? */
static bool wants_aggregated(struct str accept) {
    struct str clause, as = STR("as=APIGroupDiscoveryList");
    while (accept.n) {
        str_cut(accept, ',', &clause, &accept);
        if (str_find(clause, as) != STR_NONE)
            if (str_find(clause, STR("v=v2;")) != STR_NONE ||
                str_ends(str_trim(clause), STR("v=v2")))
                return true;
        if (str_is(str_trim(clause), "application/json"))
            return false;
    }
    return false;
}

static bool is_known(const struct server__call *c, struct str etag) {
    struct str known = net_headers_find(net_exchange_request(c->x)->headers, STR("If-None-Match"));
    return known.n && str_eq(known, etag);
}

static void answer(struct server__call *c, const struct openapi_document *d, struct str type,
                   struct str caching) {
    if (!d->body.n) {
        server__answer_nothing(c);
        return;
    }
    struct net_part part = {.bytes = d->body};
    bool known = is_known(c, d->etag);
    struct server__headers h;
    server__headers_start(c, &h, type);
    server__header_set(&h, "Cache-Control", caching);
    server__header_add(&h, "ETag", d->etag);
    server__header_add(&h, "Vary", STR("Accept"));
    server__respond(c, known ? 304 : 200, &h, &part, known ? 0 : 1);
}

/* Discovery without aggregation is an object as others are, and may be for people, or YAML. */
static void answer_object(struct server__call *c, const struct openapi_document *d) {
    if (!d->body.n) {
        server__answer_nothing(c);
        return;
    }
    struct net_part part = {.bytes = d->body};
    struct server__headers h;
    server__headers_start(c, &h, STR("application/json"));
    server__header_add(&h, "Vary", STR("Accept"));
    if (c->media.format == SERVER_PROTOBUF)
        c->media.format = SERVER_JSON;
    server__respond_json(c, 200, &h, &part, 1);
}

void server__discovery(struct server__call *c) {
    struct str path = net_exchange_request(c->x)->path;
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    bool is_root = !c->route.version.n && !c->route.group.n;
    if (is_root && wants_aggregated(accept_of(c)))
        answer(c, openapi_aggregated(c->worker->openapi, path), STR(AGGREGATED), STR("public"));
    else
        answer_object(c, openapi_discovery(c->worker->openapi, path));
}

/* Documents that are named with their hash never change. */
static void answer_v3(struct server__call *c, struct str name) {
    const struct openapi_document *d = openapi_v3(c->worker->openapi, name);
    bool has_hash = server_query_get(&c->query, "hash").n > 0;
    answer(c, d, STR("application/json"),
           has_hash ? STR("public, immutable") : STR("no-cache, private"));
}

bool server__documents(struct server__call *c) {
    struct str path = net_exchange_request(c->x)->path;
    struct openapi *o = c->worker->openapi;
    if (str_is(path, "/openapi/v2")) {
        if (str_find(accept_of(c), STR("proto-openapi")) != STR_NONE)
            answer(c, openapi_v2_proto(o),
                   STR("application/com.github.proto-openapi.spec.v2.v1.0+protobuf"),
                   STR("no-cache, private"));
        else
            answer(c, openapi_v2(o), STR("application/json"), STR("no-cache, private"));
        return true;
    }
    if (str_is(path, "/openapi/v3")) {
        answer(c, openapi_v3_index(o), STR("application/json"), STR("no-cache, private"));
        return true;
    }
    if (!str_starts(path, STR("/openapi/v3/")))
        return false;
    answer_v3(c, str_sub(path, sizeof "/openapi/v3/" - 1, path.n));
    return true;
}
