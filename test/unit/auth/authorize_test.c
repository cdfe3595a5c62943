/* What roles and bindings allow, and the reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/rbac.h"
#include "objects.h"

static struct auth_rbac *cluster(void) {
    struct auth_rbac *r = auth_rbac_new();
    tell(r, CLUSTER_ROLE("admin", RULE("'*'", "'*'", "'*'") "," URLS("'*'", "'*'")));
    tell(r, CLUSTER_ROLE("view", RULE("get, list", "''", "pods, pods/log") "," RULE(
                                     "get", "apps", "'*/scale', '*/status'")));
    tell(r, CLUSTER_ROLE("health", URLS("get", "/healthz, /api/*")));
    tell(r, "{" RBAC "kind: Role, metadata: {namespace: a, name: one}, rules: [{verbs: [get, "
            "update], apiGroups: [''], resources: [configmaps], resourceNames: [x, 'y']}]}");
    tell(r, CLUSTER_BINDING("admins", "admin", GROUP("ops")));
    tell(r, CLUSTER_BINDING("b-health", "health", GROUP("system:unauthenticated")));
    tell(r, CLUSTER_BINDING("broken", "gone", USER("jim")));
    tell(r, BINDING("a", "see", "ClusterRole", "view", USER("joe") "," GROUP("dev")));
    tell(r, BINDING("a", "see-again", "ClusterRole", "view", USER("joe")));
    tell(r, BINDING("a", "one", "Role", "one", ACCOUNT("", "robot") "," ACCOUNT("b", "robot")));
    tell(r, BINDING("a", "nowhere", "Role", "two", USER("jim")));
    tell(r, BINDING("a", "odd", "Odd", "two", USER("jim")));
    return r;
}

/* `verb group/resource/subresource namespace name`, where - is nothing; or `verb /path`. */
static struct auth_attributes question(const struct auth_user *user, const char *text) {
    struct auth_attributes q = {.user = user};
    struct str rest = str_of(text),
               *parts[] = {&q.verb, &q.group, &q.resource, &q.subresource, &q.namespace, &q.name};
    str_cut(rest, ' ', &q.verb, &rest);
    if (rest.p[0] == '/') {
        q.path = rest;
        return q;
    }
    q.is_resource = true;
    for (size_t i = 1; i < 6; i++) {
        str_cut(rest, i < 3 ? '/' : ' ', parts[i], &rest);
        if (str_is(*parts[i], "-"))
            *parts[i] = STR("");
    }
    return q;
}

struct row {
    const char *user, *group, *question, *reason; /* the reason of NULL: not allowed */
};

static const struct row rows[] = {
    {"ann", "ops", "delete apps/deployments/- kube-system x",
     "RBAC: allowed by ClusterRoleBinding \"admins\" of ClusterRole \"admin\" to Group \"ops\""},
    {"ann", "ops", "get /metrics",
     "RBAC: allowed by ClusterRoleBinding \"admins\" of ClusterRole \"admin\" to Group \"ops\""},
    {"root", "system:masters", "get /metrics", ""},
    {"joe", "x", "list -/pods/- a -",
     "RBAC: allowed by RoleBinding \"see/a\" of ClusterRole \"view\" to User \"joe\""},
    {"joe", "dev", "get -/pods/log a p",
     "RBAC: allowed by RoleBinding \"see/a\" of ClusterRole \"view\" to User \"joe\""},
    {"jane", "dev", "get apps/deployments/scale a web",
     "RBAC: allowed by RoleBinding \"see/a\" of ClusterRole \"view\" to Group \"dev\""},
    {"jane", "dev", "get apps/deployments/- a web", NULL},
    {"jane", "dev", "get apps/deployments/scal a web", NULL},
    {"joe", "x", "list -/pods/- b -", NULL},
    {"joe", "x", "list -/pods/- - -", NULL},
    {"joe", "x", "watch -/pods/- a -", NULL},
    {"joe", "x", "get -/pods/exec a p", NULL},
    {"joe", "x", "get apps/pods/- a p", NULL},
    {"system:serviceaccount:a:robot", "x", "get -/configmaps/- a x",
     "RBAC: allowed by RoleBinding \"one/a\" of Role \"one\" to ServiceAccount \"robot/a\""},
    {"system:serviceaccount:b:robot", "x", "update -/configmaps/- a y",
     "RBAC: allowed by RoleBinding \"one/a\" of Role \"one\" to ServiceAccount \"robot/b\""},
    {"system:serviceaccount:b:robot", "x", "update -/configmaps/- a z", NULL},
    {"system:serviceaccount:b:robot", "x", "update -/configmaps/- a -", NULL},
    {"system:serviceaccount:c:robot", "x", "get -/configmaps/- a x", NULL},
    {"nobody", "system:unauthenticated", "get /healthz",
     "RBAC: allowed by ClusterRoleBinding \"b-health\" of ClusterRole \"health\" to Group "
     "\"system:unauthenticated\""},
    {"nobody", "system:unauthenticated", "get /api/v1",
     "RBAC: allowed by ClusterRoleBinding \"b-health\" of ClusterRole \"health\" to Group "
     "\"system:unauthenticated\""},
    {"nobody", "system:unauthenticated", "get /api", NULL},
    {"nobody", "system:unauthenticated", "get /healthz/ping", NULL},
    {"nobody", "system:unauthenticated", "post /healthz", NULL},
};

static void expect(const struct auth_rules *rules, const struct row *row) {
    struct str group = str_of(row->group);
    struct auth_user user = {.name = str_of(row->user), .groups = {.v = &group, .n = 1}};
    struct auth_attributes q = question(&user, row->question);
    struct auth_verdict verdict = auth_check(rules, &q);
    struct buf text = BUF_INIT(4096);
    auth_reason_write(&text, rules, &q, &verdict);
    if (verdict.allowed != !!row->reason || (row->reason && !str_is(buf_view(&text), row->reason)))
        fail_msg("%s: %s: %d: %.*s", row->user, row->question, verdict.allowed,
                 STR_ARG(buf_view(&text)));
    buf_release(&text);
}

static void rules_allow_what_they_list(void **state) {
    (void)state;
    struct auth_rbac *r = cluster();
    const struct auth_rules *rules = auth_rbac_publish(r);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(rules, &rows[i]);
    auth_rules_unref(rules);
    auth_rbac_free(r);
}

static void missing_roles_are_the_reason(void **state) {
    (void)state;
    struct auth_rbac *r = cluster();
    const struct auth_rules *rules = auth_rbac_publish(r);
    struct auth_user jim = {.name = STR("jim")};
    struct auth_attributes q = question(&jim, "get -/pods/- a p");
    struct arena a = {0};
    struct str reason;
    struct registry_failure f = auth_authorize(rules, &a, &q, &reason);
    assert_int_equal(f.code, ERR_FORBIDDEN);
    assert_string_equal(reason.p,
                        "rbac: RBAC: [clusterrole.rbac.authorization.k8s.io \"gone\" not found, "
                        "role.rbac.authorization.k8s.io \"two\" not found, "
                        "unsupported role reference kind: \"Odd\"]");
    assert_true(str_ends(f.message, reason));
    q.namespace = STR("b");
    auth_authorize(rules, &a, &q, &reason);
    assert_string_equal(reason.p,
                        "rbac: RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found");
    arena_release(&a);
    auth_rules_unref(rules);
    auth_rbac_free(r);
}

static void refusals_say_what_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
    } refusals[] = {
        {"list -/pods/- default -", "pods is forbidden: User \"joe\" cannot list resource \"pods\" "
                                    "in API group \"\" in the namespace \"default\""},
        {"get apps/deployments/scale a web",
         "deployments.apps \"web\" is forbidden: User \"joe\" cannot get resource "
         "\"deployments/scale\" in API group \"apps\" in the namespace \"a\""},
        {"list -/nodes/- - -", "nodes is forbidden: User \"joe\" cannot list resource \"nodes\" in "
                               "API group \"\" at the cluster scope"},
        {"get /x<y>&z", "forbidden: User \"joe\" cannot get path \"/x&lt;y&gt;&amp;z\""},
    };
    struct auth_rbac *r = auth_rbac_new();
    const struct auth_rules *rules = auth_rbac_publish(r);
    struct auth_user joe = {.name = STR("joe")};
    struct arena a = {0};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct auth_attributes q = question(&joe, refusals[i].question);
        struct registry_failure f = auth_authorize(rules, &a, &q, NULL);
        assert_int_equal(f.code, ERR_FORBIDDEN);
        assert_string_equal(f.message.p, refusals[i].text);
    }
    assert_int_equal(auth_unauthorized().code, ERR_UNAUTHORIZED);
    arena_release(&a);
    auth_rules_unref(rules);
    auth_rbac_free(r);
}

static bool may_list(const struct auth_rules *rules) {
    struct auth_user joe = {.name = STR("joe")};
    struct auth_attributes q = question(&joe, "list -/pods/- a -");
    return auth_check(rules, &q).allowed;
}

/* What is published stays as it is, and what changes is published anew. */
static void published_rules_do_not_change(void **state) {
    (void)state;
    struct auth_rbac *r = cluster();
    const struct auth_rules *before = auth_rbac_publish(r), *same = auth_rbac_publish(r);
    assert_ptr_equal(before, same);
    auth_rules_unref(same);
    untell(r, BINDING("a", "see", "ClusterRole", "view", ""));
    untell(r, BINDING("a", "see-again", "ClusterRole", "view", ""));
    const struct auth_rules *after = auth_rbac_publish(r);
    assert_true(may_list(before));
    assert_false(may_list(after));
    tell(r, BINDING("a", "see", "ClusterRole", "view", USER("joe")));
    tell(r, CLUSTER_ROLE("view", RULE("get", "''", "pods")));
    const struct auth_rules *weaker = auth_rbac_publish(r);
    assert_false(may_list(weaker));
    untell(r, CLUSTER_ROLE("view", ""));
    untell(r, CLUSTER_ROLE("none", ""));
    untell(r, BINDING("elsewhere", "none", "ClusterRole", "view", ""));
    auth_rbac_free(r);
    assert_true(may_list(before));
    auth_rules_unref(before);
    auth_rules_unref(after);
    auth_rules_unref(weaker);
}

static void all_rules_of_a_user_are_listed_once(void **state) {
    (void)state;
    struct auth_rbac *r = cluster();
    const struct auth_rules *rules = auth_rbac_publish(r);
    struct str groups[] = {STR("dev"), STR("ops")};
    struct auth_user joe = {.name = STR("joe"), .groups = {.v = groups, .n = 2}};
    struct arena a = {0};
    assert_int_equal(auth_rules_for(rules, &a, &joe, STR("")).n, 2);
    assert_int_equal(auth_rules_for(rules, &a, &joe, STR("a")).n, 2 + 2 + 2);
    assert_int_equal(auth_rules_for(rules, &a, &joe, STR("b")).n, 2);
    assert_int_equal(auth_rules_for(rules, &a, &joe, STR("a")).missing.n, 0);
    arena_release(&a);
    auth_rules_unref(rules);
    auth_rbac_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_allow_what_they_list),
        cmocka_unit_test(missing_roles_are_the_reason),
        cmocka_unit_test(refusals_say_what_is_refused),
        cmocka_unit_test(published_rules_do_not_change),
        cmocka_unit_test(all_rules_of_a_user_are_listed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
