// LIBS: jansson
/*
 * Our JSON against jansson's: the same texts are accepted, with the same tree. Known differences:
 * jansson has no integers beyond int64 and no NUL in keys, overlooks a NUL behind a number, and
 * counts depth in another way (texts here are too short for that to matter). Then our own promises:
 * what was written reads back, a copy is equal, and a text that is cut anywhere is never judged
 * otherwise than the whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/jansson_names.h"
#include "check.h"
#include "codec/json.h"

enum { MOST_BYTES = 2000, CUTS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Does the tree hold something that jansson cannot? */
static bool beyond_jansson(const struct json *v) {
    if (v->kind == JSON_UINT)
        return true;
    if (v->kind == JSON_FLOAT)
        return str_find_char(json_str(v), '.') == STR_NONE &&
               str_find_char(json_str(v), 'e') == STR_NONE &&
               str_find_char(json_str(v), 'E') == STR_NONE;
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->n; i++) {
        if (beyond_jansson(&v->items[i]))
            return true;
    }
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->n; i++) {
        if (str_find_char(v->members[i].key, '\0') != STR_NONE ||
            beyond_jansson(&v->members[i].value))
            return true;
    }
    return false;
}

static bool has_float(const struct json *v) {
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->n; i++) {
        if (has_float(&v->items[i]))
            return true;
    }
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->n; i++) {
        if (has_float(&v->members[i].value))
            return true;
    }
    return v->kind == JSON_FLOAT;
}

static void same_tree(const struct json *v, json_t *j) {
    switch (v->kind) {
    case JSON_NULL:
        CHECK(json_typeof(j) == JANSSON_NULL);
        break;
    case JSON_BOOL:
        CHECK(json_typeof(j) == (v->b ? JSON_TRUE : JSON_FALSE));
        break;
    case JSON_INT:
        CHECK(json_typeof(j) == JSON_INTEGER && json_integer_value(j) == v->i);
        break;
    case JSON_FLOAT:
        CHECK(json_typeof(j) == JSON_REAL && json_real_value(j) == json_double(v));
        break;
    case JSON_STRING:
        CHECK(json_typeof(j) == JANSSON_STRING && json_string_length(j) == v->n);
        CHECK(memcmp(json_string_value(j), v->s, v->n) == 0);
        break;
    case JSON_ARRAY:
        CHECK(json_typeof(j) == JANSSON_ARRAY && json_array_size(j) == v->n);
        for (uint32_t i = 0; i < v->n; i++)
            same_tree(&v->items[i], json_array_get(j, i));
        break;
    default:
        CHECK(v->kind == JSON_OBJECT && json_typeof(j) == JANSSON_OBJECT);
        CHECK(json_object_size(j) == v->n);
        for (uint32_t i = 0; i < v->n; i++) {
            struct arena a = {0};
            json_t *child = json_object_get(j, arena_str(&a, v->members[i].key).p);
            arena_release(&a);
            CHECK(child);
            same_tree(&v->members[i].value, child);
        }
    }
}

static void against_jansson(struct str text, bool ok, const struct json *v) {
    if (str_find_char(text, '\0') != STR_NONE) {
        CHECK(!ok);
        return;
    }
    size_t flags = JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_REJECT_DUPLICATES;
    json_error_t why;
    json_t *j = json_loadb(text.p, text.n, flags, &why);
    if (ok && !j)
        CHECK(beyond_jansson(v));
    else
        CHECK(ok == (j != NULL) || json_error_code(&why) == json_error_numeric_overflow);
    if (ok && j)
        same_tree(v, j);
    json_decref(j);
}

static struct buf written(const struct json *v, const struct json_style *style) {
    struct buf out = BUF_INIT(1 << 26);
    json_write(&out, v, style);
    CHECK(!out.full);
    return out;
}

/* Floats may come back as integers (1.0 is printed as 1, and -0.0 as -0, which is the integer 0);
 * what was read back once stays as it is. */
static void reads_back(struct arena *a, const struct json *v, const struct json_style *style) {
    struct json again, third;
    struct buf first = written(v, style);
    CHECK(json_parse(a, buf_view(&first), NULL, &again, NULL) == 0);
    struct buf second = written(&again, style);
    CHECK(has_float(v) || (json_equal(v, &again) && str_eq(buf_view(&first), buf_view(&second))));
    CHECK(json_parse(a, buf_view(&second), NULL, &third, NULL) == 0);
    CHECK(json_equal(&again, &third));
    buf_release(&first);
    buf_release(&second);
}

/* The start of the text, on a piece of heap of exactly its size. */
static int parse_cut(struct arena *a, struct str text, bool last, size_t *used, struct err *err) {
    char *p = malloc(text.n ? text.n : 1);
    struct json v;
    if (text.n)
        memcpy(p, text.p, text.n);
    int done = json_parse_prefix(a, (struct str){p, text.n}, last, NULL, &v, used, err);
    free(p);
    return done;
}

static void cut_anywhere(struct arena *a, struct str text) {
    struct err whole_err = {0}, err = {0};
    size_t whole_used = 0, used = 0;
    int whole = parse_cut(a, text, true, &whole_used, &whole_err);
    CHECK(whole != 0);
    size_t step = text.n / CUTS + 1;
    for (size_t n = text.n; n > 0; n = n > step ? n - step : n - 1) {
        int done = parse_cut(a, str_sub(text, 0, n), false, &used, &err);
        if (done > 0)
            CHECK(whole > 0 && used == whole_used);
        if (done < 0)
            CHECK(whole < 0 && strcmp(err.msg, whole_err.msg) == 0 && err.line == whole_err.line &&
                  err.column == whole_err.column);
        if (whole > 0 && n > whole_used)
            CHECK(done > 0);
        if (whole > 0 && n < whole_used)
            CHECK(done == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > MOST_BYTES)
        return 0;
    char *copy = malloc(size ? size : 1);
    if (size)
        memcpy(copy, data, size);
    struct str text = {copy, size};
    struct arena a = {0};
    struct json v;
    struct err err = {0};
    struct json_opts opts = {.max_depth = MOST_BYTES + 1};
    bool ok = json_parse(&a, text, &opts, &v, &err) == 0;
    CHECK(ok || (err.msg[0] && err.line && err.column));
    against_jansson(text, ok, &v);
    if (ok && json_parse(&a, text, NULL, &v, &err) == 0) {
        static const struct json_style styles[] = {
            {0}, {.indent = 3}, {.sort_keys = true, .raw_html = true}};
        for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
            reads_back(&a, &v, &styles[i]);
        struct json twin = json_clone(&a, &v);
        CHECK(json_equal(&v, &twin));
    }
    cut_anywhere(&a, text);
    arena_release(&a);
    free(copy);
    return 0;
}
