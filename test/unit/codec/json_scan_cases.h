/*
 * The scanning loops against the plainest ones, for every length and place within a few blocks.
 * Included by two programs: with the instructions of this machine, and with the portable code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/json/json_scan.h"

enum { LONGEST = 70 };

static const char specials[] = {'"', '\\', '\n', '\0', 0x1F, '<', '>', '&', (char)0x80, (char)0xFF};
static const char ordinary[] = {'x', ' ', '!', '#', '%', '\'', ';', '=', '?', '[', ']', 0x7F};

/* n bytes on the heap, none to spare, so that a sanitizer sees every step too far. */
static char *filled(size_t n) {
    char *p = malloc(n ? n : 1);
    for (size_t i = 0; i < n; i++)
        p[i] = ordinary[i % sizeof ordinary];
    return p;
}

static void scans_strings(void **state) {
    (void)state;
    for (size_t n = 0; n <= LONGEST; n++) {
        for (size_t at = 0; at <= n; at++) {
            char *p = filled(n);
            if (at < n)
                p[at] = specials[at % 5];
            assert_int_equal(json__scan_string(p, p + n) - p, at);
            assert_int_equal(json__scan_plain(p, p + n) - p, at);
            if (at + 1 < n)
                p[at + 1] = (char)0xC3;
            assert_int_equal(json__scan_string(p, p + n) - p, at);
            assert_int_equal(json__scan_plain(p, p + n) - p, at);
            if (at > 0) {
                p[at / 2] = (char)0xC3;
                assert_int_equal(json__scan_string(p, p + n) - p, at);
                assert_int_equal(json__scan_plain(p, p + n) - p, at / 2);
            }
            free(p);
        }
    }
}

static void check_copy(size_t n, size_t at, char special) {
    bool html = special == '<' || special == '>' || special == '&';
    for (int raw = 0; raw < 2; raw++) {
        char *p = filled(n), *to = malloc(n ? n : 1);
        if (at < n)
            p[at] = special;
        size_t want = at < n && !(raw && html) ? at : n;
        assert_int_equal(json__copy_plain(to, p, p + n, raw), want);
        if (want)
            assert_memory_equal(to, p, want);
        free(p);
        free(to);
    }
}

static void copies_plain_bytes(void **state) {
    (void)state;
    for (size_t n = 0; n <= LONGEST; n++) {
        for (size_t at = 0; at <= n; at++) {
            for (size_t i = 0; i < sizeof specials; i++)
                check_copy(n, at, specials[i]);
        }
    }
}

static void skips_space(void **state) {
    (void)state;
    static const char blanks[] = {' ', '\n', '\r', '\t'};
    for (size_t n = 0; n <= LONGEST; n++) {
        for (size_t at = 0; at <= n; at++) {
            char *p = filled(n);
            for (size_t i = 0; i < at; i++)
                p[i] = i % 13 == 0 ? blanks[(n + i) % 4] : ' ';
            if (at < n)
                p[at] = at % 2 ? 'x' : '\v';
            assert_int_equal(json__skip_space(p, p + n) - p, at);
            free(p);
        }
    }
}

static void counts_tails(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 15, 16, 17, 4079, 4080, 4081, 10000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (size_t every = 1; every < 40; every += 6) {
            char *p = filled(sizes[k]);
            size_t want = 0;
            for (size_t i = 0; i < sizes[k]; i += every, want++)
                p[i] = (char)(0x80 + i % 64);
            if (sizes[k] > 1 && every > 1)
                p[1] = (char)0xC0; /* a lead byte is no tail */
            assert_int_equal(json__count_tails(p, p + sizes[k]), want);
            free(p);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_strings),
        cmocka_unit_test(copies_plain_bytes),
        cmocka_unit_test(skips_space),
        cmocka_unit_test(counts_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
