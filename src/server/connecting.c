/*
 * Requests that want to be led to a container, a pod, a service or a node.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func ConnectResource.
 * Follows k8s.io/kubernetes pkg/registry/core/pod/rest, func (*LogREST) Get,
 * func ensureAuthorizedForVerb.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "codec/time.h"
#include "server/aside_int.h"

static const struct registry_failure none = {.code = ERR_NONE};

static bool is_sub(const struct server__call *c, const char *name) {
    return str_is(c->route.subname, name);
}

/* A WebSocket is asked for by GET, and changes as much as POST does. */
static struct registry_failure check_right(struct server__call *c) {
    if (c->r.verb != REGISTRY_VERB_GET || is_sub(c, "proxy") || is_sub(c, "log") ||
        !feature_enabled(c->s->opts.gates, FEATURE_AuthorizePodWebsocketUpgradeCreatePermission))
        return none;
    struct str reason;
    if (server__may(c, STR("create"), &reason))
        return none;
    return auth_refuse(&c->arena, c->route.group, c->route.plural, c->route.name, reason);
}

/* ---- options of logs ---- */

static struct registry_failure read_number(struct server__call *c, const char *name,
                                           struct api_opt_i64 *out) {
    struct str text = server_query_get(&c->query, name);
    if (!text.n)
        return none;
    out->set = true;
    if (str_to_i64(text, &out->v))
        return none;
    return registry_bad_request(arena_printf(
        &c->arena, "strconv.ParseInt: parsing \"%.*s\": invalid syntax", STR_ARG(text)));
}

static struct registry_failure read_since(struct server__call *c, struct api_opt_i64 seconds,
                                          struct server__log_options *out) {
    struct str text = server_query_get(&c->query, "sinceTime");
    AUTO(buf_release) struct buf why = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct time_instant since;
    int64_t ns;
    out->since = INT64_MIN;
    if (seconds.set && (__builtin_mul_overflow(seconds.v, CLOCK_SECOND, &ns) ||
                        __builtin_sub_overflow(clock_wall(c->s->opts.clock), ns, &out->since)))
        out->since = INT64_MIN; /* less than nothing is refused later */
    if (!text.n)
        return none;
    if (time_parse(text, &since, &why) < 0)
        return registry_bad_request(arena_str(&c->arena, buf_view(&why)));
    if (__builtin_mul_overflow(since.seconds, CLOCK_SECOND, &out->since))
        out->since = since.seconds < 0 ? INT64_MIN : INT64_MAX;
    return none;
}

static struct registry_failure check_log(struct server__call *c,
                                         struct server__log_options *options) {
    struct valid_log_options o = {
        .has_since_time = server_query_get(&c->query, "sinceTime").n > 0,
        .stream = server_query_get(&c->query, "stream"),
        .allows_stream = feature_enabled(c->s->opts.gates, FEATURE_PodLogsQuerySplitStreams)};
    struct registry_failure f = read_number(c, "sinceSeconds", &o.since_seconds);
    if (!f.code)
        f = read_since(c, o.since_seconds, options);
    if (!f.code)
        f = read_number(c, "tailLines", &o.tail_lines);
    if (!f.code)
        f = read_number(c, "limitBytes", &o.limit_bytes);
    if (f.code)
        return f;
    options->follow = server_query_is_true(&c->query, "follow");
    options->timestamps = server_query_is_true(&c->query, "timestamps");
    options->has_output = !str_is(o.stream, "Stderr");
    options->tail = o.tail_lines;
    options->limit = o.limit_bytes;
    struct valid_errs *errs = arena_new(&c->arena, struct valid_errs);
    *errs = VALID_ERRS_INIT(&c->arena);
    valid_log_options(&o, errs);
    if (!errs->n)
        return none;
    const struct api_object_meta meta = {.name = c->route.name};
    const struct api_type_meta names = {.kind = STR("PodLogOptions"), .api_version = STR("v1")};
    return registry_invalid(&c->arena, &(struct api_object){.meta = &meta, .names = &names}, errs);
}

/* ---- the door ---- */

/* A log that has not begun: no bytes, and so no type. */
static void answer_nothing(struct server__call *c) {
    struct server__headers h;
    server__headers_start(c, &h, STR(""));
    server__respond(c, 204, &h, NULL, 0);
}

static bool is_upgrade(const struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    return net_headers_find(request->headers, STR("Upgrade")).n > 0;
}

bool server__connect(struct server__call *c) {
    if (!apiserver_connects(c->route.resource, c->route.subresource))
        return false;
    struct apiserver_stream stream = {.container = server_query_get(&c->query, "container"),
                                      .is_upgrade = is_upgrade(c),
                                      .is_previous = server_query_is_true(&c->query, "previous")};
    struct server__log_options options = {0};
    struct apiserver_log log;
    struct registry_failure f = none;
    c->r.resource = c->route.resource;
    c->r.subresource = c->route.subresource;
    c->r.namespace = c->route.namespace;
    c->r.name = c->route.name;
    c->r.arena = &c->arena;
    if (is_sub(c, "log") && !c->is_acceptable)
        f = server__not_acceptable(c);
    else if (is_sub(c, "log"))
        f = check_log(c, &options);
    else if (server_query_get(&c->query, "dryRun").n)
        f = registry_bad_request(STR("dryRun is not supported"));
    if (!f.code)
        f = check_right(c);
    if (!f.code)
        f = apiserver_connect(c->s->opts.api, &c->r, &stream, &log);
    if (f.code)
        server__answer_failure(c, f);
    else if (log.run.n)
        server__log(c, &options, &stream, &log);
    else
        answer_nothing(c);
    return true;
}
