/* Texts that are quantities, with all that can be asked of one; texts that are none. The answers
 * were given by upstream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "texts.h"

static const struct {
    const char *text, *string, *canonical;
    int format;
    int64_t value, milli;
    bool is_integer;
    int64_t integer;
    double approximate;
} quantities[] = {
    {"0", "0", "0", SI, 0, 0, true, 0, 0x0p+00},
    {"1", "1", "1", SI, 1, 1000, true, 1, 0x1p+00},
    {"+1", "+1", "1", SI, 1, 1000, true, 1, 0x1p+00},
    {"-1", "-1", "-1", SI, -1, -1000, true, -1, -0x1p+00},
    {"01", "01", "1", SI, 1, 1000, true, 1, 0x1p+00},
    {"+", "0", "0", SI, 0, 0, true, 0, 0x0p+00},
    {"-", "0", "0", SI, 0, 0, true, 0, 0x0p+00},
    {".", "0", "0", SI, 0, 0, true, 0, 0x0p+00},
    {"+.", "0", "0", SI, 0, 0, true, 0, 0x0p+00},
    {"1.", "1.", "1", SI, 1, 1000, true, 1, 0x1p+00},
    {".5", "500m", "500m", SI, 1, 500, false, 0, 0x1p-01},
    {"-.5", "-500m", "-500m", SI, -1, -500, false, 0, -0x1p-01},
    {"00", "0", "0", SI, 0, 0, true, 0, 0x0p+00},
    {"-0", "0", "0", SI, 0, 0, true, 0, 0x0p+00},
    {"0.0", "0", "0", SI, 0, 0, false, 0, 0x0p+00},
    {"1000", "1k", "1k", SI, 1000, 1000000, true, 1000, 0x1.f4p+09},
    {"1001", "1001", "1001", SI, 1001, 1001000, true, 1001, 0x1.f48p+09},
    {"10k", "10k", "10k", SI, 10000, 10000000, true, 10000, 0x1.388p+13},
    {"100m", "100m", "100m", SI, 1, 100, false, 0, 0x1.999999999999ap-04},
    {"1500m", "1500m", "1500m", SI, 2, 1500, false, 0, 0x1.8p+00},
    {"0.1m", "100u", "100u", SI, 1, 1, false, 0, 0x1.a36e2eb1c432dp-14},
    {"1n", "1n", "1n", SI, 1, 1, false, 0, 0x1.12e0be826d695p-30},
    {"0.1n", "1n", "1n", SI, 1, 1, false, 0, 0x1.12e0be826d695p-30},
    {"0.0000000001", "1n", "1n", SI, 1, 1, false, 0, 0x1.12e0be826d695p-30},
    {"-0.0000000001", "-1n", "-1n", SI, 1, 1, false, 0, -0x1.12e0be826d695p-30},
    {"5u", "5u", "5u", SI, 1, 1, false, 0, 0x1.4f8b588e368fp-18},
    {"3M", "3M", "3M", SI, 3000000, INT64_C(3000000000), true, 3000000, 0x1.6e36p+21},
    {"4G", "4G", "4G", SI, INT64_C(4000000000), INT64_C(4000000000000), true, INT64_C(4000000000),
     0x1.dcd65p+31},
    {"5T", "5T", "5T", SI, INT64_C(5000000000000), INT64_C(5000000000000000), true,
     INT64_C(5000000000000), 0x1.2309ce54p+42},
    {"6P", "6P", "6P", SI, INT64_C(6000000000000000), INT64_C(6000000000000000000), true,
     INT64_C(6000000000000000), 0x1.550f7dca7p+52},
    {"7E", "7E", "7E", SI, INT64_C(7000000000000000000), 0, true, INT64_C(7000000000000000000),
     0x1.8493fba64efp+62},
    {"1E", "1E", "1E", SI, INT64_C(1000000000000000000), 0, true, INT64_C(1000000000000000000),
     0x1.bc16d674ec8p+59},
    {"8E", "8E", "8E", SI, INT64_C(8000000000000000000), 0, true, INT64_C(8000000000000000000),
     0x1.bc16d674ec8p+62},
    {"10E", "10E", "10E", SI, 0, 0, false, 0, 0x1.158e460913dp+63},
    {"1000E", "1", "1", SI, 0, 0, false, 0, 0x1.b1ae4d6e2ef5p+69},
    {"1Ki", "1Ki", "1Ki", BIN, 1024, 1024000, true, 1024, 0x1p+10},
    {"2Ki", "2Ki", "2Ki", BIN, 2048, 2048000, true, 2048, 0x1p+11},
    {"1.5Ki", "1536", "1536", BIN, 1536, 1536000, false, 0, 0x1.8p+10},
    {"8Ki", "8Ki", "8Ki", BIN, 8192, 8192000, true, 8192, 0x1p+13},
    {"0.1Ki", "102400m", "102400m", BIN, 103, 102400, false, 0, 0x1.999999999999ap+06},
    {"1Mi", "1Mi", "1Mi", BIN, 1048576, 1048576000, true, 1048576, 0x1p+20},
    {"1.5Gi", "1536Mi", "1536Mi", BIN, 1610612736, INT64_C(1610612736000), false, 0, 0x1.8p+30},
    {"Mi", "0", "0", BIN, 0, 0, true, 0, 0x0p+00},
    {"Ti", "0", "0", BIN, 0, 0, true, 0, 0x0p+00},
    {"1Ti", "1Ti", "1Ti", BIN, INT64_C(1099511627776), INT64_C(1099511627776000), true,
     INT64_C(1099511627776), 0x1p+40},
    {"1024Ti", "1Pi", "1Pi", BIN, INT64_C(1125899906842624), INT64_C(1125899906842624000), false, 0,
     0x1p+50},
    {"16Pi", "16Pi", "16Pi", BIN, INT64_C(18014398509481984), INT64_C(-432345564227567616), false,
     0, 0x1p+54},
    {"1Ei", "1Ei", "1Ei", BIN, INT64_C(1152921504606846976), INT64_MIN, false, 0, 0x1p+60},
    {"7Ei", "7Ei", "7Ei", BIN, INT64_C(8070450532247928832), INT64_MIN, false, 0, 0x1.cp+62},
    {"8Ei", "9223372036854775807", "9223372036854775807", BIN, INT64_C(9223372036854775807), -1000,
     false, 0, 0x1p+63},
    {"-8Ei", "-9223372036854775807", "-9223372036854775807", BIN, INT64_C(-9223372036854775807),
     1000, false, 0, -0x1p+63},
    {"1000Ei", "9223372036854775807", "9223372036854775807", BIN, INT64_C(9223372036854775807),
     -1000, false, 0, 0x1p+63},
    {"0.0001Ki", "102400u", "102400u", SI, 1, 103, false, 0, 0x1.a36e2eb1c432dp-04},
    {"0.000000000001Ki", "2n", "2n", SI, 1, 1, false, 0, 0x1.12e0be826d695p-29},
    {"9223372036854775807", "9223372036854775807", "9223372036854775807", SI,
     INT64_C(9223372036854775807), -1000, false, 0, 0x1p+63},
    {"9223372036854775808", "9223372036854775808", "9223372036854775808", SI, INT64_MIN, 0, false,
     0, 0x1p+63},
    {"-9223372036854775808", "-9223372036854775808", "-9223372036854775808", SI, 0, 0, false, 0,
     -0x1p+63},
    {"-9223372036854775809", "-9223372036854775809", "-9223372036854775809", SI, -1, -1000, false,
     0, -0x1p+63},
    {"999999999999999999", "999999999999999999", "999999999999999999", SI,
     INT64_C(999999999999999999), INT64_C(3875820019684211736), true, INT64_C(999999999999999999),
     0x1.bc16d674ec8p+59},
    {"1000000000000000000", "1E", "1E", SI, INT64_C(1000000000000000000),
     INT64_C(3875820019684212736), false, 0, 0x1.bc16d674ec801p+59},
    {"12345678901234567890", "12345678901234567890", "12345678901234567890", SI,
     INT64_C(-6101065172474983726), INT64_C(4807115922877858896), false, 0, 0x1.56a95319d63e2p+63},
    {"0.123456789", "123456789n", "123456789n", SI, 1, 124, false, 0, 0x1.f9add3739636p-04},
    {"0.1234567891", "123456790n", "123456790n", SI, 1, 124, false, 0, 0x1.f9add3b84e65ap-04},
    {"1.0000000001", "1000000001n", "1000000001n", SI, 2, 1001, false, 0, 0x1.000000044b83p+00},
    {"999.9999999999", "1k", "1k", SI, 1000, 1000000, false, 0, 0x1.f400000000001p+09},
    {"1e3", "1e3", "1e3", EXP, 1000, 1000000, true, 1000, 0x1.f4p+09},
    {"1E3", "1E3", "1e3", EXP, 1000, 1000000, true, 1000, 0x1.f4p+09},
    {"1e+3", "1e+3", "1e3", EXP, 1000, 1000000, true, 1000, 0x1.f4p+09},
    {"1e-3", "1e-3", "1e-3", EXP, 1, 1, false, 0, 0x1.0624dd2f1a9fcp-10},
    {"1.5e3", "1500", "1500", EXP, 1500, 1500000, true, 1500, 0x1.77p+10},
    {"15e2", "1500", "1500", EXP, 1500, 1500000, true, 1500, 0x1.77p+10},
    {"1e0", "1e0", "1", EXP, 1, 1000, true, 1, 0x1p+00},
    {"1e-9", "1e-9", "1e-9", EXP, 1, 1, false, 0, 0x1.12e0be826d695p-30},
    {"1e-10", "1e-9", "1e-9", EXP, 1, 1, false, 0, 0x1.12e0be826d695p-30},
    {"1e19", "10e18", "10e18", EXP, 0, 0, false, 0, 0x1.158e460913dp+63},
    {"1e100", "10e99", "10e99", EXP, 0, 0, false, 0, 0x1.249ad2594c37dp+332},
    {"123e481", "1230e480", "1230e480", EXP, 0, 0, false, 0, INFINITY},
    {"0e400", "0", "0", EXP, 0, 0, true, 0, NAN},
    {"0e-100", "0", "0", EXP, 0, 0, false, 0, 0x0p+00},
    {"0.00000000000000000000", "0", "0", SI, 0, 0, false, 0, 0x0p+00},
    {"1e2147483647", "10e2147483646", "10e2147483646", EXP, 0, 1, false, 0, INFINITY},
    {"1.5e-2147483648", "150e2147483646", "150e2147483646", EXP, 0, 15, false, 0, INFINITY},
    {"10e2147483647", "10e2147483647", "10e2147483647", EXP, 0, 10, false, 0, INFINITY},
    {"1e4294967299", "1e4294967299", "1e3", EXP, 1000, 1000000, true, 1000, 0x1.f4p+09},
    {"12345678901234567890e5", "1234567890123456789e6", "1234567890123456789e6", EXP,
     INT64_C(1096246371337547584), INT64_C(7888470988684038656), false, 0, 0x1.056e0f36a6444p+80},
    {"-850.71937Ti", "-935375839289273221120u", "-935375839289273221120u", BIN, INT64_C(3212456318),
     INT64_C(3212456317013), false, 0, -0x1.a95c1450efdcap+49},
    {"+1.962Ei", "2262031992038633766912m", "2262031992038633766912m", BIN,
     INT64_C(2262031992038633767), INT64_C(-6917529027641081856), false, 0, 0x1.f645a1cac0832p+60},
    {"99999999999999999999k", "99999999999999999999k", "99999999999999999999k", SI,
     INT64_C(200376420520688664), INT64_C(-2537764290116403776), false, 0, 0x1.52d02c7e14af7p+76},
    {"123456789012345678901234567890", "123456789012345678901234567890",
     "123456789012345678901234567890", SI, INT64_C(-4362896299872285998),
     INT64_C(8982045596877734992), false, 0, 0x1.8ee90ff6c373fp+96},
    {"1.8446744073709551616E", "1844674407370955161600m", "1844674407370955161600m", SI,
     INT64_C(1844674407370955162), 0, false, 0, 0x1.999999999999ap+60},
};

static void expect_double(double got, double want) {
    if (isnan(want))
        assert_true(isnan(got));
    else
        assert_memory_equal(&got, &want, sizeof got);
}

static void answers_as_upstream(void **state) {
    (void)state;
    struct arena a = {0};
    for (size_t i = 0; i < COUNT(quantities); i++) {
        struct quantity q;
        struct err err = {0};
        int64_t integer = 0;
        assert_int_equal(quantity_parse(&a, str_of(quantities[i].text), &q, &err), 0);
        assert_int_equal(err.code, ERR_NONE);
        expect_text(quantity_write, &q, quantities[i].string);
        expect_text(quantity_write_canonical, &q, quantities[i].canonical);
        assert_int_equal((int)q.format, quantities[i].format);
        assert_int_equal(quantity_value(&q), quantities[i].value);
        assert_int_equal(quantity_milli_value(&q), quantities[i].milli);
        assert_int_equal(quantity_to_i64(&q, &integer), quantities[i].is_integer);
        assert_int_equal(integer, quantities[i].integer);
        expect_double(quantity_to_double(&q), quantities[i].approximate);
    }
    arena_release(&a);
}

#define PATTERN \
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define SUFFIX  "unable to parse quantity's suffix"
#define NUMERIC "unable to parse numeric part of quantity"

static const struct {
    struct str text;
    const char *error;
} bad[] = {
    {STR_INIT(""), PATTERN},
    {STR_INIT(" 1"), PATTERN},
    {STR_INIT("1 "), PATTERN},
    {STR_INIT("1.2.3"), PATTERN},
    {STR_INIT("1,5"), PATTERN},
    {STR_INIT("k28"), SUFFIX},
    {STR_INIT("1_0"), PATTERN},
    {STR_INIT("1K"), SUFFIX},
    {STR_INIT("1e"), SUFFIX},
    {STR_INIT("1i"), SUFFIX},
    {STR_INIT("1ki"), SUFFIX},
    {STR_INIT("1e1.5"), PATTERN},
    {STR_INIT("0x10"), PATTERN},
    {STR_INIT("1e++1"), PATTERN},
    {STR_INIT("1-5"), SUFFIX},
    {STR_INIT("1e9223372036854775808"), SUFFIX},
    {STR_INIT("1ee3"), SUFFIX},
    {STR_INIT("mm"), SUFFIX},
    {STR_INIT("1mm"), SUFFIX},
    {STR_INIT("1Kie"), SUFFIX},
    {STR_INIT("e-10"), NUMERIC},
    {STR_INIT(".e-10"), NUMERIC},
    {STR_INIT("+e-10"), NUMERIC},
    {STR_INIT("Pi"), NUMERIC},
    {STR_INIT("Ei"), NUMERIC},
    {STR_INIT(".Ei"), NUMERIC},
    {STR_INIT("1e5m"), PATTERN},
    {STR_INIT("1\0"), PATTERN},
    {STR_INIT("é"), PATTERN},
    {STR_INIT("--1"), SUFFIX},
    {STR_INIT("+-1"), SUFFIX},
    {STR_INIT("1e-"), SUFFIX},
    {STR_INIT("11111111111111111111e2147483639"), NUMERIC},
};

static void refuses_as_upstream(void **state) {
    (void)state;
    struct arena a = {0};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct quantity q = {.value = 42};
        struct err err = {0};
        assert_int_equal(quantity_parse(&a, bad[i].text, &q, &err), -1);
        assert_string_equal(err.msg, bad[i].error);
        assert_int_equal(err.code, ERR_INVALID);
        assert_int_equal(quantity_parse(&a, bad[i].text, &q, NULL), -1);
        assert_true(q.value == 42 && !q.dec);
    }
    arena_release(&a);
}

/* Beyond 2^31 - 10 upstream's scale wraps around, and after minutes it says one nano. */
static void answers_at_once_where_upstream_computes_for_minutes(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
    } huge[] = {
        {"1e2147483648", "1e-9"},
        {"-1e2147483649", "-1e-9"},
        {"11111111111111111111e2147483640", "1e-9"},
        {"11111111111111111111e2147483638", "111111111111111111110e2147483637"},
        {"-1.11111111111111111111e100000000", "-11111111111111111111100e99999978"},
        {"1e-2147483647", "1e-9"},
        {"0e2147483647", "0"},
    };
    struct arena a = {0};
    for (size_t i = 0; i < COUNT(huge); i++) {
        struct quantity q;
        struct err err = {0};
        assert_int_equal(quantity_parse(&a, str_of(huge[i].text), &q, &err), 0);
        expect_text(quantity_write_canonical, &q, huge[i].canonical);
    }
    assert_in_range(a.bytes, 1, 1 << 16);
    arena_release(&a);
}

static void takes_a_megabyte_of_digits(void **state) {
    (void)state;
    struct arena a = {0};
    struct quantity q;
    struct err err = {0};
    char *digits = arena_alloc(&a, 1 << 20);
    memset(digits, '7', 1 << 20);
    assert_int_equal(quantity_parse(&a, (struct str){digits, 1 << 20}, &q, &err), 0);
    assert_int_equal(quantity_sign(&q), 1);
    assert_true(isinf(quantity_to_double(&q)));
    struct buf out = BUF_INIT(LIMIT_OBJECT_BYTES);
    quantity_write(&out, &q);
    assert_int_equal(out.n, 1 << 20);
    assert_memory_equal(out.p, digits, 1 << 20);
    buf_release(&out);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_upstream),
        cmocka_unit_test(refuses_as_upstream),
        cmocka_unit_test(answers_at_once_where_upstream_computes_for_minutes),
        cmocka_unit_test(takes_a_megabyte_of_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
