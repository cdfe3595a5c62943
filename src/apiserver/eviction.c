/*
 * Eviction: deleting a pod if its disruption budget allows it.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/pod/storage, func (*EvictionREST) Create,
 * func (*EvictionREST) checkAndDecrement, func addConditionAndDeletePod, func canIgnorePDB.
 */
#include "api/budget.h"
#include "apiserver/apiserver_int.h"

/* More unconfirmed evictions than this are too many for one budget. */
enum { DISRUPTED_MOST = 2000 };

/* An eviction under way. */
struct eviction {
    struct apiserver__call *call;
    const struct api_object *pod;    /* as stored */
    const struct api_object *budget; /* that guards it, or NULL */
    size_t budgets;
    bool is_spare; /* the budget lets it go uncounted, as it serves nobody */
    const struct api_delete_options *options;
    bool dry_run;
};

/* ---- budgets ---- */

static bool find_budget(void *ctx, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct eviction *e = ctx;
    const struct api_pod_disruption_budget *b = o->body;
    struct selector *sel = NULL;
    if (selector_compile(&a, b->spec.selector, &sel, NULL) == 0 &&
        selector_matches(sel, &e->pod->meta->labels)) {
        e->budget = o;
        e->budgets++;
    }
    return true;
}

static const struct api_kind *budget_kind(void) {
    return api_kind_find(STR("policy/v1"), STR("PodDisruptionBudget"));
}

static struct registry_failure with_cause(struct arena *a, struct registry_failure f,
                                          struct str message) {
    struct registry_cause *cause = arena_new(a, struct registry_cause);
    *cause = (struct registry_cause){.reason = STR("DisruptionBudget"), .message = message};
    f.further = cause;
    f.further_count = 1;
    return f;
}

static struct registry_failure forbidden(struct arena *a, struct str name, const char *why,
                                         const char *cause) {
    struct registry_failure f =
        apiserver__failure(a, ERR_FORBIDDEN, "poddisruptionbudget.policy \"%.*s\" is forbidden: %s",
                           STR_ARG(name), why);
    f.group = STR("policy");
    f.kind = STR("poddisruptionbudget");
    f.name = name;
    return with_cause(a, f,
                      arena_printf(a,
                                   "The disruption budget %.*s does not allow evicting pods "
                                   "currently: %s",
                                   STR_ARG(name), cause));
}

static const struct api_condition *allowed_condition(const struct api_pod_disruption_budget *b) {
    for (size_t i = 0; i < b->status.conditions.n; i++)
        if (str_is(b->status.conditions.v[i].type, "DisruptionAllowed"))
            return &b->status.conditions.v[i];
    return NULL;
}

/* Why nothing may be disrupted now. */
static struct str exhausted(struct arena *a, const struct api_pod_disruption_budget *b) {
    const struct api_condition *c = allowed_condition(b);
    struct str name = b->metadata.name;
    bool told = c && str_is(c->status, "False") && c->message.n;
    if (told && str_is(c->reason, "SyncFailed"))
        return arena_printf(a,
                            "The disruption budget %.*s does not allow evicting pods currently "
                            "because it failed sync: %.*s",
                            STR_ARG(name), STR_ARG(c->message));
    if (b->status.current_healthy <= b->status.desired_healthy)
        return arena_printf(a,
                            "The disruption budget %.*s needs %d healthy pods and has %d currently",
                            STR_ARG(name), b->status.desired_healthy, b->status.current_healthy);
    if (told)
        return arena_printf(a,
                            "The disruption budget %.*s does not allow evicting pods currently "
                            "(%.*s): %.*s",
                            STR_ARG(name), STR_ARG(c->reason), STR_ARG(c->message));
    return arena_printf(a, "The disruption budget %.*s does not allow evicting pods currently",
                        STR_ARG(name));
}

static struct registry_failure violates(struct arena *a) {
    return apiserver__failure(a, ERR_TOO_MANY,
                              "Cannot evict pod as it would violate the pod's disruption budget.");
}

/* What the budget allows is not known yet. */
static struct registry_failure try_later(struct arena *a, struct str name) {
    struct registry_failure f = violates(a);
    f.retry_after = 10;
    return with_cause(
        a, f,
        arena_printf(a, "The disruption budget %.*s is still being processed by the server.",
                     STR_ARG(name)));
}

static struct registry_failure check_budget(struct arena *a,
                                            const struct api_pod_disruption_budget *b) {
    struct str name = b->metadata.name;
    if (b->status.observed_generation < b->metadata.generation)
        return try_later(a, name);
    if (b->status.disruptions_allowed < 0)
        return forbidden(a, name, "pdb disruptions allowed is negative",
                         "pdb disruptions allowed is negative");
    if (b->status.disrupted_pods.n > DISRUPTED_MOST)
        return forbidden(a, name,
                         "DisruptedPods map too big - too many evictions not confirmed by PDB "
                         "controller",
                         "too many pending evictions not confirmed by PDB controller");
    if (!b->status.disruptions_allowed)
        return with_cause(a, violates(a), exhausted(a, b));
    return (struct registry_failure){.code = ERR_NONE};
}

/* Counts the disruption in the budget, for its controller to see. */
static void record(struct eviction *e) {
    struct api_object *copy = api_object_copy(e->budget);
    struct api_pod_disruption_budget *b = api_own_body(copy);
    struct api_times old = b->status.disrupted_pods, list;
    struct str name = e->pod->meta->name;
    list.v = arena_array(&copy->arena, struct api_time_entry, old.n + 1);
    list.n = 0;
    size_t i = 0;
    while (i < old.n && str_cmp(old.v[i].key, name) < 0)
        list.v[list.n++] = old.v[i++];
    list.v[list.n++] = (struct api_time_entry){arena_str(&copy->arena, name), e->call->request.now};
    for (i += i < old.n && str_eq(old.v[i].key, name); i < old.n; i++)
        list.v[list.n++] = old.v[i];
    b->status.disrupted_pods = list;
    if (--b->status.disruptions_allowed == 0)
        api_conditions_set(&copy->arena, &b->status.conditions,
                           api_budget_condition(&b->status, e->call->request.now));
    apiserver__put_status(e->call, copy);
    e->call->out->is_written = true;
}

static bool is_ready(const struct api_pod *pod) {
    for (size_t i = 0; i < pod->status.conditions.n; i++)
        if (str_is(pod->status.conditions.v[i].type, "Ready"))
            return str_is(pod->status.conditions.v[i].status, "True");
    return false;
}

/* A pod that serves nobody may go without being counted. */
static bool passes_unready(const struct eviction *e) {
    const struct api_pod_disruption_budget *b = e->budget->body;
    return !is_ready(e->pod->body) &&
           (str_is(b->spec.unhealthy_pod_eviction_policy, "AlwaysAllow") ||
            (b->status.current_healthy >= b->status.desired_healthy &&
             b->status.desired_healthy > 0));
}

static bool needs_no_budget(const struct api_object *o) {
    const struct api_pod *pod = o->body;
    return api_pod_has_ended(pod) || str_is(pod->status.phase, "Pending") ||
           o->meta->deletion_timestamp.set;
}

static struct registry_failure ask_budget(struct eviction *e) {
    struct arena *a = e->call->r->arena;
    if (needs_no_budget(e->pod))
        return (struct registry_failure){.code = ERR_NONE};
    registry_view_each(&e->call->s->view, budget_kind(), e->pod->meta->namespace, find_budget, e);
    if (e->budgets > 1)
        return apiserver__failure(a, ERR_UNTOLD,
                                  "This pod has more than one PodDisruptionBudget, which the "
                                  "eviction subresource does not support.");
    e->is_spare = e->budget && passes_unready(e);
    if (!e->budget || e->is_spare)
        return (struct registry_failure){.code = ERR_NONE};
    struct registry_failure f = check_budget(a, e->budget->body);
    if (!f.code && !e->dry_run)
        record(e);
    return f;
}

/* ---- the pod ---- */

/* The pod with the mark of an eviction, which one that was evicted before has already.
 *
 * Follows k8s.io/kubernetes pkg/api/v1/pod, func UpdatePodCondition. */
static struct api_object *marked(const struct eviction *e) {
    struct api_object *o = api_object_copy(e->pod);
    struct api_pod_status *status = &((struct api_pod *)api_own_body(o))->status;
    struct api_pod_condition_list old = status->conditions, list;
    struct api_pod_condition mark = {.type = STR("DisruptionTarget"),
                                     .status = STR("True"),
                                     .reason = STR("EvictionByEvictionAPI"),
                                     .message = STR("Eviction API: evicting"),
                                     .last_transition_time = e->call->request.now};
    list.v = arena_array(&o->arena, struct api_pod_condition, old.n + 1);
    size_t at = old.n;
    for (list.n = 0; list.n < old.n; list.n++) {
        list.v[list.n] = old.v[list.n];
        if (str_eq(old.v[list.n].type, mark.type))
            at = list.n;
    }
    if (at == old.n)
        list.n++;
    else if (str_eq(old.v[at].status, mark.status))
        mark.last_transition_time = old.v[at].last_transition_time;
    list.v[at] = mark;
    status->conditions = list;
    return o;
}

/* Stores the mark, unless it is there. */
static void put_mark(const struct eviction *e) {
    struct apiserver__call *c = e->call;
    struct api_object *o = marked(e);
    if (apiserver__is_unchanged(o, e->pod))
        api_object_free(o);
    else
        store_put(c->s->opts.store, c->r->resource->storage, o);
}

/* Is it this very pod that is to go? If not, the deletion will say so. */
static bool is_meant(const struct eviction *e) {
    const struct api_preconditions *p = e->options->preconditions;
    const struct api_object_meta *m = e->pod->meta;
    return !p || ((!p->uid.p || str_eq(p->uid, m->uid)) &&
                  (!p->resource_version.p || str_eq(p->resource_version, m->resource_version)));
}

/* A spare pod that turns out to be another one may serve somebody: its budget is to be asked
 * again. */
static void answer_failure(struct eviction *e) {
    struct apiserver__call *c = e->call;
    const struct api_preconditions *p = e->options->preconditions;
    if (!e->is_spare || c->out->failure.code != ERR_CONFLICT || (p && p->resource_version.p))
        return;
    apiserver__fail(c->out, try_later(c->r->arena, e->budget->meta->name));
}

static void evict(struct eviction *e) {
    struct apiserver__call *c = e->call;
    c->r->delete = e->options;
    c->request.is_admitted = true;
    c->r->options.dry_run = e->dry_run;
    if (!e->dry_run && is_meant(e))
        put_mark(e);
    apiserver__delete(c);
    if (c->out->answer == APISERVER_FAILURE) {
        answer_failure(e);
        return;
    }
    c->out->answer = APISERVER_SUCCESS;
    c->out->code = 201;
}

/* Everything that can be said against it. A budget that allows it has counted it by then. */
static struct registry_failure check(struct eviction *e) {
    const struct apiserver__call *c = e->call;
    struct registry_failure f = registry_admit(
        &c->s->registry, &c->request, c->r->arena,
        &(struct registry_subject){.resource = c->r->resource->kind, .object = c->r->object});
    if (f.code)
        return f;
    if (!str_eq(c->r->object->meta->name, c->r->name))
        return registry_bad_request(STR("name in URL does not match name in Eviction object"));
    if (!e->pod)
        return registry_not_found(c->r->arena, c->r->resource->kind, c->r->name);
    return ask_budget(e);
}

void apiserver__evict(struct apiserver__call *c) {
    static const struct api_delete_options none;
    const struct api_eviction *body = c->r->object->body;
    struct eviction e = {.call = c,
                         .pod = apiserver__stored(c),
                         .options = body->delete_options ? body->delete_options : &none};
    e.dry_run = c->r->options.dry_run || e.options->dry_run.n;
    struct registry_failure f = check(&e);
    if (f.code) {
        apiserver__fail(c->out, f);
        return;
    }
    e.pod = apiserver__stored(c);
    evict(&e);
}
