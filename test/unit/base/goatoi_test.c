/* Whole numbers as Go reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/goatoi.h"

static const struct {
    const char *text;
    int64_t value;
    const char *wrong;
} rows[] = {
    {"0", 0, NULL},
    {"-007", -7, NULL},
    {"+12", 12, NULL},
    {"9223372036854775807", INT64_MAX, NULL},
    {"-9223372036854775808", INT64_MIN, NULL},
    {"9223372036854775808", 1, "value out of range"},
    {"99999999999999999999", 1, "value out of range"},
    {"", 1, "invalid syntax"},
    {"-", 1, "invalid syntax"},
    {"1 ", 1, "invalid syntax"},
    {"0x1", 1, "invalid syntax"},
};

static void reads_as_go(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 1;
        const char *wrong = goatoi_read(str_of(rows[i].text), &value);
        assert_int_equal(value, rows[i].value);
        assert_true(!wrong == !rows[i].wrong);
        if (wrong)
            assert_string_equal(wrong, rows[i].wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_as_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
