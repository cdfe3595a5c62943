/* Inside of explanations: a pod on trial, and ways to change what a plug-in rejects. */
#ifndef SCHED_EXPLAIN_EXPLAIN_INT_H
#define SCHED_EXPLAIN_EXPLAIN_INT_H

#include "sched/explain.h"
#include "sched/findings_int.h"

/* A pod that the scheduler need not know, and its cycle. */
struct sched__trial {
    struct sched_pod pod;
    struct sched__cycle cycle;
};

/* Starts a cycle for a pod; texts go to the arena. End it with sched__trial_end. */
void sched__trial_start(struct sched__trial *t, struct sched *s, const struct api_object *pod,
                        struct arena *a);
void sched__trial_end(struct sched__trial *t);

/* Lets the pod have the node that its status nominates it to, if there is one. Others do not see it
 * as nominated. */
void sched__trial_nominate(struct sched__trial *t);

/* Filters, scores and chooses for a cycle that has a profile (report.c). */
void sched__report_cycle(struct sched__cycle *cy, struct sched_report *out);

/* Asks one filter alone about slots [from, to); cy->verdict is overwritten there. False: it has
 * nothing to do with this pod. */
bool sched__filter_alone(struct sched__cycle *cy, enum sched_plugin p, uint32_t from, uint32_t to);

/* ---- findings (findings.c, words.c) ---- */

/* Room for findings in a cycle, whose arena keeps what all nodes share. */
void sched__findings_init(struct sched__findings *f, struct sched__cycle *cy);
void sched__findings_release(struct sched__findings *f);

/* Asks a plug-in for what it finds on a slot that it rejects: cy->verdict[slot]. */
void sched__findings_ask(struct sched__findings *f, enum sched_plugin p, uint32_t slot);

/* Asks a plug-in that has `explain_score` for what costs a slot some of its score. */
void sched__findings_ask_score(struct sched__findings *f, enum sched_plugin p, uint32_t slot);

/* Is one of the values, or any operand, the node's own name? */
bool sched__findings_value_is_name(const struct sched__findings *f);
bool sched__findings_name_node(const struct sched__findings *f);

/* When findings are the same: a value that is the node's own name is like that of any other node,
 * or is the text that it is; or operands of the node are like those of any other node. */
enum sched__likeness { SCHED__ANY_NAME, SCHED__THIS_NAME, SCHED__ANY_OPERAND };

/* Appends bytes that are the same for the same findings: those that are told alike. */
void sched__findings_key(const struct sched_finding *v, size_t n, enum sched__likeness likeness,
                         bool redact, struct buf *key);

/* Is it an operand that nodes which are told of together may differ in? */
bool sched__operand_varies(const struct sched_operand *o);

/* The findings with all their texts in the arena, but for what is shared. */
const struct sched_finding *sched__findings_copy(const struct sched__findings *f, struct arena *a);

/* The operator of a row of findings.def, absent if there is none; static. */
struct str sched__finding_operator(enum sched_finding_code code);

/* ---- groups (explain.c, costs.c) ---- */

/* Lists the members of groups, of which each node names its own in group_of, or SIZE_MAX. */
void sched__groups_fill(struct sched_group *groups, size_t n, const size_t *group_of,
                        size_t node_count, struct arena *a);

/* Fills e->costs of an explanation whose report has scores. */
void sched__explain_costs(struct sched__cycle *cy, struct sched_explanation *e);

/* ---- bundles (bundle.c) ---- */

/* Bundles the groups of an explanation, which have their nodes; in the arena. */
void sched__bundle_groups(const struct sched_explanation *e, struct sched_group *groups, size_t n,
                          struct arena *a, struct sched_bundles *out);

/* ---- what plug-ins tell of their verdict on a slot, beyond their findings ---- */

/* The pod on the node that has one of the pod's host ports (node_ports.c); the pod that has its
 * disk or its claim (volume_restrictions.c). Of several the first by name; NULL: none. */
const struct sched_pod *sched__ports_rival(const struct sched__cycle *cy, uint32_t slot);
const struct sched_pod *sched__disk_rival(struct sched__cycle *cy, uint32_t slot);

/* The constraint that the node violates (pod_topology_spread.c). False: none. */
struct sched__spread_violation {
    bool own; /* the pod's; else the profile's */
    size_t place;
    struct str label;
    bool has_label;         /* the node has it, and then: */
    int32_t skew, max_skew; /* with the pod there */
};
bool sched__spread_violated(struct sched__cycle *cy, uint32_t slot,
                            struct sched__spread_violation *out);

/* The term that is in the way (inter_pod_affinity.c). False: none. */
struct sched__affinity_violation {
    bool own, anti; /* a term of the pod; podAntiAffinity */
    size_t place;
    const struct sched_pod *rival; /* of anti-affinity: a pod that is matched, or matches */
};
bool sched__affinity_violated(struct sched__cycle *cy, uint32_t slot,
                              struct sched__affinity_violation *out);

/* ---- changes ---- */

enum { SCHED__MOST_GONE = 4 }; /* pods that a change takes off a node */

/* A change of one object, or of where pods are: of these three one is set. Copies share with what
 * they are copies of. */
struct sched__option {
    enum sched_change_kind kind;
    struct str text;
    int64_t cost;            /* among changes of a kind */
    struct api_object *pod;  /* a changed copy, owned and not yet published */
    struct api_object *node; /* likewise */
    struct sched_pod *gone[SCHED__MOST_GONE];
    size_t gone_count;
};

/* What could be done about a verdict of one plug-in on one node: cy->verdict[slot]. Plug-ins list
 * their options; only the one that was chosen by its place is made. */
struct sched__options {
    struct sched__cycle *cy;
    uint32_t slot;
    bool redact;                         /* texts must not tell values of taints and labels */
    const struct api_object *pod, *node; /* as they are now */
    size_t choice, seen;         /* the place of the option to be made; options listed so far */
    struct sched__option option; /* if `made` */
    bool made;
};

/* There is one more option: is it the one to be made? */
bool sched__option_wanted(struct sched__options *x);

/* A value of a taint or label as texts show it: itself, or ***. */
struct str sched__option_shown(const struct sched__options *x, struct str value);

/* Makes it; the text must live as long as the cycle's arena. */
void sched__option_make(struct sched__options *x, const struct sched__option *o);

/* Gives a derived object a list of its own, with the same items. */
#define SCHED__OWN_LIST(object, list) \
    ((list)->v = arena_copy(&(object)->arena, (list)->v, (list)->n * sizeof *(list)->v))

/* The same for a struct behind a pointer. */
#define SCHED__OWN(object, member) \
    ((member) = arena_copy(&(object)->arena, (member), sizeof *(member)))

/* Options of plug-ins, the best first (suggest_taint.c, suggest_affinity.c, suggest_room.c,
 * suggest_others.c). */
typedef void sched__suggest_fn(struct sched__options *x);
sched__suggest_fn sched__suggest_unschedulable, sched__suggest_taint, sched__suggest_affinity,
    sched__suggest_fit, sched__suggest_ports, sched__suggest_disk, sched__suggest_spread,
    sched__suggest_pod_affinity;

/* Adds an option that makes a pod leave its node. */
void sched__suggest_delete(struct sched__options *x, const struct sched_pod *pod);

/* The value next to that of a taint or label that makes an operator hold: "939" for Gt and 940. In
 * the arena; absent when the operator compares nothing, or with this value nothing can be done. */
struct str sched__suggest_threshold(struct arena *a, struct str operator, struct str value);

/* How far two numbers, or two versions, are apart; 0 for other texts. */
int64_t sched__suggest_distance(struct str a, struct str b);

#endif
