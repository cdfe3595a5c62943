/*
 * One toleration against one taint: test/match/verdicts.jsonl has whole verdicts with their texts,
 * test/match/versions.jsonl pairs of versions as blang/semver orders them.
 */
#include "context.h"

static const char *const code_names[] = {
    [MATCH_YES] = "yes",
    [MATCH_EFFECT_DIFFERS] = "effect differs",
    [MATCH_KEY_DIFFERS] = "key differs",
    [MATCH_VALUE_DIFFERS] = "value differs",
    [MATCH_NOT_LESS] = "not less",
    [MATCH_NOT_GREATER] = "not greater",
    [MATCH_VERSIONS_DIFFER] = "versions differ",
    [MATCH_TOLERATION_NO_NUMBER] = "toleration no number",
    [MATCH_TAINT_NO_NUMBER] = "taint no number",
    [MATCH_TOLERATION_NO_VERSION] = "toleration no version",
    [MATCH_TAINT_NO_VERSION] = "taint no version",
    [MATCH_GATE_OFF] = "gate off",
    [MATCH_UNKNOWN_OPERATOR] = "unknown operator",
    [MATCH_EXPRESSION_FALSE] = "expression false",
    [MATCH_EXPRESSION_ERROR] = "expression error",
    [MATCH_NO_ENGINE] = "no engine",
};

static unsigned seen_codes;

static void check_verdict(struct arena *a, const struct json *line) {
    struct context c;
    struct api_toleration toleration = {0};
    struct api_taint taint = {0};
    const char *gates = arena_str(a, data_text(line, "gates")).p;
    context_open(&c, str_is(str_of(gates), "all") ? ALL_GATES : gates,
                 json_get(line, STR("no_engine")) ? NO_ENGINE : 0);
    context_decode(&c, API_T_toleration, json_get(line, STR("toleration")), &toleration);
    context_decode(&c, API_T_taint, json_get(line, STR("taint")), &taint);
    struct match_tolerations *tolerations =
        match_tolerations_get(c.m, &(struct api_toleration_list){&toleration, 1});
    struct match_taints *taints = match_taints_get(c.m, &(struct api_taint_list){&taint, 1});
    struct match_verdict v = {.code = match_toleration_check(&tolerations->v[0], &taints->v[0])};
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    match_verdict_write(&text, tolerations, taints, &v);
    data_expect(line, "code", str_of(code_names[v.code]));
    data_expect(line, "text", buf_view(&text));
    seen_codes |= 1U << v.code;
    context_close(&c);
}

static void verdicts_and_their_texts(void **state) {
    (void)state;
    data_each("test/match/verdicts.jsonl", 50, check_verdict);
    assert_int_equal(seen_codes, (1U << COUNT_OF(code_names)) - 1);
}

/* ---- versions ---- */

enum { NO_ORDER = 2 };

static enum match_code check_operator(struct context *c, const char *op, struct str taint_value,
                                      struct str value) {
    struct api_toleration toleration = {.operator= str_of(op), .value = value};
    struct api_taint taint = {.key = STR("k"), .value = taint_value, .effect = STR("NoExecute")};
    const struct match_tolerations *tolerations =
        match_tolerations_get(c->m, &(struct api_toleration_list){&toleration, 1});
    const struct match_taints *taints = match_taints_get(c->m, &(struct api_taint_list){&taint, 1});
    return match_toleration_check(&tolerations->v[0], &taints->v[0]);
}

static void check_versions(struct arena *a, const struct json *line) {
    static const struct {
        const char *op;
        int64_t order;
    } rows[] = {{"SemverLt", -1}, {"SemverEq", 0}, {"SemverGt", 1}};
    const struct json *order = json_get(line, STR("order"));
    int64_t want = order->kind == JSON_INT ? order->i : NO_ORDER;
    struct str taint = data_text(line, "taint"), toleration = data_text(line, "toleration");
    struct context on, off;
    (void)a;
    context_open(&on, "TolerationAffinitySemverOperators", 0);
    context_open(&off, "TaintTolerationComparisonOperators TaintTolerationCEL", 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool got = check_operator(&on, rows[i].op, taint, toleration) == MATCH_YES;
        if (got != (rows[i].order == want))
            fail_msg("%.*s: %s", STR_ARG(data_text(line, "id")), rows[i].op);
        assert_int_equal(check_operator(&off, rows[i].op, taint, toleration), MATCH_GATE_OFF);
    }
    context_close(&on);
    context_close(&off);
}

static void versions_are_ordered_as_blang_semver_does(void **state) {
    (void)state;
    data_each("test/match/versions.jsonl", 500, check_versions);
}

/* ---- lists ---- */

static void equal_lists_are_one_object(void **state) {
    (void)state;
    struct context c;
    context_open(&c, ALL_GATES, 0);
    struct match_tolerations *t =
        context_tolerations(&c, "[{\"key\":\"a\",\"tolerationSeconds\":0},{\"key\":\"b\"}]");
    assert_ptr_equal(
        t, context_tolerations(&c, "[{\"tolerationSeconds\":0,\"key\":\"a\"},{\"key\":\"b\"}]"));
    static const char *const others[] = {
        "[]",
        "[{\"key\":\"a\",\"tolerationSeconds\":0}]",
        "[{\"key\":\"b\"},{\"key\":\"a\",\"tolerationSeconds\":0}]",
        "[{\"key\":\"a\"},{\"key\":\"b\"}]",
        "[{\"key\":\"a\",\"tolerationSeconds\":1},{\"key\":\"b\"}]",
        "[{\"effect\":\"a\",\"tolerationSeconds\":0},{\"key\":\"b\"}]",
        "[{\"value\":\"a\",\"tolerationSeconds\":0},{\"key\":\"b\"}]",
        "[{\"operator\":\"a\",\"tolerationSeconds\":0},{\"key\":\"b\"}]",
        "[{\"expression\":\"true\",\"tolerationSeconds\":0},{\"key\":\"b\"}]",
        "[{\"expression\":\"false\",\"tolerationSeconds\":0},{\"key\":\"b\"}]",
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct match_tolerations *other = context_tolerations(&c, others[i]);
        assert_ptr_not_equal(other, t);
        assert_int_not_equal(other->list.id, t->list.id);
        assert_ptr_equal(other, context_tolerations(&c, others[i]));
    }
    struct match_taints *taints =
        context_taints(&c, "[{\"key\":\"a\",\"value\":\"1\",\"effect\":\"NoExecute\"}]");
    assert_ptr_equal(taints, context_taints(&c, "[{\"key\":\"a\",\"value\":\"1\",\"effect\":"
                                                "\"NoExecute\",\"timeAdded\":"
                                                "\"2026-01-01T00:00:00Z\"}]"));
    assert_ptr_not_equal(taints, context_taints(&c, "[{\"key\":\"a\",\"value\":\"2\","
                                                    "\"effect\":\"NoExecute\"}]"));
    context_close(&c);
}

static struct match_stats stats(const struct match *m) {
    struct match_stats s;
    match_stats(m, &s);
    return s;
}

static void idle_lists_are_swept_with_their_atoms(void **state) {
    (void)state;
    struct context c;
    context_open(&c, ALL_GATES, 0);
    struct match_tolerations *held =
        context_tolerations(&c, "[{\"key\":\"held\",\"operator\":\"Gt\",\"value\":\"1\"}]");
    match_ref(&held->list);
    struct match_tolerations *idle =
        context_tolerations(&c, "[{\"expression\":\"value=idle\"},{\"value\":\"idle\"}]");
    struct match_taints *taints =
        context_taints(&c, "[{\"key\":\"gone\",\"effect\":\"NoSchedule\"}]");
    uint32_t idle_id = idle->list.id, taints_id = taints->list.id;
    match_fit(c.m, held, taints);
    match_fit(c.m, idle, taints);
    match_fit(c.m, held, match_taints_unschedulable(c.m));
    assert_int_equal(stats(c.m).outcomes, 3);
    assert_int_equal(c.programs, 1);
    assert_int_equal(match_sweep(c.m), 0); /* new ones stay for a round */
    assert_ptr_equal(taints, context_taints(&c, "[{\"key\":\"gone\",\"effect\":\"NoSchedule\"}]"));
    assert_int_equal(match_sweep(c.m), 1); /* idle */
    assert_int_equal(stats(c.m).outcomes, 2);
    assert_int_equal(c.programs, 0);
    assert_int_equal(match_sweep(c.m), 1); /* taints */
    assert_int_equal(stats(c.m).outcomes, 1);
    assert_int_equal(stats(c.m).tolerations, 1);
    assert_int_equal(stats(c.m).taints, 1);
    intern_sweep(c.atoms);
    intern_sweep(c.atoms);
    assert_null(intern_find(c.atoms, STR("idle")));
    assert_null(intern_find(c.atoms, STR("gone")));
    assert_non_null(intern_find(c.atoms, STR("held")));
    /* ids are used again, and nothing is remembered under them */
    assert_int_equal(context_tolerations(&c, "[{\"key\":\"x\"}]")->list.id, idle_id);
    struct match_taints *again =
        context_taints(&c, "[{\"key\":\"held\",\"value\":\"2\",\"effect\":\"NoSchedule\"}]");
    assert_int_equal(again->list.id, taints_id);
    assert_int_equal(match_fit(c.m, held, again).untolerated, MATCH_NONE);
    match_unref(&held->list);
    context_close(&c);
    match_free(NULL);
}

static void a_sweep_is_wanted_after_many_new_lists(void **state) {
    (void)state;
    struct context c;
    char text[64];
    context_open(&c, "", 0);
    for (int i = 0; i < 1023; i++) {
        assert_false(match_wants_sweep(c.m));
        snprintf(text, sizeof text, "[{\"key\":\"%d\",\"effect\":\"NoSchedule\"}]", i);
        context_taints(&c, text);
    }
    assert_true(match_wants_sweep(c.m));
    match_sweep(c.m);
    assert_false(match_wants_sweep(c.m));
    assert_int_equal(match_sweep(c.m), 1023);
    context_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_their_texts),
        cmocka_unit_test(versions_are_ordered_as_blang_semver_does),
        cmocka_unit_test(equal_lists_are_one_object),
        cmocka_unit_test(idle_lists_are_swept_with_their_atoms),
        cmocka_unit_test(a_sweep_is_wanted_after_many_new_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
