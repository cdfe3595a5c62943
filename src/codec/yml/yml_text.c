/*
 * Scalars: plain, in quotes, and in blocks. Their text grows in one buffer. White space that may
 * turn out to be none of it is put there, too, and taken back by shortening the buffer, so that
 * every byte is looked at once.
 *
 * Follows go.yaml.in/yaml/v2, func yaml_parser_scan_plain_scalar,
 * func yaml_parser_scan_flow_scalar, func yaml_parser_scan_block_scalar.
 */
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "codec/yml/yml_scan_int.h"

/* --- pieces --- */

/* Where a run of ordinary characters ends: all that is no ASCII, and in each kind of scalar: */
enum { ENDS_PLAIN = 1, ENDS_PLAIN_IN_FLOW = 2, ENDS_SINGLE = 4, ENDS_DOUBLE = 8, ENDS_LINE = 16 };
enum { ENDS_WORD = ENDS_PLAIN | ENDS_PLAIN_IN_FLOW | ENDS_SINGLE | ENDS_DOUBLE };

static const unsigned char ends[128] = {
    ['\0'] = ENDS_WORD | ENDS_LINE,
    ['\n'] = ENDS_WORD | ENDS_LINE,
    ['\r'] = ENDS_WORD | ENDS_LINE,
    [' '] = ENDS_WORD,
    ['\t'] = ENDS_WORD,
    [':'] = ENDS_PLAIN | ENDS_PLAIN_IN_FLOW,
    [','] = ENDS_PLAIN_IN_FLOW,
    ['?'] = ENDS_PLAIN_IN_FLOW,
    ['['] = ENDS_PLAIN_IN_FLOW,
    [']'] = ENDS_PLAIN_IN_FLOW,
    ['{'] = ENDS_PLAIN_IN_FLOW,
    ['}'] = ENDS_PLAIN_IN_FLOW,
    ['\''] = ENDS_SINGLE,
    ['"'] = ENDS_DOUBLE,
    ['\\'] = ENDS_DOUBLE,
};

static bool ends_run(unsigned char c, unsigned what) {
    return c >= 128 || (ends[c] & what);
}

/* Takes over the ordinary characters that stand here. */
static void copy_run(struct yml_scanner *s, unsigned what) {
    const char *p = s->p;
    while (!ends_run((unsigned char)*p, what))
        p++;
    size_t n = (size_t)(p - s->p);
    buf_add(&s->text, (struct str){s->p, n});
    yml__advance(s, n);
}

static void copy_char(struct yml_scanner *s) {
    const char *start = s->p;
    yml__advance_char(s);
    buf_add(&s->text, (struct str){start, (size_t)(s->p - start)});
}

/* LS and PS are never folded. */
static bool is_kept_break(const char *p) {
    return yml__break_length(p) == 3;
}

/* Takes over a line break, if there is one; LS and PS stay what they are. */
static void copy_break(struct yml_scanner *s) {
    if (is_kept_break(s->p))
        buf_add(&s->text, (struct str){s->p, 3});
    else if (yml__break_length(s->p))
        buf_add_char(&s->text, '\n');
    yml__skip_break(s);
}

/* The text so far becomes a token. */
static void add_scalar(struct yml_scanner *s, struct yml_mark start, bool plain) {
    struct yml_token *token = yml__add_token(s, YML_TOKEN_SCALAR, start);
    token->plain = plain;
    yml__set_text(s, &token->text, buf_view(&s->text));
}

/* --- gaps: white space between the words of a plain or quoted scalar --- */

enum gap { WITHIN_LINE, FOLDED, KEPT }; /* what has become of the first line break */

/*
 * Takes over the white space that stands here. Within a line it stays as it is; a single line break
 * becomes a space, of several the first one goes, and blanks around them go. The gap may have
 * begun already, with a break that is KEPT. Returns the kind of gap, or -1 at a tab in the
 * indentation.
 */
static int copy_gap(struct yml_scanner *s, enum gap gap, int indent) {
    size_t before = s->text.n;
    for (yml__fill(s);; yml__fill(s)) {
        if (yml__is_blank(*s->p)) {
            if (gap != WITHIN_LINE && *s->p == '\t' && s->mark.column < indent)
                return -1;
            if (gap == WITHIN_LINE)
                buf_add_char(&s->text, *s->p);
            yml__advance(s, 1);
        } else if (!yml__break_length(s->p)) {
            break;
        } else if (gap != WITHIN_LINE) {
            copy_break(s);
        } else {
            s->text.n = before;
            gap = is_kept_break(s->p) ? KEPT : FOLDED;
            if (gap == KEPT)
                copy_break(s);
            else
                yml__skip_break(s);
        }
    }
    if (gap == FOLDED && s->text.n == before)
        buf_add_char(&s->text, ' ');
    return (int)gap;
}

/* --- plain --- */

/* Takes over characters up to white space or what ends the scalar. */
static void copy_plain_word(struct yml_scanner *s) {
    bool flow = yml__in_flow(s);
    unsigned what = flow ? ENDS_PLAIN_IN_FLOW : ENDS_PLAIN;
    for (;;) {
        copy_run(s, what);
        yml__fill(s);
        char c = *s->p;
        if (!ends_run((unsigned char)c, what))
            continue;
        if (yml__is_space(s->p) || (c == ':' && yml__is_space(s->p + 1)) ||
            (flow && c && strchr(",?[]{}", c)))
            return;
        copy_char(s);
    }
}

int yml__scan_plain(struct yml_scanner *s, struct err *err) {
    struct yml_context context = {"while scanning a plain scalar", s->mark};
    struct yml_mark end = s->mark;
    int indent = s->indent + 1, gap = WITHIN_LINE;
    size_t length = 0; /* without the last gap */
    buf_clear(&s->text);
    while (!(s->mark.column == 0 && yml__is_document_mark(s->p)) && *s->p != '#') {
        size_t at = s->mark.index;
        copy_plain_word(s);
        if (s->mark.index > at) {
            length = s->text.n;
            end = s->mark;
            gap = WITHIN_LINE;
        }
        if (!yml__is_space(s->p) || !*s->p)
            break;
        gap = copy_gap(s, WITHIN_LINE, indent);
        if (gap < 0)
            return yml__fail(s, &context, "found a tab character that violates indentation", err);
        if (!yml__in_flow(s) && s->mark.column < indent)
            break;
    }
    s->text.n = length;
    add_scalar(s, context.from, true);
    s->tokens.v[s->tokens.n - 1].end = end;
    if (gap != WITHIN_LINE)
        s->key_allowed = true;
    return 0;
}

/* --- quoted --- */

static const struct {
    char escape, digits; /* how many follow */
    struct str text;
} escapes[] = {
    {'0', 0, STR_INIT("\0")},
    {'a', 0, STR_INIT("\a")},
    {'b', 0, STR_INIT("\b")},
    {'t', 0, STR_INIT("\t")},
    {'\t', 0, STR_INIT("\t")},
    {'n', 0, STR_INIT("\n")},
    {'v', 0, STR_INIT("\v")},
    {'f', 0, STR_INIT("\f")},
    {'r', 0, STR_INIT("\r")},
    {'e', 0, STR_INIT("\x1B")},
    {' ', 0, STR_INIT(" ")},
    {'"', 0, STR_INIT("\"")},
    {'\'', 0, STR_INIT("'")},
    {'\\', 0, STR_INIT("\\")},
    {'N', 0, STR_INIT("\xC2\x85")},
    {'_', 0, STR_INIT("\xC2\xA0")},
    {'L', 0, STR_INIT("\xE2\x80\xA8")},
    {'P', 0, STR_INIT("\xE2\x80\xA9")},
    {'x', 2, {0}},
    {'u', 4, {0}},
    {'U', 8, {0}},
};

/* Takes over the character that so many hexadecimal digits stand for. */
static int copy_code(struct yml_scanner *s, const struct yml_context *context, int digits,
                     struct err *err) {
    uint32_t code = 0;
    char text[4];
    for (int i = 0; i < digits; i++) {
        int value = ascii_hex_value(s->p[i]);
        if (value < 0)
            return yml__fail(s, context, "did not find expected hexdecimal number", err);
        code = code << 4 | (uint32_t)value;
    }
    if ((code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF)
        return yml__fail(s, context, "found invalid Unicode character escape code", err);
    buf_add(&s->text, (struct str){text, utf8_encode(code, text)});
    yml__advance(s, (size_t)digits);
    return 0;
}

/* Takes over what a backslash and the characters behind it stand for. */
static int copy_escape(struct yml_scanner *s, struct yml_mark start, struct err *err) {
    struct yml_context context = {"while parsing a quoted scalar", start};
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        if (s->p[1] != escapes[i].escape)
            continue;
        yml__advance(s, 2);
        if (escapes[i].digits)
            return copy_code(s, &context, escapes[i].digits, err);
        buf_add(&s->text, escapes[i].text);
        return 0;
    }
    return yml__fail(s, &context, "found unknown escape character", err);
}

/* Takes over characters up to white space or the quote that ends the scalar. *gap becomes KEPT at
 * an escaped line break, which begins a gap. */
static int copy_quoted_word(struct yml_scanner *s, char quote, struct yml_mark start, enum gap *gap,
                            struct err *err) {
    unsigned what = quote == '"' ? ENDS_DOUBLE : ENDS_SINGLE;
    for (;;) {
        copy_run(s, what);
        yml__fill(s);
        if (yml__is_space(s->p))
            return 0;
        if (*s->p == quote) {
            if (quote == '"' || s->p[1] != quote)
                return 0;
            buf_add_char(&s->text, quote);
            yml__advance(s, 2);
        } else if (quote == '"' && *s->p == '\\') {
            if (yml__break_length(s->p + 1)) {
                yml__advance(s, 1);
                yml__skip_break(s);
                *gap = KEPT;
                return 0;
            }
            if (copy_escape(s, start, err) < 0)
                return -1;
        } else {
            copy_char(s);
        }
    }
}

int yml__scan_quoted(struct yml_scanner *s, struct err *err) {
    struct yml_context context = {"while scanning a quoted scalar", s->mark};
    char quote = *s->p;
    yml__advance(s, 1);
    buf_clear(&s->text);
    for (;;) {
        enum gap gap = WITHIN_LINE;
        yml__fill(s);
        if (s->mark.column == 0 && yml__is_document_mark(s->p))
            return yml__fail(s, &context, "found unexpected document indicator", err);
        if (!*s->p)
            return yml__fail(s, &context, "found unexpected end of stream", err);
        if (copy_quoted_word(s, quote, context.from, &gap, err) < 0)
            return -1;
        yml__fill(s);
        if (*s->p == quote)
            break;
        copy_gap(s, gap, 0);
    }
    yml__advance(s, 1);
    add_scalar(s, context.from, false);
    return 0;
}

/* --- blocks --- */

enum chomping { CLIP, STRIP, KEEP };

struct header {
    enum chomping chomping;
    int indent; /* that the lines have; 0: the first one shows it */
};

/* Reads what stands behind | or >: how the end is chomped, and the indentation, in any order. */
static int read_header(struct yml_scanner *s, const struct yml_context *context, struct header *out,
                       struct err *err) {
    bool chomped = false;
    *out = (struct header){0};
    for (;;) {
        yml__fill(s);
        if (!chomped && (*s->p == '+' || *s->p == '-')) {
            out->chomping = *s->p == '+' ? KEEP : STRIP;
            chomped = true;
        } else if (!out->indent && ascii_is_digit(*s->p)) {
            if (*s->p == '0')
                return yml__fail(s, context, "found an indentation indicator equal to 0", err);
            out->indent = *s->p - '0' + (s->indent > 0 ? s->indent : 0);
        } else {
            return yml__skip_rest_of_line(s, context, err);
        }
        yml__advance(s, 1);
    }
}

/* Takes over empty lines and moves over the indentation of the line behind them; finds out how deep
 * it is if that is not known. */
static int copy_empty_lines(struct yml_scanner *s, const struct yml_context *context, int *indent,
                            struct err *err) {
    int deepest = 0;
    for (;; copy_break(s)) {
        for (yml__fill(s); (!*indent || s->mark.column < *indent) && *s->p == ' '; yml__fill(s))
            yml__advance(s, 1);
        if (s->mark.column > deepest)
            deepest = s->mark.column;
        if ((!*indent || s->mark.column < *indent) && *s->p == '\t')
            return yml__fail(s, context,
                             "found a tab character where an indentation space is expected", err);
        if (!yml__break_length(s->p))
            break;
    }
    if (!*indent)
        *indent = deepest > s->indent + 1 ? deepest : s->indent + 1;
    if (!*indent)
        *indent = 1;
    return 0;
}

static void copy_line(struct yml_scanner *s) {
    for (yml__fill(s); !yml__is_line_end(s->p); yml__fill(s)) {
        size_t at = s->text.n;
        copy_run(s, ENDS_LINE);
        if (s->text.n == at)
            copy_char(s);
    }
}

/* Makes a space of the break at text[at], or takes it away if others follow. */
static void fold(struct buf *text, size_t at) {
    if (text->n == at + 1) {
        text->p[at] = ' ';
        return;
    }
    memmove(text->p + at, text->p + at + 1, text->n - at - 1);
    text->n--;
}

int yml__scan_block(struct yml_scanner *s, struct err *err) {
    struct yml_context context = {"while scanning a block scalar", s->mark};
    bool folded = *s->p == '>', was_blank = false; /* the line before began with a blank */
    struct header header;
    size_t content = 0, line = 0; /* the text without its last break, and with it */
    buf_clear(&s->text);
    yml__advance(s, 1);
    if (read_header(s, &context, &header, err) < 0 ||
        copy_empty_lines(s, &context, &header.indent, err) < 0)
        return -1;
    while (s->mark.column == header.indent && *s->p) {
        bool is_blank = yml__is_blank(*s->p);
        if (folded && !was_blank && !is_blank && line == content + 1)
            fold(&s->text, content);
        was_blank = is_blank;
        copy_line(s);
        content = s->text.n;
        copy_break(s);
        line = s->text.n;
        if (copy_empty_lines(s, &context, &header.indent, err) < 0)
            return -1;
    }
    if (header.chomping != KEEP)
        s->text.n = header.chomping == CLIP ? line : content;
    add_scalar(s, context.from, false);
    return 0;
}
