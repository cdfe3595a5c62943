/*
 * The parser: one loop over the text, no recursion.
 *
 * Values are collected on one stack of slots. An open container is a slot like any other, and its
 * children are the slots above it; when it closes, they are copied into the arena at once and the
 * stack falls back to the container. While a container is open its slot remembers the one around
 * it, so the slots are the only state. Lines and columns are counted when there is an error to
 * report, not before.
 *
 * Follows std encoding/json, func checkValid.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/utf8.h"
#include "codec/json/json_int.h"
#include "codec/json/json_scan.h"

enum {
    SLOTS_AT_FIRST = 192, /* on the C stack: enough for API objects, which are narrow */
    FEW_KEYS = 48,        /* up to here a bit per key finds repeated ones, above a hash table */
};

#define NO_SLOT UINT32_MAX

struct parser {
    struct json__run *run;
    const char *end;
    struct json_member *slots, *slots_end;
    uint32_t open; /* index of the innermost open container, or NO_SLOT */
    uint32_t depth;
    struct json_member *heap_slots; /* slots, when they outgrew `first` */
    struct json_member first[SLOTS_AT_FIRST];
};

const char *json__fault(struct json__run *run, enum json_fault fault, const char *at) {
    run->fault = fault;
    run->fault_at = (size_t)(at - run->text.p);
    return NULL;
}

const char *json__unexpected(struct json__run *run, enum json_fault fault, const char *at) {
    if (at < run->text.p + run->text.n)
        return json__fault(run, fault, at);
    run->unfinished = fault;
    return json__fault(run, JSON_FAULT_END, at);
}

static struct json_member *grow(struct parser *ps, struct json_member *top) {
    size_t used = (size_t)(top - ps->slots);
    struct json_member *slots = xrealloc(ps->heap_slots, size_mul(2 * used, sizeof *slots));
    if (!ps->heap_slots)
        memcpy(slots, ps->first, sizeof ps->first);
    ps->heap_slots = ps->slots = slots;
    ps->slots_end = slots + 2 * used;
    return slots + used;
}

/* --- repeated keys --- */

static size_t duplicate_before(const struct json_member *members, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (str_eq(members[k].key, members[i].key))
            return i;
    }
    return SIZE_MAX;
}

/* One of 64 bits from the length and the outer bytes: equal keys have the same. */
static uint64_t key_bit(struct str key) {
    uint32_t mix = (uint32_t)key.n;
    if (key.n)
        mix += (unsigned char)key.p[0] * 5U + (unsigned char)key.p[key.n - 1] * 11U +
               (unsigned char)key.p[key.n / 2] * 23U;
    return UINT64_C(1) << (mix & 63);
}

static size_t duplicate_of_few(const struct json_member *members, size_t n) {
    uint64_t seen = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bit = key_bit(members[i].key);
        if ((seen & bit) && duplicate_before(members, i) != SIZE_MAX)
            return i;
        seen |= bit;
    }
    return SIZE_MAX;
}

static size_t duplicate_of_many(const struct json_member *members, size_t n) {
    size_t slots = 1, found = SIZE_MAX;
    while (slots < 2 * n)
        slots *= 2;
    uint32_t *table = xcalloc(slots, sizeof *table);
    uint64_t seed = map_random_seed();
    for (size_t i = 0; i < n && found == SIZE_MAX; i++) {
        size_t at = str_hash(members[i].key, seed) & (slots - 1);
        for (; table[at]; at = (at + 1) & (slots - 1)) {
            if (str_eq(members[table[at] - 1].key, members[i].key))
                found = i;
        }
        table[at] = (uint32_t)i + 1;
    }
    free(table);
    return found;
}

size_t json__duplicate(const struct json_member *members, size_t n) {
    return n <= FEW_KEYS ? duplicate_of_few(members, n) : duplicate_of_many(members, n);
}

/* Where the literal of a key stands, also of one that was unescaped into the arena. */
static const char *key_literal(const struct json__run *run, struct str key) {
    if (json__is_view(run->text, key.p))
        return key.p;
    const char *literal;
    memcpy(&literal, key.p - sizeof literal, sizeof literal);
    return literal;
}

static void add_field(struct buf *path, struct str key) {
    if (path->n)
        buf_add_char(path, '.');
    buf_add(path, key);
}

/* The way from the root to a key of the innermost object, as the API server spells it:
 * spec.containers[0].name. Turns the links between open containers around, so it is the end. */
static struct str path_to(struct parser *ps, struct str key) {
    struct json_member *slots = ps->slots;
    for (uint32_t i = ps->open; slots[i].value.n != NO_SLOT; i = slots[i].value.n)
        slots[slots[i].value.n].value.u = i;
    struct buf path = BUF_INIT(SIZE_MAX / 2);
    for (uint32_t i = 0; i != ps->open;) {
        uint32_t inner = (uint32_t)slots[i].value.u;
        if (slots[i].value.kind == JSON_ARRAY)
            buf_addf(&path, "[%u]", inner - i - 1);
        else
            add_field(&path, slots[inner].key);
        i = inner;
    }
    add_field(&path, key);
    struct str out = arena_str(ps->run->arena, buf_view(&path));
    buf_release(&path);
    return out;
}

static bool has_duplicate(struct parser *ps, const struct json_member *members, size_t n) {
    if (n < 2 || ps->run->opts.allow_duplicates)
        return false;
    size_t i = json__duplicate(members, n);
    if (i == SIZE_MAX)
        return false;
    json__fault(ps->run, JSON_FAULT_DUPLICATE, key_literal(ps->run, members[i].key) - 1);
    ps->run->fault_of = path_to(ps, members[i].key);
    return true;
}

/* --- strings of a text that will not stay --- */

static bool is_borrowed(const struct json__run *run, const struct json *v) {
    return (v->kind == JSON_STRING || v->kind == JSON_FLOAT) && json__is_view(run->text, v->s);
}

/* Copies n bytes, most often few of them: 16 at a time where the text goes on far enough. `to` has
 * 16 bytes to spare. */
static inline char *copy_view(const struct parser *ps, char *to, const char **view, size_t n) {
    const char *from = *view;
    *view = to;
    if ((size_t)(ps->end - from) < n + 16) {
        memcpy(to, from, n);
        return to + n;
    }
    for (size_t i = 0; i < n; i += 16)
        memcpy(to + i, from + i, 16);
    return to + n;
}

/* Moves keys and strings of slots into the arena, all of them in one piece. */
static void own_strings(struct parser *ps, struct json_member *slots, size_t n, bool keys) {
    const struct json__run *run = ps->run;
    size_t bytes = 0, views = 0;
    for (size_t i = 0; i < n; i++) {
        bool key = keys && json__is_view(run->text, slots[i].key.p);
        bool value = is_borrowed(run, &slots[i].value);
        bytes += (key ? slots[i].key.n : 0) + (value ? slots[i].value.n : 0);
        views += (size_t)key + value;
    }
    char *to = views ? arena_alloc(run->arena, bytes + 16) : NULL;
    for (size_t i = 0; i < n && views; i++) {
        if (keys && json__is_view(run->text, slots[i].key.p))
            to = copy_view(ps, to, &slots[i].key.p, slots[i].key.n);
        if (is_borrowed(run, &slots[i].value))
            to = copy_view(ps, to, &slots[i].value.s, slots[i].value.n);
    }
}

/* --- containers --- */

/* Makes the slot an open container; p stands behind its bracket. */
static const char *open_container(struct parser *ps, struct json_member *slot, enum json_kind kind,
                                  const char *p) {
    if (ps->depth == ps->run->opts.max_depth)
        return json__fault(ps->run, JSON_FAULT_DEPTH, p - 1);
    ps->depth++;
    slot->value = (struct json){.kind = kind, .n = ps->open};
    ps->open = (uint32_t)(slot - ps->slots);
    return p;
}

static struct json *copy_items(struct arena *a, const struct json_member *slots, size_t n) {
    struct json *items = arena_alloc(a, n * sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = slots[i].value;
    return items;
}

static struct json_member *copy_members(struct arena *a, const struct json_member *slots,
                                        size_t n) {
    struct json_member *members = arena_alloc(a, n * sizeof *members);
    for (size_t i = 0; i < n; i++)
        members[i] = slots[i];
    return members;
}

/* Closes the innermost container, whose children end at top. Gives the new top, or NULL. */
static struct json_member *close_container(struct parser *ps, struct json_member *top) {
    struct json_member *slot = ps->slots + ps->open, *children = slot + 1;
    struct json *v = &slot->value;
    size_t n = (size_t)(top - children);
    bool object = v->kind == JSON_OBJECT;
    if (object && has_duplicate(ps, children, n))
        return NULL;
    if (ps->run->copy_strings && n)
        own_strings(ps, children, n, object);
    ps->open = v->n;
    ps->depth--;
    v->n = (uint32_t)n;
    if (n == 0)
        v->items = NULL;
    else if (object)
        v->members = copy_members(ps->run->arena, children, n);
    else
        v->items = copy_items(ps->run->arena, children, n);
    return children;
}

/* --- tokens --- */

/* A string that has an escape, a byte that is not ASCII or a fault; `stop` is the first of them. */
static __attribute__((noinline)) const char *parse_odd_string(struct parser *ps, const char *p,
                                                              const char *stop, struct str *out) {
    stop = json__scan_string(stop, ps->end);
    if (stop == ps->end || *stop != '"')
        return json__unescape(ps->run, p, stop, out);
    *out = (struct str){p, (size_t)(stop - p)};
    size_t good = utf8_valid_prefix(*out);
    return good < out->n ? json__fault(ps->run, JSON_FAULT_UTF8, p + good) : stop + 1;
}

/* A string; p stands behind its quote. */
static inline __attribute__((always_inline)) const char *
parse_string(struct parser *ps, const char *p, struct str *out) {
    const char *stop = json__scan_plain(p, ps->end);
    if (__builtin_expect(stop == ps->end || *stop != '"', 0))
        return parse_odd_string(ps, p, stop, out);
    *out = (struct str){p, (size_t)(stop - p)};
    return stop + 1;
}

static inline const char *parse_number(struct parser *ps, const char *p, struct json *out) {
    const char *from = p, *digits = p + (*p == '-');
    uint64_t value = 0;
    for (p = digits; p < ps->end && (unsigned char)(*p - '0') < 10; p++)
        value = value * 10 + (unsigned char)(*p - '0');
    size_t n = (size_t)(p - digits);
    bool plain = p < ps->end ? *p != '.' && (*p | 0x20) != 'e' : ps->run->last;
    if (__builtin_expect(n == 0 || n > 18 || *digits == '0' || !plain, 0))
        return json__number(ps->run, from, p, out);
    *out = (struct json){.kind = JSON_INT, .i = *from == '-' ? -(int64_t)value : (int64_t)value};
    return p;
}

static const char *parse_literal(struct parser *ps, const char *p, struct json *out) {
    static const struct {
        struct str word;
        struct json value;
    } literals[] = {
        {STR_INIT("true"), {.kind = JSON_BOOL, .b = true}},
        {STR_INIT("false"), {.kind = JSON_BOOL, .b = false}},
        {STR_INIT("null"), {.kind = JSON_NULL}},
    };
    size_t which = *p == 't' ? 0 : *p == 'f' ? 1 : 2, k = 1;
    struct str word = literals[which].word;
    while (k < word.n && p + k < ps->end && p[k] == word.p[k])
        k++;
    if (k < word.n) {
        ps->run->fault_of = str_sub(word, 0, k);
        return json__unexpected(ps->run, JSON_FAULT_LITERAL, p + k);
    }
    *out = literals[which].value;
    return p + word.n;
}

/* A value that has no children. */
static inline const char *parse_scalar(struct parser *ps, const char *p, struct json *out) {
    if (*p == '-' || (unsigned char)(*p - '0') < 10)
        return parse_number(ps, p, out);
    if (*p == 't' || *p == 'f' || *p == 'n')
        return parse_literal(ps, p, out);
    return json__fault(ps->run, JSON_FAULT_VALUE, p);
}

/* A key and its colon. */
static inline const char *parse_key(struct parser *ps, const char *p, struct str *out) {
    if (p == ps->end || *p != '"')
        return json__unexpected(ps->run, JSON_FAULT_KEY, p);
    if (!(p = parse_string(ps, p + 1, out)))
        return NULL;
    p = json__skip_space(p, ps->end);
    if (p == ps->end || *p != ':')
        return json__unexpected(ps->run, JSON_FAULT_COLON, p);
    return json__skip_space(p + 1, ps->end);
}

/* --- the loop --- */

static const char *parse_value(struct parser *ps, const char *p) {
    struct json_member *top = ps->slots;
    bool in_object = false;
    p = json__skip_space(p, ps->end);
value:
    if (p == ps->end)
        return json__fault(ps->run, JSON_FAULT_END, p);
    if (*p == '"') {
        struct str s;
        if (!(p = parse_string(ps, p + 1, &s)))
            return NULL;
        top->value = (struct json){.kind = JSON_STRING, .n = (uint32_t)s.n, .s = s.p};
        top++;
    } else if (*p == '{' || *p == '[') {
        in_object = *p == '{';
        if (!(p = open_container(ps, top++, in_object ? JSON_OBJECT : JSON_ARRAY, p + 1)))
            return NULL;
        p = json__skip_space(p, ps->end);
        if (p == ps->end || *p != (in_object ? '}' : ']'))
            goto child;
    } else {
        if (!(p = parse_scalar(ps, p, &top->value)))
            return NULL;
        top++;
    }
    while (ps->open != NO_SLOT) {
        p = json__skip_space(p, ps->end);
        if (p < ps->end && *p == ',') {
            p = json__skip_space(p + 1, ps->end);
            goto child;
        }
        if (p == ps->end || *p != (in_object ? '}' : ']'))
            return json__unexpected(ps->run, in_object ? JSON_FAULT_PAIR : JSON_FAULT_ELEMENT, p);
        p++;
        if (!(top = close_container(ps, top)))
            return NULL;
        in_object = ps->open != NO_SLOT && ps->slots[ps->open].value.kind == JSON_OBJECT;
    }
    return p;
child:
    if (__builtin_expect(top == ps->slots_end, 0))
        top = grow(ps, top);
    if (in_object && !(p = parse_key(ps, p, &top->key)))
        return NULL;
    goto value;
}

/* Looks at no more text than a value may have; one that does not end there is too large. */
static bool cut_text(struct json__run *run) {
    if (run->text.n <= run->opts.max_bytes)
        return false;
    run->text.n = run->opts.max_bytes;
    run->last = false;
    return true;
}

static void set_defaults(struct json_opts *opts) {
    if (opts->max_depth == 0)
        opts->max_depth = LIMIT_JSON_DEPTH;
    if (opts->max_bytes == 0)
        opts->max_bytes = LIMIT_OBJECT_BYTES;
    if (opts->max_bytes > UINT32_MAX)
        opts->max_bytes = UINT32_MAX;
}

int json__run(struct json__run *run, struct json *out) {
    set_defaults(&run->opts);
    if (!run->text.p)
        run->text = STR("");
    bool cut = cut_text(run);
    struct parser ps;
    ps.run = run;
    ps.end = run->text.p + run->text.n;
    ps.slots = ps.first;
    ps.slots_end = ps.first + SLOTS_AT_FIRST;
    ps.heap_slots = NULL;
    ps.open = NO_SLOT;
    ps.depth = 0;
    const char *p = parse_value(&ps, run->text.p);
    if (p) {
        if (run->copy_strings)
            own_strings(&ps, ps.slots, 1, false);
        *out = ps.slots[0].value;
        run->used = (size_t)(p - run->text.p);
    }
    free(ps.heap_slots);
    if (run->fault == JSON_FAULT_END && cut)
        run->fault = JSON_FAULT_SIZE;
    return p ? 1 : run->fault == JSON_FAULT_END && !run->last ? 0 : -1;
}

/* --- the door --- */

int json_parse_prefix(struct arena *a, struct str text, bool last, const struct json_opts *opts,
                      struct json *out, size_t *used, struct err *err) {
    struct json__run run = {.arena = a, .text = text, .last = last};
    if (opts)
        run.opts = *opts;
    int done = json__run(&run, out);
    if (done < 0)
        return json__explain(&run, 1, 1, err);
    *used = run.used;
    return done;
}

int json_parse(struct arena *a, struct str text, const struct json_opts *opts, struct json *out,
               struct err *err) {
    struct json__run run = {.arena = a, .text = text, .last = true};
    if (opts)
        run.opts = *opts;
    set_defaults(&run.opts);
    if (text.n > run.opts.max_bytes) {
        json__fault(&run, JSON_FAULT_SIZE, text.p + run.opts.max_bytes);
        return json__explain(&run, 1, 1, err);
    }
    /* API objects need 1.3 times their text, and up to 1.65 */
    arena_reserve(a, text.n + text.n / 4 * 3 + 256);
    struct json value;
    if (json__run(&run, &value) > 0) {
        const char *p = json__skip_space(text.p + run.used, text.p + text.n);
        if (p == text.p + text.n) {
            *out = value;
            return 0;
        }
        json__fault(&run, JSON_FAULT_TRAIL, p);
    }
    return json__explain(&run, 1, 1, err);
}
