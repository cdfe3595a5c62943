/*
 * Requests for evictions of pods. Most of their rules are declared ones.
 *
 * Follows k8s.io/kubernetes pkg/apis/lifecycle/validation,
 * func ValidateEvictionRequestStatusUpdate.
 * Follows k8s.io/kubernetes pkg/apis/core/v1, func ValidateForbiddenReservedDomainSuffixes.
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

static bool is_reserved(struct str requester) {
    struct str domain, rest;
    str_cut(requester, '/', &domain, &rest);
    while (domain.n && domain.p[domain.n - 1] == '.')
        domain.n--;
    return str_is(domain, "k8s.io") || str_ends(domain, STR(".k8s.io")) ||
           str_is(domain, "kubernetes.io") || str_ends(domain, STR(".kubernetes.io"));
}

/* Who asks is not one of Kubernetes' own: the one rule that is declared as code. */
static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    struct str requester = body_of(o)->spec.requester;
    valid__declared_rows(v, o, old);
    v->is_standard = true;
    if (!old && is_reserved(valid__lower(v->errs->a, requester)) && valid__begin_declared(v, ""))
        valid__invalid(v, AT(AT(NULL, "spec"), "requester"), VALUE_Q(requester),
                       "domain names *.k8s.io, *.kubernetes.io are reserved");
    v->is_standard = false;
}

const struct valid_kind valid__eviction_request = {.type = API_T_eviction_request,
                                                   .create = valid__metadata_create,
                                                   .update = valid__metadata_update,
                                                   .status = status,
                                                   .declared = declared};
