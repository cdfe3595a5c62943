/*
 * What is told of a request: counters, the audit log, and a line about who was refused.
 *
 * Follows k8s.io/apiserver pkg/endpoints/filters, func WithAuditInit.
 * Follows k8s.io/apiserver pkg/endpoints/metrics, func cleanVerb, func CleanScope.
 */
#include "server/server_int.h"

/* ---- identifiers ---- */

/* splitmix64: numbers that differ, not numbers that nobody can guess. */
static uint64_t draw(struct server__worker *w) {
    uint64_t z = w->chance += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A random UUID (version 4). */
static struct str new_id(struct server__call *c) {
    enum { LENGTH = 36 };
    static const char digits[] = "0123456789abcdef";
    uint64_t bits[] = {draw(c->worker), draw(c->worker)};
    char *text = arena_alloc(&c->arena, LENGTH);
    for (size_t i = 0, n = 0; i < LENGTH; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        text[i] = is_dash ? '-' : digits[bits[n / 16] >> 4 * (n % 16) & 15];
        n += !is_dash;
    }
    text[14] = '4';
    text[19] = "89ab"[bits[0] & 3];
    return (struct str){text, LENGTH};
}

/* ---- series ---- */

/* The verb of a request as upstream's metrics name it; APPLY is a PATCH of its own. */
static const char *verb_label(const struct server__call *c) {
    static const char *const names[] = {
        [REGISTRY_VERB_CREATE] = "POST", [REGISTRY_VERB_DELETE] = "DELETE",
        [REGISTRY_VERB_GET] = "GET",     [REGISTRY_VERB_DELETE_COLLECTION] = "DELETECOLLECTION",
        [REGISTRY_VERB_LIST] = "LIST",   [REGISTRY_VERB_PATCH] = "PATCH",
        [REGISTRY_VERB_UPDATE] = "PUT",  [REGISTRY_VERB_WATCH] = "WATCH",
    };
    static const char *const apply = "APPLY";
    bool is_apply = c->r.verb == REGISTRY_VERB_PATCH && c->r.patch_type == APISERVER_APPLY_PATCH;
    return is_apply ? apply : names[c->r.verb];
}

static const char *scope_label(const struct server__call *c) {
    static const char *const scopes[] = {"resource", "namespace", "cluster"};
    if (c->route.name.n || c->selected.n || c->r.verb == REGISTRY_VERB_CREATE)
        return scopes[0];
    return c->route.namespace.n ? scopes[1] : scopes[2];
}

/* Health has series of its own, under its path. */
static bool label_health(const struct server__call *c, struct server_labels *out) {
    static const struct str paths[] = {STR_INIT("/healthz"), STR_INIT("/livez"),
                                       STR_INIT("/readyz")};
    static const char *const verb = "GET", *const scope = "";
    struct str path = net_exchange_request(c->x)->path;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (str_eq(path, paths[i])) {
            *out = (struct server_labels){.subresource = paths[i], .verb = verb, .scope = scope};
            return true;
        }
    return false;
}

static bool label_request(const struct server__call *c, struct server_labels *out) {
    const struct server_route *route = &c->route;
    if (route->kind == SERVER_ROUTE_OTHER)
        return label_health(c, out);
    if (route->kind != SERVER_ROUTE_RESOURCE || !c->has_verb)
        return false;
    *out = (struct server_labels){
        .group = route->resource->group,
        .version = route->resource->version,
        .resource = str_of(route->resource->kind->plural),
        .subresource = route->subresource ? str_of(route->subresource->name) : STR(""),
        .verb = verb_label(c),
        .scope = scope_label(c),
        .is_dry_run = c->r.options.dry_run,
    };
    return true;
}

static struct server_series *series_of(struct server__call *c) {
    struct server_labels labels;
    if (!c->account.series && !c->is_refused && label_request(c, &labels))
        c->account.series = server_counts_series(c->worker->counts, &labels);
    return c->account.series;
}

static void count_answer(struct server__call *c, int status) {
    struct server_series *s = series_of(c);
    if (s)
        server_series_answer(s, status,
                             clock_mono(net_loop_clock(c->worker->loop)) - c->account.received);
}

/* ---- the life of a request ---- */

void server__account_open(struct server__call *c) {
    struct str shown = net_headers_find(net_exchange_request(c->x)->headers, STR("Audit-ID"));
    c->account.received = clock_mono(net_loop_clock(c->worker->loop));
    c->account.received_wall = clock_wall(c->s->opts.clock);
    c->account.id = shown.n ? shown : new_id(c);
    c->account.is_long_running = c->has_verb && c->r.verb == REGISTRY_VERB_WATCH;
}

void server__account_start(struct server__call *c, enum err_code refused) {
    bool is_known = refused != ERR_UNAUTHORIZED;
    c->is_refused = refused != ERR_NONE;
    server_counts_tally(c->worker->counts,
                        is_known ? SERVER_TALLY_AUTHENTICATED : SERVER_TALLY_UNAUTHENTICATED);
    if (is_known)
        server_counts_tally(c->worker->counts,
                            refused ? SERVER_TALLY_DENIED : SERVER_TALLY_ALLOWED);
    if (c->s->policy)
        server__audit_start(c);
}

void server__account_stream(struct server__call *c, int status) {
    struct server_series *s = series_of(c);
    if (s)
        server_series_long(s, 1);
    c->account.is_streaming = true;
    c->account.status = status;
    server__audit(c, &c->arena, SERVER_AUDIT_STARTED);
}

void server__account_answer(struct server__call *c, int status, size_t length) {
    struct server_series *s = series_of(c);
    bool is_read = c->r.verb == REGISTRY_VERB_GET || c->r.verb == REGISTRY_VERB_LIST;
    count_answer(c, status);
    if (s && is_read && c->route.kind == SERVER_ROUTE_RESOURCE && status < 400)
        server_series_size(s, length);
    c->account.status = status;
    c->account.is_answered = true;
    if (c->account.is_long_running)
        server__audit(c, &c->arena, SERVER_AUDIT_STARTED);
    server__audit(c, &c->arena, SERVER_AUDIT_COMPLETE);
}

void server__account_end(struct server__call *c) {
    if (c->account.is_answered)
        return;
    c->account.is_answered = true;
    if (c->account.is_streaming) {
        server_series_long(series_of(c), -1);
        count_answer(c, c->account.status);
    } else {
        c->account.status = 200;
        c->account.status_text = STR("{\"metadata\":{},\"status\":\"Success\",\"message\":"
                                     "\"Connection closed early\",\"code\":200}");
    }
    server__audit(c, &c->arena, SERVER_AUDIT_COMPLETE);
}

/* ---- refusals ---- */

/* The Status without what it is: {"kind":"Status","apiVersion":"v1", is left out. */
static struct str status_text(struct arena *a, const struct registry_failure *failure) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json tree = registry_status(a, failure);
    struct json short_tree = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < tree.n; i++)
        if (!str_is(tree.members[i].key, "kind") && !str_is(tree.members[i].key, "apiVersion"))
            json_add(a, &short_tree, tree.members[i].key, tree.members[i].value);
    json_write(&text, &short_tree, NULL);
    return arena_str(a, buf_view(&text));
}

static void log_refusal(struct server__call *c, const struct registry_failure *failure) {
    const struct log *log = c->s->opts.log;
    const struct net_request *request = net_exchange_request(c->x);
    if (log->verbosity < 2 || !log_limit_allows(&c->worker->refusals, log))
        return;
    log_info(log, 2, "request refused", LOG_STR("user", c->user.name),
             LOG_STR("verb", server__question(c).verb), LOG_STR("path", request->path),
             LOG_I64("code", err_http_status(failure->code)),
             LOG_STR("reason", str_of(err_reason(failure->code))),
             LOG_STR("message", str_sub(failure->message, 0,
                                        failure->message.n < 512 ? failure->message.n : 512)),
             LOG_STR("from", request->peer), LOG_STR("auditID", c->account.id));
}

void server__account_refusal(struct server__call *c, const struct registry_failure *failure) {
    log_refusal(c, failure);
    if (c->account.audit.level > SERVER_AUDIT_NONE)
        c->account.status_text = status_text(&c->arena, failure);
}

void server__account_late(struct server__call *c, const struct registry_failure *failure) {
    AUTO(arena_release) struct arena a = {0};
    log_refusal(c, failure);
    count_answer(c, err_http_status(failure->code));
    c->account.is_answered = true;
    c->account.status = err_http_status(failure->code);
    if (c->account.audit.level > SERVER_AUDIT_NONE)
        c->account.status_text = status_text(&a, failure);
    server__audit(c, &a, SERVER_AUDIT_COMPLETE);
}
