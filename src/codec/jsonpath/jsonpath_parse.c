/*
 * Templates to nodes.
 *
 * Follows k8s.io/client-go util/jsonpath, func (*Parser) Parse, func UnquoteExtend.
 */
#include <assert.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "codec/jsonpath/jsonpath_int.h"

/* Actions inside of actions: a filter has paths, a union has keys, and they have no more. */
enum { MOST_DEPTH = 8 };

struct parser {
    struct arena *a;
    struct str in;
    size_t pos;
    unsigned depth;
};

static int parse_text(struct parser *p, struct jsonpath__list *root, struct err *err);

/* ---- nodes ---- */

static void append(struct parser *p, struct jsonpath__list *list, struct jsonpath__node node) {
    if (list->n == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 4;
        struct jsonpath__node *v = arena_array(p->a, struct jsonpath__node, cap);
        for (size_t i = 0; i < list->n; i++)
            v[i] = list->v[i];
        list->v = v;
        list->cap = cap;
    }
    list->v[list->n++] = node;
}

static void append_text(struct parser *p, struct jsonpath__list *list, struct str text) {
    append(p, list,
           (struct jsonpath__node){
               .kind = JSONPATH_LITERAL, .is_text = true, .literal = json_of_str(text)});
}

/* ---- characters ---- */

/* The next byte, or -1 at the end. */
static int peek(const struct parser *p) {
    return p->pos < p->in.n ? (unsigned char)p->in.p[p->pos] : -1;
}

static bool starts(const struct parser *p, struct str prefix) {
    return str_starts(str_sub(p->in, p->pos, p->in.n), prefix);
}

/* Letters beyond ASCII are letters. */
static bool is_alphanumeric(int c) {
    return c == '_' || c >= 0x80 || (c >= 0 && ascii_is_alnum((char)c));
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static bool is_terminator(int c) {
    return c < 0 || (c && strchr(" \t\r\n.,[]$@{}", c));
}

/* ---- actions inside of actions ---- */

/* The nodes of an action with that text between its braces. */
static int parse_action(struct parser *p, struct str text, struct jsonpath__list *out,
                        struct err *err) {
    struct parser inner = {.a = p->a, .depth = p->depth + 1};
    struct jsonpath__list root = {0};
    if (inner.depth > MOST_DEPTH)
        return err_set(err, ERR_INVALID, "actions in actions go more than %d deep", MOST_DEPTH);
    inner.in = arena_printf(p->a, "{%.*s}", STR_ARG(text));
    if (parse_text(&inner, &root, err) < 0)
        return -1;
    assert(root.n && root.v[0].lists); /* its text begins with a brace */
    *out = *root.v[0].lists;
    return 0;
}

/* ---- arrays ---- */

static int parse_union(struct parser *p, struct jsonpath__list *cur, struct str text,
                       struct err *err) {
    size_t count = 1;
    for (size_t i = 0; i < text.n; i++)
        count += text.p[i] == ',';
    struct jsonpath__node node = {.kind = JSONPATH_UNION,
                                  .lists = arena_array(p->a, struct jsonpath__list, count),
                                  .list_count = count};
    for (size_t i = 0; i < count; i++) {
        struct str part;
        str_cut(text, ',', &part, &text);
        struct str action = arena_printf(p->a, "[%.*s]", STR_ARG(str_trim(part)));
        if (parse_action(p, action, &node.lists[i], err) < 0)
            return -1;
    }
    append(p, cur, node);
    return 0;
}

static bool is_quoted_key(struct str text) {
    return text.n >= 2 && text.p[0] == '\'' &&
           str_find_char(str_sub(text, 1, text.n), '\'') == text.n - 2;
}

/* ['name'] is .name */
static int parse_key(struct parser *p, struct jsonpath__list *cur, struct str text,
                     struct err *err) {
    struct jsonpath__list list;
    struct str name = str_sub(text, 1, text.n - 1);
    if (parse_action(p, arena_printf(p->a, ".%.*s", STR_ARG(name)), &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++)
        append(p, cur, list.v[i]);
    return 0;
}

static bool is_bound(struct str text) {
    for (size_t i = text.n && text.p[0] == '-'; i < text.n; i++)
        if (!is_digit((unsigned char)text.p[i]))
            return false;
    return true;
}

/* A part of a slice. Go reads leading zeros. */
static int parse_bound(struct str whole, struct str part, struct jsonpath__bound *out,
                       struct err *err) {
    if (!is_bound(part))
        return err_set(err, ERR_INVALID, "invalid array index %.*s", STR_ARG(whole));
    bool is_negative = str_starts(part, STR("-"));
    size_t zeros = is_negative;
    while (zeros + 1 < part.n && part.p[zeros] == '0')
        zeros++;
    out->is_known = part.n > 0;
    if (!part.n)
        return 0;
    if (!str_to_i64(str_sub(part, zeros, part.n), &out->v))
        return err_set(err, ERR_INVALID, "array index %.*s is not a number", STR_ARG(part));
    out->v = is_negative ? -out->v : out->v;
    return 0;
}

static int parse_slice(struct parser *p, struct jsonpath__list *cur, struct str text,
                       struct err *err) {
    struct jsonpath__node node = {.kind = JSONPATH_ARRAY};
    struct str rest = text;
    size_t count = 0;
    for (bool more = true; more; count++) {
        struct str part;
        if (count == 3)
            return err_set(err, ERR_INVALID, "invalid array index %.*s", STR_ARG(text));
        more = str_cut(rest, ':', &part, &rest);
        if (parse_bound(text, part, &node.bounds[count], err) < 0)
            return -1;
    }
    if (count == 1)
        node.bounds[1] = (struct jsonpath__bound){node.bounds[0].v + 1, true, true};
    append(p, cur, node);
    return 0;
}

static int parse_array(struct parser *p, struct jsonpath__list *cur, struct err *err) {
    size_t start = ++p->pos;
    while (peek(p) >= 0 && peek(p) != '\n' && peek(p) != ']')
        p->pos++;
    if (peek(p) != ']')
        return err_set(err, ERR_INVALID, "unterminated array");
    struct str text = str_sub(p->in, start, p->pos++);
    if (str_is(text, "*"))
        text = STR(":");
    if (str_find_char(text, ',') != STR_NONE)
        return parse_union(p, cur, text, err);
    if (is_quoted_key(text))
        return parse_key(p, cur, text, err);
    return parse_slice(p, cur, text, err);
}

/* ---- filters ---- */

/* Behind the bracket that ends the filter; quotes may be around one of its sides. */
static int skip_filter(struct parser *p, struct err *err) {
    bool begin = false, end = false;
    int pair = 0;
    for (;; p->pos++) {
        int c = peek(p);
        if (c < 0 || c == '\n')
            return err_set(err, ERR_INVALID, "unterminated filter");
        if (c == ')' && begin == end)
            break;
        if (c != '"' && c != '\'')
            continue;
        if (!begin)
            pair = c;
        else if (p->in.p[p->pos - 1] != '\\' && c == pair)
            end = true;
        begin = true;
    }
    p->pos++;
    if (peek(p) != ']')
        return err_set(err, ERR_INVALID, "unclosed array expect ]");
    p->pos++;
    return 0;
}

static bool is_operator(char c) {
    return c == '!' || c == '<' || c == '>' || c == '=';
}

/* left operator right; false: there is no operator between two sides. */
static bool cut_filter(struct str text, struct str *left, struct str *operator,
                       struct str * right) {
    size_t from = 0;
    while (from < text.n && !is_operator(text.p[from]))
        from++;
    size_t to = from;
    while (to < text.n && is_operator(text.p[to]))
        to++;
    if (to == text.n && to > from + 1)
        to--; /* something must be left for the right side */
    *left = str_sub(text, 0, from);
    *operator= str_sub(text, from, to);
    *right = str_sub(text, to, text.n);
    return left->n && operator->n && right->n;
}

static int parse_filter(struct parser *p, struct jsonpath__list *cur, struct err *err) {
    struct str left, right, operator;
    size_t start = p->pos += 3;
    if (skip_filter(p, err) < 0)
        return -1;
    struct str text = str_sub(p->in, start, p->pos - 2);
    struct jsonpath__node node = {.kind = JSONPATH_FILTER,
                                  .lists = arena_array(p->a, struct jsonpath__list, 2),
                                  .list_count = 2};
    if (!cut_filter(text, &left, &operator, & right)) {
        left = text;
        node.text = STR("exists");
    } else {
        node.text = operator;
        if (parse_action(p, right, &node.lists[1], err) < 0)
            return -1;
    }
    if (parse_action(p, left, &node.lists[0], err) < 0)
        return -1;
    append(p, cur, node);
    return 0;
}

/* ---- texts, numbers, words ---- */

/* So many hexadecimal digits as a character. */
static bool unquote_hex(struct str *in, size_t digits, struct buf *out) {
    uint32_t cp = 0;
    char bytes[4];
    if (in->n < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        int digit = ascii_hex_value(in->p[i]);
        if (digit < 0)
            return false;
        cp = cp << 4 | (uint32_t)digit;
    }
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp < 0xE000))
        return false;
    if (digits == 2)
        buf_add_char(out, (char)cp);
    else
        buf_add(out, (struct str){bytes, utf8_encode(cp, bytes)});
    *in = str_sub(*in, digits, in->n);
    return true;
}

/* What stands behind a backslash. */
static bool unquote_escape(struct str *in, char quote, struct buf *out) {
    static const char names[] = "abfnrtv\\", values[] = "\a\b\f\n\r\t\v\\";
    if (!in->n)
        return false;
    char c = in->p[0];
    *in = str_sub(*in, 1, in->n);
    const char *place = c ? strchr(names, c) : NULL;
    if (place || c == quote)
        buf_add_char(out, place ? values[place - names] : quote);
    else
        return (c == 'x' && unquote_hex(in, 2, out)) || (c == 'u' && unquote_hex(in, 4, out)) ||
               (c == 'U' && unquote_hex(in, 8, out));
    return true;
}

static int unquote(struct parser *p, struct str quoted, struct str *out, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct str in = str_sub(quoted, 1, quoted.n - 1);
    while (in.n) {
        char c = in.p[0];
        in = str_sub(in, 1, in.n);
        if (c != '\\')
            buf_add_char(&text, c);
        else if (!unquote_escape(&in, quoted.p[0], &text))
            return err_set(err, ERR_INVALID, "unquote string %.*s error invalid syntax",
                           STR_ARG(quoted));
    }
    *out = arena_str(p->a, buf_view(&text));
    return 0;
}

static int parse_quote(struct parser *p, struct jsonpath__list *cur, struct err *err) {
    size_t start = p->pos;
    int quote = peek(p);
    struct str text;
    for (p->pos++; peek(p) != quote || p->in.p[p->pos - 1] == '\\'; p->pos++)
        if (peek(p) < 0 || peek(p) == '\n')
            return err_set(err, ERR_INVALID, "unterminated quoted string");
    if (unquote(p, str_sub(p->in, start, ++p->pos), &text, err) < 0)
        return -1;
    append_text(p, cur, text);
    return 0;
}

static int parse_number(struct parser *p, struct jsonpath__list *cur, struct err *err) {
    size_t start = p->pos;
    p->pos += peek(p) == '+' || peek(p) == '-';
    while (is_digit(peek(p)) || peek(p) == '.')
        p->pos++;
    struct str text = str_sub(p->in, start, p->pos);
    struct str digits = str_starts(text, STR("+")) ? str_sub(text, 1, text.n) : text;
    struct jsonpath__node node = {.kind = JSONPATH_LITERAL};
    struct err no_number;
    if (json_parse(p->a, digits, NULL, &node.literal, &no_number) < 0)
        return err_set(err, ERR_INVALID, "cannot parse number %.*s", STR_ARG(text));
    append(p, cur, node);
    return 0;
}

static void parse_word(struct parser *p, struct jsonpath__list *cur) {
    size_t start = p->pos;
    while (!is_terminator(peek(p)))
        p->pos++;
    struct str word = str_sub(p->in, start, p->pos);
    if (str_is(word, "true") || str_is(word, "false"))
        append(p, cur,
               (struct jsonpath__node){.kind = JSONPATH_LITERAL,
                                       .literal = json_of_bool(str_is(word, "true"))});
    else
        append(p, cur, (struct jsonpath__node){.kind = JSONPATH_WORD, .text = word});
}

/* The name of a field without the backslashes that made dots part of it. */
static struct str unescape(struct parser *p, struct str name) {
    char *out = arena_alloc(p->a, name.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] != '\\')
            out[n++] = name.p[i];
    return (struct str){out, n};
}

static void parse_field(struct parser *p, struct jsonpath__list *cur) {
    size_t start = p->pos;
    for (; !is_terminator(peek(p)); p->pos++)
        p->pos += peek(p) == '\\' && p->pos + 1 < p->in.n;
    struct str name = str_sub(p->in, start, p->pos);
    if (str_is(name, "*"))
        append(p, cur, (struct jsonpath__node){.kind = JSONPATH_WILDCARD});
    else
        append(p, cur, (struct jsonpath__node){.kind = JSONPATH_FIELD, .text = unescape(p, name)});
}

static int parse_recursive(struct parser *p, struct jsonpath__list *cur, struct err *err) {
    if (cur->n && cur->v[cur->n - 1].kind == JSONPATH_RECURSIVE)
        return err_set(err, ERR_INVALID, "invalid multiple recursive descent");
    p->pos += 2;
    append(p, cur, (struct jsonpath__node){.kind = JSONPATH_RECURSIVE});
    if (is_alphanumeric(peek(p)))
        parse_field(p, cur);
    return 0;
}

/* ---- all of it ---- */

static int fail_character(const struct parser *p, struct err *err) {
    size_t len;
    struct str rest = str_sub(p->in, p->pos, p->in.n);
    uint32_t cp = utf8_decode(rest, &len);
    return err_set(err, ERR_INVALID, "unrecognized character in action: U+%04X '%.*s'", cp,
                   STR_ARG(str_sub(rest, 0, len)));
}

/* The next thing in an action that has not ended. */
static int parse_step(struct parser *p, struct jsonpath__list *cur, struct err *err) {
    int c = peek(p);
    if (starts(p, STR("[?(")))
        return parse_filter(p, cur, err);
    if (starts(p, STR("..")))
        return parse_recursive(p, cur, err);
    if (c < 0 || c == '\r' || c == '\n')
        return err_set(err, ERR_INVALID, "unclosed action");
    if (c == '[')
        return parse_array(p, cur, err);
    if (c == '"' || c == '\'')
        return parse_quote(p, cur, err);
    if (c == '+' || c == '-' || is_digit(c))
        return parse_number(p, cur, err);
    if (is_alphanumeric(c)) {
        parse_word(p, cur);
        return 0;
    }
    if (c != ' ' && c != '@' && c != '$' && c != '.')
        return fail_character(p, err);
    p->pos++;
    if (c == '.')
        parse_field(p, cur);
    return 0;
}

static int parse_braces(struct parser *p, struct jsonpath__list *root, struct err *err) {
    struct jsonpath__list *list = arena_new(p->a, struct jsonpath__list);
    p->pos++;
    while (peek(p) != '}')
        if (parse_step(p, list, err) < 0)
            return -1;
    p->pos++;
    append(p, root, (struct jsonpath__node){.kind = JSONPATH_LIST, .lists = list, .list_count = 1});
    return 0;
}

static int parse_text(struct parser *p, struct jsonpath__list *root, struct err *err) {
    while (p->pos < p->in.n) {
        size_t start = p->pos;
        while (peek(p) >= 0 && peek(p) != '{')
            p->pos++;
        if (p->pos > start)
            append_text(p, root, str_sub(p->in, start, p->pos));
        if (peek(p) == '{' && parse_braces(p, root, err) < 0)
            return -1;
    }
    return 0;
}

int jsonpath_parse(struct arena *a, struct str text, struct jsonpath **out, struct err *err) {
    struct parser p = {.a = a, .in = text};
    *out = arena_new(a, struct jsonpath);
    return parse_text(&p, &(*out)->root, err);
}
