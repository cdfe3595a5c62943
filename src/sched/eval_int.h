/*
 * What every node made of a class, remembered: verdicts and scores of plug-ins of scope NODE, and
 * the best node so far as a tournament. Brought up to date by asking again only about nodes that
 * were touched since.
 */
#ifndef SCHED_EVAL_INT_H
#define SCHED_EVAL_INT_H

#include "sched/plugin_int.h"

/* Scores that are put on a scale by the largest among nodes that fit. */
struct sched__scaled {
    enum sched_plugin plugin;
    int64_t *raw; /* by slot */
    int64_t max;
    uint32_t at_max; /* nodes that have it */
};

/* Less than any sum of weighted scores, which are negative where weights are: of at most 100 points
 * times 32 bits for each plug-in. So there is no need for upstream's check that the sum of all
 * weights fits 64 bits (k8s.io/kubernetes pkg/scheduler/framework/runtime, func
 * getValidScoreWeights). */
#define SCHED__NO_TOTAL INT64_MIN

struct sched__eval {
    struct sched__eval *newer, *older; /* by last use */
    struct sched__pod_class *owner;    /* NULL: it is gone, and this is the newest */
    struct str needs;                  /* of all that may own it, in the arena */
    struct arena arena;
    uint32_t size; /* of the columns: slots in use */
    uint64_t seen; /* changes up to here are in it */
    uint64_t nodes_generation, storage_generation;
    uint8_t *verdict; /* by slot */
    uint32_t feasible;
    bool few;        /* a plug-in named the slots, and they are few: a daemon has one */
    bool scored;     /* the columns of scores are there: two nodes fitted at one time */
    int64_t *fixed;  /* by slot: weighted scores that need no scale */
    int64_t *total;  /* by slot; SCHED__NO_TOTAL: does not fit */
    uint32_t winner; /* the first slot with the best total, or SCHED__NONE */
    /* The tournament over slots: the better of 2 * i and 2 * i + 1 is at [i], where numbers from
     * `size` on are the slots themselves; [1] is the winner. NULL until something changes. */
    uint32_t *best;
    bool replay;                      /* all totals changed since the tournament was held */
    bool scoring[SCHED_PLUGIN_COUNT]; /* plug-ins of scope NODE that score */
    struct sched__scaled scaled[SCHED_PLUGIN_COUNT];
    size_t scaled_count;
    struct str score_error; /* of PreScore, in the arena */
};

/*
 * The class's memory of all nodes, up to date; NULL when a plug-in failed: see cy->error. A class
 * that has none takes over that of the class which came before it, if nodes say the same to both:
 * pods of a StatefulSet or an indexed Job are each a class of their own, and come one by one.
 */
struct sched__eval *sched__eval_refresh(struct sched__cycle *cy);

/* Forgets what a class remembers; fine if that is nothing. */
void sched__eval_forget(struct sched *s, struct sched__pod_class *c);

/* The class is about to go: what it remembers is there for the next one, or forgotten. */
void sched__eval_leave(struct sched *s, struct sched__pod_class *c);

/* Forgets what is left, when all classes are gone. */
void sched__evals_release(struct sched *s);

/* Asks the plug-ins of scope NODE about a slot, whose verdict is overwritten, even if PreFilter
 * left it out. */
void sched__eval_try(struct sched__cycle *cy, uint32_t slot);

#endif
