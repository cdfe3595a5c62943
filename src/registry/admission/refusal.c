/*
 * What plug-ins know of a request, and how they refuse it.
 *
 * Follows k8s.io/apiserver pkg/admission, func NewForbidden, func extractResourceName.
 */
#include <stdarg.h>

#include "base/goquote.h"
#include "registry/admission/admission_int.h"

static const struct api_kind *resource_of(const struct registry__admission *m) {
    return m->resource ? m->resource : m->o->kind;
}

bool registry__is_whole(const struct registry__admission *m) {
    return !m->request->subresource.n;
}

struct str registry__namespace_of(const struct registry__admission *m) {
    const struct api_kind *kind = resource_of(m);
    struct str own = m->o->meta->namespace, asked = m->request->namespace;
    if (!kind || !kind->namespaced)
        return STR("");
    if (own.n)
        return own;
    return asked.n ? asked : STR("default");
}

/* Names are not generated yet when plug-ins change an object. */
static struct str shown_name(const struct registry__admission *m) {
    struct str name = registry__name_of(m), prefix = m->o->meta->generate_name;
    if (name.n)
        return name;
    return prefix.n ? prefix : STR("Unknown");
}

struct str registry__name_of(const struct registry__admission *m) {
    return m->request->name.n ? m->request->name : m->o->meta->name;
}

bool registry__forbid(struct registry__admission *m, const char *reason, ...) {
    va_list args;
    va_start(args, reason);
    struct str text = arena_vprintf(m->a, reason, args);
    va_end(args);
    text = arena_printf(m->a, "is forbidden: %.*s", STR_ARG(text));
    m->failure = registry__refuse(m->a, resource_of(m), shown_name(m), ERR_FORBIDDEN, text);
    return false;
}

bool registry__break_off(struct registry__admission *m, const char *text, ...) {
    va_list args;
    va_start(args, text);
    m->failure =
        (struct registry_failure){.code = ERR_UNTOLD, .message = arena_vprintf(m->a, text, args)};
    va_end(args);
    return false;
}

bool registry__miss(struct registry__admission *m, const struct api_kind *kind, struct str name) {
    m->failure = registry_not_found(m->a, kind, arena_str(m->a, name));
    return false;
}

bool registry__miss_cached(struct registry__admission *m, const struct api_kind *kind,
                           struct str name) {
    m->failure = registry__refuse(m->a, kind, name, ERR_NOT_FOUND, STR("not found"));
    m->failure.kind = str_of(registry_resource_of(kind)->singular);
    m->failure.message = arena_printf(m->a, "%.*s %.*s not found", STR_ARG(m->failure.kind),
                                      STR_ARG(registry__quote(m->a, name)));
    return false;
}

const struct api_kind *registry__kind(const char *api_version, const char *kind) {
    return api_kind_find(str_of(api_version), str_of(kind));
}

struct str registry__claim_class(const struct api_object *claim) {
    const struct label *l =
        labels_find(&claim->meta->annotations, STR("volume.beta.kubernetes.io/storage-class"));
    return l ? l->value
             : ((const struct api_persistent_volume_claim *)claim->body)->spec.storage_class_name;
}

struct str registry__quote(struct arena *a, struct str text) {
    AUTO(buf_release) struct buf b = BUF_INIT(SIZE_MAX);
    goquote_write(&b, text);
    return arena_str(a, buf_view(&b));
}
