/* Shared inside tolexpr: what became of an expression, and the cache of that. */
#ifndef TOLEXPR_TOLEXPR_INT_H
#define TOLEXPR_TOLEXPR_INT_H

#include "base/map.h"
#include "base/vec.h"
#include "cel/cel.h"
#include "match/match.h"
#include "tolexpr/tolexpr.h"
#include "valid/valid.h"

/* The environments that an expression can be compiled in: those of new and of stored ones. */
enum tolexpr__env { TOLEXPR__NEW, TOLEXPR__STORED, TOLEXPR__ENVS };

/* A compiled expression, or why there is none. Never changed once it is made, but for the first
 * four, which are the cache's. */
struct tolexpr__entry {
    struct tolexpr__entry *newer, *older;
    uint32_t refs; /* holders; the cache is one */
    enum tolexpr__env env;
    enum valid_cel_fault fault;
    size_t weight;               /* of LIMIT_TOLERATION_COMPILE_BYTES */
    struct cel_program *program; /* NULL unless good */
    struct str expression, text; /* the text belongs to the fault */
    char bytes[];                /* of both */
};

/* The entries by environment and expression, the least recently used ones last. */
struct tolexpr__cache {
    struct map by_expression[TOLEXPR__ENVS];
    struct tolexpr__entry *newest, *oldest;
    size_t limit, bytes; /* the most there may be, and what there is */
    struct match_cache_stats stats[TOLEXPR__ENVS];
};

/* The conditions of the expression that was last explained: those that && joins. */
struct tolexpr__conditions {
    struct arena arena;
    struct str expression;
    VEC(struct str) texts;
};

struct tolexpr {
    uint32_t libs; /* of new expressions */
    const struct clock *clock;
    uint64_t seed;
    struct cel_env *envs[TOLEXPR__ENVS]; /* NULL until first used */
    struct tolexpr__cache cache;
    struct arena compiling, evaluating; /* empty between two calls */
    struct tolexpr__conditions conditions;
    struct match_engine engine;
    struct valid_cel valid;
};

/* A new entry with one holder; takes the program, copies the texts. */
struct tolexpr__entry *tolexpr__entry_new(struct str expression, enum valid_cel_fault fault,
                                          struct str text, struct cel_program *program);

/* Counts a holder off, and frees what nobody holds. */
void tolexpr__entry_unref(struct tolexpr__entry *e);

/* An empty cache; free with tolexpr__cache_release. */
void tolexpr__cache_init(struct tolexpr__cache *c, size_t limit, uint64_t seed);
void tolexpr__cache_release(struct tolexpr__cache *c);

/* The entry, borrowed, which is now the most recently used one; or NULL. Counts a hit or a miss. */
struct tolexpr__entry *tolexpr__cache_find(struct tolexpr__cache *c, enum tolexpr__env env,
                                           struct str expression);

/* Adds a new entry, which is taken; the least recently used ones make room for it. It stays however
 * large it is. */
void tolexpr__cache_add(struct tolexpr__cache *c, enum tolexpr__env env, struct tolexpr__entry *e);

/* The environment of stored expressions. */
const struct cel_env *tolexpr__stored_env(struct tolexpr *x);

/* The find_false of struct match_engine (conditions.c); ctx is the context. */
void tolexpr__find_false(void *ctx, struct str expression, const struct match_taint *taint,
                         struct buf *out);

#endif
