/* Inside of explanations: a pod on trial, and ways to change what a plug-in rejects. */
#ifndef SCHED_EXPLAIN_INT_H
#define SCHED_EXPLAIN_INT_H

#include "sched/explain.h"
#include "sched/plugin_int.h"

/* A pod that the scheduler need not know, and its cycle. */
struct sched__trial {
    struct sched_pod pod;
    struct sched__cycle cycle;
};

/* Starts a cycle for a pod; texts go to the arena. End it with sched__trial_end. */
void sched__trial_start(struct sched__trial *t, struct sched *s, struct api_object *pod,
                        struct arena *a);
void sched__trial_end(struct sched__trial *t);

/* Filters, scores and chooses for a cycle that has a profile (report.c). */
void sched__report_cycle(struct sched__cycle *cy, struct sched_report *out);

/* Asks one filter alone about slots [from, to); cy->verdict is overwritten there. False: it has
 * nothing to do with this pod. */
bool sched__filter_alone(struct sched__cycle *cy, enum sched_plugin p, uint32_t from, uint32_t to);

/* ---- changes ---- */

/* A change of one object: of these three one is set. */
struct sched__option {
    enum sched_change_kind kind;
    struct str text;
    int64_t cost;            /* among changes of a kind */
    struct api_object *pod;  /* a changed copy, owned */
    struct api_object *node; /* likewise */
    struct sched_pod *gone;
};

/* What could be done about a verdict of one plug-in on one node: cy->verdict[slot]. */
struct sched__options {
    struct sched__cycle *cy;
    uint32_t slot;
    struct api_object *pod, *node; /* as they are now */
    VEC(struct sched__option) list;
};

/* Adds an option; o->text is copied into the cycle's arena. */
void sched__option_add(struct sched__options *x, const struct sched__option *o);

/* The text of an option. */
__attribute__((format(printf, 2, 3))) struct str sched__option_text(struct sched__options *x,
                                                                    const char *fmt, ...);

/* Options of plug-ins, the best first (suggest_pod.c, suggest_node.c, suggest_others.c). */
typedef void sched__suggest_fn(struct sched__options *x);
sched__suggest_fn sched__suggest_unschedulable, sched__suggest_taint, sched__suggest_affinity,
    sched__suggest_fit, sched__suggest_ports, sched__suggest_disk, sched__suggest_binding,
    sched__suggest_zone, sched__suggest_spread, sched__suggest_pod_affinity;

/* Options that give the node a label, and that take a requirement of a term into account. */
void sched__suggest_label(struct sched__options *x, struct str key, struct str value);
void sched__suggest_requirement_label(struct sched__options *x, const struct match_affinity *a,
                                      const struct match_node_verdict *why);

#endif
