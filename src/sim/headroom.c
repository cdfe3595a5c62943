/* Capacity, asked of the scheduler itself: what fits is what it places. */
#include "sim/headroom.h"

#include "api/object.h"
#include "base/clock.h"
#include "base/limits.h"
#include "sched/requests.h"
#include "sim/probe.h"
#include "sim/usage.h"

/* ---- pods ---- */

static void forget_pending(struct sim_placement *p) {
    for (size_t i = 0; i < p->pods.n; i++)
        if (sim_placement_pod_is_pending(&p->pods.v[i]))
            sched_delete(p->sched, p->pods.v[i].pod);
}

/* What all the pods have in common: no node, no right to preempt, and no end in sight. */
static const struct api_object *common_of(const struct api_object *model) {
    struct api_object *o = sim_probe_pod(model);
    struct api_pod *pod = api_own_body(o);
    pod->spec.preemption_policy = STR("Never");
    pod->status.nominated_node_name = STR("");
    pod->metadata.deletion_timestamp = (struct api_time){0};
    return api_publish(o);
}

static const struct api_object *next_pod(const struct api_object *common, size_t number) {
    struct api_object *o = api_object_derive(common);
    struct api_object_meta *meta = api_own_meta(o);
    meta->name = meta->uid =
        arena_printf(&o->arena, "%.*s+%zu", STR_ARG(common->meta->name), number);
    return api_publish(o);
}

/* Why the pod fits nowhere, without a word about preemption. */
static struct str why_not(struct sim_placement *p, const struct api_object *pod, struct arena *a) {
    struct sched_report report;
    sched_examine(p->sched, pod, a, &report);
    return arena_str(a, report.error.p ? report.error : report.message);
}

/* Is the pod placed? *message tells why not. */
static bool place(struct sim_placement *p, const struct api_object *pod, struct arena *a,
                  struct str *message) {
    struct sched_result r;
    sched_set(p->sched, pod);
    if (!sched_next(p->sched, &r)) {
        *message = STR("such pods are not tried: they have scheduling gates, belong to a pod "
                       "group, or no profile has their schedulerName");
        return false;
    }
    if (r.outcome == SCHED_SCHEDULED)
        return true;
    sched_delete(p->sched, pod);
    *message = why_not(p, pod, a);
    return false;
}

void sim_headroom_pods(struct sim_placement *p, const struct api_object *model, struct arena *a,
                       struct sim_headroom *out) {
    const struct api_object *common = common_of(model);
    bool is_placed = true;
    *out = (struct sim_headroom){0};
    forget_pending(p);
    while (is_placed && out->count < LIMIT_FITTING_PODS) {
        const struct api_object *pod = next_pod(common, out->count);
        is_placed = place(p, pod, a, &out->message);
        out->count += is_placed;
        api_object_unref(pod);
    }
    out->is_limited = is_placed;
    api_object_unref(common);
}

/* ---- nodes ---- */

static bool is_waiting(const struct sim_placement_pod *pod) {
    return pod->state == SIM_UNSCHEDULABLE || pod->state == SIM_WAITING;
}

/* Pods that a node may help, and the first of them. */
static size_t count_waiting(const struct sim_placement *p, const struct sim_placement_pod **first) {
    size_t n = 0;
    *first = NULL;
    for (size_t i = 0; i < p->pods.n; i++) {
        const struct sim_placement_pod *pod = &p->pods.v[i];
        if (!is_waiting(pod))
            continue;
        *first = *first ? *first : pod;
        n++;
    }
    return n;
}

/* What the pod asks for of one resource. */
static int64_t request_of(const struct sched_requests *requests, struct str resource) {
    for (size_t i = 0; i < requests->n; i++)
        if (str_eq(requests->v[i].name, resource))
            return requests->v[i].amount;
    return str_is(resource, "pods") ? 1 : 0;
}

static void add_requests(const struct sim_placement *p, const struct api_pod *pod,
                         const struct api_quantities *offer, double *sums) {
    AUTO(arena_release) struct arena a = {0};
    struct sched_requests requests;
    sched_requests_get(&a, pod, p->cluster->opts.gates, SCHED_REQUESTS_SPEC, &requests);
    for (size_t i = 0; i < offer->n; i++)
        sums[i] += (double)request_of(&requests, offer->v[i].key);
}

/* Fewer nodes like the template could not take all pods that wait, by what they ask for. */
static size_t least_nodes(const struct sim_placement *p, const struct api_object *template) {
    AUTO(arena_release) struct arena a = {0};
    const struct api_quantities *offer =
        &((const struct api_node *)template->body)->status.allocatable;
    double *sums = arena_array(&a, double, offer->n + 1), most = 0;
    for (size_t i = 0; i < p->pods.n; i++)
        if (is_waiting(&p->pods.v[i]))
            add_requests(p, p->pods.v[i].pod->body, offer, sums);
    for (size_t i = 0; i < offer->n; i++)
        if (sim_usage_amount(&offer->v[i]) > 0 &&
            sums[i] / (double)sim_usage_amount(&offer->v[i]) > most)
            most = sums[i] / (double)sim_usage_amount(&offer->v[i]);
    return most > LIMIT_ADDED_NODES ? LIMIT_ADDED_NODES : (size_t)most;
}

/* How many come next: half of what is surely missing, so that a large gap takes few steps, and in
 * the end one by one. */
static size_t next_count(const struct sim_placement *p, const struct api_object *template,
                         size_t room) {
    size_t half = least_nodes(p, template) / 2;
    return half < 1 ? 1 : half > room ? room : half;
}

/* A name that no node has, and that tells where it comes from. */
static struct str next_name(struct sim_placement *p, struct arena *a, struct str base,
                            size_t *number) {
    for (;;) {
        struct str name = arena_printf(a, "%.*s-%zu", STR_ARG(base), (*number)++);
        if (!sim_cluster_find(p->cluster, API_T_node, STR(""), name))
            return name;
    }
}

/* The template under another name, by which pods can ask for it, too. */
static const struct api_object *node_of(const struct api_object *template, struct str name) {
    struct api_object *o = api_object_copy(template);
    struct api_object_meta *meta = api_own_meta(o);
    meta->name = meta->uid = arena_str(&o->arena, name);
    labels_put(&o->arena, &meta->labels, (struct label){STR("kubernetes.io/hostname"), meta->name});
    return api_publish(o);
}

static void add_nodes(struct sim_placement *p, const struct api_object *template, size_t count,
                      size_t *number) {
    AUTO(arena_release) struct arena a = {0};
    for (size_t i = 0; i < count; i++) {
        const struct api_object *node =
            node_of(template, next_name(p, &a, template->meta->name, number));
        sched_set(p->sched, node);
        api_object_unref(node);
    }
    p->last_change = clock_wall(&p->clock->clock);
    sim__placement_continue(p);
}

void sim_headroom_nodes(struct sim_placement *p, const struct api_object *template, struct arena *a,
                        struct sim_headroom *out) {
    const struct sim_placement_pod *first;
    size_t number = 0, added = 0, waiting = count_waiting(p, &first), before = SIZE_MAX;
    *out = (struct sim_headroom){0};
    while (waiting && waiting < before && out->count < LIMIT_ADDED_NODES) {
        before = waiting;
        added = next_count(p, template, LIMIT_ADDED_NODES - out->count);
        add_nodes(p, template, added, &number);
        out->count += added;
        waiting = count_waiting(p, &first);
    }
    out->waiting = waiting;
    out->is_limited = waiting && waiting < before;
    if (!waiting)
        return;
    out->count -= out->is_limited ? 0 : added; /* the last ones helped nobody */
    out->message = arena_str(a, first->message);
}
