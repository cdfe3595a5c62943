/* What admission asks of any view. */
#include "registry/view.h"

const struct api_object *registry_view_get(const struct registry_view *v,
                                           const struct api_kind *kind, struct str namespace,
                                           struct str name) {
    return v->get(v, kind, namespace, name);
}

void registry_view_each(const struct registry_view *v, const struct api_kind *kind,
                        struct str namespace, registry_visit_fn *visit, void *ctx) {
    v->each(v, kind, namespace, visit, ctx);
}

bool registry_view_is_closed(const struct registry_view *v, enum api_type_id type) {
    return v->is_closed(v, type);
}

const struct api_priority_class *
registry_view_default_priority_class(const struct registry_view *v) {
    const struct api_object *o = v->default_of(v, API_T_priority_class);
    return o ? o->body : NULL;
}

const struct api_storage_class *registry_view_default_storage_class(const struct registry_view *v) {
    const struct api_object *o = v->default_of(v, API_T_storage_class);
    return o ? o->body : NULL;
}

const struct api_ingress_class *registry_view_default_ingress_class(const struct registry_view *v) {
    const struct api_object *o = v->default_of(v, API_T_ingress_class);
    return o ? o->body : NULL;
}

bool registry_is_default(const struct api_object *o) {
    struct str key = STR("storageclass.kubernetes.io/is-default-class");
    if (api_object_is(o, API_T_priority_class))
        return ((const struct api_priority_class *)o->body)->global_default;
    if (api_object_is(o, API_T_ingress_class))
        key = STR("ingressclass.kubernetes.io/is-default-class");
    else if (!api_object_is(o, API_T_storage_class))
        return false;
    const struct label *l = labels_find(&o->meta->annotations, key);
    return l && str_is(l->value, "true");
}

bool registry_prefers(const struct api_object *a, const struct api_object *b) {
    if (api_object_is(a, API_T_priority_class)) {
        const struct api_priority_class *x = a->body, *y = b->body;
        return x->value < y->value;
    }
    int64_t x = a->meta->creation_timestamp.sec, y = b->meta->creation_timestamp.sec;
    return x != y ? x > y : str_cmp(a->meta->name, b->meta->name) < 0;
}
