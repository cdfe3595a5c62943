/*
 * The YAML carrier of a document stream. A document is read in one go, unless it is a mapping with
 * an unanchored sequence under "items": then each call reads one element, and what the rest of the
 * document needs (the members before "items", anchors) moves out of the caller's arena.
 *
 * "items" that come through an alias or a merge key cannot be read one by one; such a list is read
 * as a whole, within the limit of one object, and handed out from memory.
 *
 * Follows k8s.io/apimachinery pkg/util/yaml, func (*YAMLReader) Read, func splitYAMLDocument.
 */
#include "codec/docs_int.h"
#include "codec/yml/yml_int.h"

struct carrier {
    struct docs_source *source;
    struct yml_reader reader;
    enum { BETWEEN, STREAMING, REPLAYING } state;
    uint32_t line, column; /* of the list */
    uint32_t index;        /* of the next item */
    struct json list;      /* streaming: the members before "items"; replaying: all of it */
    struct json rest;      /* replaying: the list without its items */
};

static void *open_carrier(struct docs_source *s) {
    struct carrier *c = xcalloc(1, sizeof *c);
    c->source = s;
    yml__open(&c->reader, docs__pull, s);
    struct yml_scanner *scan = &c->reader.parser.scan;
    scan->line = scan->input.line = s->line;
    scan->column = scan->input.column = s->column;
    scan->input.stream = true;
    scan->input.started = true; /* a byte order mark is gone already */
    if (s->column == 1)
        scan->input.dashes = 0;
    c->reader.keep_repeats = s->keep_repeats;
    return c;
}

static void free_carrier(void *self) {
    struct carrier *c = self;
    yml__close(&c->reader);
    free(c);
}

static void fill(struct carrier *c, struct docs_item *out, enum docs_event event,
                 struct json value) {
    *out = (struct docs_item){
        .event = event,
        .value = value,
        .line = c->line,
        .column = c->column,
        .document = c->source->document,
        .repeats = c->reader.repeats > 0,
    };
}

/* The object without its "items", in the arena. */
static struct json without_items(struct arena *a, const struct json *object) {
    struct json rest = {.kind = JSON_OBJECT};
    rest.members = arena_alloc(a, object->n * sizeof *rest.members);
    for (size_t i = 0; i < object->n; i++)
        if (!str_is(object->members[i].key, "items"))
            rest.members[rest.n++] = object->members[i];
    return rest;
}

/* --- lists that are in memory --- */

static int replay(struct carrier *c, struct arena *a, struct docs_item *out) {
    const struct json *items = json_get(&c->list, STR("items"));
    if (c->index < items->n) {
        fill(c, out, DOCS_ITEM, json_clone(a, &items->items[c->index]));
        out->index = c->index++;
        out->list = &c->rest;
        return 0;
    }
    fill(c, out, DOCS_LIST_END, json_clone(a, &c->rest));
    c->state = BETWEEN;
    return 0;
}

static int start_replay(struct carrier *c, struct arena *a, struct docs_item *out) {
    c->list = json_clone(&c->reader.keep, &c->reader.root);
    c->rest = without_items(&c->reader.keep, &c->list);
    c->state = REPLAYING;
    c->index = 0;
    return replay(c, a, out);
}

/* --- lists that are read one by one --- */

/* The next event begins the items of a list that can be read one by one. */
static bool at_items(const struct yml_reader *r) {
    return r->frames.n == 1 && r->frames.v[0].is_map && r->frames.v[0].want == YML_WANT_VALUE &&
           str_is(r->frames.v[0].key, "items") && r->event.kind == YML_SEQUENCE_START &&
           !r->event.anchor.p;
}

/* Reads what stands behind the items, up to the end of the list. */
static int finish_list(struct carrier *c, struct arena *a, struct docs_item *out, struct err *err) {
    struct yml_reader *r = &c->reader;
    for (yml__begin_value(r); r->frames.n;)
        if (yml__peek(r, err) < 0 || yml__take(r, err) < 0)
            return -1;
    struct json rest = without_items(a, &r->root);
    fill(c, out, DOCS_LIST_END, json_clone(a, &rest));
    c->state = BETWEEN;
    return 0;
}

static int next_item(struct carrier *c, struct arena *a, struct docs_item *out, struct err *err) {
    struct yml_reader *r = &c->reader;
    int kind = yml__peek(r, err);
    if (kind < 0)
        return -1;
    if (kind == YML_SEQUENCE_END)
        return finish_list(c, a, out, err);
    uint32_t line, column;
    yml__place(r, &line, &column);
    yml__begin_value(r);
    r->repeats = 0;
    do {
        if (yml__peek(r, err) < 0 || yml__take(r, err) < 0)
            return -1;
    } while (r->frames.n > 2);
    fill(c, out, DOCS_ITEM, r->entries.v[--r->entries.n].member.value);
    out->line = line;
    out->column = column;
    out->index = c->index++;
    out->list = &c->list;
    return yml__keep(r, line, column, err);
}

static int start_list(struct carrier *c, struct err *err) {
    struct yml_reader *r = &c->reader;
    if (yml__take(r, err) < 0 || yml__keep(r, c->line, c->column, err) < 0)
        return -1;
    r->frames.v[0].key = STR("items"); /* it was in the arena */
    c->list = (struct json){.kind = JSON_OBJECT};
    for (size_t i = 0; i < r->entries.n; i++)
        json_add(&r->keep, &c->list, r->entries.v[i].member.key, r->entries.v[i].member.value);
    c->state = STREAMING;
    c->index = 0;
    return 0;
}

/* --- documents --- */

/* Reads a document to its end, or to the items of a list. */
static int read_document(struct carrier *c, struct err *err) {
    struct yml_reader *r = &c->reader;
    yml__begin_document(r);
    r->repeats = 0;
    if (yml__peek(r, err) < 0)
        return -1;
    yml__place(r, &c->line, &c->column);
    yml__begin_value(r);
    do {
        if (yml__peek(r, err) < 0)
            return -1;
        if (at_items(r))
            return start_list(c, err);
        if (yml__take(r, err) < 0)
            return -1;
    } while (r->frames.n);
    return 0;
}

/* Goes to the next document that is not empty; *found is false at the end of the stream. */
static int find_document(struct carrier *c, bool *found, struct err *err) {
    struct yml_reader *r = &c->reader;
    for (*found = false; !*found;) {
        int kind = yml__peek(r, err);
        if (kind < 0)
            return -1;
        if (kind == YML_STREAM_END)
            return 0;
        yml__skip(r);
        if (kind == YML_DOCUMENT_END)
            c->source->document++;
        if (kind != YML_DOCUMENT_START)
            continue;
        if (read_document(c, err) < 0)
            return -1;
        *found = c->state == STREAMING || r->root.kind != JSON_NULL;
    }
    return 0;
}

static int next_document(struct carrier *c, struct arena *a, struct docs_item *out,
                         struct err *err) {
    bool found;
    if (find_document(c, &found, err) < 0)
        return -1;
    if (c->state == STREAMING)
        return next_item(c, a, out, err);
    if (!found) {
        fill(c, out, DOCS_END, (struct json){.kind = JSON_NULL});
        return 0;
    }
    const struct json *items = json_get(&c->reader.root, STR("items"));
    if (items && items->kind == JSON_ARRAY)
        return start_replay(c, a, out);
    fill(c, out, DOCS_VALUE, c->reader.root);
    return 0;
}

static int next(void *self, struct arena *a, struct docs_item *out, struct err *err) {
    struct carrier *c = self;
    c->reader.arena = a;
    if (c->state == STREAMING)
        return next_item(c, a, out, err);
    return c->state == REPLAYING ? replay(c, a, out) : next_document(c, a, out, err);
}

const struct docs_carrier docs__yml = {open_carrier, next, free_carrier};
