/*
 * Priority classes: the largest numbers, and names that start with system-, are for Kubernetes.
 *
 * Follows k8s.io/kubernetes pkg/apis/scheduling/validation, func ValidatePriorityClass,
 * func ValidatePriorityClassUpdate.
 */
#include "valid/kinds_int.h"
#include "valid/valid_int.h"

#define SYSTEM_PREFIX "system-"

enum { HIGHEST_USER_PRIORITY = 1000000000 };

static const struct api_priority_class *class_of(const struct api_object *o) {
    return o->body;
}

static const struct system_class {
    const char *name;
    int32_t value;
} system_classes[] = {
    {"system-node-critical", 2000001000},
    {"system-cluster-critical", 2000000000},
};

static const struct system_class *find_system_class(struct str name) {
    for (size_t i = 0; i < sizeof system_classes / sizeof *system_classes; i++)
        if (str_is(name, system_classes[i].name))
            return &system_classes[i];
    return NULL;
}

/* What keeps a class from being the one that the system has under this name? Empty: nothing. */
static struct str system_fault(struct arena *a, const struct api_priority_class *c) {
    const struct system_class *system = find_system_class(c->metadata.name);
    if (!system)
        return arena_printf(a, "%.*s is not a known system priority class",
                            STR_ARG(c->metadata.name));
    if (c->value != system->value)
        return arena_printf(a, "value of %s PriorityClass must be %d", system->name, system->value);
    if (c->global_default)
        return arena_printf(a, "globalDefault of %s PriorityClass must be false", system->name);
    return STR("");
}

static void check_system_name(struct valid *v, const struct path *p,
                              const struct api_priority_class *c) {
    struct str fault = system_fault(v->errs->a, c);
    if (fault.n)
        valid__forbidden(v, p,
                         "priority class names with '" SYSTEM_PREFIX
                         "' prefix are reserved for system use only. error: %.*s",
                         STR_ARG(fault));
}

static void create(struct valid *v, const struct api_object *o) {
    static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};
    const struct api_priority_class *c = class_of(o);
    const struct path *meta = AT(NULL, "metadata");
    valid__object_meta(v, meta, &c->metadata, false, valid__name_subdomain);
    if (str_starts(c->metadata.name, STR(SYSTEM_PREFIX)))
        check_system_name(v, AT(meta, "name"), c);
    else if (c->value > HIGHEST_USER_PRIORITY)
        valid__forbidden(v, AT(NULL, "value"),
                         "maximum allowed value of a user defined priority is %d",
                         HIGHEST_USER_PRIORITY);
    if (c->preemption_policy.p)
        valid__choice(v, AT(NULL, "preemptionPolicy"), c->preemption_policy, policies);
}

/* What was good when it was created is not looked at again. */
static void update(struct valid *v, const struct api_object *o, const struct api_object *before) {
    const struct api_priority_class *c = class_of(o), *old = class_of(before);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &c->metadata.finalizers);
    if (c->value != old->value)
        valid__forbidden(v, AT(NULL, "value"), "may not be changed in an update.");
    if (!str_eq(c->preemption_policy, old->preemption_policy))
        valid__immutable(v, AT(NULL, "preemptionPolicy"), VALUE_NAMED(c->preemption_policy));
}

const struct valid_kind valid__priority_class = {
    .type = API_T_priority_class,
    .create = create,
    .update = update,
};
