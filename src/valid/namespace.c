/*
 * Namespaces. Their finalizers stand in the spec, too.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateNamespace,
 * func ValidateNamespaceUpdate.
 */
#include <string.h>

#include "valid/kinds_int.h"
#include "valid/valid_int.h"

static const struct api_namespace *namespace_of(const struct api_object *o) {
    return o->body;
}

/* Upstream's paths say which of the finalizers in metadata is wrong, but not which of these. */
static void check_finalizers(struct valid *v, const struct path *p, const struct api_strs *list) {
    for (size_t i = 0; i < list->n; i++) {
        valid__label_key(v, p, list->v[i]);
        valid__finalizer_name(v, p, list->v[i]);
    }
}

static void check(struct valid *v, const struct api_object *o) {
    const struct api_namespace *ns = namespace_of(o);
    valid__object_meta(v, AT(NULL, "metadata"), &ns->metadata, false, valid__name_label);
    check_finalizers(v, AT(AT(NULL, "spec"), "finalizers"), &ns->spec.finalizers);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    (void)old;
    check(v, o);
}

static void add_finalizer(struct arena *a, struct api_strs *list, struct str name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], name))
            return;
    struct str *longer = arena_array(a, struct str, list->n + 1);
    if (list->n)
        memcpy(longer, list->v, list->n * sizeof *longer);
    longer[list->n] = name;
    *list = (struct api_strs){longer, list->n + 1};
}

static void prepare_create(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    struct api_namespace *ns = api_own_body(o);
    ns->status = (struct api_namespace_status){.phase = STR("Active")};
    add_finalizer(&o->arena, &ns->spec.finalizers, STR("kubernetes"));
}

/* Finalizers have a way of their own to be changed. */
static void prepare_update(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    (void)opts;
    const struct api_namespace *was = namespace_of(old);
    struct api_namespace *ns = api_own_body(o);
    api_struct_copy(&o->arena, &api_types[API_T_namespace_spec], &was->spec, &ns->spec);
}

/* Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateNamespaceStatusUpdate. */
static void status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    (void)old;
    const struct path *p = AT(AT(NULL, "status"), "Phase");
    struct str phase = namespace_of(o)->status.phase;
    bool going = o->meta->deletion_timestamp.set;
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    if (!going && !str_is(phase, "Active"))
        valid__invalid(v, p, VALUE_NAMED(phase),
                       "may only be 'Active' if `deletionTimestamp` is empty");
    if (going && !str_is(phase, "Terminating"))
        valid__invalid(v, p, VALUE_NAMED(phase),
                       "may only be 'Terminating' if `deletionTimestamp` is not empty");
}

const struct valid_kind valid__namespace = {
    .type = API_T_namespace,
    .prepare_create = prepare_create,
    .create = check,
    .prepare_update = prepare_update,
    .update = update,
    .status = status,
};
