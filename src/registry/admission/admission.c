/*
 * The plug-ins in their order.
 *
 * Follows k8s.io/kubernetes pkg/kubeapiserver/options, var AllOrderedPlugins.
 * Follows k8s.io/apiserver pkg/admission, func NewForbidden.
 */
#include <stdarg.h>

#include "registry/admission/admission_int.h"

static const struct registry__admission_plugin *const plugins[] = {
    &registry__namespace_lifecycle,
    &registry__priority,
    &registry__default_toleration_seconds,
    &registry__default_storage_class,
};

/* Names are not generated yet when admission runs. */
static struct str name_of(const struct api_object_meta *meta) {
    if (meta->name.n)
        return meta->name;
    return meta->generate_name.n ? meta->generate_name : STR("Unknown");
}

bool registry__forbid(struct registry__admission *m, const char *reason, ...) {
    va_list args;
    va_start(args, reason);
    struct str text = arena_vprintf(m->a, reason, args);
    va_end(args);
    text = arena_printf(m->a, "is forbidden: %.*s", STR_ARG(text));
    m->failure = registry__refuse(m->a, m->o, name_of(m->o->meta), ERR_FORBIDDEN, text);
    return false;
}

static registry__admit_fn *slot_of(const struct registry__admission *m,
                                   const struct registry__admission_plugin *p) {
    if (m->deletes)
        return p->delete;
    return m->old ? p->update : p->create;
}

bool registry__admit(struct registry__admission *m) {
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
        const struct registry__admission_plugin *p = plugins[i];
        registry__admit_fn *admit = slot_of(m, p);
        bool looks = p->type == API_TYPES || m->o->type == &api_types[p->type];
        if (looks && admit && !admit(m))
            return false;
    }
    return true;
}
