/*
 * Events of the audit log: who did what, when, and what came of it.
 *
 * Follows k8s.io/apiserver pkg/audit, func LogRequestMetadata, func LogRequestObject,
 * func LogResponseObject.
 */
#include <arpa/inet.h>

#include "auth/rbac.h"
#include "base/utf8.h"
#include "codec/time.h"
#include "server/server_int.h"

/* A client's name for itself is cut behind so many characters. */
enum { USER_AGENT_MOST = 1024 };

/* ---- parts of an event ---- */

static void write_member(struct buf *b, const char *name, struct str value) {
    buf_addf(b, "\"%s\":", name);
    json_write_str(b, value, false);
}

static void write_list(struct buf *b, const struct str *v, size_t n) {
    buf_add_char(b, '[');
    for (size_t i = 0; i < n; i++) {
        buf_add(b, i ? STR(",") : STR(""));
        json_write_str(b, v[i], false);
    }
    buf_add_char(b, ']');
}

static void write_extra(struct buf *b, const struct api_str_lists *extra) {
    buf_add(b, STR("\"extra\":{"));
    for (size_t i = 0; i < extra->n; i++) {
        buf_add(b, i ? STR(",") : STR(""));
        json_write_str(b, extra->v[i].key, false);
        buf_add_char(b, ':');
        write_list(b, extra->v[i].value.v, extra->v[i].value.n);
    }
    buf_add_char(b, '}');
}

static void write_user(struct buf *b, const char *name, const struct auth_user *user) {
    const char *comma = "";
    buf_addf(b, "\"%s\":{", name);
    if (user->name.n) {
        write_member(b, "username", user->name);
        comma = ",";
    }
    if (user->uid.n) {
        buf_addf(b, "%s", comma);
        write_member(b, "uid", user->uid);
        comma = ",";
    }
    if (user->groups.n) {
        buf_addf(b, "%s\"groups\":", comma);
        write_list(b, user->groups.v, user->groups.n);
        comma = ",";
    }
    if (user->extra.n) {
        buf_addf(b, "%s", comma);
        write_extra(b, &user->extra);
    }
    buf_add(b, STR("},"));
}

static bool is_address(struct arena *a, struct str text) {
    unsigned char bytes[16];
    if (!text.n)
        return false;
    const char *p = arena_str(a, text).p;
    return inet_pton(AF_INET, p, bytes) == 1 || inet_pton(AF_INET6, p, bytes) == 1;
}

/* The address without its port and brackets. */
static struct str host_of(struct str peer) {
    size_t end = peer.n;
    while (end && peer.p[end - 1] != ':')
        end--;
    struct str host = str_sub(peer, 0, end ? end - 1 : 0);
    return host.n > 1 && host.p[0] == '[' ? str_sub(host, 1, host.n - 1) : host;
}

/* Whom proxies name, and the peer. */
static void write_sources(struct buf *b, struct arena *a, const struct net_request *request) {
    struct str list = net_headers_find(request->headers, STR("X-Forwarded-For")), item;
    struct str real = net_headers_find(request->headers, STR("X-Real-Ip"));
    struct str peer = host_of(request->peer), last = STR("");
    buf_add(b, STR("\"sourceIPs\":["));
    for (bool more = list.n > 0; more;) {
        more = str_cut(list, ',', &item, &list);
        item = str_trim(item);
        if (!is_address(a, item))
            continue;
        buf_add(b, last.n ? STR(",") : STR(""));
        json_write_str(b, last = item, false);
    }
    if (!last.n && is_address(a, str_trim(real))) {
        last = str_trim(real);
        json_write_str(b, last, false);
    }
    if (!str_eq(last, peer)) {
        buf_add(b, last.n ? STR(",") : STR(""));
        json_write_str(b, peer, false);
    }
    buf_add(b, STR("],"));
}

static void write_agent(struct buf *b, struct arena *a, struct str agent) {
    if (!agent.n)
        return;
    if (utf8_count(agent) > USER_AGENT_MOST)
        agent = arena_printf(a, "%.*s...TRUNCATED", STR_ARG(server__cut(agent, USER_AGENT_MOST)));
    write_member(b, "userAgent", agent);
    buf_add_char(b, ',');
}

static void write_reference(struct buf *b, const struct server__call *c,
                            const struct auth_attributes *q) {
    const struct server__account *account = &c->account;
    const struct {
        const char *name;
        struct str value;
    } rows[] = {
        {"resource", q->resource},
        {"namespace", q->namespace},
        {"name", q->name.n ? q->name : account->object_name},
        {"uid", account->object_uid},
        {"apiGroup", q->group},
        {"apiVersion", q->version},
        {"resourceVersion", account->object_version},
        {"subresource", q->subresource},
    };
    const char *comma = "";
    if (!q->is_resource)
        return;
    buf_add(b, STR("\"objectRef\":{"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value.n) {
            buf_addf(b, "%s", comma);
            write_member(b, rows[i].name, rows[i].value);
            comma = ",";
        }
    buf_add(b, STR("},"));
}

static void write_time(struct buf *b, const char *name, int64_t wall) {
    buf_addf(b, "\"%s\":\"", name);
    time_write_micro(b, (struct time_instant){wall / CLOCK_SECOND, (int32_t)(wall % CLOCK_SECOND)});
    buf_add_char(b, '"');
}

/* Whether it was allowed, and by what. */
static void write_decision(struct buf *b, struct server__call *c, const struct auth_attributes *q) {
    AUTO(buf_release) struct buf reason = BUF_INIT(SIZE_MAX);
    if (c->s->opts.is_open || !c->user.name.n)
        return;
    struct auth_verdict verdict = auth_check(c->worker->rules, q);
    auth_reason_write(&reason, c->worker->rules, q, &verdict);
    buf_addf(b,
             ",\"annotations\":{\"authorization.k8s.io/decision\":\"%s\","
             "\"authorization.k8s.io/reason\":",
             verdict.allowed ? "allow" : "forbid");
    json_write_str(b, buf_view(&reason), false);
    buf_add_char(b, '}');
}

/* ---- events ---- */

static void write_request(struct buf *b, struct server__call *c, struct arena *a,
                          const struct auth_attributes *q) {
    const struct net_request *request = net_exchange_request(c->x);
    struct str uri = request->query.p ? arena_printf(a, "%.*s?%.*s", STR_ARG(request->path),
                                                     STR_ARG(request->query))
                                      : request->path;
    write_member(b, "requestURI", uri);
    buf_add_char(b, ',');
    write_member(b, "verb", q->verb);
    buf_add_char(b, ',');
    write_user(b, "user", c->asker.name.n ? &c->asker : &c->user);
    if (c->asker.name.n)
        write_user(b, "impersonatedUser", &c->user);
    write_sources(b, a, request);
    write_agent(b, a, net_headers_find(request->headers, STR("User-Agent")));
    write_reference(b, c, q);
}

static void write_outcome(struct buf *b, const struct server__call *c,
                          enum server_audit_stage stage) {
    const struct server__account *account = &c->account;
    if (stage == SERVER_AUDIT_RECEIVED)
        return;
    if (account->status_text.n)
        buf_addf(b, "\"responseStatus\":%.*s,", STR_ARG(account->status_text));
    else
        buf_addf(b, "\"responseStatus\":{\"metadata\":{},\"code\":%d},", account->status);
    if (account->request_object.n && account->audit.level >= SERVER_AUDIT_REQUEST)
        buf_addf(b, "\"requestObject\":%.*s,", STR_ARG(account->request_object));
    if (account->response_object.n)
        buf_addf(b, "\"responseObject\":%.*s,", STR_ARG(account->response_object));
}

void server__audit(struct server__call *c, struct arena *a, enum server_audit_stage stage) {
    struct buf b = BUF_INIT(SIZE_MAX);
    const struct server_audit_rule *rule = &c->account.audit;
    if (rule->level == SERVER_AUDIT_NONE || rule->omitted >> stage & 1)
        return;
    struct auth_attributes q = server__question(c);
    buf_addf(&b,
             "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":\"%s\","
             "\"auditID\":",
             server_audit_levels[rule->level]);
    json_write_str(&b, c->account.id, false);
    buf_addf(&b, ",\"stage\":\"%s\",", server_audit_stages[stage]);
    write_request(&b, c, a, &q);
    write_outcome(&b, c, stage);
    write_time(&b, "requestReceivedTimestamp", c->account.received_wall);
    buf_add_char(&b, ',');
    write_time(&b, "stageTimestamp", clock_wall(c->s->opts.clock));
    if (stage != SERVER_AUDIT_RECEIVED)
        write_decision(&b, c, &q);
    buf_add(&b, STR("}\n"));
    server_audit_log_write(c->s->audit_log, b);
}

void server__audit_start(struct server__call *c) {
    struct auth_attributes q = server__question(c);
    c->account.audit = server_audit_policy_find(c->s->policy, &q);
    server__audit(c, &c->arena, SERVER_AUDIT_RECEIVED);
}

/* ---- objects ---- */

static struct json *member_of(struct json *object, const char *name) {
    if (object->kind == JSON_OBJECT)
        for (uint32_t i = 0; i < object->n; i++)
            if (str_is(object->members[i].key, name))
                return &object->members[i].value;
    return NULL;
}

static void drop_member(struct json *object, const char *name) {
    for (uint32_t i = 0; i < object->n; i++)
        if (str_is(object->members[i].key, name)) {
            for (uint32_t k = i + 1; k < object->n; k++)
                object->members[k - 1] = object->members[k];
            object->n--;
            return;
        }
}

/* Of an object and of the items of a list. */
static void drop_managed(struct json *tree) {
    struct json *meta = member_of(tree, "metadata"), *items = member_of(tree, "items");
    if (meta && meta->kind == JSON_OBJECT)
        drop_member(meta, "managedFields");
    for (uint32_t i = 0; items && items->kind == JSON_ARRAY && i < items->n; i++)
        if ((meta = member_of(&items->items[i], "metadata")) && meta->kind == JSON_OBJECT)
            drop_member(meta, "managedFields");
}

static struct str write_tree(struct server__call *c, struct json *tree) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (c->account.audit.omits_managed_fields)
        drop_managed(tree);
    json_write(&text, tree, NULL);
    return arena_str(&c->arena, buf_view(&text));
}

void server__account_request(struct server__call *c) {
    struct server__account *account = &c->account;
    if (account->audit.level == SERVER_AUDIT_NONE)
        return;
    if (c->r.object) {
        const struct api_object_meta *m = c->r.object->meta;
        account->object_name = arena_str(&c->arena, m->name);
        account->object_uid = arena_str(&c->arena, m->uid);
        account->object_version = arena_str(&c->arena, m->resource_version);
    }
    if (account->audit.level < SERVER_AUDIT_REQUEST)
        return;
    if (c->r.object) {
        struct json tree = api_object_encode(c->r.object, &c->arena);
        account->request_object = write_tree(c, &tree);
    } else if (c->r.patch) {
        struct json tree = *c->r.patch;
        AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
        json_write(&text, &tree, NULL);
        account->request_object = arena_str(&c->arena, buf_view(&text));
    }
}

bool server__account_wants_object(const struct server__call *c) {
    return c->account.audit.level == SERVER_AUDIT_RESPONSE;
}

void server__account_object(struct server__call *c, const struct net_part *parts, size_t n) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json tree;
    if (!server__account_wants_object(c))
        return;
    for (size_t i = 0; i < n; i++)
        buf_add(&text, parts[i].bytes);
    struct str json = str_trim(buf_view(&text));
    if (!c->account.audit.omits_managed_fields)
        c->account.response_object = arena_str(&c->arena, json);
    else if (json_parse(&c->arena, json, &(struct json_opts){.max_bytes = SIZE_MAX}, &tree, NULL) ==
             0)
        c->account.response_object = write_tree(c, &tree);
}
