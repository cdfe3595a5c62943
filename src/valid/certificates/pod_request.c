/*
 * Requests of pods for certificates. What is inside of keys and certificates is not looked at, but
 * for the signature of a request.
 *
 * Follows k8s.io/kubernetes pkg/apis/certificates/validation,
 * func ValidatePodCertificateRequestCreate, func ValidatePodCertificateRequestUpdate,
 * func ValidatePodCertificateRequestStatusUpdate.
 */
#include "valid/certificates/certificates_int.h"
#include "valid/kinds_int.h"
#include "valid/metadata_int.h"

enum {
    MOST_UID_BYTES = 128,
    LEAST_SECONDS = 60 * 60,
    MOST_OWN_SECONDS = 24 * 60 * 60,
    MOST_SECONDS = 91 * 24 * 60 * 60,
    MOST_REQUEST_BYTES = 10 * 1024,
    MOST_CHAIN_BYTES = 100 * 1024,
};

/* The spec as v1beta1 has it, which has more. */
static struct api_pod_certificate_request_spec_v1beta1 spec_of(const struct api_object *o) {
    if (api_object_is(o, API_T_pod_certificate_request_v1beta1))
        return ((const struct api_pod_certificate_request_v1beta1 *)o->body)->spec;
    const struct api_pod_certificate_request_spec *s =
        &((const struct api_pod_certificate_request *)o->body)->spec;
    return (struct api_pod_certificate_request_spec_v1beta1){
        .signer_name = s->signer_name,
        .pod_name = s->pod_name,
        .pod_uid = s->pod_uid,
        .service_account_name = s->service_account_name,
        .service_account_uid = s->service_account_uid,
        .node_name = s->node_name,
        .node_uid = s->node_uid,
        .max_expiration_seconds = s->max_expiration_seconds,
        .stub_pkcs10_request = s->stub_pkcs10_request,
        .unverified_user_annotations = s->unverified_user_annotations};
}

typedef const struct api_pod_certificate_request_spec_v1beta1 spec;

static const struct path spec_path = {.name = "spec"};

/* ---- for whom ---- */

static void check_uid(struct valid *v, const char *field, struct str uid) {
    if (!uid.n)
        valid__invalid(v, AT(&spec_path, field), VALUE_NAMED(uid), "must not be empty");
    if (uid.n > MOST_UID_BYTES)
        valid__too_long(v, AT(&spec_path, field), MOST_UID_BYTES);
}

static bool check_expiration(struct valid *v, spec *s) {
    const struct path *p = AT(&spec_path, "maxExpirationSeconds");
    int32_t most = valid__is_kubernetes_signer(s->signer_name) ? MOST_OWN_SECONDS : MOST_SECONDS;
    if (!s->max_expiration_seconds.set) {
        valid__required(v, p, "must be set");
        return false;
    }
    int32_t n = s->max_expiration_seconds.v;
    if (n < LEAST_SECONDS || n > most)
        valid__invalid(v, p, VALUE_I64(n), "must be in the range [%d, %d]", LEAST_SECONDS, most);
    return true;
}

/* ---- keys ---- */

static void check_stub(struct valid *v, spec *s) {
    const struct path *p = AT(&spec_path, "stubPKCS10Request");
    if (s->stub_pkcs10_request.n > MOST_REQUEST_BYTES) {
        valid__too_long(v, p, MOST_REQUEST_BYTES);
        return;
    }
    struct str fault = valid__request_fault(v->errs->a, s->stub_pkcs10_request);
    if (str_starts(fault, STR("asn1")))
        valid__invalid(v, p, VALUE_NONE, "must be a valid PKCS#10 CSR");
    else if (fault.n)
        valid__invalid(v, p, VALUE_NONE, "invalid signature");
}

static void check_key(struct valid *v, spec *s) {
    if (s->pkix_public_key.n > MOST_REQUEST_BYTES)
        valid__too_long(v, AT(&spec_path, "pkixPublicKey"), MOST_REQUEST_BYTES);
    else if (s->proof_of_possession.n > MOST_REQUEST_BYTES)
        valid__too_long(v, AT(&spec_path, "proofOfPossession"), MOST_REQUEST_BYTES);
}

static void check_keys(struct valid *v, spec *s) {
    bool stub = s->stub_pkcs10_request.n, key = s->pkix_public_key.n,
         proof = s->proof_of_possession.n;
    if (stub && !key && !proof)
        check_stub(v, s);
    else if (!stub && key && proof)
        check_key(v, s);
    else
        valid__invalid(v, &spec_path, VALUE_NONE,
                       "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) "
                       "must be set");
}

static void create(struct valid *v, const struct api_object *o) {
    const struct api_pod_certificate_request_spec_v1beta1 s = spec_of(o);
    valid__metadata_create(v, o);
    valid__signer_name(v, AT(&spec_path, "signerName"), s.signer_name);
    valid__user_annotations(v, AT(&spec_path, "unverifiedUserAnnotations"),
                            &s.unverified_user_annotations);
    valid__dns_subdomain(v, AT(&spec_path, "podName"), s.pod_name);
    check_uid(v, "podUID", s.pod_uid);
    valid__dns_subdomain(v, AT(&spec_path, "serviceAccountName"), s.service_account_name);
    check_uid(v, "serviceAccountUID", s.service_account_uid);
    struct names_errs errs = names_check_dns1123_subdomain(s.node_name);
    for (size_t i = 0; i < errs.n; i++)
        valid__add(v, VALID_INVALID, AT(&spec_path, "nodeName"), &VALUE_NAMED(s.node_name),
                   errs.v[i]);
    check_uid(v, "nodeUID", s.node_uid);
    if (check_expiration(v, &s))
        check_keys(v, &s);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    struct api_pod_certificate_request_spec_v1beta1 now = spec_of(o), was = spec_of(old);
    enum api_type_id type = API_T_pod_certificate_request_spec_v1beta1;
    valid__metadata_update(v, o, old);
    if (!valid__equal(type, &now, &was))
        valid__immutable(v, &spec_path, valid__struct_value(v->errs->a, type, &now));
}

/* ---- status ---- */

typedef const struct api_pod_certificate_request_status status;

static status *status_of(const struct api_object *o) {
    return api_object_is(o, API_T_pod_certificate_request)
               ? &((const struct api_pod_certificate_request *)o->body)->status
               : &((const struct api_pod_certificate_request_v1beta1 *)o->body)->status;
}

static const char *const outcomes[] = {"Issued", "Denied", "Failed", NULL};

/* The path is upstream's: a dot before the index. */
static void check_outcomes(struct valid *v, status *s) {
    static const char *const only[] = {"True", NULL};
    const struct path *p = AT(AT(NULL, "status"), "conditions");
    size_t n = 0;
    for (size_t i = 0; i < s->conditions.n; i++) {
        const struct api_condition *c = &s->conditions.v[i];
        struct str index = arena_printf(v->errs->a, "[%zu]", i);
        const struct path *at = AT_DOTTED(p, index);
        if (!valid__one_of(c->type, outcomes)) {
            valid__not_supported(v, AT(at, "type"), VALUE_Q(c->type), outcomes);
            continue;
        }
        if (++n > 1)
            valid__invalid(v, AT(at, "type"), VALUE_Q(c->type),
                           "There may be at most one condition with type \"Issued\", \"Denied\", "
                           "or \"Failed\"");
        if (!str_is(c->status, "True"))
            valid__not_supported(v, AT(at, "status"), VALUE_NAMED(c->status), only);
    }
}

static bool has(status *s, const char *type) {
    for (size_t i = 0; i < s->conditions.n; i++)
        if (str_is(s->conditions.v[i].type, type) && str_is(s->conditions.v[i].status, "True"))
            return true;
    return false;
}

/* Does it say nothing but its conditions? */
static bool is_bare(status *s) {
    return !s->certificate_chain.n && !s->not_before.set && !s->not_after.set &&
           !s->begin_refresh_at.set;
}

static void check_issued(struct valid *v, status *s) {
    const struct path *p = AT(NULL, "status"), *chain = AT(p, "certificateChain");
    struct str rest = s->certificate_chain;
    struct pem_block block;
    if (rest.n > MOST_CHAIN_BYTES)
        valid__too_long(v, chain, MOST_CHAIN_BYTES);
    else if (!valid__pem_next(v->errs->a, &rest, &block))
        valid__invalid(v, chain, VALUE_Q(s->certificate_chain),
                       "issued certificate chain must contain at least one certificate");
    else if (!str_is(block.type, "CERTIFICATE"))
        valid__invalid(v, chain, VALUE_Q(s->certificate_chain),
                       "issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
    else if (valid__certificates_fault(block.bytes, &(size_t){0}).n)
        valid__invalid(v, chain, VALUE_Q(s->certificate_chain),
                       "leaf certificate does not parse as valid X.509");
}

static void check_status(struct valid *v, const struct api_object *o,
                         const struct api_object *before) {
    status *now = status_of(o), *old = status_of(before);
    const struct path *p = AT(NULL, "status");
    bool is_same = valid__equal(API_T_pod_certificate_request_status, now, old);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    if (valid__found(v))
        return;
    check_outcomes(v, now);
    valid__conditions(v, AT(p, "conditions"), &now->conditions);
    if (valid__found(v))
        return;
    if (has(old, "Issued") || has(old, "Denied") || has(old, "Failed")) {
        if (!is_same)
            valid__invalid(v, p, VALUE_NONE,
                           "immutable after PodCertificateRequest is issued, denied, or failed");
    } else if (has(now, "Denied") || has(now, "Failed")) {
        if (!is_bare(now))
            valid__invalid(v, p, VALUE_NONE,
                           "non-condition status fields must be empty when denying or failing the "
                           "PodCertificateRequest");
    } else if (has(now, "Issued")) {
        check_issued(v, now);
    } else if (!is_same) {
        valid__invalid(v, p, VALUE_NONE,
                       "status is immutable unless transitioning to \"Issued\", \"Denied\", or "
                       "\"Failed\"");
    }
}

const struct valid_kind valid__pod_certificate_request = {.type = API_T_pod_certificate_request,
                                                          .create = create,
                                                          .update = update,
                                                          .status = check_status};
const struct valid_kind valid__pod_certificate_request_v1beta1 = {
    .type = API_T_pod_certificate_request_v1beta1,
    .create = create,
    .update = update,
    .status = check_status};
