/* Whom somebody may be, and the words of refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/impersonate.h"
#include "objects.h"

#define AUTHN "authentication.k8s.io"

static const struct auth_rules *cluster(void) {
    struct auth_rbac *r = auth_rbac_new();
    tell(r, CLUSTER_ROLE("old", RULE("impersonate", "'', " AUTHN,
                                     "users, groups, serviceaccounts, uids, userextras/scopes")));
    tell(r, CLUSTER_BINDING("old", "old", USER("joe")));
    tell(r, CLUSTER_ROLE(
                "new",
                RULE("'impersonate:user-info'", AUTHN,
                     "users, groups, uids, userextras/example.com/a") "," RULE("'impersonate-on:"
                                                                               "user-info:list'",
                                                                               "''", "pods")));
    tell(r, CLUSTER_BINDING("new", "new", USER("ann")));
    tell(r, CLUSTER_ROLE("node", RULE("'impersonate:associated-node'", AUTHN, "nodes") "," RULE(
                                     "'impersonate-on:associated-node:list'", "''", "pods")));
    tell(r, CLUSTER_BINDING("node", "node", ACCOUNT("a", "agent")));
    tell(r, CLUSTER_ROLE("robots",
                         RULE("'impersonate:serviceaccount'", AUTHN, "serviceaccounts") "," RULE(
                             "'impersonate-on:serviceaccount:*'", "''", "pods")));
    tell(r, CLUSTER_BINDING("robots", "robots", USER("eve")));
    const struct auth_rules *rules = auth_rbac_publish(r);
    auth_rbac_free(r);
    return rules;
}

static struct auth_attributes listing(const struct auth_user *user) {
    return (struct auth_attributes){.user = user,
                                    .verb = STR("list"),
                                    .is_resource = true,
                                    .namespace = STR("x"),
                                    .resource = STR("pods")};
}

/* What becomes of the wish: the groups, or the words of the refusal. */
static struct str wish(struct arena *a, const struct auth_user *user,
                       const struct auth_user *wanted, struct str *how) {
    const struct auth_rules *rules = cluster();
    struct auth_user out;
    struct auth_attributes q = listing(user);
    struct registry_failure f = auth_impersonate(rules, a, &q, wanted, &out, how);
    struct buf b = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; !f.code && i < out.groups.n; i++)
        buf_addf(&b, "%s%.*s", i ? "," : "", STR_ARG(out.groups.v[i]));
    struct str text = f.code ? arena_str(a, f.message) : arena_str(a, buf_view(&b));
    buf_release(&b);
    auth_rules_unref(rules);
    return text;
}

static void expect(struct auth_user user, struct auth_user wanted, const char *how,
                   const char *text) {
    struct arena a = {0};
    struct str by = STR("-"), got = wish(&a, &user, &wanted, &by);
    if (!str_is(got, text) || (how && !str_is(by, how)))
        fail_msg("%.*s: %.*s", STR_ARG(by), STR_ARG(got));
    arena_release(&a);
}

#define NAMED(n) ((struct auth_user){.name = STR(n)})

static void the_old_mode_allows_everything_it_lists(void **state) {
    (void)state;
    struct str group = STR("dev"), scope = STR("all");
    struct api_str_list extra = {.key = STR("scopes"), .value = {.v = &scope, .n = 1}};
    expect(NAMED("joe"), NAMED("jim"), "", "system:authenticated");
    expect(NAMED("joe"), NAMED("system:anonymous"), "", "system:unauthenticated");
    expect(NAMED("joe"), NAMED("system:serviceaccount:a:b"), "",
           "system:serviceaccounts,system:serviceaccounts:a,system:authenticated");
    expect(NAMED("joe"),
           (struct auth_user){.name = STR("jim"),
                              .uid = STR("1"),
                              .groups = {.v = &group, .n = 1},
                              .extra = {.v = &extra, .n = 1}},
           "", "dev,system:authenticated");
}

static void constrained_modes_are_tried_first(void **state) {
    (void)state;
    struct str node = STR("n1");
    struct api_str_list runs_on = {.key = STR(AUTH_EXTRA_NODE_NAME), .value = {.v = &node, .n = 1}};
    struct auth_user agent = {.name = STR("system:serviceaccount:a:agent"),
                              .extra = {.v = &runs_on, .n = 1}};
    expect(NAMED("ann"), NAMED("jim"), "impersonate:user-info", "system:authenticated");
    expect(agent, NAMED("system:node:n1"), "impersonate:associated-node",
           "system:nodes,system:authenticated");
    expect(agent, NAMED("system:node:n2"), NULL,
           "pods is forbidden: User \"system:serviceaccount:a:agent\" cannot "
           "impersonate-on:arbitrary-node:list resource \"pods\" in API group \"\" in the "
           "namespace \"x\"");
}

static void refusals_have_upstreams_words(void **state) {
    (void)state;
    struct str groups[] = {STR("system:masters")}, none[] = {STR("")};
    struct str value = STR("v");
    struct api_str_list bad = {.key = STR("nokey"), .value = {.v = &value, .n = 1}};
    expect(NAMED("jim"), NAMED("ann"), NULL,
           "pods is forbidden: User \"jim\" cannot impersonate-on:user-info:list resource "
           "\"pods\" in API group \"\" in the namespace \"x\"");
    expect(NAMED("ann"), (struct auth_user){.name = STR("jim"), .groups = {groups, 1}}, NULL,
           "groups.authentication.k8s.io \"system:masters\" is forbidden: User \"ann\" cannot "
           "impersonate:user-info resource \"groups\" in API group \"authentication.k8s.io\" at "
           "the cluster scope: impersonating the system:masters group is not allowed");
    expect(NAMED("ann"), (struct auth_user){.name = STR("jim"), .groups = {none, 1}}, NULL,
           "groups.authentication.k8s.io is forbidden: User \"ann\" cannot impersonate:user-info "
           "resource \"groups\" in API group \"authentication.k8s.io\" at the cluster scope: "
           "impersonating the empty string group is not allowed");
    expect(NAMED("ann"), (struct auth_user){.name = STR("jim"), .extra = {&bad, 1}}, NULL,
           "userextras.authentication.k8s.io is forbidden: User \"ann\" cannot "
           "impersonate:user-info resource \"userextras\" in API group \"authentication.k8s.io\" "
           "at the cluster scope: impersonating an invalid key in extra is not allowed: "
           "extra.key: Invalid value: \"nokey\": must be a domain-prefixed path (such as "
           "\"acme.io/foo\")");
}

static void many_groups_are_asked_for_one_by_one(void **state) {
    (void)state;
    struct str groups[] = {STR("a"), STR("b"), STR("c"), STR("d")};
    expect(NAMED("ann"), (struct auth_user){.name = STR("jim"), .groups = {groups, 4}},
           "impersonate:user-info", "a,b,c,d,system:authenticated");
}

static struct auth_wanted read_headers(struct arena *a, const struct auth_header *headers, size_t n,
                                       struct registry_failure *f) {
    struct auth_wanted wanted;
    *f = auth_impersonation_read(a, headers, n, &wanted);
    return wanted;
}

static void headers_are_read(void **state) {
    (void)state;
    const struct auth_header headers[] = {
        {STR("Accept"), STR("x")},
        {STR("impersonate-user"), STR("jim")},
        {STR("Impersonate-Group"), STR("b")},
        {STR("Impersonate-Group"), STR("a")},
        {STR("Impersonate-Uid"), STR("7")},
        {STR("Impersonate-Extra-Example.com%2fKey"), STR("v")},
        {STR("Impersonate-Extra-Bad%zz"), STR("w")},
        {STR("Impersonate-Extra-Bad%zz"), STR("x")},
        {STR("Impersonate-Groups"), STR("no")},
    };
    struct arena a = {0};
    struct registry_failure f;
    struct auth_wanted w = read_headers(&a, headers, 9, &f);
    assert_int_equal(f.code, ERR_NONE);
    assert_true(w.is_set && str_is(w.user.name, "jim") && str_is(w.user.uid, "7"));
    assert_true(w.user.groups.n == 2 && str_is(w.user.groups.v[0], "b"));
    assert_int_equal(auth_user_extra(&w.user, STR("example.com/key")).n, 1);
    assert_int_equal(auth_user_extra(&w.user, STR("bad%zz")).n, 2);
    w = read_headers(&a, headers, 1, &f);
    assert_false(w.is_set || f.code);
    read_headers(&a, headers + 2, 1, &f);
    assert_string_equal(f.message.p,
                        "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"b\"}, "
                        "Extra:map[string][]string(nil)} without impersonating a user name");
    read_headers(&a, headers + 4, 2, &f);
    assert_string_equal(f.message.p,
                        "requested &user.DefaultInfo{Name:\"\", UID:\"7\", Groups:[]string(nil), "
                        "Extra:map[string][]string{\"example.com/key\":[]string{\"v\"}}} without "
                        "impersonating a user name");
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_old_mode_allows_everything_it_lists),
        cmocka_unit_test(constrained_modes_are_tried_first),
        cmocka_unit_test(refusals_have_upstreams_words),
        cmocka_unit_test(many_groups_are_asked_for_one_by_one),
        cmocka_unit_test(headers_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
