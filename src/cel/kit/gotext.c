/*
 * Numbers and times as Go reads them from text.
 *
 * Follows std strconv, func ParseInt, func ParseFloat.
 * Follows std time, func ParseDuration.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "cel/kit/timestamp_int.h"
#include "codec/time.h"

bool cel__parse_duration(struct str text, int64_t *ns) {
    return time_parse_duration(text, ns, NULL) == 0;
}

/* Minutes of the offset at the end of a text that is a moment. */
static int16_t offset_of(struct str text) {
    if (text.p[text.n - 1] == 'Z')
        return 0;
    const char *p = text.p + text.n - 6; /* +hh:mm */
    int minutes = ((p[1] - '0') * 10 + p[2] - '0') * 60 + (p[4] - '0') * 10 + p[5] - '0';
    return (int16_t)(p[0] == '-' ? -minutes : minutes);
}

bool cel__parse_timestamp(struct str text, struct cel_value *out) {
    struct time_instant t;
    if (time_parse(text, &t, NULL) < 0)
        return false;
    *out = (struct cel_value){
        .kind = CEL_TIMESTAMP, .i = t.seconds, .n = (uint32_t)t.nanos, .offset = offset_of(text)};
    return true;
}

static bool is_word(struct str s, const char *word) {
    if (s.n != strlen(word))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (ascii_to_lower(s.p[i]) != word[i])
            return false;
    return true;
}

/* inf, infinity and nan, with a sign where Go allows one. */
static bool read_named(struct str s, bool sign, bool negative, double *out) {
    if (is_word(s, "nan") && !sign) {
        *out = NAN;
        return true;
    }
    if (!is_word(s, "inf") && !is_word(s, "infinity"))
        return false;
    *out = negative ? -INFINITY : INFINITY;
    return true;
}

static bool is_mantissa_digit(char c, bool hex) {
    return ascii_is_digit(c) || (hex && ascii_to_lower(c) >= 'a' && ascii_to_lower(c) <= 'f');
}

/* Digits with at most one point in them; underscores only where base prefixes are read, so only in
 * hexadecimal. Copies to *to and returns how much of s it took; 0 when there are no digits. */
static size_t copy_mantissa(struct str s, bool hex, char **to) {
    size_t i = 0, digits = 0;
    bool point = false;
    for (; i < s.n; i++) {
        char c = s.p[i];
        if (c == '.' && !point)
            point = true;
        else if (is_mantissa_digit(c, hex))
            digits++;
        else if (c == '_')
            continue;
        else
            break;
        *(*to)++ = c;
    }
    return digits ? i : 0;
}

/* e+12 or p-3; false when it is ill-formed. */
static bool copy_exponent(struct str s, bool hex, char **to) {
    if (s.n == 0)
        return !hex;
    if (ascii_to_lower(s.p[0]) != (hex ? 'p' : 'e'))
        return false;
    size_t i = 1;
    *(*to)++ = s.p[0];
    if (i < s.n && (s.p[i] == '+' || s.p[i] == '-'))
        *(*to)++ = s.p[i++];
    size_t first = i;
    for (; i < s.n && (ascii_is_digit(s.p[i]) || s.p[i] == '_'); i++)
        if (s.p[i] != '_')
            *(*to)++ = s.p[i];
    return i == s.n && i > first && ascii_is_digit(s.p[first]);
}

/* Underscores must stand between digits, or between the base prefix and a digit. */
static bool underscores_good(struct str s) {
    char before = '^'; /* as Go's scanner: 0 digit, _ underscore, ! other */
    size_t i = 0;
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
        i = 1;
    bool hex = s.n >= i + 2 && s.p[i] == '0' && ascii_to_lower(s.p[i + 1]) == 'x';
    if (hex) {
        i += 2;
        before = '0';
    }
    for (; i < s.n; i++) {
        if (is_mantissa_digit(s.p[i], hex)) {
            before = '0';
        } else if (s.p[i] == '_') {
            if (before != '0')
                return false;
            before = '_';
        } else {
            if (before == '_')
                return false;
            before = '!';
        }
    }
    return before != '_';
}

bool cel__go_parse_float(struct str text, double *out) {
    struct str s = text;
    bool negative = str_starts(s, STR("-")), sign = negative || str_starts(s, STR("+"));
    s = str_sub(s, sign, s.n);
    if (read_named(s, sign, negative, out))
        return true;
    bool hex = s.n > 2 && s.p[0] == '0' && ascii_to_lower(s.p[1]) == 'x';
    if (hex)
        s = str_sub(s, 2, s.n);
    char small[128], *copy = s.n + 8 < sizeof small ? small : xmalloc(s.n + 8), *p = copy;
    if (hex) {
        *p++ = '0';
        *p++ = 'x';
    }
    size_t n = copy_mantissa(s, hex, &p);
    bool good = n > 0 && copy_exponent(str_sub(s, n, s.n), hex, &p) && underscores_good(text);
    *p = '\0';
    double d = good ? strtod(copy, NULL) : 0;
    if (copy != small)
        free(copy);
    *out = negative ? -d : d;
    return good && !isinf(d);
}
