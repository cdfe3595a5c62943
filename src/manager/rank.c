/*
 * Which pods of a workload are deleted first when it has too many.
 *
 * Follows k8s.io/kubernetes pkg/controller, func (ActivePodsWithRanks) Less, func (ActivePods)
 * Less.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "feature/feature.h"
#include "manager/pods_int.h"

/* What decides about one pod, in the order in which it is looked at. */
struct rank {
    struct manager__candidate candidate;
    bool is_assigned;
    int phase;
    bool is_ready;
    int64_t cost;
    struct api_time ready;
    int64_t ready_log;
    int32_t restarts, sidecar_restarts;
    struct api_time created;
    int64_t created_log;
    size_t place; /* in the list that was given: the last word, so that the order is one */
};

static int phase_ordinal(struct str phase) {
    return str_is(phase, "Running") ? 2 : str_is(phase, "Unknown") ? 1 : 0;
}

static int64_t deletion_cost(const struct api_object *pod) {
    const struct label *l =
        labels_find(&pod->meta->annotations, STR("controller.kubernetes.io/pod-deletion-cost"));
    int64_t cost;
    if (!l || !l->value.n || !str_to_i64(l->value, &cost) || cost < INT32_MIN || cost > INT32_MAX)
        return 0;
    return cost;
}

/* Ages that differ by less than the double are alike. */
static int64_t log_age(struct api_time t, int64_t now) {
    int64_t age = clock_until(now, manager__time_ns(t));
    return age > 0 ? (int64_t)log2((double)age) : -1;
}

static int32_t most_restarts(const struct api_container_status_list *list) {
    int32_t most = 0;
    for (size_t i = 0; i < list->n; i++)
        most = list->v[i].restart_count > most ? list->v[i].restart_count : most;
    return most;
}

static int32_t most_sidecar_restarts(const struct api_pod *pod) {
    const struct api_container_status_list *list = &pod->status.init_container_statuses;
    struct manager__sidecars sidecars;
    int32_t most = 0;
    manager__sidecars_init(&sidecars, pod);
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].restart_count > most &&
            manager__sidecars_have(&sidecars, i, list->v[i].name))
            most = list->v[i].restart_count;
    manager__sidecars_release(&sidecars);
    return most;
}

static struct rank rank_of(const struct manager__candidate *c) {
    const struct api_pod *pod = c->pod->body;
    struct rank r = {
        .candidate = *c,
        .is_assigned = pod->spec.node_name.n > 0,
        .phase = phase_ordinal(pod->status.phase),
        .is_ready = manager__pod_is_ready(c->pod),
        .restarts = most_restarts(&pod->status.container_statuses),
        .sidecar_restarts = most_sidecar_restarts(pod),
        .created = c->pod->meta->creation_timestamp,
    };
    if (r.is_ready)
        r.ready = manager__pod_condition(c->pod, "Ready")->last_transition_time;
    return r;
}

static int sign(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* No time comes first, then the younger. */
static int compare_times(const struct rank *a, const struct rank *b, struct api_time at,
                         struct api_time bt, int log_order) {
    if (at.set == bt.set && manager__time_ns(at) == manager__time_ns(bt))
        return 0;
    if (!at.set || !bt.set)
        return at.set ? 1 : -1;
    if (log_order == 0)
        return str_cmp(a->candidate.pod->meta->uid, b->candidate.pod->meta->uid);
    return log_order;
}

static int compare(const void *x, const void *y) {
    const struct rank *a = x, *b = y;
    const int rules[] = {
        sign(a->is_assigned, b->is_assigned),
        sign(a->phase, b->phase),
        sign(a->is_ready, b->is_ready),
        sign(a->cost, b->cost),
        sign(b->candidate.related, a->candidate.related),
        compare_times(a, b, a->ready, b->ready, sign(a->ready_log, b->ready_log)),
        sign(b->restarts, a->restarts),
        sign(b->sidecar_restarts, a->sidecar_restarts),
        compare_times(a, b, a->created, b->created, sign(a->created_log, b->created_log)),
        a->place < b->place ? -1 : 1,
    };
    size_t i = 0;
    while (!rules[i])
        i++;
    return rules[i];
}

static void order(struct manager__candidate *pods, size_t n, struct rank *ranks) {
    for (size_t i = 0; i < n; i++)
        ranks[i].place = i;
    qsort(ranks, n, sizeof *ranks, compare);
    for (size_t i = 0; i < n; i++)
        pods[i] = ranks[i].candidate;
}

void manager__rank_for_deletion(struct manager__candidate *pods, size_t n, int64_t now,
                                const struct feature_set *gates) {
    bool costs = feature_enabled(gates, FEATURE_PodDeletionCost);
    struct rank *ranks = xcalloc(n + 1, sizeof *ranks);
    for (size_t i = 0; i < n; i++) {
        struct rank *r = &ranks[i];
        *r = rank_of(&pods[i]);
        r->cost = costs ? deletion_cost(pods[i].pod) : 0;
        r->ready_log = log_age(r->ready, now);
        r->created_log = log_age(r->created, now);
    }
    order(pods, n, ranks);
    free(ranks);
}

void manager__rank_active(struct manager__candidate *pods, size_t n) {
    struct rank *ranks = xcalloc(n + 1, sizeof *ranks);
    for (size_t i = 0; i < n; i++) {
        struct rank *r = &ranks[i];
        *r = rank_of(&pods[i]);
        r->candidate.related = 0;
        r->ready_log = -manager__time_ns(r->ready);
        r->created_log = -manager__time_ns(r->created);
    }
    order(pods, n, ranks);
    free(ranks);
}
