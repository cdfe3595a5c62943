/*
 * Resources of a pod as a whole, where it does not say them: what follows from its containers. And
 * the quality of service that all of them together ask for.
 *
 * Follows k8s.io/kubernetes pkg/api/pod, func DefaultPodLevelResources.
 * Follows k8s.io/kubernetes pkg/apis/core/v1, func defaultPodRequests,
 * func defaultHugePagePodLimits.
 * Follows k8s.io/kubernetes pkg/apis/core/helper/qos, func ComputePodQOS.
 */
#include "valid/pod/pod_int.h"
#include "valid/resource_int.h"

/* Adds amounts that the list does not have; both are sorted by name, and the result is in the
 * arena. */
static void add_all(struct arena *a, struct api_quantities *list,
                    const struct api_quantities *more) {
    if (!more->n)
        return;
    struct api_quantity *both = arena_array(a, struct api_quantity, list->n + more->n);
    size_t n = 0, i = 0, j = 0;
    while (i < list->n || j < more->n) {
        bool first = j == more->n || (i < list->n && str_cmp(list->v[i].key, more->v[j].key) < 0);
        both[n++] = first ? list->v[i++] : more->v[j++];
    }
    *list = (struct api_quantities){both, n};
}

/* An empty list with room for as many amounts as another has. */
static struct api_quantities room_for(struct arena *a, const struct api_quantities *list) {
    return (struct api_quantities){arena_array(a, struct api_quantity, list->n + 1), 0};
}

static bool has(const struct api_quantities *list, struct str name) {
    return valid__find_quantity(list, name);
}

/* ---- defaults ---- */

static bool is_of_pods(struct str name) {
    return str_is(name, "cpu") || str_is(name, "memory") || valid__is_huge_page(name);
}

/* Huge pages cannot be overcommitted: the pod needs all that its containers may use. */
static void default_huge_pages(struct arena *a, struct api_resource_requirements *r,
                               const struct api_quantities *sum) {
    struct api_quantities missing = room_for(a, sum);
    for (size_t i = 0; i < sum->n; i++)
        if (valid__is_huge_page(sum->v[i].key) && !has(&r->requests, sum->v[i].key) &&
            !has(&r->limits, sum->v[i].key))
            missing.v[missing.n++] = sum->v[i];
    add_all(a, &r->limits, &missing);
}

static void default_requests(struct arena *a, const struct api_pod_spec *spec) {
    struct api_resource_requirements *r = spec->resources;
    struct api_quantities sum = valid__aggregate(a, spec, false);
    struct api_quantities of_containers = room_for(a, &sum), of_limits = room_for(a, &r->limits);
    for (size_t i = 0; i < sum.n; i++) {
        struct str name = sum.v[i].key;
        bool overcommits = is_of_pods(name) && !valid__is_huge_page(name);
        if (overcommits && !has(&r->requests, name))
            of_containers.v[of_containers.n++] = sum.v[i];
    }
    add_all(a, &r->requests, &of_containers);
    for (size_t i = 0; i < r->limits.n; i++)
        if (is_of_pods(r->limits.v[i].key) && !has(&r->requests, r->limits.v[i].key))
            of_limits.v[of_limits.n++] = r->limits.v[i];
    add_all(a, &r->requests, &of_limits);
}

/* Over all names this looks at each limit of a container once, and at one more container. */
static bool all_limit(const struct api_pod_spec *spec, struct str name) {
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        if (!has(&w.c->resources.limits, name))
            return false;
    return true;
}

/* A limit for what is requested, if every container has one; never below the request. */
static void default_limits(struct arena *a, const struct api_pod_spec *spec,
                           const struct api_quantities *sum) {
    struct api_resource_requirements *r = spec->resources;
    struct api_quantities missing = room_for(a, &r->requests);
    for (size_t i = 0; i < r->requests.n; i++) {
        struct str name = r->requests.v[i].key;
        const struct quantity *request = &r->requests.v[i].value;
        const struct quantity *limit = valid__find_quantity(sum, name);
        if (!is_of_pods(name) || has(&r->limits, name) || !limit || !all_limit(spec, name))
            continue;
        missing.v[missing.n++] =
            (struct api_quantity){name, quantity_cmp(request, limit) > 0 ? *request : *limit};
    }
    add_all(a, &r->limits, &missing);
}

/* Before the fix, requests followed only where there was a limit, and limits never. */
static void default_resources(struct arena *a, struct api_pod_spec *spec, bool fixed) {
    if (!spec->resources || (!spec->resources->requests.n && !spec->resources->limits.n))
        return;
    struct api_quantities sum = valid__aggregate(a, spec, true);
    default_huge_pages(a, spec->resources, &sum);
    if (fixed || spec->resources->limits.n)
        default_requests(a, spec);
    if (fixed)
        default_limits(a, spec, &sum);
}

void valid__default_pod_resources(struct arena *a, struct api_pod_spec *spec, bool create,
                                  const struct feature_set *gates) {
    bool fixed = feature_enabled(gates, FEATURE_PodLevelResourcesFixDefaulting);
    if (feature_enabled(gates, FEATURE_PodLevelResources) && (create || !fixed))
        default_resources(a, spec, fixed);
}

/* ---- quality of service ---- */

enum qos { UNKNOWN, BEST_EFFORT, BURSTABLE, GUARANTEED };

static enum qos join(enum qos a, enum qos b) {
    return a == UNKNOWN || a == b ? b : BURSTABLE;
}

static enum qos qos_of_amount(const struct api_resource_requirements *r, struct str name) {
    static const struct quantity zero;
    const struct quantity *request = valid__find_quantity(&r->requests, name);
    const struct quantity *limit = valid__find_quantity(&r->limits, name);
    request = request ? request : &zero;
    if (quantity_cmp(request, limit ? limit : &zero) != 0)
        return BURSTABLE;
    return quantity_sign(request) == 0 ? BEST_EFFORT : GUARANTEED;
}

static enum qos qos_of(const struct api_resource_requirements *r) {
    if (!r->requests.n && !r->limits.n)
        return BEST_EFFORT;
    return join(qos_of_amount(r, STR("cpu")), qos_of_amount(r, STR("memory")));
}

static bool names_pod_resource(const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        if (is_of_pods(list->v[i].key))
            return true;
    return false;
}

static bool pod_decides(const struct api_pod_spec *spec, const struct feature_set *gates) {
    const struct api_resource_requirements *r = spec->resources;
    return feature_enabled(gates, FEATURE_PodLevelResources) && r &&
           (!feature_enabled(gates, FEATURE_PodLevelResourcesFixKubeletQOSClass) ||
            names_pod_resource(&r->requests) || names_pod_resource(&r->limits));
}

struct str valid__qos_class(const struct api_pod_spec *spec, const struct feature_set *gates) {
    bool of_pod = pod_decides(spec, gates);
    enum qos qos = of_pod ? qos_of(spec->resources) : UNKNOWN;
    for (size_t i = 0; i < spec->init_containers.n && !of_pod; i++)
        qos = join(qos, qos_of(&spec->init_containers.v[i].resources));
    for (size_t i = 0; i < spec->containers.n && !of_pod; i++)
        qos = join(qos, qos_of(&spec->containers.v[i].resources));
    if (qos == GUARANTEED)
        return STR("Guaranteed");
    return qos == BURSTABLE ? STR("Burstable") : STR("BestEffort");
}

struct str valid_qos_class(const struct api_pod_spec *spec, const struct feature_set *gates) {
    return valid__qos_class(spec, gates);
}
