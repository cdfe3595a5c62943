/* Lists of several kinds, page by page: all of it, or why not; and servers that never end. */
#include "fake_server.h"

#include "base/limits.h"
#include "client/lister.h"

enum { WAIT_SECONDS = 60 };

#define ITEM(name) "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"d\"}}"
#define LIST(kind, more, items)                                                                   \
    OK_HEAD "{\"kind\":\"" kind "List\",\"apiVersion\":\"v1\",\"metadata\":{\"continue\":\"" more \
            "\"},\"items\":[" items "]}"
#define STATUS(line, reason, message)                                                         \
    "HTTP/1.1 " line "\r\nConnection: close\r\n\r\n{\"kind\":\"Status\",\"reason\":\"" reason \
    "\",\"message\":\"" message "\"}"

struct asked {
    struct fake_server server;
    struct client *client;
    struct client_list v[3];
    struct client_lists all;
    size_t came;
    bool is_done;
    struct buf names;
};

static void on_done(void *arg) {
    struct asked *a = arg;
    assert_false(a->is_done);
    a->is_done = true;
}

static void on_came(void *arg) {
    ((struct asked *)arg)->came++;
}

static void begin(struct asked *a, const struct row *rows, size_t n) {
    static const enum api_type_id types[] = {API_T_node, API_T_pod, API_T_service};
    struct err err;
    *a = (struct asked){.names = BUF_INIT(1 << 16)};
    fake_begin(&a->server, rows, &clock_system);
    a->client = client_http_new(&(struct client_http_opts){.loop = a->server.loop,
                                                           .access = &a->server.access,
                                                           .user_agent = STR("lists-test")},
                                &err);
    assert_non_null(a->client);
    for (size_t i = 0; i < n; i++)
        a->v[i].kind = client_kind(types[i]);
    a->all = (struct client_lists){
        .client = a->client, .v = a->v, .n = n, .done = on_done, .came = on_came, .arg = a};
}

static void run(struct asked *a) {
    int64_t until = clock_mono(&clock_system) + WAIT_SECONDS * CLOCK_SECOND;
    client_lists_start(&a->all);
    while (!a->is_done && clock_mono(&clock_system) < until)
        net_loop_turn(a->server.loop, CLOCK_SECOND);
    assert_true(a->is_done);
}

static void add_name(void *arg, const struct api_object *o) {
    struct asked *a = arg;
    buf_add(&a->names, o->meta->name);
    buf_add_char(&a->names, ' ');
}

static const char *taken(struct asked *a) {
    buf_clear(&a->names);
    for (size_t i = 0; i < a->all.n; i++)
        client_list_take(&a->v[i], add_name, a);
    return arena_printf(&a->server.arena, "%.*s", STR_ARG(buf_view(&a->names))).p;
}

static void end(struct asked *a) {
    client_lists_release(&a->all);
    client_free(a->client);
    fake_end(&a->server);
    buf_release(&a->names);
}

static const struct row pages[] = {
    {"/nodes?", LIST("Node", "", ITEM("n")), false},
    {"continue=two", LIST("Pod", "three", ITEM("b") "," ITEM("c")), false},
    {"continue=three", LIST("Pod", "", ITEM("d")), false},
    {"/pods?limit=500", LIST("Pod", "two", ITEM("a")), false},
    {"/services?", STATUS("403 Forbidden", "Forbidden", "not you"), false},
    {0},
};

static void all_pages_come(void **state) {
    (void)state;
    struct asked a;
    begin(&a, pages, 3);
    run(&a);
    assert_int_equal(a.all.listed, 5);
    assert_int_equal(a.came, 4);
    assert_string_equal(taken(&a), "n a b c d ");
    assert_int_equal(a.v[0].failure.code, ERR_NONE);
    assert_int_equal(a.v[1].failure.code, ERR_NONE);
    assert_int_equal(a.v[2].failure.code, ERR_FORBIDDEN);
    assert_int_equal(a.v[2].status, 403);
    assert_string_equal(a.v[2].failure.msg, "not you");
    end(&a);
}

/* The second page is gone the first time that it is asked for. */
static struct row expired[] = {
    {"continue=gone", STATUS("410 Gone", "Expired", "too old"), false},
    {"/nodes?limit", LIST("Node", "gone", ITEM("a")), false},
    {0},
};

static void restart(void *arg) {
    struct asked *a = arg;
    if (++a->came == 2)
        expired[1].answer = LIST("Node", "", ITEM("b"));
}

static void a_list_that_has_expired_begins_anew(void **state) {
    (void)state;
    struct asked a;
    begin(&a, expired, 1);
    a.all.came = restart;
    run(&a);
    assert_int_equal(a.v[0].failure.code, ERR_NONE);
    assert_string_equal(taken(&a), "b ");
    assert_int_equal(a.all.listed, 1);
    end(&a);
}

static const struct row always_expired[] = {
    {"continue=gone", STATUS("410 Gone", "Expired", "too old"), false},
    {"/nodes?limit", LIST("Node", "gone", ITEM("a")), false},
    {0},
};

static void one_that_expires_again_and_again_fails(void **state) {
    (void)state;
    struct asked a;
    begin(&a, always_expired, 1);
    run(&a);
    assert_int_equal(a.v[0].failure.code, ERR_EXPIRED);
    assert_int_equal(a.server.count, 8);
    assert_string_equal(taken(&a), "");
    end(&a);
}

static const struct row endless[] = {
    {"/nodes?", LIST("Node", "more", ITEM("a") "," ITEM("b")), false},
    {"/pods?", LIST("Pod", "more", ""), false},
    {0},
};

static void a_list_without_end_is_ended(void **state) {
    (void)state;
    struct asked a;
    begin(&a, endless, 2);
    a.all.most = 2;
    assert_true(a.all.most < LIMIT_CLIENT_LISTED);
    run(&a);
    assert_int_equal(a.v[0].failure.code, ERR_TOO_LARGE);
    assert_int_equal(a.v[1].failure.code, ERR_TOO_LARGE);
    assert_string_equal(a.v[0].failure.msg, "there are too many objects");
    end(&a);
}

#define TOO_LARGE STATUS("413 Request Entity Too Large", "RequestEntityTooLarge", "it is too large")

/* The second page is longer than an answer may be; half of it is not. */
static const struct row large[] = {
    {"continue=two&limit=500", OK_HEAD "{", false},
    {"continue=two&limit=250", LIST("Pod", "three", ITEM("b")), false},
    {"continue=three&limit=250", LIST("Pod", "", ITEM("c")), false},
    {"/pods?limit=500", LIST("Pod", "two", ITEM("a")), false},
    {0},
};

static void large_objects_come_on_small_pages(void **state) {
    (void)state;
    struct asked a;
    begin(&a, large, 1);
    a.v[0].kind = client_kind(API_T_pod);
    a.server.flood = LIMIT_CLIENT_ANSWER_BYTES;
    a.server.flooded = "continue=two&limit=500";
    run(&a);
    assert_string_equal(a.v[0].failure.msg, "");
    assert_int_equal(a.server.count, 4);
    assert_string_equal(taken(&a), "a b c ");
    end(&a);
}

static const struct row one_by_one[] = {
    {"/pods?", TOO_LARGE, false},
    {"continue=two&limit=1", LIST("Node", "", ITEM("b")), false},
    {"limit=1 ", LIST("Node", "two", ITEM("a")), false},
    {"/nodes?", TOO_LARGE, false},
    {0},
};

static void the_smallest_page_has_one_object(void **state) {
    (void)state;
    struct asked a;
    begin(&a, one_by_one, 2);
    run(&a);
    assert_int_equal(a.v[0].failure.code, ERR_NONE);
    assert_int_equal(a.v[1].failure.code, ERR_TOO_LARGE);
    assert_string_equal(a.v[1].failure.msg, "it is too large");
    assert_int_equal(a.v[1].status, 413);
    assert_int_equal(a.server.count, 8 + 2 + 9); /* 500, 250, 125, 62, 31, 15, 7, 3, 1 */
    assert_string_equal(taken(&a), "a b ");
    end(&a);
}

static void nobody_there_fails_all(void **state) {
    (void)state;
    struct asked a;
    begin(&a, pages, 3);
    fake_stop_listening(&a.server);
    run(&a);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(a.v[i].failure.code, ERR_UNAVAILABLE);
        assert_int_equal(a.v[i].status, 0);
        assert_string_equal(a.v[i].failure.msg, "connection refused");
    }
    end(&a);
}

static void it_may_be_left_at_any_time(void **state) {
    (void)state;
    for (int turns = 0; turns < 12; turns++) {
        struct asked a;
        begin(&a, pages, 3);
        client_lists_start(&a.all);
        for (int i = 0; i < turns && !a.is_done; i++)
            net_loop_turn(a.server.loop, CLOCK_SECOND / 100);
        end(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pages_come),
        cmocka_unit_test(a_list_that_has_expired_begins_anew),
        cmocka_unit_test(one_that_expires_again_and_again_fails),
        cmocka_unit_test(a_list_without_end_is_ended),
        cmocka_unit_test(large_objects_come_on_small_pages),
        cmocka_unit_test(the_smallest_page_has_one_object),
        cmocka_unit_test(nobody_there_fails_all),
        cmocka_unit_test(it_may_be_left_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
