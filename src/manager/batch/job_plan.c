/*
 * How many pods a Job should have now, and which of those that it has are too many.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func (*Controller) manageJob,
 * func activePodsForRemoval.
 */
#include "manager/batch/job_int.h"
#include "manager/pod_control_int.h"
#include "manager/pods_int.h"

static int32_t wanted(const struct job__view *v) {
    if (!v->completions.set)
        return v->succeeded > 0 ? v->active : v->parallelism;
    int32_t left = v->completions.v - v->succeeded;
    left = left < v->parallelism ? left : v->parallelism;
    return left > 0 ? left : 0;
}

/* ---- too many ---- */

/* Active pods, with those that go first at the front. */
struct choice {
    struct manager__candidate *v;
    size_t n;
};

static struct choice active_pods(const struct job__view *v) {
    struct choice c = {arena_array(v->a, struct manager__candidate, v->pods.n), 0};
    for (size_t i = 0; i < v->pods.n; i++)
        if (v->pods.v[i].is_active)
            c.v[c.n++] =
                (struct manager__candidate){.pod = v->pods.v[i].object, .arg = &v->pods.v[i]};
    manager__rank_active(c.v, c.n);
    return c;
}

static void remove_pod(struct job__plan *out, const struct manager__candidate *c) {
    out->goers[out->count++] = c->arg;
}

/* Of an indexed Job's pods those that have no index go, and all but the last of each index; the
 * others remain. */
static struct choice remove_doubles(const struct job__view *v, const struct choice *all,
                                    struct job__plan *out) {
    struct choice left = {arena_array(v->a, struct manager__candidate, all->n), 0};
    AUTO(map_release) struct map last = MAP_INIT(v->seed);
    for (size_t i = all->n; i > 0; i--) {
        struct job__pod *p = all->v[i - 1].arg;
        struct str key = {(const char *)&p->index, sizeof p->index};
        if (p->index != JOB__NO_INDEX && !map_get(&last, key))
            map_put(&last, key, p);
    }
    for (size_t i = 0; i < all->n; i++) {
        const struct job__pod *p = all->v[i].arg;
        struct str key = {(const char *)&p->index, sizeof p->index};
        if (map_get(&last, key) == p)
            left.v[left.n++] = all->v[i];
        else
            remove_pod(out, &all->v[i]);
    }
    return left;
}

static void choose_goers(const struct job__view *v, size_t least, struct job__plan *out) {
    struct choice all = active_pods(v);
    out->goers = arena_array(v->a, struct job__pod *, all.n);
    struct choice left = v->is_indexed ? remove_doubles(v, &all, out) : all;
    for (size_t i = 0; out->count < least && i < left.n; i++)
        remove_pod(out, &left.v[i]);
}

/* ---- too few ---- */

static bool is_going(const struct job__pod *p) {
    return p->is_terminating;
}

static bool is_active(const struct job__pod *p) {
    return p->is_active;
}

static struct job__indexes add_indexes(const struct job__view *v, const struct job__indexes *list,
                                       bool (*is_meant)(const struct job__pod *p)) {
    int32_t *more = arena_array(v->a, int32_t, v->pods.n);
    size_t n = 0;
    for (size_t i = 0; i < v->pods.n; i++)
        if (v->pods.v[i].index != JOB__NO_INDEX && is_meant(&v->pods.v[i]))
            more[n++] = v->pods.v[i].index;
    struct job__indexes these = job__indexes_of(v->a, more, n);
    return job__indexes_join(v->a, list, &these);
}

/* Keeps the indexes whose back-off is over; if there are none, *wait is the shortest of it. */
static void keep_ready(const struct job__view *v, struct job__plan *out) {
    size_t kept = 0;
    int64_t least = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct job__pod *last = job__replaced(v, out->indexes[i]);
        struct job__backoff b = {0};
        if (last) {
            int64_t failures = (int64_t)last->failures + last->ignored + 1;
            b.failures = failures < INT32_MAX ? (int32_t)failures : INT32_MAX;
            b.last = last->finished_at;
        }
        int64_t left = job__backoff_left(&b, v->now);
        if (!left)
            out->indexes[kept++] = out->indexes[i];
        else
            least = !least || left < least ? left : least;
    }
    out->count = kept;
    out->wait = kept ? 0 : least;
}

static void choose_indexes(const struct job__view *v, struct job__plan *out) {
    struct job__indexes taken = add_indexes(v, &v->succeeded_indexes, is_active);
    if (v->waits_for_failure)
        taken = add_indexes(v, &taken, is_going);
    taken = job__indexes_join(v->a, &taken, &v->failed_indexes);
    out->indexes = job__indexes_free(v->a, &taken, v->completions.v, out->count, &out->count);
    if (v->counts_per_index)
        keep_ready(v, out);
}

static void plan_creation(const struct job__view *v, int32_t missing, struct job__plan *out) {
    out->step = JOB__CREATES;
    out->count = missing < MANAGER__BURST ? (size_t)missing : MANAGER__BURST;
    if (!v->counts_per_index)
        out->wait = job__backoff_left(&v->backoff, v->now);
    if (!out->wait && v->is_indexed)
        choose_indexes(v, out);
    if (out->wait) {
        out->step = JOB__WAITS;
        out->count = 0;
    }
}

void job__plan(const struct job__view *v, struct job__plan *out) {
    int32_t want = v->is_suspended ? 0 : wanted(v);
    int32_t going = v->waits_for_failure ? v->terminating : 0;
    *out = (struct job__plan){.step = JOB__TRACKS};
    choose_goers(v, v->active > want ? (size_t)(v->active - want) : 0, out);
    if (v->is_suspended || out->count)
        out->step = JOB__DELETES;
    else if (want - going > v->active)
        plan_creation(v, want - going - v->active, out);
    if (!v->is_suspended && out->step == JOB__DELETES && out->count > MANAGER__BURST)
        out->count = MANAGER__BURST;
}
