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

/* The newest defaults, and what the line's `gates` say: {"Name": true, …}. */
static inline struct feature_set data_gates(const struct json *line) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    const struct json *gates = json_get(line, STR("gates"));
    for (uint32_t i = 0; gates && i < gates->n; i++) {
        enum feature f;
        assert_true(feature_find(gates->members[i].key, &f));
        feature_set_put(&config.enabled, f, gates->members[i].value.b);
    }
    return config.enabled;
}

/* A value as text, in the arena. */
static inline struct str data_write(struct arena *a, const struct json *v) {
    struct buf b = BUF_INIT(1 << 24);
    json_write(&b, v, NULL);
    struct str text = arena_str(a, buf_view(&b));
    buf_release(&b);
    return text;
}

/* Calls f for each line of a file, with an arena that is reset behind it; there must be `least`
 * lines. */
static inline void data_each(const char *path, size_t least,
                             void (*f)(struct arena *a, const struct json *line)) {
    FILE *file = fopen(path, "re");
    if (!file)
        fail_msg("cannot open %s (run from the root of the repository)", path);
    struct arena a = {0};
    char *text = NULL;
    size_t size = 0, count = 0;
    for (ssize_t n; (n = getline(&text, &size, file)) > 0; count++) {
        struct json line;
        struct err err;
        if (json_parse(&a, (struct str){text, (size_t)n}, NULL, &line, &err) < 0)
            fail_msg("%s:%zu: %s", path, count + 1, err.msg);
        f(&a, &line);
        arena_reset(&a);
    }
    free(text);
    fclose(file);
    arena_release(&a);
    assert_true(count >= least);
}

#endif
