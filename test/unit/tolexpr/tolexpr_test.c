/*
 * Expressions in matching and in validation, as data: test/tolexpr/match.jsonl has a toleration, a
 * taint and the sentence about both, validate.jsonl the tolerations of a pod and what the API
 * server must say of them. The design document's three stories are in both.
 */
#include "context.h"

static bool gate_of(const struct json *line) {
    const struct json *v = json_get(line, STR("gate"));
    return !v || v->b;
}

static void decode(struct arena *a, enum api_type_id type, const struct json *v, void *body) {
    assert_int_equal(api_struct_decode(a, &api_types[type], v, body, NULL), 0);
}

/* ---- matching ---- */

static void check_match(struct arena *a, const struct json *line) {
    struct tolexpr *x = new_context(0);
    struct matcher m;
    struct api_toleration toleration = {0};
    struct api_taint taint = {0};
    matcher_open(&m, x, gate_of(line));
    decode(a, API_T_toleration, json_get(line, STR("toleration")), &toleration);
    decode(a, API_T_taint, json_get(line, STR("taint")), &taint);
    const struct match_tolerations *tolerations =
        match_tolerations_get(m.m, &(struct api_toleration_list){&toleration, 1});
    const struct match_taints *taints = match_taints_get(m.m, &(struct api_taint_list){&taint, 1});
    struct match_verdict v = {.code = match_toleration_check(&tolerations->v[0], &taints->v[0])};
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    match_verdict_write(&text, tolerations, taints, &v);
    data_expect(line, "text", buf_view(&text));
    bool is_true = str_ends(buf_view(&text), STR(": it is true"));
    assert_int_equal(v.code == MATCH_YES, is_true);
    assert_int_equal(match_find_toleration(tolerations, &taints->v[0]), is_true ? 0 : MATCH_NONE);
    matcher_close(&m);
    tolexpr_free(x);
}

static void expressions_match(void **state) {
    (void)state;
    data_each("test/tolexpr/match.jsonl", 40, check_match);
}

/* ---- validation ---- */

static struct api_object *pod_with(struct arena *a, const struct json *tolerations) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct json tree;
    struct api_object *o = NULL;
    buf_add(&text, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                       "\"namespace\":\"default\",\"resourceVersion\":\"7\"},\"spec\":{"
                       "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"tolerations\":"));
    json_write(&text, tolerations, NULL);
    buf_add(&text, STR("}}"));
    assert_int_equal(json_parse(a, buf_view(&text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    struct feature_set gates = gates_with(true);
    api_object_default(o, &gates);
    return o;
}

/* The tolerations of the stored pod, which are given by their expressions. */
static struct json old_tolerations(struct arena *a, const struct json *expressions) {
    struct json list = {.kind = JSON_ARRAY};
    for (uint32_t i = 0; i < expressions->n; i++) {
        struct json t = {.kind = JSON_OBJECT};
        json_add(a, &t, STR("expression"), expressions->items[i]);
        json_append(a, &list, t);
    }
    return list;
}

static void compare(struct arena *a, const struct json *line, const struct valid_errs *errs) {
    const struct json *want = json_get(line, STR("want"));
    struct str id = data_text(line, "id");
    for (size_t i = 0; i < errs->n; i++) {
        const struct valid_error *e = &errs->v[i];
        struct str got = arena_printf(a, "%.*s: %.*s", STR_ARG(e->field), STR_ARG(e->body));
        if (i >= want->n || !str_eq(got, json_str(&want->items[i])))
            fail_msg("%.*s: got %.*s", STR_ARG(id), STR_ARG(got));
    }
    if (errs->n != want->n)
        fail_msg("%.*s: got %zu errors", STR_ARG(id), errs->n);
}

static void check_valid(struct arena *a, const struct json *line) {
    const struct json *compat = json_get(line, STR("compat")), *old = json_get(line, STR("old"));
    struct tolexpr *x = tolexpr_new(
        &(struct tolexpr_opts){{1, compat ? (uint64_t)compat->i : 36}, &clock_system, 1, 0});
    struct feature_set gates = gates_with(gate_of(line));
    struct valid_opts opts = {.gates = &gates, .cel = tolexpr_valid_cel(x)};
    struct valid_errs errs = VALID_ERRS_INIT(a);
    struct api_object *o = pod_with(a, json_get(line, STR("tolerations")));
    if (old) {
        struct json list = old_tolerations(a, old);
        struct api_object *stored = pod_with(a, &list);
        valid_update(o, stored, &opts, &errs);
        api_object_free(stored);
    } else {
        valid_create(o, &opts, &errs);
    }
    tolexpr_free(x); /* the texts are not its own */
    compare(a, line, &errs);
    api_object_free(o);
}

static void expressions_are_validated(void **state) {
    (void)state;
    data_each("test/tolexpr/validate.jsonl", 30, check_valid);
}

/* ---- memory ---- */

static const char *const stories[] = {
    "taint.key.startsWith('env.example.com/')",
    ("taint.key == 'node.example.com/kernel-version' && "
     "semver(taint.value).isGreaterThan(semver('5.15.0'))"),
    "taint.key.matches('^zone-a[12]-rack-[0-9]+$')",
};

/* What an evaluation needs is there after the first. */
static void evaluations_do_not_grow(void **state) {
    (void)state;
    struct tolexpr *x = new_context(0);
    struct matcher m;
    matcher_open(&m, x, true);
    const struct match_taint *taint =
        &matcher_taint(&m, "node.example.com/kernel-version", "5.16.0")->v[0];
    const struct match_tolerations *t[COUNT_OF(stories)];
    for (size_t i = 0; i < COUNT_OF(stories); i++)
        t[i] = matcher_expression(&m, stories[i]);
    match_toleration_check(&t[0]->v[0], taint);
    match_toleration_check(&t[2]->v[0], taint);
    assert_int_equal(x->evaluating.bytes, 0);
    assert_int_equal(match_toleration_check(&t[1]->v[0], taint), MATCH_YES);
    const struct arena before = x->evaluating;
    for (unsigned i = 0; i < 1000; i++)
        match_toleration_check(&t[i % COUNT_OF(stories)]->v[0], taint);
    assert_memory_equal(&x->evaluating, &before, sizeof before);
    matcher_close(&m);
    tolexpr_free(x);
}

/* What an expensive one took is given back. */
static void large_arenas_are_not_kept(void **state) {
    (void)state;
    struct tolexpr *x = new_context(0);
    struct matcher m;
    matcher_open(&m, x, true);
    const struct match_tolerations *t = matcher_expression(
        &m, "taint.key != '' && lists.range(taint.key.size() * 100000).size() > 0");
    assert_int_equal(match_toleration_check(&t->v[0], &matcher_taint(&m, "a", "")->v[0]),
                     MATCH_YES);
    assert_int_equal(x->evaluating.bytes, 0);
    matcher_close(&m);
    tolexpr_free(x);
}

/* ---- limits ---- */

static void long_expressions_match_nothing(void **state) {
    (void)state;
    struct tolexpr *x = new_context(0);
    const struct match_engine *engine = tolexpr_match_engine(x);
    size_t n = LIMIT_TOLERATION_EXPRESSION_BYTES, spent = 0;
    char *text = xmalloc(n + 2);
    memset(text, ' ', n + 1);
    memcpy(text, "true", 4);
    void *program = engine->compile(engine->ctx, (struct str){text, n}, &spent, NULL);
    assert_non_null(program);
    engine->free(engine->ctx, program);
    struct err err;
    assert_null(engine->compile(engine->ctx, (struct str){text, n + 1}, &spent, &err));
    assert_string_equal(err.msg, "may not be more than 10240 bytes");
    assert_null(engine->compile(engine->ctx, (struct str){text, n + 1}, &spent, NULL));
    assert_int_equal(stats_of(x).misses, 1);
    free(text);
    tolexpr_free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_match),
        cmocka_unit_test(expressions_are_validated),
        cmocka_unit_test(evaluations_do_not_grow),
        cmocka_unit_test(large_arenas_are_not_kept),
        cmocka_unit_test(long_expressions_match_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
