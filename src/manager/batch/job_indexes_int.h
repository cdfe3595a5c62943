/*
 * Completion indexes of a Job as intervals: "0,3-5,7".
 *
 * Follows k8s.io/kubernetes pkg/controller/job, type orderedIntervals.
 */
#ifndef MANAGER_BATCH_JOB_INDEXES_INT_H
#define MANAGER_BATCH_JOB_INDEXES_INT_H

#include "base/arena.h"
#include "base/str.h"

enum { JOB__NO_INDEX = -1 };

struct job__interval {
    int32_t first, last;
};

/* In rising order, with gaps between them. */
struct job__indexes {
    struct job__interval *v;
    size_t n;
};

/* Reads a list as far as it is below completions; what is no interval is left out. */
struct job__indexes job__indexes_parse(struct arena *a, struct str text, int32_t completions);

/* The list as text, in the arena; never absent. */
struct str job__indexes_text(struct arena *a, const struct job__indexes *list);

/* How many indexes there are. */
int64_t job__indexes_total(const struct job__indexes *list);

/* Is the index among them? */
bool job__indexes_have(const struct job__indexes *list, int32_t index);

/* The indexes of both. */
struct job__indexes job__indexes_join(struct arena *a, const struct job__indexes *x,
                                      const struct job__indexes *y);

/* Single indexes as a list; v is put into order. */
struct job__indexes job__indexes_of(struct arena *a, int32_t *v, size_t n);

/* How many indexes both have. */
int64_t job__indexes_common(const struct job__indexes *x, const struct job__indexes *y);

/* The first `most` indexes below completions that are not among them; *n tells how many. */
int32_t *job__indexes_free(struct arena *a, const struct job__indexes *taken, int32_t completions,
                           size_t most, size_t *n);

#endif
