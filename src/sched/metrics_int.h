/*
 * Figures of the scheduler. A metric is a row of metrics.def; all its labels have few possible
 * values that are known from the start, so that a series is found by index and counting costs an
 * addition.
 */
#ifndef SCHED_METRICS_INT_H
#define SCHED_METRICS_INT_H

#include "sched/plugin_int.h"

enum sched__metric {
#define METRIC(id, ...) SCHED__METRIC_##id,
#include "sched/metrics.def"
#undef METRIC
    SCHED__METRIC_COUNT
};

/* Values of the label queue; the first three are where pods come into. */
enum sched__queue_label {
    SCHED__QUEUE_ACTIVE,
    SCHED__QUEUE_BACKOFF,
    SCHED__QUEUE_UNSCHEDULABLE,
    SCHED__QUEUE_GATED
};
enum sched__hint_label { SCHED__HINT_SKIP, SCHED__HINT_QUEUE };

/* Places of label values, in the order of the row's labels. */
struct sched__labels {
    uint32_t v[3];
};
#define SCHED__LABELS(...) ((struct sched__labels){{__VA_ARGS__}})

struct sched__histogram {
    double sum;
    uint64_t buckets[]; /* not cumulative; the last is for larger values than all bounds */
};

struct sched__series {
    uint16_t size[3];               /* how many values each label has */
    uint64_t *values;               /* counters and gauges */
    struct sched__histogram **hist; /* histograms; NULL: nothing observed */
};

struct sched__metrics {
    struct sched__series v[SCHED__METRIC_COUNT];
};

/* s->metrics; s->config must be there. Free with sched__metrics_free. */
struct sched__metrics *sched__metrics_new(const struct sched *s);
void sched__metrics_free(struct sched__metrics *m); /* NULL is fine */

static inline size_t sched__series_at(const struct sched__series *s, struct sched__labels l) {
    return ((size_t)l.v[0] * s->size[1] + l.v[1]) * s->size[2] + l.v[2];
}

/* Adds to a counter. */
static inline void sched__metrics_add(struct sched__metrics *m, enum sched__metric metric,
                                      struct sched__labels labels, uint64_t n) {
    m->v[metric].values[sched__series_at(&m->v[metric], labels)] += n;
}

/* Adds a value to a histogram. */
void sched__metrics_observe(struct sched__metrics *m, enum sched__metric metric,
                            struct sched__labels labels, double value);

/* The number of observations in a histogram, or the value of anything else. */
uint64_t sched__metrics_value(const struct sched__metrics *m, enum sched__metric metric,
                              struct sched__labels labels);

/* The place of a profile as label value. */
static inline uint16_t sched__profile_label(const struct sched *s,
                                            const struct sched_profile *profile) {
    return (uint16_t)(profile - s->config->profiles);
}

/* An attempt to bring a pod of the profile to a node has ended so, and its decision took so many
 * seconds. */
void sched__metrics_attempt(struct sched *s, uint16_t profile, enum sched_outcome outcome,
                            double seconds);

/* A decision took so many seconds; counts the plug-ins that were asked. */
void sched__metrics_cycle(const struct sched__cycle *cy, double seconds);

/* All plug-ins of a point have been asked, or one of them, in so many nanoseconds. */
void sched__metrics_point(const struct sched__cycle *cy, enum sched_point point,
                          enum sched_code code, int64_t ns);
void sched__metrics_plugin(const struct sched__cycle *cy, enum sched_point point,
                           enum sched_plugin plugin, enum sched_code code, int64_t ns);

/* Preemption was tried, and chose so many victims; 0: it found no node. */
void sched__metrics_preemption(struct sched *s, size_t victims);

/* A decision has this outcome: counts what tolerations and affinity by numbers, versions and
 * expressions did for it, or against it (metrics_operators.c). */
void sched__metrics_operators(const struct sched__cycle *cy, enum sched_outcome outcome);

#endif
