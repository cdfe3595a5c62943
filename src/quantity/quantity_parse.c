/*
 * Text to quantity: cut the text up, look the suffix up, then the short form if it fits.
 *
 * Follows k8s.io/apimachinery pkg/api/resource, func ParseQuantity, func parseQuantityString.
 */
#include <string.h>

#include "base/ascii.h"
#include "quantity/quantity_int.h"

enum {
    SHORT_DECIMAL_DIGITS = 18, /* that upstream trusts an int64 with ... */
    SHORT_BINARY_DIGITS = 14,  /* ... and together with those of the binary suffix */
};

struct pieces {
    struct str num, denom, suffix; /* num without leading zeros, but never empty */
    bool negative;
    bool has_digits; /* there is one in the text, be it a leading zero */
};

struct suffix {
    struct str text;
    int32_t exponent;
    enum quantity_format format; /* of base 2 when it is BinarySI, else of base 10 */
};

static const struct suffix suffixes[] = {
    {STR_INIT(""), 0, QUANTITY_DECIMAL_SI},   {STR_INIT("m"), -3, QUANTITY_DECIMAL_SI},
    {STR_INIT("Ki"), 10, QUANTITY_BINARY_SI}, {STR_INIT("Mi"), 20, QUANTITY_BINARY_SI},
    {STR_INIT("Gi"), 30, QUANTITY_BINARY_SI}, {STR_INIT("Ti"), 40, QUANTITY_BINARY_SI},
    {STR_INIT("Pi"), 50, QUANTITY_BINARY_SI}, {STR_INIT("Ei"), 60, QUANTITY_BINARY_SI},
    {STR_INIT("n"), -9, QUANTITY_DECIMAL_SI}, {STR_INIT("u"), -6, QUANTITY_DECIMAL_SI},
    {STR_INIT("k"), 3, QUANTITY_DECIMAL_SI},  {STR_INIT("M"), 6, QUANTITY_DECIMAL_SI},
    {STR_INIT("G"), 9, QUANTITY_DECIMAL_SI},  {STR_INIT("T"), 12, QUANTITY_DECIMAL_SI},
    {STR_INIT("P"), 15, QUANTITY_DECIMAL_SI}, {STR_INIT("E"), 18, QUANTITY_DECIMAL_SI},
};

static int fail_pattern(struct err *err) {
    return err_set(err, ERR_INVALID,
                   "quantities must match the regular expression "
                   "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

static int fail_numeric(struct err *err) {
    return err_set(err, ERR_INVALID, "unable to parse numeric part of quantity");
}

static bool is_sign(char c) {
    return c == '+' || c == '-';
}

static bool is_suffix_letter(char c) {
    return c && strchr("eEinumkKMGTP", c);
}

/* Moves *at behind the bytes for which `is` holds and returns them. */
static struct str take(struct str text, size_t *at, bool (*is)(char)) {
    size_t from = *at;
    while (*at < text.n && is(text.p[*at]))
        ++*at;
    return str_sub(text, from, *at);
}

static bool skip_sign(struct str text, size_t *at) {
    bool there = *at < text.n && is_sign(text.p[*at]);
    *at += there;
    return there;
}

/* Looser than the pattern in the error text, and just as loose as upstream's scanner: "Mi", "."
 * and "+" pass. */
static bool cut_up(struct str text, struct pieces *out) {
    size_t at = 0;
    out->negative = skip_sign(text, &at) && text.p[0] == '-';
    struct str num = take(text, &at, ascii_is_digit);
    out->denom = STR("");
    out->has_digits = num.n > 0;
    while (num.n && num.p[0] == '0')
        num = str_sub(num, 1, num.n);
    out->num = num.n ? num : STR("0");
    if (at < text.n && text.p[at] == '.') {
        at++;
        out->denom = take(text, &at, ascii_is_digit);
        out->has_digits |= out->denom.n > 0;
    }
    size_t suffix = at;
    take(text, &at, is_suffix_letter);
    skip_sign(text, &at);
    take(text, &at, ascii_is_digit);
    out->suffix = str_sub(text, suffix, at);
    return at == text.n;
}

/* Go's strconv.ParseInt, cut to 32 bits as upstream does: e4294967297 is e1. */
static bool parse_exponent(struct str text, int32_t *out) {
    bool negative = text.n && text.p[0] == '-';
    struct str digits = str_sub(text, text.n && is_sign(text.p[0]), text.n);
    if (digits.n == 0)
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < digits.n; i++) {
        int digit = negative ? '0' - digits.p[i] : digits.p[i] - '0';
        if (!ascii_is_digit(digits.p[i]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = quantity__wrap(value);
    return true;
}

static bool look_up_suffix(struct str text, struct suffix *out) {
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (str_eq(suffixes[i].text, text)) {
            *out = suffixes[i];
            return true;
        }
    }
    out->format = QUANTITY_DECIMAL_EXPONENT;
    return (text.p[0] == 'e' || text.p[0] == 'E') &&
           parse_exponent(str_sub(text, 1, text.n), &out->exponent);
}

/* Is the text what upstream would print, as far as upstream looks? Then it keeps it. */
static bool keeps_text(struct str digits, int64_t value, int32_t scale, const struct suffix *suf) {
    if (suf->format == QUANTITY_BINARY_SI)
        return (value & 7) != 0;
    return scale % 3 == 0 && !str_ends(digits, STR("000")) && digits.p[0] != '0';
}

static bool fits_short(const struct pieces *p, const struct suffix *suf) {
    size_t digits = p->num.n + p->denom.n;
    if (suf->format != QUANTITY_BINARY_SI)
        return digits <= SHORT_DECIMAL_DIGITS;
    return p->denom.n == 0 && digits + (size_t)suf->exponent * 3 / 10 <= SHORT_BINARY_DIGITS;
}

/* The digits on both sides of the point, side by side. */
static struct str copy_digits(const struct pieces *p, char *to) {
    memcpy(to, p->num.p, p->num.n);
    memcpy(to + p->num.n, p->denom.p, p->denom.n);
    return (struct str){to, p->num.n + p->denom.n};
}

static bool parse_short(struct str text, const struct pieces *p, const struct suffix *suf,
                        struct quantity *out) {
    bool binary = suf->format == QUANTITY_BINARY_SI;
    int32_t scale = quantity__wrap((binary ? 0 : (int64_t)suf->exponent) - (int64_t)p->denom.n);
    if (!fits_short(p, suf) || scale < QUANTITY_NANO)
        return false;
    char room[SHORT_DECIMAL_DIGITS];
    struct str digits = copy_digits(p, room);
    int64_t value = 0;
    for (size_t i = 0; i < digits.n; i++)
        value = value * 10 + (digits.p[i] - '0');
    int64_t amount = binary ? value << suf->exponent : value;
    *out = (struct quantity){
        .value = p->negative ? -amount : amount,
        .scale = scale,
        .format = suf->format,
        .text = keeps_text(digits, value, scale, suf) ? text : (struct str){0},
    };
    return true;
}

/* All digits of the pieces with the suffix worked in, not yet rounded. */
static struct quantity_dec join(struct arena *a, const struct pieces *p, const struct suffix *suf) {
    bool binary = suf->format == QUANTITY_BINARY_SI;
    size_t room = QUANTITY_POW2_DIGITS + p->num.n + p->denom.n;
    char *digits = (char *)arena_alloc(a, room) + QUANTITY_POW2_DIGITS;
    struct quantity_dec d = {
        .digits = digits,
        .n = copy_digits(p, digits).n,
        .negative = p->negative,
        .scale = quantity__wrap((int64_t)p->denom.n - (binary ? 0 : (int64_t)suf->exponent)),
    };
    d.exp = -(int64_t)d.scale;
    if (binary)
        quantity__dec_shift_left(&d, digits, (unsigned)suf->exponent);
    quantity__dec_trim(&d);
    return d;
}

/* Rounds up to whole nanos, so that who asks for something gets something. The 32-bit distance to
 * that scale wraps around upstream: far enough up, everything becomes one nano, and at one exponent
 * upstream crashes (here: -1). */
static int round_to_nano(struct arena *a, struct quantity_dec *d) {
    const int64_t wraps = INT64_C(1) << 31;
    int64_t up = -(int64_t)QUANTITY_NANO - d->scale;
    if (up == wraps)
        return -1;
    if (up > wraps)
        *d = (struct quantity_dec){.digits = "1",
                                   .n = 1,
                                   .exp = QUANTITY_NANO,
                                   .scale = -QUANTITY_NANO,
                                   .negative = d->negative};
    else
        quantity__dec_round_up(a, d, -QUANTITY_NANO);
    return 0;
}

static int parse_long(struct arena *a, const struct pieces *p, const struct suffix *suf,
                      struct quantity *out, struct err *err) {
    if (!p->has_digits)
        return fail_numeric(err);
    struct quantity_dec d = join(a, p, suf);
    if (d.n && round_to_nano(a, &d) < 0)
        return fail_numeric(err);
    enum quantity_format format = suf->format;
    if (format == QUANTITY_BINARY_SI && quantity__dec_cmp_abs(&d, &quantity__dec_max_i64) > 0) {
        bool negative = d.negative;
        d = quantity__dec_max_i64;
        d.negative = negative;
    }
    if (format == QUANTITY_BINARY_SI && d.n && quantity__dec_top(&d) <= 0)
        format = QUANTITY_DECIMAL_SI;
    *out = quantity__of_dec(a, &d, format);
    return 0;
}

int quantity_parse(struct arena *a, struct str text, struct quantity *out, struct err *err) {
    struct pieces pieces;
    struct suffix suffix;
    if (text.n == 0 || !cut_up(text, &pieces))
        return fail_pattern(err);
    if (!look_up_suffix(pieces.suffix, &suffix))
        return err_set(err, ERR_INVALID, "unable to parse quantity's suffix");
    if (parse_short(text, &pieces, &suffix, out))
        return 0;
    return parse_long(a, &pieces, &suffix, out, err);
}
