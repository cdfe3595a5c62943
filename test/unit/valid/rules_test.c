/*
 * Rules as data: objects with what upstream says is wrong with them, in its order, one line each in
 * test/valid/rules. "order_random" marks lines where upstream walks over a Go map.
 */
#include <string.h>

#include "../data.h"
#include "base/limits.h"
#include "valid/valid.h"

static struct api_object *read_object(const struct json *line, const char *key,
                                      const struct feature_set *gates) {
    struct api_object *o = NULL;
    const struct json *tree = json_get(line, str_of(key));
    if (!tree)
        return NULL;
    if (api_object_decode(tree, NULL, &o, NULL) < 0)
        fail_msg("cannot be decoded");
    api_object_default(o, gates);
    return o;
}

static void judge(const struct json *line, struct valid_errs *errs) {
    struct feature_set gates = data_gates(line);
    struct valid_opts opts = {.gates = &gates, .namespace = STR("default"), .uid = STR("u-1")};
    struct api_object *o = read_object(line, "object", &gates);
    struct api_object *new = read_object(line, "new", &gates);
    struct api_object *old = read_object(line, "old", &gates);
    if (o) {
        valid_prepare_create(o, &opts);
        valid_create(o, &opts, errs);
    } else {
        assert_non_null(new);
        assert_non_null(old);
        valid_prepare_update(new, old, &opts);
        valid_update(new, old, &opts, errs);
    }
    api_object_free(o);
    api_object_free(new);
    api_object_free(old);
}

static struct str full_text(struct arena *a, const struct valid_error *e) {
    char *p = arena_alloc(a, e->field.n + 2 + e->body.n);
    memcpy(p, e->field.p, e->field.n);
    memcpy(p + e->field.n, ": ", 2);
    memcpy(p + e->field.n + 2, e->body.p, e->body.n);
    return (struct str){p, e->field.n + 2 + e->body.n};
}

/* A text per error, sorted when their order does not count. */
static struct str *texts_of(struct arena *a, const struct valid_errs *errs, bool sorted) {
    struct str *texts = arena_array(a, struct str, errs->n + 1);
    for (size_t i = 0; i < errs->n; i++)
        texts[i] = full_text(a, &errs->v[i]);
    if (sorted)
        qsort(texts, errs->n, sizeof *texts, str_cmp_qsort);
    return texts;
}

static struct str *wanted_of(struct arena *a, const struct json *list, bool sorted) {
    struct str *texts = arena_array(a, struct str, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        texts[i] = json_str(&list->items[i]);
    if (sorted)
        qsort(texts, list->n, sizeof *texts, str_cmp_qsort);
    return texts;
}

static bool check_line(struct arena *a, struct str text, size_t number) {
    struct json line;
    struct err err;
    if (json_parse(a, text, NULL, &line, &err) < 0)
        fail_msg("line %zu: %s", number, err.msg);
    const struct json *wanted = json_get(&line, STR("errors"));
    assert_non_null(wanted);
    bool sorted = json_get(&line, STR("order_random"));
    struct valid_errs errs = VALID_ERRS_INIT(a);
    judge(&line, &errs);
    struct str *want = wanted_of(a, wanted, sorted), *got = texts_of(a, &errs, sorted);
    bool good = wanted->n == errs.n;
    for (size_t i = 0; i < wanted->n && i < errs.n && good; i++)
        good = str_eq(want[i], got[i]);
    for (size_t i = 0; !good && (i < wanted->n || i < errs.n); i++)
        print_error("line %zu, error %zu\n  want %.*s\n  got  %.*s\n", number, i,
                    STR_ARG(want[i < wanted->n ? i : wanted->n]),
                    STR_ARG(got[i < errs.n ? i : errs.n]));
    return good;
}

static void check_file(const char *name, size_t least) {
    FILE *f = fopen(name, "re");
    char *line = NULL;
    size_t size = 0, count = 0, failed = 0;
    ssize_t n;
    assert_non_null(f);
    while ((n = getline(&line, &size, f)) > 0) {
        struct arena a = {0};
        failed += !check_line(&a, (struct str){line, (size_t)n}, ++count);
        arena_release(&a);
    }
    free(line);
    fclose(f);
    assert_int_equal(failed, 0);
    assert_true(count >= least);
}

static void new_objects(void **state) {
    (void)state;
    check_file("test/valid/rules/create.jsonl", 530);
}

static void updates(void **state) {
    (void)state;
    check_file("test/valid/rules/update.jsonl", 150);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_objects),
        cmocka_unit_test(updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
