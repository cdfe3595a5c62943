/* Tokens of service accounts: whose they are, and what makes them invalid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/token_int.h"
#include "tokens.h"

static void expect_refusal(struct world *w, struct str token, int64_t now, const char *why) {
    struct auth_answer answer = ask_at(w, token, now);
    assert_int_equal(answer.outcome, AUTH_REFUSED);
    if (!str_is(answer.why, why))
        fail_msg("%.*s instead of %s", STR_ARG(answer.why), why);
}

static void a_good_token_tells_who_it_is(void **state) {
    (void)state;
    struct world *w = world_new();
    struct auth_claims c = robot_claims(w);
    c.pod_name = STR("p"), c.pod_uid = STR("pod-1");
    c.node_name = STR("n1"), c.node_uid = STR("node-1");
    struct auth_answer answer = ask_at(w, sign_claims(w, &c), NOW + 10);
    assert_int_equal(answer.outcome, AUTH_KNOWN);
    assert_true(str_is(answer.user.name, "system:serviceaccount:a:robot"));
    assert_true(str_is(answer.user.uid, "sa-1"));
    assert_int_equal(answer.user.groups.n, 2);
    assert_int_equal(answer.user.extra.n, 5);
    assert_true(
        str_is(auth_user_extra(&answer.user, STR(AUTH_EXTRA_CREDENTIAL_ID)).v[0], "JTI=id-1"));
    assert_true(str_is(auth_user_extra(&answer.user, STR(AUTH_EXTRA_NODE_UID)).v[0], "node-1"));
    assert_int_equal(answer.audiences.n, 2);
    world_free(w);
}

static void times_are_heeded(void **state) {
    (void)state;
    struct world *w = world_new();
    struct auth_claims c = robot_claims(w);
    struct str token = sign_claims(w, &c);
    assert_int_equal(ask_at(w, token, NOW + 3600 + 60).outcome, AUTH_KNOWN);
    expect_refusal(w, token, NOW + 3600 + 61, "service account token has expired");
    assert_int_equal(ask_at(w, token, NOW - 60).outcome, AUTH_KNOWN);
    expect_refusal(w, token, NOW - 61, "service account token is not valid yet");
    struct err err;
    struct str future = auth__jwt_sign(
        w->keys, &w->a,
        STR("{\"iss\":\"https://kubernetes.default.svc\",\"iat\":1900000000,\"aud\":\"k3s\"}"),
        &err);
    expect_refusal(w, future, NOW, "service account token is issued in the future");
    world_free(w);
}

static void audiences_are_heeded(void **state) {
    (void)state;
    struct world *w = world_new();
    struct auth_claims c = robot_claims(w);
    struct str others[] = {STR("vault"), STR("k3s")};
    c.audiences = (struct api_strs){.v = others, .n = 1};
    struct str token = sign_claims(w, &c);
    expect_refusal(w, token, NOW,
                   "token audiences [\"vault\"] is invalid for the target audiences "
                   "[\"https://kubernetes.default.svc\" \"k3s\"]");
    const struct auth_authenticator who = {.issuer = &w->issuer};
    struct auth_answer answer = auth_authenticate_token(&who, &w->a, token, &c.audiences, NOW);
    assert_int_equal(answer.outcome, AUTH_KNOWN);
    assert_true(answer.audiences.n == 1 && str_is(answer.audiences.v[0], "vault"));
    c.audiences.n = 2;
    answer = ask_at(w, sign_claims(w, &c), NOW);
    assert_true(answer.audiences.n == 1 && str_is(answer.audiences.v[0], "k3s"));
    world_free(w);
}

static void objects_must_be_there(void **state) {
    (void)state;
    struct world *w = world_new();
    struct auth_claims c = robot_claims(w), other = c;
    other.name = STR("nobody");
    expect_refusal(w, sign_claims(w, &other), NOW, "serviceaccounts \"nobody\" not found");
    other = c, other.uid = STR("sa-0");
    expect_refusal(w, sign_claims(w, &other), NOW,
                   "service account UID (sa-1) does not match claim (sa-0)");
    other = c, other.pod_name = STR("q"), other.pod_uid = STR("pod-1");
    expect_refusal(w, sign_claims(w, &other), NOW, "service account token has been invalidated");
    other.pod_name = STR("p"), other.pod_uid = STR("pod-0");
    expect_refusal(w, sign_claims(w, &other), NOW,
                   "pod UID (pod-1) does not match service account pod ref claim (pod-0)");
    other = c, other.node_name = STR("n2"), other.node_uid = STR("node-1");
    expect_refusal(w, sign_claims(w, &other), NOW, "service account token has been invalidated");
    other.pod_name = STR("p"), other.pod_uid = STR("pod-1");
    assert_int_equal(ask_at(w, sign_claims(w, &other), NOW).outcome, AUTH_KNOWN);
    other = c, other.secret_name = STR("s"), other.secret_uid = STR("x");
    expect_refusal(w, sign_claims(w, &other), NOW, "service account token has been invalidated");
    world_put(w, "{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: a, name: robot, "
                 "uid: sa-1, deletionTimestamp: '2027-01-15T07:58:00Z'}}");
    assert_int_equal(ask_at(w, sign_claims(w, &c), NOW - 60).outcome, AUTH_KNOWN);
    expect_refusal(w, sign_claims(w, &c), NOW + 1, "service account a/robot has been deleted");
    world_free(w);
}

static void other_issuers_are_not_known(void **state) {
    (void)state;
    struct world *w = world_new(), *other = world_new();
    other->names[0] = STR("https://elsewhere");
    struct auth_claims c = robot_claims(w);
    expect_refusal(w, sign_claims(other, &c), NOW, "invalid bearer token");
    other->names[0] = w->names[0];
    expect_refusal(w, sign_claims(other, &c), NOW, "invalid signature, no keys found");
    world_free(other);
    world_free(w);
}

static void claims_of_the_wrong_type_are_refused(void **state) {
    (void)state;
    static const char *const odd[] = {
        "\"aud\":5",
        "\"aud\":[5]",
        "\"aud\":null",
        "\"exp\":\"soon\"",
        "\"nbf\":[]",
        "\"sub\":[]",
        "\"jti\":{}",
        "\"kubernetes.io\":5",
        "\"kubernetes.io\":{\"pod\":5}",
        "\"kubernetes.io\":{\"pod\":{\"name\":5}}",
        "\"kubernetes.io\":{\"warnafter\":\"x\"}",
    };
    struct world *w = world_new();
    struct err err;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct str payload =
            arena_printf(&w->a, "{\"iss\":\"https://kubernetes.default.svc\",%s}", odd[i]);
        expect_refusal(w, auth__jwt_sign(w->keys, &w->a, payload, &err), NOW,
                       "the claims of the token cannot be read");
    }
    struct str webhook = auth__jwt_sign(
        w->keys, &w->a,
        STR("{\"iss\":\"https://kubernetes.default.svc\",\"aud\":\"k3s\",\"kubernetes.io\":{"
            "\"namespace\":\"a\",\"serviceaccount\":{\"name\":\"robot\",\"uid\":\"sa-1\"},"
            "\"validatingwebhookconfiguration\":{\"name\":\"w\"}}}"),
        &err);
    expect_refusal(w, webhook, NOW,
                   "feature gate \"APIServerWebhookAuthenticationToken\" is disabled, but token "
                   "is webhook bound");
    world_free(w);
}

/* ---- tokens that are kept in Secrets ---- */

static struct str legacy_token(struct world *w, const char *namespace, const char *name,
                               const char *uid, const char *secret) {
    static const char *const keys[] = {"namespace", "service-account.name", "service-account.uid",
                                       "secret.name"};
    const char *values[] = {namespace, name, uid, secret};
    struct json claims = {.kind = JSON_OBJECT};
    json_add(&w->a, &claims, STR("iss"), json_of_str(STR("kubernetes/serviceaccount")));
    json_add(&w->a, &claims, STR("sub"), json_of_str(STR("system:serviceaccount:a:robot")));
    for (size_t i = 0; i < 4; i++)
        json_add(&w->a, &claims, arena_printf(&w->a, "kubernetes.io/serviceaccount/%s", keys[i]),
                 json_of_str(str_of(values[i])));
    struct buf payload = BUF_INIT(SIZE_MAX);
    struct err err;
    json_write(&payload, &claims, NULL);
    struct str token = auth__jwt_sign(w->keys, &w->a, buf_view(&payload), &err);
    buf_release(&payload);
    return token;
}

static void put_secret(struct world *w, struct str token, const char *more) {
    world_put(w, arena_printf(&w->a,
                              "{apiVersion: v1, kind: Secret, metadata: {namespace: a, name: s%s}}",
                              more)
                     .p);
    /* data is bytes: it is put there by hand */
    struct api_object *o = api_object_copy(w->objects[--w->n]);
    struct api_secret *secret = api_own_body(o);
    labels_put(&o->arena, &secret->data, (struct label){STR("token"), arena_str(&o->arena, token)});
    api_object_unref(w->objects[w->n]);
    w->objects[w->n++] = api_publish(o);
}

static void tokens_of_secrets_are_compared(void **state) {
    (void)state;
    struct world *w = world_new();
    struct str token = legacy_token(w, "a", "robot", "sa-1", "s");
    expect_refusal(w, token, NOW, "Token has been invalidated");
    put_secret(w, STR("other"), "");
    expect_refusal(w, token, NOW, "Token does not match server's copy");
    put_secret(w, token, "");
    struct auth_answer answer = ask_at(w, token, NOW);
    assert_int_equal(answer.outcome, AUTH_KNOWN);
    assert_true(str_is(answer.user.name, "system:serviceaccount:a:robot"));
    assert_int_equal(answer.user.extra.n, 0);
    assert_int_equal(answer.warning.n, 0);
    struct err err = {0};
    token = auth_legacy_token_sign(&w->issuer, &w->a, w->objects[0], w->objects[w->n - 1], &err);
    put_secret(w, token, "");
    assert_int_equal(ask_at(w, token, NOW).outcome, AUTH_KNOWN);
    world_put(w, "{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: a, name: robot, "
                 "uid: sa-1}, secrets: [{name: s}]}");
    assert_true(ask_at(w, token, NOW).warning.n > 0);
    put_secret(w, token, ", labels: {kubernetes.io/legacy-token-invalid-since: '2026-01-01'}");
    assert_int_equal(ask_at(w, token, NOW).outcome, AUTH_REFUSED);
    put_secret(w, token, ", deletionTimestamp: '2027-01-15T07:58:00Z'");
    expect_refusal(w, token, NOW, "Token has been invalidated");
    world_free(w);
}

static void odd_tokens_of_secrets_are_refused(void **state) {
    (void)state;
    struct world *w = world_new();
    expect_refusal(w, legacy_token(w, "", "robot", "sa-1", "s"), NOW, "namespace claim is missing");
    expect_refusal(w, legacy_token(w, "a", "", "sa-1", "s"), NOW,
                   "serviceAccountName claim is missing");
    expect_refusal(w, legacy_token(w, "a", "robot", "", "s"), NOW,
                   "serviceAccountUID claim is missing");
    expect_refusal(w, legacy_token(w, "a", "robot", "sa-1", ""), NOW,
                   "secretName claim is missing");
    expect_refusal(w, legacy_token(w, "b", "robot", "sa-1", "s"), NOW, "sub claim is invalid");
    struct str token = legacy_token(w, "a", "robot", "sa-0", "s");
    put_secret(w, token, "");
    expect_refusal(w, token, NOW, "ServiceAccount UID (sa-1) does not match claim (sa-0)");
    world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_token_tells_who_it_is),
        cmocka_unit_test(times_are_heeded),
        cmocka_unit_test(audiences_are_heeded),
        cmocka_unit_test(objects_must_be_there),
        cmocka_unit_test(other_issuers_are_not_known),
        cmocka_unit_test(claims_of_the_wrong_type_are_refused),
        cmocka_unit_test(tokens_of_secrets_are_compared),
        cmocka_unit_test(odd_tokens_of_secrets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
