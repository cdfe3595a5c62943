/*
 * RuntimeClass: what a class of runtimes takes for itself, and where it runs.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/runtimeclass, func (*RuntimeClass) Admit,
 * func (*RuntimeClass) Validate, func setOverhead, func setScheduling, func validateOverhead.
 */
#include "registry/admission/admission_int.h"

#define MISMATCH "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

static const struct api_pod_spec *spec_of(const struct registry__admission *m) {
    return &((const struct api_pod *)m->o->body)->spec;
}

/* *out is NULL if the pod names no class. */
static bool find_class(struct registry__admission *m, const struct api_runtime_class **out) {
    struct str name = spec_of(m)->runtime_class_name;
    *out = NULL;
    if (!name.p)
        return true;
    const struct api_object *o = registry_view_get(
        m->registry->view, registry__kind("node.k8s.io/v1", "RuntimeClass"), STR(""), name);
    if (!o)
        return registry__forbid(m, "pod rejected: RuntimeClass %.*s not found",
                                STR_ARG(registry__quote(m->a, name)));
    *out = o->body;
    return true;
}

/* Are they the same resources with the same amounts? */
static bool are_equal(const struct api_quantities *a, const struct api_quantities *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!str_eq(a->v[i].key, b->v[i].key) || quantity_cmp(&a->v[i].value, &b->v[i].value))
            return false;
    return a->n == b->n;
}

static bool set_overhead(struct registry__admission *m, const struct api_overhead *overhead) {
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(m->o))->spec;
    struct api_overhead copy;
    if (!overhead)
        return true;
    if (spec->overhead.n && !are_equal(&overhead->pod_fixed, &spec->overhead))
        return registry__forbid(m, MISMATCH);
    api_struct_copy(&m->o->arena, &api_types[API_T_overhead], overhead, &copy);
    spec->overhead = copy.pod_fixed;
    return true;
}

/* The pod's selector may not ask for anything else than that of the class. */
static bool add_node_selector(struct registry__admission *m, const struct labels *wanted) {
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(m->o))->spec;
    for (size_t i = 0; i < wanted->n; i++) {
        const struct label *want = &wanted->v[i];
        const struct label *have = labels_find(&spec->node_selector, want->key);
        if (have && !str_eq(have->value, want->value))
            return registry__forbid(m,
                                    "conflict: runtimeClass.scheduling.nodeSelector[%.*s] = %.*s; "
                                    "pod.spec.nodeSelector[%.*s] = %.*s",
                                    STR_ARG(want->key), STR_ARG(want->value), STR_ARG(want->key),
                                    STR_ARG(have->value));
    }
    struct labels copy = labels_copy(&m->o->arena, wanted);
    labels_merge(&m->o->arena, &spec->node_selector, copy.v, copy.n);
    return true;
}

static bool set_scheduling(struct registry__admission *m, const struct api_scheduling *scheduling) {
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(m->o))->spec;
    struct arena *a = &m->o->arena;
    if (scheduling && !add_node_selector(m, &scheduling->node_selector))
        return false;
    if (scheduling && !registry__tolerations_fit(m, scheduling->tolerations.n))
        return false;
    if (scheduling)
        registry__tolerations_merge(a, &spec->tolerations, &scheduling->tolerations);
    return true;
}

static bool mutate(struct registry__admission *m) {
    const struct api_runtime_class *class;
    if (!find_class(m, &class))
        return false;
    return !class || (set_overhead(m, class->overhead) && set_scheduling(m, class->scheduling));
}

static bool validate(struct registry__admission *m) {
    const struct api_runtime_class *class;
    const struct api_quantities *overhead = &spec_of(m)->overhead;
    if (!find_class(m, &class))
        return false;
    if (!class || !class->overhead)
        return !overhead->v ||
               registry__forbid(m, "pod rejected: Pod Overhead set without corresponding "
                                   "RuntimeClass defined Overhead");
    return are_equal(&class->overhead->pod_fixed, overhead) || registry__forbid(m, MISMATCH);
}

const struct registry__admission_plugin registry__runtime_class = {
    .name = "RuntimeClass",
    .mutate = {[REGISTRY_CREATE] = mutate},
    .validate = {[REGISTRY_CREATE] = validate},
    .type = API_T_pod};
