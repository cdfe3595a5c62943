/*
 * Requests for evictions of pods, whose other rules are declared ones.
 *
 * Follows k8s.io/kubernetes pkg/apis/lifecycle/validation,
 * func ValidateEvictionRequestStatusUpdate.
 */
#include "valid/declared_int.h"
#include "valid/kinds_int.h"

static const struct api_eviction_request *body_of(const struct api_object *o) {
    return o->body;
}

static void status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    valid__metadata_update(v, o, old);
    valid__conditions(v, AT(AT(NULL, "status"), "conditions"), &body_of(o)->status.conditions);
}

const struct valid_kind valid__eviction_request = {.type = API_T_eviction_request,
                                                   .create = valid__metadata_create,
                                                   .update = valid__metadata_update,
                                                   .status = status,
                                                   .declared = valid__declared_rows};
