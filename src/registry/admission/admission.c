/*
 * The plug-ins in their order, and how they are asked.
 *
 * Follows k8s.io/kubernetes pkg/kubeapiserver/options, var AllOrderedPlugins,
 * func DefaultOffAdmissionPlugins.
 * Follows k8s.io/apiserver pkg/server/options, func (*AdmissionOptions) Validate.
 * Follows k8s.io/apiserver pkg/admission, func (chainAdmissionHandler) Admit,
 * func (chainAdmissionHandler) Validate.
 */
#include "registry/admission/admission_int.h"

/*
 * Policies and webhooks will stand between the last plug-in that is ours alone and ResourceQuota,
 * which counts what all others have let pass: MutatingAdmissionPolicy, MutatingAdmissionWebhook,
 * ValidatingAdmissionPolicy, ValidatingAdmissionWebhook.
 */
static const struct registry__admission_plugin *const plugins[] = {
    &registry__namespace_lifecycle,
    &registry__limit_ranger,
    &registry__service_account,
    &registry__node_restriction,
    &registry__taint_nodes,
    &registry__pod_node_selector,
    &registry__priority,
    &registry__default_toleration_seconds,
    &registry__pod_toleration_restriction,
    &registry__default_storage_class,
    &registry__storage_protection,
    &registry__pod_group_protection,
    &registry__owner_references,
    &registry__claim_resize,
    &registry__runtime_class,
    &registry__certificate_approval,
    &registry__certificate_signing,
    &registry__trust_bundle_attest,
    &registry__certificate_subject,
    &registry__default_ingress_class,
    &registry__pod_topology_labels,
    &registry__resource_quota,
};

enum { COUNT = sizeof plugins / sizeof *plugins };
_Static_assert(COUNT <= 64, "a bit for each plug-in");

/* What kube-apiserver has and we do not. */
static const char *const missing[] = {
    "AlwaysAdmit",
    "NamespaceAutoProvision",
    "NamespaceExists",
    "LimitPodHardAntiAffinityTopology",
    "AlwaysPullImages",
    "ImagePolicyWebhook",
    "PodSecurity",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "DenyServiceExternalIPs",
    "NodeDeclaredFeatureValidator",
    "PodResizeValidator",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "AlwaysDeny",
};

/* ---- which are asked ---- */

struct registry_plugins registry_plugins_default(void) {
    struct registry_plugins out = {0};
    for (size_t i = 0; i < COUNT; i++)
        out.on |= plugins[i]->is_off ? 0 : UINT64_C(1) << i;
    return out;
}

struct registry_plugins registry_plugins_offline(void) {
    struct registry_plugins out = {0};
    for (size_t i = 0; i < COUNT; i++)
        out.on |= plugins[i]->is_offline ? UINT64_C(1) << i : 0;
    return out;
}

const char *registry_plugin_name(size_t place, bool *on) {
    if (place >= COUNT)
        return NULL;
    *on = !plugins[place]->is_off;
    return plugins[place]->name;
}

static bool is_missing(struct str name) {
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (str_is(name, missing[i]))
            return true;
    return false;
}

static int switch_one(struct registry_plugins *set, struct str name, bool on, struct err *err) {
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (!str_is(name, plugins[i]->name))
            continue;
        set->on = on ? set->on | bit : set->on & ~bit;
        return 0;
    }
    if (is_missing(name) && !on)
        return 0;
    return err_set(err, ERR_USAGE, "%s-admission-plugins plugin \"%.*s\" is %s",
                   on ? "enable" : "disable", STR_ARG(name),
                   is_missing(name) ? "not there yet" : "unknown");
}

int registry_plugins_switch(struct registry_plugins *set, struct api_strs names, bool on,
                            struct err *err) {
    for (size_t i = 0; i < names.n; i++)
        if (switch_one(set, names.v[i], on, err) < 0)
            return -1;
    return 0;
}

/* ---- asking ---- */

/* Is the name one of a list with commas between? */
static bool is_listed(const char *list, struct str name) {
    struct str head, rest = str_of(list);
    while (str_cut(rest, ',', &head, &rest))
        if (str_eq(head, name))
            return true;
    return str_eq(head, name);
}

static bool looks_at(const struct registry__admission *m,
                     const struct registry__admission_plugin *p) {
    const char *parts = p->subresources;
    const struct api_type *type = m->resource ? m->resource->type : m->o->type;
    if (p->type != API_TYPES && type != &api_types[p->type])
        return false;
    return registry__is_whole(m) ||
           (parts && (str_is(STR("*"), parts) || is_listed(parts, m->request->subresource)));
}

bool registry__mutate(struct registry__admission *m) {
    for (size_t i = 0; i < COUNT && !m->request->is_admitted; i++) {
        registry__admit_fn *admit = plugins[i]->mutate[m->operation];
        bool on = m->registry->plugins.on >> i & 1;
        if (on && admit && looks_at(m, plugins[i]) && !admit(m))
            return false;
    }
    return true;
}

bool registry__validate(struct registry__admission *m) {
    for (size_t i = 0; i < COUNT && !m->request->is_admitted; i++) {
        registry__admit_fn *admit = plugins[i]->validate[m->operation];
        bool on = m->registry->plugins.on >> i & 1;
        if (on && admit && looks_at(m, plugins[i]) && !admit(m))
            return false;
    }
    return true;
}

struct registry_failure registry_admit(const struct registry *r,
                                       const struct registry_request *request, struct arena *a,
                                       const struct registry_subject *subject) {
    struct registry__admission m = {.registry = r,
                                    .request = request,
                                    .a = a,
                                    .operation = subject->operation,
                                    .resource = subject->resource,
                                    .o = subject->object,
                                    .old = subject->old};
    if (registry__mutate(&m))
        registry__validate(&m);
    return m.failure;
}

void registry_effects_release(struct registry_effects *effects) {
    for (size_t i = 0; i < effects->n; i++)
        api_object_free(effects->v[i]);
    *effects = (struct registry_effects){0};
}
