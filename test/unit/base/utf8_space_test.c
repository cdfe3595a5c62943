/* Unicode white space at both ends, as Go's strings.TrimSpace takes it off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/utf8.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct {
    struct str text, trimmed;
} texts[] = {
    {STR_INIT(""), STR_INIT("")},
    {STR_INIT(" \t\n\v\f\r"), STR_INIT("")},
    {STR_INIT(" a b "), STR_INIT("a b")},
    {STR_INIT("\u1680\u2000\u200a\u2028a\u2029\u202f\u205f\u3000"), STR_INIT("a")},
    {STR_INIT("\xc2\x85\u00a0a\u00a0\xc2\x85"), STR_INIT("a")},
    {STR_INIT("\u3000\u3000"), STR_INIT("")},
    {STR_INIT("\u200b\ufeff"), STR_INIT("\u200b\ufeff")},           /* no White_Space */
    {STR_INIT("a\x85"), STR_INIT("a\x85")},                         /* half of U+0085 */
    {STR_INIT("\x80\x80\x80\x80 "), STR_INIT("\x80\x80\x80\x80")},  /* tails without a head */
    {STR_INIT("\xe3\x80\x80\x80"), STR_INIT("\x80")},               /* a tail too many ... */
    {STR_INIT("a\xe3\x80\x80\x80"), STR_INIT("a\xe3\x80\x80\x80")}, /* ... seen from behind */
    {STR_INIT("a \xe3\x80"), STR_INIT("a \xe3\x80")},               /* cut short */
};

static void trims_as_go(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct str got = utf8_trim_space(texts[i].text);
        assert_int_equal(got.n, texts[i].trimmed.n);
        assert_true(str_eq(got, texts[i].trimmed));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trims_as_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
