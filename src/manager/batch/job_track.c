/*
 * The status of a Job. Pods that have ended stand in uncountedTerminatedPods first, then lose their
 * finalizer, and are counted when they have none: so each counts once, whatever happens between.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func (*Controller)
 * trackJobStatusAndRemoveFinalizers, func (*Controller) enactJobFinished.
 */
#include <stdlib.h>

#include "feature/feature.h"
#include "manager/batch/job_int.h"
#include "manager/pods_int.h"

/* ---- conditions ---- */

static struct api_job_condition new_condition(const struct job__view *v, const char *type,
                                              const char *status, struct str reason,
                                              struct str message) {
    return (struct api_job_condition){
        .type = str_of(type),
        .status = str_of(status),
        .last_probe_time = manager__time(v->now),
        .last_transition_time = manager__time(v->now),
        .reason = reason,
        .message = message,
    };
}

static void add_condition(struct job__view *v, const struct api_job_condition *c) {
    struct api_job_condition_list old = v->status.conditions;
    struct api_job_condition *list = arena_array(v->a, struct api_job_condition, old.n + 1);
    for (size_t i = 0; i < old.n; i++)
        list[i] = old.v[i];
    list[old.n] = *c;
    v->status.conditions = (struct api_job_condition_list){list, old.n + 1};
}

/* Writes a condition; one that is False is not added. False: it is there already. */
static bool set_condition(struct job__view *v, const struct api_job_condition *c) {
    struct api_job_condition_list *list = &v->status.conditions;
    for (size_t i = 0; i < list->n; i++) {
        struct api_job_condition *old = &list->v[i];
        if (!str_eq(old->type, c->type))
            continue;
        if (str_eq(old->status, c->status) && str_eq(old->reason, c->reason) &&
            str_eq(old->message, c->message))
            return false;
        *old = *c;
        return true;
    }
    if (str_is(c->status, "False"))
        return false;
    add_condition(v, c);
    return true;
}

enum job__turn job__track_suspension(struct job__view *v) {
    struct api_job_condition c =
        v->is_suspended
            ? new_condition(v, "Suspended", "True", STR("JobSuspended"), STR("Job suspended"))
            : new_condition(v, "Suspended", "False", STR("JobResumed"), STR("Job resumed"));
    if (!set_condition(v, &c))
        return JOB__SAME;
    if (!v->is_suspended)
        v->status.start_time = manager__time(v->now);
    else if (feature_enabled(v->gates, FEATURE_MutableSchedulingDirectivesForSuspendedJobs))
        v->status.start_time = (struct api_time){0};
    return v->is_suspended ? JOB__SUSPENDED : JOB__RESUMED;
}

/* ---- pods that have ended ---- */

/* Counts those of the list that have no finalizer any more; how many. */
static int32_t count_off(struct job__view *v, struct api_strs *list, const struct map *waiting) {
    struct api_strs old = *list;
    *list = (struct api_strs){arena_array(v->a, struct str, old.n + JOB__MOST_UNCOUNTED), 0};
    for (size_t i = 0; i < old.n; i++)
        if (map_get(waiting, old.v[i]))
            list->v[list->n++] = old.v[i];
    return (int32_t)(old.n - list->n);
}

static bool count_released(struct job__view *v) {
    struct api_uncounted_terminated_pods *lists = v->status.uncounted_terminated_pods;
    AUTO(map_release) struct map waiting = MAP_INIT(v->seed);
    for (size_t i = 0; i < v->pods.n; i++)
        if (v->pods.v[i].has_finalizer)
            map_put(&waiting, v->pods.v[i].uid, &v->pods.v[i]);
    int32_t succeeded = count_off(v, &lists->succeeded, &waiting);
    int32_t failed = count_off(v, &lists->failed, &waiting);
    v->status.succeeded += succeeded;
    v->status.failed += failed;
    return succeeded || failed;
}

static bool is_failing(const struct job__view *v) {
    return v->end.type && !str_is(str_of(v->end.type), "SuccessCriteriaMet");
}

/* A failed pod whose index waits to be tried again tells how often that has failed. */
static bool may_release(const struct job__view *v, const struct job__pod *p) {
    if (v->is_deleted || v->end.type || p->has_succeeded)
        return true;
    return p->has_failed &&
           !(v->counts_per_index && p->index != JOB__NO_INDEX && job__replaced(v, p->index) == p);
}

struct tally {
    struct job__tracked *out;
    int32_t *succeeded; /* indexes */
    size_t succeeded_count;
};

static bool note_success(struct job__view *v, const struct job__pod *p, struct tally *t) {
    struct api_strs *list = &v->status.uncounted_terminated_pods->succeeded;
    if (v->is_indexed) {
        if (!p->counts || job__indexes_have(&v->was_succeeded, p->index))
            return false;
        t->succeeded[t->succeeded_count++] = p->index;
        return true;
    }
    if (p->is_uncounted_success)
        return false;
    list->v[list->n++] = p->uid;
    return true;
}

static bool note_failure(struct job__view *v, const struct job__pod *p, struct tally *t) {
    struct api_strs *list = &v->status.uncounted_terminated_pods->failed;
    if (p->is_uncounted_failure || !p->counts)
        return false;
    t->out->actions[p->action]++;
    if (p->action == JOB__IGNORE)
        return false;
    list->v[list->n++] = p->uid;
    return true;
}

static bool note_end(struct job__view *v, const struct job__pod *p, struct tally *t) {
    if (p->has_succeeded && !p->is_uncounted_failure)
        return note_success(v, p, t);
    return (p->has_failed || is_failing(v)) && note_failure(v, p, t);
}

static bool is_full(const struct job__view *v, const struct tally *t) {
    const struct api_uncounted_terminated_pods *lists = v->status.uncounted_terminated_pods;
    return t->succeeded_count + lists->succeeded.n + lists->failed.n >= JOB__MOST_UNCOUNTED;
}

static int compare_indexes(const void *x, const void *y) {
    const struct job__pod *a = *(struct job__pod *const *)x, *b = *(struct job__pod *const *)y;
    return a->index != b->index ? (a->index > b->index) - (a->index < b->index) : (a > b) - (a < b);
}

static struct job__pod **pods_in_order(const struct job__view *v) {
    struct job__pod **list = arena_array(v->a, struct job__pod *, v->pods.n);
    for (size_t i = 0; i < v->pods.n; i++)
        list[i] = &v->pods.v[i];
    if (v->is_indexed && v->pods.n)
        qsort(list, v->pods.n, sizeof(struct job__pod *), compare_indexes);
    return list;
}

static void note_ends(struct job__view *v, struct tally *t) {
    struct job__pod **list = pods_in_order(v);
    struct job__tracked *out = t->out;
    out->released = arena_array(v->a, struct job__pod *, v->pods.n);
    for (size_t i = 0; i < v->pods.n && !out->is_partial; i++) {
        if (!list[i]->has_finalizer || !may_release(v, list[i]))
            continue;
        out->released[out->released_count++] = list[i];
        if (note_end(v, list[i], t))
            out->writes = true;
        out->is_partial = is_full(v, t);
    }
}

/* ---- indexes ---- */

static bool same_text(struct str x, struct str y) {
    return !x.p == !y.p && str_eq(x, y);
}

static bool write_indexes(struct job__view *v, struct tally *t) {
    struct job__indexes more = job__indexes_of(v->a, t->succeeded, t->succeeded_count);
    v->succeeded_indexes = job__indexes_join(v->a, &v->succeeded_indexes, &more);
    v->status.succeeded = (int32_t)job__indexes_total(&v->succeeded_indexes);
    v->status.completed_indexes = job__indexes_text(v->a, &v->succeeded_indexes);
    v->status.failed_indexes =
        v->counts_per_index ? job__indexes_text(v->a, &v->failed_indexes) : (struct str){0};
    return !str_eq(v->status.completed_indexes, v->old.completed_indexes) ||
           !same_text(v->status.failed_indexes, v->old.failed_indexes);
}

/* ---- the end ---- */

/* What the end is to be stands in the status before pods are let go. True: that is new. */
static bool announce_end(struct job__view *v) {
    const char *type = v->end.type;
    if (!type || str_is(str_of(type), "Failed") || job__condition(&v->status, type))
        return false;
    struct api_job_condition c = new_condition(v, type, "True", v->end.reason, v->end.message);
    add_condition(v, &c);
    return true;
}

static bool may_finish(const struct job__view *v, const struct job__tracked *out) {
    const struct api_uncounted_terminated_pods *lists = v->status.uncounted_terminated_pods;
    return v->end.type && !out->is_partial && !out->released_count && !lists->succeeded.n &&
           !lists->failed.n && !v->terminating;
}

static void finish(struct job__view *v) {
    bool failed = is_failing(v);
    struct api_job_condition c =
        new_condition(v, failed ? "Failed" : "Complete", "True", v->end.reason, v->end.message);
    set_condition(v, &c);
    if (!failed)
        v->status.completion_time = c.last_transition_time;
}

void job__track(struct job__view *v, bool writes, struct job__tracked *out) {
    struct tally t = {out, arena_array(v->a, int32_t, v->pods.n), 0};
    *out = (struct job__tracked){.writes = writes};
    if (count_released(v))
        out->writes = true;
    note_ends(v, &t);
    if (v->is_indexed && write_indexes(v, &t))
        out->writes = true;
    if (announce_end(v)) {
        out->writes = true;
    } else if (may_finish(v, out)) {
        finish(v);
        out->writes = out->finishes = true;
    }
}
