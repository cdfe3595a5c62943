/*
 * The life of a request: route, identity and permission, options, body, and then the API server's
 * own business.
 *
 * Follows k8s.io/apiserver pkg/server, func DefaultBuildHandlerChain.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "server/server_int.h"

void server__call_free(struct server__call *c) {
    net_exchange_release(c->x);
    apiserver_response_release(&c->response);
    api_object_free(c->r.object);
    arena_release(&c->arena);
    free(c);
}

static struct registry_failure failure(enum err_code code, const char *text) {
    return (struct registry_failure){.code = code, .message = str_of(text), .has_details = true};
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

static bool find_verb(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (str_is(request->method, methods[i].method)) {
            c->r.verb = c->route.name.n ? methods[i].object : methods[i].collection;
            bool is_read = c->r.verb == REGISTRY_VERB_LIST || c->r.verb == REGISTRY_VERB_GET;
            bool wants_watch = c->route.is_watch || server_query_is_true(&c->query, "watch");
            if (is_read && !c->route.subname.n && wants_watch &&
                (!c->route.name.n || c->route.is_watch))
                c->r.verb = REGISTRY_VERB_WATCH;
            return true;
        }
    return false;
}

/* Does the resource, or the subresource, have the verb, here? */
static bool is_allowed(const struct server__call *c) {
    const struct server_route *route = &c->route;
    enum registry_verb verb = c->r.verb;
    uint32_t verbs = route->subresource ? route->subresource->verbs : route->resource->row->verbs;
    bool is_named = route->name.n > 0;
    if (!(verbs & 1u << verb))
        return false;
    if (verb == REGISTRY_VERB_CREATE)
        return is_named == (route->subresource != NULL) &&
               (!route->resource->kind->namespaced || route->namespace.n);
    if (verb == REGISTRY_VERB_UPDATE || verb == REGISTRY_VERB_PATCH)
        return is_named;
    return true;
}

/* ---- the way ---- */

/* Reviews are answered at once, and stored nowhere. */
static void answer_review(struct server__call *c) {
    struct auth_reviewer reviewer = {.rules = c->worker->rules,
                                     .who = &c->s->opts.who,
                                     .user = &c->user,
                                     .namespace = c->r.namespace,
                                     .now = clock_wall(c->s->opts.clock) / CLOCK_SECOND};
    struct registry_failure f = auth_review(&reviewer, &c->arena, c->r.object);
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
        apiserver_read(c->s->opts.api, &c->r, &c->response);
        server__answer(c);
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
                                                        "3145728"),
                                         .has_details = true});
    else if (server__body_read(c, net_exchange_body(c->x)))
        dispatch(c);
}

static void on_body(struct net_exchange *x, void *arg, enum net_body outcome) {
    (void)x;
    take_body(arg, outcome);
}

/* The peer has gone before the body was whole. */
static void on_closed(struct net_exchange *x, void *arg) {
    (void)x;
    server__call_free(arg);
}

static const struct net_exchange_events waiting_for_body = {.body = on_body, .closed = on_closed};
static const struct net_exchange_events not_waiting;

static void want_body(struct server__call *c) {
    net_exchange_listen(c->x, &waiting_for_body, c);
    enum net_body outcome = net_exchange_read_body(c->x, LIMIT_OBJECT_BYTES);
    if (outcome == NET_BODY_LATER)
        return;
    net_exchange_listen(c->x, &not_waiting, NULL);
    take_body(c, outcome);
}

static bool reads_body(enum registry_verb verb) {
    return verb != REGISTRY_VERB_GET && verb != REGISTRY_VERB_LIST && verb != REGISTRY_VERB_WATCH;
}

static struct registry_failure prepare(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    struct str accept = net_headers_find(request->headers, STR("Accept"));
    bool is_list = c->r.verb == REGISTRY_VERB_LIST;
    bool is_apply = false;
    if (!server_media_accept(accept, is_list, &c->media))
        return failure(ERR_NOT_ACCEPTABLE,
                       "only the following media types are accepted: application/json, "
                       "application/yaml, application/vnd.kubernetes.protobuf");
    if (c->r.verb == REGISTRY_VERB_PATCH) {
        struct str type = net_headers_find(request->headers, STR("Content-Type"));
        if (!server_media_of_patch(type, &c->r.patch_type))
            return failure(ERR_MEDIA_TYPE,
                           "the body of the request was in an unknown format - accepted media "
                           "types include: application/json-patch+json, "
                           "application/merge-patch+json, application/strategic-merge-patch+json, "
                           "application/apply-patch+yaml");
        is_apply = c->r.patch_type == APISERVER_APPLY_PATCH;
    }
    c->r.resource = c->route.resource;
    c->r.subresource = c->route.subresource;
    c->r.namespace = c->route.namespace;
    c->r.name = c->route.name;
    c->r.user = &c->user;
    c->r.user_agent = net_headers_find(request->headers, STR("User-Agent"));
    c->r.arena = &c->arena;
    return server_query_options(&c->arena, &c->query, c->r.verb, is_apply, &c->r.options);
}

static void serve_resource(struct server__call *c) {
    struct registry_failure f;
    if (c->route.kind == SERVER_ROUTE_UNKNOWN)
        f = failure(ERR_NOT_FOUND, "the server could not find the requested resource");
    else if (!is_allowed(c))
        f = failure(ERR_METHOD, "the server does not allow this method on the requested resource");
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

static void serve(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    server_route_read(&c->arena, c->s->opts.catalog, request->path, &c->route);
    server_query_read(&c->arena, request->query, &c->query);
    bool has_verb = find_verb(c);
    struct registry_failure f = server__identify(c);
    if (f.code)
        server__answer_failure(c, f);
    else if (c->route.kind == SERVER_ROUTE_DISCOVERY)
        server__discovery(c);
    else if (c->route.kind == SERVER_ROUTE_OTHER || c->route.kind == SERVER_ROUTE_NONE)
        server__special(c);
    else if (!has_verb)
        server__answer_failure(c, failure(ERR_METHOD, "the server does not allow this method on "
                                                      "the requested resource"));
    else
        serve_resource(c);
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
