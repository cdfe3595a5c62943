/* Tokens that are asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokens.h"

#define REQUEST(meta, spec)                                                             \
    "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, metadata: {" meta "}, " \
    "spec: {" spec "}}"

static struct api_object *request_of(const char *text) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    struct api_object *o = object_of(text);
    api_object_default(o, &config.enabled);
    return o;
}

static struct registry_failure post(struct world *w, struct auth_token_call *call,
                                    struct api_object *request) {
    call->namespace = STR("a");
    if (!call->name.n)
        call->name = STR("robot");
    call->now = NOW;
    call->id = STR("id-2");
    return auth_token_request(&w->issuer, &w->a, call, request);
}

static void expect(const char *text, enum err_code code, const char *message) {
    struct world *w = world_new();
    struct auth_token_call call = {0};
    struct api_object *o = request_of(text);
    struct registry_failure f = post(w, &call, o);
    assert_int_equal(f.code, code);
    if (code && !str_is(f.message, message))
        fail_msg("%.*s", STR_ARG(f.message));
    api_object_free(o);
    world_free(w);
}

static void a_token_is_signed_that_is_believed(void **state) {
    (void)state;
    struct world *w = world_new();
    struct auth_token_call call = {0};
    struct api_object *o = request_of(REQUEST("", "boundObjectRef: {kind: Pod, apiVersion: v1, "
                                                  "name: p, uid: pod-1}"));
    assert_int_equal(post(w, &call, o).code, ERR_NONE);
    const struct api_authentication_token_request *body = o->body;
    assert_true(str_is(body->metadata.name, "robot") && str_is(body->metadata.uid, "sa-1"));
    assert_int_equal(body->spec.audiences.n, 2);
    assert_int_equal(body->status.expiration_timestamp.sec, NOW + 3600);
    struct auth_answer answer = ask_at(w, body->status.token, NOW + 3600);
    assert_int_equal(answer.outcome, AUTH_KNOWN);
    assert_true(str_is(auth_user_extra(&answer.user, STR(AUTH_EXTRA_POD_NAME)).v[0], "p"));
    assert_true(str_is(auth_user_extra(&answer.user, STR(AUTH_EXTRA_NODE_UID)).v[0], "node-1"));
    api_object_free(o);
    world_free(w);
}

#define INVALID "TokenRequest.authentication.k8s.io \"\" is invalid: "

static void odd_requests_are_refused(void **state) {
    (void)state;
    expect(REQUEST("", "expirationSeconds: 599"), ERR_UNPROCESSABLE,
           INVALID "spec.expirationSeconds: Invalid value: 599: may not specify a duration less "
                   "than 10 minutes");
    expect(REQUEST("", "expirationSeconds: 4294967297"), ERR_UNPROCESSABLE,
           INVALID "spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration "
                   "larger than 2^32 seconds");
    expect(REQUEST("", "attestations: {x: [b]}"), ERR_UNPROCESSABLE,
           INVALID "spec.attestations: Invalid value: {\"x\":[\"b\"]}: attestations may only be "
                   "specified with a webhook bound object reference");
    expect(REQUEST("name: other", ""), ERR_UNPROCESSABLE,
           "TokenRequest.authentication.k8s.io \"robot\" is invalid: metadata.name: Invalid "
           "value: \"other\": must match the service account name if specified");
    expect(REQUEST("namespace: other", ""), ERR_UNPROCESSABLE,
           "TokenRequest.authentication.k8s.io \"robot\" is invalid: metadata.namespace: Invalid "
           "value: \"other\": must match the service account namespace if specified");
    expect(REQUEST("uid: sa-0", ""), ERR_CONFLICT,
           "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"robot\": the "
           "UID in the token request (sa-0) does not match the UID of the service account (sa-1)");
}

#define REF(kind, version, name) \
    REQUEST("", "boundObjectRef: {kind: " kind ", apiVersion: " version ", name: " name "}")

static void odd_references_are_refused(void **state) {
    (void)state;
    expect(REF("Pod", "v1", "q"), ERR_NOT_FOUND, "pods \"q\" not found");
    expect(REF("Node", "v1", "q"), ERR_NOT_FOUND, "nodes \"q\" not found");
    expect(REF("Secret", "v1", "q"), ERR_NOT_FOUND, "secrets \"q\" not found");
    expect(REF("Node", "v1", "n1"), ERR_NONE, "");
    expect(REF("ConfigMap", "v1", "q"), ERR_INVALID,
           "cannot bind token to object of type /v1, Kind=ConfigMap");
    expect(REF("Pod", "apps/v1", "q"), ERR_INVALID,
           "cannot bind token to object of type apps/v1, Kind=Pod");
    expect(REQUEST("", "boundObjectRef: {kind: Pod, apiVersion: v1, name: p, uid: pod-0}"),
           ERR_CONFLICT,
           "Operation cannot be fulfilled on Pod \"p\": the UID in the bound object reference "
           "(pod-0) does not match the UID in record. The object might have been deleted and then "
           "recreated");
    expect(REF("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", "x"),
           ERR_UNPROCESSABLE,
           INVALID "[spec.audiences: Invalid value: [\"https://kubernetes.default.svc\",\"k3s\"]: "
                   "must be length 1 when bound to a webhook config, spec.attestations: Invalid "
                   "value: {}: webhook bound requests require exactly one "
                   "admissionReviewAPIGroups attestation]");
}

static void other_accounts_and_pods_do_not_go_together(void **state) {
    (void)state;
    struct world *w = world_new();
    struct auth_token_call call = {.name = STR("nobody")};
    struct api_object *o = request_of(REQUEST("", ""));
    struct registry_failure f = post(w, &call, o);
    assert_int_equal(f.code, ERR_NOT_FOUND);
    assert_true(str_is(f.message, "serviceaccounts \"nobody\" not found"));
    api_object_free(o);
    world_put(w, "{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: a, name: other}}");
    call.name = STR("other");
    o = request_of(REF("Pod", "v1", "p"));
    f = post(w, &call, o);
    assert_true(str_is(f.message, "cannot bind token for serviceaccount \"other\" to pod running "
                                  "with different serviceaccount name."));
    api_object_free(o);
    world_free(w);
}

static void long_tokens_are_shortened_or_extended(void **state) {
    (void)state;
    struct world *w = world_new();
    struct auth_token_call call = {.most_seconds = 1800};
    struct api_object *o = request_of(REQUEST("", ""));
    assert_int_equal(post(w, &call, o).code, ERR_NONE);
    assert_true(
        str_is(call.warning, "requested expiration of 3600 seconds shortened to 1800 seconds"));
    const struct api_authentication_token_request *body = o->body;
    assert_int_equal(body->spec.expiration_seconds.v, 1800);
    assert_int_equal(ask_at(w, body->status.token, NOW + 1861).outcome, AUTH_REFUSED);
    api_object_free(o);
    call = (struct auth_token_call){.extends = true};
    o = request_of(REQUEST("", "expirationSeconds: 3607, boundObjectRef: {kind: Pod, "
                               "apiVersion: v1, name: p}"));
    assert_int_equal(post(w, &call, o).code, ERR_NONE);
    body = o->body;
    assert_int_equal(body->status.expiration_timestamp.sec, NOW + 3607);
    assert_int_equal(ask_at(w, body->status.token, NOW + 364 * 86400).outcome, AUTH_KNOWN);
    api_object_free(o);
    world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_signed_that_is_believed),
        cmocka_unit_test(odd_requests_are_refused),
        cmocka_unit_test(odd_references_are_refused),
        cmocka_unit_test(other_accounts_and_pods_do_not_go_together),
        cmocka_unit_test(long_tokens_are_shortened_or_extended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
