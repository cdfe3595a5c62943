/*
 * Named formats: what Kubernetes calls a DNS label, a UUID and so on. A format is a row: its name,
 * the function that lists what is wrong with a text, and the size that its cost is reckoned with.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func Format, func formatValidate.
 */
#include "base/ascii.h"
#include "base/limits.h"
#include "cel/kit/url_int.h"

enum { MAX_MESSAGES = 4 };

/* What is wrong with a text. */
struct faults {
    struct cel_eval *ev;
    struct cel_value list[MAX_MESSAGES];
    uint32_t n;
};

struct cel_format {
    const char *name, *shown;
    void (*validate)(struct faults *f, struct str s);
    uint32_t regex_size;
};

static void say(struct faults *f, struct str text) {
    f->list[f->n++] = cel_of_str(text);
}

/* ---- names ---- */

#define RE(re)   "regex used for validation is '" re "')"
#define LABEL_RE "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define KEY_RE   "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define ENDS     "and must start and end with an alphanumeric character"
#define LABEL_RULE                                                                                \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " ENDS \
    " (e.g. 'my-name',  or '123-abc', " RE(LABEL_RE)
#define SUBDOMAIN_RULE                                                                           \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or " \
    "'.', " ENDS " (e.g. 'example.com', " RE(LABEL_RE "(\\." LABEL_RE ")*")
#define DNS1035_RULE                                                                             \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "         \
    "'abc-123', " RE("[a-z]([-a-z0-9]*[a-z0-9])?")
#define KEY_RULE                                                      \
    "must consist of alphanumeric characters, '-', '_' or '.', " ENDS \
    " (e.g. 'MyName',  or 'my.name',  or '123-abc', " RE(KEY_RE)
#define VALUE_RULE                                                                              \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or " \
    "'.', " ENDS " (e.g. 'MyValue',  or 'my_value',  or '12345', " RE("(" KEY_RE ")?")

static bool is_lower_digit(char c) {
    return ascii_is_lower(c) || ascii_is_digit(c);
}

/* Not empty, `end` at both ends, and between them also the characters of `inner`. */
static bool is_bounded(struct str s, bool (*end)(char), struct str inner) {
    if (s.n == 0 || !end(s.p[0]) || !end(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!end(s.p[i]) && str_find_char(inner, s.p[i]) == STR_NONE)
            return false;
    return true;
}

static bool is_label(struct str s) {
    return is_bounded(s, is_lower_digit, STR("-"));
}

static bool is_subdomain(struct str s) {
    struct str label;
    bool more = true;
    while (more) {
        more = str_cut(s, '.', &label, &s);
        if (!is_label(label))
            return false;
    }
    return true;
}

static bool is_key_name(struct str s) {
    return is_bounded(s, ascii_is_alnum, STR("-_."));
}

static void check_label(struct faults *f, struct str s) {
    if (s.n > 63)
        say(f, STR("must be no more than 63 characters"));
    if (!is_label(s))
        say(f, is_subdomain(s) ? STR("must not contain dots") : STR(LABEL_RULE));
}

static void check_subdomain(struct faults *f, struct str s) {
    if (s.n > 253)
        say(f, STR("must be no more than 253 characters"));
    if (!is_subdomain(s))
        say(f, STR(SUBDOMAIN_RULE));
}

static void check_dns1035(struct faults *f, struct str s) {
    if (s.n > 63)
        say(f, STR("must be no more than 63 characters"));
    if (!is_label(s) || !ascii_is_lower(s.p[0]))
        say(f, STR(DNS1035_RULE));
}

/* A prefix that ends in a dash loses its last two characters for an 'a', as upstream does it. */
static void check_masked(struct faults *f, struct str s,
                         void (*check)(struct faults *f, struct str s)) {
    if (s.n > 1 && s.p[s.n - 1] == '-')
        s = arena_printf(f->ev->arena, "%.*sa", (int)s.n - 2, s.p);
    check(f, s);
}

static void check_label_prefix(struct faults *f, struct str s) {
    check_masked(f, s, check_label);
}

static void check_subdomain_prefix(struct faults *f, struct str s) {
    check_masked(f, s, check_subdomain);
}

static void check_dns1035_prefix(struct faults *f, struct str s) {
    check_masked(f, s, check_dns1035);
}

static void check_key_prefix(struct faults *f, struct str s) {
    if (s.n == 0) {
        say(f, STR("prefix part must be non-empty"));
        return;
    }
    if (s.n > 253)
        say(f, STR("prefix part must be no more than 253 bytes"));
    if (!is_subdomain(s))
        say(f, STR("prefix part " SUBDOMAIN_RULE));
}

static void check_qualified_name(struct faults *f, struct str s) {
    struct str prefix, name;
    if (!str_cut(s, '/', &prefix, &name)) {
        name = s;
    } else if (str_find_char(name, '/') != STR_NONE) {
        say(f, STR("a valid label key " KEY_RULE
                   " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"));
        return;
    } else {
        check_key_prefix(f, prefix);
    }
    if (name.n == 0)
        say(f, STR("name part must be non-empty"));
    else if (name.n > 63)
        say(f, STR("name part must be no more than 63 bytes"));
    if (!is_key_name(name))
        say(f, STR("name part " KEY_RULE));
}

static void check_label_value(struct faults *f, struct str s) {
    if (s.n > 63)
        say(f, STR("must be no more than 63 bytes"));
    if (s.n > 0 && !is_key_name(s))
        say(f, STR(VALUE_RULE));
}

/* ---- other formats ---- */

static void check_uri(struct faults *f, struct str s) {
    AUTO(buf_release) struct buf why = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    struct cel_url url;
    if (!cel__url_parse(f->ev->arena, s, true, &url, &why))
        say(f, arena_str(f->ev->arena, buf_view(&why)));
}

/* Groups of 8, 4, 4, 4 and 12 digits, each perhaps behind a dash. */
static bool is_uuid(struct str s) {
    static const uint8_t groups[] = {8, 4, 4, 4, 12};
    size_t at = 0;
    for (size_t g = 0; g < sizeof groups; g++) {
        if (g > 0 && at < s.n && s.p[at] == '-')
            at++;
        for (size_t i = 0; i < groups[g]; i++, at++)
            if (at >= s.n || ascii_hex_value(s.p[at]) < 0)
                return false;
    }
    return at == s.n;
}

static void check_uuid(struct faults *f, struct str s) {
    if (!is_uuid(s))
        say(f, STR("does not match the UUID format"));
}

static bool is_base64(struct str s) {
    size_t padding = 0;
    if (s.n == 0 || s.n % 4 != 0)
        return false;
    while (padding < 2 && s.p[s.n - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i < s.n - padding; i++)
        if (!ascii_is_alnum(s.p[i]) && s.p[i] != '+' && s.p[i] != '/')
            return false;
    return true;
}

static void check_byte(struct faults *f, struct str s) {
    if (!is_base64(s))
        say(f, STR("invalid base64"));
}

/* Two digits at a place; -1 when they are none. */
static int two_digits(struct str s, size_t at) {
    if (at + 2 > s.n || !ascii_is_digit(s.p[at]) || !ascii_is_digit(s.p[at + 1]))
        return -1;
    return (s.p[at] - '0') * 10 + s.p[at + 1] - '0';
}

static bool is_date(struct str s) {
    static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int century = two_digits(s, 0), year = two_digits(s, 2);
    int month = two_digits(s, 5), day = two_digits(s, 8);
    if (s.n != 10 || s.p[4] != '-' || s.p[7] != '-' || century < 0 || year < 0 || month < 1 ||
        month > 12)
        return false;
    int full = century * 100 + year;
    bool leap = full % 4 == 0 && (full % 100 != 0 || full % 400 == 0);
    return day >= 1 && day <= lengths[month - 1] + (month == 2 && leap);
}

static void check_date(struct faults *f, struct str s) {
    if (!is_date(s))
        say(f, STR("invalid date"));
}

/* z or +hh:mm, in small letters. */
static bool is_offset(struct str s) {
    if (str_is(s, "z"))
        return true;
    return s.n == 6 && (s.p[0] == '+' || s.p[0] == '-') && two_digits(s, 1) >= 0 && s.p[3] == ':' &&
           two_digits(s, 4) >= 0;
}

/* hh:mm:ss, perhaps any character and digits, and an offset. */
static bool is_time(struct str s) {
    int h = two_digits(s, 0), m = two_digits(s, 3), sec = two_digits(s, 6);
    if (s.n < 9 || s.p[2] != ':' || s.p[5] != ':' || h < 0 || h > 23 || m < 0 || m > 59 ||
        sec < 0 || sec > 59)
        return false;
    struct str rest = str_sub(s, 8, s.n);
    if (is_offset(rest))
        return true;
    size_t n = 1; /* the character before the fraction, which may be more than one byte */
    while (n < rest.n && ((unsigned char)rest.p[n] & 0xC0) == 0x80)
        n++;
    size_t digits = n;
    while (n < rest.n && ascii_is_digit(rest.p[n]))
        n++;
    return rest.p[0] != '\n' && n > digits && is_offset(str_sub(rest, n, rest.n));
}

static void check_datetime(struct faults *f, struct str s) {
    char *lower = arena_alloc(f->ev->arena, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        lower[i] = ascii_to_lower(s.p[i]);
    struct str date, time, rest;
    bool both = str_cut((struct str){lower, s.n}, 't', &date, &rest);
    str_cut(rest, 't', &time, &rest);
    if (!both || !is_date(date) || !is_time(time))
        say(f, STR("invalid datetime"));
}

/* ---- the table ---- */

static const struct cel_format formats[] = {
    {"dns1123Label", "DNS1123Label", check_label, 30},
    {"dns1123Subdomain", "DNS1123Subdomain", check_subdomain, 60},
    {"dns1035Label", "DNS1035Label", check_dns1035, 30},
    {"qualifiedName", "QualifiedName", check_qualified_name, 60},
    {"dns1123LabelPrefix", "DNS1123LabelPrefix", check_label_prefix, 30},
    {"dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", check_subdomain_prefix, 60},
    {"dns1035LabelPrefix", "DNS1035LabelPrefix", check_dns1035_prefix, 30},
    {"labelValue", "LabelValue", check_label_value, 40},
    {"uri", "URI", check_uri, 1103},
    {"uuid", "uuid", check_uuid, 70},
    {"byte", "byte", check_byte, 84},
    {"date", "date", check_date, 71},
    {"datetime", "datetime", check_datetime, 71},
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

void cel__format_write(struct buf *out, const struct cel_format *format) {
    buf_add(out, str_of(format->shown));
}

static struct cel_value call_named(struct cel_eval *ev, const struct cel_value *args) {
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (str_is(cel_str(args[0]), formats[i].name))
            return cel__some(ev, cel__opaque(CEL_FORMAT, &formats[i]));
    return cel__none();
}

static struct cel_value call_validate(struct cel_eval *ev, const struct cel_value *args) {
    const struct cel_format *format = args[0].opaque;
    struct faults f = {.ev = ev};
    format->validate(&f, cel_str(args[1]));
    if (f.n == 0)
        return cel__none();
    return cel__some(ev, cel__list(arena_copy(ev->arena, f.list, f.n * sizeof *f.list), f.n));
}

static struct cel_estimated est_validate(const struct cel_call_est *call) {
    struct cel_estimated e = cel__est_arg(call);
    e.cost = cel__range_scale(e.cost, 32); /* a quarter of the longest regular expression, 128 */
    return e;
}

static uint64_t cost_validate(struct cel_eval *ev, const struct cel_value *args,
                              const struct cel_value *result) {
    (void)ev;
    (void)result;
    if (args[0].kind != CEL_FORMAT)
        return 1;
    const struct cel_format *format = args[0].opaque;
    return cel__scale(cel__size_of(args[1]) + 1, 0.1) * cel__scale(format->regex_size, 0.25);
}

/* format.NAME(): one function per row, since functions know nothing but their arguments. */
#define NAMED(at)                                                                                 \
    static struct cel_value call_format_##at(struct cel_eval *ev, const struct cel_value *args) { \
        (void)ev;                                                                                 \
        (void)args;                                                                               \
        return cel__opaque(CEL_FORMAT, &formats[at]);                                             \
    }

NAMED(0)
NAMED(1)
NAMED(2)
NAMED(3)
NAMED(4)
NAMED(5)
NAMED(6)
NAMED(7)
NAMED(8)
NAMED(9)
NAMED(10)
NAMED(11)
NAMED(12)

#define T "kubernetes.NamedFormat"
#define ROW(name, at)                                                                \
    {                                                                                \
        "format." name, "format." name, "() -> " T, call_format_##at, NULL, NULL, 0, \
            "the format " name                                                       \
    }

static const struct cel_fn fns[] = {
    {"validate", "format-validate", T ".(string) -> optional_type(list(string))", call_validate,
     est_validate, cost_validate, CEL_FN_COST_BY_NAME, "what is wrong with the text, if anything"},
    {"format.named", "format-named", "(string) -> optional_type(" T ")", call_named, NULL, NULL,
     CEL_FN_COST_BY_NAME, "the format of this name, if there is one"},
    ROW("dns1123Label", 0),
    ROW("dns1123Subdomain", 1),
    ROW("dns1035Label", 2),
    ROW("qualifiedName", 3),
    ROW("dns1123LabelPrefix", 4),
    ROW("dns1123SubdomainPrefix", 5),
    ROW("dns1035LabelPrefix", 6),
    ROW("labelValue", 7),
    ROW("uri", 8),
    ROW("uuid", 9),
    ROW("byte", 10),
    ROW("date", 11),
    ROW("datetime", 12),
};

const struct cel_library cel__lib_format = {CEL_LIB_FORMAT, fns, sizeof fns / sizeof *fns};
