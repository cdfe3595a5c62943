/*
 * CronJobs: Jobs at their times.
 *
 * Follows k8s.io/kubernetes pkg/controller/cronjob, func (*ControllerV2) sync.
 */
#include "base/clock.h"
#include "base/goquote.h"
#include "base/map.h"
#include "base/metric.h"
#include "codec/zone.h"
#include "manager/batch/cronjob_int.h"
#include "manager/controller_int.h"
#include "manager/pods_int.h"

/* A Job is not asked for before its time, though clocks differ a little. */
#define DELTA (CLOCK_SECOND / 10)

static const struct histogram_row skew = {
    .name = "cronjob_controller_job_creation_skew_duration_seconds",
    .level = "STABLE",
    .help = "How long after their time Jobs of CronJobs were made.",
    .bounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
};

struct cronjobs {
    struct manager__base base; /* keys: CronJobs */
    struct informer *jobs;
    struct histogram skews;
};

/* One piece of work, in its arena. */
struct sync {
    struct cronjobs *c;
    struct work *work;
    struct events_subject subject;
    struct str resource_version;
    int64_t now;
    struct cronjob__jobs jobs;
    struct api_cron_job_status status; /* what it is to become */
    bool writes;                       /* and it differs */
    struct cronjob__clock clock;       /* its zone is there for as long as nothing else happens */
    int64_t scheduled;                 /* of the Job that is made */
    struct str stamp;                  /* the same as text */
    int64_t next;                      /* when it is time again; CRON_NEVER: never, or unknown */
    struct str *gone;                  /* uids of Jobs that are not active any more */
    size_t gone_count;
    size_t unanswered;
    bool is_stuck;                /* a Job that was to be replaced is still there */
    void (*then)(struct sync *s); /* when all deletions are answered */
};

static const struct api_object *current(const struct sync *s) {
    return manager__current(s->c, &s->subject);
}

static const struct api_cron_job_spec *spec_of(const struct api_object *o) {
    return &((const struct api_cron_job *)o->body)->spec;
}

static void fail(struct sync *s, struct str why) {
    work_fail(s->work, "%.*s", STR_ARG(why));
}

/* ---- the end of the work ---- */

static void finish(struct sync *s) {
    const struct api_object *o = current(s);
    if (!s->writes || !o)
        return;
    if (!str_eq(o->meta->resource_version, s->resource_version)) {
        fail(s, STR("the CronJob has changed meanwhile"));
        return;
    }
    struct api_object *draft = api_object_derive(o);
    api_struct_copy(&draft->arena, &api_types[API_T_cron_job_status], &s->status,
                    &((struct api_cron_job *)api_own_body(draft))->status);
    work_update(s->work, draft, "status", NULL, NULL);
}

/* The delay until a time in seconds; false: it never comes. */
static bool delay_until(int64_t at, int64_t now, int64_t *delay) {
    if (at == CRON_NEVER || __builtin_mul_overflow(at, CLOCK_SECOND, delay))
        return false;
    *delay += DELTA - now;
    return true;
}

/* Looks again when it is time next. */
static void finish_and_wait(struct sync *s) {
    int64_t delay;
    if (delay_until(s->next, s->now, &delay))
        work_again_after(s->work, delay);
    finish(s);
}

/* ---- status.active ---- */

static void note_gone(struct sync *s, struct str uid) {
    s->gone[s->gone_count++] = uid;
}

/* Takes all that were noted out of the list. */
static void drop_gone(struct sync *s) {
    struct api_object_reference_list *list = &s->status.active;
    AUTO(map_release) struct map gone = MAP_INIT(s->c->base.manager->seed);
    size_t kept = 0;
    for (size_t i = 0; i < s->gone_count; i++)
        map_put(&gone, s->gone[i], s);
    for (size_t i = 0; i < list->n; i++)
        if (!map_get(&gone, list->v[i].uid))
            list->v[kept++] = list->v[i];
    list->n = kept;
    s->gone_count = 0;
}

/* ---- deleting Jobs ---- */

struct deletion {
    struct sync *sync;
    struct str name, uid;
};

static void deleted(void *arg, struct work *w, const struct client_answer *answer) {
    const struct deletion *d = arg;
    struct sync *s = d->sync;
    (void)w;
    if (answer->code) {
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "FailedDelete",
                      "Deleted job: %.*s", STR_ARG(answer->message));
        s->is_stuck = true;
    } else {
        note_gone(s, d->uid);
        events_say_of(s->c->base.events, &s->subject, EVENTS_NORMAL, "SuccessfulDelete",
                      "Deleted job %.*s", STR_ARG(d->name));
        s->writes = true;
    }
    if (--s->unanswered > 0)
        return;
    drop_gone(s);
    s->then(s);
}

static void send_deletion(struct sync *s, struct str name, struct str uid) {
    struct deletion *d = arena_new(work_arena(s->work), struct deletion);
    *d = (struct deletion){s, name, uid};
    work_send(s->work,
              &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                       .kind = client_kind(API_T_job),
                                       .namespace = work_namespace(s->work),
                                       .name = name,
                                       .deletion = {.propagation = STR("Background")}},
              deleted, d);
}

/* ---- making one ---- */

static void note_made(struct sync *s, const struct api_object *job) {
    cronjob__add_active(work_arena(s->work), &s->status.active, job);
    s->status.last_schedule_time = (struct api_time){.sec = s->scheduled, .set = true};
    s->writes = true;
    finish_and_wait(s);
}

/* A Job of this name was there: one that this CronJob made, and forgot when its status was not
 * written, or somebody else's. */
static void found(void *arg, struct work *w, const struct client_answer *answer) {
    struct sync *s = arg;
    (void)w;
    const struct api_owner_reference *ref =
        answer->code ? NULL : api_object_controller(answer->object);
    if (answer->code)
        fail(s, answer->message);
    if (ref && str_eq(ref->uid, s->subject.uid) &&
        !cronjob__is_active(&s->status.active, answer->object->meta->uid))
        note_made(s, answer->object);
    else
        finish(s);
}

static void look_for_job(struct sync *s) {
    work_get(s->work, client_kind(API_T_job), work_namespace(s->work),
             cronjob__job_name(work_arena(s->work), work_name(s->work), s->scheduled), found, s);
}

static void made(void *arg, struct work *w, const struct client_answer *answer) {
    struct sync *s = arg;
    (void)w;
    if (answer->code == ERR_EXISTS) {
        look_for_job(s);
    } else if (answer->code) {
        if (!manager__namespace_goes(answer))
            events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "FailedCreate",
                          "Error creating job: %.*s", STR_ARG(answer->message));
        fail(s, answer->message);
        finish(s);
    } else {
        const struct api_object_meta *meta = answer->object->meta;
        histogram_observe(&skew, &s->c->skews,
                          (double)(meta->creation_timestamp.sec - s->scheduled));
        events_say_of(s->c->base.events, &s->subject, EVENTS_NORMAL, "SuccessfulCreate",
                      "Created job %.*s", STR_ARG(meta->name));
        note_made(s, answer->object);
    }
}

static void make_job(struct sync *s) {
    const struct api_object *o = current(s);
    if (s->is_stuck)
        fail(s, STR("could not replace a Job"));
    if (s->is_stuck || !o) {
        finish(s);
        return;
    }
    struct api_object *job = cronjob__new_job(o, s->scheduled, s->stamp);
    work_create(s->work, job, made, s);
}

/* Those that still run go first. */
static void replace_jobs(struct sync *s) {
    struct api_object_reference_list active = s->status.active;
    s->then = make_job;
    s->unanswered = active.n;
    for (size_t i = 0; i < active.n; i++)
        send_deletion(s, active.v[i].name, active.v[i].uid);
    if (!active.n)
        make_job(s);
}

/* ---- is it time? ---- */

static struct str quote(struct sync *s, struct str text) {
    AUTO(buf_release) struct buf b = BUF_INIT(4 * text.n + 2);
    goquote_write(&b, text);
    return arena_str(work_arena(s->work), buf_view(&b));
}

static bool is_utc(struct str zone) {
    return !zone.n || str_is(zone, "UTC") || str_is(zone, "Local");
}

/* The zone of this name. NULL: it is UTC, or cannot be read; then *fault is Go's text. */
static struct zone *load_zone(struct arena *a, struct str name, struct str *fault) {
    const char *why = "time: invalid location name";
    *fault = (struct str){0};
    if (is_utc(name))
        return NULL;
    struct zone *z = zone_is_name(name) ? zone_load(name, &why) : NULL;
    if (!z)
        *fault = why ? str_of(why) : arena_printf(a, "unknown time zone %.*s", STR_ARG(name));
    return z;
}

/* Reads a schedule; the clock's zone is the caller's. Absent, or what is wrong. */
static struct str read_clock(struct arena *a, const struct api_object *o,
                             struct cronjob__clock *out) {
    const struct api_cron_job *body = o->body;
    struct str fault;
    *out = (struct cronjob__clock){
        .created = o->meta->creation_timestamp.sec,
        .last = body->status.last_schedule_time,
        .deadline = body->spec.starting_deadline_seconds,
    };
    struct str error = cron_parse(a, arena_str(a, body->spec.schedule), &out->cron);
    if (!error.p)
        out->zone = load_zone(a, out->cron.zone.n ? out->cron.zone : body->spec.time_zone, &fault);
    return error;
}

/* Can the schedule be followed? If not, that is told. */
static bool read_schedule(struct sync *s, const struct api_object *o) {
    struct arena *a = work_arena(s->work);
    const struct api_cron_job_spec *spec = spec_of(o);
    struct str fault, shown = quote(s, spec->schedule);
    zone_free(load_zone(a, spec->time_zone, &fault));
    if (fault.p) {
        struct str zone = quote(s, spec->time_zone);
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "UnknownTimeZone",
                      "invalid timeZone: %.*s: %.*s", STR_ARG(zone), STR_ARG(fault));
        return false;
    }
    if (spec->suspend.v)
        return false;
    if (str_find(spec->schedule, STR("TZ")) != STR_NONE)
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "UnsupportedSchedule",
                      "CRON_TZ or TZ used in schedule %.*s is not officially supported, see "
                      "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for "
                      "more details",
                      STR_ARG(shown));
    struct str error = read_clock(a, o, &s->clock);
    s->clock.last = s->status.last_schedule_time;
    if (error.p)
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "UnparseableSchedule",
                      "unparseable schedule: %.*s : %.*s", STR_ARG(shown), STR_ARG(error));
    return !error.p;
}

static bool is_too_late(const struct sync *s, const struct api_cron_job_spec *spec) {
    int64_t until;
    return spec->starting_deadline_seconds.set &&
           !__builtin_add_overflow(s->scheduled, spec->starting_deadline_seconds.v, &until) &&
           !__builtin_mul_overflow(until, CLOCK_SECOND, &until) && until < s->now;
}

static bool is_done(const struct sync *s) {
    const struct api_object_reference_list *active = &s->status.active;
    struct api_time last = s->status.last_schedule_time;
    struct str name = cronjob__job_name(work_arena(s->work), work_name(s->work), s->scheduled);
    for (size_t i = 0; i < active->n; i++)
        if (str_eq(active->v[i].name, name) &&
            str_eq(active->v[i].namespace, work_namespace(s->work)))
            return true;
    return last.set && last.sec == s->scheduled;
}

/* "Mon, 02 Jan 2006 15:04:05 +0000", which is Go's RFC1123Z in UTC. */
static struct str long_date(struct sync *s) {
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    static const char *const days[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    struct time_civil c = time_to_civil(s->scheduled);
    int64_t day = s->scheduled / 86400;
    return arena_printf(work_arena(s->work), "%s, %02d %s %04lld %02d:%02d:%02d +0000",
                        days[(day % 7 + 7) % 7], c.day, months[c.month - 1], (long long)c.year,
                        c.hour, c.minute, c.second);
}

/* It is time for a Job: is there a reason not to make it? Then that is told. */
static bool is_to_be_made(struct sync *s, const struct api_cron_job_spec *spec) {
    struct events *events = s->c->base.events;
    if (is_too_late(s, spec)) {
        events_say_of(events, &s->subject, EVENTS_WARNING, "MissSchedule",
                      "Missed scheduled time to start a job: %.*s", STR_ARG(long_date(s)));
        return false;
    }
    if (is_done(s))
        return false;
    if (!str_is(spec->concurrency_policy, "Forbid") || !s->status.active.n)
        return true;
    events_say_of(events, &s->subject, EVENTS_NORMAL, "JobAlreadyActive",
                  "Not starting job because prior execution is running and concurrency policy is "
                  "Forbid");
    return false;
}

/* What is known of the Job that is to be made while the zone is at hand. Annotations tell the time
 * as timeZone has it, not as TZ= of the schedule does. */
static void prepare_job(struct sync *s, const struct api_cron_job_spec *spec) {
    struct cronjob__clock after = s->clock;
    after.last = (struct api_time){.sec = s->scheduled, .set = true};
    s->next = cronjob__next(&after, s->now / CLOCK_SECOND);
    s->stamp =
        cronjob__stamp(work_arena(s->work), s->scheduled, spec->time_zone.p ? s->clock.zone : NULL);
    s->is_stuck = false;
    if (str_is(spec->concurrency_policy, "Replace"))
        replace_jobs(s);
    else
        make_job(s);
}

static void schedule(struct sync *s, const struct api_object *o) {
    const struct api_cron_job_spec *spec = spec_of(o);
    struct cronjob__due due = cronjob__is_due(&s->clock, s->now / CLOCK_SECOND);
    if (due.fault) {
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "InvalidSchedule",
                      "invalid schedule: %.*s : %s", STR_ARG(spec->schedule), due.fault);
        finish(s);
        return;
    }
    if (due.has_missed_many)
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "TooManyMissedTimes",
                      "too many missed start times. Set or decrease .spec.startingDeadlineSeconds "
                      "or check clock skew");
    s->scheduled = due.at;
    if (due.is_due && is_to_be_made(s, spec)) {
        prepare_job(s, spec);
        return;
    }
    s->next = cronjob__next(&s->clock, s->now / CLOCK_SECOND);
    finish_and_wait(s);
}

/* ---- Jobs that are there ---- */

static bool is_later(struct api_time a, struct api_time b) {
    return a.set && (!b.set || a.sec > b.sec);
}

static void note_job(struct sync *s, const struct cronjob__job *job, bool is_known) {
    struct api_time *last = &s->status.last_successful_time;
    if (!is_known && !job->finished)
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "UnexpectedJob",
                      "Saw a job that the controller did not create or forgot: %.*s",
                      STR_ARG(job->name));
    if (is_known && job->finished) {
        note_gone(s, job->uid);
        events_say_of(s->c->base.events, &s->subject, EVENTS_NORMAL, "SawCompletedJob",
                      "Saw completed job: %.*s, condition: %s", STR_ARG(job->name), job->finished);
        s->writes = true;
    }
    if (job->finished && str_is(str_of(job->finished), "Complete") &&
        is_later(job->completion, *last)) {
        *last = job->completion;
        s->writes = true;
    }
}

static void note_jobs(struct sync *s) {
    AUTO(map_release) struct map active = MAP_INIT(s->c->base.manager->seed);
    for (size_t i = 0; i < s->status.active.n; i++)
        map_put(&active, s->status.active.v[i].uid, s);
    for (size_t i = 0; i < s->jobs.n; i++)
        note_job(s, &s->jobs.v[i], map_get(&active, s->jobs.v[i].uid));
    drop_gone(s);
}

static void drop_missing(struct sync *s) {
    AUTO(map_release) struct map children = MAP_INIT(s->c->base.manager->seed);
    for (size_t i = 0; i < s->jobs.n; i++)
        map_put(&children, s->jobs.v[i].uid, s);
    for (size_t i = 0; i < s->status.active.n; i++) {
        const struct api_object_reference *ref = &s->status.active.v[i];
        if (map_get(&children, ref->uid) || informer_get(s->c->jobs, ref->namespace, ref->name))
            continue;
        events_say_of(s->c->base.events, &s->subject, EVENTS_NORMAL, "MissingJob",
                      "Active job went missing: %.*s", STR_ARG(ref->name));
        note_gone(s, ref->uid);
        s->writes = true;
    }
    drop_gone(s);
}

/* Behind the deletion of old Jobs. One that could not be deleted is tried again another time. */
static void look(struct sync *s) {
    const struct api_object *o = current(s);
    note_jobs(s);
    drop_missing(s);
    if (!o || o->meta->deletion_timestamp.set) {
        finish(s);
        return;
    }
    if (!read_schedule(s, o)) {
        finish(s);
        return;
    }
    schedule(s, o);
    zone_free(s->clock.zone);
    s->clock.zone = NULL;
}

static void delete_old(struct sync *s, const struct api_object *o) {
    struct arena *a = work_arena(s->work);
    struct cronjob__jobs old = {arena_array(a, struct cronjob__job, 2 * s->jobs.n), 0};
    cronjob__find_old(a, &s->jobs, "Complete", spec_of(o)->successful_jobs_history_limit, &old);
    cronjob__find_old(a, &s->jobs, "Failed", spec_of(o)->failed_jobs_history_limit, &old);
    s->then = look;
    s->unanswered = old.n;
    for (size_t i = 0; i < old.n; i++)
        send_deletion(s, old.v[i].name, old.v[i].uid);
    if (!old.n)
        look(s);
}

static void sync(void *self, struct work *work, const struct api_object *o) {
    struct cronjobs *c = self;
    struct arena *a = work_arena(work);
    size_t n;
    const struct api_object *const *jobs =
        informer_find(c->jobs, INFORMER_BY_CONTROLLER, o->meta->uid, &n);
    struct sync *s = arena_new(a, struct sync);
    s->c = c;
    s->work = work;
    s->now = manager__now(c->base.manager);
    s->resource_version = arena_str(a, o->meta->resource_version);
    s->subject = manager__subject(work, o);
    s->next = CRON_NEVER;
    s->jobs = cronjob__read_jobs(a, jobs, n);
    api_struct_copy(a, &api_types[API_T_cron_job_status],
                    &((const struct api_cron_job *)o->body)->status, &s->status);
    s->gone = arena_array(a, struct str, s->jobs.n + s->status.active.n);
    delete_old(s, o);
}

/* ---- what has changed ---- */

static bool same_times(const struct api_object *x, const struct api_object *y) {
    const struct api_cron_job_spec *a = spec_of(x), *b = spec_of(y);
    return str_eq(a->schedule, b->schedule) && str_eq(a->time_zone, b->time_zone);
}

/* Times that a new schedule would have had before are not made up for. */
static void reschedule(struct cronjobs *c, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct cronjob__clock clock;
    int64_t delay, now = manager__now(c->base.manager);
    if (read_clock(&a, o, &clock).p)
        events_say(c->base.events, o, EVENTS_WARNING, "UnParseableCronJobSchedule",
                   "unparseable schedule for cronjob: %.*s", STR_ARG(spec_of(o)->schedule));
    else if (delay_until(cronjob__next(&clock, now / CLOCK_SECOND), now, &delay))
        workqueue_add_after(c->base.queue, o->meta->namespace, o->meta->name, delay);
    zone_free(clock.zone);
}

static void cron_job_set(void *self, const struct api_object *old, const struct api_object *o) {
    if (old && !same_times(old, o))
        reschedule(self, o);
    else
        manager__add_set(self, old, o);
}

static void write_metrics(const void *self, struct buf *out) {
    histogram_head(out, &skew);
    histogram_write(out, &skew, STR(""), &((const struct cronjobs *)self)->skews);
}

const struct manager__controller manager__cronjob = {
    .size = sizeof(struct cronjobs),
    .component = "cronjob-controller",
    .queues = {{"cronjob", sync, .names = API_T_cron_job}},
    .kinds = {{API_T_cron_job, .set = cron_job_set, .deleted = manager__add_deleted},
              {API_T_job, .at = offsetof(struct cronjobs, jobs), .set = manager__member_set,
               .deleted = manager__member_deleted}},
    .write_metrics = write_metrics,
};
