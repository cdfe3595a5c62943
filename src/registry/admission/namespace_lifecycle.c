/*
 * NamespaceLifecycle: nothing is created in a namespace that is not there, and some namespaces are
 * there for ever.
 *
 * Follows k8s.io/apiserver pkg/admission/plugin/namespace/lifecycle, func (*Lifecycle) Admit.
 */
#include "registry/admission/admission_int.h"

/* Servers make these themselves. */
static const char *const always_there[] = {"default", "kube-node-lease", "kube-public",
                                           "kube-system"};

static bool is_made_by_server(struct str name) {
    for (size_t i = 0; i < sizeof always_there / sizeof *always_there; i++)
        if (str_is(name, always_there[i]))
            return true;
    return false;
}

static bool forbid_terminating(struct registry__admission *m, struct str name) {
    registry__forbid(m,
                     "unable to create new content in namespace %.*s because it is being "
                     "terminated",
                     STR_ARG(name));
    struct registry_cause *cause = arena_new(m->a, struct registry_cause);
    *cause = (struct registry_cause){
        .reason = STR("NamespaceTerminating"),
        .message = arena_printf(m->a, "namespace %.*s is being terminated", STR_ARG(name)),
        .field = STR("metadata.namespace")};
    m->failure.further = cause;
    m->failure.further_count = 1;
    return false;
}

/* Whether a namespace exists is not told to those who ask what they may do in it. */
static bool create(struct registry__admission *m) {
    struct str name = registry__namespace_of(m);
    const struct registry_view *view = m->registry->view;
    const struct api_kind *kind = registry__kind("v1", "Namespace");
    if (!name.n || api_object_is(m->o, API_T_local_subject_access_review))
        return true;
    const struct api_object *ns = registry_view_get(view, kind, STR(""), name);
    if (!ns)
        return is_made_by_server(name) || !registry_view_is_closed(view, API_T_namespace) ||
               registry__miss(m, kind, name);
    struct str phase = ((const struct api_namespace *)ns->body)->status.phase;
    return !str_is(phase, "Terminating") || forbid_terminating(m, name);
}

static bool delete_namespace(struct registry__admission *m) {
    static const char *const immortal[] = {"default", "kube-public", "kube-system"};
    for (size_t i = 0; i < sizeof immortal / sizeof *immortal; i++)
        if (api_object_is(m->o, API_T_namespace) && str_is(m->o->meta->name, immortal[i]))
            return registry__forbid(m, "this namespace may not be deleted");
    return true;
}

const struct registry__admission_plugin registry__namespace_lifecycle = {
    .name = "NamespaceLifecycle",
    .mutate = {[REGISTRY_CREATE] = create, [REGISTRY_DELETE] = delete_namespace},
    .type = API_TYPES,
    .subresources = "*",
    .is_offline = true};
