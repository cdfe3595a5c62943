/*
 * Claims of the members of a StatefulSet: their names, and whom they belong to.
 *
 * Follows k8s.io/kubernetes pkg/controller/statefulset, func updateClaimOwnerRefForSetAndPod.
 */
#include "manager/statefulset_int.h"

#include <stdlib.h>

#include "valid/valid.h"

struct str statefulset__claim_name(struct arena *a, const struct api_object *set,
                                   const struct api_persistent_volume_claim *template,
                                   int32_t ordinal) {
    return arena_printf(a, "%.*s-%.*s-%d", STR_ARG(template->metadata.name),
                        STR_ARG(set->meta->name), ordinal);
}

struct api_object *statefulset__claim_new(const struct api_object *set,
                                          const struct api_persistent_volume_claim *template,
                                          int32_t ordinal) {
    struct api_object *o = api_object_new(client_kind(API_T_persistent_volume_claim));
    struct api_persistent_volume_claim *claim = api_own_body(o);
    const struct api_stateful_set *body = set->body;
    struct api_type_meta names = claim->type_meta;
    struct arena *a = &o->arena;
    api_struct_copy(a, &api_types[API_T_persistent_volume_claim], template, claim);
    claim->type_meta = names;
    claim->metadata.name = statefulset__claim_name(a, set, template, ordinal);
    claim->metadata.namespace = arena_str(a, set->meta->namespace);
    struct labels selected = labels_copy(a, &body->spec.selector->match_labels);
    labels_merge(a, &claim->metadata.labels, selected.v, selected.n);
    return o;
}

/* The names of the templates, sorted. */
static struct str *claim_names(struct arena *a,
                               const struct api_persistent_volume_claim_list *templates) {
    struct str *names = arena_array(a, struct str, templates->n);
    for (size_t i = 0; i < templates->n; i++)
        names[i] = templates->v[i].metadata.name;
    if (templates->n)
        qsort(names, templates->n, sizeof *names, str_cmp_qsort);
    return names;
}

void statefulset__set_volumes(struct api_object *pod, const struct api_object *set,
                              int32_t ordinal) {
    const struct api_stateful_set *body = set->body;
    const struct api_persistent_volume_claim_list *templates = &body->spec.volume_claim_templates;
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(pod))->spec;
    struct arena *a = &pod->arena;
    struct api_volume_list old = spec->volumes, list = {0};
    list.v = arena_array(a, struct api_volume, templates->n + old.n);
    for (size_t i = 0; i < templates->n; i++) {
        struct api_volume *volume = &list.v[list.n++];
        volume->name = arena_str(a, templates->v[i].metadata.name);
        volume->volume_source.persistent_volume_claim =
            arena_new(a, struct api_persistent_volume_claim_volume_source);
        volume->volume_source.persistent_volume_claim->claim_name =
            statefulset__claim_name(a, set, &templates->v[i], ordinal);
    }
    AUTO(arena_release) struct arena scratch = {0};
    const struct str *claimed = claim_names(&scratch, templates);
    for (size_t i = 0; i < old.n; i++)
        if (!templates->n ||
            !bsearch(&old.v[i].name, claimed, templates->n, sizeof *claimed, str_cmp_qsort))
            list.v[list.n++] = old.v[i];
    spec->volumes = list;
}

/* ---- owners ---- */

static bool names(const struct api_owner_reference *ref, const struct api_object *o) {
    return str_is(ref->api_version, o->kind->api_version) && str_is(ref->kind, o->kind->kind) &&
           str_eq(ref->name, o->meta->name);
}

static bool is_owner(const struct api_object *claim, const struct api_object *o) {
    const struct api_owner_reference_list *refs = &claim->meta->owner_references;
    for (size_t i = 0; i < refs->n; i++)
        if (str_eq(refs->v[i].uid, o->meta->uid))
            return true;
    return false;
}

/* Does the claim belong to one of that name that is gone? */
static bool is_left_over(const struct api_object *claim, const struct api_object *o) {
    const struct api_owner_reference_list *refs = &claim->meta->owner_references;
    for (size_t i = 0; i < refs->n; i++)
        if (names(&refs->v[i], o))
            return !str_eq(refs->v[i].uid, o->meta->uid);
    return false;
}

bool statefulset__claim_is_stale(const struct api_object *claim, struct str pod_name) {
    const struct api_owner_reference_list *refs = &claim->meta->owner_references;
    for (size_t i = 0; i < refs->n; i++)
        if (str_is(refs->v[i].api_version, "v1") && str_is(refs->v[i].kind, "Pod") &&
            str_eq(refs->v[i].name, pod_name))
            return true;
    return false;
}

struct policy {
    bool deletes_on_scale, deletes_with_set;
};

static struct policy policy_of(const struct api_object *set) {
    const struct api_stateful_set_persistent_volume_claim_retention_policy *p =
        ((const struct api_stateful_set *)set->body)->spec.persistent_volume_claim_retention_policy;
    return (struct policy){p && str_is(p->when_scaled, "Delete"),
                           p && str_is(p->when_deleted, "Delete")};
}

bool statefulset__claim_is_others(const struct api_object *claim, const struct api_object *set,
                                  const struct api_object *pod) {
    const struct api_owner_reference_list *refs = &claim->meta->owner_references;
    struct policy p = policy_of(set);
    if (!p.deletes_on_scale && !p.deletes_with_set)
        return false;
    for (size_t i = 0; i < refs->n; i++) {
        const struct api_owner_reference *ref = &refs->v[i];
        const struct api_object *o = names(ref, set) ? set : names(ref, pod) ? pod : NULL;
        if (o ? !str_eq(ref->uid, o->meta->uid) : ref->controller.set && ref->controller.v)
            return true;
    }
    return false;
}

static bool is_plain_owner(const struct api_object *claim, const struct api_object *set,
                           const struct api_object *pod) {
    const struct api_owner_reference_list *refs = &claim->meta->owner_references;
    for (size_t i = 0; i < refs->n; i++) {
        const struct api_owner_reference *ref = &refs->v[i];
        if ((str_eq(ref->uid, set->meta->uid) || str_eq(ref->uid, pod->meta->uid)) &&
            !(ref->controller.set && ref->controller.v))
            return true;
    }
    return false;
}

/* Who shall own the claim: the set, the pod, or nobody. */
static const struct api_object *owner_of(const struct api_object *set,
                                         const struct api_object *pod) {
    struct policy p = policy_of(set);
    if (p.deletes_on_scale && !statefulset__is_wanted(set->body, pod))
        return pod;
    return p.deletes_with_set ? set : NULL;
}

static bool is_right(const struct api_object *claim, const struct api_object *set,
                     const struct api_object *pod) {
    if (is_left_over(claim, set) || is_left_over(claim, pod))
        return true;
    if (statefulset__claim_is_others(claim, set, pod))
        return !is_owner(claim, set) && !is_owner(claim, pod);
    const struct api_object *owner = owner_of(set, pod);
    return !is_plain_owner(claim, set, pod) && is_owner(claim, set) == (owner == set) &&
           is_owner(claim, pod) == (owner == pod);
}

bool statefulset__claim_owners(struct arena *a, const struct api_object *claim,
                               const struct api_object *set, const struct api_object *pod,
                               struct api_owner_reference_list *out) {
    const struct api_owner_reference_list *refs = &claim->meta->owner_references;
    const struct api_object *owner = owner_of(set, pod);
    if (is_right(claim, set, pod))
        return false;
    *out = (struct api_owner_reference_list){
        arena_array(a, struct api_owner_reference, refs->n + 1), 0};
    for (size_t i = 0; i < refs->n; i++)
        if (!names(&refs->v[i], set) && !names(&refs->v[i], pod))
            out->v[out->n++] = refs->v[i];
    if (owner && !statefulset__claim_is_others(claim, set, pod))
        out->v[out->n++] = (struct api_owner_reference){
            .api_version = str_of(owner->kind->api_version),
            .kind = str_of(owner->kind->kind),
            .name = arena_str(a, owner->meta->name),
            .uid = arena_str(a, owner->meta->uid),
            .controller = {true, true},
            .block_owner_deletion = {true, true},
        };
    return true;
}
