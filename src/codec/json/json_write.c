/*
 * The writer: a tree to the bytes that Go's encoding/json prints, with a stack of its own instead
 * of recursion.
 *
 * It works on the memory of the caller's buffer with a few bytes more than its maximum, so that a
 * short piece needs one check for room and not one per byte. A text that passed the real maximum is
 * dropped as a whole.
 *
 * Follows std encoding/json, func appendString, func appendIndent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "codec/json/json_int.h"
#include "codec/json/json_scan.h"

enum {
    SPARE = 64,           /* room behind every piece: a number, separators, an escape */
    FIRST_ROOM = 4096,    /* API objects take a few KiB */
    LEVELS_AT_FIRST = 48, /* on the C stack: API objects are not deeper */
};

/* --- where the bytes go --- */

struct sink {
    char *to, *end; /* the free part of the buffer */
    struct buf buf;
};

static void set_end(struct sink *s) {
    bool any = s->buf.cap > 0;
    s->to = any ? s->buf.p + s->buf.n : NULL;
    s->end = any ? s->buf.p + s->buf.cap : NULL;
}

static struct sink sink_on(const struct buf *out) {
    struct sink s = {.buf = *out};
    /* once for the room behind a piece, once for pieces that get shorter than they might */
    s.buf.max = out->max < SIZE_MAX - 2 * SPARE ? out->max + 2 * SPARE : SIZE_MAX;
    set_end(&s);
    return s;
}

static bool grow(struct sink *s, size_t n) {
    s->buf.n = (size_t)(s->to - s->buf.p);
    size_t want = n + SPARE;
    if (s->buf.cap == 0 && want < FIRST_ROOM && s->buf.max > FIRST_ROOM)
        want = FIRST_ROOM;
    if (!(s->to = buf_room(&s->buf, want)))
        return false;
    s->end = s->buf.p + s->buf.cap;
    return true;
}

/* Room for n bytes, and SPARE behind them; false when the buffer may not grow that far, and then
 * nothing more may be written. */
static inline bool need(struct sink *s, size_t n) {
    return __builtin_expect(s->to && (size_t)(s->end - s->to) >= n + SPARE, 1) || grow(s, n);
}

/* Gives the memory back to its buffer, and the text when all of it was written and fits. */
static void finish(struct sink *s, struct buf *out, bool whole) {
    size_t n = whole ? (size_t)(s->to - s->buf.p) : SIZE_MAX;
    out->p = s->buf.p;
    out->cap = s->buf.cap < out->max ? s->buf.cap : out->max;
    if (n <= out->max)
        out->n = n;
    else
        out->full = true;
}

/* --- strings --- */

static const char hex[] = "0123456789abcdef";

static char *put_ascii_escape(char *to, unsigned char c) {
    static const char letters[128] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                      ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    *to++ = '\\';
    if (letters[c]) {
        *to++ = letters[c];
        return to;
    }
    memcpy(to, "u00", 3);
    to[3] = hex[c >> 4];
    to[4] = hex[c & 15];
    return to + 5;
}

/* The special character at p in its escaped form; *p moves behind it. */
static char *put_special(char *to, const char **p, const char *end) {
    unsigned char c = (unsigned char)**p;
    if (c < 0x80) {
        (*p)++;
        return put_ascii_escape(to, c);
    }
    size_t len;
    uint32_t cp = utf8_decode((struct str){*p, (size_t)(end - *p)}, &len);
    const char *from = *p;
    *p += len;
    if (cp == UTF8_INVALID)
        return (char *)memcpy(to, "\\ufffd", 6) + 6;
    /* Line ends for JavaScript, though not for JSON. */
    if (cp == 0x2028 || cp == 0x2029)
        return (char *)memcpy(to, cp == 0x2028 ? "\\u2028" : "\\u2029", 6) + 6;
    return (char *)memcpy(to, from, len) + len;
}

static inline bool put_string_styled(struct sink *s, struct str text, bool raw_html) {
    if (!need(s, text.n))
        return false;
    *s->to++ = '"';
    const char *p = text.p, *end = p + text.n;
    while (p < end) {
        size_t n = json__copy_plain(s->to, p, end, raw_html);
        p += n;
        s->to += n;
        if (p == end)
            break;
        s->to = put_special(s->to, &p, end);
        if (!need(s, (size_t)(end - p)))
            return false;
    }
    *s->to++ = '"';
    return true;
}

static bool put_string(struct sink *s, struct str text, bool raw_html) {
    if (!text.p)
        text = STR(""); /* an absent text is written as an empty one */
    return raw_html ? put_string_styled(s, text, true) : put_string_styled(s, text, false);
}

/* --- numbers --- */

static bool put_u64(struct sink *s, uint64_t v, bool negative) {
    char digits[21], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    if (negative)
        *--p = '-';
    if (!need(s, sizeof digits))
        return false;
    size_t n = (size_t)(digits + sizeof digits - p);
    memcpy(s->to, p, n);
    s->to += n;
    return true;
}

/* Is the literal what Go would print for its value? Sure for up to 15 digits with a point among
 * them, no zero at the end, and not so small that an exponent is due. */
static bool is_shortest(struct str literal) {
    struct str whole, fraction;
    if (literal.n > 16 || !str_cut(literal, '.', &whole, &fraction) || fraction.n == 0 ||
        fraction.p[fraction.n - 1] == '0' || str_find_char(fraction, 'e') != STR_NONE ||
        str_find_char(fraction, 'E') != STR_NONE)
        return false;
    return !str_ends(whole, STR("0")) || !str_starts(fraction, STR("00000"));
}

static bool put_float(struct sink *s, const struct json *v, bool literally) {
    if (literally || is_shortest(json_str(v))) {
        if (!need(s, v->n))
            return false;
        memcpy(s->to, v->s, v->n);
        s->to += v->n;
        return true;
    }
    s->buf.n = (size_t)(s->to - s->buf.p);
    json_write_double(&s->buf, json_double(v));
    set_end(s);
    return !s->buf.full;
}

/* --- trees --- */

/* An open container. */
struct level {
    const struct json *of;
    uint32_t at; /* the next child */
    bool sorted; /* its members go by w->order from `order_at` on */
    size_t order_at;
};

struct writer {
    struct sink sink;
    struct json_style style;
    struct level *levels;
    size_t depth, levels_cap;
    VEC(const struct json_member *) order;
    struct level first[LEVELS_AT_FIRST];
};

static int by_key(const void *a, const void *b) {
    const struct json_member *x = *(const struct json_member *const *)a,
                             *y = *(const struct json_member *const *)b;
    int order = str_cmp(x->key, y->key);
    return order ? order : (x > y) - (x < y);
}

static bool in_order(const struct json *object) {
    for (uint32_t i = 1; i < object->n; i++) {
        if (str_cmp(object->members[i - 1].key, object->members[i].key) > 0)
            return false;
    }
    return true;
}

static void sort_members(struct writer *w, struct level *level) {
    const struct json *object = level->of;
    if (in_order(object))
        return;
    level->sorted = true;
    level->order_at = w->order.n;
    vec_reserve(&w->order, object->n);
    for (uint32_t i = 0; i < object->n; i++)
        w->order.v[w->order.n++] = &object->members[i];
    qsort(w->order.v + level->order_at, object->n, sizeof *w->order.v, by_key);
}

static void push_level(struct writer *w, const struct json *container) {
    if (w->depth == w->levels_cap) {
        bool on_heap = w->levels != w->first;
        w->levels_cap *= 2;
        struct level *levels =
            xrealloc(on_heap ? w->levels : NULL, size_mul(w->levels_cap, sizeof *levels));
        if (!on_heap)
            memcpy(levels, w->first, sizeof w->first);
        w->levels = levels;
    }
    struct level *level = &w->levels[w->depth++];
    *level = (struct level){.of = container};
    if (w->style.sort_keys && container->kind == JSON_OBJECT)
        sort_members(w, level);
}

static bool put_bytes(struct sink *s, const char *p, size_t n) {
    if (!need(s, n))
        return false;
    memcpy(s->to, p, n);
    s->to += n;
    return true;
}

/* A line break and the indentation of the current depth. */
static bool put_break(struct writer *w) {
    size_t n = w->depth * w->style.indent;
    if (w->style.indent == 0)
        return true;
    if (!need(&w->sink, n + 1))
        return false;
    *w->sink.to++ = '\n';
    memset(w->sink.to, ' ', n);
    w->sink.to += n;
    return true;
}

/* Writes a value; of a container with children only the bracket. */
static bool put_value(struct writer *w, const struct json *v) {
    struct sink *s = &w->sink;
    switch (v->kind) {
    case JSON_STRING:
        return put_string(s, json_str(v), w->style.raw_html);
    case JSON_INT:
        return put_u64(s, v->i < 0 ? 0 - v->u : v->u, v->i < 0);
    case JSON_UINT:
        return put_u64(s, v->u, false);
    case JSON_FLOAT:
        return put_float(s, v, w->style.literals);
    case JSON_BOOL:
        return v->b ? put_bytes(s, "true", 4) : put_bytes(s, "false", 5);
    case JSON_ARRAY:
    case JSON_OBJECT:
        if (v->n == 0)
            return put_bytes(s, v->kind == JSON_ARRAY ? "[]" : "{}", 2);
        push_level(w, v);
        return put_bytes(s, v->kind == JSON_ARRAY ? "[" : "{", 1);
    default:
        return put_bytes(s, "null", 4);
    }
}

/* Closes containers that have no more children. */
static bool put_ends(struct writer *w) {
    while (w->depth > 0 && w->levels[w->depth - 1].at == w->levels[w->depth - 1].of->n) {
        const struct level *level = &w->levels[--w->depth];
        if (level->sorted)
            w->order.n = level->order_at;
        if (!put_break(w) || !need(&w->sink, 1))
            return false;
        *w->sink.to++ = level->of->kind == JSON_ARRAY ? ']' : '}';
    }
    return true;
}

/* Writes what stands before the next child of the innermost container; NULL = no room. */
static const struct json *put_child_start(struct writer *w) {
    struct level *level = &w->levels[w->depth - 1];
    struct sink *s = &w->sink;
    uint32_t i = level->at++;
    if (!need(s, 1))
        return NULL;
    if (i > 0)
        *s->to++ = ',';
    if (!put_break(w))
        return NULL;
    if (level->of->kind == JSON_ARRAY)
        return &level->of->items[i];
    const struct json_member *m =
        level->sorted ? w->order.v[level->order_at + i] : &level->of->members[i];
    if (!put_string(s, m->key, w->style.raw_html) || !need(s, 2))
        return NULL;
    *s->to++ = ':';
    if (w->style.indent)
        *s->to++ = ' ';
    return &m->value;
}

static bool put_tree(struct writer *w, const struct json *v) {
    while (v) {
        if (!put_value(w, v) || !put_ends(w))
            return false;
        if (w->depth == 0)
            return true;
        v = put_child_start(w);
    }
    return false;
}

void json_write(struct buf *out, const struct json *v, const struct json_style *style) {
    struct writer w;
    w.sink = sink_on(out);
    w.style = style ? *style : (struct json_style){0};
    w.levels = w.first;
    w.levels_cap = LEVELS_AT_FIRST;
    w.depth = 0;
    memset(&w.order, 0, sizeof w.order);
    bool whole = put_tree(&w, v);
    finish(&w.sink, out, whole);
    if (w.levels != w.first)
        free(w.levels);
    vec_release(&w.order);
}

void json_write_str(struct buf *out, struct str s, bool raw_html) {
    struct sink sink = sink_on(out);
    bool whole = put_string(&sink, s, raw_html);
    finish(&sink, out, whole);
}
