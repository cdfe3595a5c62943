/*
 * The status of ReplicaSets.
 *
 * Follows k8s.io/kubernetes pkg/controller/replicaset, func calculateStatus.
 */
#include <string.h>

#include "base/clock.h"
#include "manager/pods_int.h"
#include "manager/replicaset_int.h"

/* Has the pod every label of the template, with its value? */
static bool is_fully_labeled(const struct labels *template, const struct labels *pod) {
    size_t at = 0;
    for (size_t i = 0; i < template->n; i++) {
        const struct label *l = labels_next(pod, &at, template->v[i].key);
        if (!l || !str_eq(l->value, template->v[i].value))
            return false;
    }
    return true;
}

void replicas__count(struct replicas__counts *counts, const struct api_replica_set *set,
                     const struct manager__objects *pods, int64_t now) {
    counts->replicas = (int32_t)pods->n;
    for (size_t i = 0; i < pods->n; i++) {
        const struct api_object *pod = pods->v[i];
        counts->fully_labeled +=
            is_fully_labeled(&set->spec.template.metadata.labels, &pod->meta->labels);
        counts->ready += manager__pod_is_ready(pod);
        counts->available += manager__pod_is_available(pod, set->spec.min_ready_seconds, now);
    }
}

static bool is_failure(const struct api_replica_set_condition *c) {
    return str_is(c->type, "ReplicaFailure");
}

static bool has_failure(const struct api_replica_set_condition_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (is_failure(&list->v[i]))
            return true;
    return false;
}

static void set_conditions(struct arena *a, struct api_replica_set_condition_list *list,
                           const struct manager__failure *failure, int64_t now) {
    struct api_replica_set_condition_list old = *list;
    *list = (struct api_replica_set_condition_list){
        arena_array(a, struct api_replica_set_condition, old.n + 1), 0};
    for (size_t i = 0; i < old.n; i++)
        if (!is_failure(&old.v[i]))
            list->v[list->n++] = old.v[i];
    if (failure->reason)
        list->v[list->n++] = (struct api_replica_set_condition){
            .type = STR("ReplicaFailure"),
            .status = STR("True"),
            .last_transition_time = manager__time(now),
            .reason = str_of(failure->reason),
            .message = failure->message,
        };
}

static bool same_counts(const struct api_replica_set_status *s, const struct replicas__counts *c) {
    return s->replicas == c->replicas && s->fully_labeled_replicas == c->fully_labeled &&
           s->ready_replicas == c->ready && s->available_replicas == c->available &&
           s->terminating_replicas.set == c->terminating.set &&
           s->terminating_replicas.v == c->terminating.v;
}

bool replicas__status(struct arena *a, const struct api_replica_set *set,
                      const struct replicas__counts *counts, int64_t generation,
                      const struct manager__failure *failure, int64_t now,
                      struct api_replica_set_status *out) {
    bool turns = has_failure(&set->status.conditions) != (failure->reason != NULL);
    *out = set->status;
    if (turns)
        set_conditions(a, &out->conditions, failure, now);
    out->replicas = counts->replicas;
    out->fully_labeled_replicas = counts->fully_labeled;
    out->ready_replicas = counts->ready;
    out->available_replicas = counts->available;
    out->terminating_replicas = counts->terminating;
    out->observed_generation = generation;
    return turns || !same_counts(&set->status, counts) ||
           set->status.observed_generation != set->metadata.generation;
}

int64_t replicas__next_check(const struct manager__objects *pods, int32_t min_ready_seconds,
                             int64_t now) {
    int64_t first = 0;
    for (size_t i = 0; i < pods->n; i++) {
        int64_t in = manager__pod_available_in(pods->v[i], min_ready_seconds, now);
        first = in && (!first || in < first) ? in : first;
    }
    return first;
}
