/*
 * kube-scheduler: the core of `sched` at work on a cluster, through its API.
 *
 * What informers tell is told to the core, and what the core decides is carried out: bindings, with
 * the volumes that come before them, conditions, nominations, preemption, events. Decisions are
 * made in small portions, one per turn of the loop, and many requests are under way at a time: the
 * core assumes each pod to be on its node until the server has said what became of it.
 */
#ifndef SCHEDULER_SCHEDULER_H
#define SCHEDULER_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct client;
struct clock;
struct feature_set;
struct informers;
struct log;
struct match_engine;
struct sched_config;
struct scheduler;

struct scheduler_opts {
    struct client *client;             /* stored; its loop has the clock */
    struct informers *informers;       /* stored: of the same client */
    const struct log *log;             /* stored */
    const struct feature_set *gates;   /* copied: the scheduler's own, whatever the server's are */
    const struct match_engine *engine; /* stored: evaluates expressions of tolerations; or NULL */
    const struct sched_config *config; /* stored; NULL: upstream's default */
    const struct clock *stopwatch;     /* stored: as that of struct sched_opts; or NULL */
    uint64_t seed;                     /* of maps; nothing observable depends on it */
    uint64_t tie_seed;                 /* 0: of equally good nodes the first is taken */
};

/* A scheduler that decides as soon as all informers it needs have synced. Free it with
 * scheduler_free, before the client. */
struct scheduler *scheduler_new(const struct scheduler_opts *opts);

/* Has the informers filled that a scheduler looks at, so that one which is made later can decide at
 * once. */
void scheduler_warm(struct informers *informers);

/* Stops it. Answers that are still to come are not waited for: the next scheduler sees what became
 * of its requests. The informers may not tell anything any more: they are freed before the next
 * turn of the loop. NULL is fine. */
void scheduler_free(struct scheduler *s);

/* Does it know the cluster, and therefore decide? */
bool scheduler_has_synced(const struct scheduler *s);

/* Appends the metrics of the core (sched/metrics.h). */
void scheduler_metrics_write(const struct scheduler *s, struct buf *out);

#endif
