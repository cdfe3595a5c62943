/* Printing: as the C library's where both know a format, and strings with their length whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/print.h"
#include "base/str.h"

/* Prints into `room` bytes of a field of dots; returns the length of the whole text. */
__attribute__((format(printf, 3, 4))) static size_t print(char *to, size_t room, const char *fmt,
                                                          ...) {
    memset(to, '.', 64);
    va_list args;
    va_start(args, fmt);
    size_t counted = print_text(NULL, 0, fmt, args), n = print_text(to, room, fmt, args);
    va_end(args);
    assert_int_equal(counted, n);
    return n;
}

#define SAME(...)                                                          \
    do {                                                                   \
        char ours[512] = "", theirs[512];                                  \
        size_t n = print(ours, sizeof ours, __VA_ARGS__);                  \
        assert_int_equal(n, snprintf(theirs, sizeof theirs, __VA_ARGS__)); \
        assert_memory_equal(ours, theirs, n);                              \
    } while (0)

static void like_the_c_library(void **state) {
    (void)state;
    SAME("plain");
    SAME("%%, %c and %s|%s", 'x', "text", "");
    SAME("%d %d %d", 0, INT_MIN, INT_MAX);
    SAME("%u %x %X %o", UINT_MAX, UINT_MAX, 0xABCU, 8U);
    SAME("%ld %lu %lx", LONG_MIN, ULONG_MAX, ULONG_MAX);
    SAME("%lld %llu", LLONG_MIN, ULLONG_MAX);
    SAME("%zu|%5zu|%-5zu|", SIZE_MAX, (size_t)7, (size_t)7);
    SAME("%02d %04x %012llx %03o %06d", 5, 0x1fU, 0xfeedULL, 7U, -5);
    SAME("%*d|%*d|%0*d", 6, 42, -6, 42, 6, 42);
    SAME("%f %.0f %.1f %8.3f %.*f", 1.5, 2.5, -0.05, 3.14159, 2, 9.999);
    SAME("%.*e %.6e %g", 16, 0.1, 1e300, 1e-7);
    SAME("%+d|% d|%#x", 5, 5, 255U);
    SAME("%5s|%-5s|%.2s", "abc", "abc", "abc");
    SAME("%f", DBL_MAX);
    SAME("%300d", 7);
}

static void strings_with_their_length(void **state) {
    (void)state;
    char to[64];
    struct str nul = {"a\0b", 3}, empty = {"", 0};
    assert_int_equal(print(to, sizeof to, "[%.*s] %.*s%s", STR_ARG(nul), STR_ARG(empty), "end"), 9);
    assert_memory_equal(to, "[a\0b] end", 10);
}

static void no_more_than_the_room(void **state) {
    (void)state;
    char to[64];
    for (size_t room = 0; room < 14; room++) {
        assert_int_equal(print(to, room, "%.*s-%d-%s", STR_ARG(STR("abc")), 123, "xyz"), 11);
        assert_int_equal(to[room], '.');
        if (room == 0)
            continue;
        size_t n = room - 1 < 11 ? room - 1 : 11;
        assert_memory_equal(to, "abc-123-xyz", n);
        assert_int_equal(to[n], '\0');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_the_c_library),
        cmocka_unit_test(strings_with_their_length),
        cmocka_unit_test(no_more_than_the_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
