/*
 * A JSON tree as kubectl prints YAML: block style, indentation by two, sequences at the level of
 * their key, keys in go-yaml's natural order. No recursion: open containers stand on a stack.
 *
 * Follows go.yaml.in/yaml/v2, func (*encoder) marshal, func (keyList) Less.
 * Follows sigs.k8s.io/yaml, func JSONToYAML.
 */
#include <stdlib.h>

#include "base/ascii.h"
#include "base/vec.h"
#include "codec/yml/yml_int.h"
#include "codec/yml/yml_write_int.h"

/* --- the pen --- */

void yml__put(struct yml_pen *pen, struct str character) {
    buf_add(pen->out, character);
    pen->column++;
}

void yml__put_break(struct yml_pen *pen) {
    buf_add_char(pen->out, '\n');
    pen->column = 0;
}

void yml__write_indent(struct yml_pen *pen) {
    int indent = pen->indent < 0 ? 0 : pen->indent;
    if (!pen->indention || pen->column > indent || (pen->column == indent && !pen->whitespace))
        yml__put_break(pen);
    if (pen->column < indent) {
        buf_add_fill(pen->out, ' ', (size_t)(indent - pen->column));
        pen->column = indent;
    }
    pen->whitespace = pen->indention = true;
}

void yml__write_indicator(struct yml_pen *pen, const char *indicator, bool spaced) {
    if (spaced && !pen->whitespace)
        yml__put(pen, STR(" "));
    for (; *indicator; indicator++)
        yml__put(pen, (struct str){indicator, 1});
    pen->whitespace = pen->indention = false;
}

/* "-", "?" and ":" at the start of a line: a container behind them starts on the same line. */
static void write_opener(struct yml_pen *pen, const char *indicator) {
    bool indention = pen->indention;
    yml__write_indicator(pen, indicator, true);
    pen->indention = indention;
}

/* --- order of keys --- */

/* Letters beyond ASCII are not looked up: every such character counts as one. */
static bool is_letter(char c) {
    return (unsigned char)c >= 0x80 || ascii_is_letter(c);
}

/* The number at `at`, in the wrapping arithmetic of Go, and how many digits it has. */
static int64_t number_at(struct str s, size_t at, uint64_t start, size_t *digits) {
    *digits = 0;
    for (; at < s.n && ascii_is_digit(s.p[at]); at++, ++*digits)
        start = start * 10 + (uint64_t)(s.p[at] - '0');
    return (int64_t)start;
}

/* Does a digit other than 0 belong to the number that goes on at `at`? */
static bool continues_number(struct str s, size_t at) {
    while (at > 0 && ascii_is_digit(s.p[at - 1]))
        if (s.p[--at] != '0')
            return true;
    return false;
}

/* Two keys that differ at `at`, where neither has a letter: by number where there is one. */
static int compare_numbers(struct str a, struct str b, size_t at) {
    bool zero = a.p[at] == '0' || b.p[at] == '0';
    uint64_t start = zero && continues_number(a, at);
    size_t an, bn;
    int64_t av = number_at(a, at, start, &an), bv = number_at(b, at, start, &bn);
    if (av != bv)
        return av < bv ? -1 : 1;
    if (an != bn)
        return an < bn ? -1 : 1;
    return (unsigned char)a.p[at] < (unsigned char)b.p[at] ? -1 : 1;
}

static int compare_keys(struct str a, struct str b) {
    size_t at = 0;
    while (at < a.n && at < b.n && a.p[at] == b.p[at])
        at++;
    if (at == a.n || at == b.n)
        return (a.n > b.n) - (a.n < b.n);
    bool al = is_letter(a.p[at]), bl = is_letter(b.p[at]);
    if (al && bl)
        return (unsigned char)a.p[at] < (unsigned char)b.p[at] ? -1 : 1;
    if (al || bl)
        return bl ? -1 : 1;
    return compare_numbers(a, b, at);
}

static int compare_members(const void *a, const void *b) {
    const struct json_member *const *ma = a, *const *mb = b;
    return compare_keys((*ma)->key, (*mb)->key);
}

/* --- the document --- */

struct frame {
    const struct json *container;
    size_t next;  /* item or member to write next */
    size_t order; /* of a map: its first member in writer.order */
    int indent;   /* outside of it */
};

struct writer {
    struct yml_pen pen;
    VEC(struct frame) frames;
    VEC(const struct json_member *) order; /* members of all open maps, each sorted */
};

static void push(struct writer *w, const struct json *container, bool in_map) {
    struct yml_pen *pen = &w->pen;
    bool is_map = container->kind == JSON_OBJECT;
    vec_push(&w->frames, (struct frame){container, 0, w->order.n, pen->indent});
    if (pen->indent < 0)
        pen->indent = 0;
    else if (is_map || !in_map || pen->indention)
        pen->indent += YML_INDENT;
    if (!is_map)
        return;
    for (size_t i = 0; i < container->n; i++)
        vec_push(&w->order, &container->members[i]);
    qsort(w->order.v + w->order.n - container->n, container->n, sizeof *w->order.v,
          compare_members);
}

static void write_number(struct writer *w, const struct json *v) {
    struct buf text = BUF_INIT(64);
    struct yml_number n = {.kind = YML_INT, .i = v->i};
    if (v->kind == JSON_UINT)
        n = (struct yml_number){.kind = YML_UINT, .u = v->u};
    else if (v->kind == JSON_FLOAT)
        n = (struct yml_number){.kind = YML_FLOAT, .d = json_double(v)};
    yml__number_write(&text, &n);
    yml__write_plain(&w->pen, buf_view(&text), false);
    buf_release(&text);
}

static void write_string(struct writer *w, struct str s, bool simple_key) {
    int indent = w->pen.indent;
    w->pen.indent += indent < 0 ? 1 + YML_INDENT : YML_INDENT;
    yml__write_string(&w->pen, s, simple_key);
    w->pen.indent = indent;
}

static void write_node(struct writer *w, const struct json *v, bool in_map) {
    switch (v->kind) {
    case JSON_NULL:
        yml__write_plain(&w->pen, STR("null"), false);
        break;
    case JSON_BOOL:
        yml__write_plain(&w->pen, v->b ? STR("true") : STR("false"), false);
        break;
    case JSON_STRING:
        write_string(w, json_str(v), false);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        if (v->n)
            push(w, v, in_map);
        else
            yml__write_indicator(&w->pen, v->kind == JSON_ARRAY ? "[]" : "{}", true);
        break;
    default:
        write_number(w, v);
        break;
    }
}

static void write_member(struct writer *w, const struct json_member *m) {
    if (yml__is_simple_key(m->key)) {
        write_string(w, m->key, true);
        yml__write_indicator(&w->pen, ":", false);
    } else {
        write_opener(&w->pen, "?");
        write_string(w, m->key, false);
        yml__write_indent(&w->pen);
        write_opener(&w->pen, ":");
    }
    write_node(w, &m->value, true);
}

/* Writes one item or member of the innermost container, or closes it. */
static void step(struct writer *w) {
    struct frame *f = &w->frames.v[w->frames.n - 1];
    if (f->next == f->container->n) {
        w->order.n = f->order;
        w->pen.indent = f->indent;
        w->frames.n--;
        return;
    }
    size_t next = f->next++;
    yml__write_indent(&w->pen);
    if (f->container->kind == JSON_OBJECT) {
        write_member(w, w->order.v[f->order + next]);
    } else {
        write_opener(&w->pen, "-");
        write_node(w, &f->container->items[next], false);
    }
}

void yml_write(struct buf *out, const struct json *v) {
    struct writer w = {.pen = {.out = out, .indent = -1, .whitespace = true, .indention = true}};
    write_node(&w, v, false);
    while (w.frames.n)
        step(&w);
    yml__write_indent(&w.pen);
    vec_release(&w.frames);
    vec_release(&w.order);
}
