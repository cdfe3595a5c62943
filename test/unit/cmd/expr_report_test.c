/* Explanations of long expressions and of many taints: what they list, and what they count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/types.h"
#include "base/limits.h"
#include "cmd/expr/expr.h"
#include "world.h"

/* The text that explains an expression for one taint, behind so many bytes of others. */
static void explain(struct buf *out, struct str text, size_t before) {
    AUTO(arena_release) struct arena a = {0};
    struct clock_manual clock;
    struct cel_env *env = expr_env_new();
    struct expr e;
    struct expr_parts parts;
    struct api_taint taint = {.key = STR("a"), .effect = STR("NoSchedule")};
    struct expr_taint one = {.taint = &taint, .count = 1};
    clock_manual_init(&clock, 0);
    expr_init(&e, env, &a, text, &clock.clock);
    assert_string_equal(arena_str(&a, e.issues).p, "");
    expr_parts_init(&parts, env, &a, &e, &clock.clock);
    buf_add_fill(out, ' ', before);
    expr_report_write_text(
        out,
        &(struct expr_report){
            .clock = &clock.clock, .expr = &e, .parts = &parts, .taints = &one, .taint_count = 1});
    expr_parts_release(&parts);
    expr_release(&e);
    cel_env_free(env);
}

static bool says(const struct buf *out, struct str text) {
    return str_find(buf_view(out), text) != STR_NONE;
}

/* A comparison of so many bytes, negated so many times. */
static struct str negated(struct arena *a, size_t bytes, size_t times) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < times; i++)
        buf_add(&text, STR("!("));
    buf_add(&text, STR("taint.key == '"));
    buf_add_fill(&text, 'x', bytes);
    buf_add(&text, STR("'"));
    buf_add_fill(&text, ')', times);
    return arena_str(a, buf_view(&text));
}

static void parts_have_an_end(void **state) {
    (void)state;
    enum { BYTES = 40000, FIT = LIMIT_CEL_PARTS_BYTES / BYTES };
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf out = BUF_INIT(SIZE_MAX);
    explain(&out, negated(&a, BYTES, FIT - 1), 0); /* taint.key is the last part */
    assert_false(says(&out, STR("further parts")));
    assert_true(says(&out, STR("  taint.key: \"a\"\n")));
    buf_clear(&out);
    explain(&out, negated(&a, BYTES, FIT + 1), 0);
    assert_true(says(&out, STR("  2 further parts are not listed\n")));
    assert_false(says(&out, STR("  taint.key: \"a\"\n")));
}

/* Where the report is long, taints are told of, but not what is in the expression. */
static void reports_of_parts_have_an_end(void **state) {
    (void)state;
    AUTO(buf_release) struct buf out = BUF_INIT(SIZE_MAX);
    explain(&out, STR("taint.key == 'a'"), LIMIT_CEL_REPORT_BYTES - 1000);
    assert_true(says(&out, STR("  taint.key: \"a\"\n")));
    buf_clear(&out);
    explain(&out, STR("taint.key == 'a'"), LIMIT_CEL_REPORT_BYTES);
    assert_true(says(&out, STR("taint a:NoSchedule: true (cost ")));
    assert_true(says(&out, STR("  2 further parts are not listed\n")));
    assert_false(says(&out, STR("  taint.key: \"a\"\n")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_an_end),
        cmocka_unit_test(reports_of_parts_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
