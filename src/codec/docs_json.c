/*
 * The stream's JSON side: values one after the other, and lists item by item.
 *
 * Objects are read member by member, so that a list is known by its "items" as soon as they begin.
 * A value is parsed straight from the window; only when it does not end there, a plain count of
 * brackets finds its end while more bytes come in, and it is parsed once more. So the work stays
 * linear however small the pieces are that the reader delivers, and nothing waits for bytes behind
 * a value that is complete.
 *
 * Follows k8s.io/apimachinery pkg/util/yaml, func (*YAMLOrJSONDecoder) Decode.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/docs_int.h"
#include "codec/json/json_int.h"
#include "codec/json/json_scan.h"

enum { FEW_KEYS = 32 };

struct json_docs {
    struct docs_source *src;
    size_t pos;   /* place in the window, counted from src->at */
    size_t begin; /* where the document begins, likewise, while all of it is in the window */
    size_t spent; /* bytes of a list that are consumed already, its items left out */
    uint32_t line, column;           /* of the document */
    VEC(struct json_member) members; /* of its object, as far as read */
    struct map keys;                 /* theirs, once there are more than a few */
    size_t indexed;                  /* how many of the members it holds */
    bool in_items;                   /* between the brackets of "items" */
    bool is_list;                    /* they have been seen */
    uint32_t index;                  /* of the next item */
    struct json head;                /* the members before "items" */
    struct arena own;                /* all members of a list, as the caller's arena may go */
};

/* --- faults --- */

/* Can the text still turn out to be YAML? Not once something of this document was handed out, or
 * after two documents of JSON: kubectl's rule. As there, blanks between a document and what follows
 * it on the same line are not indentation. */
static void weigh_yaml(struct json_docs *j, enum json_fault fault) {
    struct docs_source *s = j->src;
    bool handed_out = j->is_list && j->index > 0;
    s->maybe_yaml = fault <= JSON_FAULT_END && s->document <= 1 && !handed_out;
    if (s->maybe_yaml && s->column > 1)
        docs__consume(s, j->begin);
}

/* Reports run->fault, whose place is counted from src->at. */
static int explain(struct json_docs *j, struct json__run *run, struct err *err) {
    const struct docs_source *s = j->src;
    run->text = (struct str){s->p + s->at, s->n - s->at};
    run->opts.max_bytes = LIMIT_OBJECT_BYTES;
    json__explain(run, s->line, s->column, err);
    weigh_yaml(j, run->fault);
    return -1;
}

static int fault_here(struct json_docs *j, enum json_fault fault, struct err *err) {
    struct json__run run = {.fault = fault, .fault_at = j->pos};
    if (j->src->at + j->pos == j->src->n)
        run.fault = JSON_FAULT_END;
    return explain(j, &run, err);
}

static int fault_size(struct json_docs *j, struct err *err) {
    struct json__run run = {.fault = JSON_FAULT_SIZE, .fault_at = j->pos};
    return explain(j, &run, err);
}

/* --- bytes --- */

/* How much of what one object may have is left; items of a list have a measure of their own. */
static size_t bytes_left(const struct json_docs *j) {
    size_t used = j->spent + j->pos - j->begin;
    return used < LIMIT_OBJECT_BYTES ? LIMIT_OBJECT_BYTES - used : 0;
}

/* Skips white space and gives the next byte: 1, 0 = the stream is over, -1. */
static int peek(struct json_docs *j, char *c, struct err *err) {
    struct docs_source *s = j->src;
    for (;;) {
        const char *from = s->p + s->at, *end = s->p + s->n;
        const char *p = json__skip_space(from + j->pos, end);
        j->pos = (size_t)(p - from);
        if (bytes_left(j) == 0)
            return fault_size(j, err);
        if (p < end) {
            *c = *p;
            return 1;
        }
        int more = docs__fill(s, err);
        if (more <= 0)
            return more;
    }
}

/* The next byte, which has to be there. */
static int peek_must(struct json_docs *j, char *c, struct err *err) {
    int found = peek(j, c, err);
    return found == 0 ? fault_here(j, JSON_FAULT_END, err) : found;
}

/* How far a value was looked through for its end. */
struct extent {
    size_t scanned;
    size_t depth;
    bool in_string, escaped;
};

/* Goes on over a value of which n bytes are known; true when its end is among them. Looks at
 * brackets and quotes only: the parser will see whether they make sense. */
static bool find_end(struct extent *x, const char *p, size_t n) {
    for (; x->scanned < n; x->scanned++) {
        char c = p[x->scanned];
        if (x->in_string) {
            if (!x->escaped && c == '"')
                x->in_string = false;
            x->escaped = !x->escaped && c == '\\';
        } else if (c == '"') {
            x->in_string = true;
        } else if (c == '{' || c == '[') {
            x->depth++;
            continue;
        } else if (c == '}' || c == ']') {
            x->depth -= x->depth > 0;
        } else if (c != ',' && c != ':' && !json__is_space(c)) {
            continue;
        }
        if (x->depth == 0 && !x->in_string && x->scanned > 0)
            return true;
    }
    return false;
}

/* Reads until the value at pos is whole in the window, or larger than allowed, or at the end. */
static int gather(struct json_docs *j, size_t most, struct err *err) {
    struct docs_source *s = j->src;
    struct extent x = {0};
    while (!find_end(&x, s->p + s->at + j->pos, s->n - s->at - j->pos) && x.scanned <= most) {
        int more = docs__fill(s, err);
        if (more <= 0)
            return more;
    }
    return 0;
}

/* What to read a value with. */
struct bounds {
    struct arena *arena;
    size_t bytes;
    uint32_t depth;
    bool borrow;  /* strings may point into the window */
    bool repeats; /* repeated keys are no error */
};

static int try_value(struct json_docs *j, struct bounds b, struct json__run *run,
                     struct json *out) {
    const struct docs_source *s = j->src;
    struct json_opts opts = {
        .max_bytes = b.bytes, .max_depth = b.depth, .allow_duplicates = b.repeats};
    *run = (struct json__run){.arena = b.arena,
                              .text = {s->p + s->at + j->pos, s->n - s->at - j->pos},
                              .opts = opts,
                              .last = s->at_end,
                              .copy_strings = !b.borrow};
    return json__run(run, out);
}

/* The value at pos, which peek has found. */
static int read_value(struct json_docs *j, struct bounds b, struct json *out, struct err *err) {
    struct json__run run;
    int done = try_value(j, b, &run, out);
    if (done == 0) {
        if (gather(j, b.bytes, err) < 0)
            return -1;
        done = try_value(j, b, &run, out);
    }
    if (done < 0 && run.fault == JSON_FAULT_DUPLICATE && j->src->keep_repeats) {
        b.repeats = j->src->repeats = true;
        return read_value(j, b, out, err);
    }
    if (done > 0) {
        j->pos += run.used;
        return 0;
    }
    run.fault_at += j->pos;
    return explain(j, &run, err);
}

/* --- objects --- */

static bool is_repeated(struct json_docs *j, struct str key) {
    for (size_t i = 0; j->members.n <= FEW_KEYS && i < j->members.n; i++) {
        if (str_eq(j->members.v[i].key, key))
            return true;
    }
    if (j->members.n <= FEW_KEYS)
        return false;
    for (; j->indexed < j->members.n; j->indexed++)
        map_put(&j->keys, j->members.v[j->indexed].key, j);
    return map_get(&j->keys, key) != NULL;
}

/* A key that must not be here. The items of a list cannot be repeated, whatever is allowed. */
static bool is_refused(struct json_docs *j, struct str key) {
    if (j->is_list && str_is(key, "items"))
        return true;
    if (j->src->repeats && j->src->keep_repeats)
        return false; /* known already */
    bool repeated = is_repeated(j, key);
    j->src->repeats |= repeated;
    return repeated && !j->src->keep_repeats;
}

/* A key and the colon behind it. */
static int read_key(struct json_docs *j, struct arena *a, struct str *key, struct err *err) {
    char c;
    struct json value;
    if (peek_must(j, &c, err) < 0)
        return -1;
    if (c != '"')
        return fault_here(j, JSON_FAULT_KEY, err);
    size_t at = j->pos;
    if (read_value(j, (struct bounds){a, bytes_left(j), .depth = 1}, &value, err) < 0)
        return -1;
    *key = json_str(&value);
    if (is_refused(j, *key)) {
        struct json__run run = {.fault = JSON_FAULT_DUPLICATE, .fault_at = at, .fault_of = *key};
        return explain(j, &run, err);
    }
    if (peek_must(j, &c, err) < 0)
        return -1;
    if (c != ':')
        return fault_here(j, JSON_FAULT_COLON, err);
    j->pos++;
    return 0;
}

/* Goes behind the comma or the bracket that must stand here: 1 = comma, 0 = closed, -1. */
static int read_comma(struct json_docs *j, char close, enum json_fault fault, struct err *err) {
    char c;
    if (peek_must(j, &c, err) < 0)
        return -1;
    if (c != ',' && c != close)
        return fault_here(j, fault, err);
    j->pos++;
    return c == ',';
}

/* The object turned out to be a list: what came before its items must outlive many calls. */
static void begin_items(struct json_docs *j) {
    j->pos++;
    j->is_list = j->in_items = true;
    j->index = 0;
    struct json seen = {.kind = JSON_OBJECT, .n = (uint32_t)j->members.n, .members = j->members.v};
    j->head = json_clone(&j->own, &seen);
    if (j->head.n)
        memcpy(j->members.v, j->head.members, j->head.n * sizeof *j->members.v);
    map_release(&j->keys);
    j->indexed = 0;
}

/* Members from a key on: 0 = the object is closed, 1 = its items begin, -1. */
static int read_members(struct json_docs *j, struct arena *a, struct err *err) {
    struct arena *to = j->is_list ? &j->own : a;
    int more = 1;
    while (more > 0) {
        struct json_member m;
        char c;
        if (read_key(j, to, &m.key, err) < 0 || peek_must(j, &c, err) < 0)
            return -1;
        if (c == '[' && str_is(m.key, "items")) {
            begin_items(j);
            return 1;
        }
        struct bounds b = {to, bytes_left(j), .depth = LIMIT_JSON_DEPTH - 1};
        if (read_value(j, b, &m.value, err) < 0)
            return -1;
        vec_push(&j->members, m);
        more = read_comma(j, '}', JSON_FAULT_PAIR, err);
    }
    return more;
}

/* --- documents --- */

static void end_document(struct json_docs *j) {
    docs__consume(j->src, j->pos);
    j->pos = 0;
    j->src->document++;
    vec_clear(&j->members);
    map_release(&j->keys);
    j->indexed = 0;
    j->is_list = false;
    arena_reset(&j->own);
}

/* Hands out the object whose closing bracket was just read. */
static void end_object(struct json_docs *j, struct arena *a, struct docs_item *out) {
    struct json object = {
        .kind = JSON_OBJECT, .n = (uint32_t)j->members.n, .members = j->members.v};
    *out = (struct docs_item){.event = j->is_list ? DOCS_LIST_END : DOCS_VALUE,
                              .line = j->line,
                              .column = j->column,
                              .document = j->src->document,
                              .repeats = j->src->repeats};
    if (j->is_list) {
        out->value = json_clone(a, &object);
    } else {
        object.members = arena_copy(a, object.members, object.n * sizeof *object.members);
        out->value = object;
    }
    end_document(j);
}

/* Behind the items: the rest of the list. */
static int end_items(struct json_docs *j, struct arena *a, struct docs_item *out, struct err *err) {
    j->in_items = false;
    int more = read_comma(j, '}', JSON_FAULT_PAIR, err);
    if (more > 0)
        more = read_members(j, a, err);
    if (more < 0)
        return -1;
    end_object(j, a, out);
    return 0;
}

static int next_item(struct json_docs *j, struct arena *a, struct docs_item *out, struct err *err) {
    char c;
    if (peek_must(j, &c, err) < 0)
        return -1;
    int more = 1;
    if (j->index > 0 || c == ']')
        more = read_comma(j, ']', JSON_FAULT_ELEMENT, err);
    if (more <= 0)
        return more < 0 ? -1 : end_items(j, a, out, err);
    if (peek_must(j, &c, err) < 0)
        return -1;
    *out = (struct docs_item){.event = DOCS_ITEM,
                              .line = j->src->line,
                              .column = j->src->column,
                              .document = j->src->document,
                              .index = j->index,
                              .list = &j->head};
    json__advance((struct str){j->src->p + j->src->at, j->pos}, &out->line, &out->column);
    size_t apart = j->pos - j->begin;
    struct bounds b = {a, LIMIT_OBJECT_BYTES, LIMIT_JSON_DEPTH - 2, .borrow = true};
    j->src->repeats = false;
    if (read_value(j, b, &out->value, err) < 0)
        return -1;
    out->repeats = j->src->repeats;
    docs__consume(j->src, j->pos);
    j->pos = j->begin = 0;
    j->spent += j->index++ == 0 ? apart : 0;
    return 0;
}

static int next_document(struct json_docs *j, struct arena *a, struct docs_item *out,
                         struct err *err) {
    char c;
    int found = docs__skip_blank(j->src, &j->pos, err);
    j->begin = j->pos;
    j->spent = 0;
    j->src->repeats = false;
    j->line = j->src->line;
    j->column = j->src->column + (uint32_t)j->pos;
    *out = (struct docs_item){.line = j->line, .column = j->column, .document = j->src->document};
    if (found <= 0)
        return found;
    if (j->src->p[j->src->at + j->pos] != '{') {
        struct bounds b = {a, LIMIT_OBJECT_BYTES, LIMIT_JSON_DEPTH, .borrow = true};
        if (read_value(j, b, &out->value, err) < 0)
            return -1;
        out->event = DOCS_VALUE;
        out->repeats = j->src->repeats;
        end_document(j);
        return 0;
    }
    j->pos++;
    if (peek_must(j, &c, err) < 0)
        return -1;
    j->pos += c == '}';
    int more = c == '}' ? 0 : read_members(j, a, err);
    if (more < 0)
        return -1;
    if (more > 0)
        return next_item(j, a, out, err);
    end_object(j, a, out);
    return 0;
}

static int json_docs_next(void *self, struct arena *a, struct docs_item *out, struct err *err) {
    struct json_docs *j = self;
    return j->in_items ? next_item(j, a, out, err) : next_document(j, a, out, err);
}

static void *json_docs_open(struct docs_source *s) {
    struct json_docs *j = xcalloc(1, sizeof *j);
    j->src = s;
    j->keys.seed = map_random_seed();
    return j;
}

static void json_docs_free(void *self) {
    struct json_docs *j = self;
    vec_release(&j->members);
    map_release(&j->keys);
    arena_release(&j->own);
    free(j);
}

const struct docs_carrier docs__json = {json_docs_open, json_docs_next, json_docs_free};
