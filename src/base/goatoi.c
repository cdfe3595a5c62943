/* Whole numbers as Go reads them. Follows std strconv, func Atoi. */
#include "base/goatoi.h"

#include "base/ascii.h"

const char *goatoi_read(struct str s, int64_t *out) {
    bool negative = str_starts(s, STR("-")), sign = negative || str_starts(s, STR("+"));
    uint64_t v = 0;
    if (s.n == sign)
        return "invalid syntax";
    for (size_t i = sign; i < s.n; i++) {
        if (!ascii_is_digit(s.p[i]))
            return "invalid syntax";
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return "value out of range";
    }
    if (v > (uint64_t)INT64_MAX + negative)
        return "value out of range";
    *out = (int64_t)(negative ? 0 - v : v);
    return NULL;
}
