/*
 * The parts of the controller of Jobs: what a Job and its pods are at a moment, what is to be done
 * about it, and what its status becomes. All but job.c is pure: facts in, decisions out.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func (*Controller) syncJob.
 */
#ifndef MANAGER_BATCH_JOB_INT_H
#define MANAGER_BATCH_JOB_INT_H

#include "api/object.h"
#include "base/clock.h"
#include "base/map.h"
#include "manager/adoption_int.h"
#include "manager/batch/job_indexes_int.h"

struct feature_set;

#define JOB__FINALIZER     "batch.kubernetes.io/job-tracking"
#define JOB__INDEX         "batch.kubernetes.io/job-completion-index"
#define JOB__FAILURES      "batch.kubernetes.io/job-index-failure-count"
#define JOB__IGNORED       "batch.kubernetes.io/job-index-ignored-failure-count"
#define JOB__CONTROLLER    "kubernetes.io/job-controller"
#define JOB__BATCH_PERIOD  CLOCK_SECOND
#define JOB__FIRST_BACKOFF (10 * CLOCK_SECOND)
#define JOB__MOST_BACKOFF  (10 * 60 * CLOCK_SECOND)

/* At most so many pods stand in status.uncountedTerminatedPods, about 20 KB. */
enum { JOB__MOST_UNCOUNTED = 500 };

/* ---- policies (job_policy.c) ---- */

/* What the rule of podFailurePolicy that a pod matches says. */
enum job__action { JOB__NO_RULE, JOB__IGNORE, JOB__COUNT, JOB__FAIL_INDEX, JOB__FAIL_JOB };

/* The first rule that the pod matches; of FAIL_JOB *why is the message, in the arena. The policy
 * may be NULL. */
enum job__action job__match_failure_policy(struct arena *a, const struct api_pod_failure_policy *p,
                                           const struct api_object *pod, struct str *why);

/* The place of the first rule of successPolicy that these indexes meet; -1: none. The policy may be
 * NULL. */
int64_t job__match_success_policy(struct arena *a, const struct api_success_policy *p,
                                  int32_t completions, const struct job__indexes *succeeded);

/* ---- pods (job_pod.c) ---- */

/* What is asked of a pod; texts are the arena's, so that it outlives the pod in the informer. */
struct job__pod {
    struct str name, uid;
    const struct api_object *object; /* for as long as nothing else happens */
    int32_t index;                   /* JOB__NO_INDEX: none, or not one of the Job's */
    bool counts;                     /* an indexed Job counts pods with an index only */
    bool has_finalizer;              /* its end is not counted yet */
    bool is_uncounted_success, is_uncounted_failure; /* stands in uncountedTerminatedPods */
    bool is_active, is_ready, is_terminating, has_succeeded;
    bool has_failed; /* or is counted as such, since it goes */
    enum job__action action;
    struct str why; /* of FAIL_JOB */
    int64_t finished_at;
    int32_t restarts;          /* of containers, while it lives */
    int32_t failures, ignored; /* of its index before it */
};

struct job__pods {
    struct job__pod *v;
    size_t n;
};

/* Does the pod have the finalizer? */
bool job__has_finalizer(const struct api_object *pod);

/* Reads a pod of a Job. */
void job__read_pod(struct arena *a, const struct api_job_spec *job, const struct api_object *pod,
                   struct job__pod *out);

/* A new pod of the Job, not yet created: the finalizer is on it, and index JOB__NO_INDEX has no
 * trace. What it replaces, or NULL, tells how often its index has failed. */
struct api_object *job__new_pod(const struct api_object *job, int32_t index,
                                const struct job__pod *replaced);

/* ---- back-off (job_backoff.c) ---- */

/* Failures of a Job since its last success. */
struct job__backoff {
    int32_t failures;
    int64_t last; /* when; nothing while there are none */
};

/* The record after these pods have ended. */
struct job__backoff job__backoff_after(const struct job__backoff *old,
                                       const struct job__pods *pods);

/* For how many nanoseconds nothing is to be created after so many failures. */
int64_t job__backoff_left(const struct job__backoff *b, int64_t now);

/* ---- decisions (job_view.c, job_plan.c) ---- */

/* How a Job ends; type NULL: it does not. */
struct job__end {
    const char *type; /* FailureTarget, SuccessCriteriaMet; then Failed, Complete */
    struct str reason, message;
};

/* A Job and its pods at a moment. All of it lives in the arena. */
struct job__view {
    struct arena *a;
    int64_t now;
    uint64_t seed; /* of maps */
    const struct feature_set *gates;
    const struct api_job_spec *spec; /* for as long as nothing else happens */
    bool is_indexed, is_suspended, is_deleted;
    bool waits_for_failure; /* podReplacementPolicy: Failed */
    bool counts_per_index;  /* there is a backoffLimitPerIndex */
    bool has_policy;        /* there is a podFailurePolicy */
    struct api_opt_i32 completions;
    int32_t parallelism;
    struct api_job_status old, status; /* before; and what it is to become */
    struct job__pods pods;
    int32_t active, ready, terminating, succeeded, failed;
    struct job__indexes was_succeeded, succeeded_indexes, failed_indexes;
    struct job__pod **delayed; /* failed pods whose index waits for another, by index */
    size_t delayed_count;
    struct job__backoff backoff;
    struct job__end end;
};

/* Looks at a Job: the arena, the time, the seed and the gates are given. The pods of `expected` (by
 * uid) have lost their finalizer, though that is not seen yet. */
void job__look(struct job__view *v, const struct api_object *job,
               const struct manager__objects *pods, const struct map *expected,
               const struct job__backoff *backoff);

/* Decides whether the Job has come to its end: v->end. */
void job__judge(struct job__view *v);

/* In how many nanoseconds activeDeadlineSeconds will be over; 0: it is no question. */
int64_t job__deadline_in(const struct job__view *v);

enum job__step {
    JOB__TRACKS,     /* there are as many pods as there should be */
    JOB__WAITS,      /* for `wait` nanoseconds, because of failures */
    JOB__CREATES,    /* so many pods */
    JOB__DELETES,    /* pods, without their finalizer: they do not count */
    JOB__DELETES_ALL /* active pods, with their finalizer: the Job has come to its end */
};

struct job__plan {
    enum job__step step;
    int64_t wait;
    size_t count;            /* of pods to be made or deleted */
    int32_t *indexes;        /* of those to be made, if the Job is indexed */
    struct job__pod **goers; /* that are to be deleted */
};

/* What to do about the number of pods. */
void job__plan(const struct job__view *v, struct job__plan *out);

/* The failed pod that this index waits to be replaced, or NULL. */
struct job__pod *job__replaced(const struct job__view *v, int32_t index);

/* ---- the status (job_track.c) ---- */

/* What changes of the Suspended condition are told. */
enum job__turn { JOB__SAME, JOB__SUSPENDED, JOB__RESUMED };

/* Writes the Suspended condition, and startTime. */
enum job__turn job__track_suspension(struct job__view *v);

struct job__tracked {
    struct job__pod **released; /* the finalizer of these goes when the status is written */
    size_t released_count;
    bool is_partial;                   /* there are more than can be counted at a time */
    bool writes;                       /* the status differs */
    bool finishes;                     /* this status says that the Job is finished */
    size_t actions[JOB__FAIL_JOB + 1]; /* failures that were handled by podFailurePolicy */
};

/* Counts pods that have ended and writes conditions, as far as one write of the status can go.
 * `writes` tells that it differs already. */
void job__track(struct job__view *v, bool writes, struct job__tracked *out);

/* Has the Job a condition of one of these types that is true? Or NULL. */
const struct api_job_condition *job__condition(const struct api_job_status *s, const char *type);
/* Complete or Failed, whichever it is; NULL: it is not finished. */
const struct api_job_condition *job__finished(const struct api_job_status *s);

#endif
