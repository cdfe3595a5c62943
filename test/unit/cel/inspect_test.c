/* What can be seen of expressions and environments from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cel/cel.h"

static void add_part(void *ctx, const struct cel_part *p) {
    struct buf *out = ctx;
    buf_addf(out, "%u%s %s %.*s %.*s %.*s\n", p->depth, p->bound ? "*" : "", p->kind,
             STR_ARG(p->name), STR_ARG(p->type), STR_ARG(p->text));
}

static const struct {
    const char *text, *parts;
} cases[] = {
    {"1", "0 literal 1 int 1\n"},
    {"[a, ?optional.of('b')]", "0 list  list(string) [a, ?optional.of(\"b\")]\n"
                               "1 ident a string a\n"
                               "1 call optional.of optional_type(string) optional.of(\"b\")\n"
                               "2 literal \"b\" string \"b\"\n"},
    {"{a: 1}.b", "0 select b int {a: 1}.b\n"
                 "1 map  map(string, int) {a: 1}\n"
                 "2 ident a string a\n"
                 "2 literal 1 int 1\n"},
    {"[1].exists(a, a > 1)", "0 macro exists bool [1].exists(a, a > 1)\n"
                             "1 list  list(int) [1]\n"
                             "2 literal 1 int 1\n"
                             "1* ident a  a\n"
                             "1* call _>_ bool a > 1\n"
                             "2* ident a int a\n"
                             "2* literal 1 int 1\n"},
    {"google.protobuf.BoolValue{value: true}",
     "0 struct google.protobuf.BoolValue wrapper(bool) google.protobuf.BoolValue{value: true}\n"
     "1 literal true bool true\n"},
    {"a.size()", "0 call size int a.size()\n1 ident a string a\n"},
};

static struct cel_env *env_new(uint32_t libs) {
    static const struct cel_var a = {STR_INIT("a"), STR_INIT("string")};
    return cel_env_new(&(struct cel_env_opts){.libs = libs, .vars = &a, .var_count = 1});
}

static void parts_are_as_written(void **state) {
    (void)state;
    struct cel_env *env = env_new(cel_libs_at(36));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(arena_release) struct arena a = {0};
        AUTO(buf_release) struct buf out = BUF_INIT(1 << 16);
        const struct cel_ast *ast = cel_compile(env, &a, str_of(cases[i].text), 0);
        assert_int_equal(cel_ast_issues(ast).n, 0);
        cel_ast_visit(ast, &a, add_part, &out);
        buf_add_char(&out, '\0');
        assert_string_equal(out.p, cases[i].parts);
    }
    cel_env_free(env);
}

struct rows {
    size_t n, without_doc;
    bool internal, sets;
};

static void add_row(void *ctx, const struct cel_fn_info *fn) {
    struct rows *r = ctx;
    r->n++;
    r->without_doc += !fn->doc || !*fn->doc;
    r->internal |= str_is(str_of(fn->name), "@not_strictly_false");
    r->sets |= str_is(str_of(fn->name), "sets.contains") &&
               str_is(str_of(fn->id), "list_sets_contains_list");
}

static void every_row_has_its_line(void **state) {
    (void)state;
    struct rows all = {0}, sets = {0};
    struct cel_env *env = env_new(cel_libs_at(37));
    cel_env_visit(env, add_row, &all);
    cel_env_free(env);
    env = env_new(1U << CEL_LIB_SETS);
    cel_env_visit(env, add_row, &sets);
    cel_env_free(env);
    assert_true(all.n > 300 && all.sets && !all.internal);
    assert_int_equal(all.without_doc, 0);
    assert_true(sets.n == 3 && sets.sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_as_written),
        cmocka_unit_test(every_row_has_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
