/*
 * What a pod's status says of each container: which states may follow each other, as whom it runs,
 * what it was given; and what is dropped because its gate is off.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateContainerStateTransition,
 * func ValidateInitContainerStateTransition, func ValidateEphemeralContainerStateTransition,
 * func validateContainerStatusUsers, func validateContainerStatusAllocatedResourcesStatus.
 * Follows k8s.io/kubernetes pkg/api/pod, func dropDisabledPodStatusFields.
 */
#include <stdlib.h>

#include "valid/pod/pod_int.h"

/* ---- fields behind gates ---- */

enum { LISTS = 3 };

/* The three lists of a status: containers, init containers, ephemeral containers. */
static void get_lists(const struct api_pod_status *s,
                      const struct api_container_status_list *out[]) {
    out[0] = &s->container_statuses;
    out[1] = &s->init_container_statuses;
    out[2] = &s->ephemeral_container_statuses;
}

/* Empties the field of a container, if it has any; true when it had. With keep nothing is done. */
typedef bool drop_fn(struct api_container_status *c, bool keep);

static bool drop_health(struct api_container_status *c, bool keep) {
    bool had = c->allocated_resources_status.n;
    if (!keep)
        c->allocated_resources_status = (struct api_resource_status_list){0};
    return had;
}

static bool drop_messages(struct api_container_status *c, bool keep) {
    bool had = false;
    for (size_t i = 0; i < c->allocated_resources_status.n; i++) {
        struct api_resource_health_list *list = &c->allocated_resources_status.v[i].resources;
        for (size_t k = 0; k < list->n; k++) {
            had |= list->v[k].message.p != NULL;
            if (!keep)
                list->v[k].message = (struct str){0};
        }
    }
    return had;
}

static bool drop_volume_status(struct api_container_status *c, bool keep) {
    bool had = false;
    for (size_t i = 0; i < c->volume_mounts.n; i++) {
        had |= c->volume_mounts.v[i].volume_status != NULL;
        if (!keep)
            c->volume_mounts.v[i].volume_status = NULL;
    }
    return had;
}

static const struct gated {
    enum feature gate;
    drop_fn *drop;
} gated[] = {
    {FEATURE_ResourceHealthStatus, drop_health},
    {FEATURE_ResourceHealthStatusMessage, drop_messages},
    {FEATURE_ImageVolumeWithDigest, drop_volume_status},
};

static bool walk(const struct api_pod_status *s, drop_fn *drop, bool keep) {
    const struct api_container_status_list *lists[LISTS];
    bool had = false;
    get_lists(s, lists);
    for (size_t l = 0; l < LISTS; l++)
        for (size_t i = 0; i < lists[l]->n; i++)
            had |= drop(&lists[l]->v[i], keep);
    return had;
}

void valid__drop_disabled_status(struct api_pod_status *s, const struct api_pod_status *old,
                                 const struct feature_set *gates) {
    for (size_t i = 0; i < sizeof gated / sizeof *gated; i++)
        if (!feature_enabled(gates, gated[i].gate) && !walk(old, gated[i].drop, true))
            walk(s, gated[i].drop, false);
    if (!feature_enabled(gates, FEATURE_InPlacePodLevelResourcesVerticalScaling) &&
        !old->resources && !old->allocated_resources.v) {
        s->resources = NULL;
        s->allocated_resources = (struct api_quantities){0};
    }
    if (!feature_enabled(gates, FEATURE_DRANodeAllocatableResources) &&
        !old->node_allocatable_resource_claim_statuses.n)
        s->node_allocatable_resource_claim_statuses =
            (struct api_node_allocatable_resource_claim_status_list){0};
    if (!feature_enabled(gates, FEATURE_CSIVolumeHealth) && !old->volume_health.n)
        s->volume_health = (struct api_pod_volume_health_list){0};
}

/* ---- states ---- */

/* Follows k8s.io/kubernetes pkg/api/v1/pod, func FindMatchingContainerRestartRule. */
static const struct api_container_restart_rule *find_rule(const struct api_container *c,
                                                          int32_t code) {
    for (size_t i = 0; i < c->restart_policy_rules.n; i++) {
        const struct api_container_restart_rule_on_exit_codes *codes =
            c->restart_policy_rules.v[i].exit_codes;
        bool among = false;
        for (size_t k = 0; codes && k < codes->values.n; k++)
            among |= codes->values.v[k] == code;
        if (codes && ((among && str_is(codes->operator, "In")) ||
                      (!among && str_is(codes->operator, "NotIn"))))
            return &c->restart_policy_rules.v[i];
    }
    return NULL;
}

static bool policy_restarts(struct str policy, int32_t code) {
    return str_is(policy, "OnFailure") ? code != 0 : !str_is(policy, "Never");
}

static bool is_policy(struct str policy) {
    static const char *const policies[] = {"Always", "OnFailure", "Never", NULL};
    return valid__one_of(policy, policies);
}

/* Follows k8s.io/kubernetes pkg/api/v1/pod, func ContainerShouldRestart. */
static bool should_restart(struct valid *v, const struct api_container *c,
                           const struct api_pod_spec *spec, int32_t code) {
    if (c->restart_policy.p) {
        const struct api_container_restart_rule *rule = find_rule(c, code);
        if (rule && str_is(rule->action, "Restart"))
            return true;
        if (rule && str_is(rule->action, "RestartAllContainers") &&
            feature_enabled(v->gates, FEATURE_RestartAllContainersOnContainerExits))
            return true;
        if (is_policy(c->restart_policy))
            return policy_restarts(c->restart_policy, code);
    }
    return policy_restarts(spec->restart_policy, code);
}

/* What decides whether a container that ended may run again. */
struct restarts {
    struct valid *v;
    const struct api_pod_spec *spec;
    const struct api_container_list *containers; /* NULL: of ephemeral ones, none may */
    bool has_rules;
    struct seen by_name; /* the containers, the first of each name */
};

static void note_containers(struct seen *by_name, const struct api_container_list *list) {
    seen_init(by_name);
    for (size_t i = 0; list && i < list->n; i++)
        seen_put(by_name, list->v[i].name, &list->v[i]);
}

static bool may_restart(const struct restarts *r, const struct api_container_status *ended) {
    const struct api_container *c = seen_get(&r->by_name, ended->name);
    int32_t code = ended->state.terminated->exit_code;
    if (!r->containers)
        return false;
    if (r->has_rules)
        return c && should_restart(r->v, c, r->spec, code);
    bool is_sidecar =
        r->containers == &r->spec->init_containers && c && str_is(c->restart_policy, "Always");
    return is_sidecar || str_is(r->spec->restart_policy, "Always") ||
           (str_is(r->spec->restart_policy, "OnFailure") && code != 0);
}

static void check_transitions(struct restarts *r, const struct path *p,
                              const struct api_container_status_list *now,
                              const struct api_container_status_list *was) {
    struct seen running;
    seen_init(&running);
    note_containers(&r->by_name, r->containers);
    for (size_t i = 0; i < now->n; i++)
        if (!now->v[i].state.terminated)
            seen_add(&running, now->v[i].name);
    for (size_t i = 0; i < was->n; i++)
        if (was->v[i].state.terminated && seen_get(&running, was->v[i].name) &&
            !may_restart(r, &was->v[i]))
            valid__forbidden(r->v, AT(AT_INDEX(p, i), "state"),
                             "may not be transitioned to non-terminated state");
    seen_release(&r->by_name);
    seen_release(&running);
}

static bool had_rules(const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->init_containers.n; i++) {
        const struct api_container *c = &spec->init_containers.v[i];
        if ((c->restart_policy.p && !str_is(c->restart_policy, "Always")) ||
            c->restart_policy_rules.n)
            return true;
    }
    for (size_t i = 0; i < spec->containers.n; i++)
        if (spec->containers.v[i].restart_policy.p)
            return true;
    return false;
}

static bool restarts_all(const struct api_container_list *list) {
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->v[i].restart_policy_rules.n; k++)
            if (str_is(list->v[i].restart_policy_rules.v[k].action, "RestartAllContainers"))
                return true;
    return false;
}

void valid__container_transitions(struct valid *v, const struct api_pod *pod,
                                  const struct api_pod *old) {
    const struct path *p = AT(NULL, "status");
    const struct api_pod_spec *spec = &old->spec;
    const struct api_pod_status *now = &pod->status, *was = &old->status;
    struct restarts r = {.v = v, .spec = spec, .containers = &spec->containers};
    r.has_rules = feature_enabled(v->gates, FEATURE_ContainerRestartRules) || had_rules(spec);
    bool all = r.has_rules &&
               (feature_enabled(v->gates, FEATURE_RestartAllContainersOnContainerExits) ||
                valid__had_restart_all(spec)) &&
               (restarts_all(&spec->containers) || restarts_all(&spec->init_containers));
    if (!all) {
        check_transitions(&r, AT(p, "containerStatuses"), &now->container_statuses,
                          &was->container_statuses);
        r.containers = &spec->init_containers;
        check_transitions(&r, AT(p, "initContainerStatuses"), &now->init_container_statuses,
                          &was->init_container_statuses);
    }
    r.containers = NULL;
    check_transitions(&r, AT(p, "ephemeralContainerStatuses"), &now->ephemeral_container_statuses,
                      &was->ephemeral_container_statuses);
}

/* ---- users ---- */

static void check_user(struct valid *v, const struct path *p,
                       const struct api_linux_container_user *user) {
    static const int64_t uids[] = {0, UINT32_MAX}, gids[] = {0, INT32_MAX};
    valid__range(v, AT(p, "uid"), user->uid, uids);
    valid__range(v, AT(p, "gid"), user->gid, gids);
    for (size_t i = 0; i < user->supplemental_groups.n; i++)
        valid__range(v, AT_INDEX(AT(p, "supplementalGroups"), i), user->supplemental_groups.v[i],
                     gids);
}

static void check_users(struct valid *v, const struct path *p,
                        const struct api_container_status_list *list, const struct api_pod_os *os) {
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT(AT(AT_INDEX(p, i), "user"), "linux");
        if (!list->v[i].user || !list->v[i].user->linux)
            continue;
        if (os && str_is(os->name, "windows"))
            valid__forbidden(v, at, "cannot be set for a windows pod");
        else if (!os || str_is(os->name, "linux"))
            check_user(v, at, list->v[i].user->linux);
    }
}

/* ---- what containers were given ---- */

#define CLAIM "claim:"

static int compare_key(const void *name, const void *entry) {
    return str_cmp(*(const struct str *)name, ((const struct api_quantity *)entry)->key);
}

const struct quantity *valid__find_request(const struct api_container *c, struct str name) {
    const struct api_quantities *list = &c->resources.requests;
    const struct api_quantity *found =
        list->n ? bsearch(&name, list->v, list->n, sizeof *list->v, compare_key) : NULL;
    return found ? &found->value : NULL;
}

/* What the containers of a list may be given, by name. */
struct given {
    struct valid *v;
    struct seen containers; /* the first of each name */
    struct seen claims;     /* texts of claim_key */
};

/* A claim of a container as a status names it: a, a/request. */
static struct str claim_key(struct arena *a, struct str container, struct str claim,
                            struct str request) {
    return arena_printf(a, "%zu %.*s %.*s%s%.*s", container.n, STR_ARG(container), STR_ARG(claim),
                        request.n ? "/" : "", STR_ARG(request));
}

/* Claims that the scheduler made for the pod bring extended resources that a container requests. */
static void note_made_claim(struct given *g,
                            const struct api_pod_extended_resource_claim_status *made) {
    for (size_t i = 0; made && i < made->request_mappings.n; i++) {
        const struct api_container_extended_resource_request *m = &made->request_mappings.v[i];
        const struct api_container *c = seen_get(&g->containers, m->container_name);
        const struct quantity *amount = c ? valid__find_request(c, m->resource_name) : NULL;
        if (amount && quantity_sign(amount) != 0 && m->request_name.n)
            seen_add(&g->claims,
                     claim_key(g->v->errs->a, c->name, made->resource_claim_name, m->request_name));
    }
}

static void note_claims(struct given *g, const struct api_container_list *list) {
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->v[i].resources.claims.n; k++) {
            const struct api_resource_claim *claim = &list->v[i].resources.claims.v[k];
            seen_add(&g->claims,
                     claim_key(g->v->errs->a, list->v[i].name, claim->name, claim->request));
        }
}

static void check_origin(const struct given *g, const struct path *p, struct str name,
                         const struct api_container *c) {
    bool of_claim = str_starts(name, STR(CLAIM));
    struct str claim = str_sub(name, of_claim ? strlen(CLAIM) : 0, name.n);
    if (of_claim && !seen_get(&g->claims, claim_key(g->v->errs->a, c->name, claim, STR(""))))
        valid__invalid(g->v, p, VALUE_NAMED(name),
                       "must match one of the container's resource claims as "
                       "'claim:<claimName>/<requestName>' when container.resources.claims[*]."
                       "request is set or 'claim:<claimName>' when it is empty");
    if (!of_claim && !valid__find_request(c, name))
        valid__invalid(g->v, p, VALUE_NAMED(name),
                       "must match one of the container's resource requests");
}

static void check_health(struct valid *v, const struct path *p,
                         const struct api_resource_health_list *list) {
    enum { MOST = 1024 };
    static const char *const values[] = {"Healthy", "Unhealthy", "Unknown", NULL};
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_resource_health *h = &list->v[i];
        const struct path *at = AT_INDEX(p, i);
        if (!valid__one_of(h->health, values))
            valid__not_supported(v, AT(at, "health"), VALUE_NAMED(h->health), values);
        if (h->message.p && !h->message.n)
            valid__required(v, AT(at, "message"), "must be non-empty if specified");
        if (h->message.n > MOST)
            valid__too_long(v, AT(at, "message"), MOST);
        if (!seen_add(&seen, h->resource_id))
            valid__duplicate(v, AT(at, "resourceID"), VALUE_NAMED(h->resource_id), NO_DETAIL);
    }
    seen_release(&seen);
}

static void check_given_resources(const struct given *g, const struct path *p,
                                  const struct api_container_status *s) {
    const struct api_resource_status_list *list = &s->allocated_resources_status;
    const struct api_container *c = seen_get(&g->containers, s->name);
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT_INDEX(p, i);
        if (c)
            check_origin(g, AT(at, "name"), list->v[i].name, c);
        check_health(g->v, AT(at, "resources"), &list->v[i].resources);
    }
}

static void check_given(struct valid *v, const struct path *p,
                        const struct api_container_status_list *list,
                        const struct api_container_list *containers,
                        const struct api_pod_extended_resource_claim_status *made) {
    struct given g = {.v = v};
    note_containers(&g.containers, containers);
    seen_init(&g.claims);
    note_claims(&g, containers);
    note_made_claim(&g, made);
    for (size_t i = 0; i < list->n; i++)
        check_given_resources(&g, AT(AT_INDEX(p, i), "allocatedResourcesStatus"), &list->v[i]);
    seen_release(&g.claims);
    seen_release(&g.containers);
}

static void forbid_given(struct valid *v, const struct path *p,
                         const struct api_container_status_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].allocated_resources_status.n)
            valid__forbidden(v, AT(AT_INDEX(p, i), "allocatedResourcesStatus"),
                             "must not be specified in container status");
}

/* ---- volumes that are images ---- */

static void check_image_volumes(struct valid *v, const struct path *p,
                                const struct api_container_status_list *list) {
    enum { MOST = 256 };
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->v[i].volume_mounts.n; k++) {
            const struct api_volume_status *s = list->v[i].volume_mounts.v[k].volume_status;
            const struct path *mount = AT_INDEX(AT(AT_INDEX(p, i), "volumeMounts"), k);
            const struct path *ref =
                AT(AT(AT(mount, "volumeStatus"), "imageVolumeStatus"), "imageRef");
            if (s && s->image && !s->image->image_ref.n)
                valid__required(v, ref, "imageRef must not be empty");
            if (s && s->image && s->image->image_ref.n > MOST)
                valid__too_long(v, ref, MOST);
        }
}

void valid__container_statuses(struct valid *v, const struct api_pod *pod) {
    const struct path *p = AT(NULL, "status"), *main = AT(p, "containerStatuses");
    const struct path *init = AT(p, "initContainerStatuses");
    const struct path *ephemeral = AT(p, "ephemeralContainerStatuses");
    const struct api_pod_status *s = &pod->status;
    check_users(v, main, &s->container_statuses, pod->spec.os);
    check_users(v, init, &s->init_container_statuses, pod->spec.os);
    check_users(v, ephemeral, &s->ephemeral_container_statuses, pod->spec.os);
    check_given(v, main, &s->container_statuses, &pod->spec.containers,
                s->extended_resource_claim_status);
    check_given(v, init, &s->init_container_statuses, &pod->spec.init_containers,
                s->extended_resource_claim_status);
    forbid_given(v, ephemeral, &s->ephemeral_container_statuses);
    if (!feature_enabled(v->gates, FEATURE_ImageVolumeWithDigest))
        return;
    check_image_volumes(v, main, &s->container_statuses);
    check_image_volumes(v, init, &s->init_container_statuses);
    check_image_volumes(v, ephemeral, &s->ephemeral_container_statuses);
}
