/* Tests that are data: files with one JSON object on each line. */
#ifndef TEST_DATA_H
#define TEST_DATA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "codec/json.h"
#include "feature/feature.h"

/* The string under key; empty when there is none. */
static inline struct str data_text(const struct json *line, const char *key) {
    const struct json *v = json_get(line, str_of(key));
    return v && v->kind == JSON_STRING ? json_str(v) : STR("");
}

/* Fails unless the string under key, or none, is the one we got. */
static inline void data_expect(const struct json *line, const char *key, struct str got) {
    struct str want = data_text(line, key), id = data_text(line, "id");
    if (!str_eq(want, got))
        fail_msg("%.*s: %s\n want %.*s\n got  %.*s", STR_ARG(id), key, STR_ARG(want), STR_ARG(got));
}

/* What the newest version has on by default. */
static inline struct feature_set data_newest_gates(void) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    return config.enabled;
}

/* The newest defaults, and what the line's `gates` say: {"Name": true, …}. */
static inline struct feature_set data_gates(const struct json *line) {
    struct feature_set enabled = data_newest_gates();
    const struct json *gates = json_get(line, STR("gates"));
    for (uint32_t i = 0; gates && i < gates->n; i++) {
        enum feature f;
        assert_true(feature_find(gates->members[i].key, &f));
        feature_set_put(&enabled, f, gates->members[i].value.b);
    }
    return enabled;
}

/* A value as text, in the arena. */
static inline struct str data_write(struct arena *a, const struct json *v) {
    struct buf b = BUF_INIT(1 << 24);
    json_write(&b, v, NULL);
    struct str text = arena_str(a, buf_view(&b));
    buf_release(&b);
    return text;
}

/* Fails unless the value is the wanted one; `what` tells which one it is. */
static inline void data_expect_same(struct str what, const struct json *want,
                                    const struct json *got) {
    if (want && json_equal(want, got))
        return;
    struct arena a = {0};
    struct str x = want ? data_write(&a, want) : STR("nothing"), y = data_write(&a, got);
    fail_msg("%.*s\n want %.*s\n got  %.*s", STR_ARG(what), STR_ARG(x), STR_ARG(y));
}

static inline FILE *data_open(const char *path) {
    FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("cannot open %s (run from the root of the repository)", path);
    return f;
}

/* The text of a small file, in the arena. */
static inline struct str data_read(struct arena *a, const char *path) {
    enum { MOST = 1 << 20 };
    FILE *f = data_open(path);
    char *p = arena_alloc(a, MOST);
    size_t n = fread(p, 1, MOST, f);
    assert_true(n < MOST);
    fclose(f);
    return (struct str){p, n};
}

/* The lines of a file, one after the other: data_lines_start, then data_lines_next while it is
 * true, then data_lines_end. */
struct data_lines {
    const char *path;
    FILE *file;
    char *text;
    size_t size, count; /* of lines so far */
    struct arena arena; /* of the line */
    struct json line;
};

static inline void data_lines_start(struct data_lines *d, const char *path) {
    *d = (struct data_lines){.path = path, .file = data_open(path)};
}

static inline bool data_lines_next(struct data_lines *d) {
    struct err err;
    arena_reset(&d->arena);
    ssize_t n = getline(&d->text, &d->size, d->file);
    if (n <= 0)
        return false;
    d->count++;
    if (json_parse(&d->arena, (struct str){d->text, (size_t)n}, NULL, &d->line, &err) < 0)
        fail_msg("%s:%zu: %s", d->path, d->count, err.msg);
    return true;
}

/* There must have been `least` lines. */
static inline void data_lines_end(struct data_lines *d, size_t least) {
    free(d->text);
    fclose(d->file);
    arena_release(&d->arena);
    assert_true(d->count >= least);
}

/* Calls f for each line of a file, with an arena that is reset behind it; there must be `least`
 * lines. */
static inline void data_each(const char *path, size_t least,
                             void (*f)(struct arena *a, const struct json *line)) {
    struct data_lines d;
    data_lines_start(&d, path);
    while (data_lines_next(&d))
        f(&d.arena, &d.line);
    data_lines_end(&d, least);
}

#endif
