/*
 * CertificateSigningRequests that were approved get their certificates.
 *
 * Follows k8s.io/kubernetes pkg/controller/certificates/signer, func (*signer) handle,
 * func (*signer) duration.
 * Follows k8s.io/kubernetes pkg/controller/certificates, func IsCertificateRequestApproved.
 */
#include "auth/pki.h"
#include "base/clock.h"
#include "manager/controller_int.h"

/* How long a certificate lasts if nothing else is asked for, and the least, in seconds. */
enum { LONGEST = 365 * 24 * 3600, SHORTEST = 10 * 60 };

typedef struct api_certificate_signing_request body;

static bool has_condition(const body *b, const char *type) {
    for (size_t i = 0; i < b->status.conditions.n; i++)
        if (str_is(b->status.conditions.v[i].type, type))
            return true;
    return false;
}

static int64_t seconds_of(const body *b) {
    int32_t asked = b->spec.expiration_seconds.v;
    if (!b->spec.expiration_seconds.set || asked > LONGEST)
        return LONGEST;
    return asked < SHORTEST ? SHORTEST : asked;
}

static void add_failure(struct api_object *draft, struct str why, int64_t now) {
    body *b = api_own_body(draft);
    struct api_certificate_signing_request_condition_list *list = &b->status.conditions;
    struct api_certificate_signing_request_condition *all =
        arena_array(&draft->arena, struct api_certificate_signing_request_condition, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        all[i] = list->v[i];
    all[list->n] = (struct api_certificate_signing_request_condition){
        .type = STR("Failed"),
        .status = STR("True"),
        .reason = STR("SignerValidationFailure"),
        .message = arena_str(&draft->arena, why),
        .last_update_time = {.sec = now, .set = true}};
    list->v = all;
    list->n++;
}

static void sync(void *self, struct work *w, const struct api_object *o) {
    const struct manager *m = ((const struct manager__base *)self)->manager;
    const body *b = o->body;
    struct auth_request r = {.pem = b->spec.request,
                             .usages = b->spec.usages,
                             .now = manager__now(m) / CLOCK_SECOND,
                             .seconds = seconds_of(b)};
    struct str fault, certificate = {0};
    struct err err = {0};
    if (b->status.certificate.n || !has_condition(b, "Approved") || has_condition(b, "Denied") ||
        has_condition(b, "Failed") ||
        !auth_request_judge(work_arena(w), b->spec.signer_name, &r, &fault))
        return;
    if (!fault.n)
        certificate = auth_request_sign(work_arena(w), m->authority, &r, &err);
    if (!fault.n && !certificate.n) {
        work_fail(w, "error auto signing csr: %s", err.msg);
        return;
    }
    struct api_object *draft = api_object_derive(o);
    if (fault.n)
        add_failure(draft, fault, r.now);
    else
        ((body *)api_own_body(draft))->status.certificate = arena_str(&draft->arena, certificate);
    work_update(w, draft, "status", NULL, NULL);
}

static bool has_authority(const struct manager *m) {
    return m->authority && m->authority->key.n;
}

const struct manager__controller manager__csr_signing = {
    .size = sizeof(struct manager__base),
    .is_wanted = has_authority,
    .queues = {{"certificate", sync, .names = API_T_certificate_signing_request, .workers = 1}},
    .kinds = {{API_T_certificate_signing_request, .set = manager__add_set}},
};
