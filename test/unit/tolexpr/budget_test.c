/*
 * What the expressions of one pod may take together: compiling them
 * (LIMIT_TOLERATION_COMPILE_BYTES), and evaluating them on the taints of one node
 * (LIMIT_TOLERATION_COST). Nothing that was not looked at matches.
 */
#include "context.h"

enum { MOST = LIMIT_TOLERATION_COMPILE_BYTES / LIMIT_TOLERATION_COMPILE_LEAST };

/* n tolerations whose expressions are all true, and all different. */
static struct api_toleration_list true_expressions(struct arena *a, size_t n) {
    struct api_toleration *v = arena_array(a, struct api_toleration, n);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct api_toleration){.expression = arena_printf(a, "taint.key != '%zu'", i)};
    return (struct api_toleration_list){v, n};
}

static enum match_code code_of(const struct match_tolerations *list, size_t i,
                               const struct match_taints *taints) {
    return match_toleration_check(&list->v[i], &taints->v[0]);
}

static void expressions_of_a_list_are_bounded(void **state) {
    (void)state;
    struct arena a = {0};
    struct tolexpr *x = new_context(0);
    for (int round = 0; round < 2; round++) { /* the cache is empty, then full */
        struct matcher m;
        matcher_open(&m, x, true);
        struct api_toleration_list spec = true_expressions(&a, MOST + 2);
        const struct match_tolerations *list = match_tolerations_get(m.m, &spec);
        const struct match_taints *taints = matcher_taint(&m, "k", "v");
        assert_int_equal(code_of(list, 0, taints), MATCH_YES);
        assert_int_equal(code_of(list, MOST - 1, taints), MATCH_YES);
        assert_int_equal(code_of(list, MOST, taints), MATCH_EXPRESSION_REFUSED);
        assert_int_equal(code_of(list, MOST + 1, taints), MATCH_EXPRESSION_REFUSED);
        assert_false(match_tolerates(&list->v[MOST], &taints->v[0]));
        AUTO(buf_release) struct buf text = BUF_INIT(4096);
        struct match_verdict v = {.code = MATCH_EXPRESSION_REFUSED, .toleration = MOST};
        match_verdict_write(&text, list, taints, &v);
        assert_true(str_ends(buf_view(&text), STR("may take 262144 bytes together, each counted as "
                                                  "1024 at least; join or shorten them")));
        matcher_close(&m);
    }
    tolexpr_free(x);
    arena_release(&a);
}

static size_t first_refused(struct tolexpr *x, struct arena *a, const char *fmt, size_t n) {
    const struct valid_cel *cel = tolexpr_valid_cel(x);
    size_t spent = 0;
    for (size_t i = 0; i < n; i++) {
        struct valid_cel_ask ask = {.expression =
                                        arena_printf(a, "taint.key != '%zu' || %s", i, fmt)};
        if (cel->check(cel->ctx, &ask, a, &spent).fault == VALID_CEL_TOO_MUCH)
            return i;
    }
    return n;
}

/* Long texts, copies of macros and instructions of patterns count as what they take. */
static void validation_is_bounded(void **state) {
    (void)state;
    static const struct {
        const char *part;
        size_t least, most;
    } rows[] = {
        {"true", MOST, MOST},
        {"taint.key.matches('a{900}')", MOST / 2, MOST},
        {"taint.key.matches('\\\\pL{70}')", 2, 16},
        {"optional.of(1).optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x)"
         ".optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x)"
         ".optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x)"
         ".hasValue()",
         2, 16},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a = {0};
        struct tolexpr *x = new_context(0);
        size_t n = first_refused(x, &a, rows[i].part, MOST + 1);
        assert_in_range(n, rows[i].least, rows[i].most);
        assert_int_equal(first_refused(x, &a, rows[i].part, MOST + 1), n);
        tolexpr_free(x);
        arena_release(&a);
    }
}

/* Other objects have more room for short ones; what is said about bad ones counts, too. */
static void other_objects_are_bounded(void **state) {
    (void)state;
    enum { MOST_OF_OBJECT = LIMIT_OBJECT_COMPILE_BYTES / LIMIT_OBJECT_COMPILE_LEAST };
    static const struct {
        const char *text;
        size_t least, most;
    } rows[] = {
        {"object.a == 1", MOST_OF_OBJECT, MOST_OF_OBJECT},
        {"object.a.matches('\\\\pL{70}')", 2, 16},
        {"a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+"
         "a",
         100, MOST_OF_OBJECT - 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a = {0};
        struct tolexpr *x = new_context(0);
        const struct valid_cel *cel = tolexpr_valid_cel(x);
        struct valid_cel_ask ask = {.place = VALID_CEL_VALIDATION,
                                    .expression = str_of(rows[i].text)};
        size_t n = 0, spent = 0;
        while (n <= MOST_OF_OBJECT &&
               cel->check(cel->ctx, &ask, &a, &spent).fault != VALID_CEL_TOO_MUCH)
            n++;
        assert_in_range(n, rows[i].least, rows[i].most);
        tolexpr_free(x);
        arena_release(&a);
    }
}

static const struct match_taints *many_taints(struct matcher *m, struct arena *a, size_t n) {
    struct api_taint *v = arena_array(a, struct api_taint, n);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct api_taint){.key = arena_printf(a, "k%zu", i), .effect = STR("NoSchedule")};
    return match_taints_get(m->m, &(struct api_taint_list){v, n});
}

/* An expression that costs about 9,000, once on few taints, once on many. */
static void evaluations_share_the_cost(void **state) {
    (void)state;
    struct arena a = {0};
    struct tolexpr *x = new_context(0);
    struct matcher m;
    matcher_open(&m, x, true);
    const struct match_tolerations *list =
        matcher_expression(&m, "lists.range(1000).all(i, i >= 0)");
    const struct match_taints *few = many_taints(&m, &a, 10), *many = many_taints(&m, &a, 1000);
    assert_true(LIMIT_TOLERATION_COST / 10 > 20000 && LIMIT_TOLERATION_COST / 1000 < 4000);
    assert_int_equal(code_of(list, 0, few), MATCH_YES);
    assert_int_equal(code_of(list, 0, many), MATCH_EXPRESSION_ERROR);
    assert_int_equal(match_find_untolerated(list, few, MATCH_NO_SCHEDULE), MATCH_NONE);
    assert_int_equal(match_find_untolerated(list, many, MATCH_NO_SCHEDULE), 0);
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    match_verdict_write(&text, list, many, &(struct match_verdict){MATCH_EXPRESSION_ERROR, 0, 0});
    assert_true(str_ends(buf_view(&text), STR("it fails: operation cancelled: actual cost limit "
                                              "exceeded (1000 evaluations share 2500000)")));
    matcher_close(&m);
    tolexpr_free(x);
    arena_release(&a);
}

/* Where not even a cost of 1 is left for each, none begins: also not one that costs nothing. */
static void nothing_is_evaluated_without_a_share(void **state) {
    (void)state;
    struct arena a = {0};
    struct tolexpr *x = new_context(0);
    struct matcher m;
    matcher_open(&m, x, true);
    const struct match_taint *taint = &many_taints(&m, &a, 1)->v[0];
    const struct match_engine *engine = tolexpr_match_engine(x);
    struct err err = {0};
    size_t spent = 0;
    void *program = engine->compile(engine->ctx, STR("true"), &spent, &err);
    const uint64_t most = LIMIT_TOLERATION_COST;
    assert_int_equal(engine->eval(engine->ctx, program, taint, most, &err), 1);
    assert_int_equal(engine->eval(engine->ctx, program, taint, most + 1, &err), -1);
    assert_string_equal(err.msg, "operation cancelled: actual cost limit exceeded "
                                 "(2500001 evaluations share 2500000)");
    engine->free(engine->ctx, program);
    matcher_close(&m);
    tolexpr_free(x);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_of_a_list_are_bounded),
        cmocka_unit_test(validation_is_bounded),
        cmocka_unit_test(other_objects_are_bounded),
        cmocka_unit_test(evaluations_share_the_cost),
        cmocka_unit_test(nothing_is_evaluated_without_a_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
