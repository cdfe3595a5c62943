/*
 * The life of a request: route, identity and permission, options, body, and then the API server's
 * own business.
 *
 * Follows k8s.io/apiserver pkg/server, func DefaultBuildHandlerChain.
 */
#include <stdlib.h>

#include "api/managed.h"
#include "base/alloc.h"
#include "server/aside_int.h"

void server__call_free(struct server__call *c) {
    server__deadline_stop(c);
    server_inflight_give(&c->s->inflight, c->account.seat);
    net_exchange_release(c->x);
    apiserver_response_release(&c->response);
    api_object_free(c->r.object);
    arena_release(&c->arena);
    free(c);
}

void server__call_drop(struct server__call *c) {
    server__account_end(c);
    server__call_free(c);
}

const struct net_exchange_events server__not_waiting;

void server__call_detach(struct server__call *c) {
    net_exchange_listen(c->x, &server__not_waiting, NULL);
}

static struct registry_failure failure(enum err_code code, const char *text) {
    return (struct registry_failure){.code = code, .message = str_of(text), .has_details = true};
}

struct registry_failure server__no_method(void) {
    return failure(ERR_METHOD, "the server does not allow this method on the requested resource");
}

/* ---- verbs ---- */

/* What a method asks of a collection and of an object. */
static const struct {
    const char *method;
    enum registry_verb collection, object;
} methods[] = {
    {"GET", REGISTRY_VERB_LIST, REGISTRY_VERB_GET},
    {"HEAD", REGISTRY_VERB_LIST, REGISTRY_VERB_GET},
    {"POST", REGISTRY_VERB_CREATE, REGISTRY_VERB_CREATE},
    {"PUT", REGISTRY_VERB_UPDATE, REGISTRY_VERB_UPDATE},
    {"PATCH", REGISTRY_VERB_PATCH, REGISTRY_VERB_PATCH},
    {"DELETE", REGISTRY_VERB_DELETE_COLLECTION, REGISTRY_VERB_DELETE},
};

/* Does a read ask for a watch: by its query, or by the old form of the path? */
static bool is_watch(const struct server__call *c) {
    if (c->route.subname.n)
        return false;
    return c->route.is_watch || (!c->route.name.n && server_query_is_true(&c->query, "watch"));
}

static void find_verb(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (!str_is(request->method, methods[i].method))
            continue;
        bool is_read = methods[i].object == REGISTRY_VERB_GET;
        c->has_verb = true;
        c->r.verb = c->route.name.n ? methods[i].object : methods[i].collection;
        if (is_read && is_watch(c))
            c->r.verb = REGISTRY_VERB_WATCH;
    }
}

/* Does the resource, or the subresource, have the verb, here? */
static bool is_allowed(const struct server__call *c) {
    const struct server_route *route = &c->route;
    enum registry_verb verb = c->r.verb;
    uint32_t verbs = route->subresource ? route->subresource->verbs : route->resource->row->verbs;
    bool is_named = route->name.n > 0, is_inside = route->namespace.n > 0;
    bool is_head = str_is(net_exchange_request(c->x)->method, "HEAD");
    if (!c->has_verb || is_head || !(verbs & 1u << verb) ||
        (route->is_watch && verb != REGISTRY_VERB_WATCH))
        return false;
    if (verb == REGISTRY_VERB_DELETE_COLLECTION)
        return is_inside || !route->resource->kind->namespaced;
    if (verb == REGISTRY_VERB_CREATE)
        return is_named == (route->subresource != NULL) &&
               (is_inside || !route->resource->kind->namespaced);
    if (verb == REGISTRY_VERB_UPDATE || verb == REGISTRY_VERB_PATCH)
        return is_named;
    return true;
}

/* A list or watch of one name is authorized as that name. */
static void find_selected(struct server__call *c) {
    struct str text = server_query_get(&c->query, "fieldSelector"), why, name;
    const struct apiserver_resource *r = c->route.resource;
    struct registry_fields *f;
    bool is_collection = c->r.verb == REGISTRY_VERB_LIST || c->r.verb == REGISTRY_VERB_WATCH;
    if (!text.n || !is_collection || c->route.kind != SERVER_ROUTE_RESOURCE || c->route.name.n ||
        registry_fields_parse(&c->arena, r->kind, r->stored, text, &f, &why) < 0)
        return;
    name = registry_fields_name(f);
    if (!str_is(name, ".") && !str_is(name, "..") && str_find_char(name, '/') == STR_NONE &&
        str_find_char(name, '%') == STR_NONE)
        c->selected = name;
}

/* ---- the way ---- */

/* Who posted a review manages it, though nobody keeps it. */
static void note_manager(struct server__call *c, int64_t now) {
    const struct apiserver_request *r = &c->r;
    struct api_managed_write w = {
        .kind = r->resource->kind,
        .manager = api_manager_name(&c->arena, r->options.field_manager, r->user_agent),
        .now = {.sec = now, .set = true},
    };
    api_managed_update(&w, NULL, r->object);
}

/* Reviews are answered at once, and stored nowhere. */
static void answer_review(struct server__call *c) {
    struct auth_reviewer reviewer = {.rules = c->worker->rules,
                                     .who = &c->s->opts.who,
                                     .user = &c->user,
                                     .namespace = c->r.namespace,
                                     .now = clock_wall(c->s->opts.clock) / CLOCK_SECOND};
    apiserver_wipe(c->r.object);
    struct registry_failure f = apiserver_place(&c->r, c->r.object);
    if (!f.code) {
        note_manager(c, reviewer.now);
        f = auth_review(&reviewer, &c->arena, c->r.object);
    }
    if (f.code) {
        server__answer_failure(c, f);
        return;
    }
    c->response = (struct apiserver_response){
        .answer = APISERVER_OBJECT, .code = 201, .object = api_publish(c->r.object)};
    c->r.object = NULL;
    server__answer(c);
}

static void dispatch(struct server__call *c) {
    if (c->r.object && auth_is_review(c->r.object)) {
        answer_review(c);
        return;
    }
    switch (c->r.verb) {
    case REGISTRY_VERB_WATCH:
        server__watch(c);
        return;
    case REGISTRY_VERB_GET:
    case REGISTRY_VERB_LIST:
        server__read(c);
        return;
    default:
        server__submit(c);
    }
}

static void take_body(struct server__call *c, enum net_body outcome) {
    if (outcome == NET_BODY_TOO_LARGE)
        server__answer_failure(
            c, (struct registry_failure){.code = ERR_TOO_LARGE,
                                         .message = STR("Request entity too large: limit is "
                                                        "3145728")});
    else if (server__body_read(c, net_exchange_body(c->x)))
        dispatch(c);
}

static void on_body(struct net_exchange *x, void *arg, enum net_body outcome) {
    struct server__call *c = arg;
    (void)x;
    server__call_detach(c);
    server__deadline_stop(c);
    take_body(c, outcome);
}

/* The peer has gone before the body was whole. */
static void on_closed(struct net_exchange *x, void *arg) {
    (void)x;
    server__call_drop(arg);
}

static const struct net_exchange_events waiting_for_body = {.body = on_body, .closed = on_closed};

static void want_body(struct server__call *c) {
    net_exchange_listen(c->x, &waiting_for_body, c);
    enum net_body outcome = net_exchange_read_body(c->x, LIMIT_OBJECT_BYTES);
    if (outcome == NET_BODY_LATER) {
        server__deadline_start(c);
        return;
    }
    server__call_detach(c);
    take_body(c, outcome);
}

static bool reads_body(enum registry_verb verb) {
    return verb != REGISTRY_VERB_GET && verb != REGISTRY_VERB_LIST && verb != REGISTRY_VERB_WATCH;
}

#define SERVED "application/json, application/yaml, application/vnd.kubernetes.protobuf"

struct registry_failure server__not_available(struct arena *a, const char *types) {
    return (struct registry_failure){
        .code = ERR_NOT_ACCEPTABLE,
        .message = arena_printf(a, "406: Not Acceptable\n\nAvailable representations: %s", types),
        .has_details = true};
}

/* What go-restful asks before the handler: the types of a patch and of the answer. */
static struct registry_failure route_types(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    struct str accept = net_headers_find(request->headers, STR("Accept"));
    struct str type = net_headers_find(request->headers, STR("Content-Type"));
    bool may_watch = c->r.verb == REGISTRY_VERB_LIST || c->r.verb == REGISTRY_VERB_WATCH;
    if (c->r.verb == REGISTRY_VERB_PATCH && !server_media_of_patch(type, &c->r.patch_type))
        return failure(ERR_MEDIA_TYPE, "415: Unsupported Media Type");
    if (server_media_is_served(accept))
        return (struct registry_failure){.code = ERR_NONE};
    return server__not_available(&c->arena, may_watch ? SERVED
                                                ", application/json;stream=watch, "
                                                "application/vnd.kubernetes.protobuf;stream=watch"
                                                      : SERVED);
}

/* Documents of discovery are there all together, but for the path that has a handler of its own in
 * upstream's aggregator. */
static bool is_aggregated(const struct server__call *c) {
    return !c->route.group.n && !c->route.version.n &&
           !str_is(net_exchange_request(c->x)->path, "/apis/");
}

/* Of subresources only scales and the status of most kinds can be told as a table, and nothing that
 * is not stored. */
static enum server_shapes shapes_of(const struct server__call *c) {
    static const enum api_type_id without[] = {
        API_T_device_taint_rule,      API_T_resource_resource_claim,
        API_T_resource_claim_v1beta1, API_T_resource_pool_status_request,
        API_T_composite_pod_group,    API_T_pod_group};
    const struct registry_subresource *sub = c->route.subresource;
    if (c->route.kind == SERVER_ROUTE_DISCOVERY)
        return is_aggregated(c) ? SERVER_SHAPES_DISCOVERY : SERVER_SHAPES_NONE;
    if (c->route.kind != SERVER_ROUTE_RESOURCE)
        return SERVER_SHAPES_ALL;
    if (!c->route.resource->stored)
        return SERVER_SHAPES_METADATA;
    if (!sub || str_is(str_of(sub->name), "scale"))
        return SERVER_SHAPES_ALL;
    if (!str_is(str_of(sub->name), "status"))
        return SERVER_SHAPES_METADATA;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (c->route.resource->kind->type == &api_types[without[i]])
            return SERVER_SHAPES_METADATA;
    return SERVER_SHAPES_ALL;
}

/* What is made of the answer, a failure among them. */
static void negotiate(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    struct str accept = net_headers_find(request->headers, STR("Accept"));
    bool is_watch = c->account.is_long_running;
    c->is_acceptable = server_media_accept(accept, shapes_of(c), &c->media) &&
                       !(is_watch && c->media.format == SERVER_YAML);
    c->media.pretty |=
        server_media_is_for_people(server_query_get(&c->query, "pretty"),
                                   net_headers_find(request->headers, STR("User-Agent")));
    if (!c->is_acceptable) /* upstream writes what cannot be negotiated so */
        c->media = (struct server_media){.format = SERVER_JSON, .pretty = true};
}

struct registry_failure server__not_acceptable(const struct server__call *c) {
    bool is_watch = c->account.is_long_running;
    struct registry_failure f = failure(
        ERR_NOT_ACCEPTABLE, is_watch ? "only the following media types are accepted: "
                                       "application/json;stream=watch, "
                                       "application/vnd.kubernetes.protobuf;stream=watch"
                                     : "only the following media types are accepted: " SERVED);
    f.has_details = false;
    return f;
}

/* The old form of a watch may name the object, which is then the only one. */
static struct registry_failure select_named(struct server__call *c) {
    struct str selector = c->r.options.field_selector;
    struct str own = arena_printf(&c->arena, "metadata.name=%.*s", STR_ARG(c->r.name));
    if (selector.n && !str_eq(selector, own))
        return registry_bad_request(
            STR("fieldSelector metadata.name doesn't match requested name"));
    c->r.options.field_selector = own;
    return (struct registry_failure){.code = ERR_NONE};
}

/* A deletion of many is refused for fields that the kind does not have before its body is read. */
static struct registry_failure check_fields(struct server__call *c) {
    const struct apiserver_resource *r = c->r.resource;
    struct str text = c->r.options.field_selector, why;
    struct registry_fields *f;
    if (text.n && registry_fields_parse(&c->arena, r->kind, r->stored, text, &f, &why) < 0)
        return registry_bad_request(why);
    return (struct registry_failure){.code = ERR_NONE};
}

static bool is_write(enum registry_verb verb) {
    return verb == REGISTRY_VERB_CREATE || verb == REGISTRY_VERB_UPDATE ||
           verb == REGISTRY_VERB_PATCH;
}

static struct registry_failure prepare(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    struct registry_failure f = route_types(c);
    c->has_handler = !f.code;
    if (!f.code && !c->is_acceptable)
        f = server__not_acceptable(c);
    if (f.code)
        return f;
    c->r.resource = c->route.resource;
    c->r.subresource = c->route.subresource;
    c->r.namespace = c->r.resource->kind->namespaced ? c->route.namespace : STR("");
    c->r.name = c->route.name;
    c->r.user = &c->user;
    c->r.user_agent = net_headers_find(request->headers, STR("User-Agent"));
    c->r.arena = &c->arena;
    if (is_write(c->r.verb)) /* their options are read behind the body */
        return f;
    f = server__options_read(c);
    if (!f.code && c->r.verb == REGISTRY_VERB_DELETE_COLLECTION)
        f = check_fields(c);
    return !f.code && c->r.verb == REGISTRY_VERB_WATCH && c->r.name.n ? select_named(c) : f;
}

static void serve_resource(struct server__call *c) {
    struct registry_failure f;
    if (c->route.kind == SERVER_ROUTE_UNKNOWN)
        f = failure(ERR_NOT_FOUND, "the server could not find the requested resource");
    else if (!is_allowed(c))
        f = server__no_method();
    else if (server__connect(c))
        return;
    else
        f = prepare(c);
    if (f.code)
        server__answer_failure(c, f);
    else if (reads_body(c->r.verb))
        want_body(c);
    else
        dispatch(c);
}

/* What go-restful asks about a document of discovery. Those of all groups and of one are served
 * without it, whatever the method. */
static struct registry_failure route_discovery(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    bool is_routed = c->route.version.n || !str_starts(request->path, STR("/apis"));
    if (is_routed && !str_is(request->method, "GET"))
        return server__no_method();
    if (is_routed && !server_media_is_served(net_headers_find(request->headers, STR("Accept"))))
        return server__not_available(&c->arena, SERVED);
    return (struct registry_failure){.code = ERR_NONE};
}

/* A version or group that is asked what it has. */
static void serve_discovery(struct server__call *c) {
    struct registry_failure f;
    bool is_version = c->route.version.n > 0;
    bool is_known = !is_version || apiserver_catalog_has_version(c->s->opts.catalog, c->route.group,
                                                                 c->route.version);
    if (c->route.is_foreign)
        server__answer_nothing(c);
    else if (!is_known)
        server__answer_failure(
            c, failure(ERR_NOT_FOUND, "the server could not find the requested resource"));
    else if ((f = route_discovery(c)).code)
        server__answer_failure(c, f);
    else
        server__discovery(c);
}

/* Paths that cannot be understood; Go's server answers the first before any handler. */
static void serve_malformed(struct server__call *c) {
    struct str path = net_exchange_request(c->x)->path;
    if (!c->route.is_cut)
        server__answer_text(c, 400, STR("400 Bad Request"));
    else
        server__answer_text(
            c, 500,
            arena_printf(&c->arena,
                         "Internal Server Error: \"%.*s\": failed to create RequestInfo: unable "
                         "to determine kind and namespace from url, %.*s\n",
                         STR_ARG(path), STR_ARG(path)));
}

/* A place among the requests under way. */
static bool take_seat(struct server__call *c) {
    bool is_read = str_is(net_exchange_request(c->x)->method, "GET");
    enum server_seat seat = is_read ? SERVER_SEAT_READ : SERVER_SEAT_WRITE;
    if (c->account.is_long_running)
        return true;
    if (!server_inflight_take(&c->s->inflight, seat, server_rank_of(&c->user)))
        return false;
    c->account.seat = seat;
    return true;
}

/* 429 in plain text, as upstream's filter answers. */
static void refuse_seat(struct server__call *c) {
    struct net_part part = {.bytes = STR("Too many requests, please try again "
                                         "later.\n")};
    struct registry_failure f = {.code = ERR_TOO_MANY, .message = STR("too many requests")};
    struct server__headers h;
    server__account_refusal(c, &f);
    server__headers_start(c, &h, STR("text/plain; charset=utf-8"));
    server__header_add(&h, "Retry-After", STR("1"));
    server__header_add(&h, "X-Content-Type-Options", STR("nosniff"));
    server__respond(c, 429, &h, &part, 1);
}

static void serve_route(struct server__call *c) {
    switch (c->route.kind) {
    case SERVER_ROUTE_DISCOVERY:
        serve_discovery(c);
        return;
    case SERVER_ROUTE_OTHER:
        server__special(c);
        return;
    case SERVER_ROUTE_UNKNOWN:
        if (c->route.is_foreign) {
            server__answer_nothing(c);
            return;
        }
        serve_resource(c);
        return;
    default:
        serve_resource(c);
    }
}

static void serve(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    server_route_read(&c->arena, c->s->opts.catalog, request->path, &c->route);
    server_query_read(&c->arena, request->query, &c->query);
    find_verb(c);
    find_selected(c);
    server__account_open(c);
    negotiate(c);
    if (c->route.kind == SERVER_ROUTE_MALFORMED) {
        serve_malformed(c);
        return;
    }
    struct registry_failure f = server__deadline_read(c);
    if (!f.code) {
        f = server__identify(c);
        server__account_start(c, f.code);
    }
    if (f.code)
        server__answer_failure(c, f);
    else if (!take_seat(c))
        refuse_seat(c);
    else
        serve_route(c);
}

static struct server__worker *worker_of(struct server *s, const struct net_exchange *x) {
    const struct net_loop *loop = net_exchange_loop(x);
    for (size_t i = 0; i < s->worker_count; i++)
        if (s->workers[i].loop == loop)
            return &s->workers[i];
    BUG("an exchange of nobody's loop");
}

void server__request(void *self, struct net_exchange *x) {
    struct server *s = self;
    struct server__call *c = xcalloc(1, sizeof *c);
    c->s = s;
    c->worker = worker_of(s, x);
    c->x = x;
    serve(c);
}
