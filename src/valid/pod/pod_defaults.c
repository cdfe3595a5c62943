/*
 * Resources of a pod as a whole, where it does not say them: what follows from its containers. And
 * the quality of service that all of them together ask for.
 */
#include "valid/pod/pod_int.h"

/* Puts an amount that is not there yet into its place; the list grows in the arena. */
static void insert(struct arena *a, struct api_quantities *list, struct str name,
                   const struct quantity *value) {
    struct api_quantity *grown = arena_array(a, struct api_quantity, list->n + 1);
    size_t n = 0, i = 0;
    while (i < list->n && str_cmp(list->v[i].key, name) < 0)
        grown[n++] = list->v[i++];
    grown[n++] = (struct api_quantity){name, *value};
    while (i < list->n)
        grown[n++] = list->v[i++];
    *list = (struct api_quantities){grown, n};
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
    for (size_t i = 0; i < sum->n; i++)
        if (valid__is_huge_page(sum->v[i].key) && !has(&r->requests, sum->v[i].key) &&
            !has(&r->limits, sum->v[i].key))
            insert(a, &r->limits, sum->v[i].key, &sum->v[i].value);
}

static void default_requests(struct arena *a, const struct api_pod_spec *spec) {
    struct api_resource_requirements *r = spec->resources;
    struct api_quantities sum = valid__aggregate(a, spec, false);
    for (size_t i = 0; i < sum.n; i++) {
        struct str name = sum.v[i].key;
        bool overcommits = is_of_pods(name) && !valid__is_huge_page(name);
        if (overcommits && !has(&r->requests, name))
            insert(a, &r->requests, name, &sum.v[i].value);
    }
    for (size_t i = 0; i < r->limits.n; i++) {
        struct str name = r->limits.v[i].key;
        if (is_of_pods(name) && !has(&r->requests, name))
            insert(a, &r->requests, name, &r->limits.v[i].value);
    }
}

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
    for (size_t i = 0; i < r->requests.n; i++) {
        struct str name = r->requests.v[i].key;
        const struct quantity *request = &r->requests.v[i].value;
        const struct quantity *limit = valid__find_quantity(sum, name);
        if (!is_of_pods(name) || has(&r->limits, name) || !limit || !all_limit(spec, name))
            continue;
        insert(a, &r->limits, name, quantity_cmp(request, limit) > 0 ? request : limit);
    }
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
    enum qos qos = UNKNOWN;
    if (pod_decides(spec, gates))
        qos = qos_of(spec->resources);
    for (size_t i = 0; i < spec->init_containers.n && !pod_decides(spec, gates); i++)
        qos = join(qos, qos_of(&spec->init_containers.v[i].resources));
    for (size_t i = 0; i < spec->containers.n && !pod_decides(spec, gates); i++)
        qos = join(qos, qos_of(&spec->containers.v[i].resources));
    if (qos == GUARANTEED)
        return STR("Guaranteed");
    return qos == BURSTABLE ? STR("Burstable") : STR("BestEffort");
}
