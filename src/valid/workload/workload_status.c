/*
 * The status of workloads, as their controllers write it: counts that are not negative, and not
 * above others.
 *
 * Follows k8s.io/kubernetes pkg/apis/apps/validation, func ValidateReplicaSetStatus,
 * func ValidateDeploymentStatusUpdate, func ValidateDaemonSetStatusUpdate,
 * func ValidateStatefulSetStatusUpdate.
 * Follows k8s.io/kubernetes pkg/apis/policy/validation,
 * func ValidatePodDisruptionBudgetStatusUpdate.
 */
#include "valid/workload/workload_int.h"

struct count {
    const char *name;
    struct api_opt_i64 n;
};

#define COUNT(name, n) \
    {                  \
        name, {        \
            true, n    \
        }              \
    }
#define OPTIONAL(name, count)      \
    {                              \
        name, {                    \
            (count).set, (count).v \
        }                          \
    }

static void check_counts(struct valid *v, const struct path *p, const struct count *counts,
                         size_t n) {
    for (size_t i = 0; i < n; i++)
        if (counts[i].n.set)
            valid__not_negative(v, AT(p, counts[i].name), counts[i].n.v);
}

#define CHECK_COUNTS(v, p, ...)                             \
    check_counts(v, p, (const struct count[]){__VA_ARGS__}, \
                 sizeof((const struct count[]){__VA_ARGS__}) / sizeof(struct count))

/* Each of the counts that is larger than the total. */
static void check_below(struct valid *v, const struct path *p, const struct count *counts, size_t n,
                        int64_t total) {
    for (size_t i = 0; i < n; i++)
        if (counts[i].n.v > total)
            valid__invalid(v, AT(p, counts[i].name), VALUE_I64(counts[i].n.v),
                           "cannot be greater than status.replicas");
}

static void check_available(struct valid *v, const struct path *p, int64_t available, int64_t ready,
                            const char *ready_name) {
    if (available > ready)
        valid__invalid(v, AT(p, "availableReplicas"), VALUE_I64(available),
                       "cannot be greater than %s", ready_name);
}

/* How often names met does not become less. */
static void check_collisions(struct valid *v, const struct path *p, struct api_opt_i32 n,
                             struct api_opt_i32 old) {
    if (old.set && (!n.set || n.v < old.v))
        valid__invalid(v, AT(p, "collisionCount"), VALUE_I64(n.v), "cannot be decremented");
}

static void check_meta(struct valid *v, const struct api_object *o) {
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
}

/* ---- replica sets and deployments ---- */

static bool drops_terminating(const struct valid_opts *opts, struct api_opt_i32 old) {
    return !feature_enabled(opts->gates, FEATURE_DeploymentReplicaSetTerminatingReplicas) &&
           !old.set;
}

void valid__prepare_replica_set_status(struct api_object *o, const struct api_object *old,
                                       const struct valid_opts *opts) {
    struct api_replica_set *now = api_own_body(o);
    const struct api_replica_set *was = old->body;
    if (drops_terminating(opts, was->status.terminating_replicas))
        now->status.terminating_replicas = (struct api_opt_i32){0};
}

void valid__replica_set_status(struct valid *v, const struct api_object *o,
                               const struct api_object *old) {
    (void)old;
    const struct path *p = AT(NULL, "status");
    const struct api_replica_set_status *s = &((const struct api_replica_set *)o->body)->status;
    const struct count parts[] = {COUNT("fullyLabeledReplicas", s->fully_labeled_replicas),
                                  COUNT("readyReplicas", s->ready_replicas),
                                  COUNT("availableReplicas", s->available_replicas)};
    check_meta(v, o);
    CHECK_COUNTS(v, p, COUNT("replicas", s->replicas), parts[0], parts[1], parts[2],
                 COUNT("observedGeneration", s->observed_generation),
                 OPTIONAL("terminatingReplicas", s->terminating_replicas));
    check_below(v, p, parts, 3, s->replicas);
    check_available(v, p, s->available_replicas, s->ready_replicas, "readyReplicas");
}

void valid__replication_controller_status(struct valid *v, const struct api_object *o,
                                          const struct api_object *old) {
    (void)old;
    const struct path *p = AT(NULL, "status");
    const struct api_replication_controller_status *s =
        &((const struct api_replication_controller *)o->body)->status;
    const struct count parts[] = {COUNT("fullyLabeledReplicas", s->fully_labeled_replicas),
                                  COUNT("readyReplicas", s->ready_replicas),
                                  COUNT("availableReplicas", s->available_replicas)};
    check_meta(v, o);
    CHECK_COUNTS(v, p, COUNT("replicas", s->replicas), parts[0], parts[1], parts[2],
                 COUNT("observedGeneration", s->observed_generation));
    check_below(v, p, parts, 3, s->replicas);
    check_available(v, p, s->available_replicas, s->ready_replicas, "readyReplicas");
}

static struct labels copy_labels(struct arena *a, const struct labels *from) {
    struct labels copy = {arena_array(a, struct label, from->n), from->n};
    for (size_t i = 0; i < from->n; i++)
        copy.v[i] = (struct label){arena_str(a, from->v[i].key), arena_str(a, from->v[i].value)};
    return copy;
}

/* Labels cannot be written together with the status either. */
void valid__prepare_deployment_status(struct api_object *o, const struct api_object *old,
                                      const struct valid_opts *opts) {
    struct api_deployment *now = api_own_body(o);
    const struct api_deployment *was = old->body;
    now->metadata.labels = copy_labels(&o->arena, &was->metadata.labels);
    if (drops_terminating(opts, was->status.terminating_replicas))
        now->status.terminating_replicas = (struct api_opt_i32){0};
}

void valid__deployment_status(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    const struct path *p = AT(NULL, "status");
    const struct api_deployment_status *s = &((const struct api_deployment *)o->body)->status;
    const struct api_deployment_status *was = &((const struct api_deployment *)old->body)->status;
    const struct count parts[] = {COUNT("updatedReplicas", s->updated_replicas),
                                  COUNT("readyReplicas", s->ready_replicas),
                                  COUNT("availableReplicas", s->available_replicas)};
    check_meta(v, o);
    CHECK_COUNTS(v, p, COUNT("observedGeneration", s->observed_generation),
                 COUNT("replicas", s->replicas), parts[0], parts[1], parts[2],
                 COUNT("unavailableReplicas", s->unavailable_replicas),
                 OPTIONAL("terminatingReplicas", s->terminating_replicas),
                 OPTIONAL("collisionCount", s->collision_count));
    check_below(v, p, parts, 3, s->replicas);
    check_available(v, p, s->available_replicas, s->ready_replicas, "readyReplicas");
    check_collisions(v, p, s->collision_count, was->collision_count);
}

/* ---- daemon sets and stateful sets ---- */

void valid__daemon_set_status(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    const struct path *p = AT(NULL, "status");
    const struct api_daemon_set_status *s = &((const struct api_daemon_set *)o->body)->status;
    const struct api_daemon_set_status *was = &((const struct api_daemon_set *)old->body)->status;
    check_meta(v, o);
    CHECK_COUNTS(v, p, COUNT("currentNumberScheduled", s->current_number_scheduled),
                 COUNT("numberMisscheduled", s->number_misscheduled),
                 COUNT("desiredNumberScheduled", s->desired_number_scheduled),
                 COUNT("numberReady", s->number_ready),
                 COUNT("observedGeneration", s->observed_generation),
                 COUNT("updatedNumberScheduled", s->updated_number_scheduled),
                 COUNT("numberAvailable", s->number_available),
                 COUNT("numberUnavailable", s->number_unavailable),
                 OPTIONAL("collisionCount", s->collision_count));
    check_collisions(v, p, s->collision_count, was->collision_count);
}

/* A generation of 0 was not observed: upstream's own type has none then. */
void valid__stateful_set_status(struct valid *v, const struct api_object *o,
                                const struct api_object *old) {
    const struct path *p = AT(NULL, "status");
    const struct api_stateful_set_status *s = &((const struct api_stateful_set *)o->body)->status;
    const struct api_stateful_set_status *was =
        &((const struct api_stateful_set *)old->body)->status;
    const struct count parts[] = {COUNT("readyReplicas", s->ready_replicas),
                                  COUNT("currentReplicas", s->current_replicas),
                                  COUNT("updatedReplicas", s->updated_replicas),
                                  COUNT("availableReplicas", s->available_replicas)};
    CHECK_COUNTS(v, p, COUNT("replicas", s->replicas), parts[0], parts[1], parts[2], parts[3],
                 COUNT("observedGeneration", s->observed_generation),
                 OPTIONAL("collisionCount", s->collision_count));
    check_below(v, p, parts, 4, s->replicas);
    check_available(v, p, s->available_replicas, s->ready_replicas, "status.readyReplicas");
    check_meta(v, o);
    check_collisions(v, p, s->collision_count, was->collision_count);
}

/* ---- budgets ---- */

static void check_reason(struct valid *v, const struct path *p, struct str reason) {
    enum { MOST = 1024 };
    if (!reason.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    valid__condition_reason(v, p, reason);
    if (reason.n > MOST)
        valid__too_long(v, p, MOST);
}

static void check_condition(struct valid *v, const struct path *p, const struct api_condition *c) {
    enum { MOST = 32 * 1024 };
    static const char *const statuses[] = {"False", "True", "Unknown", NULL};
    if (!c->type.n)
        valid__required(v, AT(p, "type"), "is required");
    else
        valid__label_key(v, AT(p, "type"), c->type);
    valid__choice(v, AT(p, "status"), c->status, statuses);
    if (c->observed_generation < 0)
        valid__invalid(v, AT(p, "observedGeneration"), VALUE_I64(c->observed_generation),
                       "must be greater than or equal to zero");
    if (!c->last_transition_time.set)
        valid__required(v, AT(p, "lastTransitionTime"), NO_DETAIL);
    check_reason(v, AT(p, "reason"), c->reason);
    if (c->message.n > MOST)
        valid__too_long(v, AT(p, "message"), MOST);
}

void valid__conditions(struct valid *v, const struct path *p,
                       const struct api_condition_list *list) {
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < list->n; i++) {
        if (!seen_add(&seen, list->v[i].type))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(list->v[i].type), NO_DETAIL);
        check_condition(v, AT_INDEX(p, i), &list->v[i]);
    }
    seen_release(&seen);
}

void valid__budget_status(struct valid *v, const struct api_object *o,
                          const struct api_object *old) {
    (void)old;
    const struct path *p = AT(NULL, "status");
    const struct api_pod_disruption_budget *budget = o->body;
    const struct api_pod_disruption_budget_status *s = &budget->status;
    valid__conditions(v, AT(p, "conditions"), &s->conditions);
    CHECK_COUNTS(v, p, COUNT("disruptionsAllowed", s->disruptions_allowed),
                 COUNT("currentHealthy", s->current_healthy),
                 COUNT("desiredHealthy", s->desired_healthy),
                 COUNT("expectedPods", s->expected_pods));
}
