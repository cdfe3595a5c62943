/* Canonical texts of amounts that were computed, not parsed; given by upstream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "texts.h"

static const struct {
    int64_t value;
    int format;
    const char *units, *millis;
} numbers[] = {
    {0, EXP, "0", "0"},
    {1, EXP, "1", "1e-3"},
    {1023, EXP, "1023", "1023e-3"},
    {1024, EXP, "1024", "1024e-3"},
    {-1024, EXP, "-1024", "-1024e-3"},
    {-1025, EXP, "-1025", "-1025e-3"},
    {1048576, EXP, "1048576", "1048576e-3"},
    {1000000, EXP, "1e6", "1e3"},
    {INT64_MIN, EXP, "-9223372036854775808", "-9223372036854775808e-3"},
    {INT64_C(9223372036854775807), EXP, "9223372036854775807", "9223372036854775807e-3"},
    {0, BIN, "0", "0"},
    {1, BIN, "1", "1m"},
    {1023, BIN, "1023", "1023m"},
    {1024, BIN, "1Ki", "1024m"},
    {-1024, BIN, "-1Ki", "-1024m"},
    {-1025, BIN, "-1025", "-1025m"},
    {1048576, BIN, "1Mi", "1048576m"},
    {1000000, BIN, "1000000", "1k"},
    {INT64_MIN, BIN, "-9223372036854775808", "-9223372036854775808m"},
    {INT64_C(9223372036854775807), BIN, "9223372036854775807", "9223372036854775807m"},
    {0, SI, "0", "0"},
    {1, SI, "1", "1m"},
    {1023, SI, "1023", "1023m"},
    {1024, SI, "1024", "1024m"},
    {-1024, SI, "-1024", "-1024m"},
    {-1025, SI, "-1025", "-1025m"},
    {1048576, SI, "1048576", "1048576m"},
    {1000000, SI, "1M", "1k"},
    {INT64_MIN, SI, "-9223372036854775808", "-9223372036854775808m"},
    {INT64_C(9223372036854775807), SI, "9223372036854775807", "9223372036854775807m"},
};

static void writes_numbers_as_upstream(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        enum quantity_format format = (enum quantity_format)numbers[i].format;
        struct quantity units = quantity_of_i64(numbers[i].value, format);
        struct quantity millis = quantity_of_milli(numbers[i].value, format);
        expect_text(quantity_write, &units, numbers[i].units);
        expect_text(quantity_write, &millis, numbers[i].millis);
    }
}

static void writes_binary_multiples_of_any_length(void **state) {
    (void)state;
    static const struct {
        const char *add, *text;
    } sums[] = {
        {"1023Ki", "1Mi"},
        {"1180591620717411302400", "1"}, /* makes 2^70, and there is no suffix for it */
        {"-1e70", "-9765624999999999999999999999999999999999999999999999999999999999999Ki"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT(sums); i++) {
        struct quantity kibi = quantity_of_i64(1024, QUANTITY_BINARY_SI), more, sum;
        assert_int_equal(quantity_parse(&arena, str_of(sums[i].add), &more, NULL), 0);
        assert_int_equal(quantity_add(&arena, &kibi, &more, &sum, NULL), 0);
        expect_text(quantity_write, &sum, sums[i].text);
    }
    arena_release(&arena);
}

/* Nobody can build one by calls of this module, but the fields are open. */
static void writes_decimals_where_binary_would_not_end(void **state) {
    (void)state;
    struct quantity q = {.value = 1, .scale = LIMIT_QUANTITY_DIGITS, .format = QUANTITY_BINARY_SI};
    expect_text(quantity_write, &q, "10");
}

static void names_the_formats(void **state) {
    (void)state;
    assert_true(str_is(quantity_format_name(QUANTITY_DECIMAL_EXPONENT), "DecimalExponent"));
    assert_true(str_is(quantity_format_name(QUANTITY_BINARY_SI), "BinarySI"));
    assert_true(str_is(quantity_format_name(QUANTITY_DECIMAL_SI), "DecimalSI"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_numbers_as_upstream),
        cmocka_unit_test(writes_binary_multiples_of_any_length),
        cmocka_unit_test(writes_decimals_where_binary_would_not_end),
        cmocka_unit_test(names_the_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
