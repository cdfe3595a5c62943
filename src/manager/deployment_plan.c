/*
 * What is to be done next about a Deployment.
 *
 * Follows k8s.io/kubernetes pkg/controller/deployment, func (*DeploymentController) syncDeployment.
 */
#include <stdlib.h>

#include "controller/controller.h"
#include "controller/rollout.h"
#include "manager/deployment_int.h"
#include "manager/pods_int.h"

/* ---- looking ---- */

static int by_creation(const void *x, const void *y) {
    const struct api_object *a = ((const struct deployment__set *)x)->object;
    const struct api_object *b = ((const struct deployment__set *)y)->object;
    int64_t s = manager__time_ns(a->meta->creation_timestamp);
    int64_t t = manager__time_ns(b->meta->creation_timestamp);
    return s != t ? (s < t ? -1 : 1) : str_cmp(a->meta->name, b->meta->name);
}

struct deployment__set *deployment__find_current(struct deployment__set *sets, size_t n,
                                                 const struct api_pod_template_spec *template) {
    for (size_t i = 0; i < n; i++)
        if (controller_same_template(&sets[i].body->spec.template, template))
            return &sets[i];
    return NULL;
}

void deployment__look(struct deployment__view *v) {
    struct controller_rollout limits = {0};
    v->body = v->object->body;
    controller_rollout_of_deployment(&limits, v->body);
    v->wanted = (int32_t)limits.wanted;
    v->most = deployment__number(limits.wanted + limits.max_surge);
    v->max_unavailable = (int32_t)limits.max_unavailable;
    v->is_rolling = limits.way == CONTROLLER_ROLLOUT_REPLICAS;
    for (size_t i = 0; i < v->n; i++) {
        v->sets[i].body = v->sets[i].object->body;
        v->sets[i].replicas =
            v->sets[i].body->spec.replicas.set ? v->sets[i].body->spec.replicas.v : 1;
    }
    if (v->n)
        qsort(v->sets, v->n, sizeof *v->sets, by_creation);
    v->current = deployment__find_current(v->sets, v->n, &v->body->spec.template);
}

/* ---- steps that change the Deployment alone ---- */

/* The status as it is, with one condition. */
static void plan_condition(struct deployment__view *v, const struct deployment__word *word,
                           struct deployment__plan *plan) {
    struct api_deployment_status status = v->body->status;
    if (word)
        deployment__set_condition(v, &status, word);
    plan->writes_status = true;
    api_struct_copy(v->arena, &api_types[API_T_deployment_status], &status, &plan->status);
}

/* The time that it is paused does not count. */
static bool plan_pause(struct deployment__view *v, struct deployment__plan *plan) {
    const struct api_deployment_condition *c =
        deployment__condition(&v->body->status, "Progressing");
    bool says_paused = c && str_is(c->reason, "DeploymentPaused");
    if (!deployment__has_deadline(v->body) || (c && str_is(c->reason, "ProgressDeadlineExceeded")))
        return false;
    if (v->body->spec.paused == says_paused)
        return false;
    if (says_paused)
        plan_condition(v,
                       &(struct deployment__word){"Progressing", "Unknown", "DeploymentResumed",
                                                  STR("Deployment is resumed")},
                       plan);
    else
        plan_condition(v,
                       &(struct deployment__word){"Progressing", "Unknown", "DeploymentPaused",
                                                  STR("Deployment is paused")},
                       plan);
    return true;
}

static bool has_annotation(const struct api_object *o, struct label l) {
    const struct label *there = labels_find(&o->meta->annotations, l.key);
    return there ? str_eq(there->value, l.value) : !l.value.n;
}

/* Brings the current ReplicaSet up to date, and then the Deployment. */
static bool plan_revision(struct deployment__view *v, struct deployment__plan *plan) {
    struct deployment__set *set = v->current;
    struct labels annotations = set->object->meta->annotations;
    bool changed = deployment__annotate(v, v->arena, &annotations);
    if (changed || set->body->spec.min_ready_seconds != v->body->spec.min_ready_seconds) {
        set->is_annotated = true;
        set->annotations = annotations;
        return true;
    }
    const struct label *revision =
        labels_find(&set->object->meta->annotations, STR(DEPLOYMENT_REVISION));
    struct label own = {STR(DEPLOYMENT_REVISION), revision ? revision->value : STR("")};
    bool is_found = deployment__has_deadline(v->body) &&
                    !deployment__condition(&v->body->status, "Progressing");
    struct deployment__word word = {
        "Progressing", "True", "FoundNewReplicaSet",
        arena_printf(v->arena, "Found new replica set \"%.*s\"", STR_ARG(set->object->meta->name))};
    if (has_annotation(v->object, own) && !is_found)
        return false;
    plan_condition(v, is_found ? &word : NULL, plan);
    plan->revision = arena_str(v->arena, own.value);
    return true;
}

/* ---- rollouts ---- */

/* Plans the deletion of the oldest ReplicaSets that nobody needs. */
struct old_set {
    struct deployment__set *set;
    int64_t revision;
};

static int by_revision(const void *x, const void *y) {
    const struct old_set *a = x, *b = y;
    if (a->revision != b->revision)
        return a->revision < b->revision ? -1 : 1;
    return by_creation(a->set, b->set);
}

static bool is_unused(const struct deployment__set *set) {
    return set->body->status.replicas == 0 && !deployment__is_active(set) &&
           set->object->meta->generation <= set->body->status.observed_generation;
}

static void plan_cleanup(struct deployment__view *v) {
    struct api_opt_i32 limit = v->body->spec.revision_history_limit;
    struct old_set *old = arena_array(v->arena, struct old_set, v->n);
    size_t n = 0;
    if (!limit.set || limit.v == INT32_MAX)
        return;
    for (size_t i = 0; i < v->n; i++) {
        struct deployment__set *set = &v->sets[i];
        if (set == v->current || set->object->meta->deletion_timestamp.set)
            continue;
        old[n].set = set;
        if (!deployment__revision(set->object, &old[n].revision))
            old[n].revision = 0;
        n++;
    }
    qsort(old, n, sizeof *old, by_revision);
    for (size_t i = 0; i + (size_t)limit.v < n; i++)
        old[i].set->is_deleted = is_unused(old[i].set);
}

static void plan_creation(struct deployment__view *v, struct deployment__plan *plan) {
    plan->creates = true;
    plan->replicas = deployment__new_replicas(v, 0);
    plan->revision = deployment__next_revision(v);
}

static void plan_rolling(struct deployment__view *v, struct deployment__plan *plan) {
    if (!v->current) {
        plan_creation(v, plan);
        return;
    }
    if (!deployment__roll_up(v) && !deployment__roll_down(v) &&
        deployment__is_complete(v, &v->body->status))
        plan_cleanup(v);
    deployment__plan_status(v, true, plan);
}

/* Takes all old replicas away; true if there were any. */
static bool plan_removal(struct deployment__view *v) {
    bool any = false;
    for (size_t i = 0; i < v->n; i++)
        if (&v->sets[i] != v->current && deployment__is_active(&v->sets[i])) {
            v->sets[i].replicas = 0;
            v->sets[i].is_updated = any = true;
        }
    return any;
}

static bool old_sets_have_pods(const struct deployment__view *v) {
    for (size_t i = 0; i < v->n; i++)
        if (&v->sets[i] != v->current && v->sets[i].body->status.replicas > 0)
            return true;
    return v->has_old_pods;
}

static void plan_recreate(struct deployment__view *v, struct deployment__plan *plan) {
    if (!plan_removal(v) && !old_sets_have_pods(v)) {
        if (!v->current) {
            plan_creation(v, plan);
            return;
        }
        v->current->is_updated = v->current->replicas != v->wanted;
        v->current->replicas = v->wanted;
        if (deployment__is_complete(v, &v->body->status))
            plan_cleanup(v);
    }
    deployment__plan_status(v, true, plan);
}

/* Was the Deployment given another size since its ReplicaSets were? */
static bool was_scaled(const struct deployment__view *v) {
    int32_t desired;
    for (size_t i = 0; i < v->n; i++)
        if (deployment__is_active(&v->sets[i]) &&
            deployment__annotated(&v->sets[i], DEPLOYMENT_DESIRED, &desired) &&
            desired != v->wanted)
            return true;
    return false;
}

void deployment__plan(struct deployment__view *v, struct deployment__plan *plan) {
    bool goes = v->object->meta->deletion_timestamp.set;
    *plan = (struct deployment__plan){0};
    if ((!goes && plan_pause(v, plan)) || (v->current && plan_revision(v, plan)))
        return;
    if (goes) {
        deployment__plan_status(v, false, plan);
    } else if (v->body->spec.paused || was_scaled(v)) {
        deployment__scale(v);
        if (v->body->spec.paused)
            plan_cleanup(v);
        deployment__plan_status(v, false, plan);
    } else if (v->is_rolling) {
        plan_rolling(v, plan);
    } else {
        plan_recreate(v, plan);
    }
}

/* ---- behind a creation ---- */

void deployment__plan_created(struct deployment__view *v, struct str name,
                              struct deployment__plan *plan) {
    struct deployment__word word = {
        "Progressing", "True", "NewReplicaSetCreated",
        arena_printf(v->arena, "Created new replica set \"%.*s\"", STR_ARG(name))};
    plan_condition(v, deployment__has_deadline(v->body) ? &word : NULL, plan);
}

void deployment__plan_refused(struct deployment__view *v, struct str text,
                              struct deployment__plan *plan) {
    struct deployment__word word = {"Progressing", "False", "ReplicaSetCreateError", text};
    if (deployment__has_deadline(v->body))
        plan_condition(v, &word, plan);
}
