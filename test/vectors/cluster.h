/* Objects of a line as a server stores them, and what to judge them with: gates, a matcher, a
 * scheduler. */
#ifndef TEST_VECTORS_CLUSTER_H
#define TEST_VECTORS_CLUSTER_H

#include "api/object.h"
#include "feature/feature.h"
#include "match/match.h"
#include "sched/sched.h"
#include "tolexpr/tolexpr.h"
#include "verdict.h"

struct cluster {
    struct feature_set gates;    /* defaults, and what the line's `gates` say */
    struct sched_config *config; /* of the line; NULL: it has none */
    struct tolexpr *expressions;
    struct intern *atoms;
    struct match *match;
    struct arena *arena; /* for the list of objects */
    const struct api_object **objects;
    size_t n, cap;
};

/* Runs a check with an empty cluster that has the gates of the line. 0 or -1 and why. */
int cluster_check(struct arena *a, const struct json *line, struct buf *why,
                  int (*check)(struct cluster *c, const struct json *line, struct buf *why));

/* Decodes, defaults and publishes an object of the kind, which the cluster owns; NULL and why. */
const struct api_object *cluster_add(struct cluster *c, const char *kind, const struct json *tree,
                                     struct buf *why);

/* The same for a member of the line that is a list of them; none when there is no such member. 0 or
 * -1 and why. They are the last ones of c->objects. */
int cluster_add_all(struct cluster *c, const char *kind, const struct json *list, struct buf *why);

/* A scheduler with the gates and the configuration of the line; free with sched_free. */
struct sched *cluster_sched_new(const struct cluster *c, const struct clock *clock);

/* The same for all members of the line that list what a scheduler knows. 0 or -1 and why. */
int cluster_add_line(struct cluster *c, const struct json *line, struct buf *why);

#endif
