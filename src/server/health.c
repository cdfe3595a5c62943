/* Is the server healthy, alive, ready? */
#include "health/health.h"

#include <fcntl.h>

#include "server/server_int.h"

/* ---- checks ---- */

static int check_ping(const void *server, struct err *err) {
    (void)server, (void)err;
    return 0;
}

/* Diagnostics can be written. */
static int check_log(const void *server, struct err *err) {
    const struct server *s = server;
    return fcntl(s->opts.log->fd, F_GETFL) < 0 ? err_set(err, ERR_IO, "logging blocked") : 0;
}

/* Writes are possible. Its name is upstream's, which scripts ask for. */
static int check_store(const void *server, struct err *err) {
    const struct server *s = server;
    return store_writable(s->opts.store, err);
}

/* The roles that every cluster has were stored and read. */
static int check_roles(const void *server, struct err *err) {
    const struct server *s = server;
    return s->has_roles ? 0 : err_set(err, ERR_UNAVAILABLE, "not finished");
}

static int check_shutdown(const void *server, struct err *err) {
    const struct server *s = server;
    return __atomic_load_n(&s->is_stopping, __ATOMIC_RELAXED)
               ? err_set(err, ERR_UNAVAILABLE, "process is shutting down")
               : 0;
}

static const struct health_check checks[] = {
    {STR_INIT("ping"), HEALTH_ALL, check_ping},
    {STR_INIT("log"), HEALTH_ALL, check_log},
    {STR_INIT("etcd"), HEALTH_ALL, check_store},
    {STR_INIT("poststarthook/rbac/bootstrap-roles"), HEALTH_ALL, check_roles},
    {STR_INIT("shutdown"), HEALTH_READYZ, check_shutdown},
};

static struct health_checks checks_of(const struct server *s) {
    return (struct health_checks){checks, sizeof checks / sizeof *checks, s};
}

/* ---- answers ---- */

bool server__health(struct server__call *c) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct health_checks all = checks_of(c->s);
    struct str *excluded = arena_array(&c->arena, struct str, c->query.n);
    struct health_question q = {.path = net_exchange_request(c->x)->path,
                                .is_verbose = server_query_get(&c->query, "verbose").p,
                                .excluded = excluded};
    for (size_t i = 0; i < c->query.n; i++)
        if (str_is(c->query.names[i], "exclude"))
            excluded[q.excluded_count++] = c->query.values[i];
    int status = health_answer(&all, &q, &text);
    if (status)
        server__answer_text(c, status, buf_view(&text));
    return status != 0;
}

struct listing {
    struct arena *a;
    struct json *out;
};

static void add_path(void *arg, struct str path) {
    struct listing *l = arg;
    json_append(l->a, l->out, json_of_str(arena_str(l->a, path)));
}

void server__health_paths(struct arena *a, struct json *out) {
    struct health_checks all = checks_of(NULL);
    health_paths(&all, add_path, &(struct listing){a, out});
}
