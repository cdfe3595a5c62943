/*
 * pods/resize: other amounts of processor time and memory for a pod that runs.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func (podResizeStrategy) PrepareForUpdate,
 * func dropNonResizeUpdates.
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePodResize.
 */
#include "valid/pod/pod_int.h"
#include "valid/subresource_int.h"

/* ---- preparing ---- */

/* Old containers with the new resources. Those that were added, taken away, moved or renamed are
 * left for the rules to find. */
static struct api_container_list with_resources(const struct api_container_list *now,
                                                const struct api_container_list *was) {
    for (size_t i = 0; i < now->n; i++)
        if (!str_eq(now->v[i].name, was->v[i].name))
            return *now;
    for (size_t i = 0; i < now->n; i++) {
        was->v[i].resources = now->v[i].resources;
        was->v[i].resize_policy = now->v[i].resize_policy;
    }
    return now->n ? *was : *now;
}

static void keep_rest(struct api_object *o, const struct api_object *old,
                      const struct feature_set *gates) {
    struct api_pod *pod = api_own_body(o), kept;
    struct api_pod_spec wanted = pod->spec;
    const struct api_pod *was = old->body;
    if (wanted.containers.n != was->spec.containers.n ||
        wanted.init_containers.n != was->spec.init_containers.n)
        return;
    api_struct_copy(&o->arena, &api_types[API_T_pod], was, &kept);
    pod->spec = kept.spec;
    pod->status = kept.status;
    if (feature_enabled(gates, FEATURE_InPlacePodLevelResourcesVerticalScaling))
        pod->spec.resources = wanted.resources;
    if (feature_enabled(gates, FEATURE_InPlacePodVerticalScalingMemoryBackedVolumes))
        pod->spec.volumes = wanted.volumes;
    pod->spec.containers = with_resources(&wanted.containers, &kept.spec.containers);
    pod->spec.init_containers = with_resources(&wanted.init_containers, &kept.spec.init_containers);
    valid__keep_meta(o, old);
}

/* Clients that do not know resources of pods leave them out; what those do not say follows from
 * the containers. */
static void default_resources(struct api_object *o, const struct api_pod *was,
                              const struct feature_set *gates) {
    struct api_pod *pod = api_own_body(o);
    if (!feature_enabled(gates, FEATURE_PodLevelResourcesFixDefaulting))
        return;
    if (!pod->spec.resources && was->spec.resources) {
        pod->spec.resources = arena_new(&o->arena, struct api_resource_requirements);
        api_struct_copy(&o->arena, &api_types[API_T_resource_requirements], was->spec.resources,
                        pod->spec.resources);
    }
    valid__default_pod_resources(&o->arena, &pod->spec, true, gates);
}

void valid__resize_prepare(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    struct api_pod *pod = api_own_body(o);
    const struct api_pod *was = old->body;
    valid__default_pod_resources(&o->arena, &pod->spec, false, opts->gates);
    keep_rest(o, old, opts->gates);
    default_resources(o, was, opts->gates);
    valid__drop_disabled(&pod->spec, &pod->metadata.annotations, &was->spec, opts->gates);
    if (!valid__equal(API_T_pod_spec, &pod->spec, &was->spec))
        pod->metadata.generation++;
}

/* ---- amounts ---- */

static bool can_change(struct str resource) {
    return str_is(resource, "cpu") || str_is(resource, "memory");
}

/* The amounts that are, with those of cpu and memory that were; sorted, in the arena. */
static struct api_quantities masked(struct arena *a, const struct api_quantities *now,
                                    const struct api_quantities *was) {
    struct api_quantities out = {arena_array(a, struct api_quantity, now->n + was->n + 1), 0};
    size_t i = 0, j = 0;
    while (i < now->n || j < was->n) {
        bool is_now = j == was->n || (i < now->n && str_cmp(now->v[i].key, was->v[j].key) <= 0);
        const struct api_quantity *q = is_now ? &now->v[i++] : &was->v[j++];
        if (can_change(q->key) != is_now)
            out.v[out.n++] = *q;
    }
    return out;
}

static bool has_lost(const struct api_quantities *now, const struct api_quantities *was) {
    for (size_t i = 0; i < was->n; i++)
        if (!valid__find_quantity(now, was->v[i].key))
            return true;
    return was->n > now->n;
}

/* ---- resources of the pod ---- */

static bool has_amounts(const struct api_pod_spec *spec) {
    return spec->resources && spec->resources->requests.n + spec->resources->limits.n > 0;
}

/* The resources that are, less what may change; NULL when that is all, and there were none. */
static struct api_resource_requirements *
masked_of_pod(struct arena *a, const struct api_pod_spec *now, const struct api_pod_spec *was) {
    static const struct api_quantities none = {0};
    const struct api_resource_requirements *old = was->resources;
    if (!now->resources)
        return NULL;
    struct api_resource_requirements *out = arena_new(a, struct api_resource_requirements);
    *out = *now->resources;
    out->requests = masked(a, &now->resources->requests, old ? &old->requests : &none);
    out->limits = masked(a, &now->resources->limits, old ? &old->limits : &none);
    return !old && !out->requests.n && !out->limits.n && !out->claims.n ? NULL : out;
}

/* Puts the resources, less what may change, into `rest`. False: nothing more is to be said. */
static bool check_pod(struct valid *v, const struct path *p, const struct api_pod_spec *was,
                      struct api_pod_spec *rest) {
    const struct api_resource_requirements *now = rest->resources, *old = was->resources;
    const struct path *at = AT(p, "resources");
    if (!has_amounts(was) && !has_amounts(rest))
        return true;
    if (!feature_enabled(v->gates, FEATURE_InPlacePodLevelResourcesVerticalScaling)) {
        valid__forbidden(v, AT_KEY(NULL, STR("")),
                         "resize of pods with pod-level resources is forbidden when "
                         "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled");
        return false;
    }
    if (old && !now) {
        valid__forbidden(v, at, "pod-level resources cannot be removed");
        return true;
    }
    if (old && has_lost(&now->requests, &old->requests))
        valid__forbidden(v, AT(at, "requests"), "pod-level resource requests cannot be removed");
    if (old && has_lost(&now->limits, &old->limits))
        valid__forbidden(v, AT(at, "limits"), "pod-level resource limits cannot be removed");
    rest->resources = masked_of_pod(v->errs->a, rest, was);
    if (!valid__equal(API_T_resource_requirements, rest->resources, old))
        valid__forbidden(v, p, "only cpu and memory resources are mutable at pod-level");
    return true;
}

/* ---- containers ---- */

/* A list of containers, as it is and as it was. */
struct pair {
    const char *name;
    const struct api_container_list *now, *was;
};

static bool check_order(struct valid *v, const struct path *spec, const struct pair *lists) {
    const struct path *p = AT(spec, lists->name);
    size_t before = valid__found(v);
    if (lists->now->n != lists->was->n)
        valid__forbidden(v, p, "%s may not be added or removed on resize", lists->name);
    else
        for (size_t i = 0; i < lists->now->n; i++)
            if (!str_eq(lists->now->v[i].name, lists->was->v[i].name))
                valid__forbidden(v, AT(AT_INDEX(p, i), "name"),
                                 "%s may not be renamed or reordered on resize", lists->name);
    return valid__found(v) == before;
}

static bool is_sidecar(const struct api_container *c) {
    return str_is(c->restart_policy, "Always");
}

/* Init containers that end could not be resized before a gate said otherwise. */
static bool is_resizable(const struct valid *v, const struct api_container *c) {
    return is_sidecar(c) ||
           feature_enabled(v->gates, FEATURE_InPlacePodVerticalScalingInitContainers);
}

static void check_removals(struct valid *v, const struct path *p, const struct api_container *now,
                           const struct api_container *was) {
    const struct path *at = AT(p, "resources");
    if (has_lost(&now->resources.requests, &was->resources.requests))
        valid__forbidden(v, AT(at, "requests"), "resource requests cannot be removed");
    if (has_lost(&now->resources.limits, &was->resources.limits))
        valid__forbidden(v, AT(at, "limits"), "resource limits cannot be removed");
}

static void check_all_removals(struct valid *v, const struct path *spec, const struct pair *lists,
                               bool is_init) {
    const struct path *p = AT(spec, lists->name);
    for (size_t i = 0; i < lists->was->n; i++)
        if (!is_init || is_resizable(v, &lists->was->v[i]))
            check_removals(v, AT_INDEX(p, i), &lists->now->v[i], &lists->was->v[i]);
}

static void mask(struct arena *a, struct api_container *now, const struct api_container *was) {
    now->resources.limits = masked(a, &now->resources.limits, &was->resources.limits);
    now->resources.requests = masked(a, &now->resources.requests, &was->resources.requests);
}

static bool is_equal(const struct api_container *a, const struct api_container *b) {
    return valid__equal(API_T_container, a, b);
}

static void check_regular(struct valid *v, const struct path *spec, struct api_container *c,
                          const struct api_container *was) {
    mask(v->errs->a, c, was);
    if (!is_equal(c, was))
        valid__forbidden(v, spec, "only cpu and memory resources are mutable");
}

static void check_init(struct valid *v, const struct path *spec, struct api_container *c,
                       const struct api_container *was, size_t i) {
    const struct path *p = AT_INDEX(AT(spec, "initContainers"), i);
    bool is_changed = !is_equal(c, was);
    if (!is_resizable(v, c)) {
        if (is_changed)
            valid__forbidden(v, spec, "resources for non-sidecar init containers are immutable");
        return;
    }
    mask(v->errs->a, c, was);
    if (!is_equal(c, was))
        valid__forbidden(v, p,
                         "only cpu and memory resources for init or sidecar containers are "
                         "mutable");
    for (size_t k = 0; is_changed && !is_sidecar(c) && k < c->resize_policy.n; k++)
        if (str_is(c->resize_policy.v[k].restart_policy, "RestartContainer"))
            valid__forbidden(v, p,
                             "non-sidecar init containers with a resize policy of "
                             "RestartContainer cannot be resized");
}

static struct api_container_list copied(struct arena *a, const struct api_container_list *list) {
    return (struct api_container_list){arena_copy(a, list->v, list->n * sizeof *list->v), list->n};
}

/* Puts the containers, less what may change, into `rest`. */
static void check_containers(struct valid *v, const struct path *p, const struct api_pod_spec *was,
                             struct api_pod_spec *rest) {
    struct pair regular = {"containers", &rest->containers, &was->containers};
    struct pair init = {"initContainers", &rest->init_containers, &was->init_containers};
    check_all_removals(v, p, &init, true);
    check_all_removals(v, p, &regular, false);
    rest->containers = copied(v->errs->a, &rest->containers);
    rest->init_containers = copied(v->errs->a, &rest->init_containers);
    for (size_t i = 0; i < rest->containers.n; i++)
        check_regular(v, p, &rest->containers.v[i], &was->containers.v[i]);
    for (size_t i = 0; i < rest->init_containers.n; i++)
        check_init(v, p, &rest->init_containers.v[i], &was->init_containers.v[i], i);
}

/* ---- volumes in memory ---- */

static bool has_limit(const struct api_empty_dir_volume_source *dir) {
    return dir->size_limit && quantity_sign(dir->size_limit) != 0;
}

static void check_size(struct valid *v, const struct path *p,
                       const struct api_empty_dir_volume_source *now,
                       const struct api_empty_dir_volume_source *was) {
    const struct path *at = AT(AT(p, "emptyDir"), "sizeLimit");
    if (has_limit(now) != has_limit(was))
        valid__forbidden(v, at,
                         "adding or removing sizeLimit on an existing volume is not allowed");
    else if (now->size_limit && was->size_limit &&
             quantity_cmp(now->size_limit, was->size_limit) != 0 && !str_is(now->medium, "Memory"))
        valid__forbidden(v, at, "sizeLimit is only mutable for memory-backed emptyDir volumes");
}

static void check_volume(struct valid *v, const struct path *p, const struct api_volume *now,
                         const struct api_volume *was) {
    struct api_empty_dir_volume_source *dir = now->volume_source.empty_dir, mixed;
    const struct api_empty_dir_volume_source *old = was->volume_source.empty_dir;
    struct api_volume compared = *now;
    if (!str_eq(now->name, was->name)) {
        valid__forbidden(v, AT(p, "name"), "volumes may not be renamed or reordered on resize");
        return;
    }
    if (dir && old) {
        mixed = *dir;
        mixed.size_limit = old->size_limit;
        compared.volume_source.empty_dir = &mixed;
    }
    if (!valid__equal(API_T_volume, &compared, was))
        valid__forbidden(v, p,
                         "only sizeLimit of memory-backed emptyDir volumes is mutable on resize");
    else if (dir && old)
        check_size(v, p, dir, old);
}

static void check_volumes(struct valid *v, const struct path *p, const struct api_pod_spec *was,
                          struct api_pod_spec *rest) {
    const struct path *at = AT(p, "volumes");
    struct api_volume_list now = rest->volumes;
    if (!feature_enabled(v->gates, FEATURE_InPlacePodVerticalScalingMemoryBackedVolumes)) {
        if (!valid__equal_lists(API_T_volume, &now, &was->volumes))
            valid__forbidden(v, at,
                             "volumes are immutable on resize when "
                             "InPlacePodVerticalScalingMemoryBackedVolumes feature gate is "
                             "disabled");
        return;
    }
    if (now.n != was->volumes.n)
        valid__forbidden(v, at, "volumes may not be added or removed on resize");
    for (size_t i = 0; now.n == was->volumes.n && i < now.n; i++)
        check_volume(v, AT_INDEX(at, i), &now.v[i], &was->volumes.v[i]);
    rest->volumes = was->volumes;
}

/* ---- all of it ---- */

static const char *why_not(const struct api_pod *was) {
    if (labels_find(&was->metadata.annotations, STR("kubernetes.io/config.mirror")))
        return "static pods cannot be resized";
    if (was->spec.os && str_is(was->spec.os->name, "windows"))
        return "windows pods cannot be resized";
    return NULL;
}

/* A kubelet that knows of resizing tells the resources of what runs. */
static bool can_node_resize(const struct api_pod *pod) {
    const struct api_container_status_list *list = &pod->status.container_statuses;
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].state.running)
            return list->v[i].resources;
    return true;
}

static void check_quality(struct valid *v, const struct path *p, const struct api_pod *pod,
                          const struct api_pod *was) {
    struct str old = was->status.qos_class;
    if (!old.n)
        old = valid__qos_class(&was->spec, v->gates);
    if (!str_eq(old, valid__qos_class(&pod->spec, v->gates)))
        valid__invalid(v, p, VALUE_NAMED(pod->status.qos_class),
                       "Pod QOS Class may not change as a result of resizing");
    if (!can_node_resize(was))
        valid__forbidden(v, p, "Pod running on node without support for resize");
}

static void check_spec(struct valid *v, const struct path *p, const struct api_pod_spec *now,
                       const struct api_pod_spec *was, size_t before) {
    struct api_pod_spec rest = *now;
    struct pair regular = {"containers", &now->containers, &was->containers};
    struct pair init = {"initContainers", &now->init_containers, &was->init_containers};
    if (!check_pod(v, p, was, &rest))
        return;
    bool is_in_order = check_order(v, p, &regular);
    if (!check_order(v, p, &init) || !is_in_order)
        return;
    check_containers(v, p, was, &rest);
    check_volumes(v, p, was, &rest);
    if (valid__found(v) == before && !valid__equal(API_T_pod_spec, &rest, was))
        valid__forbidden(v, p, "only cpu and memory resources are mutable");
}

void valid__resize_check(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    const struct api_pod *pod = o->body, *was = old->body;
    const struct path *meta = AT(NULL, "metadata"), *spec = AT(NULL, "spec");
    const char *why = why_not(was);
    size_t before = valid__found(v);
    struct pod_rules rules = valid__pod_rules(v->gates, &was->spec, &was->metadata);
    if (why) {
        valid__forbidden(v, AT_KEY(NULL, STR("")), "%s", why);
        return;
    }
    valid__finalizer_names(v, AT(meta, "finalizers"), &pod->metadata.finalizers);
    valid__pod_meta_and_spec(v, pod, &rules);
    check_quality(v, spec, pod, was);
    check_spec(v, spec, &pod->spec, &was->spec, before);
}
