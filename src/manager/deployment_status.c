/*
 * The status of a Deployment, and how its rollout gets on.
 *
 * Follows k8s.io/kubernetes pkg/controller/deployment, func (*DeploymentController)
 * syncRolloutStatus.
 */
#include "base/clock.h"
#include "feature/feature.h"
#include "manager/deployment_int.h"
#include "manager/pods_int.h"
#include "valid/valid.h"

bool deployment__has_deadline(const struct api_deployment *d) {
    return d->spec.progress_deadline_seconds.set &&
           d->spec.progress_deadline_seconds.v != INT32_MAX;
}

/* ---- conditions ---- */

const struct api_deployment_condition *
deployment__condition(const struct api_deployment_status *status, const char *type) {
    for (size_t i = 0; i < status->conditions.n; i++)
        if (str_is(status->conditions.v[i].type, type))
            return &status->conditions.v[i];
    return NULL;
}

static void remove_condition(struct arena *a, struct api_deployment_status *status,
                             const char *type) {
    struct api_deployment_condition_list old = status->conditions;
    struct api_deployment_condition_list *list = &status->conditions;
    *list = (struct api_deployment_condition_list){
        arena_array(a, struct api_deployment_condition, old.n + 1), 0};
    for (size_t i = 0; i < old.n; i++)
        if (!str_is(old.v[i].type, type))
            list->v[list->n++] = old.v[i];
}

static void put_condition(struct arena *a, struct api_deployment_status *status, const char *type,
                          struct api_deployment_condition c) {
    const struct api_deployment_condition *there = deployment__condition(status, type);
    if (there && str_eq(there->status, c.status) && str_eq(there->reason, c.reason))
        return;
    if (there && str_eq(there->status, c.status))
        c.last_transition_time = there->last_transition_time;
    remove_condition(a, status, type);
    status->conditions.v[status->conditions.n++] = c;
}

static struct api_deployment_condition condition_of(const struct deployment__word *word,
                                                    int64_t now) {
    return (struct api_deployment_condition){
        .type = str_of(word->type),
        .status = str_of(word->status),
        .last_update_time = manager__time(now),
        .last_transition_time = manager__time(now),
        .reason = str_of(word->reason),
        .message = word->message,
    };
}

void deployment__set_condition(struct deployment__view *v, struct api_deployment_status *status,
                               const struct deployment__word *word) {
    put_condition(v->arena, status, word->type, condition_of(word, v->now));
}

/* ---- figures ---- */

static int32_t add(int32_t sum, int32_t n) {
    return deployment__number((int64_t)sum + n);
}

static void add_set(struct api_deployment_status *s, const struct deployment__set *set,
                    bool is_current) {
    const struct api_replica_set_status *of = &set->body->status;
    s->replicas = add(s->replicas, of->replicas);
    s->updated_replicas += is_current ? of->replicas : 0;
    s->ready_replicas = add(s->ready_replicas, of->ready_replicas);
    s->available_replicas = add(s->available_replicas, of->available_replicas);
}

/* Unknown as long as one of them does not tell. */
static struct api_opt_i32 count_terminating(const struct deployment__view *v) {
    struct api_opt_i32 sum = {.set = true};
    if (!feature_enabled(v->gates, FEATURE_DeploymentReplicaSetTerminatingReplicas))
        return (struct api_opt_i32){0};
    for (size_t i = 0; i < v->n; i++) {
        const struct api_replica_set_status *s = &v->sets[i].body->status;
        if (!s->terminating_replicas.set && s->observed_generation != 0)
            return (struct api_opt_i32){0};
        sum.v = add(sum.v, s->terminating_replicas.set ? s->terminating_replicas.v : 0);
    }
    return sum;
}

static void calculate(struct deployment__view *v, struct api_deployment_status *s) {
    *s = (struct api_deployment_status){
        .observed_generation = v->object->meta->generation,
        .terminating_replicas = count_terminating(v),
        .conditions = v->body->status.conditions,
        .collision_count = v->body->status.collision_count,
    };
    for (size_t i = 0; i < v->n; i++)
        add_set(s, &v->sets[i], &v->sets[i] == v->current);
    int32_t unavailable = deployment__sum(v) - s->available_replicas;
    s->unavailable_replicas = unavailable > 0 ? unavailable : 0;
    if (s->available_replicas >= v->wanted - v->max_unavailable)
        deployment__set_condition(
            v, s,
            &(struct deployment__word){"Available", "True", "MinimumReplicasAvailable",
                                       STR("Deployment has minimum availability.")});
    else
        deployment__set_condition(
            v, s,
            &(struct deployment__word){"Available", "False", "MinimumReplicasUnavailable",
                                       STR("Deployment does not have minimum availability.")});
}

/* ---- progress ---- */

bool deployment__is_complete(const struct deployment__view *v,
                             const struct api_deployment_status *s) {
    return s->updated_replicas == v->wanted && s->replicas == v->wanted &&
           s->available_replicas == v->wanted &&
           s->observed_generation >= v->object->meta->generation;
}

static bool is_progressing(const struct api_deployment_status *old,
                           const struct api_deployment_status *s) {
    return s->updated_replicas > old->updated_replicas ||
           s->replicas - s->updated_replicas < old->replicas - old->updated_replicas ||
           s->ready_replicas > old->ready_replicas ||
           s->available_replicas > old->available_replicas;
}

static int64_t deadline(const struct deployment__view *v,
                        const struct api_deployment_condition *c) {
    return clock_after(manager__time_ns(c->last_update_time),
                       v->body->spec.progress_deadline_seconds.v * CLOCK_SECOND);
}

static bool is_late(const struct deployment__view *v, const struct api_deployment_status *s) {
    const struct api_deployment_condition *c = deployment__condition(s, "Progressing");
    if (!c || str_is(c->reason, "NewReplicaSetAvailable"))
        return false;
    return str_is(c->reason, "ProgressDeadlineExceeded") || deadline(v, c) < v->now;
}

/* "ReplicaSet "web-5d4" is progressing.", or the same of the Deployment. */
static struct str sentence(const struct deployment__view *v, const char *what) {
    const struct api_object *o = v->current ? v->current->object : v->object;
    return arena_printf(v->arena, "%s \"%.*s\" %s.", v->current ? "ReplicaSet" : "Deployment",
                        STR_ARG(o->meta->name), what);
}

/* Progress is told anew each time, but not as a transition. */
static void tell_progress(struct deployment__view *v, struct api_deployment_status *s) {
    const struct api_deployment_condition *old = deployment__condition(s, "Progressing");
    struct deployment__word word = {"Progressing", "True", "ReplicaSetUpdated",
                                    sentence(v, "is progressing")};
    struct api_deployment_condition c = condition_of(&word, v->now);
    if (old && str_is(old->status, "True"))
        c.last_transition_time = old->last_transition_time;
    remove_condition(v->arena, s, "Progressing");
    put_condition(v->arena, s, "Progressing", c);
}

static void judge_progress(struct deployment__view *v, struct api_deployment_status *s) {
    const struct api_deployment_condition *c =
        deployment__condition(&v->body->status, "Progressing");
    if (!deployment__has_deadline(v->body)) {
        remove_condition(v->arena, s, "Progressing");
        return;
    }
    if (s->replicas == s->updated_replicas && c && str_is(c->reason, "NewReplicaSetAvailable"))
        return; /* no rollout is under way */
    if (deployment__is_complete(v, s))
        deployment__set_condition(
            v, s,
            &(struct deployment__word){"Progressing", "True", "NewReplicaSetAvailable",
                                       sentence(v, "has successfully progressed")});
    else if (is_progressing(&v->body->status, s))
        tell_progress(v, s);
    else if (is_late(v, s))
        deployment__set_condition(
            v, s,
            &(struct deployment__word){"Progressing", "False", "ProgressDeadlineExceeded",
                                       sentence(v, "has timed out progressing")});
}

/* ---- failures of ReplicaSets ---- */

static const struct api_replica_set_condition *failure_of(const struct deployment__set *set) {
    const struct api_replica_set_condition_list *list = &set->body->status.conditions;
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, "ReplicaFailure"))
            return &list->v[i];
    return NULL;
}

/* That of the current one, or of any. */
static const struct api_replica_set_condition *find_failure(const struct deployment__view *v) {
    const struct api_replica_set_condition *c = v->current ? failure_of(v->current) : NULL;
    for (size_t i = 0; !c && i < v->n; i++)
        c = failure_of(&v->sets[i]);
    return c;
}

static void tell_failure(struct deployment__view *v, struct api_deployment_status *s) {
    const struct api_replica_set_condition *c = find_failure(v);
    if (!c) {
        if (deployment__condition(s, "ReplicaFailure"))
            remove_condition(v->arena, s, "ReplicaFailure");
        return;
    }
    put_condition(v->arena, s, "ReplicaFailure",
                  (struct api_deployment_condition){
                      .type = c->type,
                      .status = c->status,
                      .last_update_time = c->last_transition_time,
                      .last_transition_time = c->last_transition_time,
                      .reason = c->reason,
                      .message = c->message,
                  });
}

/* ---- all of it ---- */

/* When to look again whether the deadline has passed; 0: never. */
static int64_t next_look(const struct deployment__view *v, const struct api_deployment_status *s) {
    const struct api_deployment_condition *c =
        deployment__condition(&v->body->status, "Progressing");
    if (!deployment__has_deadline(v->body) || !c || deployment__is_complete(v, s) ||
        str_is(c->reason, "ProgressDeadlineExceeded"))
        return 0;
    int64_t after = clock_until(deadline(v, c), v->now);
    return clock_after(after < 0 ? 0 : after, CLOCK_SECOND);
}

void deployment__plan_status(struct deployment__view *v, bool is_rollout,
                             struct deployment__plan *plan) {
    struct api_deployment_status status;
    calculate(v, &status);
    if (is_rollout) {
        judge_progress(v, &status);
        tell_failure(v, &status);
    }
    plan->writes_status = !valid_equal(API_T_deployment_status, &v->body->status, &status);
    if (!plan->writes_status && is_rollout)
        plan->again_after = next_look(v, &status);
    api_struct_copy(v->arena, &api_types[API_T_deployment_status], &status, &plan->status);
}
