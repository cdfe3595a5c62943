#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/json.h"

#define ROWS(table) (sizeof(table) / sizeof *(table))

#define TEXT(lit) \
    { lit, sizeof(lit) - 1 }

static void assert_text(struct buf *b, const char *want) {
    assert_false(b->full);
    buf_add_char(b, '\0');
    assert_string_equal(b->p, want);
    buf_release(b);
}

/* --- strings --- */

static const struct {
    struct str text;
    const char *escaped, *raw; /* raw: NULL = the same */
} strings[] = {
    {{NULL, 0}, "\"\"", NULL},
    {TEXT(""), "\"\"", NULL},
    {TEXT("plain"), "\"plain\"", NULL},
    {TEXT("quote \" backslash \\ slash /"), "\"quote \\\" backslash \\\\ slash /\"", NULL},
    {TEXT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"", NULL},
    {TEXT("\0\x01\x0B\x1F\x7F"), "\"\\u0000\\u0001\\u000b\\u001f\x7F\"", NULL},
    {TEXT("a<b>&c"), "\"a\\u003cb\\u003e\\u0026c\"", "\"a<b>&c\""},
    {TEXT("\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA"), "\"\\u2028\\u2029\xE2\x80\xAA\"", NULL},
    {TEXT("bad \xFF\xC3 end\xE2\x80"), "\"bad \\ufffd\\ufffd end\\ufffd\\ufffd\"", NULL},
    {TEXT("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"", NULL},
    {TEXT("Z\xC3\xBCrich \xF0\x9F\x98\x80"), "\"Z\xC3\xBCrich \xF0\x9F\x98\x80\"", NULL},
    {TEXT("1234567"), "\"1234567\"", NULL},
    {TEXT("12345678"), "\"12345678\"", NULL},
    {TEXT("1234567890abcde"), "\"1234567890abcde\"", NULL},
    {TEXT("1234567890abcd<"), "\"1234567890abcd\\u003c\"", "\"1234567890abcd<\""},
    {TEXT("1234567890abcdef"), "\"1234567890abcdef\"", NULL},
    {TEXT("1234567890abcdef\n1234567890abcdef\""), "\"1234567890abcdef\\n1234567890abcdef\\\"\"",
     NULL},
};

static void writes_strings(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(strings); i++) {
        struct buf b = BUF_INIT(4096);
        json_write_str(&b, strings[i].text, false);
        assert_text(&b, strings[i].escaped);
        json_write_str(&b, strings[i].text, true);
        assert_text(&b, strings[i].raw ? strings[i].raw : strings[i].escaped);
    }
}

/* Every byte at every place of strings of every small length: escaped where Go would. */
static void escapes_every_byte_in_every_place(void **state) {
    (void)state;
    char text[40];
    for (size_t n = 1; n < sizeof text; n++) {
        for (int c = 0; c < 128; c++) {
            size_t at = ((size_t)c * 7 + n) % n;
            bool html = c == '<' || c == '>' || c == '&';
            memset(text, 'x', n);
            text[at] = (char)c;
            struct buf b = BUF_INIT(4096), raw = BUF_INIT(4096);
            json_write_str(&b, (struct str){text, n}, false);
            json_write_str(&raw, (struct str){text, n}, true);
            bool escaped = c < 0x20 || c == '"' || c == '\\';
            assert_true((b.n > n + 2) == (escaped || html));
            assert_true((raw.n > n + 2) == escaped);
            assert_int_equal(b.p[1 + at], escaped || html ? '\\' : c);
            buf_release(&b);
            buf_release(&raw);
        }
    }
}

/* --- numbers: what Go 1.26 prints --- */

static const struct {
    double value;
    const char *text;
} doubles[] = {
    {0, "0"},
    {-0.0, "-0"},
    {1, "1"},
    {-1, "-1"},
    {0.1, "0.1"},
    {0.5, "0.5"},
    {-2.5, "-2.5"},
    {100, "100"},
    {123456789.125, "123456789.125"},
    {1e15, "1000000000000000"},
    {9007199254740991, "9007199254740991"},
    {9007199254740992, "9007199254740992"},
    {1e20, "100000000000000000000"},
    {123456789012345678901.0, "123456789012345680000"},
    {999999999999999900000.0, "999999999999999900000"},
    {1e21, "1e+21"},
    {1.5e21, "1.5e+21"},
    {1e22, "1e+22"},
    {1e23, "1e+23"},
    {1e100, "1e+100"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {0.000001, "0.000001"},
    {0.0000012345, "0.0000012345"},
    {0.00000099, "9.9e-7"},
    {1e-7, "1e-7"},
    {1e-10, "1e-10"},
    {1.25e-9, "1.25e-9"},
    {2.2250738585072014e-308, "2.2250738585072014e-308"},
    {2.225073858507201e-308, "2.225073858507201e-308"},
    {5e-324, "5e-324"},
    {1e-323, "1e-323"},
    {0.1 + 0.2, "0.30000000000000004"},
    {1.0 / 3, "0.3333333333333333"},
    {2.0 / 3, "0.6666666666666666"},
    {4.35, "4.35"},
    {0x1p-44, "5.684341886080802e-14"},
    {0x1p-1022, "2.2250738585072014e-308"},
    {0x1p60, "1152921504606847000"},
    {0x1p89, "6.189700196426902e+26"},
    {8.41e21, "8.41e+21"},
    {9.5367431640625e-7, "9.5367431640625e-7"},
};

static void writes_doubles(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(doubles); i++) {
        struct buf b = BUF_INIT(64);
        json_write_double(&b, doubles[i].value);
        assert_text(&b, doubles[i].text);
    }
}

static void makes_floats(void **state) {
    (void)state;
    struct arena a = {0};
    for (size_t i = 0; i < ROWS(doubles); i++) {
        struct json v = json_of_double(&a, doubles[i].value);
        struct buf b = BUF_INIT(64);
        assert_int_equal(v.kind, JSON_FLOAT);
        assert_true(json_double(&v) == doubles[i].value);
        json_write(&b, &v, NULL);
        assert_text(&b, doubles[i].text);
    }
    arena_release(&a);
}

/* Literals are printed as the float64 that they denote. */
static const struct {
    const char *literal, *text;
} literals[] = {
    {"0.5", "0.5"},
    {"-12.25", "-12.25"},
    {"0.50", "0.5"},
    {"1.0", "1"},
    {"1e2", "100"},
    {"1.5e1", "15"},
    {"1.5E1", "15"},
    {"0.00001", "0.00001"},
    {"0.000001", "0.000001"},
    {"0.0000001", "1e-7"},
    {"10.000001", "10.000001"},
    {"0.1234567890123456789", "0.12345678901234568"},
    {"123456789012345.6", "123456789012345.6"},
    {"0.100000000000000005551115123125782702118158340454101562500000000000000000000000000000",
     "0.1"},
};

static void writes_literals(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(literals); i++) {
        struct arena a = {0};
        struct json v;
        struct buf b = BUF_INIT(64);
        assert_int_equal(json_parse(&a, str_of(literals[i].literal), NULL, &v, NULL), 0);
        assert_int_equal(v.kind, JSON_FLOAT);
        json_write(&b, &v, NULL);
        assert_text(&b, literals[i].text);
        arena_release(&a);
    }
}

static void reads_numbers_as_doubles(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    assert_int_equal(json_parse(&a, STR("[-7,18446744073709551615,2.5,\"1\"]"), NULL, &v, NULL), 0);
    assert_true(json_double(&v.items[0]) == -7);
    assert_true(json_double(&v.items[1]) == 18446744073709551615.0);
    assert_true(json_double(&v.items[2]) == 2.5);
    assert_true(json_double(&v.items[3]) == 0);
    arena_release(&a);
}

/* --- styles --- */

static const struct {
    const char *text;
    struct json_style style;
    const char *written;
} styles[] = {
    {"[]", {.indent = 2}, "[]"},
    {"{}", {.indent = 2}, "{}"},
    {"1", {.indent = 2}, "1"},
    {"[1,[],{}]", {.indent = 2}, "[\n  1,\n  [],\n  {}\n]"},
    {"{\"a\":{\"b\":[1,2]},\"c\":null}",
     {.indent = 4},
     "{\n    \"a\": {\n        \"b\": [\n            1,\n            2\n        ]\n    },\n    "
     "\"c\": null\n}"},
    {"{\"b\":1,\"a\":{\"z\":1,\"y\":2},\"B\":3,\"\":4,\"aa\":5}",
     {.sort_keys = true},
     "{\"\":4,\"B\":3,\"a\":{\"y\":2,\"z\":1},\"aa\":5,\"b\":1}"},
    {"{\"a\":1,\"b\":{\"d\":1,\"c\":[{\"f\":1,\"e\":2}]},\"c\":3}",
     {.sort_keys = true},
     "{\"a\":1,\"b\":{\"c\":[{\"e\":2,\"f\":1}],\"d\":1},\"c\":3}"},
    {"{\"<\":\"&\"}", {.raw_html = true}, "{\"<\":\"&\"}"},
    {"[1.50,-0.0]", {.literals = true}, "[1.50,-0.0]"},
    {"{\"<\":\"&\"}", {0}, "{\"\\u003c\":\"\\u0026\"}"},
    {"[true,false,null,-5,18446744073709551615]", {0}, "[true,false,null,-5,18446744073709551615]"},
};

static void writes_styles(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(styles); i++) {
        struct arena a = {0};
        struct json v;
        struct buf b = BUF_INIT(4096);
        assert_int_equal(json_parse(&a, str_of(styles[i].text), NULL, &v, NULL), 0);
        json_write(&b, &v, &styles[i].style);
        assert_text(&b, styles[i].written);
        arena_release(&a);
    }
}

static void writes_deep_trees(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v = {.kind = JSON_ARRAY};
    enum { DEEP = 100000 };
    for (int i = 1; i < DEEP; i++) {
        struct json outer = {.kind = JSON_ARRAY};
        json_append(&a, &outer, v);
        v = outer;
    }
    struct buf b = BUF_INIT(1 << 20);
    json_write(&b, &v, NULL);
    assert_int_equal(b.n, 2 * DEEP);
    struct json copy = json_clone(&a, &v);
    assert_true(json_equal(&copy, &v));
    buf_release(&b);
    arena_release(&a);
}

/* --- buffers: all or nothing --- */

static void respects_the_maximum(void **state) {
    (void)state;
    static const char *const texts[] = {"[\"a<b\",1,{\"k\":0.25}]", "\"0123456789abcdefg\"", "12",
                                        "[[],{},null,true,1e30]"};
    for (size_t i = 0; i < ROWS(texts); i++) {
        struct arena a = {0};
        struct json v;
        struct buf whole = BUF_INIT(4096);
        assert_int_equal(json_parse(&a, str_of(texts[i]), NULL, &v, NULL), 0);
        json_write(&whole, &v, NULL);
        for (size_t max = 0; max <= whole.n + 70; max++) {
            struct buf b = BUF_INIT(max + 3);
            buf_add(&b, STR("xyz"));
            json_write(&b, &v, NULL);
            assert_true(b.cap <= b.max);
            assert_int_equal(b.full, max < whole.n);
            assert_int_equal(b.n, 3 + (max < whole.n ? 0 : whole.n));
            assert_memory_equal(b.p, "xyz", 3);
            if (!b.full)
                assert_memory_equal(b.p + 3, whole.p, whole.n);
            buf_release(&b);
        }
        buf_release(&whole);
        arena_release(&a);
    }
}

static void drops_a_string_that_does_not_fit(void **state) {
    (void)state;
    struct buf b = BUF_INIT(7);
    json_write_str(&b, STR("12345"), false);
    assert_false(b.full);
    json_write_str(&b, STR(""), false);
    assert_true(b.full);
    assert_int_equal(b.n, 7);
    buf_release(&b);

    struct buf one = BUF_INIT(100);
    char controls[200] = {0};
    json_write_str(&one, (struct str){controls, sizeof controls}, false);
    assert_true(one.full);
    assert_int_equal(one.n, 0);
    buf_release(&one);
}

/* --- building, copying, comparing --- */

static void builds_trees(void **state) {
    (void)state;
    struct arena a = {0};
    struct json pod = {.kind = JSON_OBJECT}, list = {.kind = JSON_ARRAY};
    json_add(&a, &pod, STR("name"), json_of_str(STR("web")));
    json_add(&a, &pod, STR("ready"), json_of_bool(true));
    struct json *n = json_add(&a, &pod, STR("n"), json_of_i64(1));
    n->i = 2;
    for (int i = 0; i < 40; i++)
        json_append(&a, &list, json_of_i64(i));
    assert_int_equal(list.n, 40);
    for (int i = 0; i < 40; i++)
        assert_int_equal(list.items[i].i, i);
    list.n = 6;
    json_add(&a, &pod, STR("list"), list);
    json_add(&a, &pod, STR("half"), json_of_double(&a, 0.5));
    struct buf b = BUF_INIT(4096);
    json_write(&b, &pod, NULL);
    assert_text(&b, "{\"name\":\"web\",\"ready\":true,\"n\":2,\"list\":[0,1,2,3,4,5],"
                    "\"half\":0.5}");
    arena_release(&a);
}

static void clones_share_nothing(void **state) {
    (void)state;
    char text[] = "{\"a\":[\"x\",\"\",1.5,{},[],{\"b\":\"y\\n\"}],\"\":null}";
    struct arena a = {0}, other = {0};
    struct json v, copy;
    assert_int_equal(json_parse(&a, str_of(text), NULL, &v, NULL), 0);
    copy = json_clone(&other, &v);
    assert_true(json_equal(&v, &copy));
    memset(text, '?', sizeof text - 1);
    arena_release(&a);
    assert_non_null(copy.members[0].value.items[1].s);
    struct buf b = BUF_INIT(4096);
    json_write(&b, &copy, NULL);
    assert_text(&b, "{\"a\":[\"x\",\"\",1.5,{},[],{\"b\":\"y\\n\"}],\"\":null}");
    arena_release(&other);
}

static const struct {
    const char *a, *b;
    bool equal;
} pairs[] = {
    {"null", "null", true},
    {"null", "false", false},
    {"true", "true", true},
    {"true", "false", false},
    {"1", "1", true},
    {"1", "2", false},
    {"1", "1.0", false},
    {"1.0", "1.00", true},
    {"1.5", "1.25", false},
    {"18446744073709551615", "18446744073709551615", true},
    {"18446744073709551615", "18446744073709551614", false},
    {"\"a\"", "\"\\u0061\"", true},
    {"\"a\"", "\"ab\"", false},
    {"[1,2]", "[1,2]", true},
    {"[1,2]", "[2,1]", false},
    {"[1]", "[1,1]", false},
    {"[]", "{}", false},
    {"{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true},
    {"{\"a\":1,\"b\":[2]}", "{\"b\":[3],\"a\":1}", false},
    {"{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false},
    {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
    {"{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":2,\"a\":1,\"a\":3}", true},
    {"{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":2,\"a\":3,\"a\":1}", false},
};

static void compares(void **state) {
    (void)state;
    struct json_opts opts = {.allow_duplicates = true};
    for (size_t i = 0; i < ROWS(pairs); i++) {
        struct arena arena = {0};
        struct json a, b;
        assert_int_equal(json_parse(&arena, str_of(pairs[i].a), &opts, &a, NULL), 0);
        assert_int_equal(json_parse(&arena, str_of(pairs[i].b), &opts, &b, NULL), 0);
        if (json_equal(&a, &b) != pairs[i].equal || json_equal(&b, &a) != pairs[i].equal)
            fail_msg("%s and %s", pairs[i].a, pairs[i].b);
        arena_release(&arena);
    }
}

/* Also of what is equal, only that is the same which is written in the same way. */
static void knows_the_same_again(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
        size_t bytes;
    } rows[] = {
        {"1", "1", true, 0},
        {"1.0", "1.00", false, 0},
        {"1.50", "1.50", true, 4},
        {"\"a\"", "\"\\u0061\"", true, 1},
        {"null", "false", false, 0},
        {"[1,\"ab\"]", "[1,\"ab\"]", true, 2 * sizeof(struct json) + 2},
        {"[1]", "[1,1]", false, 0},
        {"{\"a\":[2]}", "{\"a\":[3]}", false, 0},
        {"{\"a\":1,\"b\":true}", "{\"a\":1,\"b\":true}", true, 2 * sizeof(struct json_member) + 2},
        {"{\"a\":1,\"b\":true}", "{\"b\":true,\"a\":1}", false, 0},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct arena arena = {0};
        struct json a, b;
        size_t bytes = 7;
        assert_int_equal(json_parse(&arena, str_of(rows[i].a), NULL, &a, NULL), 0);
        assert_int_equal(json_parse(&arena, str_of(rows[i].b), NULL, &b, NULL), 0);
        if (json_same(&a, &b, &bytes) != rows[i].same || bytes != rows[i].bytes + 7)
            fail_msg("%s and %s: %zu", rows[i].a, rows[i].b, bytes);
        arena_release(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_strings),
        cmocka_unit_test(escapes_every_byte_in_every_place),
        cmocka_unit_test(writes_doubles),
        cmocka_unit_test(makes_floats),
        cmocka_unit_test(writes_literals),
        cmocka_unit_test(reads_numbers_as_doubles),
        cmocka_unit_test(writes_styles),
        cmocka_unit_test(writes_deep_trees),
        cmocka_unit_test(respects_the_maximum),
        cmocka_unit_test(drops_a_string_that_does_not_fit),
        cmocka_unit_test(builds_trees),
        cmocka_unit_test(clones_share_nothing),
        cmocka_unit_test(compares),
        cmocka_unit_test(knows_the_same_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
