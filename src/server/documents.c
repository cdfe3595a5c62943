/*
 * What the server says about itself: discovery and OpenAPI. Each worker makes the documents that it
 * is asked for.
 *
 * Follows k8s.io/apiserver pkg/endpoints/discovery/aggregated, func
 * WrapAggregatedDiscoveryToHandler.
 */
#include "server/server_int.h"

#define AGGREGATED ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static struct str accept_of(const struct server__call *c) {
    return net_headers_find(net_exchange_request(c->x)->headers, STR("Accept"));
}

static bool is_known(const struct server__call *c, struct str etag) {
    struct str known = net_headers_find(net_exchange_request(c->x)->headers, STR("If-None-Match"));
    return known.n && str_eq(known, etag);
}

/* No such document, and no word about it. */
static void answer_missing(struct server__call *c) {
    struct server__headers h;
    server__headers_start(c, &h, STR(""));
    server__respond(c, 404, &h, NULL, 0);
}

/* The document is not to be had in any form that is accepted. */
static void answer_unacceptable(struct server__call *c) {
    struct server__headers h;
    server__headers_start(c, &h, STR(""));
    server__respond(c, 406, &h, NULL, 0);
}

static void answer(struct server__call *c, const struct openapi_document *d, struct str type,
                   struct str caching) {
    struct net_part part = {.bytes = d->body};
    bool known = is_known(c, d->etag);
    struct server__headers h;
    server__headers_start(c, &h, type);
    server__header_set(&h, "Cache-Control", caching);
    server__header_add(&h, "ETag", d->etag);
    server__header_add(&h, "Vary", STR("Accept"));
    server__respond(c, known ? 304 : 200, &h, &part, known ? 0 : 1);
}

/* The document in protobuf, which lives as long as the call. */
static struct openapi_document in_proto(struct server__call *c, const struct openapi_document *d) {
    AUTO(buf_release) struct buf bytes = BUF_INIT(SIZE_MAX);
    struct json tree;
    struct err err;
    if (json_parse(&c->arena, d->body, NULL, &tree, &err) < 0)
        BUG("a document of discovery is no JSON");
    server__discovery_proto(&bytes, &tree);
    return (struct openapi_document){.body = arena_str(&c->arena, buf_view(&bytes)),
                                     .etag = d->etag};
}

/* Discovery without aggregation is an object as others are, and may be for people, or YAML. */
static void answer_object(struct server__call *c, const struct openapi_document *d) {
    bool is_proto = c->media.format == SERVER_PROTOBUF;
    struct openapi_document packed = is_proto ? in_proto(c, d) : *d;
    struct net_part part = {.bytes = packed.body};
    struct server__headers h;
    server__headers_start(c, &h, server_media_type(&c->media, false));
    server__header_add(&h, "Vary", STR("Accept"));
    if (is_proto)
        server__respond(c, 200, &h, &part, 1);
    else
        server__respond_json(c, 200, &h, &part, 1);
}

static void answer_aggregated(struct server__call *c, const struct openapi_document *d) {
    bool is_proto = c->media.format == SERVER_PROTOBUF;
    struct openapi_document packed = is_proto ? in_proto(c, d) : *d;
    answer(c, &packed,
           is_proto ? STR("application/vnd.kubernetes.protobuf" AGGREGATED)
                    : STR("application/json" AGGREGATED),
           STR("public"));
}

void server__discovery(struct server__call *c) {
    struct str path = net_exchange_request(c->x)->path;
    bool is_aggregated = c->media.shape == SERVER_AGGREGATED;
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    const struct openapi_document *d = is_aggregated ? openapi_aggregated(c->worker->openapi, path)
                                                     : openapi_discovery(c->worker->openapi, path);
    if (!d->body.n)
        server__answer_nothing(c);
    else if (!c->is_acceptable)
        server__answer_failure(c, server__not_acceptable(c));
    else if (is_aggregated)
        answer_aggregated(c, d);
    else
        answer_object(c, d);
}

/* Does a clause of the header take documents of this type? The first that does counts, as with
 * upstream's own handler. */
static bool takes(struct str accept, const char *subtype) {
    struct str clause, type, rest, main, sub;
    if (!str_trim(accept).n)
        return true;
    while (accept.n) {
        str_cut(accept, ',', &clause, &accept);
        str_cut(clause, ';', &type, &rest);
        str_cut(str_trim(type), '/', &main, &sub);
        if ((str_is(main, "application") || str_is(main, "*")) &&
            (str_is(sub, subtype) || str_is(sub, "*")))
            return true;
    }
    return false;
}

/* Documents that are named with their hash never change. */
static void answer_v3(struct server__call *c, struct str name) {
    const struct openapi_document *d = openapi_v3(c->worker->openapi, name);
    bool has_hash = server_query_get(&c->query, "hash").n > 0;
    if (!d->body.n)
        answer_missing(c);
    else if (!takes(accept_of(c), "json"))
        answer_unacceptable(c);
    else
        answer(c, d, STR("application/json"),
               has_hash ? STR("public, immutable") : STR("no-cache, private"));
}

static void answer_v2(struct server__call *c) {
    static const char *const protos[] = {"com.github.proto-openapi.spec.v2.v1.0+protobuf",
                                         "com.github.proto-openapi.spec.v2@v1.0+protobuf"};
    struct openapi *o = c->worker->openapi;
    struct str accept = accept_of(c);
    bool is_proto = false;
    for (size_t i = 0; i < 2; i++)
        is_proto |= str_find(accept, str_of(protos[i])) != STR_NONE;
    if (is_proto)
        answer(c, openapi_v2_proto(o),
               STR("application/com.github.proto-openapi.spec.v2.v1.0+protobuf"),
               STR("no-cache, private"));
    else if (takes(accept, "json"))
        answer(c, openapi_v2(o), STR("application/json"), STR("no-cache, private"));
    else
        answer_unacceptable(c);
}

bool server__documents(struct server__call *c) {
    struct str path = net_exchange_request(c->x)->path;
    if (str_is(path, "/openapi/v2"))
        answer_v2(c);
    else if (str_is(path, "/openapi/v3")) /* upstream's handler does not say what it is */
        answer(c, openapi_v3_index(c->worker->openapi), STR("text/plain; charset=utf-8"),
               STR("no-cache, private"));
    else if (str_starts(path, STR("/openapi/v3/")))
        answer_v3(c, str_sub(path, sizeof "/openapi/v3/" - 1, path.n));
    else
        return false;
    return true;
}
