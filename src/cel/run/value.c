/*
 * Values: equality, order, sizes, and the memory they are made in.
 *
 * Follows github.com/google/cel-go common/types, func (Int) Equal, func (Double) Compare,
 * func (*baseList) Equal, func (*baseMap) Equal.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/limits.h"
#include "base/print.h"
#include "base/utf8.h"
#include "cel/cel_int.h"
#include "cel/opaque_int.h"

/* ---- memory ---- */

void *cel__alloc(struct cel_eval *ev, size_t n) {
    if (n > LIMIT_CEL_EVAL_BYTES || ev->arena->bytes > LIMIT_CEL_EVAL_BYTES - n)
        return NULL;
    return arena_alloc(ev->arena, n);
}

struct cel_value *cel__alloc_values(struct cel_eval *ev, size_t n) {
    if (n > LIMIT_CEL_EVAL_BYTES / sizeof(struct cel_value))
        return NULL;
    return cel__alloc(ev, n * sizeof(struct cel_value));
}

struct cel_value cel__string(struct cel_eval *ev, struct str s) {
    if (s.n == 0)
        return cel_of_str(STR(""));
    char *copy = cel__alloc(ev, s.n);
    if (!copy)
        return CEL_TOO_BIG;
    memcpy(copy, s.p, s.n);
    return cel_of_str((struct str){copy, s.n});
}

struct cel_value cel__some(struct cel_eval *ev, struct cel_value v) {
    struct cel_value *copy = cel__alloc_values(ev, 1);
    if (!copy)
        return CEL_TOO_BIG;
    *copy = v;
    return (struct cel_value){.kind = CEL_OPTIONAL, .opt = copy};
}

struct cel_value cel__error(struct cel_eval *ev, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    size_t n = print_text(NULL, 0, fmt, args);
    if (n > LIMIT_CEL_ERROR_BYTES)
        n = LIMIT_CEL_ERROR_BYTES;
    char *text = cel__work(ev, n) ? cel__alloc(ev, n + 1) : NULL;
    if (text)
        print_text(text, n + 1, fmt, args);
    va_end(args);
    return text ? cel__fail((struct str){text, n}) : CEL_TOO_BIG;
}

struct cel_value cel__no_such_overload(struct cel_eval *ev, const char *name,
                                       const struct cel_value *args, size_t n) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    buf_addf(&text, "no such overload: %s(", name);
    for (size_t i = 0; i < n; i++) {
        buf_add(&text, i > 0 ? STR(", ") : STR(""));
        buf_add(&text, cel_type_name_of(args[i]));
    }
    buf_add_char(&text, ')');
    return cel__fail(arena_str(ev->arena, buf_view(&text)));
}

/* ---- numbers ---- */

static int cmp_i64(int64_t a, int64_t b) {
    return a < b ? -1 : a > b;
}

static int cmp_u64(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int cmp_double(double a, double b) {
    return a < b ? -1 : a > b;
}

static int cmp_int_uint(int64_t i, uint64_t u) {
    return i < 0 ? -1 : cmp_u64((uint64_t)i, u);
}

static double as_double(struct cel_value v) {
    if (v.kind == CEL_INT)
        return (double)v.i;
    return v.kind == CEL_UINT ? (double)v.u : v.d;
}

static bool is_number(struct cel_value v) {
    return v.kind == CEL_INT || v.kind == CEL_UINT || v.kind == CEL_DOUBLE;
}

static bool is_nan(struct cel_value v) {
    return v.kind == CEL_DOUBLE && isnan(v.d);
}

/* Order of two numbers, neither of them NaN. */
static int cmp_numbers(struct cel_value a, struct cel_value b) {
    if (a.kind == CEL_DOUBLE || b.kind == CEL_DOUBLE)
        return cmp_double(as_double(a), as_double(b));
    if (a.kind == b.kind)
        return a.kind == CEL_INT ? cmp_i64(a.i, b.i) : cmp_u64(a.u, b.u);
    return a.kind == CEL_INT ? cmp_int_uint(a.i, b.u) : -cmp_int_uint(b.i, a.u);
}

/* ---- equality ---- */

static bool equal_lists(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    if (a.n != b.n || !cel__work(ev, (a.n + UINT64_C(1)) * CEL_WORK_ITEM))
        return false;
    for (uint32_t i = 0; i < a.n; i++) {
        struct cel_value eq = cel__equal(ev, a.items[i], b.items[i]);
        if (eq.kind == CEL_BOOL && !eq.b)
            return false; /* an error counts as equal, as upstream has it */
    }
    return true;
}

static bool equal_maps(struct cel_eval *ev, const struct cel_map *a, const struct cel_map *b) {
    if (a->n != b->n || !cel__work(ev, (a->n + UINT64_C(1)) * 4 * CEL_WORK_ITEM))
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct cel_value *other = cel__map_find(ev, b, a->entries[i].key);
        if (!other)
            return false;
        struct cel_value eq = cel__equal(ev, a->entries[i].value, *other);
        if (eq.kind == CEL_BOOL && !eq.b)
            return false;
    }
    return true;
}

/* Kinds of Kubernetes: the left side refuses other kinds, and quantities the results of arithmetic,
 * which upstream holds in another Go type. */
static struct cel_value equal_opaque(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    if (a.kind != b.kind || (b.kind == CEL_QUANTITY && b.flag))
        return CEL_NO_OVERLOAD;
    cel__work(ev, cel__opaque_bytes(a) + cel__opaque_bytes(b));
    return cel_of_bool(cel__opaque_equal(a, b));
}

/* Inside optionals the left side is asked, which may refuse null as well. */
static struct cel_value equal_optionals(struct cel_eval *ev, struct cel_value a,
                                        struct cel_value b) {
    if (!a.opt || !b.opt)
        return cel_of_bool(a.opt == b.opt);
    return a.opt->kind >= CEL_QUANTITY ? equal_opaque(ev, *a.opt, *b.opt)
                                       : cel__equal(ev, *a.opt, *b.opt);
}

/* Long strings are read to their end, whatever that costs in CEL. */
static bool equal_bytes(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    if (a.n != b.n || (a.n >= CEL_WORK_LARGE && !cel__work(ev, a.n)))
        return false;
    return memcmp(a.s, b.s, a.n) == 0;
}

struct cel_value cel__equal(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    if (a.kind == CEL_STRING && b.kind == CEL_STRING) /* most often */
        return cel_of_bool(equal_bytes(ev, a, b));
    if (a.kind >= CEL_QUANTITY && b.kind != CEL_NULL)
        return equal_opaque(ev, a, b);
    if (is_number(a) && is_number(b))
        return cel_of_bool(!is_nan(a) && !is_nan(b) && cmp_numbers(a, b) == 0);
    if (a.kind != b.kind)
        return cel_of_bool(false);
    switch (a.kind) {
    case CEL_NULL:
        return cel_of_bool(true);
    case CEL_BOOL:
        return cel_of_bool(a.b == b.b);
    case CEL_DURATION:
        return cel_of_bool(a.i == b.i);
    case CEL_TIMESTAMP:
        return cel_of_bool(a.i == b.i && a.n == b.n);
    case CEL_TYPE:
        return cel_of_bool(str_eq(a.type->name, b.type->name));
    case CEL_LIST:
        return cel_of_bool(equal_lists(ev, a, b));
    case CEL_MAP:
        return cel_of_bool(equal_maps(ev, a.map, b.map));
    case CEL_OPTIONAL:
        return equal_optionals(ev, a, b);
    default:
        return cel_of_bool(equal_bytes(ev, a, b));
    }
}

bool cel__is_equal(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    struct cel_value eq = cel__equal(ev, a, b);
    return eq.kind == CEL_BOOL && eq.b;
}

/* ---- order ---- */

static int cmp_bytes(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    uint32_t common = a.n < b.n ? a.n : b.n;
    if (common >= CEL_WORK_LARGE && !cel__work(ev, common))
        return 0;
    int c = str_cmp(cel_str(a), cel_str(b));
    return (c > 0) - (c < 0);
}

struct cel_value cel__compare(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    if (a.kind == CEL_INT && b.kind == CEL_INT)
        return cel_of_int(cmp_i64(a.i, b.i));
    if (is_nan(a) || (is_number(a) && is_nan(b)))
        return CEL_FAIL("NaN values cannot be ordered");
    if (is_number(a) && is_number(b))
        return cel_of_int(cmp_numbers(a, b));
    if (a.kind != b.kind)
        return CEL_NO_OVERLOAD;
    switch (a.kind) {
    case CEL_BOOL:
        return cel_of_int((int)a.b - (int)b.b);
    case CEL_STRING:
    case CEL_BYTES:
        return cel_of_int(cmp_bytes(ev, a, b));
    case CEL_TIMESTAMP:
        return cel_of_int(a.i == b.i ? cmp_u64(a.n, b.n) : cmp_i64(a.i, b.i));
    case CEL_DURATION:
        return cel_of_int(cmp_i64(a.i, b.i));
    default:
        return CEL_NO_OVERLOAD;
    }
}

/* ---- sizes ---- */

/* Eight bytes at a time: a byte that continues a character has its top bits 10. */
static uint64_t code_points(struct str s) {
    const uint64_t tops = UINT64_C(0x8080808080808080);
    uint64_t n = s.n;
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        uint64_t w;
        memcpy(&w, s.p + i, 8);
        n -= w & tops ? (uint64_t)__builtin_popcountll(w & ~(w << 1) & tops) : 0;
    }
    for (; i < s.n; i++)
        n -= ((unsigned char)s.p[i] & 0xC0) == 0x80;
    return n;
}

uint64_t cel__size_of(struct cel_value v) {
    switch (v.kind) {
    case CEL_STRING:
        return code_points(cel_str(v));
    case CEL_BYTES:
    case CEL_LIST:
        return v.n;
    case CEL_MAP:
        return v.map->n;
    case CEL_IP:
    case CEL_CIDR:
        return cel__opaque_size(v);
    default:
        return 1;
    }
}

uint64_t cel__size_inside(struct cel_value v) {
    while (v.kind == CEL_OPTIONAL && v.opt)
        v = *v.opt;
    return cel__size_of(v);
}

/* ---- maps ---- */

enum { SMALL_MAP = 8 };

/* Is `b` the key `a`? Upstream compares some by address. */
static bool is_key(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    switch (a.kind) {
    case CEL_STRING:
        return b.kind == CEL_STRING && equal_bytes(ev, a, b);
    case CEL_LIST:
        return b.kind == CEL_LIST && a.n > 0 && a.n == b.n && a.items == b.items;
    case CEL_MAP:
        return b.kind == CEL_MAP && a.map == b.map;
    case CEL_OPTIONAL:
        return b.kind == CEL_OPTIONAL && !a.opt && !b.opt;
    case CEL_TIMESTAMP: /* its time zone belongs to it */
        return cel__is_equal(ev, a, b) && a.offset == b.offset;
    case CEL_QUANTITY:
    case CEL_URL:
        return a.kind == b.kind && a.opaque == b.opaque;
    default:
        return a.kind == b.kind && cel__is_equal(ev, a, b);
    }
}

/* Keys that are not even equal to themselves: no search finds them. */
static bool is_lost(struct cel_value k) {
    return (k.kind == CEL_DOUBLE && isnan(k.d)) || (k.kind == CEL_LIST && k.n == 0) ||
           (k.kind == CEL_OPTIONAL && k.opt);
}

static uint64_t hash_words(uint64_t seed, uint64_t a, uint64_t b) {
    uint64_t words[] = {a, b};
    return str_hash((struct str){(const char *)words, sizeof words}, seed);
}

/* One hash for equal numbers of all kinds: that of the integer, if a double is one. */
static uint64_t hash_double(uint64_t seed, double d) {
    if (d >= -0x1p63 && d < 0x1p63 && (double)(int64_t)d == d)
        return hash_words(seed, (uint64_t)(int64_t)d, d < 0);
    if (d >= 0x1p63 && d < 0x1p64)
        return hash_words(seed, (uint64_t)d, 0);
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return hash_words(seed, bits, 2);
}

static uint64_t hash_key(struct cel_eval *ev, struct cel_value k) {
    switch (k.kind) {
    case CEL_STRING:
    case CEL_BYTES:
        if (k.n >= CEL_WORK_LARGE)
            cel__work(ev, k.n);
        return str_hash(cel_str(k), ev->seed);
    case CEL_INT:
        return hash_words(ev->seed, k.u, k.i < 0);
    case CEL_UINT:
        return hash_words(ev->seed, k.u, 0);
    case CEL_DOUBLE:
        return hash_double(ev->seed, k.d);
    case CEL_TYPE:
        return str_hash(k.type->name, ev->seed);
    case CEL_TIMESTAMP:
        return hash_words(ev->seed, k.u, k.n);
    case CEL_IP:
    case CEL_CIDR:
    case CEL_SEMVER:
        return cel__opaque_hash(k, ev->seed);
    default: /* a word, or an address where that is the key */
        return hash_words(ev->seed, k.kind == CEL_BOOL ? k.b : k.u, k.kind);
    }
}

static const struct cel_value *find_linear(struct cel_eval *ev, const struct cel_map *map,
                                           struct cel_value key) {
    for (uint32_t i = 0; i < map->n; i++)
        if (is_key(ev, map->entries[i].key, key))
            return &map->entries[i].value;
    return NULL;
}

const struct cel_value *cel__map_get(struct cel_eval *ev, const struct cel_map *map,
                                     struct cel_value key) {
    if (!map->slots)
        return find_linear(ev, map, key);
    uint32_t mask = map->slots - 1;
    for (uint32_t i = (uint32_t)hash_key(ev, key) & mask; map->index[i]; i = (i + 1) & mask) {
        const struct cel_entry *e = &map->entries[map->index[i] - 1];
        if (is_key(ev, e->key, key))
            return &e->value;
        if (!cel__work(ev, CEL_WORK_ITEM))
            break;
    }
    return NULL;
}

bool cel__number_as(struct cel_value v, enum cel_kind kind, struct cel_value *out) {
    *out = (struct cel_value){.kind = (uint8_t)kind};
    if (kind == CEL_DOUBLE) {
        out->d = as_double(v);
        return true;
    }
    if (v.kind == CEL_DOUBLE && kind == CEL_INT) {
        bool fits = v.d > -0x1p63 && v.d < 0x1p63;
        out->i = fits ? (int64_t)v.d : 0;
        return fits && (double)out->i == v.d;
    }
    if (v.kind == CEL_DOUBLE) {
        bool fits = v.d >= 0 && v.d < 0x1p64;
        out->u = fits ? (uint64_t)v.d : 0;
        return fits && (double)out->u == v.d;
    }
    out->u = v.u; /* the same bits: in range when they are not negative as an int */
    return v.i >= 0;
}

/* A double finds integers, an integer finds those of the other kind, and nothing finds a double but
 * itself. */
const struct cel_value *cel__map_find(struct cel_eval *ev, const struct cel_map *map,
                                      struct cel_value key) {
    const struct cel_value *found = cel__map_get(ev, map, key);
    if (found || !is_number(key))
        return found;
    struct cel_value other;
    if (key.kind != CEL_INT && cel__number_as(key, CEL_INT, &other))
        found = cel__map_get(ev, map, other);
    if (!found && key.kind != CEL_UINT && cel__number_as(key, CEL_UINT, &other))
        found = cel__map_get(ev, map, other);
    return found;
}

static struct cel_map view(const struct cel_map_builder *b) {
    return (struct cel_map){b->entries, b->n, b->slots, b->index};
}

static void index_add(struct cel_map_builder *b, uint32_t at) {
    if (is_lost(b->entries[at].key))
        return;
    uint32_t mask = b->slots - 1, i = (uint32_t)hash_key(b->ev, b->entries[at].key) & mask;
    while (b->index[i] && cel__work(b->ev, CEL_WORK_ITEM))
        i = (i + 1) & mask;
    b->index[i] = at + 1;
}

static void index_all(struct cel_map_builder *b) {
    memset(b->index, 0, b->slots * sizeof *b->index);
    for (uint32_t i = 0; i < b->n; i++)
        index_add(b, i);
}

static bool grow(struct cel_map_builder *b) {
    uint32_t cap = b->cap ? b->cap * 2 : SMALL_MAP, slots = cap > SMALL_MAP ? cap * 2 : 0;
    struct cel_entry *entries = cel__alloc(b->ev, cap * sizeof *entries);
    uint32_t *index = slots ? cel__alloc(b->ev, slots * sizeof *index) : NULL;
    if (!entries || (slots && !index))
        return false;
    if (b->n)
        memcpy(entries, b->entries, b->n * sizeof *entries);
    b->entries = entries;
    b->cap = cap;
    b->index = index;
    b->slots = slots;
    if (slots)
        index_all(b);
    return true;
}

/* The entry with this key, or NULL. */
static struct cel_entry *find_entry(struct cel_map_builder *b, struct cel_value key) {
    struct cel_map m = view(b);
    const struct cel_value *found = cel__map_get(b->ev, &m, key);
    if (!found)
        return NULL;
    const char *entry = (const char *)found - offsetof(struct cel_entry, value);
    return &b->entries[(const struct cel_entry *)(const void *)entry - b->entries];
}

bool cel__map_put(struct cel_map_builder *b, struct cel_value key, struct cel_value value) {
    struct cel_entry *found = find_entry(b, key);
    if (found) {
        found->value = value;
        return true;
    }
    if (b->n == b->cap && !grow(b))
        return false;
    b->entries[b->n++] = (struct cel_entry){key, value};
    if (b->slots)
        index_add(b, b->n - 1);
    return true;
}

void cel__map_remove(struct cel_map_builder *b, struct cel_value key) {
    struct cel_entry *found = find_entry(b, key);
    if (!found || !cel__work(b->ev, (uint64_t)b->n * CEL_WORK_ITEM * 2))
        return;
    b->n--;
    memmove(found, found + 1, (size_t)(b->entries + b->n - found) * sizeof *found);
    if (b->slots)
        index_all(b);
}

struct cel_value cel__map_done(struct cel_map_builder *b) {
    struct cel_map *map = cel__alloc(b->ev, sizeof *map);
    if (!map)
        return CEL_TOO_BIG;
    *map = view(b);
    return cel_of_map(map);
}
