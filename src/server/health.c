/*
 * Is the server healthy, alive, ready?
 *
 * Follows k8s.io/apiserver pkg/server/healthz, func InstallPathHandler.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/goquote.h"
#include "server/server_int.h"

/* The paths as bits. */
enum { HEALTHZ = 1, LIVEZ = 2, READYZ = 4, ALL = HEALTHZ | LIVEZ | READYZ };

static const struct {
    struct str name;
    unsigned bit;
} paths[] = {
    {STR_INIT("healthz"), HEALTHZ},
    {STR_INIT("livez"), LIVEZ},
    {STR_INIT("readyz"), READYZ},
};

/* ---- checks ---- */

static int check_ping(const struct server *s, struct err *err) {
    (void)s, (void)err;
    return 0;
}

/* Diagnostics can be written. */
static int check_log(const struct server *s, struct err *err) {
    return fcntl(s->opts.log->fd, F_GETFL) < 0 ? err_set(err, ERR_IO, "logging blocked") : 0;
}

/* Writes are possible. Its name is upstream's, which scripts ask for. */
static int check_store(const struct server *s, struct err *err) {
    return store_writable(s->opts.store, err);
}

/* The roles that every cluster has were stored and read. */
static int check_roles(const struct server *s, struct err *err) {
    return s->has_roles ? 0 : err_set(err, ERR_UNAVAILABLE, "not finished");
}

static int check_shutdown(const struct server *s, struct err *err) {
    return __atomic_load_n(&s->is_stopping, __ATOMIC_RELAXED)
               ? err_set(err, ERR_UNAVAILABLE, "process is shutting down")
               : 0;
}

/* Each is a path of its own too: /readyz/ping. */
static const struct check {
    struct str name;
    unsigned of; /* which paths ask it */
    int (*fn)(const struct server *s, struct err *err);
} checks[] = {
    {STR_INIT("ping"), ALL, check_ping},
    {STR_INIT("log"), ALL, check_log},
    {STR_INIT("etcd"), ALL, check_store},
    {STR_INIT("poststarthook/rbac/bootstrap-roles"), ALL, check_roles},
    {STR_INIT("shutdown"), READYZ, check_shutdown},
};
enum { CHECKS = sizeof checks / sizeof *checks };

/* ---- answers ---- */

static bool is_excluded(const struct server__call *c, struct str check) {
    for (size_t i = 0; i < c->query.n; i++)
        if (str_is(c->query.names[i], "exclude") && str_eq(c->query.values[i], check))
            return true;
    return false;
}

static bool is_check_of(unsigned path, struct str name) {
    for (size_t i = 0; i < CHECKS; i++)
        if (checks[i].of & path && str_eq(checks[i].name, name))
            return true;
    return false;
}

/* Those that are excluded and do not exist: sorted, each once. */
static void write_unknown(struct server__call *c, struct buf *text, unsigned path) {
    struct str *names = arena_array(&c->arena, struct str, c->query.n);
    size_t n = 0;
    for (size_t i = 0; i < c->query.n; i++)
        if (str_is(c->query.names[i], "exclude") && !is_check_of(path, c->query.values[i]))
            names[n++] = c->query.values[i];
    if (!n)
        return;
    qsort(names, n, sizeof *names, str_cmp_qsort);
    buf_add(text, STR("warn: some health checks cannot be excluded: no matches for "));
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(names[i], names[i - 1]))
            continue;
        buf_add(text, i ? STR(",") : STR(""));
        goquote_write(text, names[i]);
    }
    buf_add_char(text, '\n');
}

/* False: a check failed. */
static bool write_checks(struct server__call *c, struct buf *text, unsigned path) {
    bool all = true;
    for (size_t i = 0; i < CHECKS; i++) {
        struct err err;
        if (!(checks[i].of & path))
            continue;
        bool excluded = is_excluded(c, checks[i].name);
        bool good = excluded || checks[i].fn(c->s, &err) == 0;
        all &= good;
        buf_addf(text, "[%c]%.*s %s\n", good ? '+' : '-', STR_ARG(checks[i].name),
                 excluded ? "excluded: ok"
                 : good   ? "ok"
                          : "failed: reason withheld");
    }
    return all;
}

static void answer_all(struct server__call *c, struct str name, unsigned path) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    bool good = write_checks(c, &text, path);
    write_unknown(c, &text, path);
    buf_addf(&text, "%.*s check %s\n", STR_ARG(name), good ? "passed" : "failed");
    bool is_verbose = !good || server_query_get(&c->query, "verbose").p;
    struct str shown = is_verbose ? arena_str(&c->arena, buf_view(&text)) : STR("ok");
    server__answer_text(c, good ? 200 : 500, shown);
}

static bool answer_one(struct server__call *c, struct str name, unsigned path) {
    struct err err;
    for (size_t i = 0; i < CHECKS; i++) {
        if (!(checks[i].of & path) || !str_eq(checks[i].name, name))
            continue;
        bool good = checks[i].fn(c->s, &err) == 0;
        server__answer_text(c, good ? 200 : 500,
                            good ? STR("ok")
                                 : arena_printf(&c->arena, "internal server error: %s\n", err.msg));
        return true;
    }
    return false;
}

bool server__health(struct server__call *c) {
    struct str path = net_exchange_request(c->x)->path, first, rest;
    bool is_one = str_cut(str_sub(path, 1, path.n), '/', &first, &rest);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!str_eq(first, paths[i].name))
            continue;
        if (is_one)
            return answer_one(c, rest, paths[i].bit);
        answer_all(c, first, paths[i].bit);
        return true;
    }
    return false;
}

void server__health_paths(struct arena *a, struct json *out) {
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        json_append(a, out, json_of_str(arena_printf(a, "/%.*s", STR_ARG(paths[i].name))));
        for (size_t k = 0; k < CHECKS; k++)
            if (checks[k].of & paths[i].bit)
                json_append(a, out,
                            json_of_str(arena_printf(a, "/%.*s/%.*s", STR_ARG(paths[i].name),
                                                     STR_ARG(checks[k].name))));
    }
}
