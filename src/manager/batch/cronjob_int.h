/*
 * The parts of the controller of CronJobs: when it is time, and what becomes of Jobs.
 *
 * Follows k8s.io/kubernetes pkg/controller/cronjob, func (*ControllerV2) syncCronJob.
 */
#ifndef MANAGER_BATCH_CRONJOB_INT_H
#define MANAGER_BATCH_CRONJOB_INT_H

#include "api/object.h"
#include "codec/cron.h"

struct zone;

/* ---- when (cronjob_schedule.c) ---- */

/* A schedule and what it is counted from; times in seconds since the Unix epoch. */
struct cronjob__clock {
    struct cron cron;
    struct zone *zone; /* NULL: UTC */
    int64_t created;
    struct api_time last;        /* lastScheduleTime */
    struct api_opt_i64 deadline; /* startingDeadlineSeconds */
};

/* Is it time? */
struct cronjob__due {
    bool is_due;
    int64_t at;           /* the last time at which it was */
    bool has_missed_many; /* and more than a hundred before */
    const char *fault;    /* or what is wrong with the schedule */
};

/* Whether a Job should have been made by now that was not. Times before startingDeadlineSeconds do
 * not count. */
struct cronjob__due cronjob__is_due(const struct cronjob__clock *c, int64_t now);

/* When it will be time next, as counted from now; CRON_NEVER: it will not. */
int64_t cronjob__next(const struct cronjob__clock *c, int64_t now);

/* ---- Jobs (cronjob_jobs.c) ---- */

/* A Job of the CronJob; texts are the arena's. */
struct cronjob__job {
    struct str name, uid;
    const char *finished; /* Complete, Failed; NULL: it is at work */
    struct api_time start, completion;
};

struct cronjob__jobs {
    struct cronjob__job *v;
    size_t n;
};

/* Reads the Jobs. */
struct cronjob__jobs cronjob__read_jobs(struct arena *a, const struct api_object *const *jobs,
                                        size_t n);

/* Adds the oldest of the Jobs that ended like this and are more than are to be kept. `out` has room
 * for all. */
void cronjob__find_old(struct arena *a, const struct cronjob__jobs *all, const char *finished,
                       struct api_opt_i32 kept, struct cronjob__jobs *out);

/* What becomes of Jobs' names. */
struct str cronjob__job_name(struct arena *a, struct str cron_job, int64_t scheduled);

/* A moment as Jobs tell it: RFC 3339, in the zone's time. */
struct str cronjob__stamp(struct arena *a, int64_t scheduled, const struct zone *zone);

/* The Job of a moment, which `stamp` tells, not yet created. */
struct api_object *cronjob__new_job(const struct api_object *cron_job, int64_t scheduled,
                                    struct str stamp);

/* Is this uid among the active Jobs? And takes it out of them; the list is a new one in the arena.
 */
bool cronjob__is_active(const struct api_object_reference_list *list, struct str uid);
void cronjob__drop_active(struct arena *a, struct api_object_reference_list *list, struct str uid);

/* Adds a Job to the active ones. */
void cronjob__add_active(struct arena *a, struct api_object_reference_list *list,
                         const struct api_object *job);

#endif
