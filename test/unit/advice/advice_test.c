/*
 * Advice on objects, as data: test/advice/cases.jsonl has one case to a line, with the objects in
 * the order in which they go by, and what is said about them, as "code path". The sentences are
 * compared where the pages of docs/warnings are run.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <string.h>

#include "advice/advice.h"
#include "advice/advice_int.h"
#include "base/limits.h"
#include "feature/feature.h"

static struct str read_file(struct arena *a, const char *path) {
    enum { MOST = 1 << 20 };
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *p = arena_alloc(a, MOST);
    size_t n = fread(p, 1, MOST, f);
    assert_true(n < MOST);
    fclose(f);
    return (struct str){p, n};
}

static void look_at(struct advice *run, const struct json *tree, struct arena *a, struct buf *out) {
    struct feature_config gates;
    feature_config_init(&gates, FEATURE_NEWEST);
    struct advice_notes notes = {.a = a};
    struct api_object *o;
    assert_int_equal(api_object_decode(tree, NULL, &o, NULL), 0);
    api_object_default(o, &gates.enabled);
    advice_check(run, o, &notes);
    for (size_t i = 0; i < notes.n; i++) {
        assert_true(notes.v[i].text.n > 20);
        buf_addf(out, "%s %.*s\n", notes.v[i].code, STR_ARG(notes.v[i].path));
    }
    api_object_free(o);
}

static void run_case(const struct json *c) {
    struct arena a = {0};
    struct buf got = BUF_INIT(1 << 20), wanted = BUF_INIT(1 << 20);
    struct advice *run = advice_new();
    const struct json *objects = json_get(c, STR("objects")), *notes = json_get(c, STR("notes"));
    for (size_t i = 0; i < objects->n; i++)
        look_at(run, &objects->items[i], &a, &got);
    for (size_t i = 0; i < notes->n; i++)
        buf_addf(&wanted, "%.*s\n", STR_ARG(json_str(&notes->items[i])));
    if (!str_eq(buf_view(&got), buf_view(&wanted)))
        fail_msg("%.*s: said\n%.*sinstead of\n%.*s", STR_ARG(json_str(json_get(c, STR("name")))),
                 STR_ARG(buf_view(&got)), STR_ARG(buf_view(&wanted)));
    advice_free(run);
    buf_release(&got);
    buf_release(&wanted);
    arena_release(&a);
}

static void cases_of_the_file(void **state) {
    (void)state;
    struct arena a = {0};
    struct str rest = read_file(&a, "test/advice/cases.jsonl"), line;
    size_t count = 0;
    for (; rest.n; count++) {
        struct json c;
        struct err err;
        str_cut(rest, '\n', &line, &rest);
        assert_int_equal(json_parse(&a, line, NULL, &c, &err), 0);
        run_case(&c);
    }
    assert_true(count > 100);
    arena_release(&a);
}

static void codes_are_in_order_and_once(void **state) {
    (void)state;
    for (const struct advice_row *row = advice_rows; row[1].code; row++)
        assert_true(strcmp(row[0].code, row[1].code) < 0);
}

static void codes_can_be_silenced(void **state) {
    (void)state;
    struct advice *run = advice_new();
    struct arena a = {0};
    struct advice_notes notes = {.a = &a};
    struct err err;
    assert_int_equal(advice_silence(run, STR("unknown-field"), &err), 0);
    assert_int_equal(advice_silence(run, STR("unknown"), &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    advice_add(run, NULL, (struct advice_note){"unknown-field", STR("a"), STR("b")}, &notes);
    assert_int_equal(notes.n, 0);
    for (int i = 0; i < 20; i++)
        advice_add(run, NULL, (struct advice_note){"duplicate-field", STR("a"), STR("b")}, &notes);
    assert_int_equal(notes.n, 20);
    advice_free(run);
    advice_free(NULL);
    arena_release(&a);
}

/* What is remembered is bounded, whatever goes by. */
static void taints_and_thresholds_are_bounded(void **state) {
    (void)state;
    struct arena a = {0};
    struct buf text = BUF_INIT(16 << 20), said = BUF_INIT(1 << 20);
    struct advice *run = advice_new();
    struct json tree;
    struct err err;
    buf_add(&text, STR("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"},"
                       "\"spec\":{\"taints\":["));
    for (int i = 0; i < 2 * ADVICE_MOST_TAINTS; i++)
        buf_addf(&text, "%s{\"key\":\"k%d\",\"value\":\"7\"}", i ? "," : "", i);
    buf_add(&text, STR("]}}"));
    assert_int_equal(json_parse(&a, buf_view(&text), NULL, &tree, &err), 0);
    look_at(run, &tree, &a, &said);
    assert_int_equal(run->taints.n, ADVICE_MOST_TAINTS);
    look_at(run, &tree, &a, &said);
    assert_int_equal(run->taints.n, ADVICE_MOST_TAINTS);
    buf_clear(&text);
    buf_add(&text, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
                       "\"spec\":{\"nodeName\":\"n\",\"tolerations\":["));
    for (int i = 0; i < 2 * ADVICE_MOST_THRESHOLDS; i++)
        buf_addf(&text, "%s{\"key\":\"t%d\",\"operator\":\"Gt\",\"value\":\"5\"}", i ? "," : "", i);
    buf_add(&text, STR("]}}"));
    assert_int_equal(json_parse(&a, buf_view(&text), NULL, &tree, &err), 0);
    look_at(run, &tree, &a, &said);
    size_t lines = 0;
    for (size_t i = 0; i < said.n; i++)
        lines += said.p[i] == '\n';
    assert_int_equal(lines, ADVICE_MOST_THRESHOLDS);
    advice_free(run);
    buf_release(&text);
    buf_release(&said);
    arena_release(&a);
}

/* A pod with that many terms of node affinity that match no node gets a warning for each. */
static void warn_of_terms(size_t n, struct arena *a, struct advice_notes *out) {
    struct buf text = BUF_INIT(1 << 20);
    struct advice *run = advice_new();
    struct api_object *o;
    struct json tree;
    buf_add(&text, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
                       "\"spec\":{\"affinity\":{\"nodeAffinity\":{"
                       "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                       "\"nodeSelectorTerms\":["));
    for (size_t i = 0; i < n; i++)
        buf_add(&text, i ? STR(",{}") : STR("{}"));
    buf_add(&text, STR("]}}}}}"));
    assert_int_equal(json_parse(a, buf_view(&text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    *out = (struct advice_notes){.a = a};
    advice_check(run, o, out);
    api_object_free(o);
    advice_free(run);
    buf_release(&text);
}

static void warnings_are_bounded(void **state) {
    (void)state;
    struct arena a = {0};
    struct advice_notes notes;
    warn_of_terms(LIMIT_WARNINGS, &a, &notes);
    assert_int_equal(notes.n, LIMIT_WARNINGS);
    assert_int_equal(notes.left_out, 0);
    assert_true(str_starts(notes.v[LIMIT_WARNINGS - 1].text, STR("a term without requirements")));
    warn_of_terms(LIMIT_WARNINGS + 1, &a, &notes);
    assert_int_equal(notes.n, LIMIT_WARNINGS + 1);
    assert_true(str_is(notes.v[LIMIT_WARNINGS].text, "1 further warning is not listed"));
    assert_true(str_ends(notes.v[LIMIT_WARNINGS].path, STR(".nodeSelectorTerms[10000]")));
    warn_of_terms(LIMIT_WARNINGS + 7, &a, &notes);
    assert_int_equal(notes.n, LIMIT_WARNINGS + 1);
    assert_true(str_is(notes.v[LIMIT_WARNINGS].text, "7 further warnings are not listed"));
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_of_the_file),
        cmocka_unit_test(codes_are_in_order_and_once),
        cmocka_unit_test(codes_can_be_silenced),
        cmocka_unit_test(taints_and_thresholds_are_bounded),
        cmocka_unit_test(warnings_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
