/*
 * Paths that are no resources: version, health, metrics.
 *
 * Follows k8s.io/apiserver pkg/server/healthz, func InstallPathHandler.
 */
#include "server/server_int.h"

/* What is asked when health is; each is a path of its own too: /readyz/ping. */
static const char *const checks[] = {"ping", "log", "store"};

static bool is_healthy(const struct server__call *c, const char *check) {
    if (str_is(str_of(check), "store"))
        return store_writable(c->s->opts.store, NULL) == 0;
    return true;
}

static bool is_excluded(const struct server__call *c, const char *check) {
    for (size_t i = 0; i < c->query.n; i++)
        if (str_is(c->query.names[i], "exclude") && str_is(c->query.values[i], check))
            return true;
    return false;
}

static void answer_health(struct server__call *c, struct str name) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    bool all = true;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        bool excluded = is_excluded(c, checks[i]), good = excluded || is_healthy(c, checks[i]);
        all &= good;
        buf_addf(&text, "[%c]%s %s\n", good ? '+' : '-', checks[i],
                 excluded ? "excluded: ok"
                 : good   ? "ok"
                          : "failed: reason withheld");
    }
    buf_addf(&text, "%.*s check %s\n", STR_ARG(name), all ? "passed" : "failed");
    bool verbose = !all || server_query_is_true(&c->query, "verbose");
    struct str shown = verbose ? arena_str(&c->arena, buf_view(&text)) : STR("ok");
    server__answer_text(c, all ? 200 : 500, shown);
}

static void answer_check(struct server__call *c, struct str check) {
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (str_is(check, checks[i])) {
            bool good = is_healthy(c, checks[i]);
            server__answer_text(c, good ? 200 : 500,
                                good ? STR("ok") : STR("internal server error: reason withheld"));
            return;
        }
    server__answer_text(c, 404, STR("404 page not found\n"));
}

static void answer_version(struct server__call *c) {
    static const struct {
        struct str name, value;
    } members[] = {
        {STR_INIT("major"), STR_INIT("1")},
        {STR_INIT("minor"), STR_INIT("37")},
        {STR_INIT("emulationMajor"), STR_INIT("1")},
        {STR_INIT("emulationMinor"), STR_INIT("37")},
        {STR_INIT("minCompatibilityMajor"), STR_INIT("1")},
        {STR_INIT("minCompatibilityMinor"), STR_INIT("36")},
        {STR_INIT("gitVersion"), STR_INIT("v1.37.1+berth")},
        {STR_INIT("gitCommit"), STR_INIT("")},
        {STR_INIT("gitTreeState"), STR_INIT("clean")},
        {STR_INIT("buildDate"), STR_INIT("1970-01-01T00:00:00Z")},
        {STR_INIT("goVersion"), STR_INIT("none")},
        {STR_INIT("compiler"), STR_INIT("gcc")},
        {STR_INIT("platform"), STR_INIT("linux/amd64")},
    };
    struct json tree = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_add(&c->arena, &tree, members[i].name, json_of_str(members[i].value));
    server__answer_json(c, 200, &tree);
}

void server__special(struct server__call *c) {
    static const char *const healths[] = {"healthz", "livez", "readyz"};
    struct str path = net_exchange_request(c->x)->path, first, rest;
    str_cut(str_sub(path, 1, path.n), '/', &first, &rest);
    for (size_t i = 0; i < sizeof healths / sizeof *healths; i++)
        if (c->route.kind == SERVER_ROUTE_OTHER && str_is(first, healths[i])) {
            if (rest.n)
                answer_check(c, rest);
            else
                answer_health(c, first);
            return;
        }
    if (str_is(path, "/version"))
        answer_version(c);
    else if (!server__openid(c) && !server__documents(c))
        server__answer_text(c, 404, STR("404 page not found\n"));
}
