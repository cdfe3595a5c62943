/* PodTopologySpread: what its files share. */
#ifndef SCHED_PLUGINS_POD_TOPOLOGY_SPREAD_INT_H
#define SCHED_PLUGINS_POD_TOPOLOGY_SPREAD_INT_H

#include "sched/plugin_int.h"
#include "sched/topology/count_int.h"

/* One constraint of a class, compiled. */
struct sched__spread_rule {
    size_t place; /* in the pod's list, or the profile's */
    struct str label;
    int32_t max_skew, min_domains;
    bool honors_taints, honors_affinity;
    bool by_host;                    /* the label is kubernetes.io/hostname */
    int self;                        /* 1: the selector matches the class's own pods */
    const struct selector *selector; /* NULL: matches nothing */
    struct sched__topology *topology;
    struct sched__tally *tally; /* by host, for scores: of each node, eligible or not */
};

struct sched__spread_rules {
    struct sched__spread_rule *v;
    size_t n;
    struct str error; /* they cannot be compiled; absent: fine */
};

/* What the plug-in makes of a class. */
struct sched__spread {
    struct sched__pod_class *cls;
    const struct api_topology_spread_constraint *specs;
    size_t spec_count;
    bool own;                              /* the specs are the pod's */
    bool strict;                           /* nodes without one of the labels do not count */
    struct sched__spread_rules hard, soft; /* filter; score */
    uint64_t generation;                   /* of selectors, that default rules are made with */
    struct str selector;                   /* text of the one that default rules have */
    struct arena arena;                    /* of the rules */
};

/* The plug-in's slots for classes. */
void *sched__spread_compile(struct sched *s, struct sched__pod_class *c);
void sched__spread_discard(struct sched *s, void *data);

/* The rules of the class of a pod, brought up to date; NULL: it has none. */
const struct sched__spread *sched__spread_refresh(struct sched *s, struct sched__pod_class *c);

/* The plug-in's slots for scores (pod_topology_spread_score.c). */
bool sched__spread_pre_score(struct sched__cycle *cy);
void sched__spread_score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to);
void sched__spread_normalize(const struct sched__cycle *cy, int64_t *scores);

/* A plug-in's question about an event (pod_topology_spread_hint.c). */
bool sched__spread_hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event);

#endif
