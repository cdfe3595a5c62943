/* Go's quoting; what is expected was printed by Go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/goquote.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct {
    struct str text, quoted;
} texts[] = {
    {STR_INIT(""), STR_INIT("\"\"")},
    {STR_INIT("a\"b\\c'"), STR_INIT("\"a\\\"b\\\\c'\"")},
    {STR_INIT("\a\b\f\n\r\t\v"), STR_INIT("\"\\a\\b\\f\\n\\r\\t\\v\"")},
    {STR_INIT("\0\x1f\x7f"), STR_INIT("\"\\x00\\x1f\\x7f\"")},
    {STR_INIT("\xff\xc3("), STR_INIT("\"\\xff\\xc3(\"")},
    {STR_INIT("é\u00a0\xc2\x85"), STR_INIT("\"é\\u00a0\\u0085\"")},
    {STR_INIT("\u2028\u200b\ufeff"), STR_INIT("\"\\u2028\\u200b\\ufeff\"")},
    {STR_INIT("😀\U000e0001\U0010ffff"), STR_INIT("\"😀\\U000e0001\\U0010ffff\"")},
    {STR_INIT("\xef\xbf\xbd日本"), STR_INIT("\"\xef\xbf\xbd日本\"")},
    {STR_INIT("\xed\xa0\x80\xf4\x90\x80\x80"), STR_INIT("\"\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\"")},
};

static void quotes_as_go(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct buf out = BUF_INIT(4 * texts[i].text.n + 2);
        goquote_write(&out, texts[i].text);
        assert_false(out.full);
        assert_int_equal(out.n, texts[i].quoted.n);
        assert_memory_equal(out.p, texts[i].quoted.p, out.n);
        buf_release(&out);
    }
}

/* Count and FNV hash of all printable code points, from strconv.IsPrint. */
static void knows_all_printable_characters(void **state) {
    (void)state;
    uint64_t hash = UINT64_C(14695981039346656037);
    unsigned count = 0;
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        if (!goquote_is_print(cp))
            continue;
        count++;
        hash = (hash ^ cp) * UINT64_C(1099511628211);
    }
    assert_int_equal(count, 148998);
    assert_true(hash == UINT64_C(17123653939545431263));
    assert_false(goquote_is_print(0x110000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_as_go),
        cmocka_unit_test(knows_all_printable_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
