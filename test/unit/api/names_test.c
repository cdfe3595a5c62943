#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/names.h"

#define KEY_RE "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define DNS_RE "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define RE(re) "regex used for validation is '" re "')"
#define KEY_EG " (e.g. 'MyName',  or 'my.name',  or '123-abc', " RE(KEY_RE)
#define KEY_IS                                                                                  \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
    "alphanumeric character"
#define NAME "name part " KEY_IS KEY_EG
#define KEY                            \
    "a valid label key " KEY_IS KEY_EG \
    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
#define SUBDOMAIN                                                                                \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', " RE(       \
        DNS_RE "(\\." DNS_RE ")*")
#define LABEL                                                                                    \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and " \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', " RE(     \
        DNS_RE)
#define UNDERSCORE_RE "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
#define UNDERSCORED                                                                               \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-'" \
    " or '.', and must start and end with an alphanumeric character (e.g. 'example.com', " RE(    \
        UNDERSCORE_RE "(\\." UNDERSCORE_RE ")*")
#define DNS1035                                                                                  \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "         \
    "'abc-123', " RE("[a-z]([-a-z0-9]*[a-z0-9])?")
#define VALUE                                                                                      \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', " \
    " or '12345', " RE("(" KEY_RE ")?")

#define A10  "aaaaaaaaaa"
#define A60  A10 A10 A10 A10 A10 A10
#define A63  A60 "aaa"
#define A250 A60 A60 A60 A60 A10
#define A253 A250 "aaa"

typedef struct names_errs check_fn(struct str);

/* Messages are joined with "; ". */
static const struct row {
    check_fn *check;
    struct str name;
    const char *want;
} rows[] = {
    {names_check_label_key, STR_INIT("a"), ""},
    {names_check_label_key, STR_INIT("A-b_c.9"), ""},
    {names_check_label_key, STR_INIT("example.com/Name"), ""},
    {names_check_label_key, STR_INIT(A253 "/" A63), ""},
    {names_check_label_key, STR_INIT(""), "name part must be non-empty; " NAME},
    {names_check_label_key, STR_INIT("-a"), NAME},
    {names_check_label_key, STR_INIT("a."), NAME},
    {names_check_label_key, STR_INIT("a\0b"), NAME},
    {names_check_label_key, STR_INIT("a\n"), NAME},
    {names_check_label_key, STR_INIT("\xC3\xA9"), NAME},
    {names_check_label_key, STR_INIT(A63 "a"), "name part must be no more than 63 bytes"},
    {names_check_label_key, STR_INIT(A63 "-"), "name part must be no more than 63 bytes; " NAME},
    {names_check_label_key, STR_INIT("/a"), "prefix part must be non-empty"},
    {names_check_label_key, STR_INIT("/"),
     "prefix part must be non-empty; name part must be non-empty; " NAME},
    {names_check_label_key, STR_INIT("A/a"), "prefix part " SUBDOMAIN},
    {names_check_label_key, STR_INIT("a..b/a"), "prefix part " SUBDOMAIN},
    {names_check_label_key, STR_INIT(A253 "a/a"), "prefix part must be no more than 253 bytes"},
    {names_check_label_key, STR_INIT(A253 "./" A63 "-"),
     "prefix part must be no more than 253 bytes; prefix part " SUBDOMAIN
     "; name part must be no more than 63 bytes; " NAME},
    {names_check_label_key, STR_INIT("a/b/c"), KEY},
    {names_check_label_key, STR_INIT("//"), KEY},
    {names_check_label_value, STR_INIT(""), ""},
    {names_check_label_value, STR_INIT("My_value.1-2"), ""},
    {names_check_label_value, STR_INIT(A63), ""},
    {names_check_label_value, STR_INIT("-"), VALUE},
    {names_check_label_value, STR_INIT("a/b"), VALUE},
    {names_check_label_value, STR_INIT(A63 "a"), "must be no more than 63 bytes"},
    {names_check_label_value, STR_INIT(A63 "_"), "must be no more than 63 bytes; " VALUE},
    {names_check_dns1123_label, STR_INIT("my-name"), ""},
    {names_check_dns1123_label, STR_INIT("9"), ""},
    {names_check_dns1123_label, STR_INIT(""), LABEL},
    {names_check_dns1123_label, STR_INIT("a_b"), LABEL},
    {names_check_dns1123_label, STR_INIT("Ab"), LABEL},
    {names_check_dns1123_label, STR_INIT("a."), LABEL},
    {names_check_dns1123_label, STR_INIT("a.b"), "must not contain dots"},
    {names_check_dns1123_label, STR_INIT(A63 "a"), "must be no more than 63 characters"},
    {names_check_dns1123_label, STR_INIT(A63 ".a"),
     "must be no more than 63 characters; must not contain dots"},
    {names_check_dns1123_subdomain, STR_INIT("a-1.b.2"), ""},
    {names_check_dns1123_subdomain, STR_INIT(A253), ""},
    {names_check_dns1123_subdomain, STR_INIT(""), SUBDOMAIN},
    {names_check_dns1123_subdomain, STR_INIT(".a"), SUBDOMAIN},
    {names_check_dns1123_subdomain, STR_INIT("a.-b"), SUBDOMAIN},
    {names_check_dns1123_subdomain, STR_INIT(A253 "a"), "must be no more than 253 characters"},
    {names_check_dns1123_subdomain, STR_INIT(A253 "_"),
     "must be no more than 253 characters; " SUBDOMAIN},
    {names_check_dns1123_underscore, STR_INIT("_tcp.example.com"), ""},
    {names_check_dns1123_underscore, STR_INIT("a_b.c-d"), ""},
    {names_check_dns1123_underscore, STR_INIT(""), UNDERSCORED},
    {names_check_dns1123_underscore, STR_INIT("__a"), UNDERSCORED},
    {names_check_dns1123_underscore, STR_INIT("a_"), UNDERSCORED},
    {names_check_dns1123_underscore, STR_INIT("a..b"), UNDERSCORED},
    {names_check_dns1123_underscore, STR_INIT("A"), UNDERSCORED},
    {names_check_dns1123_underscore, STR_INIT(A253 "a"), "must be no more than 253 characters"},
    {names_check_dns1035_label, STR_INIT("abc-123"), ""},
    {names_check_dns1035_label, STR_INIT("a"), ""},
    {names_check_dns1035_label, STR_INIT(""), DNS1035},
    {names_check_dns1035_label, STR_INIT("1a"), DNS1035},
    {names_check_dns1035_label, STR_INIT("a-"), DNS1035},
    {names_check_dns1035_label, STR_INIT("a.b"), DNS1035},
    {names_check_dns1035_label, STR_INIT(A63 "a"), "must be no more than 63 characters"},
    {names_check_dns1035_label, STR_INIT(A63 "-"), "must be no more than 63 characters; " DNS1035},
};

static void messages_are_upstreams(void **state) {
    (void)state;
    struct buf joined = BUF_INIT(4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct names_errs errs = rows[i].check(rows[i].name);
        buf_clear(&joined);
        names_errs_join(&joined, &errs, STR("; "));
        if (!str_is(buf_view(&joined), rows[i].want))
            fail_msg("'%.*s' gives '%.*s'", STR_ARG(rows[i].name), STR_ARG(buf_view(&joined)));
    }
    buf_release(&joined);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_upstreams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
