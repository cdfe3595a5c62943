#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/object.h"
#include "api/selector.h"
#include "base/limits.h"

#define VALUE_RULE                                                                                 \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', " \
    " or '12345', regex used for validation is "                                                   \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define NAME_RULE                                                                                  \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "  \
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

static void assert_text(struct str got, const char *want) {
    if (!str_is(got, want))
        fail_msg("'%.*s' is not '%s'", STR_ARG(got), want);
}

static void assert_written(const struct selector *sel, const char *want) {
    struct buf text = BUF_INIT(4096);
    selector_write(&text, sel);
    assert_text(buf_view(&text), want);
    buf_release(&text);
}

static struct label web_labels[] = {
    {STR_INIT("app"), STR_INIT("web")},
    {STR_INIT("empty"), STR_INIT("")},
    {STR_INIT("n"), STR_INIT("5")},
    {STR_INIT("x.io/tier"), STR_INIT("front")},
};
static const struct labels web = {web_labels, 4};
static const struct labels none = {NULL, 0};

/* want == NULL: the text is canonical already. */
static void texts_match_and_are_written_canonically(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
        bool match;
    } rows[] = {
        {"", NULL, true},
        {" \t\r\n", "", true},
        {"app", NULL, true},
        {"!app", NULL, false},
        {"! zone", "!zone", true},
        {"app=web", NULL, true},
        {"app == web", "app==web", true},
        {"app!=web", NULL, false},
        {"zone!=web", NULL, true},
        {"zone=", NULL, false},
        {"empty=,app", "app,empty=", true},
        {"app in (web)", NULL, true},
        {"app in(web,api,web)", "app in (api,web)", true},
        {"app notin (api,web)", NULL, false},
        {"zone notin (a)", NULL, true},
        {"empty in ()", NULL, true},
        {"empty in (,)", "empty in ()", true},
        {"app in (web,,api)", "app in (,api,web)", true},
        {"empty in (x,)", "empty in (,x)", true},
        {"empty notin (,x)", NULL, false},
        {"n>4", NULL, true},
        {"n > 5", "n>5", false},
        {"n<6", NULL, true},
        {"n<5", NULL, false},
        {"n>004", NULL, true},
        {"app>1", NULL, false},
        {"app<1", NULL, false},
        {"zone>1", NULL, false},
        {"zone<1", NULL, false},
        {"x.io/tier=front,n,app=web", "app=web,n,x.io/tier=front", true},
        {"n,app=web,n>4,app,app!=api", "app=web,app,app!=api,n,n>4", true},
        {"in notin (notin,in),notin", "in notin (in,notin),notin", false},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct selector *sel;
        struct err err;
        assert_int_equal(selector_parse(&a, str_of(rows[i].text), &sel, &err), 0);
        assert_null(sel->error.p);
        assert_written(sel, rows[i].want ? rows[i].want : rows[i].text);
        if (selector_matches(sel, &web) != rows[i].match)
            fail_msg("'%s' matches wrongly", rows[i].text);
    }
    arena_release(&a);
}

#define IN_REQ "unable to parse requirement: "

static void bad_texts_are_refused_as_upstream_does(void **state) {
    (void)state;
    static const struct {
        struct str text;
        const char *want;
    } rows[] = {
        {STR_INIT(","), "found ',', expected: !, identifier, or 'end of string'"},
        {STR_INIT("app,"), "found '', expected: identifier after ','"},
        {STR_INIT("app=a b"), "found 'b', expected: ',' or 'end of string'"},
        {STR_INIT("!app=a"), "found '=', expected: ',' or 'end of string'"},
        {STR_INIT("!"), IN_REQ "found '', expected: identifier"},
        {STR_INIT("a b"), IN_REQ "found 'b', expected: in, notin, =, ==, !=, gt, lt"},
        {STR_INIT("a="), NULL},
        {STR_INIT("a=="), NULL},
        {STR_INIT("a==="), IN_REQ "found '=', expected: identifier"},
        {STR_INIT("a in b"), IN_REQ "found 'b' expected: '('"},
        {STR_INIT("a in (=)"), IN_REQ "found '=', expected: ',', ')' or identifier"},
        {STR_INIT("a in (b,=)"), IN_REQ "found '=', expected: ',', or identifier"},
        {STR_INIT("a in (b c)"), IN_REQ "found 'c', expected: ',' or ')'"},
        {STR_INIT("a in (b"), IN_REQ "found '', expected: ',' or ')'"},
        {STR_INIT("a-=b"), IN_REQ "<nil>: Invalid value: \"a-\": " NAME_RULE},
        {STR_INIT("a=-b"), IN_REQ "values[0][a]: Invalid value: \"-b\": " VALUE_RULE},
        {STR_INIT("a<x"),
         IN_REQ "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an "
                "integer"},
        /* A NUL ends the word before it and disappears; between words it ends the text. */
        {STR_INIT("a\0b"), IN_REQ "found 'b', expected: in, notin, =, ==, !=, gt, lt"},
        {STR_INIT("a=\0b,"), "found '', expected: identifier after ','"},
        {STR_INIT("a \0,,,"), NULL},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct selector *sel;
        struct err err;
        int rc = selector_parse(&a, rows[i].text, &sel, &err);
        assert_int_equal(rc, rows[i].want ? -1 : 0);
        if (!rows[i].want)
            continue;
        assert_text(sel->error, rows[i].want);
        assert_int_equal(err.code, ERR_INVALID);
        assert_memory_equal(err.msg, rows[i].want, 20);
        assert_false(selector_matches(sel, &web));
    }
    arena_release(&a);
}

static int compile(struct arena *a, const char *text, struct selector **out, struct err *err) {
    struct json tree;
    struct api_label_selector *spec = arena_new(a, struct api_label_selector);
    const struct api_type *type = &api_types[API_T_label_selector];
    assert_int_equal(json_parse(a, str_of(text), NULL, &tree, err), 0);
    assert_int_equal(api_struct_decode(a, type, &tree, spec, NULL), 0);
    return selector_compile(a, spec, out, err);
}

static void structured_selectors_match(void **state) {
    (void)state;
    static const struct {
        const char *json, *want;
        bool match, match_none;
    } rows[] = {
        {"{}", "", true, true},
        {"{\"matchLabels\":null,\"matchExpressions\":[]}", "", true, true},
        {"{\"matchLabels\":{\"n\":\"5\",\"app\":\"web\"}}", "app=web,n=5", true, false},
        {"{\"matchLabels\":{\"empty\":null}}", "empty=", true, false},
        {"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"web\",\"api\","
         "\"web\"]}]}",
         "app in (api,web,web)", true, false},
        {"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"NotIn\",\"values\":[null]}]}",
         "app notin ()", true, true},
        {"{\"matchExpressions\":[{\"key\":\"z\",\"operator\":\"DoesNotExist\"},{\"key\":\"app\","
         "\"operator\":\"Exists\"}],\"matchLabels\":{\"n\":\"5\"}}",
         "app,n=5,!z", true, false},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct selector *sel;
        struct err err;
        assert_int_equal(compile(&a, rows[i].json, &sel, &err), 0);
        assert_written(sel, rows[i].want);
        assert_int_equal(selector_matches(sel, &web), rows[i].match);
        assert_int_equal(selector_matches(sel, &none), rows[i].match_none);
    }
    arena_release(&a);
}

#define EXPR(rest) "{\"matchExpressions\":[" rest "]}"

static void bad_structures_are_refused_as_upstream_does(void **state) {
    (void)state;
    static const struct {
        const char *json, *want;
    } rows[] = {
        {EXPR("{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"1\"]}"),
         "\"Gt\" is not a valid label selector operator"},
        {EXPR("null"), "\"\" is not a valid label selector operator"},
        {EXPR("{\"key\":\"a\",\"operator\":\"In\",\"values\":[]}"),
         "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
        {EXPR("{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"<\",\"b\"]}"),
         "[values: Invalid value: [\"\\u003c\",\"b\"]: values set must be empty for exists and "
         "does not exist, values[0][a]: Invalid value: \"<\": " VALUE_RULE "]"},
        {"{\"matchLabels\":{\"-\":\"_\"}}",
         "[key: Invalid value: \"-\": " NAME_RULE
         ", values[0][-]: Invalid value: \"_\": " VALUE_RULE "]"},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct selector *sel;
        struct err err;
        assert_int_equal(compile(&a, rows[i].json, &sel, &err), -1);
        assert_text(sel->error, rows[i].want);
        assert_false(selector_matches(sel, &web));
    }
    arena_release(&a);
}

static void errors_carry_the_path_and_tell_nil_from_empty(void **state) {
    (void)state;
    struct arena a = {0};
    struct selector sel;
    struct err err;
    const struct str two[] = {STR("1"), STR("x")};
    selector_init(&sel, &a);
    sel.path = STR("spec.terms[0]");
    assert_int_equal(selector_require(&sel, STR("a"), SELECTOR_IN, two, 0, &err), -1);
    assert_text(sel.error, "spec.terms[0].values: Invalid value: []: for 'in', 'notin' operators, "
                           "values set can't be empty");
    assert_int_equal(selector_require(&sel, STR("a"), SELECTOR_NOT_IN, NULL, 0, &err), -1);
    assert_text(sel.error, "spec.terms[0].values: Invalid value: null: for 'in', 'notin' "
                           "operators, values set can't be empty");
    sel.path = (struct str){0};
    assert_int_equal(selector_require(&sel, STR("a"), SELECTOR_EQUALS, two, 2, &err), -1);
    assert_text(sel.error, "values: Invalid value: [\"1\",\"x\"]: exact-match compatibility "
                           "requires one single value");
    assert_int_equal(selector_require(&sel, STR("a"), SELECTOR_GREATER_THAN, two, 2, &err), -1);
    assert_text(sel.error,
                "[values: Invalid value: [\"1\",\"x\"]: for 'Gt', 'Lt' operators, exactly one "
                "value is required, values[1]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
                "value must be an integer]");
    assert_int_equal(sel.n, 0);
    arena_release(&a);
}

/* The whole text is there although struct err holds only its beginning, and so is a NUL. */
static void long_errors_are_whole(void **state) {
    (void)state;
    struct arena a = {0};
    struct selector sel;
    struct err err;
    selector_init(&sel, &a);
    const struct str bad[] = {STR("-"), STR("_")};
    assert_int_equal(selector_require(&sel, STR("\0"), SELECTOR_IN, bad, 2, &err), -1);
    assert_true(sel.error.n > ERR_TEXT);
    assert_true(str_starts(sel.error, STR("[key: Invalid value: \"\\x00\": ")));
    assert_int_not_equal(str_find(sel.error, STR(", values[1][\0]: Invalid value: \"_\"")),
                         STR_NONE);
    assert_true(strlen(err.msg) < ERR_TEXT);
    arena_release(&a);
}

static void an_error_is_cut_at_its_limit(void **state) {
    (void)state;
    static const char tail[] = ".values: Invalid value: null: for 'in', 'notin' operators, values "
                               "set can't be empty";
    struct arena a = {0};
    struct selector sel;
    /* One byte is taken by the bracket that a second fault would need. */
    size_t longest = LIMIT_SELECTOR_ERROR_BYTES - 1, path = longest - strlen(tail);
    selector_init(&sel, &a);
    sel.path = (struct str){memset(arena_alloc(&a, path + 1), 'p', path + 1), path};
    assert_int_equal(selector_require(&sel, STR("a"), SELECTOR_IN, NULL, 0, NULL), -1);
    assert_int_equal(sel.error.n, longest);
    assert_true(str_ends(sel.error, str_of(tail)));
    sel.path.n++;
    assert_int_equal(selector_require(&sel, STR("a"), SELECTOR_IN, NULL, 0, NULL), -1);
    assert_true(sel.error.n <= longest);
    assert_false(str_ends(sel.error, str_of(tail)));
    arena_release(&a);
}

static void errors_are_bounded(void **state) {
    (void)state;
    enum { MANY = 20000 };
    struct arena a = {0};
    struct selector sel;
    struct err err;
    struct str *bad = arena_array(&a, struct str, MANY);
    for (size_t i = 0; i < MANY; i++)
        bad[i] = STR("-");
    for (int op = SELECTOR_IN; op <= SELECTOR_DOES_NOT_EXIST; op++) {
        selector_init(&sel, &a);
        assert_int_equal(selector_require(&sel, STR("a"), (enum selector_op)op, bad, MANY, &err),
                         -1);
        assert_true(sel.error.n <= LIMIT_SELECTOR_ERROR_BYTES);
        assert_true(sel.error.n > LIMIT_SELECTOR_ERROR_BYTES / 2);
    }
    arena_release(&a);
}

static void many_requirements_keep_their_order_within_a_key(void **state) {
    (void)state;
    enum { MANY = 300, KEYS = 7 };
    static const char keys[] = "gfedcba";
    struct arena a = {0};
    struct selector sel;
    struct err err;
    selector_init(&sel, &a);
    for (size_t i = 0; i < MANY; i++) {
        struct str key = {&keys[i % KEYS], 1};
        struct str value = arena_printf(&a, "%zu", i);
        assert_int_equal(selector_require(&sel, key, SELECTOR_NOT_EQUALS, &value, 1, &err), 0);
    }
    selector_seal(&sel);
    assert_int_equal(sel.n, MANY);
    for (size_t i = 1; i < MANY; i++) {
        int order = str_cmp(sel.reqs[i - 1].key, sel.reqs[i].key);
        assert_true(order < 0 || (order == 0 && sel.reqs[i - 1].order < sel.reqs[i].order));
    }
    assert_true(selector_matches(&sel, &web));
    struct label label = {STR("d"), STR("3")};
    assert_false(selector_matches(&sel, &(struct labels){&label, 1}));
    label.value = STR("4");
    assert_true(selector_matches(&sel, &(struct labels){&label, 1}));
    arena_release(&a);
}

static void repeated_requirements_are_dropped(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},
        {"a", "a"},
        {"a,a,a", "a"},
        {"b,a=1,b,!c,a=1,a=2,!c", "a=1,a=2,b,!c"},
        {"a in (1,2),a in (2,1),a in (1),a=1", "a in (1,2),a in (1),a=1"},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct selector *sel;
        struct err err;
        assert_int_equal(selector_parse(&a, str_of(rows[i][0]), &sel, &err), 0);
        selector_drop_repeated(sel);
        assert_written(sel, rows[i][1]);
    }
    arena_release(&a);
}

static void no_selector_matches_nothing(void **state) {
    (void)state;
    struct arena a = {0};
    struct selector *sel = arena_new(&a, struct selector);
    assert_int_equal(selector_compile(&a, NULL, &sel, NULL), 0);
    assert_null(sel);
    assert_false(selector_matches(sel, &web));
    assert_false(selector_matches(sel, &none));
    assert_written(sel, "");
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_match_and_are_written_canonically),
        cmocka_unit_test(bad_texts_are_refused_as_upstream_does),
        cmocka_unit_test(structured_selectors_match),
        cmocka_unit_test(bad_structures_are_refused_as_upstream_does),
        cmocka_unit_test(errors_carry_the_path_and_tell_nil_from_empty),
        cmocka_unit_test(long_errors_are_whole),
        cmocka_unit_test(an_error_is_cut_at_its_limit),
        cmocka_unit_test(errors_are_bounded),
        cmocka_unit_test(many_requirements_keep_their_order_within_a_key),
        cmocka_unit_test(repeated_requirements_are_dropped),
        cmocka_unit_test(no_selector_matches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
