/*
 * Priority: the name of a class becomes a number and a preemption policy.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/priority, func (*Plugin) admitPod,
 * func (*Plugin) getDefaultPriority.
 */
#include "registry/admission/admission_int.h"

/* What matters of a PriorityClass. */
struct class {
    struct str name;
    int32_t value;
    struct str preemption_policy; /* absent: the pod's own stays */
};

#define SYSTEM_CRITICAL 2000000000
#define PREEMPT_LOWER   STR_INIT("PreemptLowerPriority")

/* Every cluster has these. */
static const struct class system_classes[] = {
    {STR_INIT("system-node-critical"), SYSTEM_CRITICAL + 1000, PREEMPT_LOWER},
    {STR_INIT("system-cluster-critical"), SYSTEM_CRITICAL, PREEMPT_LOWER},
};
static const struct class no_class = {STR_INIT(""), 0, PREEMPT_LOWER};

static struct class class_of(const struct api_priority_class *c) {
    return (struct class){c->metadata.name, c->value, c->preemption_policy};
}

static bool find_class(const struct registry_view *view, struct str name, struct class *out) {
    const struct api_kind *kind = api_kind_find(STR("scheduling.k8s.io/v1"), STR("PriorityClass"));
    const struct api_object *known = registry_view_get(view, kind, STR(""), name);
    if (known) {
        *out = class_of(known->body);
        return true;
    }
    for (size_t i = 0; i < sizeof system_classes / sizeof *system_classes; i++)
        if (str_eq(system_classes[i].name, name)) {
            *out = system_classes[i];
            return true;
        }
    return false;
}

static bool apply(struct registry__admission *m, const struct class *c) {
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(m->o))->spec;
    if (spec->priority.set && spec->priority.v != c->value)
        return registry__forbid(m,
                                "the integer value of priority (%d) must not be provided in pod "
                                "spec; priority admission controller computed %d from the given "
                                "PriorityClass name",
                                spec->priority.v, c->value);
    spec->priority_class_name = arena_str(&m->o->arena, c->name);
    spec->priority = (struct api_opt_i32){true, c->value};
    if (!c->preemption_policy.p)
        return true;
    if (spec->preemption_policy.p && !str_eq(spec->preemption_policy, c->preemption_policy))
        return registry__forbid(m,
                                "the string value of PreemptionPolicy (%.*s) must not be provided "
                                "in pod spec; priority admission controller computed %.*s from the "
                                "given PriorityClass name",
                                STR_ARG(spec->preemption_policy), STR_ARG(c->preemption_policy));
    spec->preemption_policy = arena_str(&m->o->arena, c->preemption_policy);
    return true;
}

/* Without a class of that name, and without a default among those that are known. A view that does
 * not know all classes leaves the pod as it is if it may depend on one of the others. */
static bool admit_unknown(struct registry__admission *m) {
    const struct api_pod_spec *spec = &((const struct api_pod *)m->o->body)->spec;
    struct str name = spec->priority_class_name;
    bool closed = registry_view_is_closed(m->registry->view, API_T_priority_class);
    if (!closed && (name.n || spec->priority.set || spec->preemption_policy.p))
        return true;
    if (name.n)
        return registry__forbid(m, "no PriorityClass with name %.*s was found", STR_ARG(name));
    return apply(m, &no_class);
}

static bool create(struct registry__admission *m) {
    const struct registry_view *view = m->registry->view;
    const struct api_priority_class *by_default = registry_view_default_priority_class(view);
    struct str name = ((const struct api_pod *)m->o->body)->spec.priority_class_name;
    struct class c;
    if (!name.n && by_default)
        c = class_of(by_default);
    else if (!name.n || !find_class(view, name, &c))
        return admit_unknown(m);
    return apply(m, &c);
}

/* What was decided once is kept. */
static bool update(struct registry__admission *m) {
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(m->o))->spec;
    const struct api_pod_spec *was = &((const struct api_pod *)m->old->body)->spec;
    if (!spec->priority.set)
        spec->priority = was->priority;
    if (!spec->preemption_policy.p)
        spec->preemption_policy = arena_str(&m->o->arena, was->preemption_policy);
    return true;
}

const struct registry__admission_plugin registry__priority = {
    .name = "Priority",
    .mutate = {[REGISTRY_CREATE] = create, [REGISTRY_UPDATE] = update},
    .type = API_T_pod,
    .is_offline = true};
