/* XXH64 by what its reference implementation says. */
#include "kit.h"
#include "store/checksum_int.h"

static void sums_are_those_of_xxh64(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t seed, sum;
    } rows[] = {
        {"", 0, UINT64_C(0xEF46DB3751D8E999)},
        {"a", 0, UINT64_C(0xD24EC4F1A98C6E5B)},
        {"abc", 0, UINT64_C(0x44BC2CF5AD770999)},
        {"The quick brown fox jumps over the lazy dog", 0, UINT64_C(0x0B242D361FDA71BC)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(store__checksum(str_of(rows[i].text), rows[i].seed), rows[i].sum);
}

/* Every bit of the input, and the seed, shows. */
static void every_bit_counts(void **state) {
    (void)state;
    char text[80];
    memset(text, 'x', sizeof text);
    for (size_t n = 0; n <= sizeof text; n++) {
        uint64_t sum = store__checksum((struct str){text, n}, 7);
        assert_true(sum != store__checksum((struct str){text, n}, 8));
        for (size_t bit = 0; bit < n * 8; bit++) {
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
            assert_true(sum != store__checksum((struct str){text, n}, 7));
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        }
    }
}

static void words_are_bytes_from_the_lowest(void **state) {
    (void)state;
    const uint64_t word = UINT64_C(0x6867666564636261);
    assert_int_equal(store__checksum_words(&word, 1, 3), store__checksum(STR("abcdefgh"), 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_xxh64),
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(words_are_bytes_from_the_lowest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
