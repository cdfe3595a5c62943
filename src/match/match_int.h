/* Inside of match: the context, pools of lists, remembered outcomes, compiled affinity. */
#ifndef MATCH_MATCH_INT_H
#define MATCH_MATCH_INT_H

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "feature/feature.h"
#include "match/match.h"

/* ---- pools: equal lists are one object (pool.c) ---- */

struct match__pool {
    struct map by_key;
    VEC(struct match_list *) by_id; /* NULL: the id is free */
    VEC(uint32_t) free_ids;
    uint64_t made, sweep_due;
};

/* Frees one list. */
typedef void match__list_free_fn(struct match_list *list);

/* The list with this key, now handed out again, or NULL. */
struct match_list *match__pool_find(struct match__pool *p, struct str key);

/* A new zeroed block of `size` bytes that starts with a list, behind it a copy of the key. */
struct match_list *match__pool_add(struct match__pool *p, size_t size, struct str key);

/* The list with this id, or NULL. */
static inline const struct match_list *match__pool_at(const struct match__pool *p, uint32_t id) {
    return id < p->by_id.n ? p->by_id.v[id] : NULL;
}

/* Have so many lists been made since the last sweep that another is worth its time? */
bool match__pool_wants_sweep(const struct match__pool *p);

/* Frees idle lists; returns how many. */
size_t match__pool_sweep(struct match__pool *p, match__list_free_fn *free_list);

/* Frees the pool and all lists. */
void match__pool_release(struct match__pool *p, match__list_free_fn *free_list);

/* ---- outcomes (memo.c) ---- */

enum { MATCH__MEMO_MOST = 1 << 16 }; /* entries; a power of two */

struct match__memo_entry {
    uint32_t tolerations1; /* id + 1; 0 = free */
    uint32_t taints;
    struct match_fit fit;
};

struct match__memo {
    struct match__memo_entry *entries;
    size_t count; /* a power of two, or 0 */
    size_t used;  /* entries that hold an outcome */
};

/* The outcome for two ids, or NULL. */
const struct match_fit *match__memo_find(const struct match__memo *memo, uint32_t tolerations,
                                         uint32_t taints);

/* Remembers an outcome that is not there yet; at the maximum another one is forgotten for it. */
void match__memo_put(struct match__memo *memo, uint32_t tolerations, uint32_t taints,
                     const struct match_fit *fit);

/* Forgets the outcomes of lists that are gone, and gives back what a peak has left behind. */
void match__memo_sweep(struct match__memo *memo, const struct match__pool *tolerations,
                       const struct match__pool *taints);

/* ---- the log (unreadable.c) ---- */

enum match__line { MATCH__TOLERATION_LINE, MATCH__TAINT_LINE, MATCH__LABEL_LINE, MATCH__LINES };

struct match__log {
    const struct log *log; /* NULL: none */
    struct log_limit limits[MATCH__LINES];
};

/* Logs that a toleration's value or expression cannot be used; err says why, or is NULL. */
void match__log_toleration(struct match *m, const struct match_toleration *t, enum match_code code,
                           const struct err *err);

/* Logs why tolerations that are about the taint, which none of them matches, cannot tell. */
void match__log_taint(struct match *m, const struct match_tolerations *tolerations,
                      const struct match_taint *taint);

/* ---- context ---- */

struct match {
    struct intern *atoms;
    struct feature_set gates;
    const struct match_engine *engine;
    struct match__pool tolerations, taints;
    struct match__memo memo;
    struct match_taints *unschedulable;
    struct match__log log;
    struct arena scratch; /* empty between calls */
    uint64_t computed, found;
};

/* ---- tolerations (toleration.c) ---- */

/* How a taint's value must compare with the toleration's. */
enum match__order { MATCH__LESS = -1, MATCH__SAME, MATCH__GREATER, MATCH__NEVER };

struct match__operator {
    struct str name;
    const char *sign;  /* between the values in a sentence; NULL: values do not count */
    enum feature gate; /* FEATURE_COUNT: none */
    enum match_way way;
    enum match__order order;
    enum match_code why_not; /* when it does not compare so */
};

/* The operator of this name, or NULL. */
const struct match__operator *match__operator_find(struct str name);

/* Fills in what follows from the atoms of a toleration or taint: marks, ranks, programs. *spent is
 * as for the engine's compile. */
void match__toleration_compile(struct match *m, struct match_toleration *t, size_t *spent);
void match__taint_compile(const struct match *m, struct match_taint *taint);

/* The kind of a compiled toleration, as a bit; 0: of none of them, or it cannot match anything. */
static inline unsigned match__toleration_kind(const struct match_toleration *t) {
    static const uint8_t kinds[MATCH_WAYS] = {
        [MATCH_BY_NUMBER] = MATCH_NUMERIC, [MATCH_BY_VERSION] = MATCH_SEMVER};
    return !t->expression ? kinds[t->way] : t->engine && t->program ? MATCH_CEL : 0;
}

/* Evaluates an expression that has a program: as the engine's eval. */
int match__toleration_eval(const struct match_toleration *t, const struct match_taint *taint,
                           struct err *err);

/* How the taint's value compares with the toleration's, and how the values of two tolerations with
 * the same way do; all have a rank. */
int match__cmp_values(const struct match_toleration *t, const struct match_taint *taint);
int match__cmp_thresholds(const struct match_toleration *a, const struct match_toleration *b);

/* ---- long lists of tolerations (index.c) ---- */

enum { MATCH__INDEX_LEAST = 64 }; /* lists with fewer tolerations are asked one by one */

/* The index of a compiled list, which is borrowed for as long as it is asked. */
struct match__index *match__index_new(const struct match_tolerations *list);
void match__index_free(struct match__index *index); /* NULL is fine */

/* As match_find_toleration. */
uint32_t match__index_find(const struct match__index *index, const struct match_tolerations *list,
                           const struct match_taint *taint);

/* ---- affinity (requirement.c, affinity.c) ---- */

enum match__node_op {
    MATCH__NODE_IN,
    MATCH__NODE_NOT_IN,
    MATCH__NODE_EXISTS,
    MATCH__NODE_DOES_NOT_EXIST,
    MATCH__NODE_GT,
    MATCH__NODE_LT,
    MATCH__NODE_SEMVER_LT,
    MATCH__NODE_SEMVER_GT,
    MATCH__NODE_SEMVER_EQ,
};

struct match__requirement {
    struct atom *key;
    enum match__node_op op;
    bool is_name; /* of matchFields: key is metadata.name */
    bool is_off;  /* the gate of its operator is off */
    uint32_t value_count;
    struct atom **values; /* as written */
    struct atom **sorted; /* by address, when there are many; else NULL */
    int64_t number;       /* Gt, Lt */
};

struct match__requirements {
    struct match__requirement *v;
    uint32_t n;
};

struct match__term {
    enum match_node_code flaw; /* MATCH_NODE_YES, or why it matches nothing */
    int32_t weight;
    struct match__requirements expressions, fields;
};

struct match__terms {
    struct match__term *v;
    uint32_t n;
    bool given; /* not nil */
    bool fatal; /* errors other than a gate that is off */
    struct str error;
};

struct match_affinity {
    struct arena arena;
    VEC(struct atom *) held;
    struct match__requirements selector;
    struct match__terms required, preferred;
    bool is_volume;     /* does not see the node's name */
    bool uses_versions; /* some term that can match has a requirement by versions */
};

struct match__node_label {
    struct atom *key, *value;
};

struct match_node {
    struct atom *name; /* NULL: none */
    uint32_t n;
    struct match__node_label v[]; /* by address of the key */
};

/* Errors of a list of terms, in upstream's words. */
struct match__faults {
    struct buf text; /* starts with the bracket, in case there will be a second one */
    size_t n;
    bool fatal;
};

/* What a requirement is compiled with. */
struct match__builder {
    struct match *m;
    struct match_affinity *a;
    struct match__faults faults;
    struct buf path; /* of the term */
};

struct api_node_selector_requirement;

/* Compiles requirement `index` of the term's matchExpressions or matchFields: true, or false with
 * its faults added. */
bool match__expression_compile(struct match__builder *b,
                               const struct api_node_selector_requirement *spec, size_t index,
                               struct match__requirement *out);
bool match__field_compile(struct match__builder *b,
                          const struct api_node_selector_requirement *spec, size_t index,
                          struct match__requirement *out);

/* The atom of a text, held until the affinity is freed. */
struct atom *match__hold(struct match__builder *b, struct str text);

/* Does the node satisfy a requirement on labels, or on fields? */
enum match_node_code match__expression_check(const struct match__requirement *r,
                                             const struct match_node *node);
enum match_node_code match__field_check(const struct match__requirement *r,
                                        const struct match_node *node);

/* Does the requirement compare versions? */
static inline bool match__is_by_version(const struct match__requirement *r) {
    return r->op >= MATCH__NODE_SEMVER_LT;
}

/* The value of the node's label, or NULL. */
struct atom *match__node_label(const struct match_node *node, const struct atom *key);

/* The gate of an operator that has one. */
enum feature match__node_op_gate(enum match__node_op op);

/* The operator as the API spells it. */
struct str match__node_op_name(enum match__node_op op);

#endif
