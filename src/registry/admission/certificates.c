/*
 * CertificateApproval, CertificateSigning, ClusterTrustBundleAttest: who may speak for a signer;
 * and CertificateSubjectRestriction: what no signer gives.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/certificates/approval, func (*Plugin) Validate.
 * Follows k8s.io/kubernetes plugin/pkg/admission/certificates/signing, func (*Plugin) Validate.
 * Follows k8s.io/kubernetes plugin/pkg/admission/certificates/ctbattest, func (*Plugin) Validate.
 * Follows k8s.io/kubernetes plugin/pkg/admission/certificates/subjectrestriction,
 * func (*Plugin) Validate.
 * Follows k8s.io/kubernetes pkg/registry/rbac, func IsOnlyMutatingGCFields.
 */
#include "registry/admission/admission_int.h"

/* ---- who may speak for a signer ---- */

static bool allows(struct registry__admission *m, const char *verb, struct str name) {
    const struct registry_authorizer *authorizer = m->registry->authorizer;
    struct str reason;
    struct registry_access q = {.user = m->request->user,
                                .verb = str_of(verb),
                                .group = STR("certificates.k8s.io"),
                                .resource = STR("signers"),
                                .name = name};
    return !authorizer || authorizer->allows(authorizer, m->a, &q, &reason);
}

/* By the signer's name, or for all of its domain. */
static bool speaks_for(struct registry__admission *m, const char *verb, struct str signer) {
    struct str domain = signer, rest;
    if (allows(m, verb, signer))
        return true;
    (void)str_cut(signer, '/', &domain, &rest);
    return allows(m, verb, arena_printf(m->a, "%.*s/*", STR_ARG(domain)));
}

static bool approve(struct registry__admission *m) {
    const struct api_certificate_signing_request *was = m->old->body;
    if (!str_is(m->request->subresource, "approval"))
        return true;
    return speaks_for(m, "approve", was->spec.signer_name) ||
           registry__forbid(m, "user not permitted to approve requests with signerName %.*s",
                            STR_ARG(registry__quote(m->a, was->spec.signer_name)));
}

const struct registry__admission_plugin registry__certificate_approval = {
    .name = "CertificateApproval",
    .validate = {[REGISTRY_UPDATE] = approve},
    .type = API_T_certificate_signing_request,
    .subresources = "approval"};

static bool sign(struct registry__admission *m) {
    const struct api_certificate_signing_request *is = m->o->body, *was = m->old->body;
    if (!str_is(m->request->subresource, "status") ||
        (str_eq(is->status.certificate, was->status.certificate) &&
         valid_equal_lists(API_T_certificate_signing_request_condition, &is->status.conditions,
                           &was->status.conditions)))
        return true;
    return speaks_for(m, "sign", was->spec.signer_name) ||
           registry__forbid(m, "user not permitted to sign requests with signerName %.*s",
                            STR_ARG(registry__quote(m->a, was->spec.signer_name)));
}

const struct registry__admission_plugin registry__certificate_signing = {
    .name = "CertificateSigning",
    .validate = {[REGISTRY_UPDATE] = sign},
    .type = API_T_certificate_signing_request,
    .subresources = "status"};

/* Does the update change nothing but what the garbage collector looks at? */
static bool is_for_collector(const struct registry__admission *m) {
    if (!m->old)
        return false;
    struct api_object *copy = api_object_copy(m->o);
    struct api_object_meta *meta = api_own_meta(copy);
    meta->owner_references = m->old->meta->owner_references;
    meta->finalizers = m->old->meta->finalizers;
    meta->managed_fields = m->old->meta->managed_fields;
    bool same = valid_equal(copy->type->id, copy->body, m->old->body);
    api_object_free(copy);
    return same;
}

static bool attest(struct registry__admission *m) {
    struct str signer = ((const struct api_cluster_trust_bundle *)m->o->body)->spec.signer_name;
    if (!feature_enabled(m->registry->gates, FEATURE_ClusterTrustBundle) || !signer.n ||
        is_for_collector(m))
        return true;
    return speaks_for(m, "attest", signer) ||
           registry__forbid(m, "user not permitted to attest for signerName %.*s",
                            STR_ARG(registry__quote(m->a, signer)));
}

const struct registry__admission_plugin registry__trust_bundle_attest = {
    .name = "ClusterTrustBundleAttest",
    .validate = {[REGISTRY_CREATE] = attest, [REGISTRY_UPDATE] = attest},
    .type = API_T_cluster_trust_bundle};

/* ---- what no signer gives ---- */

static bool restrict_subject(struct registry__admission *m) {
    const struct api_certificate_signing_request *csr = m->o->body;
    struct registry__csr_subject subject;
    struct err err;
    if (!str_is(csr->spec.signer_name, "kubernetes.io/kube-apiserver-client"))
        return true;
    if (registry__csr_read(m->a, csr->spec.request, &subject, &err) < 0)
        return registry__forbid(m, "failed to parse CSR: %s", err.msg);
    for (size_t i = 0; i < subject.organizations.n; i++)
        if (str_is(subject.organizations.v[i], "system:masters"))
            return registry__forbid(m, "use of kubernetes.io/kube-apiserver-client signer with "
                                       "system:masters group is not allowed");
    return true;
}

const struct registry__admission_plugin registry__certificate_subject = {
    .name = "CertificateSubjectRestriction",
    .validate = {[REGISTRY_CREATE] = restrict_subject},
    .type = API_T_certificate_signing_request};
