/* Users: groups, extra values, and the names of service accounts and nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/auth.h"

static void who_is_known_joins_a_group(void **state) {
    (void)state;
    struct arena a = {0};
    struct auth_user joe = {.name = STR("joe")};
    auth_user_join(&a, &joe, STR("dev"));
    auth_user_mark_authenticated(&a, &joe);
    auth_user_mark_authenticated(&a, &joe);
    assert_int_equal(joe.groups.n, 2);
    assert_true(auth_user_is_in(&joe, STR("system:authenticated")));
    assert_false(auth_user_is_in(&joe, STR("system:masters")));
    struct auth_user nobody = auth_anonymous;
    auth_user_mark_authenticated(&a, &nobody);
    assert_int_equal(nobody.groups.n, 1);
    assert_true(auth_user_is_in(&nobody, STR("system:unauthenticated")));
    arena_release(&a);
}

static void extra_values_are_sorted_by_key(void **state) {
    (void)state;
    struct arena a = {0};
    struct auth_user joe = {.name = STR("joe"), .uid = STR("1")};
    auth_user_note(&a, &joe, STR("b"), STR("1"));
    auth_user_note(&a, &joe, STR("a"), STR("2"));
    auth_user_note(&a, &joe, STR("c"), STR("3"));
    auth_user_note(&a, &joe, STR("b"), STR("4"));
    struct api_user_info info = auth_user_info(&a, &joe);
    assert_int_equal(info.extra_.n, 3);
    assert_true(str_is(info.extra_.v[0].key, "a") && str_is(info.extra_.v[2].key, "c"));
    assert_int_equal(auth_user_extra(&joe, STR("b")).n, 2);
    assert_true(str_is(auth_user_extra(&joe, STR("b")).v[1], "4"));
    assert_int_equal(auth_user_extra(&joe, STR("d")).n, 0);
    arena_release(&a);
}

static void service_accounts_have_a_name_and_two_groups(void **state) {
    (void)state;
    struct arena a = {0};
    struct auth_user robot = auth_service_account(&a, STR("kube-system"), STR("dns"), STR("u1"));
    assert_true(str_is(robot.name, "system:serviceaccount:kube-system:dns"));
    assert_true(auth_user_is_in(&robot, STR("system:serviceaccounts")));
    assert_true(auth_user_is_in(&robot, STR("system:serviceaccounts:kube-system")));
    struct str namespace, name;
    assert_true(auth_service_account_split(robot.name, &namespace, &name));
    assert_true(str_is(namespace, "kube-system") && str_is(name, "dns"));
    arena_release(&a);
}

static void odd_names_are_no_service_accounts_or_nodes(void **state) {
    (void)state;
    static const char *const odd[] = {"joe",
                                      "system:serviceaccount:",
                                      "system:serviceaccount:a",
                                      "system:serviceaccount:a:b:c",
                                      "system:serviceaccount::b",
                                      "system:serviceaccount:A:b",
                                      "system:serviceaccount:a.b:c",
                                      "system:serviceaccount:a:"};
    struct str namespace, name;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_false(auth_service_account_split(str_of(odd[i]), &namespace, &name));
    assert_true(auth_node_split(STR("system:node:n1.example"), &name));
    assert_true(str_is(name, "n1.example"));
    assert_false(auth_node_split(STR("system:node:N1"), &name));
    assert_false(auth_node_split(STR("system:node:"), &name));
    assert_false(auth_node_split(STR("n1"), &name));
}

static void a_copy_shares_nothing(void **state) {
    (void)state;
    struct arena a = {0}, b = {0};
    struct auth_user joe = auth_service_account(&a, STR("x"), STR("y"), STR("u"));
    auth_user_note(&a, &joe, arena_str(&a, STR("k")), arena_str(&a, STR("v")));
    struct auth_user copy = auth_user_copy(&b, &joe);
    arena_release(&a);
    assert_true(str_is(copy.name, "system:serviceaccount:x:y") && str_is(copy.uid, "u"));
    assert_true(str_is(copy.groups.v[1], "system:serviceaccounts:x"));
    assert_true(str_is(copy.extra.v[0].value.v[0], "v"));
    arena_release(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_known_joins_a_group),
        cmocka_unit_test(extra_values_are_sorted_by_key),
        cmocka_unit_test(service_accounts_have_a_name_and_two_groups),
        cmocka_unit_test(odd_names_are_no_service_accounts_or_nodes),
        cmocka_unit_test(a_copy_shares_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
