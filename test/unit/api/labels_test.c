#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/labels.h"
#include "codec/json.h"

static int from_text(struct arena *a, const char *text, struct labels *out, struct err *err) {
    struct json tree;
    assert_int_equal(json_parse(a, str_of(text), NULL, &tree, err), 0);
    return labels_from_json(a, &tree, out, err);
}

static void labels_come_sorted_from_json(void **state) {
    (void)state;
    struct arena a = {0};
    struct labels labels;
    struct err err;
    assert_int_equal(
        from_text(&a, "{\"b\":\"2\",\"\":\"0\",\"a\":\"1\",\"ab\":null}", &labels, &err), 0);
    static const char *const want[][2] = {{"", "0"}, {"a", "1"}, {"ab", ""}, {"b", "2"}};
    assert_int_equal(labels.n, 4);
    for (size_t i = 0; i < labels.n; i++) {
        assert_true(str_is(labels.v[i].key, want[i][0]));
        assert_true(str_is(labels.v[i].value, want[i][1]));
    }
    arena_release(&a);
}

static void null_and_nothing_are_no_labels(void **state) {
    (void)state;
    struct arena a = {0};
    struct labels labels = {.n = 7};
    struct err err;
    assert_int_equal(from_text(&a, "null", &labels, &err), 0);
    assert_int_equal(labels.n, 0);
    labels.n = 7;
    assert_int_equal(labels_from_json(&a, NULL, &labels, &err), 0);
    assert_int_equal(labels.n, 0);
    assert_null(labels_find(&labels, STR("a")));
    arena_release(&a);
}

static void other_types_are_refused(void **state) {
    (void)state;
    struct arena a = {0};
    struct labels labels;
    struct err err;
    assert_int_equal(from_text(&a, "[]", &labels, &err), -1);
    assert_string_equal(err.msg, "labels must be an object of strings");
    assert_int_equal(from_text(&a, "{\"a\":\"\",\"b\":1}", &labels, &err), -1);
    assert_string_equal(err.msg, "label 'b' is not a string");
    assert_int_equal(labels.n, 0);
    arena_release(&a);
}

static void every_label_is_found_and_no_other(void **state) {
    (void)state;
    struct label v[64];
    char keys[64][2];
    for (size_t n = 0; n <= 64; n++) {
        for (size_t i = 0; i < n; i++) {
            size_t shuffled = (i * 37 + 11) % 64; /* each number below 64 once */
            keys[i][0] = (char)('a' + shuffled / 8);
            keys[i][1] = (char)('a' + shuffled % 8 * 2);
            v[i] = (struct label){{keys[i], 2}, {keys[i], 1}};
        }
        struct labels labels = {v, n};
        labels_sort(&labels);
        for (size_t i = 0; i < n; i++) {
            char beside[2] = {v[i].key.p[0], (char)(v[i].key.p[1] + 1)};
            assert_ptr_equal(labels_find(&labels, v[i].key), &v[i]);
            assert_null(labels_find(&labels, (struct str){beside, 2}));
            assert_null(labels_find(&labels, str_sub(v[i].key, 0, 1)));
        }
    }
}

static void next_searches_only_behind(void **state) {
    (void)state;
    struct label v[26];
    struct labels labels = {v, 26};
    for (size_t i = 0; i < 26; i++)
        v[i] = (struct label){{&"abcdefghijklmnopqrstuvwxyz"[i], 1}, STR("")};
    size_t at = 0;
    assert_ptr_equal(labels_next(&labels, &at, STR("b")), &v[1]);
    assert_ptr_equal(labels_next(&labels, &at, STR("b")), &v[1]); /* a key may be asked again */
    assert_null(labels_next(&labels, &at, STR("ba")));
    assert_ptr_equal(labels_next(&labels, &at, STR("c")), &v[2]);
    assert_ptr_equal(labels_next(&labels, &at, STR("t")), &v[19]);
    assert_int_equal(at, 19);
    assert_null(labels_next(&labels, &at, STR("tt")));
    assert_null(labels_next(&labels, &at, STR("s"))); /* behind us */
    assert_ptr_equal(labels_next(&labels, &at, STR("z")), &v[25]);
    assert_null(labels_next(&labels, &at, STR("zz")));
}

static void equal_labels_have_the_same_keys_and_values(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"{}", "null", true},
        {"{\"a\":\"1\",\"b\":\"2\"}", "{\"b\":\"2\",\"a\":\"1\"}", true},
        {"{\"a\":\"\"}", "{}", false},
        {"{\"a\":\"1\"}", "{\"a\":\"1\",\"b\":\"2\"}", false},
        {"{\"a\":\"1\",\"b\":\"2\"}", "{\"a\":\"1\",\"b\":\"3\"}", false},
        {"{\"a\":\"1\",\"b\":\"2\"}", "{\"a\":\"1\",\"c\":\"2\"}", false},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct labels x, y;
        struct err err;
        assert_int_equal(from_text(&a, cases[i].a, &x, &err), 0);
        assert_int_equal(from_text(&a, cases[i].b, &y, &err), 0);
        assert_int_equal(labels_equal(&x, &y), cases[i].equal);
        assert_int_equal(labels_equal(&y, &x), cases[i].equal);
    }
    arena_release(&a);
}

static void a_merge_is_many_puts(void **state) {
    (void)state;
    static const struct {
        const char *old;
        struct label more[4];
        size_t n;
        const char *want;
    } rows[] = {
        {"{}", {{{0}, {0}}}, 0, "{}"},
        {"{\"b\":\"1\"}", {{{0}, {0}}}, 0, "{\"b\":\"1\"}"},
        {"null", {{STR_INIT("a"), STR_INIT("1")}}, 1, "{\"a\":\"1\"}"},
        {"{\"a\":\"1\",\"c\":\"3\"}",
         {{STR_INIT("b"), STR_INIT("2")}, {STR_INIT("c"), STR_INIT("4")}},
         2,
         "{\"a\":\"1\",\"b\":\"2\",\"c\":\"4\"}"},
        {"{\"b\":\"1\"}",
         {{STR_INIT("c"), STR_INIT("2")},
          {STR_INIT("a"), STR_INIT("3")},
          {STR_INIT("c"), STR_INIT("4")},
          {STR_INIT("b"), STR_INIT("5")}},
         4,
         "{\"a\":\"3\",\"b\":\"5\",\"c\":\"4\"}"},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct labels merged, put, want;
        struct err err;
        assert_int_equal(from_text(&a, rows[i].old, &merged, &err), 0);
        assert_int_equal(from_text(&a, rows[i].want, &want, &err), 0);
        put = merged;
        for (size_t k = 0; k < rows[i].n; k++)
            labels_put(&a, &put, rows[i].more[k]);
        labels_merge(&a, &merged, rows[i].more, rows[i].n);
        assert_true(labels_equal(&merged, &want) && labels_equal(&put, &want));
        put = labels_copy(&a, &merged);
        assert_true(labels_equal(&put, &want));
    }
    arena_release(&a);
}

/* What merging n labels in falling order into n others takes of the arena. */
static size_t cost_of_merge(size_t n) {
    struct arena a = {0};
    struct labels labels = {0};
    struct label *v = arena_array(&a, struct label, 2 * n);
    for (size_t i = 0; i < 2 * n; i++)
        v[i].key = arena_printf(&a, "k%08zu", 2 * n - i);
    labels_merge(&a, &labels, v, n);
    size_t before = arena_used(&a);
    labels_merge(&a, &labels, v + n, n);
    size_t cost = arena_used(&a) - before;
    assert_int_equal(labels.n, 2 * n);
    arena_release(&a);
    return cost;
}

static void a_merge_copies_the_list_once(void **state) {
    (void)state;
    assert_in_range(cost_of_merge(20000), 1, 21 * cost_of_merge(1000));
}

static void integers_are_read_as_go_does(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t want;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"+0", 0},
        {"7", 7},
        {"+7", 7},
        {"-7", -7},
        {"0007", 7},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"00000000000000000000000000001", 1},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t value = 42;
        assert_true(labels_value_to_i64(str_of(good[i].text), &value));
        assert_int_equal(value, good[i].want);
    }
    static const char *const bad[] = {
        "",
        "+",
        "-",
        "--1",
        "+-1",
        "1_0",
        "0x1",
        "1.0",
        "1e3",
        " 1",
        "1 ",
        "a",
        "/",
        ":",
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t value = 42;
        assert_false(labels_value_to_i64(str_of(bad[i]), &value));
        assert_int_equal(value, 42);
    }
}

static void faults_of_integers_are_gos(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", "invalid syntax"},
        {"-", "invalid syntax"},
        {"9223372036854775808", "value out of range"},
        {"-9223372036854775809", "value out of range"},
        {"9223372036854775808x", "invalid syntax"},
        {"18446744073709551615x", "invalid syntax"},
        {"18446744073709551616x", "value out of range"},
        {"82140852460072917631.", "value out of range"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(labels_value_fault(str_of(rows[i].text)), rows[i].want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_come_sorted_from_json),
        cmocka_unit_test(null_and_nothing_are_no_labels),
        cmocka_unit_test(other_types_are_refused),
        cmocka_unit_test(every_label_is_found_and_no_other),
        cmocka_unit_test(next_searches_only_behind),
        cmocka_unit_test(equal_labels_have_the_same_keys_and_values),
        cmocka_unit_test(a_merge_is_many_puts),
        cmocka_unit_test(a_merge_copies_the_list_once),
        cmocka_unit_test(integers_are_read_as_go_does),
        cmocka_unit_test(faults_of_integers_are_gos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
