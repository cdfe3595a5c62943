/* InterPodAffinity: what its files share. */
#ifndef SCHED_PLUGINS_INTER_POD_AFFINITY_INT_H
#define SCHED_PLUGINS_INTER_POD_AFFINITY_INT_H

#include "sched/plugin_int.h"
#include "sched/topology/count_int.h"

/* A term of a class. */
struct sched__affinity_term {
    struct sched__podterm term;
    struct str label;
    int32_t weight;                   /* of preferred ones, negative to keep away; else 0 */
    struct sched__topology *topology; /* NULL in classes of placed pods, as is: */
    struct sched__tally *tally;       /* pods that the term, or all of affinity, match */
};

struct sched__affinity_terms {
    struct sched__affinity_term *v;
    size_t n;
};

/* What the plug-in makes of a class. */
struct sched__affinity {
    struct sched__affinity_terms affinity, anti, preferred; /* the last: both kinds */
    struct str error; /* what is wrong with the terms; absent: nothing */
};

/* The plug-in's slots for classes (inter_pod_affinity_terms.c). */
void *sched__affinity_compile(struct sched *s, struct sched__pod_class *c);
void sched__affinity_discard(struct sched *s, void *data);

/* The plug-in's slots for scores (inter_pod_affinity_score.c). */
bool sched__affinity_pre_score(struct sched__cycle *cy);
void sched__affinity_score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to);
void sched__affinity_normalize(const struct sched__cycle *cy, int64_t *scores);

/* The plug-in's slot for events (inter_pod_affinity_hint.c). */
bool sched__affinity_hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event);

#endif
