/*
 * Pods counted by node and by domain, kept up to date as pods come and go: what spreading and pod
 * affinity ask for in every cycle.
 *
 * A pod set is "pods that these terms match", or "pods of classes that joined it". A class knows
 * the sets its pods belong to, so placing a pod costs one addition per set, and nothing per
 * selector that does not match it. A partition puts nodes into domains: by the value of a
 * label, or each node by itself, leaving out those that are not eligible. A tally counts a set by
 * the domains of a partition. Equal sets, partitions and tallies are one.
 *
 * A set whose terms exclude little (NotIn, DoesNotExist) has no members: it is all pods that the
 * terms would match if they excluded nothing, which many sets have in common, but those excluded.
 */
#ifndef SCHED_TOPOLOGY_COUNT_INT_H
#define SCHED_TOPOLOGY_COUNT_INT_H

#include "api/selector.h"
#include "sched/sched_int.h"

/* ---- what the core tells (count.c) ---- */

/* A new class: finds the sets that its pods belong to. Called before plug-ins compile it. */
void sched__count_join(struct sched *s, struct sched__pod_class *c);

/* The class is about to go; plug-ins have discarded what they made of it. */
void sched__count_leave(struct sched *s, struct sched__pod_class *c);

/* A pod came to a node (delta 1) or left it (-1). Its class, and whether it is terminating, are
 * the same both times. */
void sched__count_pod(struct sched *s, struct sched_pod *p, uint32_t slot, int delta);

/* A pod that came to a node stands behind this one among the pods of its class; NULL: it is the
 * first. */
void sched__count_seat(struct sched_pod *p, struct sched_pod *neighbour);

/* The columns of nodes have room for `cap` slots now, more or less than before. */
void sched__count_resize(struct sched *s, uint32_t cap);

/* Labels or taints of the node changed, or it came or went; its columns are up to date. */
void sched__count_node_changed(struct sched *s, uint32_t slot);

/* A namespace came, went or has other labels. */
void sched__count_namespaces_changed(struct sched *s);

/* Frees the tables, when all classes are gone and topologies are still there. */
void sched__count_release(struct sched *s);

/* ---- terms: which pods (podterm.c) ---- */

/* Pods in these namespaces, or everywhere, or in namespaces whose labels match; with these labels.
 * A selector that is NULL matches nothing. */
struct sched__podterm {
    const struct str *namespaces; /* sorted */
    size_t namespace_count;
    bool everywhere;
    const struct selector *namespace_selector, *selector;
};

struct api_pod_affinity_term;

/* Compiles a term of a pod in the namespace. *out lives in the arena and borrows from spec. Fails
 * with the selector's error. */
int sched__podterm_compile(struct arena *a, struct str ns, const struct api_pod_affinity_term *spec,
                           struct sched__podterm *out, struct err *err);

/* Does the term match the pod? The labels of its namespace may be NULL: not known. */
bool sched__podterm_matches(const struct sched__podterm *t, const struct api_object_meta *pod,
                            const struct labels *namespace_labels);

/* A copy that borrows from nothing but the arena. */
struct sched__podterm sched__podterm_copy(struct arena *a, const struct sched__podterm *t);

/* Does the requirement exclude pods for what they have: is it NotIn or DoesNotExist? */
bool sched__req_excludes(const struct selector_req *r);

/* The term without requirements that exclude pods; in the arena, and borrows from the term. */
struct sched__podterm sched__podterm_base(struct arena *a, const struct sched__podterm *t);

/* Appends a part of a key with its length: objects that were never judged may have anything in
 * their texts, and different parts must not come together as equal keys. */
void sched__key_add(struct buf *out, struct str part);

/* Appends a text that is equal for equal terms, and for no others. */
void sched__podterm_write(struct buf *out, const struct sched__podterm *t);

/* The labels of a namespace, or NULL when there is no such namespace; borrowed. */
const struct labels *sched__namespace_labels(struct sched *s, struct str ns);

/* ---- sets of pods (count.c) ---- */

struct sched__tally;

struct sched__podset {
    uint64_t serial; /* rises from set to set */
    struct str key;
    uint32_t refs;
    bool living; /* terminating pods do not count */
    const struct sched__podterm *terms;
    size_t term_count;                    /* 0: only classes that joined */
    struct sched__podset *all, *excluded; /* held; it has what is in one alone; NULL: members */
    struct sched__podset *of; /* held; it has those of its pods that the terms exclude, or NULL */
    struct sched__links members; /* struct sched__pod_class */
    struct sched__links filed;   /* where classes that may belong to it look for it */
    VEC(struct sched__tally *) tallies;
    struct arena arena;
};

/* The set of pods that all terms match, with one more reference; made if need be. */
struct sched__podset *sched__podset_get(struct sched *s, const struct sched__podterm *terms,
                                        size_t term_count, bool living);

/* The set of this name, of classes that join it, with one more reference; made if need be. */
struct sched__podset *sched__podset_named(struct sched *s, struct str name);

/* From now on pods of the class are in the set, those on nodes included. */
void sched__podset_join(struct sched *s, struct sched__podset *set, struct sched__pod_class *c);

/* Are pods of the class in the set? */
bool sched__podset_has(const struct sched__podset *set, const struct sched__pod_class *c);

/* One more reference; returns the set. And one less: the last one frees it. */
struct sched__podset *sched__podset_ref(struct sched__podset *set);
void sched__podset_unref(struct sched *s, struct sched__podset *set); /* NULL is fine */

/* ---- nodes that take part (eligible.c) ---- */

struct sched__eligible_spec {
    const struct str *must; /* labels that nodes must have */
    size_t must_count;
    struct match_tolerations *tolerations; /* must cover the node's taints; NULL: need not */
    const struct api_pod_spec *affinity;   /* must match the node; NULL: need not */
};

struct sched__eligible {
    struct str key;
    uint64_t serial; /* tells it from any other there was */
    uint32_t refs;
    struct sched__topology **must;
    size_t must_count;
    struct match_tolerations *tolerations;
    struct match_affinity *affinity;
    bool *is; /* by slot */
    uint32_t cap;
    struct arena arena;
};

/* The column of answers, with one more reference; made if need be. NULL: nothing is asked of nodes.
 */
struct sched__eligible *sched__eligible_get(struct sched *s,
                                            const struct sched__eligible_spec *spec);
void sched__eligible_unref(struct sched *s, struct sched__eligible *e); /* NULL is fine */

/* Asks about the node again. */
void sched__eligible_update(struct sched *s, struct sched__eligible *e, uint32_t slot);

/* Makes room for `cap` slots, more or less. */
void sched__eligible_resize(struct sched__eligible *e, uint32_t cap);

/* ---- partitions of nodes (partitions.c) ---- */

struct sched__partition_spec {
    struct str label;                 /* absent: each node is a domain */
    struct sched__eligible *eligible; /* NULL: all nodes take part; borrowed */
};

struct sched__partition {
    struct str key;
    uint32_t refs;
    struct sched__topology *topology; /* NULL: each node is a domain */
    struct sched__eligible *eligible; /* NULL: all nodes take part */
    uint32_t *where;                  /* by slot: domain; 0: not eligible */
    uint32_t slot_cap;
    uint32_t *nodes;       /* by domain: eligible ones */
    uint32_t domain_cap;   /* domains of nodes, eligible or not, are below */
    VEC(uint32_t) domains; /* with eligible nodes */
    VEC(struct sched__tally *) tallies;
    struct arena arena;
};

/* The partition, with one more reference; made if need be. */
struct sched__partition *sched__partition_get(struct sched *s,
                                              const struct sched__partition_spec *spec);
void sched__partition_unref(struct sched *s, struct sched__partition *g);

/* Puts the node into the domain where it belongs now, and the counts with it. Whether it is
 * eligible is up to date. */
void sched__partition_update(struct sched *s, struct sched__partition *g, uint32_t slot);

/* Makes room for `cap` slots, more or less, and for the domains that there are. */
void sched__partition_resize(struct sched__partition *g, uint32_t cap);

/* ---- tallies (count.c) ---- */

struct sched__tally {
    struct sched__podset *set;
    struct sched__partition *by;
    uint32_t in_set, in_by; /* places in their lists of tallies */
    uint32_t refs;
    int32_t *count; /* by domain, as many as the partition has; [0] is always 0 */
    int64_t total;
    struct sched__tally *all, *excluded; /* of the set's, held: see sched__tally_refresh; or NULL */
    /* Among tallies without references: the next, and where the one before points to this one. */
    struct sched__tally *idle_next, **idle_at;
};

/* Pods of the set by domains of the partition; takes one reference of either. A tally without
 * references stays, up to date, until two sweeps have found it so. */
struct sched__tally *sched__tally_get(struct sched *s, struct sched__podset *set,
                                      struct sched__partition *by);
void sched__tally_unref(struct sched *s, struct sched__tally *t); /* NULL is fine */

/* Brings a tally of a set without members up to date, before it is read. Others always are. */
void sched__tally_refresh(struct sched__tally *t);

/* Frees tallies that have been without references for long, if there may be many. For the begin of
 * a call from outside. */
void sched__tallies_sweep(struct sched *s);

/* The tally of the set by the partition, or NULL. */
struct sched__tally *sched__tally_find(const struct sched__podset *set,
                                       const struct sched__partition *by);

/* A domain with the least count among those with eligible nodes; 0: there are none. */
uint32_t sched__tally_least(const struct sched__tally *t);

/* By domain: the first by name of the pods that are counted there, for texts; NULL: none. In the
 * arena. */
const struct sched_pod **sched__tally_examples(struct arena *a, const struct sched__tally *t);

/* Takes the pods of a class into such a list. */
void sched__tally_show(const struct sched__tally *t, const struct sched__pod_class *c,
                       const struct sched_pod **examples);

/* ---- terms of existing pods, seen from the pods that they match (existing_terms.c) ---- */

enum sched__existing_term_kind {
    SCHED__REQUIRED_ANTI,
    SCHED__REQUIRED_AFFINITY,
    SCHED__PREFERRED_ANTI,
    SCHED__PREFERRED_AFFINITY,
};

struct sched__existing_term_spec {
    enum sched__existing_term_kind kind;
    int32_t weight;
    uint32_t times;   /* how often the pod has the term */
    struct str label; /* the topology's */
    struct sched__podterm term;
};

struct sched__existing_term {
    uint64_t serial; /* rises from term to term */
    struct str key;
    uint32_t refs; /* classes whose pods have it */
    enum sched__existing_term_kind kind;
    int32_t weight;
    uint32_t times; /* counts so often */
    struct sched__podterm term;
    /* Held; the same term if it excluded no pods, which has the pods of this one, too. This one
     * takes back what that says of classes that it excludes. NULL: it excludes none, or many. */
    struct sched__existing_term *base;
    /* struct sched__pod_class whose pods it matches; excludes, if it has a base. */
    struct sched__links matched_classes;
    struct sched__links filed; /* where classes that it may match look for it */
    struct sched__topology *topology;
    struct sched__tally *tally; /* pods that have it, by topology */
    struct arena arena;
};

/* Pods of the class have these terms, one or more; equal ones become one that counts so often. */
void sched__existing_terms_add(struct sched *s, struct sched__pod_class *c,
                               const struct sched__existing_term_spec *specs, size_t n);

/* Does a pod of the one class have this term, which has no base, in a way that it matches the
 * other class? */
bool sched__existing_term_holds(const struct sched__existing_term *t,
                                const struct sched__pod_class *carrier,
                                const struct sched__pod_class *c);

/* As sched__tally_examples: pods that have this term in a way that it matches the class. */
const struct sched_pod **sched__existing_term_examples(struct arena *a,
                                                       const struct sched__existing_term *t,
                                                       const struct sched__pod_class *c);

/* Finds the terms that match a new class; and gives back the terms of its own pods. */
void sched__existing_terms_match(struct sched *s, struct sched__pod_class *c);
void sched__existing_terms_drop(struct sched *s, struct sched__pod_class *c);

/* Looks again which classes are matched by terms that select namespaces. */
void sched__existing_terms_namespaces_changed(struct sched *s);

#endif
