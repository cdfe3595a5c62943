/*
 * Matching: tolerations against taints, node selectors and affinity against node labels.
 *
 * Whatever enters the cache is compiled once: texts become atoms, thresholds numbers and versions,
 * expressions programs, and gates that are off become "never"; matching then compares pointers and
 * numbers and allocates nothing. Equal lists of tolerations and equal lists of taints are one
 * object with one id, and the outcome of two such lists is computed once and remembered.
 *
 * An outcome is data: a code and the places of the operands. Texts are rendered on request.
 * Everything here is for one thread; gates are those of one component.
 */
#ifndef MATCH_MATCH_H
#define MATCH_MATCH_H

#include "base/buf.h"
#include "base/err.h"
#include "match/toleration.h"

struct api_node_affinity;
struct api_taint_list;
struct api_toleration_list;
struct api_volume_node_affinity;
struct feature_set;
struct labels;
struct log;
struct match;
struct match__index;
struct match_cache_stats;
struct match_affinity;
struct match_node;

/* Evaluates tolerations that are an expression (KEP-5500). All but the last two are mandatory. */
struct match_engine {
    void *ctx;
    /* The program of an expression, or NULL and err filled. *spent is what the expressions before
     * it in the same list have taken, 0 at first; SIZE_MAX says that this one is refused for it,
     * and the following ones are. */
    void *(*compile)(void *ctx, struct str expression, size_t *spent, struct err *err);
    /* Is the expression true of this taint? 1 or 0, or -1 and err filled, which may be NULL. So
     * many evaluations there may be for the two lists, which share what they may cost. Must give
     * the same answer each time. */
    int (*eval)(void *ctx, void *program, const struct match_taint *taint, uint64_t evaluations,
                struct err *err);
    /* Frees a program. */
    void (*free)(void *ctx, void *program);
    /* See sentence.h; NULL: nobody knows. */
    void (*find_false)(void *ctx, struct str expression, const struct match_taint *t, struct buf *);
    /* Figures of the cache that `compile` looks into; NULL: there is none. */
    void (*cache_stats)(void *ctx, struct match_cache_stats *out);
};

struct match_cache_stats {
    uint64_t entries, bytes; /* there now */
    uint64_t hits, misses;   /* a miss is a compilation, successful or not */
    uint64_t evictions;
    uint64_t compile_ns; /* of all compilations together */
};

/* A context. The atoms and the engine are stored and must outlive it; the gates are copied. Without
 * an engine (NULL) expressions match nothing. Nothing observable depends on the seed, which is as
 * that of intern_new. Free with match_free. */
struct match *match_new(struct intern *atoms, const struct feature_set *gates,
                        const struct match_engine *engine, uint64_t seed);

/* Where the context tells of values and expressions that cannot be compared; stored. At first
 * nowhere. Lines of one kind are limited (log_limit_allows). Of a taint that nothing tolerates it
 * is told once for two lists. */
void match_set_log(struct match *m, const struct log *log);

/* Frees the context and all its lists, whoever holds them. */
void match_free(struct match *m);

/* ---- lists of tolerations and taints ---- */

/* What both kinds of lists start with. Read the id; the rest is private. */
struct match_list {
    uint32_t id; /* small and dense among lists of the same kind; used again after a sweep */
    uint32_t refs, state;
    struct str key; /* what makes two lists equal */
};

struct match_taints {
    struct match_list list;
    uint32_t n, effects; /* number of taints; effects of all together */
    struct match_taint v[];
};

struct match_tolerations {
    struct match_list list;
    struct match__index *index; /* of a long list, else NULL */
    uint32_t n;
    uint32_t kinds; /* enum match_kind: of all that may match something */
    struct match_toleration v[];
};

/*
 * The compiled list, made if there is no equal one yet; the order of entries matters, a taint's
 * timeAdded does not. Nothing is borrowed from spec. Valid until the second match_sweep from now,
 * and for as long as it is counted.
 */
struct match_tolerations *match_tolerations_get(struct match *m,
                                                const struct api_toleration_list *spec);
struct match_taints *match_taints_get(struct match *m, const struct api_taint_list *spec);

/* The list of the one taint that spec.unschedulable stands for; lives as long as the context. */
const struct match_taints *match_taints_unschedulable(const struct match *m);

/* Counts a holder of a list, and counts one off. */
static inline void match_ref(struct match_list *list) {
    list->refs++;
}
static inline void match_unref(struct match_list *list) {
    assert(list->refs > 0);
    list->refs--;
}

/* Frees lists that nobody holds and that were not handed out since the last sweep; returns how
 * many. intern_sweep comes after it: it frees the atoms that only these lists held. */
size_t match_sweep(struct match *m);

/* Have so many lists been made since the last sweep that another is worth its time? */
bool match_wants_sweep(const struct match *m);

struct match_stats {
    size_t tolerations, taints; /* lists there now */
    size_t outcomes;            /* remembered */
    uint64_t computed, found;   /* calls of match_fit that computed, or found it remembered */
};

/* Figures for metrics. */
void match_stats(const struct match *m, struct match_stats *out);

/* ---- one toleration, one taint: see toleration.h ---- */

struct match_verdict {
    enum match_code code;
    uint32_t toleration, taint; /* places in their lists, from 0 */
};

/* Appends one sentence with the operands:
 * "taint sla=940:NoSchedule: toleration #2 Gt 950: 940 > 950 is false". See also sentence.h. */
void match_verdict_write(struct buf *out, const struct match_tolerations *tolerations,
                         const struct match_taints *taints, const struct match_verdict *v);

/* Appends key=value:effect, without what is empty. */
void match_taint_write(struct buf *out, const struct match_taint *taint);

/* ---- all tolerations, all taints ---- */

#define MATCH_NONE UINT32_MAX

/* Place of the first toleration that matches the taint, or MATCH_NONE. */
uint32_t match_find_toleration(const struct match_tolerations *tolerations,
                               const struct match_taint *taint);

/* Place of the first taint with one of these effects that no toleration matches, or MATCH_NONE. */
uint32_t match_find_untolerated(const struct match_tolerations *tolerations,
                                const struct match_taints *taints, unsigned effects);

enum match_eviction {
    MATCH_EVICT_NEVER,
    MATCH_EVICT_NOW,   /* a NoExecute taint is not tolerated */
    MATCH_EVICT_AFTER, /* so many nanoseconds */
};

/* All that components ask about a pod's tolerations and a node's taints. */
struct match_fit {
    uint32_t untolerated;             /* first such NoSchedule or NoExecute taint, or MATCH_NONE */
    uint32_t untolerated_execute;     /* first such NoExecute taint, or MATCH_NONE */
    uint32_t intolerable;             /* number of PreferNoSchedule taints that are not tolerated */
    enum match_eviction eviction : 8; /* what the taint-eviction controller decides */
    unsigned used : 8;   /* enum match_kind: of tolerations that are the first to match a taint */
    unsigned failed : 8; /* enum match_kind: of those that are about the taint `untolerated` */
    /* The least tolerationSeconds among the first matches of NoExecute taints, times 10^9; wraps
     * around in 64 bits as upstream's does, which makes some long times short, and others never. */
    int64_t eviction_ns;
};

/* A toleration by numbers or versions is about a taint of its key and effect whose value is a
 * number or version; an expression is about every taint. */

/* The outcome of two lists, remembered from the last time if possible. */
struct match_fit match_fit(struct match *m, const struct match_tolerations *tolerations,
                           const struct match_taints *taints);

/* The same, neither looked up nor remembered. */
struct match_fit match_fit_compute(const struct match_tolerations *tolerations,
                                   const struct match_taints *taints);

/* ---- nodes, selectors, affinity ---- */

/* What selectors see of a node: its name, which may be empty, and labels. Nothing is borrowed. Free
 * with match_node_free, before the atoms of the context. */
struct match_node *match_node_new(struct match *m, struct str name, const struct labels *labels);
void match_node_free(struct match_node *node);

/* Compiles a pod's spec.nodeSelector (or NULL) and spec.affinity.nodeAffinity (or NULL), or the
 * addedAffinity of a scheduler profile. Never fails: terms with errors match nothing, and their
 * errors can be asked for. Nothing is borrowed. Free with match_affinity_free, before the atoms. */
struct match_affinity *match_affinity_new(struct match *m, const struct labels *node_selector,
                                          const struct api_node_affinity *affinity);

/* Likewise the nodeAffinity of a PersistentVolume (or NULL), which sees labels but no names. */
struct match_affinity *match_affinity_new_volume(struct match *m,
                                                 const struct api_volume_node_affinity *affinity);
void match_affinity_free(struct match_affinity *a); /* NULL is fine */

enum match_node_code {
    MATCH_NODE_YES,
    MATCH_NODE_NO_LABEL,
    MATCH_NODE_HAS_LABEL,
    MATCH_NODE_NOT_AMONG, /* In */
    MATCH_NODE_AMONG,     /* NotIn */
    MATCH_NODE_NOT_LESS,
    MATCH_NODE_NOT_GREATER,
    MATCH_NODE_VERSIONS_DIFFER,
    MATCH_NODE_NO_NUMBER,
    MATCH_NODE_NO_VERSION,
    MATCH_NODE_GATE_OFF, /* of the operator: the whole term matches no node */
    MATCH_NODE_EMPTY_TERM,
    MATCH_NODE_INVALID_TERM,
    MATCH_NODE_ZERO_WEIGHT,
    MATCH_NODE_NO_TERMS,
};

enum match_node_part { MATCH_NODE_SELECTOR, MATCH_NODE_REQUIRED, MATCH_NODE_PREFERRED };

/* Why a node does not match: which requirement of which term. */
struct match_node_verdict {
    enum match_node_code code;
    enum match_node_part part;
    uint32_t term;        /* place in the list of terms */
    bool is_field;        /* matchFields, not matchExpressions */
    uint32_t requirement; /* place in these, or in the nodeSelector in order of keys */
};

/* Does the node satisfy the nodeSelector and, if there are required terms, at least one? If not,
 * *why (which may be NULL) says what is wrong with the nodeSelector or with the first term. */
bool match_affinity_required(const struct match_affinity *a, const struct match_node *node,
                             struct match_node_verdict *why);

/* Number of required or preferred terms, and what comes of one of them. */
uint32_t match_affinity_term_count(const struct match_affinity *a, enum match_node_part part);
struct match_node_verdict match_affinity_check_term(const struct match_affinity *a,
                                                    enum match_node_part part, uint32_t term,
                                                    const struct match_node *node);

/* Of requirements by versions (KEP-5721): does a term that the node satisfies have one, be it
 * required or preferred? And does a required term have one that the node has a version for, but
 * not as wanted? Both cost nothing where there are no such requirements. */
bool match_affinity_uses_versions(const struct match_affinity *a, const struct match_node *node);
bool match_affinity_fails_versions(const struct match_affinity *a, const struct match_node *node);

/* Logs labels of the node that a requirement by versions in these terms cannot read, at level 10.
 */
void match_affinity_log(struct match *m, const struct match_affinity *a, enum match_node_part part,
                        const struct match_node *node);

/* The sum of the weights of preferred terms that the node satisfies. */
int64_t match_affinity_score(const struct match_affinity *a, const struct match_node *node);

/* What is wrong with the required or the preferred terms, in upstream's words; absent when nothing
 * is. Required: upstream reports it only when the nodeSelector matches and no term does. Preferred:
 * scoring fails with it if match_affinity_fails. */
struct str match_affinity_error(const struct match_affinity *a, enum match_node_part part);

/* Do the terms have other errors than version operators while their gate is off? KEP-5721 wants
 * terms with those to match no node and to count 0, where upstream today fails. */
bool match_affinity_fails(const struct match_affinity *a, enum match_node_part part);

/* CheckNodeAffinity of a PersistentVolume: absent when the node matches, else why not. */
struct str match_affinity_volume_error(const struct match_affinity *a,
                                       const struct match_node *node);

/* Is this usable as a profile's addedAffinity? 0, or -1 and upstream's text appended to why. */
int match_affinity_check_added(const struct match_affinity *a, struct buf *why);

/* Appends one sentence with the operands, such as
 * "nodeSelectorTerms[0].matchExpressions[1]: kernel SemverGt 5.10.0: 4.18.0 > 5.10.0 is false". */
void match_node_verdict_write(struct buf *out, const struct match_affinity *a,
                              const struct match_node *node, const struct match_node_verdict *v);

#endif
