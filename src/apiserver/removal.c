/*
 * Deleting one object, or all that a list would have.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func DeleteResource.
 * Follows k8s.io/apiserver pkg/registry/generic/registry, func (*Store) Delete,
 * func (*Store) DeleteCollection.
 */
#include "apiserver/apiserver_int.h"

/* Resources that answer with the object instead of a Status. */
static bool answers_with_object(const struct api_kind *kind) {
    static const enum api_type_id types[] = {
        API_T_pod,
        API_T_namespace,
        API_T_persistent_volume,
        API_T_persistent_volume_claim,
        API_T_service_account,
        API_T_service,
        API_T_storage_class,
        API_T_volume_attachment,
        API_T_csi_driver,
        API_T_csi_node,
        API_T_pod_template,
        API_T_resource_quota,
        API_T_device_class,
        API_T_resource_resource_claim,
        API_T_resource_claim_template,
        API_T_resource_slice,
        API_T_resource_pool_status_request,
        API_T_volume_attributes_class,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (kind->type == &api_types[types[i]])
            return true;
    return false;
}

/* Was a mark made on the way to a deletion without grace? Watchers see it before the object goes.
 */
static bool is_marked(const struct api_object *copy, const struct api_object *stored) {
    return copy->meta->deletion_timestamp.set && !apiserver__is_unchanged(copy, stored);
}

/* Marks or ends one object. The copy is what becomes of it. */
static void delete_stored(struct apiserver__call *c, const struct api_object *stored,
                          const struct api_delete_options *options) {
    struct api_object *copy = api_object_copy(stored);
    enum registry_deletion what;
    struct registry_failure f =
        registry_delete(&c->s->registry, &c->request, c->r->arena, options, copy, &what);
    if (f.code) {
        f.name = arena_str(c->r->arena, f.name); /* it may be the copy's */
        f.uid = arena_str(c->r->arena, f.uid);
        apiserver__fail(c->out, f);
        api_object_free(copy);
        return;
    }
    bool wants_cascade = options->orphan_dependents.set && !options->orphan_dependents.v;
    int code = wants_cascade ? 202 : 200; /* of what does not go at once */
    if (what == REGISTRY_DELETION_NOW) {
        if (!c->r->options.dry_run && is_marked(copy, stored))
            store_put(c->s->opts.store, c->r->resource->storage, api_object_copy(copy));
        apiserver__remove(c, copy);
        if (!answers_with_object(c->r->resource->kind))
            c->out->answer = APISERVER_SUCCESS;
    } else if (what == REGISTRY_DELETION_MARKED && !apiserver__is_unchanged(copy, stored)) {
        apiserver__put(c, copy, code);
    } else {
        apiserver__answer(c->out, code, stored);
        api_object_free(copy);
    }
}

static const struct api_delete_options *options_of(const struct apiserver__call *c) {
    static const struct api_delete_options none;
    return c->r->delete ? c->r->delete : &none;
}

/* Who deletes jobs without saying what becomes of their pods is told that these stay.
 *
 * Follows k8s.io/kubernetes pkg/registry/batch/job/storage, func (*REST) Delete,
 * func (*REST) DeleteCollection. */
static void warn_of_orphans(struct apiserver__call *c) {
    static const struct str text =
        STR_INIT("child pods are preserved by default when jobs are deleted; set "
                 "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to "
                 "suppress this warning");
    const struct api_delete_options *options = options_of(c);
    if (c->r->resource->kind->type != &api_types[API_T_job] || options->propagation_policy.p ||
        options->orphan_dependents.set)
        return;
    struct str *one = arena_new(c->r->arena, struct str);
    *one = text;
    c->out->warnings = (struct api_strs){one, 1};
}

void apiserver__delete(struct apiserver__call *c) {
    const struct api_object *stored = apiserver__stored(c);
    warn_of_orphans(c);
    if (stored)
        delete_stored(c, stored, options_of(c));
    else
        apiserver__not_found(c);
}

/* Deletes one object of a collection; one that is gone meanwhile does not matter. */
static struct registry_failure delete_one(struct apiserver__call *c, const struct api_object *o) {
    struct apiserver_request r = *c->r;
    struct apiserver_response response = {0};
    struct apiserver__call one = {.s = c->s, .r = &r, .out = &response, .request = c->request};
    r.namespace = one.request.namespace = o->meta->namespace;
    r.name = one.request.name = o->meta->name;
    apiserver__delete(&one);
    struct registry_failure f = response.failure;
    c->out->is_written |= response.is_written;
    apiserver_response_release(&response);
    return f.code == ERR_NOT_FOUND ? (struct registry_failure){.code = ERR_NONE} : f;
}

void apiserver__delete_collection(struct apiserver__call *c) {
    struct apiserver_request r = *c->r;
    warn_of_orphans(c);
    r.verb = REGISTRY_VERB_LIST;
    if (!r.options.limit) /* upstream reads pages, so that a revision is meant exactly */
        r.options.limit = INT64_MAX;
    apiserver_read(c->s, &r, c->out);
    for (size_t i = 0; c->out->answer == APISERVER_LIST && i < c->out->list.n; i++) {
        struct registry_failure f = delete_one(c, c->out->list.objects[i]);
        if (!f.code)
            continue;
        store_snapshot_unref(c->out->list.snapshot);
        c->out->list = (struct apiserver_list){0};
        apiserver__fail(c->out, f);
    }
}
