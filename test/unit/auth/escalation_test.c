/* Writes to roles and bindings: nobody gives others what they do not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/rbac.h"
#include "base/limits.h"
#include "objects.h"

static const struct auth_rules *cluster(void) {
    struct auth_rbac *r = auth_rbac_new();
    tell(r, CLUSTER_ROLE("view",
                         RULE("get, list", "''", "pods, '*/scale'") "," URLS("get", "/api/*")));
    tell(r, CLUSTER_ROLE("edit", RULE("get, update", "'', apps", "pods")));
    tell(r, CLUSTER_ROLE("escalate", RULE("escalate, bind", "rbac.authorization.k8s.io",
                                          "roles, clusterroles")));
    tell(r, CLUSTER_ROLE("all", RULE("'*'", "'*'", "'*'") "," URLS("'*'", "'*'")));
    tell(r, CLUSTER_BINDING("view", "view", USER("joe") "," USER("jim")));
    tell(r, CLUSTER_BINDING("gone", "gone", USER("jim")));
    tell(r, CLUSTER_BINDING("all", "all", USER("ann")));
    tell(r, BINDING("a", "escalate", "ClusterRole", "escalate", USER("eve")));
    const struct auth_rules *rules = auth_rbac_publish(r);
    auth_rbac_free(r);
    return rules;
}

/* The message of a write, or an empty one; `old` may be NULL. */
static struct str write_by(struct arena *a, const char *user, const char *manifest,
                           const char *old) {
    const struct auth_rules *rules = cluster();
    struct api_object *o = object_of(manifest), *before = old ? object_of(old) : NULL;
    struct auth_user u = {.name = str_of(user)};
    struct auth_write w = {.user = &u, .object = o, .old = before, .namespace = o->meta->namespace};
    struct registry_failure f = auth_confirm_write(rules, a, &w);
    struct str message = arena_str(a, f.code ? f.message : STR(""));
    api_object_free(o);
    api_object_free(before);
    auth_rules_unref(rules);
    return message;
}

static void expect(const char *user, const char *manifest, const char *message) {
    struct arena a = {0};
    assert_string_equal(write_by(&a, user, manifest, NULL).p, message);
    arena_release(&a);
}

#define MISSING                                                                            \
    " is forbidden: user \"joe\" (groups=[]) is attempting to grant RBAC permissions not " \
    "currently held:\n"

static void what_one_has_may_be_given(void **state) {
    (void)state;
    expect("joe", CLUSTER_ROLE("new", RULE("get", "''", "pods, deployments/scale")), "");
    expect("joe", CLUSTER_ROLE("new", URLS("get", "/api/v1, '/api/*'")), "");
    expect("joe", ROLE("a", "new", RULE("list", "''", "pods")), "");
    expect("joe", CLUSTER_BINDING("new", "view", USER("x")), "");
    expect("ann", CLUSTER_BINDING("new", "edit", USER("x")), "");
    expect("joe", "{apiVersion: v1, kind: Pod, metadata: {name: x}}", "");
}

static void what_one_has_not_is_told(void **state) {
    (void)state;
    expect("joe", CLUSTER_ROLE("new", RULE("get, list, watch, update", "''", "pods, nodes")),
           "clusterroles.rbac.authorization.k8s.io \"new\"" MISSING
           "{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\" \"list\" \"watch\" "
           "\"update\"]}\n"
           "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"update\"]}");
    expect("joe", CLUSTER_ROLE("new", URLS("get, post", "/api/v1, /x")),
           "clusterroles.rbac.authorization.k8s.io \"new\"" MISSING
           "{NonResourceURLs:[\"/api/v1\"], Verbs:[\"post\"]}\n"
           "{NonResourceURLs:[\"/x\"], Verbs:[\"get\"]}\n"
           "{NonResourceURLs:[\"/x\"], Verbs:[\"post\"]}");
    expect("joe", CLUSTER_BINDING("new", "edit", USER("x")),
           "clusterrolebindings.rbac.authorization.k8s.io \"new\"" MISSING
           "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"update\"]}\n"
           "{APIGroups:[\"apps\"], Resources:[\"pods\"], Verbs:[\"get\" \"update\"]}");
    expect("jim",
           ROLE("a", "new",
                "{verbs: [get], apiGroups: [''], resources: [nodes], resourceNames: ['n']}"),
           "roles.rbac.authorization.k8s.io \"new\" is forbidden: user \"jim\" (groups=[]) is "
           "attempting to grant RBAC permissions not currently held:\n"
           "{APIGroups:[\"\"], Resources:[\"nodes\"], ResourceNames:[\"n\"], Verbs:[\"get\"]}; "
           "resolution errors: [clusterroles.rbac.authorization.k8s.io \"gone\" not found]");
}

static void roles_that_are_missing_cannot_be_bound(void **state) {
    (void)state;
    expect("joe", CLUSTER_BINDING("new", "none", USER("x")),
           "clusterroles.rbac.authorization.k8s.io \"none\" not found");
    expect("joe", BINDING("a", "new", "Role", "none", USER("x")),
           "roles.rbac.authorization.k8s.io \"none\" not found");
    expect("joe", BINDING("a", "new", "Odd", "none", USER("x")),
           "unsupported role reference kind: \"Odd\"");
}

static void some_may_escalate_and_bind(void **state) {
    (void)state;
    expect("eve", ROLE("a", "new", RULE("'*'", "'*'", "'*'")), "");
    expect("eve", BINDING("a", "new", "ClusterRole", "all", USER("x")), "");
    struct arena a = {0};
    assert_true(write_by(&a, "eve", ROLE("b", "new", RULE("get", "''", "pods")), NULL).n > 0);
    assert_true(write_by(&a, "eve", CLUSTER_BINDING("new", "all", USER("x")), NULL).n > 0);
    arena_release(&a);
}

#define AGGREGATED                                                                    \
    "{" RBAC "kind: ClusterRole, metadata: {name: new}, rules: [], aggregationRule: " \
    "{clusterRoleSelectors: [{matchLabels: {x: z}}]}}"

static void aggregation_is_for_those_who_may_do_everything(void **state) {
    (void)state;
    expect("ann", AGGREGATED, "");
    expect("joe", AGGREGATED,
           "clusterroles.rbac.authorization.k8s.io \"new\" is forbidden: must have cluster-admin "
           "privileges to use the aggregationRule");
    struct arena a = {0};
    assert_true(write_by(&a, "joe", CLUSTER_ROLE("new", ""), AGGREGATED).n > 0);
    assert_int_equal(write_by(&a, "joe", AGGREGATED, AGGREGATED).n, 0);
    arena_release(&a);
}

static void the_garbage_collector_may_write_its_fields(void **state) {
    (void)state;
    struct arena a = {0};
#define ALL_IN(finalizers)                                                                 \
    "{" RBAC "kind: ClusterRole, metadata: {name: new, uid: '1', finalizers: [" finalizers \
    "]}, rules: [" RULE("'*'", "'*'", "'*'") "]}"
    assert_int_equal(write_by(&a, "joe", ALL_IN(""), ALL_IN("a/b")).n, 0);
    assert_true(write_by(&a, "joe", ALL_IN(""), CLUSTER_ROLE("new", "")).n > 0);
    arena_release(&a);
}

static void masters_may_write_anything(void **state) {
    (void)state;
    const struct auth_rules *rules = cluster();
    struct auth_user root = USER_OF("root", STR("system:masters"));
    struct api_object *o = object_of(CLUSTER_ROLE("new", RULE("'*'", "'*'", "'*'")));
    struct arena a = {0};
    struct auth_write w = {.user = &root, .object = o};
    assert_int_equal(auth_confirm_write(rules, &a, &w).code, ERR_NONE);
    arena_release(&a);
    api_object_free(o);
    auth_rules_unref(rules);
}

/* A rule whose three lists have this many items, and one more. */
static struct api_object *wide_role(size_t width) {
    struct buf b = BUF_INIT(SIZE_MAX);
    buf_add(&b, STR("{" RBAC "kind: ClusterRole, metadata: {name: new}, rules: [{verbs: [v"));
    for (int list = 0; list < 3; list++) {
        buf_add(&b, list == 1   ? STR("], resources: [r")
                    : list == 2 ? STR("], apiGroups: [g")
                                : STR(""));
        for (size_t i = 0; i < width; i++)
            buf_addf(&b, ", x%zu", i);
    }
    buf_add(&b, STR("]}]}"));
    buf_add_char(&b, '\0');
    struct api_object *o = object_of(b.p);
    buf_release(&b);
    return o;
}

static struct registry_failure write_wide(struct arena *a, size_t width) {
    const struct auth_rules *rules = cluster();
    struct auth_user joe = {.name = STR("joe")};
    struct api_object *o = wide_role(width);
    struct auth_write w = {.user = &joe, .object = o};
    struct registry_failure f = auth_confirm_write(rules, a, &w);
    f.message = arena_str(a, f.message);
    api_object_free(o);
    auth_rules_unref(rules);
    return f;
}

/* The lists of a rule multiply: too many parts are not looked at, and what is told is cut. */
static void wide_rules_are_bounded(void **state) {
    (void)state;
    struct arena a = {0};
    struct registry_failure f = write_wide(&a, 50);
    assert_int_equal(f.code, ERR_FORBIDDEN);
    assert_true(f.message.n > LIMIT_AUTH_ESCALATION_BYTES / 2 &&
                f.message.n < LIMIT_AUTH_ESCALATION_BYTES + 1000);
    enum { WIDTH = 400 };
    assert_true(WIDTH * WIDTH * WIDTH > LIMIT_AUTH_COVER_STEPS);
    f = write_wide(&a, WIDTH);
    assert_int_equal(f.code, ERR_FORBIDDEN);
    assert_true(str_find(f.message, STR("too many")) != STR_NONE);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_has_may_be_given),
        cmocka_unit_test(what_one_has_not_is_told),
        cmocka_unit_test(roles_that_are_missing_cannot_be_bound),
        cmocka_unit_test(some_may_escalate_and_bind),
        cmocka_unit_test(aggregation_is_for_those_who_may_do_everything),
        cmocka_unit_test(the_garbage_collector_may_write_its_fields),
        cmocka_unit_test(masters_may_write_anything),
        cmocka_unit_test(wide_rules_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
