// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "cases.h"
#include "codec/yml.h"

static const struct json_style sorted = {.sort_keys = true};

/* What yml_parse makes of text: JSON, or "error line:column: message". */
static struct str read_as_text(struct arena *a, struct str text) {
    struct json v;
    struct err err = {0};
    if (yml_parse(a, text, &v, &err) < 0)
        return arena_printf(a, "error %u:%u: %s", err.line, err.column, err.msg);
    AUTO(buf_release) struct buf out = BUF_INIT(64 << 20);
    json_write(&out, &v, &sorted);
    return arena_str(a, buf_view(&out));
}

static void check(struct str text, const char *want) {
    struct arena a = {0};
    struct str got = read_as_text(&a, text);
    if (!str_is(got, want))
        fail_msg("%.*s\n  gives %.*s\n  not   %s", STR_ARG(text), STR_ARG(got), want);
    arena_release(&a);
}

#define CHECK(literal, want) check(STR(literal), want)

static void file_of_documents(void **state) {
    (void)state;
    struct arena a = {0};
    struct str rest = cases_file(&a, "test/yaml/read.test");
    struct test_case c;
    size_t count = 0;
    for (; cases_next(&rest, &c); count++) {
        struct str got = read_as_text(&a, c.input), want = str_trim(c.expected);
        if (!str_eq(got, want))
            fail_msg("case %.*s:\n%.*s  gives %.*s\n  not   %.*s", STR_ARG(c.name),
                     STR_ARG(c.input), STR_ARG(got), STR_ARG(want));
    }
    assert_true(count > 200);
    arena_release(&a);
}

static struct str field(struct str *line) {
    struct str f;
    str_cut(*line, '|', &f, line);
    return f;
}

static void file_of_scalars(void **state) {
    (void)state;
    struct arena a = {0};
    struct str rest = cases_file(&a, "test/yaml/scalars.test"), line;
    size_t count = 0;
    for (str_cut(rest, '\n', &line, &rest); rest.n; count++) {
        str_cut(rest, '\n', &line, &rest);
        struct str text = field(&line), value = field(&line), key = field(&line);
        struct str as_value = read_as_text(&a, arena_printf(&a, "- %.*s\n", STR_ARG(text)));
        struct str as_key = read_as_text(&a, arena_printf(&a, "? %.*s\n: v\n", STR_ARG(text)));
        struct str want_value = arena_printf(&a, "[%.*s]", STR_ARG(value));
        struct str want_key = arena_printf(&a, "{%.*s:\"v\"}", STR_ARG(key));
        if (str_is(value, "!") ? !str_starts(as_value, STR("error 1:3: "))
                               : !str_eq(as_value, want_value))
            fail_msg("'%.*s' reads as %.*s", STR_ARG(text), STR_ARG(as_value));
        if (str_is(key, "!") ? !str_starts(as_key, STR("error ")) : !str_eq(as_key, want_key))
            fail_msg("'%.*s' as a key reads as %.*s", STR_ARG(text), STR_ARG(as_key));
    }
    assert_true(count > 150);
    arena_release(&a);
}

static void numbers_have_kinds(void **state) {
    (void)state;
    static const struct {
        struct str text;
        enum json_kind kind;
    } rows[] = {
        {STR_INIT("1"), JSON_INT},
        {STR_INIT("0o17"), JSON_INT},
        {STR_INIT("1e3"), JSON_INT},
        {STR_INIT("-0.0"), JSON_INT},
        {STR_INIT("9223372036854775808"), JSON_UINT},
        {STR_INIT("1e19"), JSON_UINT},
        {STR_INIT("1e20"), JSON_FLOAT},
        {STR_INIT("18446744073709551616"), JSON_FLOAT},
        {STR_INIT("0.5"), JSON_FLOAT},
        {STR_INIT("1e400"), JSON_STRING},
        {STR_INIT("2001-01-01"), JSON_STRING},
        {STR_INIT("n"), JSON_BOOL},
        {STR_INIT(""), JSON_NULL},
    };
    struct arena a = {0};
    struct json v;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(yml_parse(&a, rows[i].text, &v, NULL), 0);
        assert_int_equal(v.kind, rows[i].kind);
    }
    arena_release(&a);
}

static void encodings(void **state) {
    (void)state;
    CHECK("\xEF\xBB\xBF"
          "a: 1\nb: 2\n",
          "{\"a\":1,\"b\":2}");
    CHECK("\xEF\xBB\xBF", "null");
    CHECK("\xFF\xFE"
          "a\0",
          "error 1:1: invalid leading UTF-8 octet");
    CHECK("a: b\n\xC3\xA9: \xFF", "error 2:4: invalid leading UTF-8 octet");
    CHECK("a: \xC3", "error 1:4: incomplete UTF-8 octet sequence");
    CHECK("a: \xE2\x28\xA1", "error 1:4: invalid trailing UTF-8 octet");
    CHECK("a: \xED\xA0\x80", "error 1:4: invalid UTF-8 sequence");
    CHECK("a: \xC0\x80", "error 1:4: invalid UTF-8 sequence");
    CHECK("a: \xF8\x88\x80\x80\x80", "error 1:4: invalid leading UTF-8 octet");
    CHECK("a: b\0c", "error 1:5: control characters are not allowed");
    CHECK("a:\n  \x01", "error 2:3: control characters are not allowed");
    CHECK("a: \x7F", "error 1:4: control characters are not allowed");
    CHECK("a: \xC2\x80", "error 1:4: control characters are not allowed");
    CHECK("a: \xEF\xBF\xBE", "error 1:4: control characters are not allowed");
    CHECK("a: \"\\0\\x01\\u2028\"", "{\"a\":\"\\u0000\\u0001\\u2028\"}");
    CHECK("a: \xF0\x9F\x98\x80\r\nb: \xE6\x97\xA5\r\n",
          "{\"a\":\"\xF0\x9F\x98\x80\",\"b\":\"\xE6\x97\xA5\"}");
    CHECK("a: !!binary /w==", "{\"a\":\"\xEF\xBF\xBD\"}");
    CHECK("!!binary aGk=: 1", "{\"hi\":1}");
    CHECK("!!binary '*': 1", "error 1:1: !!binary value contains invalid base64 data");
    CHECK("a: .inf", "error 1:4: json: unsupported value: +Inf");
    CHECK("a: -.inf", "error 1:4: json: unsupported value: -Inf");
    CHECK("a: .nan", "error 1:4: json: unsupported value: NaN");
    CHECK("x: &i .inf\n", "error 1:4: json: unsupported value: +Inf");
    CHECK("? &i .inf\n: *i\n", "error 2:3: json: unsupported value: +Inf");
    CHECK("&i .inf: 1\n", "{\".inf\":1}");
}

static void blanks_at_line_ends(void **state) {
    (void)state;
    CHECK("a: |-\n  s\n  \n  t\n", "{\"a\":\"s\\n\\nt\"}");
    CHECK("a: |\n  s \t\n   \nb: x  \n", "{\"a\":\"s \\t\\n \\n\",\"b\":\"x\"}");
    CHECK("a:\n  b:\n    c: d\n   \n  e: f\n", "{\"a\":{\"b\":{\"c\":\"d\"},\"e\":\"f\"}}");
    CHECK("a: \nb: \t\n", "{\"a\":null,\"b\":null}");
}

static void bad_bytes_beyond_the_first_chunk(void **state) {
    (void)state;
    struct arena a = {0};
    /* 16384 bytes are read at a time: a character may lie across that. */
    for (size_t before = 16380; before < 16390; before++) {
        char *p = arena_alloc(&a, before + 8);
        memset(p, 'x', before);
        p[0] = '#';
        memcpy(p + before, "\xF0\x9F\x98\x80\n\x01", 6);
        struct str got = read_as_text(&a, (struct str){p, before + 6});
        assert_string_equal(got.p, "error 2:1: control characters are not allowed");
        p[before + 1] = 'x';
        got = read_as_text(&a, (struct str){p, before + 6});
        struct str want = arena_printf(&a, "error 1:%zu: invalid trailing UTF-8 octet", before + 1);
        assert_string_equal(got.p, want.p);
    }
    arena_release(&a);
}

static void many_keys(void **state) {
    (void)state;
    struct arena a = {0};
    struct buf text = BUF_INIT(1 << 20);
    struct json v;
    struct err err;
    buf_add(&text, STR("<<: {k7: 0, other: 1}\n"));
    for (int i = 0; i < 5000; i++)
        buf_addf(&text, "k%d: %d\n", i, i);
    assert_int_equal(yml_parse(&a, buf_view(&text), &v, NULL), 0);
    assert_int_equal(v.n, 5001);
    assert_int_equal(json_get(&v, STR("k7"))->i, 7);
    assert_int_equal(json_get(&v, STR("k4999"))->i, 4999);
    buf_add(&text, STR("k4321: x\n"));
    assert_int_equal(yml_parse(&a, buf_view(&text), &v, &err), -1);
    assert_string_equal(err.msg, "key \"k4321\" already set in map");
    assert_int_equal(err.line, 5002);
    buf_release(&text);
    arena_release(&a);
}

/* `times` times `open`, then `middle`, then `times` times `close`. */
static struct str nested(struct arena *a, const char *open, const char *middle, const char *close,
                         int times) {
    struct buf b = BUF_INIT(4 << 20);
    for (int i = 0; i < times; i++)
        buf_add(&b, str_of(open));
    buf_add(&b, str_of(middle));
    for (int i = 0; i < times; i++)
        buf_add(&b, str_of(close));
    struct str text = arena_str(a, buf_view(&b));
    buf_release(&b);
    return text;
}

static void depth_is_limited(void **state) {
    (void)state;
    static const char *const shapes[][2] = {{"[", "]"}, {"{a: ", "}"}, {"- ", ""}, {"? ", ""}};
    struct arena a = {0};
    struct json v;
    struct err err;
    for (size_t i = 0; i < 3; i++) {
        const char *open = shapes[i][0], *close = shapes[i][1];
        struct str good = nested(&a, open, "x", close, LIMIT_YAML_DEPTH);
        assert_int_equal(yml_parse(&a, good, &v, NULL), 0);
        struct str bad = nested(&a, open, "x", close, LIMIT_YAML_DEPTH + 1);
        assert_int_equal(yml_parse(&a, bad, &v, &err), -1);
        assert_string_equal(err.msg, "exceeded max depth of 128");
    }
    clock_t start = clock();
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(yml_parse(&a, nested(&a, shapes[i][0], "", "", 200000), &v, NULL), -1);
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
    arena_release(&a);
}

static void depth_counts_aliases(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    struct err err;
    struct str deep = nested(&a, "[", "x", "]", 70);
    struct str fits = arena_printf(&a, "a: &a %.*s\nb: %.*s\n", STR_ARG(deep),
                                   STR_ARG(nested(&a, "[", "*a", "]", 57)));
    assert_int_equal(yml_parse(&a, fits, &v, NULL), 0);
    struct str deeper = arena_printf(&a, "a: &a %.*s\nb: %.*s\n", STR_ARG(deep),
                                     STR_ARG(nested(&a, "[", "*a", "]", 58)));
    assert_int_equal(yml_parse(&a, deeper, &v, &err), -1);
    assert_string_equal(err.msg, "exceeded max depth of 128");
    arena_release(&a);
}

/* Lists of `width` aliases of the list before, `levels` times. */
static struct str laughs(struct arena *a, int width, int levels) {
    struct buf b = BUF_INIT(1 << 20);
    buf_add(&b, STR("a0: &a0 [x]\n"));
    for (int level = 1; level <= levels; level++) {
        buf_addf(&b, "a%d: &a%d [", level, level);
        for (int i = 0; i < width; i++)
            buf_addf(&b, "*a%d,", level - 1);
        buf_add(&b, STR("]\n"));
    }
    struct str text = arena_str(a, buf_view(&b));
    buf_release(&b);
    return text;
}

static void aliasing_is_limited(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    struct err err;
    assert_int_equal(yml_parse(&a, laughs(&a, 9, 3), &v, NULL), 0);
    assert_int_equal(yml_parse(&a, laughs(&a, 9, 9), &v, &err), -1);
    assert_string_equal(err.msg, "document contains excessive aliasing");
    /* go-yaml's rule: more than 99 % of more than 1000 nodes */
    assert_int_equal(yml_parse(&a, laughs(&a, 100, 2), &v, &err), -1);
    assert_string_equal(err.msg, "document contains excessive aliasing");
    /* and ours: so many nodes, however large the document is */
    struct buf b = BUF_INIT(4 << 20);
    buf_add(&b, STR("a: &a [0,1,2,3,4,5,6,7,8,9]\nb:\n"));
    for (int i = 0; i < LIMIT_YAML_ALIAS_NODES / 11; i++)
        buf_add(&b, STR("- [*a]\n"));
    assert_int_equal(yml_parse(&a, buf_view(&b), &v, NULL), 0);
    buf_add(&b, STR("- *a\n"));
    assert_int_equal(yml_parse(&a, buf_view(&b), &v, &err), -1);
    assert_string_equal(err.msg, "document contains excessive aliasing");
    assert_int_equal(err.column, 3);
    buf_release(&b);
    arena_release(&a);
}

static void aliases_share(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    struct str text = STR("a: &a {x: [1]}\nb: *a\nc: *a\n");
    assert_int_equal(yml_parse(&a, text, &v, NULL), 0);
    assert_ptr_equal(json_get(&v, STR("a"))->members, json_get(&v, STR("c"))->members);
    arena_release(&a);
}

static void size_is_limited(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    struct err err;
    char *p = arena_alloc(&a, LIMIT_OBJECT_BYTES + 1);
    memset(p, 'x', LIMIT_OBJECT_BYTES + 1);
    assert_int_equal(yml_parse(&a, (struct str){p, LIMIT_OBJECT_BYTES - 1}, &v, NULL), 0);
    assert_int_equal(yml_parse(&a, (struct str){p, LIMIT_OBJECT_BYTES + 1}, &v, &err), -1);
    assert_int_equal(err.code, ERR_TOO_LARGE);
    /* a few aliases of a large string pass the limit, too */
    memcpy(p, "a: &a ", 6);
    static const char tail[] = "\nb: [*a,*a]\n";
    memcpy(p + (2U << 20), tail, sizeof tail - 1);
    assert_int_equal(yml_parse(&a, (struct str){p, (2U << 20) + sizeof tail - 1}, &v, &err), -1);
    assert_string_equal(err.msg, "value is larger than 3145728 bytes");
    assert_int_equal(err.line, 2);
    arena_release(&a);
}

/* What stands across the end of what is read at a time is read as anywhere else. */
static void tokens_across_chunks(void **state) {
    (void)state;
    static const struct str text = STR_INIT(
        "\n\"a\\u00e9b\" : 'x''y\r\n\r\n  z'\n? >-\n  one\n  two\n\n  \xC3\xA9\n: &a !!str 1\n"
        "c: [*a, p:q, \"\\\n  r\"] # end\nd: plain\r\n  text\n");
    static const char want[] = "{\"a\xC3\xA9\x62\":\"x'y\\nz\",\"c\":[\"1\",\"p:q\",\"r\"],"
                               "\"d\":\"plain text\",\"one two\\n\xC3\xA9\":\"1\"}";
    struct arena a = {0};
    check(text, want);
    for (size_t before = 16384 - text.n - 4; before < 16390; before++) {
        char *p = arena_alloc(&a, before + text.n);
        memset(p, '#', before);
        memcpy(p + before, text.p, text.n);
        check((struct str){p, before + text.n}, want);
    }
    arena_release(&a);
}

/* Time in proportion to the square of these lengths would be minutes, with or without sanitizers.
 */
static void time_is_linear(void **state) {
    enum { BLANKS = 64 << 10, BYTES = 256 << 10 };
    (void)state;
    static const char *const parts[] = {"b ",   "b\n ",       "- ",    "[",
                                        "{a: ", "\"a\\\n\" ", "# c\n", "? "};
    struct arena a = {0};
    struct json v;
    struct buf b = BUF_INIT(2 * BYTES);
    clock_t start = clock();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++, buf_clear(&b)) {
        buf_add(&b, STR("a"));
        buf_add_fill(&b, ' ', BLANKS);
        while (b.n < BYTES)
            buf_add(&b, str_of(parts[i]));
        (void)yml_parse(&a, buf_view(&b), &v, NULL);
        (void)yml_parse(&a, str_sub(buf_view(&b), 1 + BLANKS, b.n), &v, NULL);
    }
    assert_true(clock() - start < 4 * CLOCKS_PER_SEC);
    buf_release(&b);
    arena_release(&a);
}

static void directives_are_limited(void **state) {
    (void)state;
    struct arena a = {0};
    struct json v;
    struct err err;
    struct buf b = BUF_INIT(4 << 20);
    for (int i = 0; i < LIMIT_YAML_DIRECTIVES; i++)
        buf_addf(&b, "%%TAG !t%d! x\n", i);
    struct str most = arena_printf(&a, "%.*s--- a\n", STR_ARG(buf_view(&b)));
    assert_int_equal(yml_parse(&a, most, &v, NULL), 0);
    buf_add(&b, STR("%TAG !x! y\n--- a\n"));
    assert_int_equal(yml_parse(&a, buf_view(&b), &v, &err), -1);
    assert_string_equal(err.msg, "too many directives");
    assert_int_equal(err.line, LIMIT_YAML_DIRECTIVES + 1);
    buf_release(&b);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_of_documents),
        cmocka_unit_test(file_of_scalars),
        cmocka_unit_test(numbers_have_kinds),
        cmocka_unit_test(encodings),
        cmocka_unit_test(blanks_at_line_ends),
        cmocka_unit_test(bad_bytes_beyond_the_first_chunk),
        cmocka_unit_test(many_keys),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(depth_counts_aliases),
        cmocka_unit_test(aliasing_is_limited),
        cmocka_unit_test(aliases_share),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(tokens_across_chunks),
        cmocka_unit_test(time_is_linear),
        cmocka_unit_test(directives_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
