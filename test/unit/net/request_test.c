/* Targets and headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "net/request_int.h"

static void test_targets_are_split(void **state) {
    static const struct {
        const char *target, *path, *query; /* path NULL: refused; query NULL: absent */
    } cases[] = {
        {"/", "/", NULL},
        {"/a/b", "/a/b", NULL},
        {"/a?", "/a", ""},
        {"/a?b=c", "/a", "b=c"},
        {"/a?b?c", "/a", "b?c"},
        {"/a%3Fb", "/a%3Fb", NULL},
        {"/a?u=http://b/c", "/a", "u=http://b/c"},
        {"http://h/a?b", "/a", "b"},
        {"http://h", "/", NULL},
        {"*", "*", NULL},
        {"*?", NULL, NULL},
        {"", NULL, NULL},
        {"?a", NULL, NULL},
        {"a", NULL, NULL},
        {"h:443", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str path, query;
        bool is_good = net__split_target(str_of(cases[i].target), &path, &query);
        assert_int_equal(is_good, cases[i].path != NULL);
        if (!is_good)
            continue;
        assert_true(str_is(path, cases[i].path));
        assert_int_equal(query.p != NULL, cases[i].query != NULL);
        assert_true(str_eq(query, str_of(cases[i].query)));
    }
}

static void test_headers_are_found_by_any_case(void **state) {
    static const struct net_header v[] = {
        {STR_INIT("Accept-Encoding"), STR_INIT("br , GZip")},
        {STR_INIT("X"), STR_INIT("")},
        {STR_INIT("accept-encoding"), STR_INIT("deflate;q=0,identity")},
    };
    const struct net_headers headers = {v, 3};
    (void)state;
    assert_true(str_is(net_headers_find(headers, STR("ACCEPT-encoding")), "br , GZip"));
    assert_non_null(net_headers_find(headers, STR("x")).p);
    assert_null(net_headers_find(headers, STR("y")).p);
    assert_true(net__headers_have(headers, STR("accept-encoding"), STR("gzip")));
    assert_true(net__headers_have(headers, STR("accept-encoding"), STR("identity")));
    assert_false(net__headers_have(headers, STR("accept-encoding"), STR("deflate")));
    assert_false(net__headers_have(headers, STR("accept"), STR("gzip")));
    assert_true(net_accepts_gzip(&(struct net_request){.headers = headers}));
    assert_false(net_accepts_gzip(&(struct net_request){0}));
}

static void test_heads_share_their_peer(void **state) {
    struct net__peer *peer = net__peer_new(STR("127.0.0.1:1"), false, NULL);
    char *bytes;
    (void)state;
    struct net__head *head = net__head_new(peer, 2, 10, &bytes);
    net__peer_unref(peer);
    memset(bytes, 'x', 10);
    assert_true(str_is(head->request.peer, "127.0.0.1:1"));
    net__head_free(head);
    net__head_free(NULL);
    net__peer_unref(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets_are_split),
        cmocka_unit_test(test_headers_are_found_by_any_case),
        cmocka_unit_test(test_heads_share_their_peer),
    };
    return cmocka_run_group_tests_name("net/request", tests, NULL, NULL);
}
