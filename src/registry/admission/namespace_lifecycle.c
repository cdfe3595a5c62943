/*
 * NamespaceLifecycle: nothing is created in a namespace that is not there, and some namespaces are
 * there for ever.
 *
 * Follows k8s.io/apiserver pkg/admission/plugin/namespace/lifecycle, func (*Lifecycle) Admit.
 */
#include "base/goquote.h"
#include "registry/admission/admission_int.h"

/* Servers make these themselves. */
static const char *const always_there[] = {"default", "kube-node-lease", "kube-public",
                                           "kube-system"};

static bool has_namespace(const struct registry_view *view, struct str name) {
    for (size_t i = 0; i < sizeof always_there / sizeof *always_there; i++)
        if (str_is(name, always_there[i]))
            return true;
    return !registry_view_is_closed(view, API_T_namespace) ||
           registry_view_get(view, api_kind_find(STR("v1"), STR("Namespace")), STR(""), name);
}

static struct str namespace_of(const struct registry__admission *m) {
    struct str own = m->o->meta->namespace, asked = m->request->namespace;
    if (own.n)
        return own;
    return asked.n ? asked : STR("default");
}

static bool create(struct registry__admission *m) {
    struct str name = namespace_of(m);
    if (!m->o->kind || !m->o->kind->namespaced || has_namespace(m->registry->view, name))
        return true;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("namespaces "));
    goquote_write(&text, name);
    buf_add(&text, STR(" not found"));
    m->failure = (struct registry_failure){.code = ERR_NOT_FOUND,
                                           .message = arena_str(m->a, buf_view(&text)),
                                           .kind = STR("namespaces"),
                                           .name = arena_str(m->a, name)};
    return false;
}

static bool delete_namespace(struct registry__admission *m) {
    static const char *const immortal[] = {"default", "kube-public", "kube-system"};
    for (size_t i = 0; i < sizeof immortal / sizeof *immortal; i++)
        if (api_object_is(m->o, API_T_namespace) && str_is(m->o->meta->name, immortal[i]))
            return registry__forbid(m, "this namespace may not be deleted");
    return true;
}

const struct registry__admission_plugin registry__namespace_lifecycle = {
    .name = "NamespaceLifecycle", .create = create, .delete = delete_namespace, .type = API_TYPES};
