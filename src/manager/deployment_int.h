/*
 * What is to be done about a Deployment: a pure question about it and its ReplicaSets, answered
 * with a plan.
 *
 * Upstream writes step by step within one piece of work and looks at its own copies in between.
 * Here a piece of work makes one step and comes again when its writes have been seen.
 */
#ifndef MANAGER_DEPLOYMENT_INT_H
#define MANAGER_DEPLOYMENT_INT_H

#include "api/object.h"
#include "base/arena.h"

struct feature_set;

#define DEPLOYMENT_REVISION         "deployment.kubernetes.io/revision"
#define DEPLOYMENT_REVISION_HISTORY "deployment.kubernetes.io/revision-history"
#define DEPLOYMENT_DESIRED          "deployment.kubernetes.io/desired-replicas"
#define DEPLOYMENT_MAX              "deployment.kubernetes.io/max-replicas"

/* A ReplicaSet of it, and what is planned. */
struct deployment__set {
    const struct api_object *object;
    const struct api_replica_set *body;
    int32_t replicas;  /* that it shall have */
    bool is_updated;   /* it is written: its replicas, with the annotations that go with them */
    bool is_annotated; /* it is written: annotations and min_ready_seconds */
    struct labels annotations;
    bool is_deleted;
};

/* What is looked at. Everything but the first part is filled by deployment__look. */
struct deployment__view {
    struct arena *arena;
    const struct api_object *object;
    const struct feature_set *gates;
    bool has_old_pods; /* pods of old ReplicaSets are there that have not ended */
    int64_t now;
    struct deployment__set *sets; /* in the order of their creation */
    size_t n;

    const struct api_deployment *body;
    struct deployment__set *current; /* the one of the template at hand; NULL: there is none */
    int32_t wanted, max_unavailable;
    int32_t most; /* replicas at a time, while it is rolled out */
    bool is_rolling;
};

struct deployment__plan {
    bool creates; /* a ReplicaSet, with so many replicas and this revision */
    int32_t replicas;
    bool writes_status;
    struct api_deployment_status status; /* all of it in the arena */
    struct str revision;                 /* annotation of the Deployment; empty: as it is */
    int64_t again_after;                 /* in nanoseconds; 0: only when something changes */
};

/* Brings the sets, which are given as objects, into order and fills the view. */
void deployment__look(struct deployment__view *v);

/* The ReplicaSet of the template, or NULL: of several the oldest. */
struct deployment__set *deployment__find_current(struct deployment__set *sets, size_t n,
                                                 const struct api_pod_template_spec *template);

/* What is to be done next. Plans for ReplicaSets that are there are written into the view. */
void deployment__plan(struct deployment__view *v, struct deployment__plan *plan);

/* Plans what follows upon the creation of a ReplicaSet: it was made, or refused with this text. */
void deployment__plan_created(struct deployment__view *v, struct str name,
                              struct deployment__plan *plan);
void deployment__plan_refused(struct deployment__view *v, struct str text,
                              struct deployment__plan *plan);

/* ---- status (deployment_status.c) ---- */

/* Is the object's deadline for progress one, and not endless? */
bool deployment__has_deadline(const struct api_deployment *d);

/* The condition of this type, or NULL. */
const struct api_deployment_condition *
deployment__condition(const struct api_deployment_status *status, const char *type);

/* Sets a condition, unless one of the same status and reason is there. The list becomes a new one
 * in the arena; the texts are borrowed. */
struct deployment__word {
    const char *type, *status, *reason;
    struct str message;
};
void deployment__set_condition(struct deployment__view *v, struct api_deployment_status *status,
                               const struct deployment__word *word);

/* Is everything as it is asked for, by this status? */
bool deployment__is_complete(const struct deployment__view *v,
                             const struct api_deployment_status *status);

/* Plans the status that follows from the ReplicaSets; if it is that of a rollout, its progress is
 * judged. */
void deployment__plan_status(struct deployment__view *v, bool is_rollout,
                             struct deployment__plan *plan);

/* ---- annotations (deployment_annotations.c) ---- */

/* The revision of an object, 0 if it has none; false if it is no number. */
bool deployment__revision(const struct api_object *o, int64_t *out);

/* The revision that a new ReplicaSet, or the current one, has to have; in the arena. */
struct str deployment__next_revision(const struct deployment__view *v);

/* Brings the annotations of the current ReplicaSet up to date: those of the Deployment, and the
 * revision with its history. The list becomes a new one in the arena. False: they are. */
bool deployment__annotate(const struct deployment__view *v, struct arena *a,
                          struct labels *annotations);

/* Sets the annotations about the size; false: they are as they should be. */
bool deployment__annotate_size(const struct deployment__view *v, struct arena *a,
                               struct labels *annotations);

/* The number that a ReplicaSet's annotation is; false: it is none. */
bool deployment__annotated(const struct deployment__set *set, const char *key, int32_t *out);

/* ---- sizes (deployment_scale.c) ---- */

/* Plans sizes that keep the proportions between ReplicaSets. */
void deployment__scale(struct deployment__view *v);

/* Plans the next step of a rolling update, first of the current ReplicaSet; true if there is one.
 */
bool deployment__roll_up(struct deployment__view *v);
bool deployment__roll_down(struct deployment__view *v);

/* How many replicas the current ReplicaSet may have, or one that is made. */
int32_t deployment__new_replicas(const struct deployment__view *v, int32_t has);

/* The nearest number of replicas: anybody may write sizes and figures whose sums are none. */
int32_t deployment__number(int64_t n);

/* The sum of what ReplicaSets ask for, as they are stored. */
int32_t deployment__sum(const struct deployment__view *v);

/* Has the set replicas, as it is stored? */
bool deployment__is_active(const struct deployment__set *set);

#endif
