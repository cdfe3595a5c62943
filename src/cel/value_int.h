/* One evaluation, the memory it may use, and the values in it: how they are made, compared and
 * measured. */
#ifndef CEL_VALUE_INT_H
#define CEL_VALUE_INT_H

#include "cel/cel.h"

struct cel_pattern;

/* One evaluation. Functions take memory from the arena. */
struct cel_eval {
    struct arena *arena;
    uint64_t cost, limit;
    uint64_t work; /* that is left, see cel__work */
    uint64_t seed; /* of the environment's maps */
    const struct cel_value *vars;
    struct cel_value *locals;    /* slots of comprehension variables */
    struct cel_pattern *pattern; /* of the call at hand, when it is constant; else NULL */
    bool cancelled;              /* nothing more is evaluated ... */
    struct cel_value reason;     /* ... because of this error */
};

/* Counts work that the cost does not see, in bytes read in the same time; false when there is too
 * much of it, which cancels the evaluation, or when that is cancelled already. Whoever looks at
 * more than a value's head for a fixed cost counts it: items, probes, bytes of a long string. */
bool cel__work_over(struct cel_eval *ev);
static inline bool cel__work(struct cel_eval *ev, uint64_t work) {
    if (__builtin_expect(work > ev->work, 0))
        return cel__work_over(ev);
    ev->work -= work;
    return !ev->cancelled;
}
enum {
    CEL_WORK_ITEM = 32,    /* of an item of a list, or a probe of a map */
    CEL_WORK_BYTE = 16,    /* of a byte that is read or written on its own */
    CEL_WORK_ENTRY = 1024, /* of an entry of a map that is printed: keys are sorted */
    CEL_WORK_LARGE = 1024, /* shorter strings are not worth counting */
};

/* An error value. The text of the second is a literal. */
__attribute__((format(printf, 2, 3))) struct cel_value cel__error(struct cel_eval *ev,
                                                                  const char *fmt, ...);
static inline struct cel_value cel__fail(struct str literal) {
    return (struct cel_value){.kind = CEL_ERROR, .n = (uint32_t)literal.n, .s = literal.p};
}
#define CEL_FAIL(text)  cel__fail(STR(text))
#define CEL_NO_OVERLOAD CEL_FAIL("no such overload")
#define CEL_OVERFLOW    CEL_FAIL("integer overflow")
/* The error `literal`; for values with methods of their own, "no such overload" alone. */
struct cel_value cel__no_operator(struct cel_value v, struct str literal);
/* "no such overload: name(int, string)" for these arguments. */
struct cel_value cel__no_such_overload(struct cel_eval *ev, const char *name,
                                       const struct cel_value *args, size_t n);

/* Room for n bytes or n values in the evaluation's arena; NULL when the evaluation would pass
 * LIMIT_CEL_EVAL_BYTES (then return CEL_TOO_BIG). */
void *cel__alloc(struct cel_eval *ev, size_t n);
struct cel_value *cel__alloc_values(struct cel_eval *ev, size_t n);
#define CEL_TOO_BIG CEL_FAIL("result too large")
/* A string value with a copy of these bytes; CEL_TOO_BIG when it does not fit. */
struct cel_value cel__string(struct cel_eval *ev, struct str s);

static inline struct cel_value cel__bytes(struct str s) {
    return (struct cel_value){.kind = CEL_BYTES, .n = (uint32_t)s.n, .s = s.p};
}
static inline struct cel_value cel__duration(int64_t ns) {
    return (struct cel_value){.kind = CEL_DURATION, .i = ns};
}
/* Timestamps: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z. */
#define CEL_MIN_SECONDS INT64_C(-62135596800)
#define CEL_MAX_SECONDS INT64_C(253402300799)

static inline struct cel_value cel__list(const struct cel_value *items, size_t n) {
    return (struct cel_value){.kind = CEL_LIST, .n = (uint32_t)n, .items = items};
}
static inline struct cel_value cel__opaque(enum cel_kind kind, const void *p) {
    return (struct cel_value){.kind = (uint8_t)kind, .opaque = p};
}
static inline struct cel_value cel__none(void) {
    return (struct cel_value){.kind = CEL_OPTIONAL};
}
/* Flags of lists and maps: made by +, and so a concatList in errors; an accumulator, which nobody
 * else holds and which has room to grow. */
enum { CEL_CONCATENATED = 1, CEL_ACCUMULATOR = 2 };

/* optional.of(v) */
struct cel_value cel__some(struct cel_eval *ev, struct cel_value v);

/* a == b as CEL has it: true, false, or an error ("no such overload", when a is an opaque value of
 * another kind). */
struct cel_value cel__equal(struct cel_eval *ev, struct cel_value a, struct cel_value b);
/* Is a == b exactly true? */
bool cel__is_equal(struct cel_eval *ev, struct cel_value a, struct cel_value b);

/* The number as one of another kind; false when that does not hold it. As a double it may lose
 * digits. */
bool cel__number_as(struct cel_value v, enum cel_kind kind, struct cel_value *out);

/* Order of two values that have one: -1, 0, 1 as int, or an error. Numbers of different kinds
 * compare by value. */
struct cel_value cel__compare(struct cel_eval *ev, struct cel_value a, struct cel_value b);

/* args[0] + args[1], for whatever has a sum. */
struct cel_value cel__add(struct cel_eval *ev, const struct cel_value *args);

/* The value under exactly this key, or NULL. */
const struct cel_value *cel__map_get(struct cel_eval *ev, const struct cel_map *map,
                                     struct cel_value key);

/* The same; a number that is no key itself also finds an equal integer of another kind. */
const struct cel_value *cel__map_find(struct cel_eval *ev, const struct cel_map *map,
                                      struct cel_value key);

/* A map being built: later keys replace earlier ones. */
struct cel_map_builder {
    struct cel_eval *ev;
    struct cel_entry *entries;
    uint32_t n, cap;
    uint32_t *index;
    uint32_t slots;
};
/* False when the evaluation would need too much memory. */
bool cel__map_put(struct cel_map_builder *b, struct cel_value key, struct cel_value value);
void cel__map_remove(struct cel_map_builder *b, struct cel_value key);
struct cel_value cel__map_done(struct cel_map_builder *b);

/* Code points of a string, bytes, items, entries, bytes of an address; 1 for everything else. */
uint64_t cel__size_of(struct cel_value v);

/* The same, but of an optional the size of what is in it: as costs of the standard library count,
 * and those of other libraries do not. */
uint64_t cel__size_inside(struct cel_value v);

/* Appends the value as Go's %v does in cel-go's error texts (a string without quotes). Counts the
 * work. */
void cel__write_plain(struct cel_eval *ev, struct buf *out, struct cel_value v);

/* Appends a double as Go's strconv.FormatFloat(d, 'g', -1, 64) with CEL's exponent threshold (%g:
 * six digits). */
void cel__write_double(struct buf *out, double d);

#endif
