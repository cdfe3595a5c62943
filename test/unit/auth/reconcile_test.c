/* The roles and bindings that every cluster has, and what becomes of those that are stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/bootstrap.h"
#include "base/vec.h"
#include "objects.h"

struct found {
    const char *kind, *name;
    struct api_object *o;
    size_t n;
};

static void look_for(void *ctx, struct api_object *o) {
    struct found *f = ctx;
    f->n++;
    if (!f->o && str_is(o->names->kind, f->kind) && str_is(o->meta->name, f->name))
        f->o = o;
    else
        api_object_free(o);
}

static struct api_object *expected(const char *kind, const char *name) {
    struct found f = {.kind = kind, .name = name};
    auth_bootstrap_each(look_for, &f);
    assert_non_null(f.o);
    return f.o;
}

static void expect_json(const char *kind, const char *name, const char *text) {
    struct api_object *o = expected(kind, name);
    struct arena a = {0};
    struct buf b = BUF_INIT(SIZE_MAX);
    struct json tree = api_object_encode(o, &a);
    json_write(&b, &tree, NULL);
    if (!str_is(buf_view(&b), text))
        fail_msg("%.*s", STR_ARG(buf_view(&b)));
    buf_release(&b);
    arena_release(&a);
    api_object_free(o);
}

#define META(name, labels)                                                             \
    "\"metadata\":{\"name\":\"" name "\",\"labels\":{\"kubernetes.io/bootstrapping\":" \
    "\"rbac-defaults\"" labels                                                         \
    "},\"annotations\":{\"rbac.authorization.kubernetes.io/autoupdate\""               \
    ":\"true\"}}"
#define V1 "\"apiVersion\":\"rbac.authorization.k8s.io/v1\","

static void the_table_becomes_objects(void **state) {
    (void)state;
    struct found f = {.kind = "", .name = ""};
    auth_bootstrap_each(look_for, &f);
    assert_true(f.n > 100);
    expect_json(
        "ClusterRole", "edit",
        "{\"kind\":\"ClusterRole\"," V1 META(
            "edit",
            ",\"rbac.authorization.k8s.io/aggregate-to-admin\":\"true\"") ","
                                                                          "\"rules\":null,"
                                                                          "\"aggregationRule\":{"
                                                                          "\"clusterRoleSelectors\""
                                                                          ":[{\"matchLabels\":{"
                                                                          "\"rbac.authorization."
                                                                          "k8s.io/"
                                                                          "aggregate-to-edit\":"
                                                                          "\"true\"}}]}}");
    expect_json(
        "ClusterRoleBinding", "system:controller:job-controller",
        "{\"kind\":\"ClusterRoleBinding\"," V1 META(
            "system:controller:job-controller",
            "") ",\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"job-controller\","
                "\"namespace\":\"kube-system\"}],\"roleRef\":{\"apiGroup\":\"rbac.authorization."
                "k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"system:controller:job-controller\"}"
                "}");
}

static void what_is_missing_is_created(void **state) {
    (void)state;
    struct api_object *o = expected("ClusterRole", "cluster-admin"), *out;
    assert_int_equal(auth_reconcile(o, NULL, &out), AUTH_RECONCILE_CREATE);
    assert_true(str_is(out->meta->name, "cluster-admin"));
    struct api_object *again;
    assert_int_equal(auth_reconcile(o, out, &again), AUTH_RECONCILE_NONE);
    assert_null(again);
    api_object_free(out);
    api_object_free(o);
}

static enum auth_reconciliation reconcile(const char *kind, const char *name, const char *stored,
                                          struct api_object **out) {
    struct api_object *o = expected(kind, name), *there = object_of(stored);
    enum auth_reconciliation what = auth_reconcile(o, there, out);
    api_object_free(o);
    api_object_free(there);
    return what;
}

static void roles_get_the_rules_that_they_lack(void **state) {
    (void)state;
    struct api_object *out;
    assert_int_equal(
        reconcile("ClusterRole", "system:basic-user",
                  CLUSTER_ROLE("'system:basic-user'", RULE("'*'", "authorization.k8s.io", "'*'")),
                  &out),
        AUTH_RECONCILE_UPDATE);
    const struct api_cluster_role *role = out->body;
    assert_int_equal(role->rules.n, 2);
    assert_true(str_is(role->rules.v[1].resources.v[0], "selfsubjectreviews"));
    assert_int_equal(role->metadata.labels.n, 1);
    api_object_free(out);
    assert_int_equal(reconcile("ClusterRole", "view",
                               "{" RBAC "kind: ClusterRole, metadata: {name: view}, rules: []}",
                               &out),
                     AUTH_RECONCILE_UPDATE);
    role = out->body;
    assert_int_equal(role->aggregation_rule->cluster_role_selectors.n, 1);
    api_object_free(out);
    assert_int_equal(
        reconcile("ClusterRole", "cluster-admin",
                  "{" RBAC "kind: ClusterRole, metadata: {name: cluster-admin}, aggregationRule: "
                  "{clusterRoleSelectors: [{matchLabels: {a: b}}]}, rules: []}",
                  &out),
        AUTH_RECONCILE_UPDATE);
    role = out->body;
    assert_null(role->aggregation_rule);
    assert_int_equal(role->rules.n, 2);
    api_object_free(out);
}

#define PROTECTED "annotations: {rbac.authorization.kubernetes.io/autoupdate: 'false'}"

static void protected_ones_are_left_alone(void **state) {
    (void)state;
    struct api_object *out;
    assert_int_equal(reconcile("ClusterRole", "cluster-admin",
                               "{" RBAC
                               "kind: ClusterRole, metadata: {name: cluster-admin, " PROTECTED
                               "}, rules: []}",
                               &out),
                     AUTH_RECONCILE_NONE);
    assert_int_equal(
        reconcile("ClusterRoleBinding", "cluster-admin",
                  "{" RBAC "kind: ClusterRoleBinding, metadata: {name: cluster-admin, " PROTECTED
                  "}, roleRef: {kind: ClusterRole, name: other}}",
                  &out),
        AUTH_RECONCILE_NONE);
    assert_null(out);
}

static void bindings_get_the_subjects_that_they_lack(void **state) {
    (void)state;
    struct api_object *out;
    assert_int_equal(reconcile("ClusterRoleBinding", "cluster-admin",
                               CLUSTER_BINDING("cluster-admin", "cluster-admin", USER("joe")),
                               &out),
                     AUTH_RECONCILE_UPDATE);
    const struct api_cluster_role_binding *b = out->body;
    assert_int_equal(b->subjects.n, 2);
    assert_true(str_is(b->subjects.v[1].name, "system:masters"));
    api_object_free(out);
    assert_int_equal(reconcile("ClusterRoleBinding", "cluster-admin",
                               CLUSTER_BINDING("cluster-admin", "view", USER("joe")), &out),
                     AUTH_RECONCILE_RECREATE);
    b = out->body;
    assert_int_equal(b->subjects.n, 1);
    api_object_free(out);
    assert_int_equal(reconcile("RoleBinding", "system:controller:token-cleaner",
                               BINDING("kube-system", "'system:controller:token-cleaner'", "Role",
                                       "'system:controller:token-cleaner'", USER("joe")),
                               &out),
                     AUTH_RECONCILE_UPDATE);
    api_object_free(out);
}

static void roles_are_made_of_others(void **state) {
    (void)state;
#define PART(name, rules) \
    "{" RBAC "kind: ClusterRole, metadata: {name: " name ", labels: {a: b}}, rules: [" rules "]}"
    struct api_object *parts[] = {
        object_of(PART("one", RULE("get", "''", "pods") "," RULE("get", "''", "nodes"))),
        object_of(PART("two", RULE("get", "''", "pods") "," RULE("list", "''", "pods"))),
        object_of(CLUSTER_ROLE("three", RULE("'*'", "''", "pods"))),
    };
    const struct api_object *all[] = {parts[0], parts[1], parts[2]};
    struct api_object *sum =
        object_of("{" RBAC "kind: ClusterRole, metadata: {name: sum}, rules: [], aggregationRule: "
                  "{clusterRoleSelectors: [{matchLabels: {a: b}}]}}");
    struct api_object *out = auth_aggregate(sum, all, 3);
    assert_non_null(out);
    const struct api_cluster_role *role = out->body;
    assert_int_equal(role->rules.n, 3);
    assert_null(auth_aggregate(out, all, 3));
    assert_null(auth_aggregate(parts[0], all, 3));
    api_object_free(out);
    api_object_free(sum);
    for (size_t i = 0; i < 3; i++)
        api_object_free(parts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_becomes_objects),
        cmocka_unit_test(what_is_missing_is_created),
        cmocka_unit_test(roles_get_the_rules_that_they_lack),
        cmocka_unit_test(protected_ones_are_left_alone),
        cmocka_unit_test(bindings_get_the_subjects_that_they_lack),
        cmocka_unit_test(roles_are_made_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
