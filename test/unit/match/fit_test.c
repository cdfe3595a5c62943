/* Lists of tolerations against lists of taints: who is repelled, who is evicted and when, and that
 * outcomes are remembered. */
#include "context.h"
#include "match/match_int.h"

#define TAINT(key, effect) "{\"key\":\"" key "\",\"effect\":\"" effect "\"}"
#define EXISTS(key, more)  "{\"operator\":\"Exists\",\"key\":\"" key "\"" more "}"
#define SECONDS(n)         ",\"tolerationSeconds\":" #n
#define NONE               MATCH_NONE
#define SCHEDULER          (MATCH_NO_SCHEDULE | MATCH_NO_EXECUTE)
#define NEVER              MATCH_EVICT_NEVER, 0
#define NOW                MATCH_EVICT_NOW, 0
#define AFTER(n)           MATCH_EVICT_AFTER, n
#define S                  INT64_C(1000000000)

static const struct {
    const char *taints, *tolerations;
    uint32_t untolerated, untolerated_execute, intolerable;
    enum match_eviction eviction;
    int64_t ns;
} rows[] = {
    {"[]", "[]", NONE, NONE, 0, NEVER},
    {"[]", "[" EXISTS("a", SECONDS(5)) "]", NONE, NONE, 0, NEVER},
    {"[" TAINT("a", "NoSchedule") "]", "[]", 0, NONE, 0, NEVER},
    {"[" TAINT("a", "NoExecute") "]", "[]", 0, 0, 0, NOW},
    {"[" TAINT("a", "Other") "," TAINT("a", "") "]", "[]", NONE, NONE, 0, NEVER},
    /* the first of each kind, in node order */
    {"[" TAINT("p", "PreferNoSchedule") "," TAINT("a", "NoSchedule") "," TAINT(
         "b", "NoExecute") "," TAINT("c", "NoExecute") "," TAINT("q", "PreferNoSchedule") "]",
     "[]", 1, 2, 2, NOW},
    {"[" TAINT("a", "NoSchedule") "," TAINT("b", "NoExecute") "]", "[" EXISTS("b", "") "]", 0, NONE,
     0, NEVER},
    /* only tolerations that match PreferNoSchedule count for the score */
    {"[" TAINT("p", "PreferNoSchedule") "]", "[" EXISTS("p", ",\"effect\":\"NoSchedule\"") "]",
     NONE, NONE, 1, NEVER},
    {"[" TAINT("p", "PreferNoSchedule") "]",
     "[" EXISTS("p", ",\"effect\":\"PreferNoSchedule\"") "]", NONE, NONE, 0, NEVER},
    /* an empty toleration matches empty values of any key: T2 */
    {"[" TAINT("node.kubernetes.io/not-ready", "NoExecute") "]", "[{}]", NONE, NONE, 0, NEVER},
    {"[" TAINT("node.kubernetes.io/not-ready", "NoExecute") "]", "[{\"expression\":\"nonsense\"}]",
     0, 0, 0, NOW},
    /* the first match per taint counts, not the shortest */
    {"[" TAINT("a", "NoExecute") "]", "[" EXISTS("a", SECONDS(300)) "," EXISTS("a", SECONDS(5)) "]",
     NONE, NONE, 0, AFTER(300 * S)},
    {"[" TAINT("a", "NoExecute") "," TAINT("b", "NoExecute") "]",
     "[" EXISTS("b", SECONDS(7)) "," EXISTS("a", "") "]", NONE, NONE, 0, AFTER(7 * S)},
    {"[" TAINT("a", "NoExecute") "," TAINT("b", "NoExecute") "]",
     "[" EXISTS("b", SECONDS(7)) "," EXISTS("a", SECONDS(-1)) "]", NONE, NONE, 0, AFTER(0)},
    {"[" TAINT("a", "NoExecute") "]", "[" EXISTS("a", SECONDS(0)) "]", NONE, NONE, 0, AFTER(0)},
    /* NoSchedule taints have no say in evictions */
    {"[" TAINT("a", "NoSchedule") "]", "[" EXISTS("a", SECONDS(5)) "]", NONE, NONE, 0, NEVER},
    /* seconds times 10^9 in 64 bits */
    {"[" TAINT("a", "NoExecute") "]", "[" EXISTS("a", SECONDS(9223372036)) "]", NONE, NONE, 0,
     AFTER(INT64_C(9223372036000000000))},
    {"[" TAINT("a", "NoExecute") "]", "[" EXISTS("a", SECONDS(9223372037)) "]", NONE, NONE, 0,
     NEVER},
    {"[" TAINT("a", "NoExecute") "]", "[" EXISTS("a", SECONDS(18446744074)) "]", NONE, NONE, 0,
     AFTER(290448384)},
    {"[" TAINT("a", "NoExecute") "]", "[" EXISTS("a", SECONDS(9223372036854775807)) "]", NONE, NONE,
     0, NEVER},
    /* T4: while the comparison holds, the seconds run all the same */
    {"[{\"key\":\"p\",\"value\":\"15\",\"effect\":\"NoExecute\"}]",
     "[{\"key\":\"p\",\"operator\":\"Lt\",\"value\":\"20\",\"tolerationSeconds\":30}]", NONE, NONE,
     0, AFTER(30 * S)},
    {"[{\"key\":\"p\",\"value\":\"25\",\"effect\":\"NoExecute\"}]",
     "[{\"key\":\"p\",\"operator\":\"Lt\",\"value\":\"20\",\"tolerationSeconds\":30}]", 0, 0, 0,
     NOW},
};

static void expect_fit(struct match_fit fit, size_t i) {
    if (fit.untolerated != rows[i].untolerated ||
        fit.untolerated_execute != rows[i].untolerated_execute ||
        fit.intolerable != rows[i].intolerable || fit.eviction != rows[i].eviction ||
        fit.eviction_ns != rows[i].ns)
        fail_msg("row %zu: %d %d %u, evicted %d after %lld", i, (int)fit.untolerated,
                 (int)fit.untolerated_execute, fit.intolerable, (int)fit.eviction,
                 (long long)fit.eviction_ns);
}

static void fits(void **state) {
    (void)state;
    struct context c;
    context_open(&c, ALL_GATES, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct match_taints *taints = context_taints(&c, rows[i].taints);
        struct match_tolerations *tolerations = context_tolerations(&c, rows[i].tolerations);
        expect_fit(match_fit(c.m, tolerations, taints), i);
        expect_fit(match_fit(c.m, tolerations, taints), i); /* from memory */
        expect_fit(match_fit_compute(tolerations, taints), i);
        assert_int_equal(match_find_untolerated(tolerations, taints, SCHEDULER),
                         rows[i].untolerated);
        assert_int_equal(match_find_untolerated(tolerations, taints, MATCH_NO_EXECUTE),
                         rows[i].untolerated_execute);
    }
    struct match_stats s;
    match_stats(c.m, &s);
    assert_int_equal(s.computed, COUNT_OF(rows));
    assert_int_equal(s.found, COUNT_OF(rows));
    context_close(&c);
}

#define SLA(value) "[{\"key\":\"sla\",\"value\":\"" value "\",\"effect\":\"NoExecute\"}]"
#define TOLERATE(op, value) \
    "[{\"key\":\"sla\",\"operator\":\"" op "\",\"value\":\"" value "\",\"effect\":\"NoExecute\"}]"

#define PAIR(op, value)                                                            \
    "[{\"key\":\"a\",\"operator\":\"Exists\"},{\"key\":\"sla\",\"operator\":\"" op \
    "\",\"value\":\"" value "\"}]"

/* Which kinds of tolerations let the pod in, or are about the taint that keeps it out. */
static void kinds_count_where_they_decide(void **state) {
    (void)state;
    static const struct {
        const char *taints, *tolerations;
        unsigned used, failed;
    } cases[] = {
        {SLA("3"), PAIR("Gt", "2"), MATCH_NUMERIC, 0},
        {SLA("3"), PAIR("Gt", "3"), 0, MATCH_NUMERIC},
        {SLA("high"), PAIR("Gt", "3"), 0, 0},
        {SLA("3"), PAIR("Gt", "high"), 0, 0},
        {SLA("3"), PAIR("SemverEq", "v3"), MATCH_SEMVER, 0},
        {SLA("3"), PAIR("SemverLt", "v3"), 0, MATCH_SEMVER},
        {SLA("3"), PAIR("Equal", "3"), 0, 0},
        {SLA("3"), PAIR("Equal", "4"), 0, 0},
        {"[" TAINT("b", "NoSchedule") "]", PAIR("Gt", "2"), 0, 0},
        {"[" TAINT("a", "NoSchedule") "]", PAIR("Gt", "2"), 0, 0},
        {SLA("3"), TOLERATE("Gt", "2"), MATCH_NUMERIC, 0},
        {"[{\"key\":\"sla\",\"value\":\"3\",\"effect\":\"NoSchedule\"}]", TOLERATE("Gt", "3"), 0,
         0},
        {SLA("3"), "[{\"expression\":\"nonsense\"}]", 0, 0},
    };
    struct context c;
    context_open(&c, ALL_GATES, 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct match_fit fit = match_fit(c.m, context_tolerations(&c, cases[i].tolerations),
                                         context_taints(&c, cases[i].taints));
        if (fit.used != cases[i].used || fit.failed != cases[i].failed)
            fail_msg("case %zu: used %u, failed %u", i, fit.used, fit.failed);
    }
    context_close(&c);
    context_open(&c, "TolerationAffinitySemverOperators", 0);
    struct match_fit off =
        match_fit(c.m, context_tolerations(&c, PAIR("Gt", "3")), context_taints(&c, SLA("3")));
    assert_int_equal(off.untolerated, 0);
    assert_int_equal(off.failed, 0);
    context_close(&c);
}

static bool is_evicted(struct context *c, const char *tolerations, const char *taints) {
    struct match_fit fit =
        match_fit(c->m, context_tolerations(c, tolerations), context_taints(c, taints));
    return fit.eviction == MATCH_EVICT_NOW;
}

/* T9: what a scheduler with the gate on places, a controller with the gate off evicts. Each gate
 * is asked for its own operators only. */
static void components_read_their_own_gates(void **state) {
    (void)state;
    static const struct {
        const char *gate, *other_gates, *tolerations;
    } cases[] = {
        {"TaintTolerationComparisonOperators",
         "TolerationAffinitySemverOperators TaintTolerationCEL", TOLERATE("Gt", "2")},
        {"TaintTolerationComparisonOperators",
         "TolerationAffinitySemverOperators TaintTolerationCEL", TOLERATE("Lt", "4")},
        {"TolerationAffinitySemverOperators",
         "TaintTolerationComparisonOperators TaintTolerationCEL", TOLERATE("SemverGt", "2.9")},
        {"TolerationAffinitySemverOperators",
         "TaintTolerationComparisonOperators TaintTolerationCEL", TOLERATE("SemverLt", "v4")},
        {"TolerationAffinitySemverOperators",
         "TaintTolerationComparisonOperators TaintTolerationCEL", TOLERATE("SemverEq", "3.0.0")},
        {"TaintTolerationCEL",
         "TaintTolerationComparisonOperators TolerationAffinitySemverOperators",
         "[{\"expression\":\"value=3\"}]"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct context scheduler, controller;
        context_open(&scheduler, cases[i].gate, 0);
        context_open(&controller, cases[i].other_gates, 0);
        if (is_evicted(&scheduler, cases[i].tolerations, SLA("3")) ||
            !is_evicted(&controller, cases[i].tolerations, SLA("3")))
            fail_msg("row %zu", i);
        context_close(&scheduler);
        context_close(&controller);
    }
}

/* T20: a pod that runs is judged anew whenever the NoExecute taints of its node change; its
 * tolerations stay compiled. */
static void running_pods_are_judged_anew(void **state) {
    (void)state;
    static const struct {
        const char *tolerations, *before, *after;
    } cases[] = {
        {TOLERATE("Gt", "949"), SLA("950"), SLA("949")},
        {TOLERATE("Lt", "5"), SLA("2"), SLA("15")},
        {TOLERATE("SemverLt", "v3.28.0"), SLA("v3.27.2"), SLA("v3.28.0")},
        {TOLERATE("SemverGt", "1.2.3-rc.1"), SLA("1.2.3-rc.2"), SLA("1.2.3-rc.1")},
        {TOLERATE("SemverEq", "1.2"), SLA("v1.2.0"), SLA("v1.2.x")},
        {"[{\"expression\":\"value=a\"}]", SLA("a"), SLA("b")},
    };
    struct context c;
    context_open(&c, ALL_GATES, 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct match_tolerations *pod = context_tolerations(&c, cases[i].tolerations);
        const struct match_taints *before = context_taints(&c, cases[i].before);
        const struct match_taints *after = context_taints(&c, cases[i].after);
        assert_int_equal(match_fit(c.m, pod, before).eviction, MATCH_EVICT_NEVER);
        assert_int_equal(match_fit(c.m, pod, after).eviction, MATCH_EVICT_NOW);
        assert_int_equal(match_fit(c.m, pod, before).eviction, MATCH_EVICT_NEVER);
        assert_ptr_equal(context_tolerations(&c, cases[i].tolerations), pod);
    }
    context_close(&c);
}

static void unschedulable_nodes_are_tainted_without_a_value(void **state) {
    (void)state;
    static const struct {
        const char *tolerations;
        bool tolerated;
    } cases[] = {
        {"[]", false},
        {"[{}]", true},
        {"[{\"operator\":\"Exists\"}]", true},
        {"[{\"key\":\"node.kubernetes.io/unschedulable\"}]", true},
        {"[{\"key\":\"node.kubernetes.io/unschedulable\",\"effect\":\"NoExecute\"}]", false},
        {"[{\"key\":\"node.kubernetes.io/unschedulable\",\"value\":\"true\"}]", false},
        {"[{\"operator\":\"Gt\",\"value\":\"-1\"},{\"operator\":\"SemverGt\",\"value\":\"0.0.0-a\"}"
         "]",
         false},
        {"[{\"expression\":\"value=\"}]", true},
    };
    struct context c;
    context_open(&c, ALL_GATES, 0);
    const struct match_taints *taints = match_taints_unschedulable(c.m);
    AUTO(buf_release) struct buf text = BUF_INIT(100);
    match_taint_write(&text, &taints->v[0]);
    assert_true(str_is(buf_view(&text), "node.kubernetes.io/unschedulable:NoSchedule"));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct match_fit fit =
            match_fit(c.m, context_tolerations(&c, cases[i].tolerations), taints);
        assert_int_equal(fit.untolerated == MATCH_NONE, cases[i].tolerated);
    }
    match_sweep(c.m);
    match_sweep(c.m);
    assert_ptr_equal(taints, context_taints(&c, "[{\"key\":\"node.kubernetes.io/unschedulable\","
                                                "\"effect\":\"NoSchedule\"}]"));
    context_close(&c);
}

/* More pairs than are remembered: all outcomes are right, and memory stays bounded. */
static void the_memory_of_outcomes_is_bounded(void **state) {
    (void)state;
    enum { SIDE = 300 };
    _Static_assert(SIDE * SIDE > MATCH__MEMO_MOST, "not enough pairs");
    struct context c;
    struct match_tolerations *tolerations[SIDE];
    struct match_taints *taints[SIDE];
    char text[128];
    context_open(&c, ALL_GATES, 0);
    for (int i = 0; i < SIDE; i++) {
        snprintf(text, sizeof text, "[{\"operator\":\"Gt\",\"value\":\"%d\"}]", i);
        tolerations[i] = context_tolerations(&c, text);
        snprintf(text, sizeof text, "[{\"value\":\"%d\",\"effect\":\"NoSchedule\"}]", i);
        taints[i] = context_taints(&c, text);
    }
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                assert_int_equal(match_fit(c.m, tolerations[i], taints[j]).untolerated,
                                 j > i ? MATCH_NONE : 0);
    struct match_stats s;
    match_stats(c.m, &s);
    assert_true(s.outcomes <= MATCH__MEMO_MOST);
    assert_true(s.outcomes > MATCH__MEMO_MOST / 2);
    assert_true(s.found > 0);
    assert_int_equal(s.found + s.computed, 2 * SIDE * SIDE);
    for (int i = 0; i < 3; i++)
        match_sweep(c.m); /* nobody holds the lists */
    match_stats(c.m, &s);
    assert_int_equal(s.outcomes, 0);
    assert_int_equal(s.tolerations + s.taints, 1); /* that of unschedulable nodes */
    assert_in_range(c.m->memo.count, 0, 256);
    assert_in_range(c.m->taints.by_id.n, 1, 2);
    context_close(&c);
}

/* Two outcomes that happen to meet do not make the table larger: few take little, for ever. */
static void few_outcomes_take_little(void **state) {
    (void)state;
    enum { ROUNDS = 3000, ALIVE = 8 };
    struct context c;
    char text[128];
    context_open(&c, ALL_GATES, 0);
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(text, sizeof text, "[{\"operator\":\"Gt\",\"value\":\"%d\"}]", i);
        struct match_tolerations *tolerations = context_tolerations(&c, text);
        for (int j = 0; j < ALIVE; j++) {
            snprintf(text, sizeof text, "[{\"value\":\"%d\",\"effect\":\"NoSchedule\"}]", j);
            match_fit(c.m, tolerations, context_taints(&c, text));
        }
        if (match_wants_sweep(c.m))
            match_sweep(c.m);
    }
    struct match_stats s;
    match_stats(c.m, &s);
    assert_in_range(s.tolerations, 1, 1000);
    assert_in_range(c.m->memo.count, 256, 32768);
    assert_in_range(c.m->tolerations.by_id.n, 1, 1000);
    context_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits),
        cmocka_unit_test(kinds_count_where_they_decide),
        cmocka_unit_test(components_read_their_own_gates),
        cmocka_unit_test(running_pods_are_judged_anew),
        cmocka_unit_test(unschedulable_nodes_are_tainted_without_a_value),
        cmocka_unit_test(the_memory_of_outcomes_is_bounded),
        cmocka_unit_test(few_outcomes_take_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
