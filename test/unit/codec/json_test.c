#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/vec.h"
#include "codec/json.h"

#define ROWS(table) (sizeof(table) / sizeof *(table))

/* A string literal with its length, NUL bytes included. */
#define TEXT(lit) \
    { lit, sizeof(lit) - 1 }

/* The text on the heap without a byte to spare, so that a sanitizer sees every step too far. */
static struct str tight(struct str s) {
    char *p = malloc(s.n ? s.n : 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    return (struct str){p, s.n};
}

static void release(struct str s) {
    free((char *)(uintptr_t)s.p);
}

/* --- what is accepted, and what it becomes --- */

static const struct {
    struct str text;
    const char *written;
} accepted[] = {
    {TEXT("null"), "null"},
    {TEXT(" \t\r\n true \n"), "true"},
    {TEXT("false"), "false"},
    {TEXT("\"\""), "\"\""},
    {TEXT("[]"), "[]"},
    {TEXT("{}"), "{}"},
    {TEXT("[ ]"), "[]"},
    {TEXT("{ \n }"), "{}"},
    {TEXT("[1,[2,[3,[]]],{}]"), "[1,[2,[3,[]]],{}]"},
    {TEXT("{\"a\":{\"b\":{\"c\":[{}]}},\"d\":0}"), "{\"a\":{\"b\":{\"c\":[{}]}},\"d\":0}"},
    {TEXT("{ \"a\" : 1 , \"b\" : [ 1 , 2 ] }"), "{\"a\":1,\"b\":[1,2]}"},
    {TEXT("{\n        \"deep\":        {\n                \"x\": 1\n        }\n}"),
     "{\"deep\":{\"x\":1}}"},
    /* integers: exact in int64 and uint64, everything else is a float64 */
    {TEXT("0"), "0"},
    {TEXT("-0"), "0"},
    {TEXT("-1"), "-1"},
    {TEXT("999999999999999999"), "999999999999999999"},
    {TEXT("9007199254740993"), "9007199254740993"},
    {TEXT("9223372036854775807"), "9223372036854775807"},
    {TEXT("-9223372036854775808"), "-9223372036854775808"},
    {TEXT("9223372036854775808"), "9223372036854775808"},
    {TEXT("18446744073709551615"), "18446744073709551615"},
    {TEXT("18446744073709551616"), "18446744073709552000"},
    {TEXT("-9223372036854775809"), "-9223372036854776000"},
    {TEXT("100000000000000000000000"), "1e+23"},
    {TEXT("-0.0"), "-0"},
    {TEXT("0.1"), "0.1"},
    {TEXT("1.0"), "1"},
    {TEXT("1e3"), "1000"},
    {TEXT("1E+2"), "100"},
    {TEXT("1e-7"), "1e-7"},
    {TEXT("0e0"), "0"},
    {TEXT("0.000001"), "0.000001"},
    {TEXT("1e21"), "1e+21"},
    {TEXT("1e-400"), "0"},
    {TEXT("0e999999999"), "0"},
    {TEXT("1.7976931348623157e308"), "1.7976931348623157e+308"},
    {TEXT("5e-324"), "5e-324"},
    /* strings */
    {TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {TEXT("\"\\u0041\\u00e9\\u4e2d\""), "\"A\xC3\xA9\xE4\xB8\xAD\""},
    {TEXT("\"\\ud83d\\uDE00\""), "\"\xF0\x9F\x98\x80\""},
    {TEXT("\"a\\u0000b\""), "\"a\\u0000b\""},
    {TEXT("\"\\uFFFF\""), "\"\xEF\xBF\xBF\""},
    {TEXT("\"\x7F\""), "\"\x7F\""},
    {TEXT("\"Z\xC3\xBCrich \xE6\x9D\xB1\xE4\xBA\xAC\""),
     "\"Z\xC3\xBCrich \xE6\x9D\xB1\xE4\xBA\xAC\""},
    {TEXT("\"a string of more than sixteen bytes, then \\n and more than sixteen again\""),
     "\"a string of more than sixteen bytes, then \\n and more than sixteen again\""},
    {TEXT("{\"\\u0061\":1,\"\":2}"), "{\"a\":1,\"\":2}"},
};

static void accepts(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(accepted); i++) {
        struct arena a = {0};
        struct json v;
        struct err err = {0};
        struct buf out = BUF_INIT(1 << 20);
        struct str text = tight(accepted[i].text);
        if (json_parse(&a, text, NULL, &v, &err) < 0)
            fail_msg("%s: %s", accepted[i].text.p, err.msg);
        json_write(&out, &v, NULL);
        buf_add_char(&out, '\0');
        assert_string_equal(out.p, accepted[i].written);
        buf_release(&out);
        arena_release(&a);
        release(text);
    }
}

static const struct {
    struct str text;
    enum json_kind kind;
} kinds[] = {
    {TEXT("null"), JSON_NULL},
    {TEXT("true"), JSON_BOOL},
    {TEXT("0"), JSON_INT},
    {TEXT("-0"), JSON_INT},
    {TEXT("9223372036854775807"), JSON_INT},
    {TEXT("-9223372036854775808"), JSON_INT},
    {TEXT("9223372036854775808"), JSON_UINT},
    {TEXT("18446744073709551615"), JSON_UINT},
    {TEXT("18446744073709551616"), JSON_FLOAT},
    {TEXT("-9223372036854775809"), JSON_FLOAT},
    {TEXT("1.0"), JSON_FLOAT},
    {TEXT("1e0"), JSON_FLOAT},
    {TEXT("\"1\""), JSON_STRING},
    {TEXT("[1]"), JSON_ARRAY},
    {TEXT("{}"), JSON_OBJECT},
};

static void tells_kinds_apart(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(kinds); i++) {
        struct arena a = {0};
        struct json v;
        assert_int_equal(json_parse(&a, kinds[i].text, NULL, &v, NULL), 0);
        assert_int_equal(v.kind, kinds[i].kind);
        arena_release(&a);
    }
}

static void keeps_float_literals(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    assert_int_equal(json_parse(&a, STR("[1.50,1E2]"), NULL, &v, NULL), 0);
    assert_true(str_is(json_str(&v.items[0]), "1.50"));
    assert_true(str_is(json_str(&v.items[1]), "1E2"));
    arena_release(&a);
}

/* --- what is refused, with text and place --- */

static const struct {
    struct str text;
    const char *msg;
    uint32_t line, column;
} refused[] = {
    {TEXT(""), "unexpected end of JSON input", 1, 1},
    {TEXT("  \n "), "unexpected end of JSON input", 2, 2},
    {TEXT("["), "unexpected end of JSON input", 1, 2},
    {TEXT("{\"a\""), "unexpected end of JSON input", 1, 5},
    {TEXT("tru"), "invalid character ' ' in literal true (expecting 'e')", 1, 4},
    {TEXT("\"abc"), "unexpected end of JSON input", 1, 5},
    {TEXT("\"abc\\"), "invalid character ' ' in string escape code", 1, 6},
    {TEXT("\"\\u00"), "invalid character ' ' in \\u hexadecimal character escape", 1, 6},
    {TEXT("-"), "invalid character ' ' in numeric literal", 1, 2},
    {TEXT("1."), "invalid character ' ' after decimal point in numeric literal", 1, 3},
    {TEXT("1e+"), "invalid character ' ' in exponent of numeric literal", 1, 4},
    {TEXT("x"), "invalid character 'x' looking for beginning of value", 1, 1},
    {TEXT("[1,]"), "invalid character ']' looking for beginning of value", 1, 4},
    {TEXT("[,1]"), "invalid character ',' looking for beginning of value", 1, 2},
    {TEXT("\xEF\xBB\xBF{}"), "invalid character '\xC3\xAF' looking for beginning of value", 1, 1},
    {TEXT("\0"), "invalid character '\\x00' looking for beginning of value", 1, 1},
    {TEXT("\v1"), "invalid character '\\v' looking for beginning of value", 1, 1},
    {TEXT("'a'"), "invalid character '\\'' looking for beginning of value", 1, 1},
    {TEXT("\\"), "invalid character '\\\\' looking for beginning of value", 1, 1},
    {TEXT("\x7F"), "invalid character '\\x7f' looking for beginning of value", 1, 1},
    {TEXT("\x85"), "invalid character '\\u0085' looking for beginning of value", 1, 1},
    {TEXT("\xA0"), "invalid character '\\u00a0' looking for beginning of value", 1, 1},
    {TEXT("NaN"), "invalid character 'N' looking for beginning of value", 1, 1},
    {TEXT("+1"), "invalid character '+' looking for beginning of value", 1, 1},
    {TEXT(".5"), "invalid character '.' looking for beginning of value", 1, 1},
    {TEXT("{a:1}"), "invalid character 'a' looking for beginning of object key string", 1, 2},
    {TEXT("{\"a\":1,}"), "invalid character '}' looking for beginning of object key string", 1, 8},
    {TEXT("{\"a\" 1}"), "invalid character '1' after object key", 1, 6},
    {TEXT("{\"a\":1 \"b\"}"), "invalid character '\"' after object key:value pair", 1, 8},
    {TEXT("{\"a\":1]"), "invalid character ']' after object key:value pair", 1, 7},
    {TEXT("[1 2]"), "invalid character '2' after array element", 1, 4},
    {TEXT("[1}"), "invalid character '}' after array element", 1, 3},
    {TEXT("[01]"), "invalid character '1' after array element", 1, 3},
    {TEXT("01"), "invalid character '1' after top-level value", 1, 2},
    {TEXT("-01"), "invalid character '1' after top-level value", 1, 3},
    {TEXT("1 x"), "invalid character 'x' after top-level value", 1, 3},
    {TEXT("{}}"), "invalid character '}' after top-level value", 1, 3},
    {TEXT("{} // c"), "invalid character '/' after top-level value", 1, 4},
    {TEXT("\"a\tb\""), "invalid character '\\t' in string literal", 1, 3},
    {TEXT("\"a\nb\""), "invalid character '\\n' in string literal", 1, 3},
    {TEXT("\"\0\""), "invalid character '\\x00' in string literal", 1, 2},
    {TEXT("\"\\n\x1F\""), "invalid character '\\x1f' in string literal", 1, 4},
    {TEXT("\"\\x\""), "invalid character 'x' in string escape code", 1, 3},
    {TEXT("\"\\u12g4\""), "invalid character 'g' in \\u hexadecimal character escape", 1, 6},
    {TEXT("-x"), "invalid character 'x' in numeric literal", 1, 2},
    {TEXT("[-]"), "invalid character ']' in numeric literal", 1, 3},
    {TEXT("1.e"), "invalid character 'e' after decimal point in numeric literal", 1, 3},
    {TEXT("[1.]"), "invalid character ']' after decimal point in numeric literal", 1, 4},
    {TEXT("1e}"), "invalid character '}' in exponent of numeric literal", 1, 3},
    {TEXT("1e+-"), "invalid character '-' in exponent of numeric literal", 1, 4},
    {TEXT("txue"), "invalid character 'x' in literal true (expecting 'r')", 1, 2},
    {TEXT("[trux]"), "invalid character 'x' in literal true (expecting 'e')", 1, 5},
    {TEXT("fAlse"), "invalid character 'A' in literal false (expecting 'a')", 1, 2},
    {TEXT("nul}"), "invalid character '}' in literal null (expecting 'l')", 1, 4},
    {TEXT("\"\xFF\""), "invalid UTF-8 in string literal", 1, 2},
    {TEXT("\"a\xC0\x80\""), "invalid UTF-8 in string literal", 1, 3},
    {TEXT("\"\xED\xA0\x80\""), "invalid UTF-8 in string literal", 1, 2},
    {TEXT("\"\\n\xF4\x90\x80\x80\""), "invalid UTF-8 in string literal", 1, 4},
    {TEXT("\"\xE6\x9D\""), "invalid UTF-8 in string literal", 1, 2},
    {TEXT("\"\\ud800\""), "unpaired surrogate '\\ud800' in string literal", 1, 2},
    {TEXT("\"x\\uDC00y\""), "unpaired surrogate '\\uDC00' in string literal", 1, 3},
    {TEXT("\"\\ud800\\u0041\""), "unpaired surrogate '\\ud800' in string literal", 1, 2},
    {TEXT("\"\\ud800\\n1234\""), "unpaired surrogate '\\ud800' in string literal", 1, 2},
    {TEXT("1e400"), "cannot unmarshal number 1e400 into Go value of type float64", 1, 1},
    {TEXT("[0,-1E+309]"), "cannot unmarshal number -1E+309 into Go value of type float64", 1, 4},
    {TEXT("{\"a\":1,\"a\":2}"), "duplicate field \"a\"", 1, 8},
    {TEXT("{\"\":1,\"\":2}"), "duplicate field \"\"", 1, 7},
    {TEXT("{\"a\":1,\"\\u0061\":2}"), "duplicate field \"a\"", 1, 8},
    {TEXT("{\"a\\n\\\"\":1,\"a\\n\\\"\":2}"), "duplicate field \"a\\n\\\"\"", 1, 12},
    {TEXT("{\"spec\":{\"c\":[{},\n{\"n\":1,\"m\":2,\n\"n\":3}]}}"),
     "duplicate field \"spec.c[1].n\"", 3, 1},
    {TEXT("[[{\"a\":[{\"b\":1,\"b\":1}]}]]"), "duplicate field \"[0][0].a[0].b\"", 1, 16},
    /* columns count code points, lines end in \n */
    {TEXT("{\"\xC3\xBC\xE6\x9D\xB1\xF0\x9F\x98\x80\":x}"),
     "invalid character 'x' looking for beginning of value", 1, 8},
    {TEXT("[\r\n1,\n\n  \"\xC3\xBC\", x]"), "invalid character 'x' looking for beginning of value",
     4, 8},
    {TEXT("[\"0123456789\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC\",\"\n"),
     "invalid character '\\n' in string literal", 1, 21},
};

static void refuses(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(refused); i++) {
        struct arena a = {0};
        struct json v = {.kind = JSON_INT, .i = 42};
        struct err err = {0};
        struct str text = tight(refused[i].text);
        if (json_parse(&a, text, NULL, &v, &err) != -1)
            fail_msg("accepted: %s", refused[i].text.p);
        assert_string_equal(err.msg, refused[i].msg);
        if (err.line != refused[i].line || err.column != refused[i].column)
            fail_msg("%s: at %u:%u", refused[i].text.p, err.line, err.column);
        assert_int_equal(err.code, ERR_INVALID);
        assert_int_equal(v.i, 42);
        assert_int_equal(json_parse(&a, text, NULL, &v, NULL), -1);
        arena_release(&a);
        release(text);
    }
}

static void refuses_an_absent_text(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    struct err err;
    size_t used;
    assert_int_equal(json_parse(&a, (struct str){0}, NULL, &v, &err), -1);
    assert_string_equal(err.msg, "unexpected end of JSON input");
    assert_int_equal(json_parse_prefix(&a, (struct str){0}, false, NULL, &v, &used, &err), 0);
    arena_release(&a);
}

/* --- every prefix of a text --- */

static const struct str rich =
    STR_INIT("{\"a\":[1,-2.5e3,true,false,null,\"x\\u00e9\\ud83d\\ude00\\n\",{\"\":{}}],\n "
             "\"a key that is longer than sixteen bytes\": \"and \xE6\x9D\xB1 its value too\" , "
             "\"z\\t\":[[ ],{ }]}");

static void asks_for_more_at_every_cut(void **state) {
    (void)state;
    for (size_t n = 0; n < rich.n; n++) {
        struct arena a = {0};
        struct json v;
        struct err err;
        size_t used = 77;
        struct str text = tight(str_sub(rich, 0, n));
        assert_int_equal(json_parse_prefix(&a, text, false, NULL, &v, &used, &err), 0);
        assert_int_equal(json_parse_prefix(&a, text, true, NULL, &v, &used, &err), -1);
        assert_true(str_is(str_of(err.msg), "unexpected end of JSON input") ||
                    str_starts(str_of(err.msg), STR("invalid character ' ' in ")) ||
                    str_starts(str_of(err.msg), STR("invalid character ' ' after decimal")));
        struct err again;
        assert_int_equal(json_parse(&a, text, NULL, &v, &again), -1);
        assert_string_equal(err.msg, again.msg);
        arena_release(&a);
        release(text);
    }
}

static void takes_one_value_of_many(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    size_t used;
    assert_int_equal(json_parse_prefix(&a, STR(" {\"a\":1} x"), false, NULL, &v, &used, NULL), 1);
    assert_int_equal(used, 8);
    assert_int_equal(json_parse_prefix(&a, STR("12,"), false, NULL, &v, &used, NULL), 1);
    assert_int_equal(used, 2);
    assert_int_equal(json_parse_prefix(&a, STR("12"), false, NULL, &v, &used, NULL), 0);
    assert_int_equal(json_parse_prefix(&a, STR("12"), true, NULL, &v, &used, NULL), 1);
    assert_int_equal(v.i, 12);
    assert_int_equal(json_parse_prefix(&a, STR("0"), false, NULL, &v, &used, NULL), 0);
    assert_int_equal(json_parse_prefix(&a, STR("1.5"), false, NULL, &v, &used, NULL), 0);
    assert_int_equal(json_parse_prefix(&a, STR("1.5 "), false, NULL, &v, &used, NULL), 1);
    assert_int_equal(json_parse_prefix(&a, STR("true"), false, NULL, &v, &used, NULL), 1);
    assert_int_equal(json_parse_prefix(&a, STR("[1}"), false, NULL, &v, &used, NULL), -1);
    arena_release(&a);
}

/* --- limits --- */

static struct buf nested(size_t depth, const char *open, const char *middle, const char *close) {
    struct buf b = BUF_INIT(1 << 20);
    for (size_t i = 0; i < depth; i++)
        buf_add(&b, str_of(open));
    buf_add(&b, str_of(middle));
    for (size_t i = 0; i < depth; i++)
        buf_add(&b, str_of(close));
    return b;
}

static void limits_depth(void **state) {
    (void)state;
    static const char *const forms[][3] = {{"[", "", "]"}, {"{\"a\":", "0", "}"}};
    for (size_t i = 0; i < 2; i++) {
        struct arena a = {0};
        struct json v, copy;
        struct err err;
        struct buf ok = nested(LIMIT_JSON_DEPTH, forms[i][0], forms[i][1], forms[i][2]);
        struct buf deep = nested(LIMIT_JSON_DEPTH + 1, forms[i][0], forms[i][1], forms[i][2]);
        struct buf out = BUF_INIT(1 << 20);
        assert_int_equal(json_parse(&a, buf_view(&ok), NULL, &v, &err), 0);
        copy = json_clone(&a, &v);
        assert_true(json_equal(&v, &copy));
        json_write(&out, &copy, NULL);
        assert_true(str_eq(buf_view(&out), buf_view(&ok)));
        assert_int_equal(json_parse(&a, buf_view(&deep), NULL, &v, &err), -1);
        assert_string_equal(err.msg, i == 0 ? "invalid character '[' exceeded max depth"
                                            : "invalid character '{' exceeded max depth");
        struct json_opts deeper = {.max_depth = LIMIT_JSON_DEPTH + 1};
        assert_int_equal(json_parse(&a, buf_view(&deep), &deeper, &v, &err), 0);
        buf_release(&ok);
        buf_release(&deep);
        buf_release(&out);
        arena_release(&a);
    }
}

static void limits_size(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    struct err err;
    size_t used;
    struct buf b = BUF_INIT(LIMIT_OBJECT_BYTES + 16);
    buf_add_char(&b, '"');
    buf_add_fill(&b, 'x', LIMIT_OBJECT_BYTES - 2);
    buf_add_char(&b, '"');
    assert_int_equal(json_parse(&a, buf_view(&b), NULL, &v, &err), 0);
    assert_int_equal(v.n, LIMIT_OBJECT_BYTES - 2);
    buf_add_char(&b, ' ');
    assert_int_equal(json_parse(&a, buf_view(&b), NULL, &v, &err), -1);
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_string_equal(err.msg, "value is larger than 3145728 bytes");
    struct json_opts opts = {.max_bytes = LIMIT_OBJECT_BYTES + 1};
    assert_int_equal(json_parse(&a, buf_view(&b), &opts, &v, &err), 0);

    /* a prefix may be followed by any number of bytes; the value itself is measured */
    opts.max_bytes = 5;
    assert_int_equal(json_parse_prefix(&a, STR("[1,2] [3]"), false, &opts, &v, &used, &err), 1);
    assert_int_equal(used, 5);
    assert_int_equal(json_parse_prefix(&a, STR("[1,20]"), true, &opts, &v, &used, &err), -1);
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_int_equal(json_parse_prefix(&a, STR("123456"), true, &opts, &v, &used, &err), -1);
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_int_equal(json_parse_prefix(&a, STR("[1,2"), false, &opts, &v, &used, &err), 0);
    buf_release(&b);
    arena_release(&a);
}

/* --- repeated keys --- */

static void allows_duplicates_when_told(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    struct json_opts opts = {.allow_duplicates = true};
    assert_int_equal(json_parse(&a, STR("{\"a\":1,\"b\":2,\"a\":3}"), &opts, &v, NULL), 0);
    assert_int_equal(v.n, 3);
    assert_int_equal(json_get(&v, STR("a"))->i, 3);
    assert_null(json_get(&v, STR("c")));
    assert_null(json_get(&v.members[0].value, STR("a")));
    assert_null(json_get(NULL, STR("a")));
    arena_release(&a);
}

/* {"key0":0,…}; the last key repeats number `again` of them, unless that is n - 1 itself. */
static struct buf many_keys(unsigned n, unsigned again, bool escaped) {
    struct buf b = BUF_INIT(64 << 20);
    for (unsigned i = 0; i < n; i++)
        buf_addf(&b, "%c\"%skey-%u\":%u", i ? ',' : '{', escaped ? "\\u0041" : "A",
                 i == n - 1 ? again : i, i);
    buf_add_char(&b, '}');
    return b;
}

static void check_many_keys(unsigned n, unsigned again, bool escaped) {
    struct arena a = {0};
    struct json v;
    struct err err;
    char want[64];
    struct buf distinct = many_keys(n, n - 1, escaped), twice = many_keys(n, again, escaped);
    assert_int_equal(json_parse(&a, buf_view(&distinct), NULL, &v, &err), 0);
    assert_int_equal(v.n, n);
    assert_int_equal(json_parse(&a, buf_view(&twice), NULL, &v, &err), -1);
    snprintf(want, sizeof want, "duplicate field \"Akey-%u\"", again);
    assert_string_equal(err.msg, want);
    const char *last = memrchr(twice.p, ',', twice.n);
    assert_int_equal(err.column, last + 1 - twice.p + 1);
    buf_release(&distinct);
    buf_release(&twice);
    arena_release(&a);
}

static void finds_repeated_keys_in_objects_of_any_size(void **state) {
    (void)state;
    static const unsigned sizes[] = {2, 5, 47, 48, 49, 50, 200, 100000};
    for (size_t i = 0; i < ROWS(sizes); i++) {
        check_many_keys(sizes[i], 0, false);
        check_many_keys(sizes[i], sizes[i] / 2 - 1, true);
        check_many_keys(sizes[i], sizes[i] - 2, false);
    }
}

/* Keys that share length and outer bytes pass the filter for small objects; they are compared. */
static void tells_similar_keys_apart(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    assert_int_equal(
        json_parse(&a, STR("{\"abXcd\":1,\"aXbcd\":2,\"acbXd\":3,\"aYbcd\":4}"), NULL, &v, NULL),
        0);
    assert_int_equal(v.n, 4);
    arena_release(&a);
}

/* --- wide texts outgrow the first slots --- */

static void parses_wide_arrays(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    struct buf b = BUF_INIT(1 << 20);
    for (int i = 0; i < 5000; i++)
        buf_addf(&b, "%c[%d,{\"k\":%d}]", i ? ',' : '[', i, -i);
    buf_add_char(&b, ']');
    assert_int_equal(json_parse(&a, buf_view(&b), NULL, &v, NULL), 0);
    assert_int_equal(v.n, 5000);
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(v.items[i].items[0].i, i);
        assert_int_equal(json_get(&v.items[i].items[1], STR("k"))->i, -i);
    }
    buf_release(&b);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts),
        cmocka_unit_test(tells_kinds_apart),
        cmocka_unit_test(keeps_float_literals),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_an_absent_text),
        cmocka_unit_test(asks_for_more_at_every_cut),
        cmocka_unit_test(takes_one_value_of_many),
        cmocka_unit_test(limits_depth),
        cmocka_unit_test(limits_size),
        cmocka_unit_test(allows_duplicates_when_told),
        cmocka_unit_test(finds_repeated_keys_in_objects_of_any_size),
        cmocka_unit_test(tells_similar_keys_apart),
        cmocka_unit_test(parses_wide_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
