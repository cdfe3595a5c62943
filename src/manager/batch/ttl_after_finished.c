/*
 * Jobs that are finished go when their ttlSecondsAfterFinished are over.
 *
 * Follows k8s.io/kubernetes pkg/controller/ttlafterfinished, func (*Controller) processJob.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "manager/batch/batch_int.h"
#include "manager/batch/job_int.h"
#include "manager/controller_int.h"
#include "manager/pods_int.h"

enum { BUCKETS = 14 };

struct ttl_jobs {
    struct manager *manager;
    struct workqueue *queue;
    struct informer *jobs;
    uint64_t delays[BUCKETS + 1]; /* job_deletion_duration_seconds */
    double delay_sum;
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
    int64_t now = manager__now(c->manager);
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
        work_fail(w, "%.*s", STR_ARG(answer->message));
        return;
    }
    double seconds = (double)(manager__now(d->c->manager) - d->expired) / (double)CLOCK_SECOND;
    size_t i = 0;
    while (i < BUCKETS && seconds > 0.1 * (1 << i))
        i++;
    d->c->delays[i]++;
    d->c->delay_sum += seconds;
}

/* The Job as it is now: its time may have been changed meanwhile. */
static void looked_up(void *arg, struct work *w, const struct client_answer *answer) {
    struct ttl_jobs *c = arg;
    int64_t at;
    if (answer->code == ERR_NOT_FOUND)
        return;
    if (answer->code) {
        work_fail(w, "%.*s", STR_ARG(answer->message));
        return;
    }
    if (!is_expired(c, w, answer->object, &at))
        return;
    struct deletion *d = arena_new(work_arena(w), struct deletion);
    *d = (struct deletion){c, at};
    work_send(w,
              &(struct client_request){
                  .verb = REGISTRY_VERB_DELETE,
                  .kind = answer->object->kind,
                  .namespace = work_namespace(w),
                  .name = work_name(w),
                  .deletion = {.uid = answer->object->meta->uid, .propagation = STR("Foreground")}},
              deleted, d);
}

static void sync(void *arg, struct work *w) {
    struct ttl_jobs *c = arg;
    const struct api_object *o = informer_get(c->jobs, work_namespace(w), work_name(w));
    int64_t at;
    if (!o || !is_expired(c, w, o, &at))
        return;
    work_send(w,
              &(struct client_request){.verb = REGISTRY_VERB_GET,
                                       .kind = o->kind,
                                       .namespace = work_namespace(w),
                                       .name = work_name(w)},
              looked_up, c);
}

static void job_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct ttl_jobs *c = arg;
    (void)old;
    if (is_to_go(o))
        workqueue_add_object(c->queue, o);
}

static void *start(struct manager *m) {
    struct ttl_jobs *c = xcalloc(1, sizeof *c);
    c->manager = m;
    c->jobs = manager__informer(m, API_T_job);
    c->queue = workqueue_new(&(struct workqueue_opts){.name = "ttl_jobs_to_delete",
                                                      .client = m->client,
                                                      .informers = m->informers,
                                                      .log = m->log,
                                                      .sync = sync,
                                                      .arg = c});
    informer_listen(c->jobs, &(struct informer_handler){.set = job_set, .arg = c});
    return c;
}

static void stop(void *self) {
    struct ttl_jobs *c = self;
    workqueue_free(c->queue);
    free(c);
}

void manager__ttl_after_finished_write_metrics(const void *self, struct buf *out) {
    const struct ttl_jobs *c = self;
    static const char name[] = "ttl_after_finished_controller_job_deletion_duration_seconds";
    uint64_t sum = 0;
    buf_addf(out,
             "# HELP %s [ALPHA] How long after their time finished Jobs were deleted.\n"
             "# TYPE %s histogram\n",
             name, name);
    for (size_t i = 0; i < BUCKETS; i++)
        buf_addf(out, "%s_bucket{le=\"%g\"} %llu\n", name, 0.1 * (1 << i),
                 (unsigned long long)(sum += c->delays[i]));
    sum += c->delays[BUCKETS];
    buf_addf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %g\n%s_count %llu\n", name,
             (unsigned long long)sum, name, c->delay_sum, name, (unsigned long long)sum);
}

const struct manager__controller manager__ttl_after_finished = {start, stop};
