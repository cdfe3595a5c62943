/*
 * OwnerReferencesPermissionEnforcement: who may not delete an object may not have the garbage
 * collector do it, and who may not hold an owner back may not have a dependent do it.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/gc, func (*gcPermissionsEnforcement) Validate,
 * func newBlockingOwnerDeletionRefs, func (*gcPermissionsEnforcement)
 * ownerRefToDeleteAttributeRecords.
 */
#include "base/map.h"
#include "registry/admission/admission_int.h"

static bool allows(struct registry__admission *m, struct registry_access q, struct str *reason) {
    const struct registry_authorizer *authorizer = m->registry->authorizer;
    q.user = m->request->user;
    *reason = STR("");
    return !authorizer || authorizer->allows(authorizer, m->a, &q, reason);
}

static bool may_delete(struct registry__admission *m, struct str *reason) {
    const struct api_kind *kind = m->o->kind;
    return allows(m,
                  (struct registry_access){.verb = STR("delete"),
                                           .group = registry_group_of(str_of(kind->api_version)),
                                           .resource = str_of(kind->plural),
                                           .subresource = m->request->subresource,
                                           .namespace = registry__namespace_of(m),
                                           .name = registry__name_of(m)},
                  reason);
}

static bool may_finalize_anything(struct registry__admission *m) {
    struct str reason;
    return allows(m,
                  (struct registry_access){.verb = STR("update"),
                                           .group = STR("*"),
                                           .resource = STR("*"),
                                           .subresource = STR("finalizers"),
                                           .name = STR("*")},
                  &reason);
}

/* The references that an object had; of those of one uid the last one counts. */
struct former {
    const struct api_owner_reference_list *list;
    struct map by_uid; /* made when it is asked */
};

static const struct api_owner_reference *find_former(struct former *f, struct str uid) {
    for (size_t i = f->by_uid.live ? f->list->n : 0; i < f->list->n; i++)
        map_put_const(&f->by_uid, f->list->v[i].uid, &f->list->v[i]);
    return map_get_const(&f->by_uid, uid);
}

/* Does the reference hold its owner back, and did not before? */
static bool begins_to_block(struct former *f, const struct api_owner_reference *ref) {
    if (!ref->block_owner_deletion.v)
        return false;
    const struct api_owner_reference *was = find_former(f, ref->uid);
    return !was || !was->block_owner_deletion.v;
}

/* Why no resource has the owner's kind. */
static struct str unmapped(struct arena *a, const struct api_owner_reference *ref) {
    struct str head, rest;
    if (str_cut(ref->api_version, '/', &head, &rest) && str_find_char(rest, '/') != STR_NONE)
        return arena_printf(a, "unexpected GroupVersion string: %.*s", STR_ARG(ref->api_version));
    return arena_printf(a, "no matches for kind %.*s in version %.*s",
                        STR_ARG(registry__quote(a, ref->kind)),
                        STR_ARG(registry__quote(a, ref->api_version)));
}

static bool check_owner(struct registry__admission *m, const struct api_owner_reference *ref) {
    const struct api_kind *kind = api_kind_find(ref->api_version, ref->kind);
    struct str reason;
    if (!kind || !*kind->plural)
        return registry__forbid(m,
                                "cannot set blockOwnerDeletion in this case because cannot find "
                                "RESTMapping for APIVersion %.*s Kind %.*s: %.*s",
                                STR_ARG(ref->api_version), STR_ARG(ref->kind),
                                STR_ARG(unmapped(m->a, ref)));
    struct registry_access q = {.verb = STR("update"),
                                .group = registry_group_of(ref->api_version),
                                .resource = str_of(kind->plural),
                                .subresource = STR("finalizers"),
                                .name = ref->name};
    if (kind->namespaced)
        q.namespace = registry__namespace_of(m);
    return allows(m, q, &reason) ||
           registry__forbid(m,
                            "cannot set blockOwnerDeletion if an ownerReference refers to a "
                            "resource you can't set finalizers on: %.*s, <nil>",
                            STR_ARG(reason));
}

static bool changes_owners(const struct registry__admission *m) {
    const struct api_owner_reference_list *owners = &m->o->meta->owner_references;
    if (!m->old)
        return owners->n;
    return !valid_equal_lists(API_T_owner_reference, &m->old->meta->owner_references, owners);
}

static bool check_blocking(struct registry__admission *m, struct former *f,
                           const struct api_owner_reference_list *owners) {
    size_t i = 0;
    while (i < owners->n && !begins_to_block(f, &owners->v[i]))
        i++;
    if (i == owners->n || may_finalize_anything(m))
        return true;
    for (; i < owners->n; i++)
        if (begins_to_block(f, &owners->v[i]) && !check_owner(m, &owners->v[i]))
            return false;
    return true;
}

/* Old kubelets corrupt owners in the status of pods, where they are ignored. */
static bool validate(struct registry__admission *m) {
    static const struct api_owner_reference_list none;
    const struct api_owner_reference_list *owners = &m->o->meta->owner_references;
    bool is_pod_status =
        api_object_is(m->o, API_T_pod) && str_is(m->request->subresource, "status");
    struct str reason;
    if (is_pod_status || !m->o->kind || !changes_owners(m))
        return true;
    if (m->operation != REGISTRY_CREATE && !may_delete(m, &reason))
        return registry__forbid(m,
                                "cannot set an ownerRef on a resource you can't delete: %.*s, "
                                "<nil>",
                                STR_ARG(reason));
    struct former f = {m->old ? &m->old->meta->owner_references : &none,
                       MAP_INIT(map_random_seed())};
    bool is_good = check_blocking(m, &f, owners);
    map_release(&f.by_uid);
    return is_good;
}

const struct registry__admission_plugin registry__owner_references = {
    .name = "OwnerReferencesPermissionEnforcement",
    .validate = {[REGISTRY_CREATE] = validate, [REGISTRY_UPDATE] = validate},
    .type = API_TYPES,
    .subresources = "*",
    .is_off = true};
