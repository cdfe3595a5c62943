/* The cache of compiled expressions: who shares it, what it counts, what it forgets. */
#include "context.h"

static enum valid_cel_fault check(struct tolexpr *x, const char *expression) {
    struct arena a = {0};
    const struct valid_cel *cel = tolexpr_valid_cel(x);
    size_t spent = 0;
    struct valid_cel_ask ask = {.expression = str_of(expression)};
    enum valid_cel_fault fault = cel->check(cel->ctx, &ask, &a, &spent).fault;
    arena_release(&a);
    return fault;
}

static void expect(const struct tolexpr *x, uint64_t hits, uint64_t misses, uint64_t evictions) {
    struct match_cache_stats s = stats_of(x);
    assert_int_equal(s.hits, hits);
    assert_int_equal(s.misses, misses);
    assert_int_equal(s.evictions, evictions);
    assert_int_equal(s.entries, misses - evictions);
}

/* T14: one cache, made at the start, for all matchers of a component: one compilation. */
static void matchers_share_programs(void **state) {
    (void)state;
    struct tolexpr *x = new_context(0);
    struct matcher a, b;
    matcher_open(&a, x, true);
    matcher_open(&b, x, true);
    const struct match_tolerations *one = matcher_expression(&a, "taint.key == 'a'");
    expect(x, 0, 1, 0);
    const struct match_tolerations *two = matcher_expression(&b, "taint.key == 'a'");
    expect(x, 1, 1, 0);
    assert_ptr_equal(one->v[0].program, two->v[0].program);
    matcher_close(&a);
    assert_int_equal(match_toleration_check(&two->v[0], &matcher_taint(&b, "a", "")->v[0]),
                     MATCH_YES);
    expect(x, 1, 1, 0);
    matcher_close(&b);
    tolexpr_free(x);
}

/* A scheduler's metrics are about what it evaluates, not about what the server beside it admits. */
static void the_engine_counts_stored_expressions(void **state) {
    (void)state;
    struct tolexpr *x = new_context(0);
    const struct match_engine *engine = tolexpr_match_engine(x);
    struct match_cache_stats s;
    struct matcher m;
    matcher_open(&m, x, true);
    assert_int_equal(check(x, "taint.key == 'a'"), VALID_CEL_GOOD);
    engine->cache_stats(engine->ctx, &s);
    assert_int_equal(s.misses + s.entries + s.bytes + s.compile_ns, 0);
    matcher_expression(&m, "taint.key == 'a'");
    matcher_expression(&m, "foo");
    engine->cache_stats(engine->ctx, &s);
    assert_int_equal(s.misses, 2);
    assert_int_equal(s.entries, 2);
    assert_true(s.bytes > 0 && s.bytes < x->cache.bytes);
    matcher_close(&m);
    tolexpr_free(x);
}

static void failures_are_remembered(void **state) {
    (void)state;
    struct tolexpr *x = new_context(0);
    struct matcher m;
    matcher_open(&m, x, true);
    const struct match_tolerations *t = matcher_expression(&m, "foo");
    const struct match_taints *taints = matcher_taint(&m, "a", "b");
    expect(x, 0, 1, 0);
    struct match_verdict v = {.code = match_toleration_check(&t->v[0], &taints->v[0])};
    assert_int_equal(v.code, MATCH_EXPRESSION_INVALID);
    expect(x, 0, 1, 0); /* the toleration knows that it has no program */
    for (unsigned i = 1; i <= 3; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT(4096);
        match_verdict_write(&text, t, taints, &v);
        assert_true(str_is(buf_view(&text),
                           "taint a=b:NoSchedule: toleration #0 expression: it does not compile: "
                           "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')"));
        expect(x, i, 1, 0);
    }
    matcher_close(&m);
    tolexpr_free(x);
}

static void every_fault_is_remembered(void **state) {
    static const struct {
        const char *expression;
        enum valid_cel_fault fault;
    } rows[] = {
        {"true", VALID_CEL_GOOD},
        {"foo", VALID_CEL_COMPILE},
        {"taint.key", VALID_CEL_TYPE},
        {"int('x') == 1", VALID_CEL_PROGRAM},
        {"semver(taint.value) != semver('1.0.0')", VALID_CEL_COST},
    };
    (void)state;
    struct tolexpr *x = new_context(0);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < COUNT_OF(rows); i++)
            assert_int_equal(check(x, rows[i].expression), rows[i].fault);
    expect(x, COUNT_OF(rows), COUNT_OF(rows), 0);
    tolexpr_free(x);
}

/* What is too costly for a new expression is a good stored one: two environments, two entries. */
static void environments_are_told_apart(void **state) {
    (void)state;
    struct tolexpr *x = new_context(0);
    struct matcher m;
    matcher_open(&m, x, true);
    assert_int_equal(check(x, "semver(taint.value) != semver('1.0.0')"), VALID_CEL_COST);
    assert_non_null(matcher_expression(&m, "semver(taint.value) != semver('1.0.0')")->v[0].program);
    expect(x, 0, 2, 0);
    matcher_close(&m);
    tolexpr_free(x);
}

static void the_least_recently_used_goes(void **state) {
    (void)state;
    struct tolexpr *x = new_context(0);
    check(x, "taint.key == 'a'");
    size_t one = stats_of(x).bytes;
    assert_true(one > 0);
    tolexpr_free(x);
    x = new_context(3 * one);
    check(x, "taint.key == 'a'");
    check(x, "taint.key == 'b'");
    check(x, "taint.key == 'c'");
    assert_int_equal(stats_of(x).bytes, 3 * one);
    expect(x, 0, 3, 0);
    check(x, "taint.key == 'a'"); /* b is now the oldest */
    check(x, "taint.key == 'd'");
    expect(x, 1, 4, 1);
    check(x, "taint.key == 'a'");
    check(x, "taint.key == 'c'");
    check(x, "taint.key == 'd'");
    expect(x, 4, 4, 1);
    check(x, "taint.key == 'b'"); /* in the place of a */
    expect(x, 4, 5, 2);
    check(x, "taint.key == 'a'");
    expect(x, 4, 6, 3);
    assert_int_equal(stats_of(x).bytes, 3 * one);
    tolexpr_free(x);
}

static void what_was_evicted_lives_while_it_is_held(void **state) {
    (void)state;
    struct tolexpr *x = new_context(1); /* room for the newest alone */
    struct matcher m;
    matcher_open(&m, x, true);
    const struct match_tolerations *t = matcher_expression(&m, "taint.key.matches('^a')");
    matcher_expression(&m, "taint.key.matches('^b')");
    expect(x, 0, 2, 1);
    assert_int_equal(match_toleration_check(&t->v[0], &matcher_taint(&m, "a", "")->v[0]),
                     MATCH_YES);
    matcher_close(&m);
    expect(x, 0, 2, 1);
    tolexpr_free(x);
}

/* A bad expression as large as may be: each of its errors shows the whole of it. */
static char *bad_expression(char last) {
    size_t n = LIMIT_TOLERATION_EXPRESSION_BYTES;
    char *text = xmalloc(n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = "x||"[i % 3];
    text[n - 1] = last; /* n % 3 == 1: a name */
    text[n] = '\0';
    return text;
}

static void memory_is_bounded(void **state) {
    (void)state;
    struct tolexpr *x = new_context(0);
    for (char last = 'a'; last <= 'z'; last++) {
        char *text = bad_expression(last);
        assert_int_equal(check(x, text), VALID_CEL_COMPILE);
        free(text);
        assert_true(stats_of(x).bytes <= LIMIT_TOLERATION_CACHE_BYTES);
    }
    assert_true(stats_of(x).evictions > 10);
    tolexpr_free(x);
    x = new_context(0);
    char text[64];
    for (unsigned i = 0; stats_of(x).evictions == 0; i++) {
        assert_true(stats_of(x).bytes <= LIMIT_TOLERATION_CACHE_BYTES);
        snprintf(text, sizeof text, "taint.key == 'example.com/%u'", i);
        assert_int_equal(check(x, text), VALID_CEL_GOOD);
    }
    assert_true(stats_of(x).bytes > LIMIT_TOLERATION_CACHE_BYTES - 10000);
    tolexpr_free(x);
}

/* ---- compile time ---- */

/* Each look at it takes a microsecond. */
struct ticking {
    struct clock clock;
    int64_t *now;
};

static int64_t tick(const struct clock *c) {
    return *((const struct ticking *)c)->now += 1000;
}

static void compile_time_is_counted(void **state) {
    (void)state;
    int64_t now = 0;
    struct ticking clock = {{tick, tick, NULL}, &now};
    struct tolexpr *x = tolexpr_new(&(struct tolexpr_opts){{1, 36}, &clock.clock, 1, 0});
    check(x, "true");
    assert_int_equal(stats_of(x).compile_ns, 1000);
    check(x, "true");
    assert_int_equal(stats_of(x).compile_ns, 1000);
    check(x, "foo");
    assert_int_equal(stats_of(x).compile_ns, 2000);
    tolexpr_free(x);
    tolexpr_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matchers_share_programs),
        cmocka_unit_test(the_engine_counts_stored_expressions),
        cmocka_unit_test(failures_are_remembered),
        cmocka_unit_test(every_fault_is_remembered),
        cmocka_unit_test(environments_are_told_apart),
        cmocka_unit_test(the_least_recently_used_goes),
        cmocka_unit_test(what_was_evicted_lives_while_it_is_held),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(compile_time_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
