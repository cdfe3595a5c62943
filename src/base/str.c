#include "base/str.h"

#include <string.h>

int str_cmp(struct str a, struct str b) {
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    if (order != 0)
        return order;
    return (a.n > b.n) - (a.n < b.n);
}

int str_cmp_qsort(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

bool str_starts(struct str s, struct str prefix) {
    return s.n >= prefix.n && str_eq(str_sub(s, 0, prefix.n), prefix);
}

bool str_ends(struct str s, struct str suffix) {
    return s.n >= suffix.n && str_eq(str_sub(s, s.n - suffix.n, s.n), suffix);
}

struct str str_sub(struct str s, size_t from, size_t to) {
    if (to > s.n)
        to = s.n;
    if (from > to)
        from = to;
    return (struct str){from ? s.p + from : s.p, to - from};
}

size_t str_find_char(struct str s, char c) {
    const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;
    return hit ? (size_t)(hit - s.p) : STR_NONE;
}

size_t str_find(struct str s, struct str needle) {
    if (needle.n == 0)
        return 0;
    const char *hit = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
    return hit ? (size_t)(hit - s.p) : STR_NONE;
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s) {
    while (s.n && is_space(s.p[0]))
        s = str_sub(s, 1, s.n);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_cut(struct str s, char c, struct str *head, struct str *rest) {
    size_t at = str_find_char(s, c);
    bool found = at != STR_NONE;
    *head = str_sub(s, 0, found ? at : s.n);
    *rest = str_sub(s, found ? at + 1 : s.n, s.n);
    return found;
}

bool str_to_i64(struct str s, int64_t *out) {
    bool negative = s.n && s.p[0] == '-';
    struct str digits = str_sub(s, negative, s.n);
    if (digits.n == 0 || (digits.n > 1 && digits.p[0] == '0'))
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < digits.n; i++) {
        int digit = digits.p[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    /* Summed as a negative number, because that side of the range is the larger one. */
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return false;
    *out = value;
    return true;
}

/* The two halves of the 128-bit product, folded: every input bit reaches every output bit. */
static uint64_t fold(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 u128;
    u128 product = (u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t str_hash(struct str s, uint64_t seed) {
    const uint64_t k1 = UINT64_C(0x9e3779b97f4a7c15), k2 = UINT64_C(0xd1b54a32d192ed03);
    uint64_t h = seed ^ (s.n * k1);
    const char *p = s.p;
    size_t n = s.n;
    for (; n >= 16; p += 16, n -= 16)
        h = fold(str_word(p) ^ k1 ^ h, str_word(p + 8) ^ k2 ^ seed);
    uint64_t lo = 0, hi = 0;
    if (n > 8) {
        lo = str_word(p);
        hi = str_word(p + n - 8);
    } else if (n) {
        memcpy(&lo, p, n);
    }
    h = fold(lo ^ k1 ^ h, hi ^ k2 ^ seed);
    return fold(h ^ k2, seed ^ k1);
}
