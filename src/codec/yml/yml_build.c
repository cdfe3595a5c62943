/*
 * Events to a JSON tree. No recursion: open containers stand on a stack, whose height is
 * limited, and their entries on another one, from which a complete container is copied into the
 * arena in one piece.
 *
 * An alias shares the tree of its anchor, which is never changed; what it would cost to expand is
 * counted, since whoever walks the tree pays for it.
 *
 * Follows go.yaml.in/yaml/v2, func (*decoder) mapping, func (*decoder) merge,
 * func (*decoder) alias.
 * Follows sigs.k8s.io/yaml, func convertToJSONableObject.
 */
#include "base/goquote.h"
#include "base/limits.h"
#include "codec/yml/yml_int.h"

/* From this many keys on, a repeated one is looked for by hash. */
enum { MANY_KEYS = 32 };

/* --- the parser --- */

void yml__open(struct yml_reader *r, docs_read_fn *read, void *ctx) {
    *r = (struct yml_reader){0};
    r->anchor_names = MAP_INIT(map_random_seed());
    vec_reserve(&r->entries, MANY_KEYS);
    yml__parser_open(&r->parser, read, ctx);
}

static void drop_frames(struct yml_reader *r) {
    for (size_t i = 0; i < r->frames.n; i++)
        map_release(&r->frames.v[i].index);
    vec_clear(&r->frames);
}

void yml__close(struct yml_reader *r) {
    drop_frames(r);
    yml__parser_close(&r->parser);
    map_release(&r->anchor_names);
    vec_release(&r->frames);
    vec_release(&r->entries);
    vec_release(&r->anchors);
    arena_release(&r->keep);
}

void yml__place(const struct yml_reader *r, uint32_t *line, uint32_t *column) {
    yml__scan_place(&r->parser.scan, r->event.start, line, column);
}

/* Gives an error the place of the current event; always returns -1. */
static int at_event(const struct yml_reader *r, struct err *err) {
    if (err)
        yml__place(r, &err->line, &err->column);
    return -1;
}

#define FAIL(r, ...) (err_set(err, ERR_INVALID, __VA_ARGS__), at_event(r, err))

static int too_large(const struct yml_reader *r, struct err *err) {
    err_set(err, ERR_TOO_LARGE, "value is larger than %u bytes", LIMIT_OBJECT_BYTES);
    return at_event(r, err);
}

int yml__peek(struct yml_reader *r, struct err *err) {
    if (!r->have_event && yml__parser_next(&r->parser, &r->event, err) < 0)
        return -1;
    r->have_event = true;
    return (int)r->event.kind;
}

void yml__skip(struct yml_reader *r) {
    r->have_event = false;
}

void yml__begin_document(struct yml_reader *r) {
    drop_frames(r);
    vec_clear(&r->entries);
    vec_clear(&r->anchors);
    map_release(&r->anchor_names);
    arena_reset(&r->keep);
    r->decoded = 1; /* go-yaml counts the document, too */
    r->aliased = r->kept = r->kept_entries = r->kept_bytes = 0;
}

void yml__begin_value(struct yml_reader *r) {
    r->value_start = r->event.start.index;
    r->value_bytes = 0;
}

/* --- budgets --- */

/* go-yaml's rule: small documents may consist of aliases nearly entirely, large ones may not. */
static bool is_excessive(uint64_t decoded, uint64_t aliased) {
    if (aliased > LIMIT_YAML_ALIAS_NODES)
        return true;
    if (aliased <= 100 || decoded <= 1000)
        return false;
    const double low = 400000, high = 4000000, n = (double)decoded;
    double allowed = n <= low ? 0.99 : n >= high ? 0.10 : 0.99 - 0.89 * ((n - low) / (high - low));
    return (double)aliased / n > allowed;
}

/* Counts a node with its text against all budgets. */
static int spend(struct yml_reader *r, const struct yml_cost *cost, uint64_t aliased,
                 struct err *err) {
    r->decoded += cost->nodes;
    r->aliased += aliased;
    if (is_excessive(r->decoded, r->aliased))
        return FAIL(r, "document contains excessive aliasing");
    r->value_bytes += cost->bytes + 1;
    if (r->value_bytes > LIMIT_OBJECT_BYTES || r->event.end - r->value_start > LIMIT_OBJECT_BYTES)
        return too_large(r, err);
    return 0;
}

static void add_cost(struct yml_frame *f, const struct yml_cost *child) {
    f->cost.nodes += child->nodes;
    f->cost.bytes += child->bytes + 1;
    if (child->height + 1 > f->cost.height)
        f->cost.height = child->height + 1;
}

/* --- anchors --- */

static size_t open_anchor(struct yml_reader *r) {
    if (!r->event.anchor.p)
        return 0;
    struct str key = arena_str(&r->keep, r->event.anchor);
    vec_push(&r->anchors, (struct yml_anchor){.open = true});
    map_put(&r->anchor_names, key, (void *)(uintptr_t)r->anchors.n);
    r->kept_bytes += key.n + 1;
    return r->anchors.n;
}

/* A scalar is kept as it was written: it may serve as a key or as a value. */
static void anchor_scalar(struct yml_reader *r, const struct yml_scalar *s,
                          const struct yml_cost *cost) {
    size_t anchor = open_anchor(r);
    if (!anchor)
        return;
    struct yml_scalar kept = *s;
    kept.text = arena_str(&r->keep, s->text);
    kept.tag = arena_str(&r->keep, s->tag);
    r->anchors.v[anchor - 1] = (struct yml_anchor){.scalar = kept, .cost = *cost};
}

static void anchor_container(struct yml_reader *r, size_t anchor, const struct json *value,
                             const struct yml_cost *cost) {
    if (anchor)
        r->anchors.v[anchor - 1] = (struct yml_anchor){.value = *value, .cost = *cost};
}

static int find_anchor(struct yml_reader *r, struct yml_anchor **out, struct err *err) {
    struct str name = r->event.anchor;
    size_t index = (uintptr_t)map_get(&r->anchor_names, name);
    if (!index)
        return FAIL(r, "unknown anchor '%.*s' referenced", STR_ARG(name));
    *out = &r->anchors.v[index - 1];
    if ((*out)->open)
        return FAIL(r, "anchor '%.*s' value contains itself", STR_ARG(name));
    return 0;
}

/* --- entries of maps --- */

static struct yml_frame *top(struct yml_reader *r) {
    return r->frames.n ? &r->frames.v[r->frames.n - 1] : NULL;
}

static struct yml_entry *find_entry(struct yml_reader *r, const struct yml_frame *f,
                                    struct str key) {
    if (f->index.live) {
        size_t index = (uintptr_t)map_get(&f->index, key);
        return index ? &r->entries.v[index - 1] : NULL;
    }
    for (size_t i = f->first; i < r->entries.n; i++)
        if (str_eq(r->entries.v[i].member.key, key))
            return &r->entries.v[i];
    return NULL;
}

/* Enters the keys of f up to `end` that its index does not hold yet. */
static void index_entries(struct yml_reader *r, struct yml_frame *f, size_t end) {
    f->index.seed = r->anchor_names.seed;
    for (size_t i = f->first + f->index.live; i < end; i++)
        map_put(&f->index, r->entries.v[i].member.key, (void *)(uintptr_t)(i + 1));
}

/* The later of two wins, as in go-yaml, whether it was merged or not. */
static void put_entry(struct yml_reader *r, struct yml_frame *f, const struct yml_entry *entry) {
    struct yml_entry *found = find_entry(r, f, entry->member.key);
    if (found) {
        found->member.value = entry->member.value;
        found->merged = found->merged && entry->merged;
        return;
    }
    vec_push(&r->entries, *entry);
    if (r->entries.n - f->first >= MANY_KEYS)
        index_entries(r, f, r->entries.n);
}

static void merge_object(struct yml_reader *r, struct yml_frame *f, const struct json *object) {
    for (size_t i = 0; i < object->n; i++)
        put_entry(r, f, &(struct yml_entry){.member = object->members[i], .merged = true});
}

/* In a sequence the first one has precedence. */
static int merge(struct yml_reader *r, struct yml_frame *f, const struct json *value,
                 struct err *err) {
    static const char problem[] = "map merge requires map or sequence of maps as the value";
    bool alias = r->event.kind == YML_ALIAS;
    if (value->kind == JSON_OBJECT) {
        merge_object(r, f, value);
        return 0;
    }
    if (value->kind != JSON_ARRAY || alias)
        return FAIL(r, problem);
    for (size_t i = value->n; i-- > 0;) {
        if (value->items[i].kind != JSON_OBJECT)
            return FAIL(r, problem);
        merge_object(r, f, &value->items[i]);
    }
    return 0;
}

/* --- nodes --- */

/* A key that stood again is told of when its value is complete.
 *
 * Follows go.yaml.in/yaml/v2 ., func (*decoder) setMapIndex. */
static void tell_repeat(struct yml_reader *r, const struct yml_frame *f) {
    if (r->told->n == DOCS_MOST_REPEATS)
        return;
    if (!r->told->v)
        r->told->v = arena_array(r->arena, struct str, DOCS_MOST_REPEATS);
    r->told->v[r->told->n++] = arena_printf(r->arena, "line %u: key %.*s already set in map",
                                            (unsigned)f->value_line, STR_ARG(f->shown));
}

/* A complete node goes to the container that is open, or is the value itself. */
static int deliver(struct yml_reader *r, const struct json *value, const struct yml_cost *cost,
                   struct err *err) {
    struct yml_frame *f = top(r);
    if (!f) {
        r->root = *value;
        return 0;
    }
    add_cost(f, cost);
    if (!f->is_map) {
        vec_push(&r->entries, (struct yml_entry){.member.value = *value});
        return 0;
    }
    bool merging = f->want == YML_WANT_MERGE;
    f->want = YML_WANT_KEY;
    if (merging)
        return merge(r, f, value, err);
    struct yml_entry entry = {.member = {f->key, *value}};
    if (f->repeated && r->told)
        tell_repeat(r, f);
    if (f->repeated && !r->told)
        vec_push(&r->entries, entry);
    else
        put_entry(r, f, &entry);
    f->repeated = false;
    return 0;
}

static struct str shown_key(struct arena *a, struct str key, bool is_text) {
    AUTO(buf_release) struct buf shown = BUF_INIT((size_t)ERR_TEXT);
    if (is_text)
        goquote_write(&shown, key);
    else
        buf_add(&shown, key);
    return arena_str(a, buf_view(&shown));
}

static int repeated_key(struct yml_reader *r, struct str key, bool is_text, struct err *err) {
    struct str shown = shown_key(r->arena, key, is_text);
    err_set(err, ERR_INVALID, "key %.*s already set in map", STR_ARG(shown));
    return at_event(r, err);
}

static bool wants_key(struct yml_reader *r) {
    struct yml_frame *f = top(r);
    return f && f->is_map && f->want == YML_WANT_KEY;
}

static int take_merge_key(struct yml_reader *r) {
    top(r)->want = YML_WANT_MERGE;
    return 0;
}

static int take_key(struct yml_reader *r, const struct yml_scalar *s, struct err *err) {
    struct yml_frame *f = top(r);
    bool is_text;
    if (yml__scalar_key(r->arena, s, &f->key, &is_text, err) < 0)
        return at_event(r, err);
    struct yml_entry *before = find_entry(r, f, f->key);
    f->repeated = before && (!before->merged || r->told);
    if (f->repeated && r->told && r->told->n < DOCS_MOST_REPEATS)
        f->shown = shown_key(r->arena, f->key, is_text);
    else if (f->repeated && !r->told && (!r->keep_repeats || r->repeats++ == DOCS_MOST_REPEATS))
        return repeated_key(r, f->key, is_text, err);
    f->want = YML_WANT_VALUE;
    struct yml_cost cost = {.nodes = 1, .bytes = s->text.n};
    add_cost(f, &cost);
    return spend(r, &cost, 0, err);
}

static int take_scalar(struct yml_reader *r, struct err *err) {
    const struct yml_event *e = &r->event;
    struct yml_scalar s = {.text = e->text, .tag = e->tag, .plain = e->plain};
    struct yml_cost cost = {.nodes = 1, .bytes = s.text.n};
    struct json value;
    anchor_scalar(r, &s, &cost);
    if (wants_key(r))
        return yml__is_merge(&s) ? take_merge_key(r) : take_key(r, &s, err);
    if (yml__scalar_value(r->arena, &s, &value, err) < 0)
        return at_event(r, err);
    if (spend(r, &cost, 0, err) < 0)
        return -1;
    return deliver(r, &value, &cost, err);
}

static int take_alias(struct yml_reader *r, struct err *err) {
    struct yml_anchor *anchor = NULL;
    struct json value;
    if (find_anchor(r, &anchor, err) < 0)
        return -1;
    bool is_scalar = anchor->scalar.text.p;
    if (wants_key(r))
        return is_scalar ? take_key(r, &anchor->scalar, err) : FAIL(r, "invalid map key");
    struct yml_cost cost = anchor->cost;
    cost.nodes++;
    if (r->frames.n + cost.height > LIMIT_YAML_DEPTH)
        return FAIL(r, "exceeded max depth of %d", LIMIT_YAML_DEPTH);
    if (spend(r, &cost, anchor->cost.nodes, err) < 0)
        return -1;
    if (is_scalar) {
        if (yml__scalar_value(r->arena, &anchor->scalar, &value, err) < 0)
            return at_event(r, err);
    } else {
        value = anchor->kept ? json_clone(r->arena, &anchor->value) : anchor->value;
    }
    return deliver(r, &value, &cost, err);
}

static int take_start(struct yml_reader *r, struct err *err) {
    bool is_map = r->event.kind == YML_MAPPING_START;
    struct yml_frame *parent = top(r);
    if (wants_key(r))
        return FAIL(r, "invalid map key");
    if (r->frames.n == LIMIT_YAML_DEPTH)
        return FAIL(r, "exceeded max depth of %d", LIMIT_YAML_DEPTH);
    /* go-yaml takes a sequence behind "<<" apart without decoding it. */
    bool uncounted = !is_map && parent && parent->is_map && parent->want == YML_WANT_MERGE;
    struct yml_cost cost = {.nodes = !uncounted};
    vec_push(&r->frames, (struct yml_frame){.is_map = is_map,
                                            .first = r->entries.n,
                                            .anchor = open_anchor(r),
                                            .cost = {.nodes = cost.nodes, .height = 1}});
    return spend(r, &cost, 0, err);
}

static int by_key(const void *a, const void *b) {
    return str_cmp(((const struct json_member *)a)->key, ((const struct json_member *)b)->key);
}

/* Copies the entries of a complete container from the stack into one array of the arena. */
static struct json close_frame(struct yml_reader *r, const struct yml_frame *f) {
    const struct yml_entry *entries = r->entries.v + f->first;
    size_t n = r->entries.n - f->first;
    struct json value = {.kind = f->is_map ? JSON_OBJECT : JSON_ARRAY, .n = (uint32_t)n};
    if (f->is_map) {
        value.members = arena_alloc(r->arena, n * sizeof *value.members);
        for (size_t i = 0; i < n; i++)
            value.members[i] = entries[i].member;
        if (r->told && n)
            qsort(value.members, n, sizeof *value.members, by_key);
    } else {
        value.items = arena_alloc(r->arena, n * sizeof *value.items);
        for (size_t i = 0; i < n; i++)
            value.items[i] = entries[i].member.value;
    }
    r->entries.n = f->first;
    return value;
}

static int take_end(struct yml_reader *r, struct err *err) {
    struct yml_frame *f = top(r);
    struct json value = close_frame(r, f);
    struct yml_cost cost = f->cost;
    anchor_container(r, f->anchor, &value, &cost);
    map_release(&f->index);
    r->frames.n--;
    return deliver(r, &value, &cost, err);
}

/* A node may be the value of a key, and begin here. */
static void note_line(struct yml_reader *r) {
    struct yml_frame *f = top(r);
    if (f && f->want == YML_WANT_VALUE)
        f->value_line = r->event.start.line + 1;
}

static int take(struct yml_reader *r, struct err *err) {
    if (r->told && r->event.kind != YML_SEQUENCE_END && r->event.kind != YML_MAPPING_END)
        note_line(r);
    switch (r->event.kind) {
    case YML_SCALAR:
        return take_scalar(r, err);
    case YML_ALIAS:
        return take_alias(r, err);
    case YML_SEQUENCE_START:
    case YML_MAPPING_START:
        return take_start(r, err);
    default:
        return take_end(r, err);
    }
}

int yml__take(struct yml_reader *r, struct err *err) {
    if (take(r, err) < 0)
        return -1;
    yml__skip(r);
    return 0;
}

/* --- what a document that is handed out in pieces must remember --- */

static void keep_entries(struct yml_reader *r) {
    struct yml_frame *root = &r->frames.v[0];
    size_t end = r->frames.n > 1 ? r->frames.v[1].first : r->entries.n;
    if (r->kept_entries == end)
        return;
    for (; r->kept_entries < end; r->kept_entries++) {
        struct json_member *m = &r->entries.v[r->kept_entries].member;
        *m = (struct json_member){arena_str(&r->keep, m->key), json_clone(&r->keep, &m->value)};
    }
    if (root->index.live) {
        map_release(&root->index);
        index_entries(r, root, end);
    }
}

int yml__keep(struct yml_reader *r, uint32_t line, uint32_t column, struct err *err) {
    keep_entries(r);
    for (; r->kept < r->anchors.n; r->kept++) {
        struct yml_anchor *anchor = &r->anchors.v[r->kept];
        r->kept_bytes += anchor->cost.bytes + 1;
        if (r->kept_bytes > LIMIT_OBJECT_BYTES)
            return err_set_at(err, ERR_TOO_LARGE, line, column,
                              "anchors of a list are larger than %u bytes", LIMIT_OBJECT_BYTES);
        /* Only the list itself can be open here, and its anchor cannot be used any more. */
        if (anchor->open || anchor->scalar.text.p)
            continue;
        anchor->value = json_clone(&r->keep, &anchor->value);
        anchor->kept = true;
    }
    return 0;
}
