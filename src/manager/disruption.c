/*
 * PodDisruptionBudgets: how many of their pods may be evicted; and pods that were to be disrupted,
 * and were not.
 *
 * Follows k8s.io/kubernetes pkg/controller/disruption, func (*DisruptionController) trySync.
 * Follows k8s.io/kubernetes pkg/controller/disruption, func (*DisruptionController)
 * syncStalePodDisruption.
 */
#include "base/clock.h"
#include "base/map.h"
#include "manager/disruption_int.h"
#include "manager/members_int.h"
#include "manager/pods_int.h"
#include "registry/registry.h"

/* A pod that should be disrupted is not any more after this. */
#define STALE_AFTER (2 * 60 * CLOCK_SECOND)

struct disruption {
    struct manager__base base; /* keys: budgets */
    struct workqueue *stale;   /* keys: pods */
    struct informer *pods, *deployments, *replica_sets, *stateful_sets, *controllers;
    size_t found;                   /* budgets of the pod that is looked at */
    const struct api_object *first; /* of these, by its name */
};

/* ---- how many pods there should be ---- */

/* Whose size counts for a pod. */
struct scale {
    struct str uid;
    int32_t replicas;
};

static int32_t replicas_or_one(struct api_opt_i32 replicas) {
    return replicas.set ? replicas.v : 1;
}

static const struct api_object *find_owner(const struct informer *i, struct str namespace,
                                           const struct api_owner_reference *ref) {
    const struct api_object *o = informer_get(i, namespace, ref->name);
    return o && str_eq(o->meta->uid, ref->uid) ? o : NULL;
}

static bool is_kind(const struct api_owner_reference *ref, const char *group, const char *kind) {
    return str_is(ref->kind, kind) && str_is(registry_group_of(ref->api_version), group);
}

static bool scale_of_set(const struct disruption *c, const struct api_object *o,
                         struct scale *out) {
    const struct api_owner_reference *ref = api_object_controller(o);
    const struct api_object *d = ref && is_kind(ref, "apps", "Deployment")
                                     ? find_owner(c->deployments, o->meta->namespace, ref)
                                     : NULL;
    if (d)
        *out = (struct scale){
            d->meta->uid, replicas_or_one(((const struct api_deployment *)d->body)->spec.replicas)};
    else
        *out = (struct scale){
            o->meta->uid,
            replicas_or_one(((const struct api_replica_set *)o->body)->spec.replicas)};
    return true;
}

static bool scale_of_stateful_set(const struct disruption *c, const struct api_object *o,
                                  struct scale *out) {
    const struct api_stateful_set *set = o->body;
    (void)c;
    *out = (struct scale){o->meta->uid, replicas_or_one(set->spec.replicas)};
    return true;
}

static bool scale_of_controller(const struct disruption *c, const struct api_object *o,
                                struct scale *out) {
    const struct api_replication_controller *rc = o->body;
    (void)c;
    *out = (struct scale){o->meta->uid, replicas_or_one(rc->spec.replicas)};
    return true;
}

static bool scale_of_deployment(const struct disruption *c, const struct api_object *o,
                                struct scale *out) {
    const struct api_deployment *d = o->body;
    (void)c;
    *out = (struct scale){o->meta->uid, replicas_or_one(d->spec.replicas)};
    return true;
}

/* The size of a pod's controller; false, and *why, if it has none. */
static bool find_scale(const struct disruption *c, struct arena *a, const struct api_object *pod,
                       struct scale *out, struct str *why) {
    const struct api_owner_reference *ref = api_object_controller(pod);
    const struct {
        const char *group, *kind;
        const struct informer *informer;
        bool (*scale)(const struct disruption *, const struct api_object *, struct scale *);
    } finders[] = {
        {"", "ReplicationController", c->controllers, scale_of_controller},
        {"apps", "ReplicaSet", c->replica_sets, scale_of_set},
        {"apps", "StatefulSet", c->stateful_sets, scale_of_stateful_set},
        {"apps", "Deployment", c->deployments, scale_of_deployment},
    };
    for (size_t i = 0; i < sizeof finders / sizeof *finders; i++) {
        if (!is_kind(ref, finders[i].group, finders[i].kind))
            continue;
        const struct api_object *o = find_owner(finders[i].informer, pod->meta->namespace, ref);
        if (o)
            return finders[i].scale(c, o, out);
        *why = arena_printf(a, "found no controllers for pod \"%.*s\"", STR_ARG(pod->meta->name));
        return false;
    }
    const struct api_kind *kind = api_kind_find(ref->api_version, ref->kind);
    struct str group = registry_group_of(ref->api_version);
    if (kind)
        *why = arena_printf(a, "%s%s%.*s does not implement the scale subresource", kind->plural,
                            group.n ? "." : "", STR_ARG(group));
    else
        *why = arena_printf(a, "no matches for kind \"%.*s\" in version \"%.*s\"",
                            STR_ARG(ref->kind), STR_ARG(ref->api_version));
    return false;
}

/* The sum over the controllers of pods; *unmanaged tells of those without one. -1, and *why. */
static int32_t expected_scale(const struct disruption *c, struct arena *a,
                              const struct manager__objects *pods, bool *unmanaged,
                              struct str *why) {
    AUTO(map_release) struct map seen = MAP_INIT(c->base.manager->seed);
    int32_t sum = 0;
    for (size_t i = 0; i < pods->n; i++) {
        const struct api_owner_reference *ref = api_object_controller(pods->v[i]);
        struct scale scale;
        if (!ref) {
            *unmanaged = true;
            continue;
        }
        if (map_get_const(&seen, ref->uid))
            continue;
        if (!find_scale(c, a, pods->v[i], &scale, why))
            return -1;
        map_put_const(&seen, ref->uid, ref);
        if (!map_get_const(&seen, scale.uid) || str_eq(scale.uid, ref->uid))
            sum += scale.replicas;
        map_put_const(&seen, scale.uid, ref);
    }
    return sum;
}

/* Fills expected_pods and desired_healthy; false, and *why. */
static bool expect(const struct disruption *c, struct arena *a,
                   const struct api_pod_disruption_budget *pdb, const struct manager__objects *pods,
                   struct api_pod_disruption_budget_status *s, bool *unmanaged, struct str *why) {
    const struct api_int_or_str *most = pdb->spec.max_unavailable, *least = pdb->spec.min_available;
    if (!most && !(least && least->is_str)) {
        s->expected_pods = least ? (int32_t)pods->n : 0;
        s->desired_healthy = least ? least->i : 0;
        return true;
    }
    s->expected_pods = expected_scale(c, a, pods, unmanaged, why);
    if (s->expected_pods < 0)
        return false;
    s->desired_healthy = most ? s->expected_pods - disruption__resolve(most, s->expected_pods)
                              : disruption__resolve(least, s->expected_pods);
    if (s->desired_healthy < 0)
        s->desired_healthy = 0;
    return true;
}

/* ---- one budget ---- */

static void send_status(struct work *w, const struct api_object *o,
                        const struct api_pod_disruption_budget_status *status) {
    struct api_object *draft = api_object_derive(o);
    struct api_pod_disruption_budget *pdb = api_own_body(draft);
    api_struct_copy(&draft->arena, &api_types[API_T_pod_disruption_budget_status], status,
                    &pdb->status);
    work_update(w, draft, "status", NULL, NULL);
}

static struct manager__objects pods_of(const struct disruption *c, struct arena *a,
                                       const struct api_object *o) {
    return members__find(manager__members(c->base.manager, c->pods, false), a, o->meta->namespace,
                         manager__selector(c, o));
}

static void tell(const struct disruption *c, struct arena *a, const struct api_object *o,
                 const struct manager__objects *pods, bool unmanaged) {
    const struct api_pod_disruption_budget *pdb = o->body;
    if (!pods->n)
        events_say(c->base.events, o, EVENTS_NORMAL, "NoPods", "No matching pods found");
    if (!unmanaged)
        return;
    struct str selector = disruption__selector_text(a, pdb->spec.selector);
    events_say(c->base.events, o, EVENTS_WARNING, "UnmanagedPods",
               "Pods selected by this PodDisruptionBudget (selector: %.*s) were found to be "
               "unmanaged. As a result, the status of the PDB cannot be calculated correctly, "
               "which may result in undefined behavior. To account for these pods please set "
               "\".spec.minAvailable\" field of the PDB to an integer value.",
               STR_ARG(selector));
}

/* A controller that is not there may not have been told of yet; other reasons stay until something
 * changes. */
static void give_up(struct disruption *c, struct work *w, const struct api_object *o,
                    struct str why) {
    struct api_pod_disruption_budget_status status;
    events_say(c->base.events, o, EVENTS_WARNING, "CalculateExpectedPodCountFailed",
               "Failed to calculate the number of expected pods: %.*s", STR_ARG(why));
    if (disruption__fail_safe(work_arena(w), o, why, manager__now(c->base.manager), &status))
        send_status(w, o, &status);
    if (str_starts(why, STR("found no controllers")))
        work_fail(w, "%.*s", STR_ARG(why));
}

static void sync(void *self, struct work *w, const struct api_object *o) {
    struct disruption *c = self;
    struct arena *a = work_arena(w);
    struct api_pod_disruption_budget_status figures = {0}, status;
    struct disruption__disrupted disrupted;
    bool unmanaged = false;
    struct str why = {0};
    int64_t now = manager__now(c->base.manager);
    struct manager__objects pods = pods_of(c, a, o);
    bool is_known = expect(c, a, o->body, &pods, &figures, &unmanaged, &why);
    tell(c, a, o, &pods, is_known && unmanaged);
    if (!is_known) {
        give_up(c, w, o, why);
        return;
    }
    disruption__disrupted(a, o->body, &pods, now, &disrupted);
    for (size_t i = 0; i < disrupted.late.n; i++)
        events_say(c->base.events, disrupted.late.v[i], EVENTS_WARNING, "NotDeleted",
                   "Pod was expected by PDB %.*s/%.*s to be deleted but it wasn't",
                   STR_ARG(o->meta->namespace), STR_ARG(o->meta->namespace));
    figures.disrupted_pods = disrupted.pods;
    figures.current_healthy = disruption__count_healthy(&pods, &disrupted.pods);
    if (disruption__status(a, o, &figures, now, &status))
        send_status(w, o, &status);
    if (disrupted.recheck)
        work_again_after(w, disrupted.recheck);
}

/* ---- pods that were to be disrupted ---- */

/* In how many nanoseconds the condition of a pod is stale; negative: it has none that may be. */
static int64_t stale_in(const struct disruption *c, const struct api_object *pod) {
    const struct api_pod_condition *d = manager__pod_condition(pod, "DisruptionTarget");
    if (pod->meta->deletion_timestamp.set || api_pod_has_ended(pod->body) || !d ||
        !str_is(d->status, "True") || str_is(d->reason, "TerminationByKubelet"))
        return -1;
    int64_t stale_at = clock_after(manager__time_ns(d->last_transition_time), STALE_AFTER);
    int64_t left = clock_until(stale_at, manager__now(c->base.manager));
    return left > 0 ? left : 0;
}

static void clear_condition(struct disruption *c, struct work *w, const struct api_object *o) {
    struct api_object *draft = api_object_derive(o);
    struct api_pod_condition_list *list =
        &((struct api_pod *)api_own_body(draft))->status.conditions;
    struct api_pod_condition_list old = *list;
    list->v = arena_array(&draft->arena, struct api_pod_condition, old.n);
    for (size_t i = 0; i < old.n; i++) {
        list->v[i] = old.v[i];
        if (str_is(old.v[i].type, "DisruptionTarget"))
            list->v[i] = (struct api_pod_condition){
                .type = old.v[i].type,
                .status = STR("False"),
                .observed_generation = o->meta->generation,
                .last_transition_time = manager__time(manager__now(c->base.manager)),
            };
    }
    work_update(w, draft, "status", NULL, NULL);
}

static void sync_stale(void *self, struct work *w, const struct api_object *o) {
    struct disruption *c = self;
    int64_t left = stale_in(c, o);
    if (left > 0)
        work_again_after(w, left);
    else if (left == 0)
        clear_condition(c, w, o);
}

/* ---- what informers tell ---- */

static const struct api_label_selector *selector_of(struct arena *a, const struct api_object *o) {
    (void)a;
    return ((const struct api_pod_disruption_budget *)o->body)->spec.selector;
}

static void found_budget(void *self, const struct api_object *budget) {
    struct disruption *c = self;
    if (!c->found++ || str_cmp(budget->meta->name, c->first->meta->name) < 0)
        c->first = budget;
    manager__add_deleted(c, budget);
}

/* All of them are looked after; but a pod that has several cannot be evicted. */
static void enqueue_budgets(struct disruption *c, const struct api_object *pod) {
    c->found = 0;
    manager__each_adopter(c, pod, found_budget);
    if (c->found > 1)
        events_say(c->base.events, pod, EVENTS_WARNING, "MultiplePodDisruptionBudgets",
                   "Pod \"%.*s\"/\"%.*s\" matches multiple PodDisruptionBudgets.  Chose \"%.*s\" "
                   "arbitrarily.",
                   STR_ARG(pod->meta->namespace), STR_ARG(pod->meta->name),
                   STR_ARG(c->first->meta->name));
    c->first = NULL;
}

static void pod_set(void *self, const struct api_object *old, const struct api_object *pod) {
    struct disruption *c = self;
    int64_t left = stale_in(c, pod);
    if (old && !labels_equal(&old->meta->labels, &pod->meta->labels))
        enqueue_budgets(c, old);
    enqueue_budgets(c, pod);
    if (left >= 0)
        workqueue_add_after(c->stale, pod->meta->namespace, pod->meta->name, left);
}

static void pod_deleted(void *self, const struct api_object *last) {
    enqueue_budgets(self, last);
}

const struct manager__controller manager__disruption = {
    .size = sizeof(struct disruption),
    .component = "controllermanager",
    .queues = {{"disruption", sync, .names = API_T_pod_disruption_budget, .workers = 1},
               {"stale_pod_disruption", sync_stale, .names = API_T_pod,
                .at = offsetof(struct disruption, stale), .workers = 1}},
    .kinds = {{API_T_pod_disruption_budget, .set = manager__add_set},
              {API_T_pod, .at = offsetof(struct disruption, pods), .set = pod_set,
               .deleted = pod_deleted},
              {API_T_deployment, .at = offsetof(struct disruption, deployments)},
              {API_T_replica_set, .at = offsetof(struct disruption, replica_sets)},
              {API_T_stateful_set, .at = offsetof(struct disruption, stateful_sets)},
              {API_T_replication_controller, .at = offsetof(struct disruption, controllers)}},
    .selector = selector_of,
};
