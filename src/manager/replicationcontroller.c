/*
 * ReplicationControllers, read and written as ReplicaSets.
 *
 * Follows k8s.io/kubernetes pkg/controller/replication, func convertRCtoRS.
 */
#include "manager/replicaset_int.h"

static struct api_replica_set_condition_list
read_conditions(struct arena *a, const struct api_replication_controller_condition_list *from) {
    struct api_replica_set_condition_list list = {
        arena_array(a, struct api_replica_set_condition, from->n), from->n};
    for (size_t i = 0; i < list.n; i++)
        list.v[i] = (struct api_replica_set_condition){
            .type = from->v[i].type,
            .status = from->v[i].status,
            .last_transition_time = from->v[i].last_transition_time,
            .reason = from->v[i].reason,
            .message = from->v[i].message,
        };
    return list;
}

static const struct api_replica_set *read(struct arena *a, const struct api_object *o) {
    const struct api_replication_controller *rc = o->body;
    struct api_replica_set *set = arena_new(a, struct api_replica_set);
    set->metadata = rc->metadata;
    set->spec.replicas = rc->spec.replicas;
    set->spec.min_ready_seconds = rc->spec.min_ready_seconds;
    set->spec.selector = arena_new(a, struct api_label_selector);
    set->spec.selector->match_labels = rc->spec.selector;
    if (rc->spec.template)
        set->spec.template = *rc->spec.template;
    set->status.replicas = rc->status.replicas;
    set->status.fully_labeled_replicas = rc->status.fully_labeled_replicas;
    set->status.ready_replicas = rc->status.ready_replicas;
    set->status.available_replicas = rc->status.available_replicas;
    set->status.observed_generation = rc->status.observed_generation;
    set->status.conditions = read_conditions(a, &rc->status.conditions);
    return set;
}

static void write_status(struct api_object *draft, const struct api_replica_set_status *from) {
    struct api_replication_controller *rc = api_own_body(draft);
    struct arena *a = &draft->arena;
    struct api_replication_controller_condition_list *list = &rc->status.conditions;
    rc->status.replicas = from->replicas;
    rc->status.fully_labeled_replicas = from->fully_labeled_replicas;
    rc->status.ready_replicas = from->ready_replicas;
    rc->status.available_replicas = from->available_replicas;
    rc->status.observed_generation = from->observed_generation;
    list->n = from->conditions.n;
    list->v = arena_array(a, struct api_replication_controller_condition, list->n);
    for (size_t i = 0; i < list->n; i++)
        list->v[i] = (struct api_replication_controller_condition){
            .type = arena_str(a, from->conditions.v[i].type),
            .status = arena_str(a, from->conditions.v[i].status),
            .last_transition_time = from->conditions.v[i].last_transition_time,
            .reason = arena_str(a, from->conditions.v[i].reason),
            .message = arena_str(a, from->conditions.v[i].message),
        };
}

const struct replicas__kind replicas__controllers = {.read = read, .write_status = write_status};

const struct api_label_selector *replicas__controller_selector(struct arena *a,
                                                               const struct api_object *o) {
    return read(a, o)->spec.selector;
}
