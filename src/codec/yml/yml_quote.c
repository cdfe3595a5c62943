/*
 * Strings as YAML scalars, in the style that go-yaml chooses: plain where it reads back as the same
 * string, a literal block for several lines, single quotes for what would be taken for syntax,
 * double quotes for the rest. Long lines are folded at spaces behind column 80.
 *
 * Follows go.yaml.in/yaml/v2, func (*encoder) stringv, func yaml_emitter_analyze_scalar,
 * func yaml_emitter_select_scalar_style.
 */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "codec/yml/yml_int.h"
#include "codec/yml/yml_write_int.h"

enum { LONGEST_SIMPLE_KEY = 128 };

/* --- characters --- */

struct character {
    uint32_t code; /* UTF8_INVALID for a byte that is none */
    struct str bytes;
};

static struct character char_at(struct str s, size_t at) {
    struct character c = {.code = (unsigned char)s.p[at], .bytes = {s.p + at, 1}};
    if (c.code >= 0x80)
        c.code = utf8_decode(str_sub(s, at, s.n), &c.bytes.n);
    return c;
}

static bool is_break(uint32_t c) {
    return c == '\r' || c == '\n' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

/* What may stand unescaped; go-yaml escapes everything above U+FFFF. */
static bool is_printable(uint32_t c) {
    return c == '\n' || (c >= 0x20 && c <= 0x7E) || (c >= 0xA0 && c <= 0xFFFD && c != 0xFEFF);
}

/* Index of the first line break at or behind `at`, or the length. */
static size_t find_break(struct str s, size_t at) {
    for (; at < s.n; at++) {
        unsigned char c = (unsigned char)s.p[at];
        if (c == '\n' || c == '\r' || ((c == 0xC2 || c == 0xE2) && is_break(char_at(s, at).code)))
            break;
    }
    return at;
}

static bool is_blank_at(struct str s, size_t at) {
    return at < s.n && (s.p[at] == ' ' || s.p[at] == '\t');
}

static bool is_space_at(struct str s, size_t at) {
    return at < s.n && s.p[at] == ' ';
}

/* --- which styles are possible --- */

struct analysis {
    bool indicators;        /* something that is syntax in a plain scalar */
    bool breaks;            /* line breaks */
    bool special;           /* characters that only double quotes can hold */
    bool leading, trailing; /* space or break at the beginning, at the end */
    bool trailing_space;
    bool break_space, space_break; /* space behind a break, in front of one */
};

static bool is_indicator(struct str s, size_t at, bool after_blank) {
    char c = s.p[at];
    bool before_blank = at + 1 >= s.n || is_blank_at(s, at + 1);
    if (c == ':')
        return before_blank;
    if (at > 0)
        return c == '#' && after_blank;
    if (c == '?' || c == '-')
        return before_blank;
    return strchr("#,[]{}&*!|>'\"%@`", c) != NULL;
}

/* How many characters from `at` on have no say in the style, behind the first one of a string. */
static size_t skip_ordinary(struct str s, size_t at) {
    size_t end = at;
    while (end > 0 && end < s.n && s.p[end] > ' ' && s.p[end] < 0x7F && s.p[end] != ':' &&
           s.p[end] != '#')
        end++;
    return end - at;
}

static struct analysis analyse(struct str s) {
    struct analysis a = {.indicators = str_starts(s, STR("---")) || str_starts(s, STR("..."))};
    bool after_space = false, after_break = false, after_blank = true;
    for (size_t at = 0, n; at < s.n; at += n) {
        n = skip_ordinary(s, at);
        if (n) {
            after_space = after_break = after_blank = false;
            continue;
        }
        struct character c = char_at(s, at);
        n = c.bytes.n;
        bool space = c.code == ' ', brk = is_break(c.code), last = at + n == s.n;
        a.indicators |= c.code && is_indicator(s, at, after_blank);
        a.special |= !is_printable(c.code);
        a.breaks |= brk;
        a.leading |= at == 0 && (space || brk);
        a.trailing |= last && (space || brk);
        a.trailing_space |= last && space;
        a.break_space |= space && after_break;
        a.space_break |= brk && after_space;
        after_space = space;
        after_break = brk;
        after_blank = space || brk || c.code == '\t' || c.code == 0;
    }
    return a;
}

bool yml__is_simple_key(struct str s) {
    return s.n <= LONGEST_SIMPLE_KEY && find_break(s, 0) == s.n;
}

enum style { PLAIN, SINGLE, DOUBLE, LITERAL };

static enum style choose_style(struct str s, bool simple_key) {
    struct analysis a = analyse(s);
    bool block = !a.trailing_space && !a.space_break && !a.special;
    bool plain = block && !a.leading && !a.trailing && !a.breaks && !a.indicators;
    if (str_find_char(s, '\n') != STR_NONE)
        return block && !simple_key ? LITERAL : DOUBLE;
    /* go-yaml leaves the key "<<" plain, which reads back as a merge key. */
    if (!yml__is_plain_string(s) || (simple_key && (a.breaks || str_is(s, "<<"))))
        return DOUBLE;
    if (plain)
        return PLAIN;
    return a.break_space || a.space_break || a.special ? DOUBLE : SINGLE;
}

/* --- writing --- */

static void put_char(struct yml_pen *pen, struct character c) {
    if (c.code == '\n') {
        yml__put_break(pen);
        return;
    }
    yml__put(pen, c.bytes);
    if (is_break(c.code))
        pen->column = 0;
}

/* Characters without line breaks, at once. */
static void put_run(struct yml_pen *pen, struct str s) {
    buf_add(pen->out, s);
    for (size_t i = 0; i < s.n; i++)
        pen->column += ((unsigned char)s.p[i] & 0xC0) != 0x80;
}

/* Is there a single space at `at` where a line that is too long may be folded? */
static bool may_fold(const struct yml_pen *pen, struct str s, size_t at, bool after_space) {
    return !after_space && pen->column > YML_WIDTH && at > 0 && at + 1 < s.n;
}

void yml__write_plain(struct yml_pen *pen, struct str s, bool simple_key) {
    bool after_space = false;
    struct character c;
    if (!pen->whitespace)
        yml__put(pen, STR(" "));
    size_t at = 0;
    if (simple_key || (size_t)pen->column + s.n <= YML_WIDTH || str_find_char(s, ' ') == STR_NONE) {
        put_run(pen, s); /* nothing to fold */
        at = s.n;
    }
    for (; at < s.n; at += c.bytes.n) {
        c = char_at(s, at);
        bool space = c.code == ' ';
        if (space && may_fold(pen, s, at, after_space) && !is_space_at(s, at + 1))
            yml__write_indent(pen);
        else
            yml__put(pen, c.bytes);
        pen->indention = pen->indention && space;
        after_space = space;
    }
    pen->whitespace = pen->indention = false;
}

static void write_single(struct yml_pen *pen, struct str s, bool simple_key) {
    bool after_space = false, after_break = false;
    struct character c;
    yml__write_indicator(pen, "'", true);
    for (size_t at = 0; at < s.n; at += c.bytes.n) {
        c = char_at(s, at);
        bool space = c.code == ' ', brk = is_break(c.code);
        if (after_break && !space && !brk)
            yml__write_indent(pen);
        if (space && !simple_key && may_fold(pen, s, at, after_space) && !is_space_at(s, at + 1)) {
            yml__write_indent(pen);
        } else {
            if (c.code == '\'')
                yml__put(pen, STR("'"));
            put_char(pen, c);
        }
        pen->indention = brk || (pen->indention && space);
        after_space = space;
        after_break = brk || (after_break && space);
    }
    yml__write_indicator(pen, "'", false);
    pen->whitespace = pen->indention = false;
}

static void put_escape(struct yml_pen *pen, uint32_t c) {
    static const struct {
        uint32_t code;
        const char *escape;
    } short_ones[] = {
        {0, "\\0"},     {7, "\\a"},    {8, "\\b"},    {9, "\\t"},      {10, "\\n"},
        {11, "\\v"},    {12, "\\f"},   {13, "\\r"},   {27, "\\e"},     {'"', "\\\""},
        {'\\', "\\\\"}, {0x85, "\\N"}, {0xA0, "\\_"}, {0x2028, "\\L"}, {0x2029, "\\P"},
    };
    char text[16] = "";
    for (size_t i = 0; i < sizeof short_ones / sizeof *short_ones; i++)
        if (short_ones[i].code == c)
            snprintf(text, sizeof text, "%s", short_ones[i].escape);
    if (!text[0])
        snprintf(text, sizeof text, c <= 0xFF ? "\\x%02X" : c <= 0xFFFF ? "\\u%04X" : "\\U%08X", c);
    for (size_t i = 0; text[i]; i++)
        yml__put(pen, (struct str){text + i, 1});
}

static void write_double(struct yml_pen *pen, struct str s, bool simple_key) {
    /* Behind a byte order mark go-yaml escapes everything. */
    bool escape_all = str_starts(s, STR("\xEF\xBB\xBF")), after_space = false;
    struct character c;
    yml__write_indicator(pen, "\"", true);
    for (size_t at = 0; at < s.n; at += c.bytes.n) {
        c = char_at(s, at);
        bool escaped = escape_all || !is_printable(c.code) || is_break(c.code) || c.code == '"' ||
                       c.code == '\\';
        bool space = !escaped && c.code == ' ';
        if (escaped) {
            put_escape(pen, c.code == UTF8_INVALID ? 0xFFFD : c.code);
        } else if (space && !simple_key && may_fold(pen, s, at, after_space)) {
            yml__write_indent(pen);
            if (is_space_at(s, at + 1))
                yml__put(pen, STR("\\"));
        } else {
            yml__put(pen, c.bytes);
        }
        after_space = space;
    }
    yml__write_indicator(pen, "\"", false);
    pen->whitespace = pen->indention = false;
}

/* Where the character in front of `at` (> 0) starts. */
static size_t before(struct str s, size_t at) {
    do
        at--;
    while (at > 0 && ((unsigned char)s.p[at] & 0xC0) == 0x80);
    return at;
}

/* How line breaks at the end are kept: none, all, or one, which needs no mark. */
static const char *chomping(struct str s) {
    size_t last = before(s, s.n);
    if (!is_break(char_at(s, last).code))
        return "-";
    return last == 0 || is_break(char_at(s, before(s, last)).code) ? "+" : "";
}

static void write_literal(struct yml_pen *pen, struct str s) {
    struct character c = char_at(s, 0);
    yml__write_indicator(pen, "|", true);
    if (c.code == ' ' || is_break(c.code))
        yml__write_indicator(pen, "2", false);
    yml__write_indicator(pen, chomping(s), false);
    yml__put_break(pen);
    pen->whitespace = pen->indention = true;
    for (size_t at = 0; at < s.n;) {
        size_t end = find_break(s, at);
        if (end > at) {
            yml__write_indent(pen);
            put_run(pen, str_sub(s, at, end));
            pen->indention = false;
        }
        for (at = end; at < s.n && is_break((c = char_at(s, at)).code); at += c.bytes.n) {
            put_char(pen, c);
            pen->indention = true;
        }
    }
}

void yml__write_string(struct yml_pen *pen, struct str s, bool simple_key) {
    switch (choose_style(s, simple_key)) {
    case PLAIN:
        yml__write_plain(pen, s, simple_key);
        break;
    case SINGLE:
        write_single(pen, s, simple_key);
        break;
    case DOUBLE:
        write_double(pen, s, simple_key);
        break;
    case LITERAL:
        write_literal(pen, s);
        break;
    }
}
