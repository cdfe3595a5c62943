/* Checks, and what is said of them. */
#include "health/health.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/goquote.h"

static const struct {
    struct str name;
    unsigned bit;
} paths[] = {
    {STR_INIT("healthz"), HEALTH_HEALTHZ},
    {STR_INIT("livez"), HEALTH_LIVEZ},
    {STR_INIT("readyz"), HEALTH_READYZ},
};

static bool is_excluded(const struct health_question *q, struct str check) {
    for (size_t i = 0; i < q->excluded_count; i++)
        if (str_eq(q->excluded[i], check))
            return true;
    return false;
}

static bool is_check_of(const struct health_checks *checks, unsigned path, struct str name) {
    for (size_t i = 0; i < checks->n; i++)
        if (checks->v[i].of & path && str_eq(checks->v[i].name, name))
            return true;
    return false;
}

/* Those that are excluded and do not exist: sorted, each once. */
static void write_unknown(const struct health_checks *checks, const struct health_question *q,
                          unsigned path, struct buf *out) {
    AUTO(arena_release) struct arena a = {0};
    struct str *names = arena_array(&a, struct str, q->excluded_count);
    size_t n = 0;
    for (size_t i = 0; i < q->excluded_count; i++)
        if (!is_check_of(checks, path, q->excluded[i]))
            names[n++] = q->excluded[i];
    if (!n)
        return;
    qsort(names, n, sizeof *names, str_cmp_qsort);
    buf_add(out, STR("warn: some health checks cannot be excluded: no matches for "));
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(names[i], names[i - 1]))
            continue;
        buf_add(out, i ? STR(",") : STR(""));
        goquote_write(out, names[i]);
    }
    buf_add_char(out, '\n');
}

/* False: a check failed. */
static bool write_checks(const struct health_checks *checks, const struct health_question *q,
                         unsigned path, struct buf *out) {
    bool all = true;
    for (size_t i = 0; i < checks->n; i++) {
        const struct health_check *check = &checks->v[i];
        struct err err;
        if (!(check->of & path))
            continue;
        bool excluded = is_excluded(q, check->name);
        bool good = excluded || check->fn(checks->arg, &err) == 0;
        all &= good;
        buf_addf(out, "[%c]%.*s %s\n", good ? '+' : '-', STR_ARG(check->name),
                 excluded ? "excluded: ok"
                 : good   ? "ok"
                          : "failed: reason withheld");
    }
    return all;
}

static int answer_all(const struct health_checks *checks, const struct health_question *q,
                      struct str name, unsigned path, struct buf *out) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    bool good = write_checks(checks, q, path, &text);
    write_unknown(checks, q, path, &text);
    buf_addf(&text, "%.*s check %s\n", STR_ARG(name), good ? "passed" : "failed");
    buf_add(out, q->is_verbose || !good ? buf_view(&text) : STR("ok"));
    return good ? 200 : 500;
}

static int answer_one(const struct health_checks *checks, struct str name, unsigned path,
                      struct buf *out) {
    struct err err;
    for (size_t i = 0; i < checks->n; i++) {
        if (!(checks->v[i].of & path) || !str_eq(checks->v[i].name, name))
            continue;
        bool good = checks->v[i].fn(checks->arg, &err) == 0;
        if (good)
            buf_add(out, STR("ok"));
        else
            buf_addf(out, "internal server error: %s\n", err.msg);
        return good ? 200 : 500;
    }
    return 0;
}

int health_answer(const struct health_checks *checks, const struct health_question *q,
                  struct buf *out) {
    struct str first, rest;
    bool is_one = str_cut(str_sub(q->path, 1, q->path.n), '/', &first, &rest);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (str_eq(first, paths[i].name))
            return is_one ? answer_one(checks, rest, paths[i].bit, out)
                          : answer_all(checks, q, first, paths[i].bit, out);
    return 0;
}

void health_paths(const struct health_checks *checks, void (*fn)(void *arg, struct str path),
                  void *arg) {
    AUTO(arena_release) struct arena a = {0};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        fn(arg, arena_printf(&a, "/%.*s", STR_ARG(paths[i].name)));
        for (size_t k = 0; k < checks->n; k++)
            if (checks->v[k].of & paths[i].bit)
                fn(arg, arena_printf(&a, "/%.*s/%.*s", STR_ARG(paths[i].name),
                                     STR_ARG(checks->v[k].name)));
    }
}
