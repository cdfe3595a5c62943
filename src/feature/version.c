/*
 * Release numbers in flags. The grammar and the texts are those of apimachinery's util/version.
 *
 * Follows k8s.io/apimachinery pkg/util/version, func Parse, func parse.
 */
#include "base/alloc.h"
#include "base/ascii.h"
#include "base/goquote.h"
#include "feature/feature_int.h"

static bool is_id_char(char c) {
    return ascii_is_alnum(c) || c == '-';
}

/* White space as a Go regular expression's \s has it: without \v. */
static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* Length of the longest [0-9]+(\.[0-9]+)* at the beginning of s; 0 = none. */
static size_t numbers_length(struct str s) {
    size_t n = 0;
    for (size_t at = 0; at < s.n && ascii_is_digit(s.p[at]); at++) {
        while (at < s.n && ascii_is_digit(s.p[at]))
            at++;
        n = at;
        if (at == s.n || s.p[at] != '.')
            break;
    }
    return n;
}

static bool to_u64(struct str digits, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < digits.n; i++)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(digits.p[i] - '0'), &v))
            return false;
    *out = v;
    return true;
}

static bool zero_prefixed(struct str digits) {
    return digits.n > 1 && digits.p[0] == '0';
}

/* A Go-quoted text for an error message. */
static void quote(struct buf *out, struct str s) {
    goquote_write(out, str_sub(s, 0, ERR_TEXT));
}

enum { QUOTED_MAX = 4 * ERR_TEXT + 4 };

static int refuse(struct err *err, const char *what, struct str text, const char *after) {
    AUTO(buf_release) struct buf quoted = BUF_INIT(QUOTED_MAX);
    quote(&quoted, text);
    return err_set(err, ERR_USAGE, "%s %.*s%s", what, STR_ARG(buf_view(&quoted)), after);
}

static int refuse_component(struct err *err, struct str component, struct str text) {
    AUTO(buf_release) struct buf c = BUF_INIT(QUOTED_MAX), t = BUF_INIT(QUOTED_MAX);
    quote(&c, component);
    quote(&t, text);
    if (zero_prefixed(component))
        return err_set(err, ERR_USAGE, "illegal zero-prefixed version component %.*s in %.*s",
                       STR_ARG(buf_view(&c)), STR_ARG(buf_view(&t)));
    return err_set(err, ERR_USAGE,
                   "illegal non-numeric version component %.*s in %.*s: strconv.ParseUint: parsing "
                   "%.*s: value out of range",
                   STR_ARG(buf_view(&c)), STR_ARG(buf_view(&t)), STR_ARG(buf_view(&c)));
}

/* Length of [0-9A-Za-z-]+(\.[0-9A-Za-z-]+)* at the beginning of s; 0 = none. */
static size_t ids_length(struct str s) {
    size_t n = 0;
    for (size_t at = 0; at < s.n && is_id_char(s.p[at]); at++) {
        while (at < s.n && is_id_char(s.p[at]))
            at++;
        n = at;
        if (at == s.n || s.p[at] != '.')
            break;
    }
    return n;
}

/* Is one of the dot-separated identifiers a number with a leading zero? */
static bool any_zero_prefixed_number(struct str ids) {
    struct str id;
    uint64_t number;
    for (bool more = ids.n > 0; more;) {
        more = str_cut(ids, '.', &id, &ids);
        if (zero_prefixed(id) && numbers_length(id) == id.n && to_u64(id, &number))
            return true;
    }
    return false;
}

/* The "-pre+build" at the beginning of extra; false unless only white space follows it. */
static bool cut_suffix(struct str extra, struct str *suffix) {
    size_t at = 0;
    if (extra.n && extra.p[0] == '-') {
        size_t n = ids_length(str_sub(extra, 1, extra.n));
        if (n == 0 || any_zero_prefixed_number(str_sub(extra, 1, 1 + n)))
            return false;
        at = 1 + n;
    }
    if (at < extra.n && extra.p[at] == '+') {
        size_t n = ids_length(str_sub(extra, at + 1, extra.n));
        if (n == 0)
            return false;
        at += 1 + n;
    }
    *suffix = str_sub(extra, 0, at);
    while (at < extra.n && is_space(extra.p[at]))
        at++;
    return at == extra.n;
}

/* Reads the dot-separated numbers; *plain says whether none but a lone zero begins with 0. */
static int read_components(struct str text, struct feature__version *out, size_t *count,
                           bool *plain, struct err *err) {
    struct str rest = out->numbers, component;
    uint64_t values[3] = {0};
    *plain = true;
    size_t n = 0;
    for (bool more = true; more; n++) {
        more = str_cut(rest, '.', &component, &rest);
        *plain = *plain && !zero_prefixed(component);
        uint64_t value;
        if ((n == 0 && zero_prefixed(component)) || !to_u64(component, &value))
            return refuse_component(err, component, text);
        if (n < 3)
            values[n] = value;
    }
    out->major = values[0];
    out->minor = values[1];
    out->patch = values[2];
    *count = n;
    return 0;
}

int feature__version_parse(struct str text, struct feature__version *out, struct err *err) {
    size_t at = 0;
    while (at < text.n && is_space(text.p[at]))
        at++;
    at += at < text.n && text.p[at] == 'v';
    size_t n = numbers_length(str_sub(text, at, text.n));
    struct str extra = str_sub(text, at + n, text.n);
    if (n == 0 || str_find_char(extra, '\n') != STR_NONE)
        return refuse(err, "could not parse", text, " as version");
    *out = (struct feature__version){.numbers = str_sub(text, at, at + n)};
    if (str_find_char(out->numbers, '.') == STR_NONE)
        return refuse(err, "illegal version string", text, "");
    size_t count = 0;
    bool plain = false;
    if (read_components(text, out, &count, &plain, err) < 0)
        return -1;
    if (count != 3 || !plain || !cut_suffix(extra, &out->suffix))
        out->suffix = STR("");
    return 0;
}

void feature__version_write(struct buf *out, const struct feature__version *v) {
    struct str rest = v->numbers, component;
    for (bool more = true; more;) {
        uint64_t value = 0;
        more = str_cut(rest, '.', &component, &rest);
        to_u64(component, &value);
        buf_add_u64(out, value);
        if (more)
            buf_add_char(out, '.');
    }
    buf_add(out, v->suffix);
}

int feature__version_cmp(struct feature_version a, struct feature_version b) {
    if (a.major != b.major)
        return a.major < b.major ? -1 : 1;
    return (a.minor > b.minor) - (a.minor < b.minor);
}

struct feature_version feature__version_before(struct feature_version v) {
    return (struct feature_version){v.major, v.minor ? v.minor - 1 : 0};
}
