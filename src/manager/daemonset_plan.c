/*
 * On which nodes a DaemonSet makes pods, and which pods it deletes.
 *
 * Follows k8s.io/kubernetes pkg/controller/daemon, func (*DaemonSetsController) podsShouldBeOnNode.
 * Follows k8s.io/kubernetes pkg/controller/daemon, func (*DaemonSetsController) rollingUpdate.
 */
#include <stdlib.h>

#include "controller/rollout.h"
#include "manager/daemonset_int.h"
#include "manager/pods_int.h"
#include "manager/revision_int.h"

/* ---- pods ---- */

static struct str target_of_term(const struct api_node_selector_term *term) {
    for (size_t i = 0; i < term->match_fields.n; i++) {
        const struct api_node_selector_requirement *r = &term->match_fields.v[i];
        if (str_is(r->key, "metadata.name") && str_is(r->operator, "In"))
            return r->values.n == 1 ? r->values.v[0] : (struct str){0};
    }
    return (struct str){0};
}

struct str daemonset__target(const struct api_object *pod) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    const struct api_node_affinity *affinity =
        spec->affinity ? spec->affinity->node_affinity : NULL;
    struct str name = spec->node_name;
    for (size_t i = 0;
         !name.n && affinity && affinity->required && i < affinity->required->node_selector_terms.n;
         i++)
        name = target_of_term(&affinity->required->node_selector_terms.v[i]);
    return name;
}

bool daemonset__is_updated(const struct daemonset__view *v, const struct api_object *pod) {
    const struct label *generation =
        labels_find(&pod->meta->labels, STR("pod-template-generation"));
    return (v->hash.n && str_eq(revision__hash(pod), v->hash)) ||
           (v->generation.n && generation && str_eq(generation->value, v->generation));
}

/* Those with a node first, then the older. */
static int by_age(const void *x, const void *y) {
    const struct api_object *a = *(const struct api_object *const *)x;
    const struct api_object *b = *(const struct api_object *const *)y;
    bool p = ((const struct api_pod *)a->body)->spec.node_name.n > 0;
    bool q = ((const struct api_pod *)b->body)->spec.node_name.n > 0;
    int64_t s = manager__time_ns(a->meta->creation_timestamp);
    int64_t t = manager__time_ns(b->meta->creation_timestamp);
    if (p != q)
        return p ? -1 : 1;
    return s != t ? (s < t ? -1 : 1) : str_cmp(a->meta->name, b->meta->name);
}

static void sort_pods(struct manager__objects *pods) {
    if (pods->n)
        qsort(pods->v, pods->n, sizeof *pods->v, by_age);
}

static bool is_available(const struct daemonset__view *v, const struct api_object *pod) {
    return manager__pod_is_available(pod, v->body->spec.min_ready_seconds, v->now);
}

/* ---- plans ---- */

static void plan_init(struct daemonset__view *v, struct daemonset__plan *plan) {
    size_t pods = 0;
    for (size_t i = 0; i < v->n; i++)
        pods += v->nodes[i].pods.n;
    *plan = (struct daemonset__plan){
        .make = arena_array(v->arena, struct str, v->n),
        .remove = {arena_array(v->arena, const struct api_object *, pods), 0},
        .ended = {arena_array(v->arena, const struct api_object *, pods), 0},
    };
}

static void make_on(struct daemonset__plan *plan, const struct daemonset__node *node) {
    plan->make[plan->make_count++] = node->name;
}

static void remove_pod(struct daemonset__plan *plan, const struct api_object *pod) {
    plan->remove.v[plan->remove.n++] = pod;
}

static struct controller_rollout limits_of(const struct daemonset__view *v) {
    struct controller_rollout limits = {0};
    int64_t wanted = 0;
    for (size_t i = 0; i < v->n; i++)
        wanted += v->nodes[i].should_run;
    controller_rollout_of_daemon_set(&limits, v->body, wanted);
    if (wanted > 0 && !limits.max_unavailable && !limits.max_surge)
        limits.max_unavailable = 1; /* otherwise it could never begin */
    return limits;
}

static bool is_rolling(const struct daemonset__view *v) {
    return str_is(v->body->spec.update_strategy.type, "RollingUpdate");
}

static bool allows_surge(const struct daemonset__view *v) {
    struct controller_rollout limits = {0};
    controller_rollout_of_daemon_set(&limits, v->body, 1);
    return is_rolling(v) && limits.max_surge > 0;
}

/* ---- as many as there should be ---- */

/* The pods that run; those that have ended are deleted, so that others can take their place. */
static struct manager__objects running(struct daemonset__view *v,
                                       const struct daemonset__node *node,
                                       struct daemonset__plan *plan) {
    struct manager__objects out = {arena_array(v->arena, const struct api_object *, node->pods.n),
                                   0};
    for (size_t i = 0; i < node->pods.n; i++) {
        const struct api_object *pod = node->pods.v[i];
        if (pod->meta->deletion_timestamp.set)
            continue;
        if (!api_pod_has_ended(pod->body)) {
            out.v[out.n++] = pod;
        } else if (str_is(((const struct api_pod *)pod->body)->status.phase, "Succeeded") ||
                   !v->may_replace || v->may_replace(v->arg, node->name)) {
            remove_pod(plan, pod);
            plan->ended.v[plan->ended.n++] = pod;
        }
    }
    sort_pods(&out);
    return out;
}

/* With a surge there may be two: the oldest of the old template, until the oldest of the new one is
 * available. */
static void thin_out_surge(const struct daemonset__view *v, const struct manager__objects *pods,
                           struct daemonset__plan *plan) {
    const struct api_object *fresh = NULL, *old = NULL;
    for (size_t i = 0; i < pods->n; i++) {
        bool is_new = str_eq(revision__hash(pods->v[i]), v->hash);
        const struct api_object **oldest = is_new ? &fresh : &old;
        if (*oldest)
            remove_pod(plan, pods->v[i]);
        else
            *oldest = pods->v[i];
    }
    if (fresh && old && (!manager__pod_is_ready(old) || is_available(v, fresh)))
        remove_pod(plan, old);
}

static void manage_node(struct daemonset__view *v, const struct daemonset__node *node,
                        struct daemonset__plan *plan) {
    if (node->should_run && !node->pods.n) {
        make_on(plan, node);
    } else if (node->should_continue) {
        struct manager__objects pods = running(v, node, plan);
        if (!allows_surge(v))
            for (size_t i = 1; i < pods.n; i++)
                remove_pod(plan, pods.v[i]);
        else if (pods.n > 1)
            thin_out_surge(v, &pods, plan);
        else if (!pods.n && node->should_run)
            make_on(plan, node);
    } else {
        for (size_t i = 0; i < node->pods.n; i++)
            if (!node->pods.v[i]->meta->deletion_timestamp.set)
                remove_pod(plan, node->pods.v[i]);
    }
}

/* Pods that wait for a node that is gone would wait for ever. */
static void remove_waiting(const struct daemonset__node *node, struct daemonset__plan *plan) {
    for (size_t i = 0; i < node->pods.n; i++)
        if (!((const struct api_pod *)node->pods.v[i]->body)->spec.node_name.n)
            remove_pod(plan, node->pods.v[i]);
}

void daemonset__manage(struct daemonset__view *v, struct daemonset__plan *plan) {
    plan_init(v, plan);
    for (size_t i = 0; i < v->n; i++) {
        if (v->nodes[i].is_there)
            manage_node(v, &v->nodes[i], plan);
        else
            remove_waiting(&v->nodes[i], plan);
    }
}

/* ---- rolling ---- */

/* The pods of a node by their templates. */
struct both {
    const struct api_object *fresh, *old;
    bool is_excess; /* there are more of one sort: they are thinned out first */
};

static struct both both_of(const struct daemonset__view *v, const struct daemonset__node *node) {
    struct both b = {0};
    for (size_t i = 0; i < node->pods.n; i++) {
        const struct api_object *pod = node->pods.v[i];
        if (pod->meta->deletion_timestamp.set)
            continue;
        const struct api_object **place = daemonset__is_updated(v, pod) ? &b.fresh : &b.old;
        b.is_excess = b.is_excess || *place;
        *place = pod;
    }
    return b;
}

/* Old pods make room for new ones: first those that are not available anyway, then as many as may
 * be unavailable. */
static void roll_in_place(struct daemonset__view *v, int64_t max_unavailable,
                          struct daemonset__plan *plan) {
    struct manager__objects candidates = {arena_array(v->arena, const struct api_object *, v->n),
                                          0};
    int64_t unavailable = 0;
    for (size_t i = 0; i < v->n; i++) {
        struct both b = both_of(v, &v->nodes[i]);
        if (!v->nodes[i].pods.n && !v->nodes[i].should_run)
            continue;
        if (b.is_excess || !b.old == !b.fresh)
            unavailable++;
        else if (b.fresh)
            unavailable += !is_available(v, b.fresh);
        else if (!is_available(v, b.old)) {
            remove_pod(plan, b.old);
            unavailable++;
        } else if (unavailable < max_unavailable)
            candidates.v[candidates.n++] = b.old;
    }
    for (size_t i = 0; i < candidates.n && unavailable < max_unavailable; i++, unavailable++)
        remove_pod(plan, candidates.v[i]);
}

/* New pods are made beside old ones, which go when the new ones are available. */
static void roll_beside(struct daemonset__view *v, const struct controller_rollout *limits,
                        struct daemonset__plan *plan) {
    const struct daemonset__node **candidates =
        arena_array(v->arena, const struct daemonset__node *, v->n);
    struct manager__objects misplaced = {arena_array(v->arena, const struct api_object *, v->n), 0};
    size_t n = 0;
    int64_t surge = 0, available = 0;
    for (size_t i = 0; i < v->n; i++) {
        const struct daemonset__node *node = &v->nodes[i];
        struct both b = both_of(v, node);
        const struct api_object *counts = b.old ? b.old : b.fresh;
        if (b.is_excess) {
            surge++;
            continue;
        }
        available += counts && is_available(v, counts);
        if (!b.old)
            continue;
        if (b.fresh && is_available(v, b.fresh))
            remove_pod(plan, b.old);
        else if (b.fresh)
            surge++;
        else if (!node->should_run && !is_available(v, b.old))
            remove_pod(plan, b.old);
        else if (!node->should_run)
            misplaced.v[misplaced.n++] = b.old;
        else if (!is_available(v, b.old))
            make_on(plan, node);
        else if (surge < limits->max_surge)
            candidates[n++] = node;
    }
    for (size_t i = 0; i < misplaced.n && available > limits->wanted; i++, available--)
        remove_pod(plan, misplaced.v[i]);
    for (size_t i = 0; i < n && surge < limits->max_surge; i++, surge++)
        make_on(plan, candidates[i]);
}

void daemonset__roll(struct daemonset__view *v, struct daemonset__plan *plan) {
    struct controller_rollout limits = limits_of(v);
    plan_init(v, plan);
    if (!is_rolling(v))
        return;
    if (limits.max_surge == 0)
        roll_in_place(v, limits.max_unavailable, plan);
    else
        roll_beside(v, &limits, plan);
}

/* ---- status ---- */

static void add_node(const struct daemonset__view *v, const struct daemonset__node *node,
                     struct api_daemon_set_status *s) {
    if (!node->should_run) {
        s->number_misscheduled += node->pods.n > 0;
        return;
    }
    s->desired_number_scheduled++;
    if (!node->pods.n)
        return;
    sort_pods(&(struct manager__objects){node->pods.v, node->pods.n});
    const struct api_object *pod = node->pods.v[0];
    s->current_number_scheduled++;
    s->number_ready += manager__pod_is_ready(pod);
    s->number_available += is_available(v, pod);
    s->updated_number_scheduled += daemonset__is_updated(v, pod);
}

static bool same_figures(const struct api_daemon_set_status *a,
                         const struct api_daemon_set_status *b) {
    return a->desired_number_scheduled == b->desired_number_scheduled &&
           a->current_number_scheduled == b->current_number_scheduled &&
           a->number_misscheduled == b->number_misscheduled && a->number_ready == b->number_ready &&
           a->updated_number_scheduled == b->updated_number_scheduled &&
           a->number_available == b->number_available &&
           a->number_unavailable == b->number_unavailable;
}

bool daemonset__status(const struct daemonset__view *v, int64_t generation,
                       struct api_daemon_set_status *out) {
    const struct api_daemon_set_status *old = &v->body->status;
    *out = (struct api_daemon_set_status){
        .observed_generation = generation,
        .collision_count = old->collision_count,
        .conditions = old->conditions,
    };
    for (size_t i = 0; i < v->n; i++)
        if (v->nodes[i].is_there)
            add_node(v, &v->nodes[i], out);
    out->number_unavailable = out->desired_number_scheduled - out->number_available;
    return !same_figures(old, out) || old->observed_generation < generation;
}
