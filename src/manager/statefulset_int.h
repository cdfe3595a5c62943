/*
 * What is to be done about a StatefulSet: a pure question about its pods, answered with a plan.
 */
#ifndef MANAGER_STATEFULSET_INT_H
#define MANAGER_STATEFULSET_INT_H

#include "manager/adoption_int.h"

struct feature_set;

/* A member that is to be made. */
struct statefulset__new {
    int32_t ordinal;
    bool is_update; /* of the update revision; else of the current one */
};

struct statefulset__view {
    struct arena *arena;
    const struct api_object *object;
    const struct api_stateful_set *body;
    const struct feature_set *gates;
    int64_t now;
    struct str current, update; /* names of revisions */
    struct manager__objects pods;
    /* May the member of this ordinal be made? NULL: it may. */
    bool (*may_make)(void *arg, int32_t ordinal);
    void *arg;
};

struct statefulset__plan {
    struct statefulset__new *make;
    size_t make_count;
    struct manager__objects remove;
    struct manager__objects pending;   /* members whose claims may be missing */
    struct manager__objects relabeled; /* members without the labels that members have */
    struct manager__objects retained;  /* pods whose claims may have to have other owners */
    bool writes_status;
    struct api_stateful_set_status status; /* texts are borrowed from the view */
};

/* The ordinal of a pod by its name, or -1; *parent is the name before it. */
int32_t statefulset__ordinal(const struct api_object *pod, struct str *parent);

/* Is the pod one of those that the set shall have? */
bool statefulset__is_wanted(const struct api_stateful_set *set, const struct api_object *pod);

/* What is to be done next. */
void statefulset__plan(struct statefulset__view *v, struct statefulset__plan *plan);

/* ---- claims (statefulset_claims.c) ---- */

/* The name of the claim of a template for a member, in the arena. */
struct str statefulset__claim_name(struct arena *a, const struct api_object *set,
                                   const struct api_persistent_volume_claim *template,
                                   int32_t ordinal);

/* A claim of the template for a member, not yet created. */
struct api_object *statefulset__claim_new(const struct api_object *set,
                                          const struct api_persistent_volume_claim *template,
                                          int32_t ordinal);

/* Makes the claims of a member, which is not published, its volumes. */
void statefulset__set_volumes(struct api_object *pod, const struct api_object *set,
                              int32_t ordinal);

/* The owners that a claim shall have by the set's retention policy. False: it has them. */
bool statefulset__claim_owners(struct arena *a, const struct api_object *claim,
                               const struct api_object *set, const struct api_object *pod,
                               struct api_owner_reference_list *out);

/* Has somebody else than the set and the pod the claim, so that the policy does not count? */
bool statefulset__claim_is_others(const struct api_object *claim, const struct api_object *set,
                                  const struct api_object *pod);

/* Belongs the claim to a pod of this name that is gone, and goes with it? */
bool statefulset__claim_is_stale(const struct api_object *claim, struct str pod_name);

#endif
