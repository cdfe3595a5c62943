/*
 * What is left on the node. Extended resources that the node does not know are not its business
 * (others hand them out), so a container's request of one is taken off before anything is added up.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/lifecycle, func removeMissingExtendedResources.
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/noderesources, func Fits.
 */
#include <stdlib.h>

#include "feature/feature.h"
#include "kubelet/kubelet_int.h"
#include "sched/requests.h"

static int compare_key(const void *name, const void *entry) {
    return str_cmp(*(const struct str *)name, ((const struct api_quantity *)entry)->key);
}

static const struct quantity *allocatable(const struct kubelet__check *c, struct str name) {
    const struct api_quantities *list = &c->state->node->status.allocatable;
    const struct api_quantity *found =
        list->n ? bsearch(&name, list->v, list->n, sizeof *list->v, compare_key) : NULL;
    return found ? &found->value : NULL;
}

/* Resources that a claim brings to containers, which the scheduler made for the pod. */
struct brought {
    const struct api_container_extended_resource_request **v; /* sorted */
    size_t n;
};

static int compare_mapping(const void *a, const void *b) {
    const struct api_container_extended_resource_request *x =
        *(const struct api_container_extended_resource_request *const *)a;
    const struct api_container_extended_resource_request *y =
        *(const struct api_container_extended_resource_request *const *)b;
    int order = str_cmp(x->container_name, y->container_name);
    return order ? order : str_cmp(x->resource_name, y->resource_name);
}

static struct brought brought_by_claim(const struct kubelet__check *c) {
    const struct api_pod_extended_resource_claim_status *claim =
        c->pod->status.extended_resource_claim_status;
    struct brought out = {0};
    if (!claim || !feature_enabled(c->ctx->gates, FEATURE_DRAExtendedResource))
        return out;
    out.v = arena_array(c->ctx->arena, const struct api_container_extended_resource_request *,
                        claim->request_mappings.n);
    for (; out.n < claim->request_mappings.n; out.n++)
        out.v[out.n] = &claim->request_mappings.v[out.n];
    if (out.n)
        qsort(out.v, out.n, sizeof *out.v, compare_mapping);
    return out;
}

static bool is_brought(const struct brought *all, struct str resource, struct str container) {
    const struct api_container_extended_resource_request wanted = {.container_name = container,
                                                                   .resource_name = resource},
                                                         *key = &wanted;
    return all->n && bsearch(&key, all->v, all->n, sizeof *all->v, compare_mapping);
}

static bool is_left_out(const struct kubelet__check *c, const struct brought *all, struct str name,
                        struct str container) {
    bool extended = sched_resource_is_extended(name);
    bool of_class = str_starts(name, STR("deviceclass.resource.kubernetes.io/"));
    return ((extended || of_class) && is_brought(all, name, container)) ||
           (extended && !allocatable(c, name));
}

static void filter_containers(const struct kubelet__check *c, const struct brought *all,
                              struct api_container_list *list) {
    struct api_container *v = arena_array(c->ctx->arena, struct api_container, list->n);
    for (size_t i = 0; i < list->n; i++) {
        v[i] = list->v[i];
        struct api_quantities *requests = &v[i].resources.requests;
        struct api_quantities kept = {arena_array(c->ctx->arena, struct api_quantity, requests->n),
                                      0};
        for (size_t k = 0; k < requests->n; k++)
            if (!is_left_out(c, all, requests->v[k].key, v[i].name))
                kept.v[kept.n++] = requests->v[k];
        *requests = kept;
    }
    list->v = v;
}

static void get_requests(const struct kubelet__check *c, struct sched_requests *out) {
    struct api_pod *pod = arena_copy(c->ctx->arena, c->pod, sizeof *pod);
    struct brought all = brought_by_claim(c);
    filter_containers(c, &all, &pod->spec.containers);
    filter_containers(c, &all, &pod->spec.init_containers);
    sched_requests_get(c->ctx->arena, pod, c->ctx->gates, SCHED_REQUESTS_CLAIMS, out);
}

/* Adds what a pod on the node uses of the resources that are wanted; both lists are by name. */
static void add_used(const struct kubelet__check *c, const struct api_pod *other,
                     const struct sched_requests *wanted, int64_t *used) {
    struct sched_requests theirs;
    sched_requests_get(c->ctx->arena, other, c->ctx->gates,
                       SCHED_REQUESTS_RESIZE | SCHED_REQUESTS_CLAIMS, &theirs);
    for (size_t i = 0, k = 0; i < wanted->n && k < theirs.n;) {
        int order = str_cmp(wanted->v[i].name, theirs.v[k].name);
        if (order == 0)
            used[i] += theirs.v[k].amount;
        i += order <= 0;
        k += order >= 0;
    }
}

static int64_t capacity(const struct kubelet__check *c, struct str name) {
    const struct quantity *q = allocatable(c, name);
    if (!q)
        return 0;
    return str_is(name, "cpu") ? quantity_milli_value(q) : quantity_value(q);
}

static void check_resource(struct kubelet__check *c, const struct sched_request *wanted,
                           int64_t used) {
    struct kubelet_failure f = {
        .code = KUBELET_RESOURCE,
        .resource = wanted->name,
        .requested = wanted->amount,
        .used = used,
        .capacity = capacity(c, wanted->name),
    };
    if (wanted->amount > 0 && wanted->amount > f.capacity - used)
        kubelet__fail(c, &f);
}

static void check_pod_count(struct kubelet__check *c) {
    struct sched_request one = {STR("pods"), 1};
    check_resource(c, &one, (int64_t)c->state->pod_count);
}

/* cpu, memory and ephemeral-storage are looked at in this order, then the others. */
static size_t rank(struct str name) {
    static const char *const first[] = {"cpu", "memory", "ephemeral-storage"};
    size_t i = 0;
    while (i < 3 && !str_is(name, first[i]))
        i++;
    return i;
}

void kubelet__check_resources(struct kubelet__check *c) {
    struct sched_requests wanted;
    check_pod_count(c);
    get_requests(c, &wanted);
    int64_t *used = arena_array(c->ctx->arena, int64_t, wanted.n);
    for (size_t i = 0; wanted.n > 0 && i < c->state->pod_count; i++)
        add_used(c, c->state->pods[i], &wanted, used);
    for (size_t r = 0; r <= 3; r++)
        for (size_t i = 0; i < wanted.n; i++)
            if (rank(wanted.v[i].name) == r)
                check_resource(c, &wanted.v[i], used[i]);
}
