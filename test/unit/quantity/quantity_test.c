/* Order, sums, differences and rounding; the answers were given by upstream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "texts.h"

static struct quantity parse(struct arena *a, const char *text) {
    struct quantity q;
    assert_int_equal(quantity_parse(a, str_of(text), &q, NULL), 0);
    return q;
}

static const struct {
    const char *a, *b;
    int order;
    const char *sum;
    int sum_format;
    const char *difference;
    int difference_format;
} pairs[] = {
    {"1", "2", -1, "3", SI, "-1", SI},
    {"1", "1000m", 0, "2", SI, "0", SI},
    {"1Ki", "1k", 1, "2024", BIN, "24", BIN},
    {"0", "1Ki", -1, "1Ki", BIN, "-1Ki", BIN},
    {"0Ki", "1", -1, "1", SI, "-1", SI},
    {"1Ki", "0", 1, "1Ki", BIN, "1Ki", BIN},
    {"1Ki", "-1Ki", 1, "0", BIN, "2Ki", BIN},
    {"1Ki", "1m", 1, "1024001m", BIN, "1023999m", BIN},
    {"1.5Gi", "0.5Gi", 1, "2Gi", BIN, "1Gi", BIN},
    {"1e3", "1Ki", -1, "2024", EXP, "-24", EXP},
    {"9E", "9E", 0, "18E", SI, "0", SI},
    {"-9E", "9E", -1, "0", SI, "-18E", SI},
    {"9223372036854775807", "1", 1, "9223372036854775808", SI, "9223372036854775806", SI},
    {"999999999999999999", "1n", 1, "999999999999999999000000001n", SI,
     "999999999999999998999999999n", SI},
    {"1e100", "100000", 1,
     "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "00100e3",
     EXP,
     "999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999"
     "9900e3",
     EXP},
    {"0e-100", "1", -1, "1", SI, "-1", SI},
    {"1", "0e-100", 1, "1", SI, "1", SI},
    {"1e18", "1n", 1, "1000000000000000000000000001e-9", EXP, "999999999999999999999999999e-9",
     EXP},
    {"1e19", "-1e19", 1, "0", EXP, "20e18", EXP},
    {"1n", "-1u", 1, "-999n", SI, "1001n", SI},
    {"8Ei", "8Ei", 0, "18446744073709551614", BIN, "0", BIN},
    {"-8Ei", "-8Ei", 0, "-18446744073709551614", BIN, "0", BIN},
    {"1000Ei", "1000E", -1, "1009223372036854775807", BIN, "-990776627963145224193", BIN},
    {"1e2147483647", "1n", 1, "2e-9", EXP, "0", EXP},
    {"99999999999999999999", "0.00000000000000000001", 1, "99999999999999999999000000001n", SI,
     "99999999999999999998999999999n", SI},
    {"-0.5Ki", "512", -1, "0", BIN, "-1Ki", BIN},
    {"1e17", "1e-1", 1, "100000000000000000100e-3", EXP, "99999999999999999900e-3", EXP},
    {"1e18", "2e-1", 1, "1000000000000000000200e-3", EXP, "999999999999999999800e-3", EXP},
    {"0", "0", 0, "0", SI, "0", SI},
    {"0.0000000000", "0.00000000000", 0, "0", SI, "0", SI},
};

static void compares_adds_and_subtracts_as_upstream(void **state) {
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct quantity a = parse(&arena, pairs[i].a), b = parse(&arena, pairs[i].b), sum, diff;
        struct err err = {0};
        assert_int_equal(quantity_cmp(&a, &b), pairs[i].order);
        assert_int_equal(quantity_cmp(&b, &a), -pairs[i].order);
        assert_int_equal(quantity_add(&arena, &a, &b, &sum, &err), 0);
        assert_int_equal(quantity_sub(&arena, &a, &b, &diff, &err), 0);
        expect_text(quantity_write, &sum, pairs[i].sum);
        expect_text(quantity_write, &diff, pairs[i].difference);
        assert_int_equal((int)sum.format, pairs[i].sum_format);
        assert_int_equal((int)diff.format, pairs[i].difference_format);
    }
    arena_release(&arena);
}

static const char *const ascending[] = {
    "-1e100000000",
    "-1e481",
    "-9223372036854775809",
    "-8Ei",
    "-1Ki",
    "-1k",
    "-1",
    "-999999999n",
    "-1n",
    "0",
    "1n",
    "999999999n",
    "1",
    "1000000001n",
    "1k",
    "1Ki",
    "1.5Gi",
    "999999999999999999",
    "1E",
    "1000000000000000001",
    "8Ei",
    "9223372036854775808",
    "1e19",
    "1e481",
    "1e100000000",
    "11e99999999",
    "1e2147483647",
};

static void keeps_one_order_over_both_forms(void **state) {
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT(ascending); i++) {
        for (size_t j = 0; j < COUNT(ascending); j++) {
            struct quantity a = parse(&arena, ascending[i]), b = parse(&arena, ascending[j]);
            assert_int_equal(quantity_cmp(&a, &b), (i > j) - (i < j));
        }
    }
    arena_release(&arena);
}

static void takes_the_result_into_an_operand(void **state) {
    (void)state;
    struct arena arena = {0};
    struct quantity total = {0}, part = parse(&arena, "999999999999999999n");
    for (int i = 0; i < 1000; i++)
        assert_int_equal(quantity_add(&arena, &total, &part, &total, NULL), 0);
    expect_text(quantity_write, &total, "999999999999999999u");
    assert_int_equal(quantity_value(&total), INT64_C(1000000000000));
    assert_int_equal(quantity_sub(&arena, &part, &total, &total, NULL), 0);
    expect_text(quantity_write, &total, "-998999999999999999001n");
    arena_release(&arena);
}

static void keeps_the_short_form_out_of_the_arena(void **state) {
    (void)state;
    struct arena arena = {0};
    struct quantity a = parse(&arena, "64Gi"), b = parse(&arena, "250m"), sum;
    assert_int_equal(quantity_add(&arena, &a, &b, &sum, NULL), 0);
    assert_int_equal(quantity_cmp(&a, &sum), -1);
    assert_int_equal(arena.bytes, 0);
}

/* Upstream's smallest int64 has no negative: it subtracts it by adding it. */
static void subtracts_the_smallest_integer_as_upstream(void **state) {
    (void)state;
    struct arena arena = {0};
    struct quantity min = quantity_of_i64(INT64_MIN, QUANTITY_DECIMAL_SI), diff;
    struct quantity one = quantity_of_i64(1, QUANTITY_DECIMAL_SI);
    assert_int_equal(quantity_sub(&arena, &one, &min, &diff, NULL), 0);
    expect_text(quantity_write, &diff, "-9223372036854775807");
    struct quantity minus_one = quantity_of_i64(-1, QUANTITY_DECIMAL_SI);
    assert_int_equal(quantity_sub(&arena, &minus_one, &min, &diff, NULL), 0);
    expect_text(quantity_write, &diff, "9223372036854775807");
    arena_release(&arena);
}

static void refuses_sums_beyond_limit_quantity_digits(void **state) {
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    struct str most = arena_printf(&arena, "1e%d", LIMIT_QUANTITY_DIGITS - 2);
    struct str more = arena_printf(&arena, "1e%d", LIMIT_QUANTITY_DIGITS - 1);
    struct quantity one = parse(&arena, "1"), out = {.value = 42}, large;
    assert_int_equal(quantity_parse(&arena, most, &large, &err), 0);
    assert_int_equal(quantity_add(&arena, &large, &one, &out, &err), 0);
    assert_int_equal(quantity_sub(&arena, &out, &large, &out, &err), 0);
    assert_int_equal(quantity_cmp(&out, &one), 0);

    struct quantity before = out;
    assert_int_equal(quantity_parse(&arena, more, &large, &err), 0);
    assert_int_equal(quantity_add(&arena, &large, &one, &out, &err), -1);
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_string_equal(err.msg, "sum of quantities has more than 4096 digits");
    assert_int_equal(quantity_sub(&arena, &large, &one, &out, &err), -1);
    assert_string_equal(err.msg, "difference of quantities has more than 4096 digits");
    assert_memory_equal(&out, &before, sizeof out);
    arena_release(&arena);
}

static const struct {
    const char *text;
    int32_t scale;
    const char *rounded;
    bool exact;
    int64_t milli;
} roundings[] = {
    {"1", 0, "1", true, 1000},
    {"1.5", 0, "2", false, 2000},
    {"-1.5", 0, "-2", false, -2000},
    {"1500m", -3, "1500m", true, 1500},
    {"0.5m", -3, "1m", false, 1},
    {"100u", -3, "1m", false, 1},
    {"1.0001", -3, "1001m", false, 1001},
    {"12345", 3, "13k", false, 13000000},
    {"1e5", 3, "100e3", true, 100000000},
    {"9223372036854775808", 0, "9223372036854775808", true, 0},
    {"12345678901234567890", 18, "13E", false, INT64_MIN},
    {"-12345678901234567890", 18, "-13E", false, INT64_MIN},
    {"99.99999999999999999999", 0, "100", true, 100000},
    {"0e-100", -3, "0", true, 0},
    {"1n", 20, "100E", false, 0},
    {"8Ei", -3, "9223372036854775807", true, -1000},
    {"99999999999999999999", 1, "100E", false, INT64_C(200376420520689664)},
};

static void rounds_up_as_upstream(void **state) {
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT(roundings); i++) {
        struct quantity q = parse(&arena, roundings[i].text);
        assert_int_equal(quantity_round_up(&arena, &q, roundings[i].scale), roundings[i].exact);
        expect_text(quantity_write, &q, roundings[i].rounded);
        assert_int_equal(quantity_milli_value(&q), roundings[i].milli);
    }
    arena_release(&arena);
}

/* A long form above the units: the factor is a float that no int64 can hold from 10^19 on. */
static void scales_long_forms_up_as_upstream(void **state) {
    (void)state;
    struct arena arena = {0};
    struct quantity total = {0}, part = parse(&arena, "999999999999999999e3");
    for (int i = 0; i < 11; i++)
        assert_int_equal(quantity_add(&arena, &total, &part, &total, NULL), 0);
    assert_int_equal(quantity_value(&total), INT64_C(5740532069107225864));
    assert_int_equal(quantity_milli_value(&total), INT64_C(3594662183555311424));
    assert_int_equal(quantity_scaled_value(&total, 3), INT64_C(-7446744073709551627));
    assert_int_equal(quantity_scaled_value(&total, -16), INT64_MIN);
    assert_true(quantity_to_double(&total) == 0x1.2a27d53bc0487p+73);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_adds_and_subtracts_as_upstream),
        cmocka_unit_test(keeps_one_order_over_both_forms),
        cmocka_unit_test(takes_the_result_into_an_operand),
        cmocka_unit_test(keeps_the_short_form_out_of_the_arena),
        cmocka_unit_test(subtracts_the_smallest_integer_as_upstream),
        cmocka_unit_test(refuses_sums_beyond_limit_quantity_digits),
        cmocka_unit_test(rounds_up_as_upstream),
        cmocka_unit_test(scales_long_forms_up_as_upstream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
