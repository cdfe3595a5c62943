/*
 * Creating and replacing, as a whole or the status alone: admission, preparation, validation.
 *
 * Follows k8s.io/apiserver pkg/registry/rest, func BeforeCreate, func BeforeUpdate.
 */
#include "registry/admission/admission_int.h"

static struct valid_opts valid_opts_of(const struct registry *r,
                                       const struct registry_request *request) {
    return (struct valid_opts){.gates = r->gates,
                               .namespace = request->namespace,
                               .cel = r->cel,
                               .now = request->now,
                               .uid = request->uid,
                               .user = request->user};
}

/* What is stored is read again, with the defaults of what preparation took away or put in. */
static struct registry_failure judge(const struct registry *r, struct arena *a,
                                     struct api_object *o, const struct valid_errs *errs) {
    if (errs->n)
        return registry_invalid(a, o, errs);
    api_object_default(o, r->gates);
    return (struct registry_failure){.code = ERR_NONE};
}

static struct valid_errs *errs_new(struct arena *a) {
    struct valid_errs *errs = arena_new(a, struct valid_errs);
    *errs = VALID_ERRS_INIT(a);
    return errs;
}

struct registry_failure registry_create(const struct registry *r,
                                        const struct registry_request *request, struct arena *a,
                                        struct api_object *o) {
    struct valid_opts opts = valid_opts_of(r, request);
    struct registry__admission admission = {.registry = r, .request = request, .a = a, .o = o};
    if (!registry__admit(&admission))
        return admission.failure;
    if (!valid_knows(o->kind))
        return (struct registry_failure){.code = ERR_NONE};
    struct valid_errs *errs = errs_new(a);
    valid_generate_name(o, request->name_suffix);
    valid_prepare_create(o, &opts);
    valid_create(o, &opts, errs);
    return judge(r, a, o, errs);
}

struct registry_failure registry_update(const struct registry *r,
                                        const struct registry_request *request, struct arena *a,
                                        struct api_object *o, const struct api_object *old) {
    struct valid_opts opts = valid_opts_of(r, request);
    struct registry__admission admission = {
        .registry = r, .request = request, .a = a, .o = o, .old = old};
    if (!valid_knows(o->kind))
        return (struct registry_failure){.code = ERR_NONE};
    api_own_meta(o)->resource_version = arena_str(&o->arena, old->meta->resource_version);
    if (!registry__admit(&admission))
        return admission.failure;
    struct valid_errs *errs = errs_new(a);
    valid_prepare_update(o, old, &opts);
    valid_update(o, old, &opts, errs);
    return judge(r, a, o, errs);
}

/* ---- subresources: plug-ins that look at updates look at none of them ---- */

static void begin_part(struct api_object *o, const struct api_object *old) {
    api_own_meta(o)->resource_version = arena_str(&o->arena, old->meta->resource_version);
}

static struct registry_failure judge_part(const struct registry *r, struct arena *a,
                                          struct api_object *o, const struct api_object *old,
                                          const struct valid_opts *opts) {
    struct valid_errs *errs = errs_new(a);
    valid_status(o, old, opts, errs);
    return judge(r, a, o, errs);
}

struct registry_failure registry_update_status(const struct registry *r,
                                               const struct registry_request *request,
                                               struct arena *a, struct api_object *o,
                                               const struct api_object *old) {
    struct valid_opts opts = valid_opts_of(r, request);
    begin_part(o, old);
    valid_prepare_status(o, old, &opts);
    return judge_part(r, a, o, old, &opts);
}

struct registry_failure registry_update_approval(const struct registry *r,
                                                 const struct registry_request *request,
                                                 struct arena *a, struct api_object *o,
                                                 const struct api_object *old) {
    struct valid_opts opts = valid_opts_of(r, request);
    begin_part(o, old);
    valid_prepare_approval(o, old, &opts);
    return judge_part(r, a, o, old, &opts);
}
