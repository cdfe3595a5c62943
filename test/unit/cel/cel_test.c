/* Expressions from text to value, as rows: what the standard library gives, and what goes wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "cel/cel.h"

static const struct cel_var fields[] = {{STR_INIT("key"), STR_INIT("string[317]")},
                                        {STR_INIT("value"), STR_INIT("string[63]")}};
static const struct cel_object taint_object = {STR_INIT("Taint"), fields, 2};
static const struct cel_var vars[] = {{STR_INIT("taint"), STR_INIT("Taint")}};

static struct cel_env *new_env(void) {
    struct cel_env_opts opts = {.libs = cel_libs_at(37),
                                .objects = &taint_object,
                                .object_count = 1,
                                .vars = vars,
                                .var_count = 1};
    return cel_env_new(&opts);
}

/* The value as a literal, or the text of the first thing that failed. */
static struct str outcome(const struct cel_env *env, struct arena *a, const char *text,
                          struct cel_result *result) {
    const struct cel_ast *ast = cel_compile(env, a, str_of(text), 0);
    if (cel_ast_issues(ast).n)
        return cel_ast_issues(ast);
    struct str error;
    struct cel_program *program = cel_program_new(ast, &error);
    if (!program)
        return error;
    struct cel_entry entries[] = {{cel_of_str(STR("key")), cel_of_str(STR("a/b"))},
                                  {cel_of_str(STR("value")), cel_of_str(STR("5"))}};
    struct cel_map map = {.entries = entries, .n = 2};
    struct cel_value v = cel_of_map(&map);
    *result = cel_eval(program, &v, a, CEL_COST_LIMIT);
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    cel_write(&out, result->value);
    cel_program_free(program);
    return arena_str(a, buf_view(&out));
}

static const struct {
    const char *text, *want;
} rows[] = {
    {"1 + 2", "3"},
    {"9223372036854775807 + 1", "integer overflow"},
    {"0u - 1u", "unsigned integer overflow"},
    {"1 / 0", "division by zero"},
    {"1 % 0", "modulus by zero"},
    {"-9223372036854775808 / -1", "integer overflow"},
    {"7 / -2", "-3"},
    {"7 % -2", "1"},
    {"1.0 / 0.0", "double(\"Infinity\")"},
    {"'a' + 'b'", "\"ab\""},
    {"[1] + [2, 3]", "[1, 2, 3]"},
    {"taint.key.startsWith('a/') && taint.value == '5'", "true"},
    {"taint.key.contains('/')", "true"},
    {"has(taint.key)", "true"},
    {"(1 / 0 == 1) || true", "true"},
    {"(1 / 0 == 1) && false", "false"},
    {"(1 / 0 == 1) || false", "division by zero"},
    {"[1, 2, 3].map(x, x * 2).filter(x, x > 2)", "[4, 6]"},
    {"[1, 2, 3].exists_one(x, x == 2)", "true"},
    {"[1, 2].all(i, x, i < x)", "true"},
    {"{'a': 1}.transformMap(k, v, v + 1)", "{\"a\": 2}"},
    {"{'a': 1}.a", "1"},
    {"{'a': 1}.b", "no such key: b"},
    {"[1][1]", "index out of bounds: 1"},
    {"{1: 'x'}[dyn(1.0)]", "\"x\""},
    {"dyn([1])['a']", "unsupported index type 'string' in list"},
    {"{'a': {'b': 1}}.?a.?b.orValue(0)", "1"},
    {"{'a': 1}.?c.hasValue()", "false"},
    {"optional.none().value()", "optional.none() dereference"},
    {"1 == dyn(1.0)", "true"},
    {"9007199254740993 == dyn(9007199254740992.0)", "true"},
    {"[1, 2] == [1, 2]", "true"},
    {"{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "true"},
    {"dyn(1) < 'a'", "no such overload"},
    {"double('NaN') < 1.0", "NaN values cannot be ordered"},
    {"string(1e6)", "\"1e+06\""},
    {"int('x')", "type conversion error from 'string' to 'int'"},
    {"timestamp('2020-02-03T04:05:06.7Z').getDayOfYear()", "33"},
    {"timestamp('2020-07-01T00:00:00Z').getHours('Europe/Vienna')", "2"},
    {"timestamp('2060-07-01T00:00:00Z').getHours('America/New_York')", "20"},
    {"timestamp('2060-01-01T00:00:00Z').getHours('America/New_York')", "19"},
    {"timestamp(0).getHours('../etc')", "time: invalid location name"},
    {"timestamp(0).getHours('No/Where')", "unknown time zone No/Where"},
    {"string(duration('90m'))", "\"5400s\""},
    {"'abc'.matches('^a.c$')", "true"},
    {"'zone-a1-rack-03'.matches('^zone-[^b-z][12]+-.*$')", "true"},
    {"'a'.matches('[z-a]')",
     "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('[z-a]')\n | ............^"},
    {"'a'.matches('[a-')",
     "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('[a-')\n | ............^"},
    {"'a'.matches('[a-]b[')",
     "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('[a-]b[')\n | ............^"},
    {"'a'.matches('*a')",
     "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('*a')\n | ............^"},
    {"'a'.matches('a**')",
     "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('a**')\n | ............^"},
    {"matches(taint.key, '(')", "error parsing regexp: missing closing ): `(`"},
    {"'a1b22'.findAll('[0-9]+')", "[\"1\", \"22\"]"},
    {"type(1) == int", "true"},
    {"size('é') == 1", "true"},
    {"b'\\xff'", "b\"\\377\""},
    {"google.protobuf.Int32Value{value: 2147483648}",
     "field type conversion error for google.protobuf.Int32Value.value value type: integer "
     "overflow"},
    {"google.protobuf.FloatValue{value: dyn('abc')} == 1.0",
     "field type conversion error for google.protobuf.FloatValue.value value type: unsupported "
     "native conversion from string to 'float32'"},
    {"taint.foo", "ERROR: <input>:1:6: undefined field 'foo'\n | taint.foo\n | .....^"},
    {"1 +", "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', "
            "'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
            "IDENTIFIER}\n | 1 +\n | ...^"},
};

static void expressions_give_values(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct cel_result r;
        assert_string_equal(outcome(env, &a, rows[i].text, &r).p, rows[i].want);
        arena_release(&a);
    }
    cel_env_free(env);
}

/* Where upstream's count of the cost fails, the evaluation does, whatever could absorb it. */
static void cost_that_cannot_be_counted_ends_an_evaluation(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
        uint64_t cost;
    } failing[] = {
        {"[1 / 0].sort() == [1] || true", "*types.Err is not traits.Lister: missing method Add",
         11},
        {"lists.range(1 / 0).distinct()", "*types.Err is not traits.Lister: missing method Add",
         13},
        {"[2].sortBy(x, x / 0)", "*types.Err is not traits.Lister: missing method Add", 17},
        {"[[1]].flatten(1 / 0) == [] || true", "ref.Val is *types.Err, not types.Int", 1},
    };
    struct cel_env *env = new_env();
    struct arena a = {0};
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        struct cel_result r;
        struct str out = outcome(env, &a, failing[i].text, &r), prefix;
        assert_int_equal(r.value.kind, CEL_ERROR);
        prefix = STR("internal error: interface conversion: ");
        assert_true(str_starts(out, prefix));
        assert_string_equal(out.p + prefix.n, failing[i].want);
        assert_int_equal(r.cost, failing[i].cost);
    }
    arena_release(&a);
    cel_env_free(env);
}

/* Sizes that nobody knows stay unknown when a text in them is replaced. */
static void estimates_of_replaced_texts_saturate(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    struct arena a = {0};
    const struct cel_ast *ast =
        cel_compile(env, &a, STR("taint.key.startsWith(string(1).replace('a', 'bb'))"), 0);
    assert_true(cel_estimate(ast).max == UINT64_C(5534023222112865795));
    arena_release(&a);
    cel_env_free(env);
}

static void cost_ends_an_evaluation(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    struct arena a = {0};
    struct cel_result r;
    struct str out = outcome(env, &a,
                             "[1,2,3,4,5,6,7,8,9,10].map(a, [1,2,3,4,5,6,7,8,9,10].map(b, "
                             "[1,2,3,4,5,6,7,8,9,10].map(c, [1,2,3,4,5,6,7,8,9,10].map(d, "
                             "[1,2,3,4,5,6,7,8,9,10].map(e, [1,2,3,4,5,6,7,8,9,10].map(f, 1))))))"
                             " == [] || true",
                             &r);
    assert_string_equal(out.p, "operation cancelled: actual cost limit exceeded");
    assert_true(r.cost > CEL_COST_LIMIT && r.cost < CEL_COST_LIMIT + 100);
    arena_release(&a);
    cel_env_free(env);
}

/* What is quadratic is charged before it runs. */
static void quadratic_calls_are_bounded(void **state) {
    (void)state;
    static const char *const texts[] = {
        "lists.range(900000).distinct() == []",
        "sets.contains(lists.range(400000), lists.range(400000))",
    };
    struct cel_env *env = new_env();
    for (size_t i = 0; i < 2; i++) {
        struct arena a = {0};
        struct cel_result r;
        assert_string_equal(outcome(env, &a, texts[i], &r).p,
                            "operation cancelled: actual cost limit exceeded");
        arena_release(&a);
    }
    cel_env_free(env);
}

/* Doubling a string is cheap for its size; LIMIT_CEL_EVAL_BYTES holds where the cost does not. */
static void memory_ends_an_evaluation(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    struct arena a = {0};
    struct cel_result r;
    struct str error;
    const struct cel_ast *ast =
        cel_compile(env, &a, STR("[1,2,3,4,5,6,7,8].map(a, taint.key + taint.key)"), 0);
    struct cel_program *program = cel_program_new(ast, &error);
    char *big = xcalloc(LIMIT_CEL_EVAL_BYTES / 8, 1);
    struct cel_entry entries[] = {
        {cel_of_str(STR("key")), cel_of_str((struct str){big, LIMIT_CEL_EVAL_BYTES / 8})}};
    struct cel_map map = {.entries = entries, .n = 1};
    struct cel_value v = cel_of_map(&map);
    r = cel_eval(program, &v, &a, UINT64_MAX);
    assert_int_equal(r.value.kind, CEL_ERROR);
    assert_string_equal(arena_str(&a, cel_str(r.value)).p, "result too large");
    cel_program_free(program);
    free(big);
    arena_release(&a);
    cel_env_free(env);
}

/* What needs memory says so when there is none left, instead of taking more. */
static void no_memory_is_an_error(void **state) {
    (void)state;
    static const struct {
        const char *text, *key;
    } hungry[] = {
        {"[taint.key]", "a"},
        {"{taint.key: 1}", "a"},
        {"google.protobuf.StringValue{value: taint.key}", "a"},
        {"[1, 2].map(x, x)", "a"},
        {"[1].transformMap(i, x, x)", "a"},
        {"[1].transformMapEntry(i, x, {1: 2})", "a"},
        {"[1] + (taint.key == '' ? [1] : [2])", "a"},
        {"[2, 1].sort()", "a"},
        {"[2, 1].reverse()", "a"},
        {"[2, 1].distinct()", "a"},
        {"[[2], [1]].flatten()", "a"},
        {"lists.range(2)", "a"},
        {"optional.of(taint)", "a"},
        {"taint.key + taint.key", "a"},
        {"taint.key.split('/')", "a/b"},
        {"taint.key.findAll('[a-z]')", "a"},
        {"taint.key.upperAscii()", "a"},
        {"taint.key.charAt(9)", "a"},
        {"bytes(taint.key) + b'a'", "a"},
        {"ip(taint.key)", "::1"},
        {"cidr(taint.key)", "10.0.0.0/8"},
        {"quantity(taint.key)", "1Gi"},
        {"semver(taint.key)", "1.2.3"},
        {"url(taint.key)", "https://a/b"},
    };
    struct cel_env *env = new_env();
    for (size_t i = 0; i < sizeof hungry / sizeof *hungry; i++) {
        struct arena a = {0}, full = {0};
        struct str error;
        const struct cel_ast *ast = cel_compile(env, &a, str_of(hungry[i].text), 0);
        assert_int_equal(cel_ast_issues(ast).n, 0);
        struct cel_program *program = cel_program_new(ast, &error);
        arena_alloc(&full, LIMIT_CEL_EVAL_BYTES);
        struct cel_entry entries[] = {{cel_of_str(STR("key")), cel_of_str(str_of(hungry[i].key))}};
        struct cel_map map = {.entries = entries, .n = 1};
        struct cel_value v = cel_of_map(&map);
        struct cel_value got = cel_eval(program, &v, &full, CEL_COST_LIMIT).value;
        if (got.kind != CEL_ERROR || !str_eq(cel_str(got), STR("result too large")))
            fail_msg("%s", hungry[i].text);
        cel_program_free(program);
        arena_release(&full);
        arena_release(&a);
    }
    cel_env_free(env);
}

/* An error that quotes a huge value is cut at LIMIT_CEL_ERROR_BYTES. */
static void long_errors_are_cut(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    struct arena a = {0};
    struct str error;
    const struct cel_ast *ast = cel_compile(env, &a, STR("{'a': 1}[taint.key]"), 0);
    struct cel_program *program = cel_program_new(ast, &error);
    size_t n = 2 * LIMIT_CEL_ERROR_BYTES;
    char *big = xmalloc(n);
    for (size_t i = 0; i < n; i++)
        big[i] = 'x';
    struct cel_entry entries[] = {{cel_of_str(STR("key")), cel_of_str((struct str){big, n})}};
    struct cel_map map = {.entries = entries, .n = 1};
    struct cel_value v = cel_of_map(&map);
    struct cel_result r = cel_eval(program, &v, &a, CEL_COST_LIMIT);
    assert_int_equal(r.value.kind, CEL_ERROR);
    assert_true(r.value.n <= LIMIT_CEL_ERROR_BYTES);
    cel_program_free(program);
    free(big);
    arena_release(&a);
    cel_env_free(env);
}

/* A precision beyond LIMIT_CEL_FORMAT_PRECISION is an error, not a precision that is cut. */
static void precisions_are_bounded(void **state) {
    (void)state;
    static const char *const wants[] = {
        "10000", "could not parse formatting clause: error while parsing precision: precision too "
                 "large"};
    struct cel_env *env = new_env();
    for (unsigned over = 0; over < 2; over++) {
        struct arena a = {0};
        struct cel_result r;
        struct str text =
            arena_printf(&a, "size(('%%.%ue' + taint.key.substring(3)).format([1.0]))",
                         LIMIT_CEL_FORMAT_PRECISION + over);
        assert_string_equal(outcome(env, &a, text.p, &r).p, wants[over]);
        arena_release(&a);
    }
    cel_env_free(env);
}

/* Thirty levels more of a list that holds one twice, and a string of a million bytes. */
#define DEEP_1       ".map(x, [x, x])"
#define DEEP_10      DEEP_1 DEEP_1 DEEP_1 DEEP_1 DEEP_1 DEEP_1 DEEP_1 DEEP_1 DEEP_1 DEEP_1
#define DEEP         DEEP_10 DEEP_10 DEEP_10
#define DEEP_DYN_1   ".map(x, [dyn(x), dyn(x)])"
#define DEEP_DYN_5   DEEP_DYN_1 DEEP_DYN_1 DEEP_DYN_1 DEEP_DYN_1 DEEP_DYN_1
#define DEEP_DYN     DEEP_DYN_5 DEEP_DYN_5 DEEP_DYN_5 DEEP_DYN_5 DEEP_DYN_5 DEEP_DYN_5
#define LARGE_STRING "cel.bind(a, lists.range(50000).map(x, 'abcdefghijabcdefghij').join(), "

/* What takes long for a small cost ends at LIMIT_CEL_EVAL_WORK; what is too expensive is not tried.
 * long: a table */
static void work_ends_an_evaluation(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } heavy[] = {
        {"cel.bind(a, lists.range(100000).map(x, 'abcdefghij').join(), "
         "lists.range(10000).all(x, a.size() > 0))",
         "operation cancelled: too much work"},
        {"lists.range(100000).all(x, !'a'.matches('(((x{0,10}){0,10}){0,9})' + taint.key))",
         "operation cancelled: too much work"},
        {"lists.range(10000).map(x, 'aaaaaaaaaa').join().findAll('a*b|a').size()",
         "operation cancelled: too much work"},
        {"lists.range(10000).map(x, 'aaaaaaaaaa').join().matches('a.{900}c')",
         "operation cancelled: too much work"},
        {"lists.range(100000).distinct()", "operation cancelled: actual cost limit exceeded"},
        /* a list that holds others twice, thirty levels deep: a billion items */
        {"[0].map(x, [x, x])" DEEP ".all(x, x == x)", "operation cancelled: too much work"},
        {"[0].map(x, [x, x])" DEEP ".all(x, dyn(x).flatten(99) == [])",
         "operation cancelled: too much work"},
        {"[0].map(x, [x, x])" DEEP ".all(x, '%s'.format([x]) == '')",
         "operation cancelled: too much work"},
        {"[dyn('')]" DEEP_DYN ".all(x, x.indexOf('a') == 0)", "operation cancelled: too much work"},
        {"[?dyn([0].map(x, [x, x])" DEEP ")]", NULL},
        /* what is large, in loops whose cost is small */
        {LARGE_STRING "lists.range(100000).all(x, a != 'b'))",
         "operation cancelled: too much work"},
        {LARGE_STRING "lists.range(100000).all(x, [a] == [a]))",
         "operation cancelled: too much work"},
        {LARGE_STRING "lists.range(100000).all(x, {'b': 1}[a] == 1 || true))",
         "operation cancelled: too much work"},
        {LARGE_STRING
         "lists.range(100000).all(x, [dyn(a), dyn(a), dyn(a), dyn(1)].join() == '' || true))",
         "operation cancelled: too much work"},
        {LARGE_STRING "lists.range(100000).all(x, timestamp(a) == timestamp(0) || true))",
         "operation cancelled: too much work"},
        {LARGE_STRING "lists.range(100000).all(x, !isURL(a + ' ')))",
         "operation cancelled: actual cost limit exceeded"},
        {"lists.range(100000).all(x, '%.9999f'.format([1e300]) == '' || true)",
         "operation cancelled: too much work"},
        {"lists.range(100000).all(x, timestamp(0).getHours('Europe/Berlin') == 1 || true)",
         "operation cancelled: too much work"},
        {"cel.bind(q, quantity('1e2000').add(quantity('1')), lists.range(300000).all(x, "
         "q.sub(q).isInteger() || true))",
         "operation cancelled: too much work"},
        {"cel.bind(m, lists.range(20000).transformMap(i, v, v), lists.range(10000).all(x, "
         "[m] == [m]))",
         "operation cancelled: too much work"},
        {"cel.bind(l, lists.range(30000), lists.range(100000).all(x, [l].flatten() == l || true))",
         "operation cancelled: too much work"},
        {"sets.contains(lists.range(100000), lists.range(100000))",
         "operation cancelled: actual cost limit exceeded"},
    };
    assert_true(LIMIT_CEL_EVAL_WORK < UINT64_C(10000) * 1000000); /* the first row's */
    struct cel_env_opts opts = {.libs = cel_libs_at(37) | 1U << CEL_LIB_BIND,
                                .objects = &taint_object,
                                .object_count = 1,
                                .vars = vars,
                                .var_count = 1};
    struct cel_env *env = cel_env_new(&opts);
    for (size_t i = 0; i < sizeof heavy / sizeof *heavy; i++) {
        struct arena a = {0};
        struct cel_result r;
        struct str got = outcome(env, &a, heavy[i].text, &r);
        if (heavy[i].want)
            assert_string_equal(got.p, heavy[i].want);
        arena_release(&a);
    }
    cel_env_free(env);
}

/* Each {a: a} in a chain of macros doubles a type: from 1,000 parts on it is dyn. */
static void types_are_bounded(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    size_t size = 1;
    for (size_t n = 0; n < 30; n++) {
        struct arena a = {0};
        AUTO(buf_release) struct buf text = BUF_INIT(4096);
        buf_add(&text, STR("[1]"));
        for (size_t i = 0; i < n; i++)
            buf_add(&text, STR(".map(a, {a: a})"));
        struct str type = cel_ast_type(cel_compile(env, &a, buf_view(&text), 0), &a);
        if (size + 1 <= LIMIT_CEL_TYPE_SIZE)
            assert_int_equal(str_find(type, STR("dyn")), STR_NONE);
        if (n && size > LIMIT_CEL_TYPE_SIZE && (size - 1) / 2 + 1 <= LIMIT_CEL_TYPE_SIZE)
            assert_true(str_is(type, "list(map(dyn, dyn))"));
        size = 2 * size + 1;
        arena_release(&a);
    }
    cel_env_free(env);
}

/* The variables of a policy: what an expression gives becomes a field for those behind it. */
static void fields_come_from_expressions(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *type; /* as the next ones see it; NULL: it has issues */
    } variables[] = {
        {"a", "1", "int"},
        {"b", "[f.a]", "list(int)"},
        {"c", "{'x': f.b}", "map(string, list(int))"},
        {"d", "optional.of(f.a)", "dyn"},
        {"e", "f.nope", NULL},
        {"g", "f.e", "dyn"},
        {"a", "f.c.x[0] == f.a ? 'x' : 'y'", "string"},
        {"h", "f.a + 'z'", "string"},
        {"i", "duration('1s')", "google.protobuf.Duration"},
    };
    static const struct cel_object object = {STR_INIT("test.F"), NULL, 0};
    static const struct cel_var var = {STR_INIT("f"), STR_INIT("test.F")};
    struct cel_env *env = cel_env_new(&(struct cel_env_opts){.libs = cel_libs_at(37),
                                                             .objects = &object,
                                                             .object_count = 1,
                                                             .vars = &var,
                                                             .var_count = 1});
    struct cel_fields *late = cel_fields_new(STR("test.F"), 1);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        struct arena a = {0};
        const struct cel_ast *ast = cel_compile_with(env, &a, str_of(variables[i].text), late);
        assert_int_equal(cel_ast_issues(ast).n == 0, variables[i].type != NULL);
        cel_fields_add(late, str_of(variables[i].name), cel_ast_issues(ast).n ? NULL : ast);
        struct str again = arena_printf(&a, "f.%s", variables[i].name);
        ast = cel_compile_with(env, &a, again, late);
        assert_true(str_is(cel_ast_type(ast, &a), variables[i].type ? variables[i].type : "dyn"));
        arena_release(&a);
    }
    cel_fields_free(late);
    cel_fields_free(NULL);
    cel_env_free(env);
}

/* Keys of every kind, in maps with an index: as many as there are rounds, each found again,
 * whatever the seed. Those that equal nothing are not found, and do not slow down the others. */
static void maps_take_all_keys(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } maps[] = {
        {"cel.bind(m, lists.range(15000).transformMapEntry(i, v, {v + 4611686018427387904: v}), "
         "m.size() == 15000 && m[4611686018427387905] == 1 && dyn(m)[4611686018427387906u] == 2)",
         "true"},
        {"cel.bind(m, lists.range(15000).transformMapEntry(i, v, {timestamp(v * 1048576): v}), "
         "m.size() == 15000 && timestamp(1048576) in m)",
         "true"},
        {"cel.bind(m, lists.range(12000).transformMapEntry(i, v, {duration(string(v) + 's'): v}), "
         "m.size() == 12000 && duration('11999s') in m)",
         "true"},
        {"lists.range(15000).transformMapEntry(i, v, {double('NaN'): v}).size() == 15000", "true"},
        {"lists.range(12000).transformMapEntry(i, v, {dyn([]): v}).size() == 12000", "true"},
        {"lists.range(12000).transformMapEntry(i, v, {dyn(optional.of(v)): v}).size() == 12000",
         "true"},
        {"cel.bind(m, lists.range(12000).transformMapEntry(i, v, {v == 0 ? dyn(-0.0) : v % 2 == 0 "
         "? dyn(v) : dyn(uint(v)): v}), m[0.0] == 0 && m[7.0] == 7 && m[7] == 7 && m[8u] == 8 && "
         "!(7.5 in m))",
         "true"},
        {"cel.bind(m, lists.range(1000).transformMapEntry(i, v, {ip('10.0.0.' + string(v % 256)) "
         ": v}), m)",
         "insert failed: key 10.0.0.0 already exists"},
        {"{1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, ?3: optional.none(), "
         "?3: optional.none(), 11: 1}.size()",
         "10"},
        {"{1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, ?3: optional.none(), "
         "3: 7}[3]",
         "7"},
    };
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct cel_env_opts opts = {.libs = cel_libs_at(37) | 1U << CEL_LIB_BIND,
                                    .objects = &taint_object,
                                    .object_count = 1,
                                    .vars = vars,
                                    .var_count = 1,
                                    .seed = seed * 12345678901};
        struct cel_env *env = cel_env_new(&opts);
        for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
            struct arena a = {0};
            struct cel_result r;
            assert_string_equal(outcome(env, &a, maps[i].text, &r).p, maps[i].want);
            arena_release(&a);
        }
        cel_env_free(env);
    }
}

/* LIMIT_CEL_REGEX_BYTES for one pattern, LIMIT_CEL_REGEX_STEPS for all. */
static void patterns_are_bounded(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    struct arena a = {0};
    struct cel_result r;
    enum { STEPS = 1193, STEP_BYTES = 16 }; /* of \pL in RE2 */
    assert_true(1000 * STEPS * STEP_BYTES > LIMIT_CEL_REGEX_BYTES);
    assert_true(20 * 100 * STEPS > LIMIT_CEL_REGEX_STEPS);
    assert_string_equal(outcome(env, &a, "'a'.find('\\\\pL{1000}')", &r).p,
                        "error parsing regexp: expression too large: ``");
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    buf_add(&text, STR("false"));
    for (int i = 0; i < 20; i++)
        buf_add(&text, STR(" || taint.key.matches('\\\\pL{100}')"));
    struct str issues = outcome(env, &a, arena_str(&a, buf_view(&text)).p, &r);
    assert_true(str_find(issues, STR("invalid matches argument")) != STR_NONE);
    arena_release(&a);
    cel_env_free(env);
}

/* The common expressions need no memory at all. */
static void stories_evaluate_without_memory(void **state) {
    (void)state;
    static const char *const stories[] = {
        "taint.key == 'a/b' && taint.value in ['4', '5']",
        "taint.key.startsWith('a/') && taint.value.matches('^[0-9]+$')",
        "[1, 2, 3].all(x, x > 0)",
    };
    struct cel_env *env = new_env();
    for (size_t i = 0; i < 3; i++) {
        struct arena a = {0}, eval = {0};
        struct str error;
        struct cel_program *program =
            cel_program_new(cel_compile(env, &a, str_of(stories[i]), 0), &error);
        struct cel_entry entries[] = {{cel_of_str(STR("key")), cel_of_str(STR("a/b"))},
                                      {cel_of_str(STR("value")), cel_of_str(STR("5"))}};
        struct cel_map map = {.entries = entries, .n = 2};
        struct cel_value v = cel_of_map(&map);
        struct cel_result r = cel_eval(program, &v, &eval, CEL_COST_LIMIT);
        assert_true(r.value.kind == CEL_BOOL && r.value.b);
        assert_int_equal(eval.bytes, 0);
        cel_program_free(program);
        arena_release(&a);
    }
    cel_env_free(env);
}

/* optMap doubles its operand: a long chain of them is refused instead of eating all memory. */
static void chains_of_opt_map_are_bounded(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    struct arena a = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    buf_add(&text, STR("optional.of(1)"));
    for (int i = 0; i < 100; i++)
        buf_add(&text, STR(".optMap(x, x)"));
    const struct cel_ast *ast = cel_compile(env, &a, buf_view(&text), 0);
    assert_true(str_find(cel_ast_issues(ast), STR("grows too large")) != STR_NONE);
    arena_release(&a);
    cel_env_free(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_give_values),
        cmocka_unit_test(cost_ends_an_evaluation),
        cmocka_unit_test(cost_that_cannot_be_counted_ends_an_evaluation),
        cmocka_unit_test(estimates_of_replaced_texts_saturate),
        cmocka_unit_test(quadratic_calls_are_bounded),
        cmocka_unit_test(memory_ends_an_evaluation),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(long_errors_are_cut),
        cmocka_unit_test(precisions_are_bounded),
        cmocka_unit_test(work_ends_an_evaluation),
        cmocka_unit_test(types_are_bounded),
        cmocka_unit_test(fields_come_from_expressions),
        cmocka_unit_test(maps_take_all_keys),
        cmocka_unit_test(patterns_are_bounded),
        cmocka_unit_test(stories_evaluate_without_memory),
        cmocka_unit_test(chains_of_opt_map_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
