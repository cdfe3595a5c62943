/* The connections of a client by HTTP: the first one, that others wait for, and those by a proxy.
 */
#include "fake_server.h"

#include <poll.h>

#include "client/http/http_int.h"

enum { WAIT_SECONDS = 60, FILLERS = 8 };

struct asker {
    struct fake_server server;
    struct client *client;
    size_t answers, failures;
    enum err_code code; /* of the last one */
    int fillers[FILLERS];
    size_t filler_count;
};

static const struct row plain[] = {
    {"GET", OK_HEAD "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\"}}",
     false},
    {0},
};

static void begin(struct asker *a, const struct row *rows) {
    *a = (struct asker){0};
    fake_begin(&a->server, rows, &clock_system);
}

static void start_client(struct asker *a) {
    struct err err = {0};
    a->client = client_http_new(&(struct client_http_opts){.loop = a->server.loop,
                                                           .access = &a->server.access,
                                                           .user_agent = STR("hub-test")},
                                &err);
    if (!a->client)
        fail_msg("%s", err.msg);
}

static void end(struct asker *a) {
    client_free(a->client);
    for (size_t i = 0; i < a->filler_count; i++)
        close(a->fillers[i]);
    fake_end(&a->server);
}

static void answered(void *arg, const struct client_answer *answer) {
    struct asker *a = arg;
    a->answers++;
    a->failures += answer->code != ERR_NONE;
    a->code = answer->code;
}

static struct client_call *send_get(struct asker *a) {
    return client_send(a->client,
                       &(struct client_request){.verb = REGISTRY_VERB_GET,
                                                .kind = client_kind(API_T_node),
                                                .name = STR("n")},
                       answered, a);
}

static void wait_for(struct asker *a, size_t answers) {
    int64_t until = clock_mono(&clock_system) + WAIT_SECONDS * CLOCK_SECOND;
    while (a->answers < answers && clock_mono(&clock_system) < until)
        net_loop_turn(a->server.loop, CLOCK_SECOND);
    assert_int_equal(a->answers, answers);
}

static bool was_asked(const struct asker *a, const char *text) {
    return str_find(buf_view(&a->server.log), str_of(text)) != STR_NONE;
}

/* ---- the first connection ---- */

static const struct client__hub *hub_of(const struct asker *a) {
    return &client__http_of(a->client)->hub;
}

static size_t count_waiting(const struct asker *a) {
    size_t n = 0;
    for (const struct client__waiting *w = client__http_of(a->client)->queue; w; w = w->next)
        n++;
    return n;
}

static void turn_for_a_while(struct asker *a) {
    int64_t until = clock_mono(&clock_system) + CLOCK_SECOND / 10;
    while (clock_mono(&clock_system) < until)
        net_loop_turn(a->server.loop, CLOCK_SECOND / 100);
}

/* Is the connection there at once? */
static bool fill_one(struct asker *a) {
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(getsockname(a->server.listener.fd, (struct sockaddr *)&at, &size), 0);
    connect(fd, (struct sockaddr *)&at, size);
    a->fillers[a->filler_count++] = fd;
    return poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 200) > 0;
}

/* Nobody takes connections, and there is no room for one more to wait. */
static void shut(struct asker *a) {
    net_io_stop(a->server.loop, &a->server.listener);
    assert_int_equal(listen(a->server.listener.fd, 0), 0);
    while (fill_one(a))
        assert_true(a->filler_count < FILLERS);
}

static void open_again(struct asker *a) {
    assert_int_equal(listen(a->server.listener.fd, 16), 0);
    net_io_start(a->server.loop, &a->server.listener, EPOLLIN);
}

static void others_wait_for_the_first_connection(void **state) {
    (void)state;
    struct asker a;
    begin(&a, plain);
    shut(&a);
    start_client(&a);
    struct client_call *first = send_get(&a);
    send_get(&a);
    send_get(&a);
    turn_for_a_while(&a);
    const struct client__transfer *probe = hub_of(&a)->probe;
    assert_non_null(probe);
    assert_int_equal(count_waiting(&a), 2);
    client_cancel(first); /* then the next one is */
    turn_for_a_while(&a);
    assert_non_null(hub_of(&a)->probe);
    assert_ptr_not_equal(hub_of(&a)->probe, probe);
    assert_int_equal(count_waiting(&a), 1);
    assert_false(hub_of(&a)->is_open);
    open_again(&a);
    wait_for(&a, 2);
    assert_int_equal(a.failures, 0);
    assert_true(hub_of(&a)->is_open);
    assert_null(hub_of(&a)->probe);
    end(&a);
}

/* None of them is forgotten until a time for connecting is over. */
static void all_are_told_that_nobody_is_there(void **state) {
    (void)state;
    struct asker a;
    begin(&a, plain);
    start_client(&a);
    send_get(&a);
    wait_for(&a, 1);
    assert_true(hub_of(&a)->is_open);
    fake_stop_listening(&a.server);
    int64_t since = clock_mono(&clock_system);
    for (int i = 0; i < 20; i++)
        send_get(&a);
    wait_for(&a, 21);
    assert_true(clock_mono(&clock_system) - since < 5 * CLOCK_SECOND);
    assert_int_equal(a.failures, 20);
    assert_false(hub_of(&a)->is_open);
    assert_null(hub_of(&a)->probe);
    assert_int_equal(count_waiting(&a), 0);
    end(&a);
}

/* ---- proxies ---- */

/* The fake server is a proxy: so far nothing comes behind it. */
static void use_proxy(struct asker *a, const char *server) {
    struct str own = str_sub(a->server.access.server, strlen("http://"), SIZE_MAX);
    a->server.access.proxy = arena_printf(&a->server.arena, "http://me:p%%40ss@%.*s", STR_ARG(own));
    a->server.access.server = str_of(server);
}

#define SHOWN "Proxy-Authorization: Basic bWU6cEBzcw==\r\n" /* me:p@ss */

static void proxies_are_told_who_asks(void **state) {
    (void)state;
    struct asker a;
    begin(&a, plain);
    use_proxy(&a, "http://api.example:8080");
    start_client(&a);
    send_get(&a);
    wait_for(&a, 1);
    assert_int_equal(a.code, ERR_NONE);
    assert_true(was_asked(&a, "GET http://api.example:8080/api/v1/nodes/n HTTP/1.1\r\n"));
    assert_true(was_asked(&a, SHOWN));
    end(&a);
}

/* Behind it are servers by TLS, to which they are not shown. */
static void tunnels_are_asked_for_by_name(void **state) {
    static const struct row shut_off[] = {
        {"CONNECT", "HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n", false}, {0}};
    (void)state;
    struct asker a;
    begin(&a, shut_off);
    use_proxy(&a, "https://api.example:6443");
    start_client(&a);
    send_get(&a);
    wait_for(&a, 1);
    assert_int_equal(a.code, ERR_UNAVAILABLE);
    assert_true(was_asked(&a, "CONNECT api.example:6443 HTTP/1.1\r\n"));
    assert_true(was_asked(&a, SHOWN));
    end(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_wait_for_the_first_connection),
        cmocka_unit_test(all_are_told_that_nobody_is_there),
        cmocka_unit_test(proxies_are_told_who_asks),
        cmocka_unit_test(tunnels_are_asked_for_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
