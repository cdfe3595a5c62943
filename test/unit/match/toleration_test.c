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
    [MATCH_EXPRESSION_INVALID] = "expression error",
    [MATCH_NO_ENGINE] = "no engine",
    [MATCH_EXPRESSION_REFUSED] = "expression refused",
};

static unsigned seen_codes;

/* Why the first toleration does not match the first taint; both questions have the same answer. */
static enum match_code check_first(const struct match_tolerations *tolerations,
                                   const struct match_taints *taints) {
    enum match_code code = match_toleration_check(&tolerations->v[0], &taints->v[0]);
    assert_int_equal(match_tolerates(&tolerations->v[0], &taints->v[0]), code == MATCH_YES);
    return code;
}

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
    struct match_verdict v = {.code = check_first(tolerations, taints)};
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
    return check_first(tolerations, taints);
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

/* ---- everything with everything ---- */

static const struct str keys[] = {STR_INIT(""), STR_INIT("a"), STR_INIT("b")};
static const struct str effects[] = {STR_INIT(""), STR_INIT("NoSchedule"), STR_INIT("NoExecute"),
                                     STR_INIT("Strange"), STR_INIT("Odd")};
static const struct str op_names[] = {
    STR_INIT(""),         STR_INIT("Equal"),    STR_INIT("Exists"),
    STR_INIT("Lt"),       STR_INIT("Gt"),       STR_INIT("SemverLt"),
    STR_INIT("SemverGt"), STR_INIT("SemverEq"), STR_INIT("Foo")};
static const struct str values[] = {
    STR_INIT(""),
    STR_INIT("x"),
    STR_INIT("0"),
    STR_INIT("-9223372036854775808"),
    STR_INIT("9223372036854775807"),
    STR_INIT("0.0.0-0"),
    STR_INIT("5.15.0"),
    STR_INIT("5.15.0-generic-azure.1"),
    STR_INIT("5.15.0-generic-azure.2"),
    STR_INIT("5.15.0-generic-azure.2+build"),
    STR_INIT("18446744073709551615.0.0"),
    STR_INIT("18446744073709551615.0.1"),
};

static struct match_taints *all_taints(struct context *c) {
    enum { N = COUNT_OF(keys) * COUNT_OF(effects) * COUNT_OF(values) };
    static struct api_taint v[N];
    for (size_t i = 0; i < N; i++)
        v[i] = (struct api_taint){.key = keys[i % 3],
                                  .effect = effects[i / 3 % COUNT_OF(effects)],
                                  .value = values[i / 3 / COUNT_OF(effects)]};
    return match_taints_get(c->m, &(struct api_taint_list){v, N});
}

static unsigned check_all_taints(const struct match_toleration *t,
                                 const struct match_taints *taints) {
    unsigned matches = 0;
    for (uint32_t i = 0; i < taints->n; i++) {
        bool match = match_tolerates(t, &taints->v[i]);
        assert_int_equal(match, match_toleration_check(t, &taints->v[i]) == MATCH_YES);
        matches += match;
    }
    return matches;
}

/* How many match is of no matter, but each operator has some. */
static void check_all_tolerations(struct context *c, struct str op,
                                  const struct match_taints *taints, bool may_match) {
    unsigned matches = 0;
    for (size_t i = 0; i < COUNT_OF(keys) * COUNT_OF(effects) * COUNT_OF(values); i++) {
        struct api_toleration t = {.key = keys[i % 3],
                                   .effect = effects[i / 3 % COUNT_OF(effects)],
                                   .operator= op,
                                   .value = values[i / 3 / COUNT_OF(effects)]};
        matches += check_all_taints(
            &match_tolerations_get(c->m, &(struct api_toleration_list){&t, 1})->v[0], taints);
    }
    assert_int_equal(matches > 0, may_match);
}

static void both_questions_have_the_same_answer(void **state) {
    (void)state;
    struct context on, off;
    context_open(&on, ALL_GATES, 0);
    context_open(&off, "", 0);
    for (size_t i = 0; i < COUNT_OF(op_names); i++) {
        check_all_tolerations(&on, op_names[i], all_taints(&on), i + 1 < COUNT_OF(op_names));
        check_all_tolerations(&off, op_names[i], all_taints(&off), i < 3);
    }
    context_close(&on);
    context_close(&off);
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
    for (int i = 0; i < 255; i++) {
        assert_false(match_wants_sweep(c.m));
        snprintf(text, sizeof text, "[{\"key\":\"%d\",\"effect\":\"NoSchedule\"}]", i);
        context_taints(&c, text);
    }
    assert_true(match_wants_sweep(c.m));
    match_sweep(c.m);
    assert_false(match_wants_sweep(c.m));
    assert_int_equal(match_sweep(c.m), 255);
    context_close(&c);
}

/* Whoever sweeps when it is wanted keeps two rounds of new lists, however many came before. */
static void passing_lists_do_not_pile_up(void **state) {
    (void)state;
    struct context c;
    char text[64];
    context_open(&c, "", 0);
    for (int i = 0; i < 20000; i++) {
        struct match_stats stats;
        snprintf(text, sizeof text, "[{\"key\":\"%d\",\"effect\":\"NoSchedule\"}]", i);
        context_taints(&c, text);
        if (!match_wants_sweep(c.m))
            continue;
        match_stats(c.m, &stats);
        assert_in_range(stats.taints, 250, 600);
        match_sweep(c.m);
    }
    context_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_their_texts),
        cmocka_unit_test(versions_are_ordered_as_blang_semver_does),
        cmocka_unit_test(both_questions_have_the_same_answer),
        cmocka_unit_test(equal_lists_are_one_object),
        cmocka_unit_test(idle_lists_are_swept_with_their_atoms),
        cmocka_unit_test(a_sweep_is_wanted_after_many_new_lists),
        cmocka_unit_test(passing_lists_do_not_pile_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
