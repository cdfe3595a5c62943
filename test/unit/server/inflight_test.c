/* Seats among the requests under way: who gets one, and who does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "server/inflight.h"

static void ordinary_clients_leave_a_fifth(void **state) {
    struct server_inflight f = {.limits = {0, 10, 1}};
    (void)state;
    for (int i = 0; i < 8; i++)
        assert_true(server_inflight_take(&f, SERVER_SEAT_READ, SERVER_RANK_ORDINARY));
    assert_false(server_inflight_take(&f, SERVER_SEAT_READ, SERVER_RANK_ORDINARY));
    assert_true(server_inflight_take(&f, SERVER_SEAT_READ, SERVER_RANK_SYSTEM));
    assert_true(server_inflight_take(&f, SERVER_SEAT_READ, SERVER_RANK_SYSTEM));
    assert_false(server_inflight_take(&f, SERVER_SEAT_READ, SERVER_RANK_SYSTEM));
    assert_true(server_inflight_take(&f, SERVER_SEAT_READ, SERVER_RANK_MASTER));
    assert_int_equal(server_inflight_now(&f, SERVER_SEAT_READ), 11);
    assert_int_equal(server_inflight_refused(&f, SERVER_SEAT_READ), 2);
    server_inflight_give(&f, SERVER_SEAT_NONE);
    for (int i = 0; i < 4; i++)
        server_inflight_give(&f, SERVER_SEAT_READ);
    assert_true(server_inflight_take(&f, SERVER_SEAT_READ, SERVER_RANK_ORDINARY));
    assert_true(server_inflight_take(&f, SERVER_SEAT_WRITE, SERVER_RANK_ORDINARY));
    assert_false(server_inflight_take(&f, SERVER_SEAT_WRITE, SERVER_RANK_SYSTEM));
}

static void without_a_limit_there_is_none(void **state) {
    struct server_inflight f = {0};
    (void)state;
    for (int i = 0; i < 10000; i++)
        assert_true(server_inflight_take(&f, SERVER_SEAT_WRITE, SERVER_RANK_ORDINARY));
}

static void ranks_are_those_of_the_system(void **state) {
    struct arena a = {0};
    struct str nodes = STR(AUTH_NODES), masters = STR(AUTH_MASTERS);
    struct auth_user users[] = {
        {.name = STR("joe")},
        {.name = STR("system:node:n1"), .groups = {&nodes, 1}},
        {.name = STR("system:kube-scheduler")},
        {.name = STR("system:kube-controller-manager")},
        {.name = STR("system:serviceaccount:kube-system:x")},
        {.name = STR("system:serviceaccount:default:x")},
        {.name = STR("joe"), .groups = {&masters, 1}},
    };
    static const enum server_rank want[] = {
        SERVER_RANK_ORDINARY, SERVER_RANK_SYSTEM,   SERVER_RANK_SYSTEM, SERVER_RANK_SYSTEM,
        SERVER_RANK_SYSTEM,   SERVER_RANK_ORDINARY, SERVER_RANK_MASTER};
    (void)state;
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        assert_int_equal(server_rank_of(&users[i]), want[i]);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_clients_leave_a_fifth),
        cmocka_unit_test(without_a_limit_there_is_none),
        cmocka_unit_test(ranks_are_those_of_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
