/* Taints whose values look like numbers or versions, and cannot be read as such. */
#include "advice/advice_int.h"
#include "base/ascii.h"

static const struct api_taint_list *taints_of(const struct advisor *w) {
    return &((const struct api_node *)w->o->body)->spec.taints;
}

static struct str value_path(struct advisor *w, size_t i) {
    return arena_printf(w->out->a, "spec.taints[%zu].value", i);
}

static size_t digits(struct str s, size_t from) {
    size_t n = 0;
    while (from + n < s.n && ascii_is_digit(s.p[from + n]))
        n++;
    return n;
}

/* ---- number-not-canonical ---- */

/* 95.5, unless the key tells that it is a version. */
static bool is_decimal(struct str key, struct str value) {
    size_t whole = digits(value, 0);
    return whole && whole < value.n && value.p[whole] == '.' &&
           whole + 1 + digits(value, whole + 1) == value.n && whole + 1 < value.n &&
           !advice__key_has(key, "version") && !advice__key_has(key, "release");
}

/* Two digits such as 01 are a name more often than a number. */
static bool has_leading_zeros(struct str value) {
    return value.n > 2 && value.p[0] == '0' && digits(value, 0) == value.n;
}

static bool is_too_large(struct str value) {
    int64_t number;
    return value.n && digits(value, 0) == value.n && value.p[0] != '0' &&
           !str_to_i64(value, &number);
}

static struct str without_zeros(struct str value) {
    while (value.n > 1 && value.p[0] == '0')
        value = str_sub(value, 1, value.n);
    return value;
}

void advice__number_not_canonical(struct advisor *w) {
    const struct api_taint_list *taints = taints_of(w);
    for (size_t i = 0; i < taints->n; i++) {
        struct str value = taints->v[i].value;
        if (has_leading_zeros(value))
            advice__say(w, value_path(w, i),
                        "Lt and Gt never match %.*s: a number with leading zeros is not read as "
                        "one; write %.*s",
                        STR_ARG(value), STR_ARG(without_zeros(value)));
        else if (is_too_large(value))
            advice__say(w, value_path(w, i),
                        "Lt and Gt never match %.*s: it is greater than 9223372036854775807",
                        STR_ARG(value));
        else if (is_decimal(taints->v[i].key, value))
            advice__say(w, value_path(w, i),
                        "Lt and Gt never match %.*s: they compare integers; use a smaller unit",
                        STR_ARG(value));
    }
}

/* ---- version-not-parsed ---- */

/* It begins as versions do: v1.2, 4.18 */
static bool looks_like_version(struct str value) {
    size_t at = str_starts(value, STR("v")) ? 1 : 0;
    size_t major = digits(value, at);
    at += major;
    return major && at < value.n && value.p[at] == '.' && digits(value, at + 1);
}

/* The three numbers at the start, as far as they are there. */
static struct str numbers_of(struct str value) {
    size_t at = str_starts(value, STR("v")) ? 1 : 0, n = at;
    for (int part = 0; part < 3; part++) {
        size_t more = digits(value, n + (part > 0));
        if (!more || (part > 0 && value.p[n] != '.'))
            break;
        n += more + (part > 0);
    }
    return str_sub(value, at, n);
}

bool advice__is_bad_version(struct arena *a, struct str text, struct err *why) {
    struct semver v;
    return looks_like_version(text) && semver_parse_tolerant(a, text, &v, why) < 0;
}

void advice__version_not_parsed(struct advisor *w) {
    const struct api_taint_list *taints = taints_of(w);
    for (size_t i = 0; i < taints->n; i++) {
        struct str value = taints->v[i].value;
        struct err why;
        if (!advice__is_bad_version(w->out->a, value, &why))
            continue;
        advice__say(w, value_path(w, i),
                    "no Semver operator ever matches %.*s, which is not a version (%s); taint the "
                    "node with %.*s",
                    STR_ARG(value), why.msg, STR_ARG(numbers_of(value)));
    }
}
