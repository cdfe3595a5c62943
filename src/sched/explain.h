/*
 * Why a pod fits or does not: what every plug-in makes of every node, with the operands, and the
 * smallest changes that would make it fit.
 *
 * Where the scheduler stops at the first plug-in that rejects a node, an explanation asks all of
 * them, each for itself. Nodes that are rejected for the same causes are one group.
 */
#ifndef SCHED_EXPLAIN_H
#define SCHED_EXPLAIN_H

#include "sched/finding.h"
#include "sched/sched.h"

/* Why a plug-in rejects a node. Equal ones are one object. */
struct sched_cause {
    enum sched_plugin plugin;
    struct sched_status status;           /* as the scheduler would report it */
    const struct sched_finding *findings; /* none: the reasons are all there is to be said */
    size_t finding_count;
    bool cut;        /* LIMIT_EXPLAIN_FINDINGS: there are more */
    bool names_node; /* the node's own name is among the operands */
    uint32_t number; /* among the causes of the explanation */
};

/* Nodes that are rejected for the same causes. */
struct sched_group {
    const struct sched_cause **causes; /* in the order in which plug-ins run; at least one */
    size_t cause_count;
    size_t *nodes; /* places in report.nodes, rising */
    size_t node_count;
    int64_t shortage; /* thousandths of the requests that the nodes do not have */
};

/* Groups that differ in operands of their nodes only: all that are short of cpu. */
struct sched_bundle {
    const struct sched_cause *causes; /* of the first group; operands that differ have ranges */
    size_t cause_count;
    const struct sched_group **groups; /* those that miss least first */
    size_t group_count, node_count;
    /* Of those that are short of as little as the first, the one whose numbers are farthest off. */
    const struct sched_group *farthest;
    int64_t shortage; /* of the first group */
    int64_t distance; /* how far its numbers are from those that are asked for */
};

struct sched_bundles {
    struct sched_bundle *v; /* those that miss least first */
    size_t n;
};

struct sched_explanation {
    struct sched *sched;          /* borrowed, as is */
    const struct api_object *pod; /* this */
    bool redact;
    bool ignored;     /* the scheduler is not asked about the pod: report.error says why */
    bool ended;       /* because it is Succeeded or Failed */
    size_t all_nodes; /* of the cluster; those of the report, if the pod is tried */
    struct sched_report report;
    int32_t weights[SCHED_PLUGIN_COUNT]; /* of scores */
    struct sched_order filters;          /* plug-ins that had something to check */
    struct sched_group *groups;          /* in the order of their first nodes */
    size_t group_count;
    struct sched_bundles bundles; /* of the groups */
    struct sched_bundles costs;   /* what costs nodes that fit some of their scores */
    uint32_t cause_count;
    size_t *group_of; /* by place in report.nodes; SIZE_MAX: the pod fits there */
};

/* Explains a pod as sched_examine examines it, unless it has ended; with `redact` nodes that differ
 * in values of taints and labels only are one group, and changes say *** for values. *out lives in
 * the arena. */
void sched_explain(struct sched *s, const struct api_object *pod, bool redact, struct arena *a,
                   struct sched_explanation *out);

/* Appends the sentence of a cause, which has a clause for each finding. */
void sched_cause_write(struct buf *out, const struct sched_cause *cause,
                       const struct sched_wording *w);

/* Appends a text of the scheduler: as it is, or with *** for what it quotes. */
void sched_message_write(struct buf *out, struct str text, bool redact);

/* ---- changes (suggest.c) ---- */

/* CHANGE(ID, "name"): kinds of changes, those that cost least first: to the pod, to other pods, to
 * the node. */
#define SCHED_CHANGES(CHANGE)                \
    CHANGE(THRESHOLD, "toleration-value")    \
    CHANGE(TOLERATE, "toleration")           \
    CHANGE(REQUIREMENT, "requirement-value") \
    CHANGE(REQUEST, "resource-request")      \
    CHANGE(SKEW, "max-skew")                 \
    CHANGE(DROP, "drop-requirement")         \
    CHANGE(FREE, "free-resources")           \
    CHANGE(DELETE, "delete-pod")             \
    CHANGE(UNCORDON, "uncordon")             \
    CHANGE(LABEL, "node-label")              \
    CHANGE(UNTAINT, "node-taint")

enum sched_change_kind {
#define CHANGE(id, name) SCHED_CHANGE_##id,
    SCHED_CHANGES(CHANGE)
#undef CHANGE
        SCHED_CHANGE_COUNT
};

/* The kind's name; static. */
struct str sched_change_name(enum sched_change_kind kind);

struct sched_change {
    enum sched_change_kind kind;
    struct str text; /* what to do, in the imperative */
};

/* Changes that together make the pod fit on a node: the scheduler was asked. */
struct sched_suggestion {
    struct sched_change *changes;
    size_t change_count;
    size_t node;                   /* place in report.nodes */
    size_t feasible;               /* nodes that fit then */
    const struct api_object *pod;  /* as it would be; held */
    const struct api_object *host; /* the node as it would be; held */
    struct sched_pod_name *gone;   /* pods that would have to go; in the arena */
    size_t gone_count;
};

struct sched_suggestions {
    struct sched_suggestion *v; /* the smallest first */
    size_t n;
    bool ended_early; /* LIMIT_SUGGEST_BYTES: there may be smaller ones */
};

/*
 * The smallest changes that make the explained pod fit: on any node, if it fits on none, or, with a
 * place in report.nodes other than SIZE_MAX, on this one. Nothing may have changed since it was
 * explained. The scheduler is asked about changed copies and is as before when this returns. *out
 * lives in the arena but for the objects: sched_suggestions_release.
 */
void sched_suggest(const struct sched_explanation *e, size_t node, struct arena *a,
                   struct sched_suggestions *out);
void sched_suggestions_release(struct sched_suggestions *list);

/* How many suggestions there are at most. */
enum { SCHED_MOST_SUGGESTIONS = 5 };

#endif
