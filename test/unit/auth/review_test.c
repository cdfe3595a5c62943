/* Reviews: questions that are asked through the API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/review.h"
#include "tokens.h"

#define AUTHZ "apiVersion: authorization.k8s.io/v1, "
#define AUTHN "apiVersion: authentication.k8s.io/v1, "

static const struct auth_rules *cluster(void) {
    struct auth_rbac *r = auth_rbac_new();
    tell(r, CLUSTER_ROLE("view", RULE("get", "''", "pods") "," URLS("get", "/healthz")));
    tell(r, CLUSTER_BINDING("view", "view", USER("joe")));
    tell(r, BINDING("a", "gone", "Role", "gone", USER("joe")));
    const struct auth_rules *rules = auth_rbac_publish(r);
    auth_rbac_free(r);
    return rules;
}

/* The status of the answer as JSON, or the words of the failure. */
static struct str review_in(struct arena *a, const char *namespace, const char *text) {
    struct world *w = world_new();
    struct auth_user joe = {.name = STR("joe"), .uid = STR("1")};
    const struct auth_rules *rules = cluster();
    const struct auth_authenticator who = {.issuer = &w->issuer};
    struct auth_reviewer r = {
        .rules = rules, .who = &who, .user = &joe, .namespace = str_of(namespace), .now = NOW};
    struct api_object *o = object_of(text);
    assert_true(auth_is_review(o));
    struct registry_failure f = auth_review(&r, a, o);
    struct buf b = BUF_INIT(SIZE_MAX);
    struct json tree = api_object_encode(o, a);
    json_write(&b, json_get(&tree, STR("status")), NULL);
    struct str out = arena_str(a, f.code ? f.message : buf_view(&b));
    buf_release(&b);
    api_object_free(o);
    auth_rules_unref(rules);
    world_free(w);
    return out;
}

static void expect(const char *text, const char *status) {
    struct arena a = {0};
    struct str got = review_in(&a, "", text);
    if (!str_is(got, status))
        fail_msg("%.*s", STR_ARG(got));
    arena_release(&a);
}

#define ALLOWED                                                                           \
    "{\"allowed\":true,\"reason\":\"RBAC: allowed by ClusterRoleBinding \\\"view\\\" of " \
    "ClusterRole \\\"view\\\" to User \\\"joe\\\"\"}"
#define POD "resourceAttributes: {verb: get, resource: pods}"

static void access_is_reviewed(void **state) {
    (void)state;
    expect("{" AUTHZ "kind: SubjectAccessReview, spec: {user: joe, " POD "}}", ALLOWED);
    expect("{" AUTHZ "kind: SubjectAccessReview, spec: {user: jim, " POD "}}",
           "{\"allowed\":false}");
    expect("{" AUTHZ "kind: SelfSubjectAccessReview, spec: {" POD "}}", ALLOWED);
    expect("{" AUTHZ "kind: SelfSubjectAccessReview, spec: {nonResourceAttributes: {verb: get, "
           "path: /healthz}}}",
           ALLOWED);
    expect("{" AUTHZ "kind: SelfSubjectAccessReview, spec: {nonResourceAttributes: {verb: get, "
           "path: /}}}",
           "{\"allowed\":false}");
    expect("{" AUTHZ "kind: SelfSubjectAccessReview, spec: {resourceAttributes: {verb: get, "
           "resource: nodes, namespace: a}}}",
           "{\"allowed\":false,\"reason\":\"rbac: RBAC: role.rbac.authorization.k8s.io "
           "\\\"gone\\\" not "
           "found\"}");
}

static void local_access_is_reviewed(void **state) {
    (void)state;
    struct arena a = {0};
#define LOCAL(namespace_, attributes)                                             \
    "{" AUTHZ "kind: LocalSubjectAccessReview, metadata: {namespace: " namespace_ \
    "}, spec: {user: joe, " attributes "}}"
    assert_string_equal(review_in(&a, "b",
                                  LOCAL("b", "resourceAttributes: {verb: get, resource: "
                                             "pods, namespace: b}"))
                            .p,
                        ALLOWED);
    assert_string_equal(
        review_in(&a, "c",
                  LOCAL("b", "resourceAttributes: {verb: get, resource: pods, namespace: "
                             "b}"))
            .p,
        "spec.resourceAttributes.namespace must match namespace: c");
    expect(LOCAL("b", "nonResourceAttributes: {path: /}"),
           ".authorization.k8s.io \"\" is invalid: "
           "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/\",\"Verb\":\"\"}: disallowed "
           "on this kind "
           "of request");
    expect(LOCAL("b", "resourceAttributes: {namespace: c}"),
           ".authorization.k8s.io \"\" is invalid: "
           "spec.resourceAttributes.namespace: Invalid value: \"c\": must match "
           "metadata.namespace");
    arena_release(&a);
}

#define INVALID ".authorization.k8s.io \"\" is invalid: "

static void odd_reviews_are_refused(void **state) {
    (void)state;
    expect("{" AUTHZ "kind: SubjectAccessReview, spec: {user: joe}}",
           INVALID "spec: Invalid value: null: exactly one of nonResourceAttributes or "
                   "resourceAttributes must be specified");
    expect("{" AUTHZ "kind: SubjectAccessReview, spec: {" POD "}}",
           INVALID "spec.user: Invalid value: \"\": at least one of user or group must be "
                   "specified");
    expect("{" AUTHZ "kind: SubjectAccessReview, metadata: {name: x}, spec: {user: joe, " POD "}}",
           INVALID "metadata: Invalid value: {\"name\":\"x\"}: must be empty");
    expect("{" AUTHZ "kind: SubjectAccessReview, spec: {user: joe, resourceAttributes: "
           "{fieldSelector: {}, labelSelector: {rawSelector: a, requirements: [{key: a, operator: "
           "In}]}}}}",
           INVALID "[spec.resourceAttributes.fieldSelector.requirements: Required value: when "
                   "spec.resourceAttributes.fieldSelector is specified, requirements or "
                   "rawSelector is required, spec.resourceAttributes.labelSelector.rawSelector: "
                   "Invalid value: \"a\": may not specified at the same time as requirements, "
                   "spec.resourceAttributes.labelSelector.requirements[0].values: Required value: "
                   "must be specified when `operator` is 'In' or 'NotIn']");
}

static void selectors_that_cannot_be_read_are_told(void **state) {
    (void)state;
#define SELECTED(field, label)                                                            \
    "{" AUTHZ                                                                             \
    "kind: SelfSubjectAccessReview, spec: {resourceAttributes: {verb: x, fieldSelector: " \
    "{" field "}, labelSelector: {" label "}}}}"
    expect(SELECTED("rawSelector: 'a=b,c!=d\\,'", "rawSelector: 'a in (b)'"),
           "{\"allowed\":false}");
    expect(SELECTED("rawSelector: 'a'", "rawSelector: 'a in b'"),
           "{\"allowed\":false,\"evaluationError\":\"spec.resourceAttributes.fieldSelector ignored "
           "due to parse error; spec.resourceAttributes.labelSelector ignored due to parse "
           "error\"}");
    expect(SELECTED("requirements: [{key: a, operator: In, values: [b]}, {key: a, operator: "
                    "Exists}]",
                    "requirements: [{key: a, operator: Odd}]"),
           "{\"allowed\":false,\"evaluationError\":\"spec.resourceAttributes.fieldSelector "
           "partially ignored due to parse error; spec.resourceAttributes.labelSelector ignored "
           "due to parse error\"}");
}

static void rules_are_listed(void **state) {
    (void)state;
    expect("{" AUTHZ "kind: SelfSubjectRulesReview, spec: {namespace: a}}",
           "{\"resourceRules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}"
           "],\"nonResourceRules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/healthz\"]}],"
           "\"incomplete\":false,\"evaluationError\":\"role.rbac.authorization.k8s.io \\\"gone\\\" "
           "not found\"}");
    expect("{" AUTHZ "kind: SelfSubjectRulesReview}", "no namespace on request");
}

static void users_are_told_who_they_are(void **state) {
    (void)state;
    expect("{" AUTHN "kind: SelfSubjectReview}",
           "{\"userInfo\":{\"username\":\"joe\",\"uid\":\"1\"}}");
}

static void tokens_are_reviewed(void **state) {
    (void)state;
    struct arena a = {0};
    expect("{" AUTHN "kind: TokenReview}", "token is required for TokenReview in authentication");
    expect("{" AUTHN "kind: TokenReview, spec: {token: x}}",
           "{\"user\":{},\"error\":\"invalid bearer token\"}");
    assert_string_equal(review_in(&a, "b", "{" AUTHN "kind: TokenReview, spec: {token: x}}").p,
                        "namespace is not allowed on this type: b");
    struct world *w = world_new();
    struct auth_claims c = robot_claims(w);
    const struct auth_authenticator who = {.issuer = &w->issuer};
    struct auth_reviewer r = {.who = &who, .now = NOW};
    struct api_object *o = object_of("{" AUTHN "kind: TokenReview, spec: {audiences: [k3s]}}");
    ((struct api_token_review *)api_own_body(o))->spec.token = sign_claims(w, &c);
    assert_int_equal(auth_review(&r, &a, o).code, ERR_NONE);
    const struct api_token_review *review = o->body;
    assert_true(review->status.authenticated);
    assert_true(str_is(review->status.user.username, "system:serviceaccount:a:robot"));
    assert_int_equal(review->status.user.groups.n, 3);
    assert_true(review->status.audiences.n == 1 && str_is(review->status.audiences.v[0], "k3s"));
    api_object_free(o);
    world_free(w);
    arena_release(&a);
}

static void other_kinds_are_no_reviews(void **state) {
    (void)state;
    struct arena a = {0};
    struct auth_reviewer r = {0};
    struct api_object *o = object_of(NODE_N1);
    assert_false(auth_is_review(o));
    assert_int_equal(auth_review(&r, &a, o).code, ERR_INVALID);
    api_object_free(o);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(access_is_reviewed),
        cmocka_unit_test(local_access_is_reviewed),
        cmocka_unit_test(odd_reviews_are_refused),
        cmocka_unit_test(selectors_that_cannot_be_read_are_told),
        cmocka_unit_test(rules_are_listed),
        cmocka_unit_test(users_are_told_who_they_are),
        cmocka_unit_test(tokens_are_reviewed),
        cmocka_unit_test(other_kinds_are_no_reviews),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
