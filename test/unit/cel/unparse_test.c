/* A tree written back to text, and read again, is written the same way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cel/cel.h"

static const struct {
    const char *text, *written; /* NULL: as the text */
} rows[] = {
    {"1 + 2 * 3", NULL},
    {"(1 + 2) * 3", NULL},
    {"1 - (2 - 3)", NULL},
    {"(1 - 2) - 3", "1 - 2 - 3"},
    {"a && b && c && d", NULL},
    {"a || b && (c || d)", NULL},
    {"!(a && b)", NULL},
    {"!!a", "a"},
    {"-(-1)", NULL},
    {"-x", NULL},
    {"-(1)", NULL},
    {"- 1", "-1"},
    {"-(1)[a]", "-(1[a])"},
    {"-(1).?b.map(x, x)", "-(1.?b.map(x, x))"},
    {"-a[1].b", NULL},
    {"!(!a)", NULL},
    {"a ? b : c ? d : e", NULL},
    {"(a ? b : c) ? d : e", NULL},
    {"a ? (b ? c : d) : e", NULL},
    {"a.b.c", NULL},
    {"a.?b[?c][d]", NULL},
    {"a.`content-type`", NULL},
    {"a.`in`", NULL},
    {"f(a).g(b, c)", NULL},
    {"[1, ?a, 2u, 3.0, 'x', b'y', null, true]", "[1, ?a, 2u, 3.0, \"x\", b\"\\171\", null, true]"},
    {"{'a': 1, ?'b': c}", "{\"a\": 1, ?\"b\": c}"},
    {"google.protobuf.Int32Value{value: 1}", NULL},
    {"[1, 2].all(x, x > 0)", NULL},
    {"has(a.b)", NULL},
    {"a.optMap(x, x + 1).orValue(3)", NULL},
    {"[3, 1].sortBy(x, -x)", NULL},
    {"1 < 2 == true", NULL},
    {"1 in [1]", NULL},
};

static struct str write_of(const struct cel_env *env, struct arena *a, struct str text) {
    const struct cel_ast *ast = cel_compile(env, a, text, CEL_PARSE_ONLY);
    assert_int_equal(cel_ast_issues(ast).n, 0);
    AUTO(buf_release) struct buf out = BUF_INIT(4096);
    cel_ast_write(&out, ast);
    return arena_str(a, buf_view(&out));
}

static void trees_are_written_and_read_again(void **state) {
    (void)state;
    static const struct cel_var vars[] = {
        {STR_INIT("a"), STR_INIT("dyn")}, {STR_INIT("b"), STR_INIT("dyn")},
        {STR_INIT("c"), STR_INIT("dyn")}, {STR_INIT("d"), STR_INIT("dyn")},
        {STR_INIT("e"), STR_INIT("dyn")}, {STR_INIT("x"), STR_INIT("dyn")}};
    static const struct cel_decl decls[] = {{"f", "f_dyn", "(dyn) -> dyn"},
                                            {"g", "dyn_g", "dyn.(dyn, dyn) -> dyn"}};
    struct cel_env_opts opts = {
        .libs = cel_libs_at(37), .vars = vars, .var_count = 6, .decls = decls, .decl_count = 2};
    struct cel_env *env = cel_env_new(&opts);
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *want = rows[i].written ? rows[i].written : rows[i].text;
        struct str once = write_of(env, &a, str_of(rows[i].text));
        assert_string_equal(once.p, want);
        assert_string_equal(write_of(env, &a, once).p, want);
    }
    arena_release(&a);
    cel_env_free(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_are_written_and_read_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
