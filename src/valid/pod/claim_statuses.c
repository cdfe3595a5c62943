/*
 * What a pod's status says of claims of resources and of volumes.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validatePodResourceClaimStatuses,
 * func validatePodExtendedResourceClaimStatus, func validateNodeAllocatableResourceClaimStatus,
 * func validatePodVolumeHealth, func validateVolumeStatus.
 */
#include "valid/pod/pod_int.h"
#include "valid/resource_int.h"

/* ---- claims that the pod asks for ---- */

static void check_claims(struct valid *v, const struct path *p,
                         const struct api_pod_resource_claim_status_list *list,
                         const struct api_pod_spec *spec) {
    struct seen known, seen;
    seen_init(&known);
    seen_init(&seen);
    for (size_t i = 0; i < spec->resource_claims.n; i++)
        seen_add(&known, spec->resource_claims.v[i].name);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_pod_resource_claim_status *s = &list->v[i];
        const struct path *at = AT_INDEX(p, i);
        if (!seen_get(&known, s->name))
            valid__invalid(v, AT(at, "name"), VALUE_Q(s->name),
                           "must match the name of an entry in `spec.resourceClaims`");
        if (!seen_add(&seen, s->name))
            valid__duplicate(v, AT(at, "name"), VALUE_Q(s->name), NO_DETAIL);
        if (s->resource_claim_name.p)
            valid__dns_subdomain(v, AT(at, "resourceClaimName"), s->resource_claim_name);
    }
    seen_release(&known);
    seen_release(&seen);
}

/* ---- the claim that the scheduler makes for extended resources ---- */

/* Containers by name; a container goes before an init container, and a later one before others. */
static void note_containers(struct seen *known, const struct api_pod_spec *spec) {
    const struct api_container_list *lists[] = {&spec->containers, &spec->init_containers};
    seen_init(known);
    for (size_t l = 0; l < 2; l++)
        for (size_t i = lists[l]->n; i > 0; i--)
            seen_put(known, lists[l]->v[i - 1].name, &lists[l]->v[i - 1]);
}

/* The path of a bad request's name is that of the claim: upstream forgets the mapping. */
static void check_mapping(struct valid *v, const struct path *claim, const struct path *p,
                          const struct api_container_extended_resource_request *m,
                          const struct seen *containers) {
    const struct api_container *c = seen_get(containers, m->container_name);
    if (!c)
        valid__invalid(v, AT(p, "containerName"), VALUE_Q(m->container_name),
                       "must match the name of an entry in spec.initContainers.name or "
                       "spec.containers.name");
    else if (!valid__find_request(c, m->resource_name))
        valid__invalid(v, AT(p, "resourceName"), VALUE_Q(m->resource_name),
                       "must match the extended resource name of an entry in "
                       "spec.initContainers.resources.requests or "
                       "spec.containers.resources.requests");
    valid__dns_label(v, AT(claim, "requestName"), m->request_name);
}

static struct str identity(struct arena *a,
                           const struct api_container_extended_resource_request *m) {
    return arena_printf(a, "%zu %zu %.*s%.*s%.*s", m->container_name.n, m->resource_name.n,
                        STR_ARG(m->container_name), STR_ARG(m->resource_name),
                        STR_ARG(m->request_name));
}

static void check_mappings(struct valid *v, const struct path *p,
                           const struct api_pod_extended_resource_claim_status *s,
                           const struct api_pod_spec *spec) {
    const struct path *list = AT(p, "requestMappings");
    struct seen seen, containers;
    seen_init(&seen);
    note_containers(&containers, spec);
    for (size_t i = 0; i < s->request_mappings.n; i++) {
        const struct api_container_extended_resource_request *m = &s->request_mappings.v[i];
        const struct path *at = AT_INDEX(list, i);
        check_mapping(v, p, at, m, &containers);
        if (seen_add(&seen, identity(v->errs->a, m)))
            continue;
        valid__duplicate(v, AT(at, "containerName"), VALUE_Q(m->container_name), NO_DETAIL);
        valid__duplicate(v, AT(at, "resourceName"), VALUE_Q(m->resource_name), NO_DETAIL);
        valid__duplicate(v, AT(at, "requestName"), VALUE_Q(m->request_name), NO_DETAIL);
    }
    seen_release(&containers);
    seen_release(&seen);
}

static void check_extended(struct valid *v, const struct path *p,
                           const struct api_pod_extended_resource_claim_status *s,
                           const struct api_pod_spec *spec) {
    if (!s)
        return;
    if (!s->request_mappings.n)
        valid__required(v, AT(p, "requestMappings"), "at least one request mapping is required");
    check_mappings(v, p, s, spec);
    if (!s->resource_claim_name.n)
        valid__required(v, AT(p, "resourceClaimName"), NO_DETAIL);
    else
        valid__dns_subdomain(v, AT(p, "resourceClaimName"), s->resource_claim_name);
}

/* ---- claims of what a node shares out itself ---- */

static void check_node_resource(struct valid *v, const struct path *p, struct str name) {
    static const char *const names[] = {"cpu", "memory", NULL};
    if (!valid__one_of(name, names) && !valid__is_huge_page(name))
        valid__invalid(v, AT(p, "name"), VALUE_NAMED(name),
                       "must be a node allocatable resource name");
}

static void check_amount(struct valid *v, const struct path *p, const struct quantity *q) {
    if (q && quantity_sign(q) < 0)
        valid__invalid(v, p, VALUE_Q(valid__quantity_text(v->errs->a, q)), "must be non-negative");
}

static void check_overhead(struct valid *v, const struct path *p,
                           const struct api_node_allocatable_overhead_resources *o) {
    check_node_resource(v, p, o->name);
    if (!o->per_pod && !o->per_container)
        valid__invalid(v, p, VALUE_Q(STR("")),
                       "at least one of perPod or perContainer must be set");
    check_amount(v, AT(p, "perPod"), o->per_pod);
    check_amount(v, AT(p, "perContainer"), o->per_container);
}

/* The claims that the pod names, or that were made for it. */
static void note_claims(struct seen *known, const struct api_pod *pod) {
    const struct api_pod_resource_claim_list *asked = &pod->spec.resource_claims;
    const struct api_pod_resource_claim_status_list *made = &pod->status.resource_claim_statuses;
    seen_init(known);
    for (size_t i = 0; i < asked->n; i++)
        if (asked->v[i].resource_claim_name.p)
            seen_add(known, asked->v[i].resource_claim_name);
    for (size_t i = 0; i < made->n; i++)
        if (made->v[i].resource_claim_name.p)
            seen_add(known, made->v[i].resource_claim_name);
}

static void check_node_claim(struct valid *v, const struct path *p,
                             const struct api_node_allocatable_resource_claim_status *s,
                             const struct seen *known) {
    if (!s->resource_claim_name.n)
        return;
    if (!seen_get(known, s->resource_claim_name))
        valid__invalid(v, AT(p, "resourceClaimName"), VALUE_Q(s->resource_claim_name),
                       "no mapping found in pod reference");
    for (size_t i = 0; i < s->mapping.n; i++) {
        const struct path *at = AT_INDEX(AT(p, "mapping"), i);
        check_node_resource(v, at, s->mapping.v[i].name);
        check_amount(v, AT(at, "quantity"), s->mapping.v[i].quantity);
    }
    for (size_t i = 0; i < s->overhead.n; i++)
        check_overhead(v, AT_INDEX(AT(p, "overhead"), i), &s->overhead.v[i]);
}

static void check_node_claims(struct valid *v, const struct path *p, const struct api_pod *pod) {
    const struct api_node_allocatable_resource_claim_status_list *list =
        &pod->status.node_allocatable_resource_claim_statuses;
    struct seen known;
    note_claims(&known, pod);
    for (size_t i = 0; i < list->n; i++)
        check_node_claim(v, AT_INDEX(p, i), &list->v[i], &known);
    seen_release(&known);
}

/* ---- volumes ---- */

static void check_health_reasons(struct valid *v, const struct path *p,
                                 const struct api_volume_health_condition_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].reason.n)
            valid__condition_reason(v, AT(AT_INDEX(p, i), "reason"), list->v[i].reason);
}

static void check_volume_health(struct valid *v, const struct path *p, const struct api_pod *pod) {
    const struct api_pod_volume_health_list *list = &pod->status.volume_health;
    struct seen volumes;
    seen_init(&volumes);
    for (size_t i = 0; i < pod->spec.volumes.n; i++)
        seen_add(&volumes, pod->spec.volumes.v[i].name);
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT_INDEX(p, i);
        if (list->v[i].name.n && !seen_get(&volumes, list->v[i].name))
            valid__not_found(v, AT(at, "name"), VALUE_Q(list->v[i].name), NO_DETAIL);
        check_health_reasons(v, AT(at, "healthConditions"), &list->v[i].health_conditions);
    }
    seen_release(&volumes);
}

void valid__claim_statuses(struct valid *v, const struct api_pod *pod) {
    const struct path *p = AT(NULL, "status");
    const struct api_pod_status *s = &pod->status;
    check_claims(v, AT(p, "resourceClaimStatuses"), &s->resource_claim_statuses, &pod->spec);
    check_extended(v, AT(p, "extendedResourceClaimStatus"), s->extended_resource_claim_status,
                   &pod->spec);
    if (s->node_allocatable_resource_claim_statuses.n)
        check_node_claims(v, AT(p, "nodeAllocatableResourceClaimStatuses"), pod);
    if (s->volume_health.n)
        check_volume_health(v, AT(p, "volumeHealth"), pod);
}
