/*
 * What a Job and its pods are at a moment, and whether that is its end.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func (*Controller) syncJob, func
 * calculateSucceededIndexes, func calculateFailedIndexes, func getPodsWithDelayedDeletionPerIndex.
 */
#include <stdlib.h>

#include "manager/batch/job_int.h"
#include "manager/pods_int.h"

/* ---- conditions ---- */

const struct api_job_condition *job__condition(const struct api_job_status *s, const char *type) {
    for (size_t i = 0; i < s->conditions.n; i++)
        if (str_is(s->conditions.v[i].type, type) && str_is(s->conditions.v[i].status, "True"))
            return &s->conditions.v[i];
    return NULL;
}

const struct api_job_condition *job__finished(const struct api_job_status *s) {
    const struct api_job_condition *complete = job__condition(s, "Complete");
    return complete ? complete : job__condition(s, "Failed");
}

/* ---- pods ---- */

static void mark_uncounted(struct job__view *v, const struct api_uncounted_terminated_pods *lists,
                           struct map *pods) {
    for (size_t i = 0; i < v->pods.n; i++)
        map_put(pods, v->pods.v[i].uid, &v->pods.v[i]);
    for (size_t i = 0; lists && i < lists->succeeded.n; i++) {
        struct job__pod *p = map_get(pods, lists->succeeded.v[i]);
        if (p)
            p->is_uncounted_success = true;
    }
    for (size_t i = 0; lists && i < lists->failed.n; i++) {
        struct job__pod *p = map_get(pods, lists->failed.v[i]);
        if (p)
            p->is_uncounted_failure = true;
    }
}

static void read_pods(struct job__view *v, const struct manager__objects *pods,
                      const struct map *expected) {
    v->pods.v = arena_array(v->a, struct job__pod, pods->n);
    for (size_t i = 0; i < pods->n; i++) {
        struct job__pod *p = &v->pods.v[v->pods.n++];
        job__read_pod(v->a, v->spec, pods->v[i], p);
        p->has_finalizer = p->has_finalizer && !map_get(expected, p->uid);
        v->active += p->is_active;
        v->ready += p->is_active && p->is_ready;
        v->terminating += p->is_terminating;
    }
    AUTO(map_release) struct map index = MAP_INIT(v->seed);
    mark_uncounted(v, v->old.uncounted_terminated_pods, &index);
}

static void count_ended(struct job__view *v) {
    const struct api_uncounted_terminated_pods *lists = v->status.uncounted_terminated_pods;
    v->succeeded = v->status.succeeded + (int32_t)lists->succeeded.n;
    v->failed = v->status.failed + (int32_t)lists->failed.n;
    for (size_t i = 0; i < v->pods.n; i++) {
        const struct job__pod *p = &v->pods.v[i];
        if (!p->counts || !p->has_finalizer)
            continue;
        v->succeeded += p->has_succeeded && !p->is_uncounted_success;
        v->failed += p->has_failed && !p->is_uncounted_failure && p->action != JOB__IGNORE;
    }
}

/* ---- indexes ---- */

static bool is_newly_succeeded(const struct job__view *v, const struct job__pod *p) {
    (void)v;
    return p->has_finalizer && p->has_succeeded;
}

static bool is_index_failed(const struct job__view *v, const struct job__pod *p) {
    if (!p->has_finalizer || !p->has_failed || p->action == JOB__IGNORE)
        return false;
    return p->action == JOB__FAIL_INDEX || p->failures >= v->spec->backoff_limit_per_index.v;
}

static bool is_active(const struct job__view *v, const struct job__pod *p) {
    (void)v;
    return p->is_active;
}

/* The indexes of these pods. */
static struct job__indexes indexes_of(const struct job__view *v,
                                      bool (*is_meant)(const struct job__view *v,
                                                       const struct job__pod *p)) {
    int32_t *list = arena_array(v->a, int32_t, v->pods.n);
    size_t n = 0;
    for (size_t i = 0; i < v->pods.n; i++)
        if (v->pods.v[i].index != JOB__NO_INDEX && is_meant(v, &v->pods.v[i]))
            list[n++] = v->pods.v[i].index;
    return job__indexes_of(v->a, list, n);
}

static int compare_indexes(const void *x, const void *y) {
    const struct job__pod *a = *(struct job__pod *const *)x, *b = *(struct job__pod *const *)y;
    return a->index != b->index ? (a->index > b->index) - (a->index < b->index) : (a > b) - (a < b);
}

static int64_t failures_before(const struct job__pod *p) {
    return (int64_t)p->failures + p->ignored;
}

/* The last failed pod of each index that is neither done nor at work keeps its finalizer, and so
 * stays, until there is another one that has taken over its count. */
static void find_delayed(struct job__view *v) {
    struct job__indexes active = indexes_of(v, is_active);
    struct job__pod **list = arena_array(v->a, struct job__pod *, v->pods.n);
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < v->pods.n; i++) {
        struct job__pod *p = &v->pods.v[i];
        if (p->index != JOB__NO_INDEX && p->has_finalizer && p->has_failed &&
            !job__indexes_have(&v->succeeded_indexes, p->index) &&
            !job__indexes_have(&v->failed_indexes, p->index) &&
            !job__indexes_have(&active, p->index))
            list[n++] = p;
    }
    if (n)
        qsort(list, n, sizeof(struct job__pod *), compare_indexes);
    for (size_t i = 0; i < n; i++) {
        struct job__pod *last = kept ? list[kept - 1] : NULL;
        if (!last || last->index != list[i]->index)
            list[kept++] = list[i];
        else if (failures_before(last) <= failures_before(list[i]) &&
                 list[i]->finished_at >= last->finished_at)
            list[kept - 1] = list[i];
    }
    v->delayed = list;
    v->delayed_count = kept;
}

static int find_index(const void *key, const void *entry) {
    int32_t index = *(const int32_t *)key, at = (*(struct job__pod *const *)entry)->index;
    return (index > at) - (index < at);
}

struct job__pod *job__replaced(const struct job__view *v, int32_t index) {
    struct job__pod **found = v->delayed_count ? bsearch(&index, v->delayed, v->delayed_count,
                                                         sizeof(struct job__pod *), find_index)
                                               : NULL;
    return found ? *found : NULL;
}

static void look_at_indexes(struct job__view *v) {
    struct job__indexes ended = indexes_of(v, is_newly_succeeded);
    v->was_succeeded = job__indexes_parse(v->a, v->status.completed_indexes, v->completions.v);
    v->succeeded_indexes = job__indexes_join(v->a, &v->was_succeeded, &ended);
    v->succeeded = (int32_t)job__indexes_total(&v->succeeded_indexes);
    if (!v->counts_per_index)
        return;
    struct job__indexes failed = indexes_of(v, is_index_failed);
    struct job__indexes was = job__indexes_parse(v->a, v->status.failed_indexes, v->completions.v);
    v->failed_indexes = job__indexes_join(v->a, &was, &failed);
    find_delayed(v);
}

/* ---- the view ---- */

static void read_job(struct job__view *v, const struct api_object *job) {
    const struct api_job *body = job->body;
    const struct api_job_spec *spec = &body->spec;
    v->spec = spec;
    v->is_indexed = str_is(spec->completion_mode, "Indexed");
    v->is_suspended = spec->suspend.v;
    v->is_deleted = job->meta->deletion_timestamp.set;
    v->waits_for_failure = str_is(spec->pod_replacement_policy, "Failed");
    v->counts_per_index = v->is_indexed && spec->backoff_limit_per_index.set;
    v->has_policy = spec->pod_failure_policy;
    v->completions = spec->completions;
    v->parallelism = spec->parallelism.v;
    api_struct_copy(v->a, &api_types[API_T_job_status], &body->status, &v->old);
    api_struct_copy(v->a, &api_types[API_T_job_status], &body->status, &v->status);
    if (!v->status.uncounted_terminated_pods)
        v->status.uncounted_terminated_pods = arena_new(v->a, struct api_uncounted_terminated_pods);
    if (!v->status.start_time.set && !v->is_suspended)
        v->status.start_time = manager__time(v->now);
}

void job__look(struct job__view *v, const struct api_object *job,
               const struct manager__objects *pods, const struct map *expected,
               const struct job__backoff *backoff) {
    read_job(v, job);
    read_pods(v, pods, expected);
    count_ended(v);
    v->backoff = job__backoff_after(backoff, &v->pods);
    if (v->is_indexed)
        look_at_indexes(v);
}

/* ---- the end ---- */

static bool set_end(struct job__view *v, const char *type, const char *reason, struct str message) {
    v->end = (struct job__end){type, str_of(reason), message};
    return true;
}

/* What an earlier write of the status has decided. */
static bool was_decided(struct job__view *v) {
    const struct api_job_condition *met = job__condition(&v->old, "SuccessCriteriaMet");
    const struct api_job_condition *target = job__condition(&v->old, "FailureTarget");
    if (met)
        v->end = (struct job__end){"SuccessCriteriaMet", met->reason, met->message};
    else if (target)
        v->end = (struct job__end){"Failed", target->reason, target->message};
    return v->end.type;
}

static bool fails_by_policy(struct job__view *v) {
    for (size_t i = 0; i < v->pods.n; i++)
        if (v->pods.v[i].has_failed && v->pods.v[i].action == JOB__FAIL_JOB)
            return set_end(v, "FailureTarget", "PodFailurePolicy", v->pods.v[i].why);
    return false;
}

/* Containers that are restarted in their pods count, too. */
static bool has_too_many_restarts(const struct job__view *v) {
    int64_t sum = 0, limit = v->spec->backoff_limit.v;
    if (!str_is(v->spec->template.spec.restart_policy, "OnFailure"))
        return false;
    for (size_t i = 0; i < v->pods.n; i++)
        sum += v->pods.v[i].restarts;
    return limit == 0 ? sum > 0 : sum >= limit;
}

static bool fails_by_backoff(struct job__view *v) {
    if (v->failed <= v->spec->backoff_limit.v && !has_too_many_restarts(v))
        return false;
    return set_end(v, "FailureTarget", "BackoffLimitExceeded",
                   STR("Job has reached the specified backoff limit"));
}

/* In how many nanoseconds the deadline is over; INT64_MAX: never. */
static int64_t until_deadline(const struct job__view *v) {
    struct api_opt_i64 seconds = v->spec->active_deadline_seconds;
    int64_t total, start = manager__time_ns(v->status.start_time);
    if (!seconds.set || v->is_suspended || !v->status.start_time.set ||
        __builtin_mul_overflow(seconds.v, CLOCK_SECOND, &total) ||
        __builtin_add_overflow(start, total, &total))
        return INT64_MAX;
    return clock_until(total, v->now);
}

int64_t job__deadline_in(const struct job__view *v) {
    int64_t left = until_deadline(v);
    return v->end.type || left == INT64_MAX ? 0 : left;
}

static bool fails_by_deadline(struct job__view *v) {
    return until_deadline(v) <= 0 && set_end(v, "FailureTarget", "DeadlineExceeded",
                                             STR("Job was active longer than specified deadline"));
}

static bool fails_by_indexes(struct job__view *v) {
    struct api_opt_i32 most = v->spec->max_failed_indexes;
    int64_t failed = job__indexes_total(&v->failed_indexes);
    if (!v->counts_per_index)
        return false;
    if (most.set && failed > most.v)
        return set_end(v, "FailureTarget", "MaxFailedIndexesExceeded",
                       STR("Job has exceeded the specified maximal number of failed indexes"));
    return failed > 0 && failed + v->succeeded >= v->completions.v &&
           set_end(v, "FailureTarget", "FailedIndexes", STR("Job has failed indexes"));
}

static bool succeeds_by_policy(struct job__view *v) {
    int64_t rule = v->is_indexed
                       ? job__match_success_policy(v->a, v->spec->success_policy, v->completions.v,
                                                   &v->succeeded_indexes)
                       : -1;
    return rule >= 0 && set_end(v, "SuccessCriteriaMet", "SuccessPolicy",
                                arena_printf(v->a, "Matched rules at index %lld", (long long)rule));
}

void job__judge(struct job__view *v) {
    (void)(was_decided(v) || fails_by_policy(v) || fails_by_backoff(v) || fails_by_deadline(v) ||
           fails_by_indexes(v) || succeeds_by_policy(v));
}
