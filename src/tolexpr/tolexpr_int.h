/* Shared inside tolexpr: environments, what became of an expression, and the cache of that. */
#ifndef TOLEXPR_TOLEXPR_INT_H
#define TOLEXPR_TOLEXPR_INT_H

#include "base/map.h"
#include "base/vec.h"
#include "cel/cel.h"
#include "match/match.h"
#include "tolexpr/tolexpr.h"
#include "valid/valid.h"

/* ---- environments ---- */

/* What an environment is made of. An environment is a set of these, as bits. */
enum tolexpr__part {
    TOLEXPR__TAINT,
    TOLEXPR__DEVICE, /* one of these four, by two gates */
    TOLEXPR__SHARED_DEVICE,
    TOLEXPR__LIST_DEVICE,
    TOLEXPR__SHARED_LIST_DEVICE,
    TOLEXPR__REQUEST, /* object, oldObject, namespaceObject, request */
    TOLEXPR__PARAMS,
    TOLEXPR__AUTHORIZER,
    TOLEXPR__VARIABLES,
    TOLEXPR__PATCHES,
    TOLEXPR__STORED_PART, /* all libraries that there are */
    TOLEXPR__PARTS,
};

/* The type of `variables`, whose fields come from expressions. */
#define TOLEXPR__VARIABLES_TYPE "kubernetes.variables"

struct tolexpr__made_env {
    uint32_t which;
    struct cel_env *env;
};

/* The environment of these parts; lives as long as the context. */
const struct cel_env *tolexpr__env(struct tolexpr *x, uint32_t which);

/* ---- places ---- */

/* What an expression must be where it stands. */
struct tolexpr__place {
    uint32_t parts;
    const char *types[12]; /* the types of the result, as Type.String() has them; none: any */
    const char *wanted;    /* these in a sentence, before the type that there is */
    bool is_costed;        /* its estimate is limited */
};

/* By enum valid_cel_place. */
extern const struct tolexpr__place tolexpr__places[VALID_CEL_PLACES];

/* Is the type of the result one that the place wants? Otherwise the sentence is in the arena. */
bool tolexpr__has_type(const struct tolexpr__place *place, const struct cel_ast *ast,
                       struct arena *a, struct str *sentence);

/* The check of struct valid_cel for all places but tolerations; ctx is the context. */
struct valid_cel_answer tolexpr__check_place(struct tolexpr *x, const struct valid_cel_ask *ask,
                                             struct arena *a, size_t *spent);

/* ---- tolerations ---- */

/* The environments of tolerations: those of new and of stored expressions. */
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
    VEC(struct tolexpr__made_env) envs; /* those that were asked for */
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
