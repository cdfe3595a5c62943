/* Certificates for CertificateSigningRequests that were approved. */
#include "auth/pki.h"
#include "managed.h"

#define CONTROLLER "certificatesigningrequest-signing-controller"

/* Of the user joe of devs; nobody needs its key. */
static const char request[] =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIV01IOENBUUF3SFRFTk1Bc0dBMVVF"
    "Q2d3RVpHVjJjekVNTUFvR0ExVUVBd3dEYW05bE1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFj"
    "RFFnQUUzbkNFNHNWVUtNY1pOYnE4cVpWck12eW5Jc0srZ1ZZODVsdmZZa1FPCnFsdER2dmFUb1ZkUzNJ"
    "TFp6b2xtRVYzd1pjY2QrbE53ZFZ6WkZqeXBXR2tYTUtBQU1Bb0dDQ3FHU000OUJBTUMKQTBjQU1FUUNJ"
    "RjcyVW81Mkp2OU9lVmg1OXlEMkxkWDQza3ByWEYrTGt5ZUp1VC9jSDVySEFpQk9pWXlTV3p4Qwp4dktS"
    "dDhubTIyYmtBQzlJQWs1ODdNZEU1QzVsVFZVZnlRPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVT"
    "VC0tLS0tCg==";

struct signing {
    struct managed m;
    struct auth_authority authority;
};

static void start(struct signing *s, struct arena *a) {
    struct str name = STR("authority");
    struct err err = {0};
    if (auth_pki_self_signed(a, &(struct api_strs){&name, 1}, 1700000000, &s->authority.certificate,
                             &s->authority.key, &err) < 0)
        fail_msg("%s", err.msg);
    managed_start_with(&s->m, CONTROLLER, "", &(struct manager_opts){.authority = &s->authority});
}

static void add(struct signing *s, const char *name, const char *signer, const char *more) {
    world_create(&s->m.w,
                 arena_printf(&s->m.w.arena,
                              "{apiVersion: certificates.k8s.io/v1, kind: "
                              "CertificateSigningRequest, metadata: {name: %s}, spec: {request: "
                              "%s, signerName: %s, usages: [client auth]%s}}",
                              name, request, signer, more)
                     .p);
}

static void decide(struct signing *s, const char *name, const char *type) {
    world_patch(&s->m.w, API_T_certificate_signing_request, name, "approval",
                arena_printf(&s->m.w.arena,
                             "{\"status\":{\"conditions\":[{\"type\":\"%s\",\"status\":\"True\","
                             "\"reason\":\"Test\"}]}}",
                             type)
                    .p);
}

static const struct api_certificate_signing_request_status *status_of(struct signing *s,
                                                                      const char *name) {
    const struct api_object *o = world_get(&s->m.w, API_T_certificate_signing_request, name);
    assert_non_null(o);
    return &((const struct api_certificate_signing_request *)o->body)->status;
}

static void who_is_approved_gets_one(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct signing s;
    (void)state;
    start(&s, &a);
    add(&s, "joe", "kubernetes.io/kube-apiserver-client", "");
    add(&s, "denied", "kubernetes.io/kube-apiserver-client", "");
    add(&s, "other", "example.com/signer", "");
    decide(&s, "denied", "Denied");
    decide(&s, "other", "Approved");
    world_run(&s.m.w, 1);
    assert_int_equal(status_of(&s, "joe")->certificate.n, 0);
    decide(&s, "joe", "Approved");
    world_run(&s.m.w, 1);
    assert_true(
        str_starts(status_of(&s, "joe")->certificate, STR("-----BEGIN CERTIFICATE-----\n")));
    assert_int_equal(status_of(&s, "denied")->certificate.n, 0);
    assert_int_equal(status_of(&s, "other")->certificate.n, 0);
    size_t sent = s.m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&s.m.w, 600);
    assert_int_equal(s.m.counting.sent[REGISTRY_VERB_UPDATE], sent);
    managed_stop(&s.m);
}

static void who_may_not_have_one_is_told(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct signing s;
    (void)state;
    start(&s, &a);
    add(&s, "node", "kubernetes.io/kube-apiserver-client-kubelet", "");
    decide(&s, "node", "Approved");
    world_run(&s.m.w, 1);
    const struct api_certificate_signing_request_status *status = status_of(&s, "node");
    assert_int_equal(status->certificate.n, 0);
    assert_int_equal(status->conditions.n, 2);
    assert_true(str_is(status->conditions.v[1].type, "Failed"));
    assert_true(str_is(status->conditions.v[1].reason, "SignerValidationFailure"));
    assert_true(
        str_is(status->conditions.v[1].message, "subject organization is not system:nodes"));
    managed_stop(&s.m);
}

/* Without an authority there is no controller. */
static void nobody_certifies_without_authority(void **state) {
    struct signing s = {0};
    (void)state;
    managed_start(&s.m, CONTROLLER, "");
    add(&s, "joe", "kubernetes.io/kube-apiserver-client", ", expirationSeconds: 600");
    decide(&s, "joe", "Approved");
    world_run(&s.m.w, 1);
    assert_int_equal(status_of(&s, "joe")->certificate.n, 0);
    managed_stop(&s.m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_approved_gets_one),
        cmocka_unit_test(who_may_not_have_one_is_told),
        cmocka_unit_test(nobody_certifies_without_authority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
