/*
 * Jobs that are finished go when their ttlSecondsAfterFinished are over.
 *
 * Follows k8s.io/kubernetes pkg/controller/ttlafterfinished, func (*Controller) processJob.
 */
#include "base/clock.h"
#include "base/metric.h"
#include "manager/batch/job_int.h"
#include "manager/controller_int.h"
#include "manager/pods_int.h"

static const struct histogram_row delay = {
    .name = "ttl_after_finished_controller_job_deletion_duration_seconds",
    .level = "ALPHA",
    .help = "How long after their time finished Jobs were deleted.",
    .bounds = {0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2},
};

struct ttl_jobs {
    struct manager__base base; /* keys: Jobs */
    struct histogram delays;
};

struct deletion {
    struct ttl_jobs *c;
    int64_t expired;
};

static bool is_to_go(const struct api_object *o) {
    const struct api_job *job = o->body;
    return !o->meta->deletion_timestamp.set && job->spec.ttl_seconds_after_finished.set &&
           job__finished(&job->status);
}

/* When its time is over; false: it does not say when it was finished. */
static bool find_expiry(const struct api_object *o, int64_t *at) {
    const struct api_job *job = o->body;
    struct api_time end = job__finished(&job->status)->last_transition_time;
    int64_t ttl = job->spec.ttl_seconds_after_finished.v * CLOCK_SECOND;
    if (__builtin_add_overflow(manager__time_ns(end), ttl, at))
        *at = INT64_MAX;
    return end.set;
}

/* Is its time over? If it will be, it is looked at again then. */
static bool is_expired(struct ttl_jobs *c, struct work *w, const struct api_object *o,
                       int64_t *at) {
    int64_t now = manager__now(c->base.manager);
    if (!is_to_go(o))
        return false;
    if (!find_expiry(o, at)) {
        work_fail(w, "unable to find the time when the Job %.*s/%.*s finished",
                  STR_ARG(work_namespace(w)), STR_ARG(work_name(w)));
        return false;
    }
    if (*at > now)
        work_again_after(w, *at - now);
    return *at <= now;
}

static void deleted(void *arg, struct work *w, const struct client_answer *answer) {
    const struct deletion *d = arg;
    if (answer->code) {
        work_fail_by(w, answer);
        return;
    }
    histogram_observe_ns(&delay, &d->c->delays, manager__now(d->c->base.manager) - d->expired);
}

/* The Job as it is now: its time may have been changed meanwhile. */
static void looked_up(void *arg, struct work *w, const struct client_answer *answer) {
    struct ttl_jobs *c = arg;
    int64_t at;
    if (answer->code == ERR_NOT_FOUND)
        return;
    if (answer->code) {
        work_fail_by(w, answer);
        return;
    }
    if (!is_expired(c, w, answer->object, &at))
        return;
    struct deletion *d = arena_new(work_arena(w), struct deletion);
    *d = (struct deletion){c, at};
    struct client_deletion how = {.uid = answer->object->meta->uid,
                                  .propagation = STR("Foreground")};
    work_delete(w, answer->object, &how, deleted, d);
}

static void sync(void *self, struct work *w, const struct api_object *o) {
    int64_t at;
    if (is_expired(self, w, o, &at))
        work_get(w, o->kind, o->meta->namespace, o->meta->name, looked_up, self);
}

static void job_set(void *self, const struct api_object *old, const struct api_object *o) {
    if (is_to_go(o))
        manager__add_set(self, old, o);
}

static void write_metrics(const void *self, struct buf *out) {
    histogram_head(out, &delay);
    histogram_write(out, &delay, STR(""), &((const struct ttl_jobs *)self)->delays);
}

const struct manager__controller manager__ttl_after_finished = {
    .size = sizeof(struct ttl_jobs),
    .queues = {{"ttl_jobs_to_delete", sync, .names = API_T_job}},
    .kinds = {{API_T_job, .set = job_set}},
    .write_metrics = write_metrics,
};
