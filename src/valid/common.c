/*
 * Rules so small that every kind needs them.
 */
#include "base/utf8.h"
#include "valid/valid_int.h"

void valid__names(struct valid *v, const struct path *p, struct str name,
                  const struct names_errs *errs) {
    for (size_t i = 0; i < errs->n; i++)
        valid__invalid(v, p, VALUE_Q(name), "%.*s", STR_ARG(errs->v[i]));
}

void valid__dns_label(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_dns1123_label(name);
    valid__names(v, p, name, &errs);
}

void valid__dns_subdomain(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_dns1123_subdomain(name);
    valid__names(v, p, name, &errs);
}

void valid__label_key(struct valid *v, const struct path *p, struct str key) {
    struct names_errs errs = names_check_label_key(key);
    valid__names(v, p, key, &errs);
}

void valid__not_negative(struct valid *v, const struct path *p, int64_t value) {
    if (value < 0)
        valid__invalid(v, p, VALUE_I64(value), "must be greater than or equal to 0");
}

void valid__immutable(struct valid *v, const struct path *p, struct value value) {
    valid__invalid(v, p, value, "field is immutable");
}

void valid__choice(struct valid *v, const struct path *p, struct str text,
                   const char *const *supported) {
    if (!text.n)
        valid__required(v, p, NO_DETAIL);
    else if (!valid__one_of(text, supported))
        valid__not_supported(v, p, VALUE_NAMED(text), supported);
}

void valid__range(struct valid *v, const struct path *p, int64_t value,
                  const int64_t least_and_most[2]) {
    if (value < least_and_most[0] || value > least_and_most[1])
        valid__invalid(v, p, VALUE_I64(value), "must be between %lld and %lld, inclusive",
                       (long long)least_and_most[0], (long long)least_and_most[1]);
}

/* The characters outside ASCII whose lower case is inside. */
enum { CAPITAL_I_WITH_DOT = 0x130, KELVIN_SIGN = 0x212A };

static void add_lower(struct buf *b, struct str c, uint32_t cp) {
    if (cp >= 'A' && cp <= 'Z')
        buf_add_char(b, (char)(cp + 'a' - 'A'));
    else if (cp == CAPITAL_I_WITH_DOT || cp == KELVIN_SIGN)
        buf_add_char(b, cp == KELVIN_SIGN ? 'k' : 'i');
    else
        buf_add(b, c);
}

struct str valid__lower(struct arena *a, struct str text) {
    AUTO(buf_release) struct buf lower = BUF_INIT(text.n);
    for (size_t i = 0, len; i < text.n; i += len) {
        struct str rest = str_sub(text, i, text.n);
        uint32_t cp = utf8_decode(rest, &len);
        add_lower(&lower, str_sub(rest, 0, len), cp);
    }
    return arena_str(a, buf_view(&lower));
}

static bool is_percent(struct str s) {
    for (size_t i = 0; i + 1 < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 1 && s.p[s.n - 1] == '%';
}

void valid__int_or_percent(struct valid *v, const struct path *p, const struct api_int_or_str *x) {
    if (!x->is_str)
        valid__not_negative(v, p, x->i);
    else if (!is_percent(x->s))
        valid__invalid(v, p, VALUE_NAMED(x->s),
                       "a valid percent string must be a numeric string followed by an ending '%%' "
                       "(e.g. '1%%',  or '93%%', regex used for validation is '[0-9]+%%')");
}

/* Leading zeros aside, at most two digits, or 100. */
void valid__at_most_100_percent(struct valid *v, const struct path *p,
                                const struct api_int_or_str *x) {
    struct str s = x->s;
    if (!x->is_str || !is_percent(s))
        return;
    while (s.n > 2 && s.p[0] == '0')
        s = str_sub(s, 1, s.n);
    if (s.n > 3 && !str_is(s, "100%"))
        valid__invalid(v, p, VALUE_NAMED(x->s), "must not be greater than 100%%");
}
