/*
 * Creating and replacing, as a whole or the status alone: admission, preparation, validation.
 *
 * Follows k8s.io/apiserver pkg/registry/rest, func BeforeCreate, func BeforeUpdate.
 */
#include "registry/admission/admission_int.h"
#include "registry/registry_int.h"

static struct valid_opts valid_opts_of(const struct registry *r,
                                       const struct registry_request *request) {
    return (struct valid_opts){.gates = r->gates,
                               .namespace = request->namespace,
                               .cel = r->cel,
                               .now = request->now,
                               .uid = request->uid,
                               .user = request->user,
                               .asked = request->kind,
                               .warnings = request->warnings};
}

/* What breaks no rules is for admission to judge. What is stored is read again, with the defaults
 * of what preparation took away or put in. */
static struct registry_failure judge(struct registry__admission *m, const struct valid_errs *errs) {
    struct valid_warnings *warnings = m->request->warnings;
    if (errs->n)
        return registry_invalid(m->a, m->o, errs);
    if (warnings)
        valid_warn(m->o, m->old, str_is(m->request->subresource, "status"), warnings);
    if (registry__validate(m) && !m->registry->only_judges)
        api_object_default(m->o, m->registry->gates);
    if (api_object_is(m->o, API_T_service))
        registry__finish_service(m->o);
    return m->failure;
}

/* What comes before preparation: only services have something there. */
static struct registry_failure begin(struct registry__admission *m) {
    if (!api_object_is(m->o, API_T_service))
        return (struct registry_failure){.code = ERR_NONE};
    return registry__begin_service(m->registry, m->request, m->a, m->o, m->old);
}

static struct valid_errs *errs_new(struct arena *a) {
    struct valid_errs *errs = arena_new(a, struct valid_errs);
    *errs = VALID_ERRS_INIT(a);
    return errs;
}

void registry_decoded(const struct registry *r, const struct registry_request *request,
                      struct api_object *o) {
    struct valid_opts opts = valid_opts_of(r, request);
    valid_decoded(o, &opts);
}

struct registry_failure registry_create(const struct registry *r,
                                        const struct registry_request *request, struct arena *a,
                                        struct api_object *o) {
    struct valid_opts opts = valid_opts_of(r, request);
    struct registry__admission admission = {.registry = r, .request = request, .a = a, .o = o};
    if (!registry__mutate(&admission) || !valid_knows(o->kind))
        return admission.failure;
    struct valid_errs *errs = errs_new(a);
    valid_generate_name(o, request->name_suffix);
    struct registry_failure failure = begin(&admission);
    if (failure.code)
        return failure;
    valid_prepare_create(o, &opts);
    valid_create(o, &opts, errs);
    return judge(&admission, errs);
}

/* The way of an update through admission: the object is one of the version that is stored. */
static struct registry__admission update_of(const struct registry *r,
                                            const struct registry_request *request, struct arena *a,
                                            struct api_object *o, const struct api_object *old) {
    if (valid_knows(o->kind))
        api_own_meta(o)->resource_version = arena_str(&o->arena, old->meta->resource_version);
    return (struct registry__admission){.registry = r,
                                        .request = request,
                                        .a = a,
                                        .operation = REGISTRY_UPDATE,
                                        .o = o,
                                        .old = old};
}

struct registry_failure registry_update(const struct registry *r,
                                        const struct registry_request *request, struct arena *a,
                                        struct api_object *o, const struct api_object *old) {
    struct valid_opts opts = valid_opts_of(r, request);
    struct registry__admission admission = update_of(r, request, a, o, old);
    if (!valid_knows(o->kind) || !registry__mutate(&admission))
        return admission.failure;
    struct valid_errs *errs = errs_new(a);
    struct registry_failure failure = begin(&admission);
    if (failure.code)
        return failure;
    valid_prepare_update(o, old, &opts);
    valid_update(o, old, &opts, errs);
    return judge(&admission, errs);
}

struct registry_failure registry_update_status(const struct registry *r,
                                               const struct registry_request *request,
                                               struct arena *a, struct api_object *o,
                                               const struct api_object *old) {
    struct valid_opts opts = valid_opts_of(r, request);
    struct registry__admission admission = update_of(r, request, a, o, old);
    struct valid_errs *errs = errs_new(a);
    if (!registry__mutate(&admission))
        return admission.failure;
    valid_prepare_status(o, old, &opts);
    valid_status(o, old, &opts, errs);
    return judge(&admission, errs);
}

struct registry_failure registry_update_subresource(const struct registry *r,
                                                    const struct registry_request *request,
                                                    struct arena *a, struct api_object *o,
                                                    const struct api_object *old) {
    struct valid_opts opts = valid_opts_of(r, request);
    struct registry__admission admission = update_of(r, request, a, o, old);
    struct valid_errs *errs = errs_new(a);
    if (!registry__mutate(&admission))
        return admission.failure;
    valid_prepare_subresource(o, old, request->subresource, &opts);
    valid_subresource(o, old, request->subresource, &opts, errs);
    return judge(&admission, errs);
}
