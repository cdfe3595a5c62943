/*
 * Names: anchors and aliases, tags, and the directives that say what tags mean.
 *
 * Follows go.yaml.in/yaml/v2, func yaml_parser_scan_anchor, func yaml_parser_scan_tag,
 * func yaml_parser_scan_directive.
 */
#include <string.h>

#include "base/ascii.h"
#include "codec/yml/yml_scan_int.h"

static bool is_name_char(char c) {
    return ascii_is_alnum(c) || c == '_' || c == '-';
}

/* Is c one of the characters of set? */
static bool is_one_of(char c, const char *set) {
    return c && strchr(set, c);
}

static void copy_name(struct yml_scanner *s) {
    for (yml__fill(s); is_name_char(*s->p); yml__fill(s)) {
        buf_add_char(&s->text, *s->p);
        yml__advance(s, 1);
    }
}

int yml__scan_anchor(struct yml_scanner *s, struct err *err) {
    bool alias = *s->p == '*';
    struct yml_context context = {alias ? "while scanning an alias" : "while scanning an anchor",
                                  s->mark};
    buf_clear(&s->text);
    yml__advance(s, 1);
    copy_name(s);
    if (!s->text.n || !(yml__is_space(s->p) || is_one_of(*s->p, "?:,]}%@`")))
        return yml__fail(s, &context, "did not find expected alphabetic or numeric character", err);
    struct yml_token *token =
        yml__add_token(s, alias ? YML_TOKEN_ALIAS : YML_TOKEN_ANCHOR, context.from);
    yml__set_text(s, &token->text, buf_view(&s->text));
    return 0;
}

/* --- tags --- */

/* One character of an URI that is written as bytes in hexadecimal digits. */
static int copy_uri_escape(struct yml_scanner *s, const struct yml_context *context,
                           struct err *err) {
    size_t width = 1;
    for (size_t i = 0; i < width; i++) {
        yml__fill(s);
        int high = *s->p == '%' ? ascii_hex_value(s->p[1]) : -1;
        int low = high < 0 ? -1 : ascii_hex_value(s->p[2]);
        if (low < 0)
            return yml__fail(s, context, "did not find URI escaped octet", err);
        int octet = high << 4 | low;
        bool trails = (octet & 0xC0) == 0x80;
        if (i == 0 && (trails || octet >= 0xF8))
            return yml__fail(s, context, "found an incorrect leading UTF-8 octet", err);
        if (i > 0 && !trails)
            return yml__fail(s, context, "found an incorrect trailing UTF-8 octet", err);
        if (i == 0)
            width = octet < 0x80 ? 1 : octet < 0xE0 ? 2 : octet < 0xF0 ? 3 : 4;
        buf_add_char(&s->text, (char)octet);
        yml__advance(s, 3);
    }
    return 0;
}

/* Appends an URI, or the end of one, to the text; it is all that may stand in a tag. */
static int copy_uri(struct yml_scanner *s, const struct yml_context *context, struct err *err) {
    for (yml__fill(s); is_name_char(*s->p) || is_one_of(*s->p, ";/?:@&=+$,.!~*'()[]%");
         yml__fill(s)) {
        if (*s->p == '%') {
            if (copy_uri_escape(s, context, err) < 0)
                return -1;
        } else {
            buf_add_char(&s->text, *s->p);
            yml__advance(s, 1);
        }
    }
    return 0;
}

/* Appends an URI that is not empty. */
static int copy_whole_uri(struct yml_scanner *s, const struct yml_context *context,
                          struct err *err) {
    size_t before = s->text.n;
    if (copy_uri(s, context, err) < 0)
        return -1;
    return s->text.n == before ? yml__fail(s, context, "did not find expected tag URI", err) : 0;
}

/* Appends "!", "!name!", or "!name", which is no handle. */
static int copy_handle(struct yml_scanner *s, const struct yml_context *context, struct err *err) {
    yml__fill(s);
    if (*s->p != '!')
        return yml__fail(s, context, "did not find expected '!'", err);
    buf_add_char(&s->text, '!');
    yml__advance(s, 1);
    copy_name(s);
    if (*s->p == '!') {
        buf_add_char(&s->text, '!');
        yml__advance(s, 1);
    }
    return 0;
}

/* Appends a tag to the text, of which the first *handle bytes are the handle. */
static int copy_tag(struct yml_scanner *s, const struct yml_context *context, size_t *handle,
                    struct err *err) {
    *handle = 0;
    if (s->p[1] == '<') {
        yml__advance(s, 2);
        if (copy_whole_uri(s, context, err) < 0)
            return -1;
        if (*s->p != '>')
            return yml__fail(s, context, "did not find the expected '>'", err);
        yml__advance(s, 1);
        return 0;
    }
    if (copy_handle(s, context, err) < 0)
        return -1;
    if (s->text.n > 1 && s->text.p[s->text.n - 1] == '!') {
        *handle = s->text.n;
        return copy_whole_uri(s, context, err);
    }
    if (copy_uri(s, context, err) < 0)
        return -1;
    *handle = s->text.n > 1; /* a single "!" has no handle */
    return 0;
}

int yml__scan_tag(struct yml_scanner *s, struct err *err) {
    struct yml_context context = {"while scanning a tag", s->mark};
    size_t handle;
    buf_clear(&s->text);
    if (copy_tag(s, &context, &handle, err) < 0)
        return -1;
    yml__fill(s);
    if (!yml__is_space(s->p))
        return yml__fail(s, &context, "did not find expected whitespace or line break", err);
    struct yml_token *token = yml__add_token(s, YML_TOKEN_TAG, context.from);
    yml__set_text(s, &token->text, str_sub(buf_view(&s->text), 0, handle));
    yml__set_text(s, &token->suffix, str_sub(buf_view(&s->text), handle, s->text.n));
    return 0;
}

/* --- directives --- */

static int read_version_number(struct yml_scanner *s, const struct yml_context *context,
                               unsigned char *out, struct err *err) {
    enum { MOST_DIGITS = 2 };
    int digits = 0;
    unsigned value = 0;
    for (yml__fill(s); ascii_is_digit(*s->p); yml__fill(s)) {
        if (++digits > MOST_DIGITS)
            return yml__fail(s, context, "found extremely long version number", err);
        value = value * 10 + (unsigned)(*s->p - '0');
        yml__advance(s, 1);
    }
    if (!digits)
        return yml__fail(s, context, "did not find expected version number", err);
    *out = (unsigned char)value;
    return 0;
}

/* %YAML 1.1 */
static int scan_version(struct yml_scanner *s, struct yml_mark start, struct err *err) {
    struct yml_context context = {"while scanning a %YAML directive", start};
    unsigned char major, minor;
    yml__skip_blanks(s);
    if (read_version_number(s, &context, &major, err) < 0)
        return -1;
    if (*s->p != '.')
        return yml__fail(s, &context, "did not find expected digit or '.' character", err);
    yml__advance(s, 1);
    if (read_version_number(s, &context, &minor, err) < 0)
        return -1;
    struct yml_token *token = yml__add_token(s, YML_TOKEN_VERSION, start);
    token->major = major;
    token->minor = minor;
    return 0;
}

/* %TAG !yaml! tag:yaml.org,2002: */
static int scan_tag_directive(struct yml_scanner *s, struct yml_mark start, struct err *err) {
    struct yml_context context = {"while scanning a %TAG directive", start};
    buf_clear(&s->text);
    yml__skip_blanks(s);
    if (copy_handle(s, &context, err) < 0)
        return -1;
    size_t handle = s->text.n;
    if (handle > 1 && s->text.p[handle - 1] != '!')
        return yml__fail(s, &context, "did not find expected '!'", err);
    if (!yml__is_blank(*s->p))
        return yml__fail(s, &context, "did not find expected whitespace", err);
    yml__skip_blanks(s);
    if (copy_whole_uri(s, &context, err) < 0)
        return -1;
    if (!yml__is_space(s->p))
        return yml__fail(s, &context, "did not find expected whitespace or line break", err);
    struct yml_token *token = yml__add_token(s, YML_TOKEN_TAG_DIRECTIVE, start);
    yml__set_text(s, &token->text, str_sub(buf_view(&s->text), 0, handle));
    yml__set_text(s, &token->suffix, str_sub(buf_view(&s->text), handle, s->text.n));
    return 0;
}

int yml__scan_directive(struct yml_scanner *s, struct err *err) {
    struct yml_context context = {"while scanning a directive", s->mark};
    int rc;
    buf_clear(&s->text);
    yml__advance(s, 1);
    copy_name(s);
    if (!s->text.n)
        return yml__fail(s, &context, "could not find expected directive name", err);
    if (!yml__is_space(s->p))
        return yml__fail(s, &context, "found unexpected non-alphabetical character", err);
    if (str_is(buf_view(&s->text), "YAML"))
        rc = scan_version(s, context.from, err);
    else if (str_is(buf_view(&s->text), "TAG"))
        rc = scan_tag_directive(s, context.from, err);
    else
        rc = yml__fail(s, &context, "found unknown directive name", err);
    return rc < 0 ? rc : yml__skip_rest_of_line(s, &context, err);
}
