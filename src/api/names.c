/*
 * The rules are regular languages so small that a character class and a look at both ends decide
 * them; the expressions themselves appear only in the messages.
 *
 * Follows k8s.io/apimachinery pkg/api/validate/content, func IsLabelKey, func IsLabelValue,
 * func IsDNS1123Label, func IsDNS1123Subdomain, func IsDNS1123SubdomainCaseless.
 */
#include "api/names.h"

#define ALNUM_ENDS                                                       \
    "must consist of alphanumeric characters, '-', '_' or '.', and must" \
    " start and end with an alphanumeric character"
#define LABEL_KEY_RE "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define DNS1123_RE   "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define RE_IS(re)    "regex used for validation is '" re "')"
#define LABEL_KEY_RULE \
    ALNUM_ENDS " (e.g. 'MyName',  or 'my.name',  or '123-abc', " RE_IS(LABEL_KEY_RE)
#define SUBDOMAIN_RULE                                                                           \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', " RE_IS(    \
        DNS1123_RE "(\\." DNS1123_RE ")*")
#define CASELESS_RULE                                                                      \
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must " \
    "start and end with an alphanumeric character (e.g. 'Example.com', " RE_IS(            \
        DNS1123_RE "(\\." DNS1123_RE ")*")
#define UNDERSCORE_RE "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
#define UNDERSCORE_RULE                                                                        \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', " \
    "'-' or '.', and must start and end with an alphanumeric character (e.g. "                 \
    "'example.com', " RE_IS(UNDERSCORE_RE "(\\." UNDERSCORE_RE ")*")
#define LABEL_RULE                                                                               \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and " \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', " RE_IS(  \
        DNS1123_RE)
#define DNS1035_RULE                                                                             \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "         \
    "'abc-123', " RE_IS("[a-z]([-a-z0-9]*[a-z0-9])?")

enum { LABEL_MAX = 63, SUBDOMAIN_MAX = 253 };

enum {
    LOWER = 1,
    UPPER = 2,
    DIGIT = 4,
    DASH = 8,
    DOT = 16,
    UNDERSCORE = 32,
    ALNUM = LOWER | UPPER | DIGIT,
};

#define FIVE(c, class) \
    [c] = class, [c + 1] = class, [c + 2] = class, [c + 3] = class, [c + 4] = class
#define LETTERS(a, class)                                                         \
    FIVE(a, class), FIVE(a + 5, class), FIVE(a + 10, class), FIVE(a + 15, class), \
        FIVE(a + 20, class), [a + 25] = class
static const unsigned char classes_of_bytes[256] = {
    LETTERS('a', LOWER), LETTERS('A', UPPER), FIVE('0', DIGIT),   FIVE('5', DIGIT),
    ['-'] = DASH,        ['.'] = DOT,         ['_'] = UNDERSCORE,
};

static inline unsigned class_of(char c) {
    return classes_of_bytes[(unsigned char)c];
}

static bool all_of(struct str s, unsigned classes) {
    for (size_t i = 0; i < s.n; i++)
        if (!(class_of(s.p[i]) & classes))
            return false;
    return true;
}

/* Not empty, a first and a last character of these classes, and only `inner` between them. */
static bool is_bounded(struct str s, unsigned first, unsigned inner, unsigned last) {
    return s.n > 0 && (class_of(s.p[0]) & first) && (class_of(s.p[s.n - 1]) & last) &&
           all_of(s, first | inner | last);
}

static bool is_label_name(struct str s) {
    return is_bounded(s, ALNUM, DASH | DOT | UNDERSCORE, ALNUM);
}

static bool is_dns1123_label(struct str s) {
    return is_bounded(s, LOWER | DIGIT, DASH, LOWER | DIGIT);
}

/* May begin with one underscore and have more of them inside. */
static bool is_underscore_label(struct str s) {
    if (s.n > 0 && s.p[0] == '_')
        s = str_sub(s, 1, s.n);
    return is_bounded(s, LOWER | DIGIT, DASH | UNDERSCORE, LOWER | DIGIT);
}

static bool are_underscore_labels(struct str s) {
    struct str label;
    bool more;
    do {
        more = str_cut(s, '.', &label, &s);
        if (!is_underscore_label(label))
            return false;
    } while (more);
    return true;
}

/* Labels of some letters and digits between dots: no dash at their ends. */
static bool are_labels(struct str s, unsigned alnum) {
    unsigned next = alnum, class = 0;
    for (size_t i = 0; i < s.n; i++) {
        class = class_of(s.p[i]);
        if (!(class & next))
            return false;
        next = alnum | (class == DOT ? 0 : class == DASH ? DASH : DASH | DOT);
    }
    return class & alnum;
}

static bool is_dns1123_subdomain(struct str s) {
    return are_labels(s, LOWER | DIGIT);
}

static void say(struct names_errs *errs, struct str message) {
    errs->v[errs->n++] = message;
}

static void check_prefix(struct names_errs *errs, struct str prefix) {
    if (prefix.n == 0) {
        say(errs, STR("prefix part must be non-empty"));
        return;
    }
    if (prefix.n > SUBDOMAIN_MAX)
        say(errs, STR("prefix part must be no more than 253 bytes"));
    if (!is_dns1123_subdomain(prefix))
        say(errs, STR("prefix part " SUBDOMAIN_RULE));
}

static void check_name(struct names_errs *errs, struct str name) {
    if (name.n == 0)
        say(errs, STR("name part must be non-empty"));
    else if (name.n > LABEL_MAX)
        say(errs, STR("name part must be no more than 63 bytes"));
    if (!is_label_name(name))
        say(errs, STR("name part " LABEL_KEY_RULE));
}

struct names_errs names_check_label_key(struct str key) {
    struct names_errs errs = {0};
    struct str prefix, name;
    if (!str_cut(key, '/', &prefix, &name)) {
        check_name(&errs, key);
    } else if (str_find_char(name, '/') != STR_NONE) {
        say(&errs, STR("a valid label key " LABEL_KEY_RULE
                       " with an optional DNS subdomain prefix and '/' (e.g. "
                       "'example.com/MyName')"));
    } else {
        check_prefix(&errs, prefix);
        check_name(&errs, name);
    }
    return errs;
}

struct names_errs names_check_label_value(struct str value) {
    struct names_errs errs = {0};
    if (value.n > LABEL_MAX)
        say(&errs, STR("must be no more than 63 bytes"));
    if (value.n > 0 && !is_label_name(value))
        say(&errs, STR("a valid label must be an empty string or consist of alphanumeric "
                       "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                       "character (e.g. 'MyValue',  or 'my_value',  or '12345', " RE_IS(
                           "(" LABEL_KEY_RE ")?")));
    return errs;
}

/* For names upstream says "characters" where it means bytes; label keys and values say it right. */
#define LABEL_TOO_LONG STR("must be no more than 63 characters")

struct names_errs names_check_dns1123_label(struct str name) {
    struct names_errs errs = {0};
    if (name.n > LABEL_MAX)
        say(&errs, LABEL_TOO_LONG);
    if (!is_dns1123_label(name))
        say(&errs, is_dns1123_subdomain(name) ? STR("must not contain dots") : STR(LABEL_RULE));
    return errs;
}

struct names_errs names_check_dns1123_subdomain(struct str name) {
    struct names_errs errs = {0};
    if (name.n > SUBDOMAIN_MAX)
        say(&errs, STR("must be no more than 253 characters"));
    if (!is_dns1123_subdomain(name))
        say(&errs, STR(SUBDOMAIN_RULE));
    return errs;
}

struct names_errs names_check_dns1123_caseless(struct str name) {
    struct names_errs errs = {0};
    if (name.n > SUBDOMAIN_MAX)
        say(&errs, STR("must be no more than 253 bytes"));
    if (!are_labels(name, ALNUM))
        say(&errs, STR(CASELESS_RULE));
    return errs;
}

struct names_errs names_check_dns1123_underscore(struct str name) {
    struct names_errs errs = {0};
    if (name.n > SUBDOMAIN_MAX)
        say(&errs, STR("must be no more than 253 characters"));
    if (!are_underscore_labels(name))
        say(&errs, STR(UNDERSCORE_RULE));
    return errs;
}

struct names_errs names_check_dns1035_label(struct str name) {
    struct names_errs errs = {0};
    if (name.n > LABEL_MAX)
        say(&errs, LABEL_TOO_LONG);
    if (!is_bounded(name, LOWER, DIGIT | DASH, LOWER | DIGIT))
        say(&errs, STR(DNS1035_RULE));
    return errs;
}

void names_errs_join(struct buf *out, const struct names_errs *errs, struct str sep) {
    for (size_t i = 0; i < errs->n; i++) {
        if (i > 0)
            buf_add(out, sep);
        buf_add(out, errs->v[i]);
    }
}
