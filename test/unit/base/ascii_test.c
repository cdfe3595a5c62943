/* Classes of characters: every byte, held against the C library's in its own locale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <ctype.h>
#include <stdlib.h>

#include "base/ascii.h"

static void every_byte(void **state) {
    (void)state;
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        assert_int_equal(ascii_is_digit(byte), isdigit(c) != 0);
        assert_int_equal(ascii_is_lower(byte), islower(c) != 0);
        assert_int_equal(ascii_is_upper(byte), isupper(c) != 0);
        assert_int_equal(ascii_is_letter(byte), isalpha(c) != 0);
        assert_int_equal(ascii_is_alnum(byte), isalnum(c) != 0);
        assert_int_equal((unsigned char)ascii_to_lower(byte), tolower(c));
        char text[] = {byte, '\0'};
        long value = isxdigit(c) ? strtol(text, NULL, 16) : -1;
        assert_int_equal(ascii_hex_value(byte), value);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_byte)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
