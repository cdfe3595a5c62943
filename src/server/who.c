/*
 * Who asks, whom they want to be, and what they may.
 *
 * Follows k8s.io/apiserver pkg/endpoints/filters, func WithAuthentication,
 * func WithAuthorization.
 * Follows k8s.io/apiserver pkg/endpoints/filters/impersonation, func WithImpersonation.
 */
#include "auth/impersonate.h"
#include "server/aside_int.h"

static const char *verb_name(enum registry_verb verb) {
    static const char *const names[] = {
#define X(id, name) [REGISTRY_VERB_##id] = name,
        REGISTRY_VERBS(X)
#undef X
    };
    return names[verb];
}

static struct str fingerprint(struct arena *a, const uint8_t sha256[32]) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("X509SHA256="));
    buf_add_hex(&text, sha256, 32);
    return arena_str(a, buf_view(&text));
}

/* The certificate as auth knows it; NULL: none was shown, or it is not believed. */
static const struct auth_client *client_of(struct server__call *c, const struct net_identity *id) {
    if (!id || !id->is_verified)
        return NULL;
    struct auth_client *client = arena_new(&c->arena, struct auth_client);
    client->has_user = id->common_name.n > 0;
    client->user.name = id->common_name;
    client->until = id->not_after / CLOCK_SECOND;
    auth_user_note(&c->arena, &client->user, STR(AUTH_EXTRA_CREDENTIAL_ID),
                   fingerprint(&c->arena, id->sha256));
    for (size_t i = 0; i < id->organization_count; i++)
        auth_user_join(&c->arena, &client->user, id->organizations[i]);
    return client;
}

/* All headers of that name. */
static struct api_strs headers_of(struct server__call *c, struct str name) {
    const struct net_headers *headers = &net_exchange_request(c->x)->headers;
    struct api_strs out = {.v = arena_array(&c->arena, struct str, headers->n)};
    for (size_t i = 0; i < headers->n; i++) {
        struct str value = net_headers_find((struct net_headers){&headers->v[i], 1}, name);
        if (value.p)
            out.v[out.n++] = value;
    }
    return out;
}

/* Has the answer warn, before all other warnings. */
static void warn(struct server__call *c, struct str text) {
    if (!text.n)
        return;
    struct str *one = arena_array(&c->arena, struct str, 1);
    *one = text;
    c->warnings = (struct api_strs){one, 1};
}

static struct registry_failure authenticate(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    struct auth_credentials shown = {
        .client = client_of(c, request->identity),
        .authorization = net_headers_find(request->headers, STR("Authorization")),
        .is_websocket = net_websocket_is_asked(request),
        .protocols = headers_of(c, STR("Sec-WebSocket-Protocol")),
        .now = clock_wall(c->s->opts.clock) / CLOCK_SECOND,
        .certificate_now = clock_wall(net_loop_clock(c->worker->loop)) / CLOCK_SECOND,
    };
    struct auth_answer answer = auth_authenticate(&c->s->opts.who, &c->arena, &shown);
    c->user = answer.user;
    warn(c, answer.warning);
    return answer.outcome == AUTH_KNOWN ? (struct registry_failure){.code = ERR_NONE}
                                        : auth_unauthorized();
}

/* What is asked, as a question to the rules. */
static struct auth_attributes question_of(struct server__call *c) {
    const struct server_route *route = &c->route;
    bool is_resource = route->kind == SERVER_ROUTE_RESOURCE || route->kind == SERVER_ROUTE_UNKNOWN;
    if (is_resource)
        return (struct auth_attributes){.user = &c->user,
                                        .is_resource = true,
                                        .verb = str_of(verb_name(c->r.verb)),
                                        .namespace = route->namespace,
                                        .group = route->group,
                                        .version = route->version,
                                        .resource = route->plural,
                                        .subresource = route->subname,
                                        .name = route->name.n ? route->name : c->selected};
    const struct net_request *request = net_exchange_request(c->x);
    char *verb = arena_alloc(&c->arena, request->method.n + 1);
    for (size_t i = 0; i < request->method.n; i++)
        verb[i] = ascii_to_lower(request->method.p[i]);
    return (struct auth_attributes){
        .user = &c->user, .verb = {verb, request->method.n}, .path = request->path};
}

static struct registry_failure impersonate(struct server__call *c) {
    const struct net_headers *headers = &net_exchange_request(c->x)->headers;
    struct auth_header *shown = arena_array(&c->arena, struct auth_header, headers->n);
    struct auth_attributes q = question_of(c);
    struct auth_wanted wanted = {0};
    struct auth_user asker = c->user, other;
    struct str how;
    for (size_t i = 0; i < headers->n; i++)
        shown[i] = (struct auth_header){headers->v[i].name, headers->v[i].value};
    struct registry_failure f = auth_impersonation_read(&c->arena, shown, headers->n, &wanted);
    if (f.code || !wanted.is_set)
        return f;
    q.user = &asker;
    f = auth_impersonate(c->worker->rules, &c->arena, &q, &wanted.user, &other, &how);
    if (!f.code) {
        c->asker = asker;
        c->user = other;
    }
    return f;
}

bool server__may(struct server__call *c, struct str verb, struct str *reason) {
    struct auth_attributes q = question_of(c);
    q.verb = verb;
    *reason = STR("");
    if (c->s->opts.is_open)
        return true;
    struct auth_verdict verdict = auth_check(c->worker->rules, &q);
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    auth_reason_write(&text, c->worker->rules, &q, &verdict);
    if (text.n)
        *reason = arena_str(&c->arena, buf_view(&text));
    return verdict.allowed;
}

struct auth_attributes server__question(struct server__call *c) {
    return question_of(c);
}

struct registry_failure server__identify(struct server__call *c) {
    struct registry_failure f = authenticate(c);
    if (f.code || c->s->opts.is_open)
        return f;
    f = impersonate(c);
    if (f.code)
        return f;
    struct auth_attributes q = question_of(c);
    return auth_authorize(c->worker->rules, &c->arena, &q, NULL);
}
