/* HTTP/2: the same interface as HTTP/1.1, its own limits, and floods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <stdio.h>

#include "base/limits.h"
#include "http2_client.h"

static struct client the_client; /* too large for the stack */

static struct client *open_client(void) {
    client_open(&the_client, &(struct net_limits){0});
    return &the_client;
}

static void check_answer(struct client *cl, int32_t id, int status, const char *body) {
    const struct client_stream *s = client_stream(cl, id);
    if (!str_is(buf_view(&s->body), body) || s->status != status)
        print_error("%d %.*s\n", s->status, STR_ARG(buf_view(&s->body)));
    assert_int_equal(s->status, status);
    assert_true(str_is(buf_view(&s->body), body));
}

static void check_done(struct client *cl, int32_t id, int status, const char *body) {
    check_answer(cl, id, status, body);
    assert_true(client_stream(cl, id)->is_closed);
    assert_int_equal(client_stream(cl, id)->error, 0);
}

static void test_requests_are_answered(void **state) {
    struct client *cl = open_client();
    struct client_body hello = {.left = STR("hello")};
    (void)state;
    int32_t head = client_ask(cl, "GET", "/head?x=1", NULL);
    int32_t echo = client_ask(cl, "POST", "/echo", &hello);
    int32_t none = client_ask(cl, "GET", "/none", NULL);
    int32_t bodiless = client_ask(cl, "HEAD", "/head", NULL);
    nghttp2_nv odd[] = {client_nv(":method", "GET"), client_nv(":path", "nowhere"),
                        client_nv(":scheme", "x"), client_nv(":authority", "a")};
    int32_t bad = nghttp2_submit_request(cl->session, NULL, odd, 4, NULL, NULL);
    client_run(cl);
    check_done(cl, head, 200, "GET /head?x=1 a");
    check_done(cl, echo, 200, "hello");
    check_done(cl, none, 204, "");
    check_done(cl, bodiless, 200, "");
    check_done(cl, bad, 400, "");
    assert_true(str_eq(buf_view(&client_stream(cl, head)->headers),
                       STR(":status=200 content-type=text/plain content-length=15 "
                           "date=Sun, 06 Nov 1994 08:49:37 GMT ")));
    assert_int_equal(cl->wire.worker->counters.requests_http2, 4);
    client_close(cl);
}

/* The bytes of a conversation, split at every place, give the same bytes back. */
static void test_answers_do_not_depend_on_splits(void **state) {
    static char said[4096];
    size_t n = 0;
    struct client *cl = open_client();
    struct client_body hello = {.left = STR("hello")};
    const uint8_t *bytes;
    (void)state;
    client_ask(cl, "GET", "/head?x=1", NULL);
    client_ask(cl, "POST", "/echo", &hello);
    client_ask(cl, "GET", "/close", NULL);
    for (ssize_t got; (got = nghttp2_session_mem_send(cl->session, &bytes)) > 0; n += (size_t)got)
        memcpy(said + n, bytes, (size_t)got);
    struct buf expected = BUF_INIT(1 << 20);
    for (size_t at = 0; at <= n; at++) {
        struct wire w;
        wire_open(&w, &(struct net_limits){0});
        wire_feed(&w, (struct str){said, at});
        wire_feed(&w, (struct str){said + at, n - at});
        if (at == 0)
            buf_add(&expected, buf_view(&w.sent));
        /* where the pieces lie decides when frames are sent, and not what they say */
        assert_int_equal(w.sent.n, expected.n);
        assert_int_equal(w.worker->counters.requests_http2, 3);
        wire_close(&w);
    }
    buf_release(&expected);
    client_close(cl);
}

static void test_large_answers_wait_for_windows(void **state) {
    struct client *cl = open_client();
    (void)state;
    int32_t id = client_ask(cl, "GET", "/large", NULL);
    client_run(cl);
    struct client_stream *s = client_stream(cl, id);
    assert_int_equal(s->body.n, 65535);
    assert_false(s->is_closed);
    client_consume(cl, id, 65535);
    client_run(cl);
    assert_int_equal(s->body.n, 103001);
    assert_true(s->is_closed);
    assert_int_equal(cl->wire.released, 2);
    client_close(cl);
}

static void test_streams_are_written_bit_by_bit(void **state) {
    struct client *cl = open_client();
    (void)state;
    int32_t id = client_ask(cl, "GET", "/watch", NULL);
    client_run(cl);
    check_answer(cl, id, 200, "");
    struct net_exchange *x = cl->wire.held[0];
    wire_write(x, STR("one "));
    wire_write(x, STR("two "));
    client_run(cl);
    check_answer(cl, id, 200, "one two ");
    wire_write(x, STR("three"));
    net_stream_end(x);
    wire_forget(&cl->wire, x);
    client_run(cl);
    check_done(cl, id, 200, "one two three");
    client_close(cl);
}

static void test_a_full_stream_is_told_and_others_go_on(void **state) {
    struct client *cl = open_client();
    (void)state;
    int32_t id = client_ask(cl, "GET", "/watch", NULL);
    client_run(cl);
    struct net_exchange *x = cl->wire.held[0];
    for (int i = 0; !net_stream_is_full(x); i++) {
        struct net_part part = wire_shared(&cl->wire, 10000);
        net_stream_write(x, &part, 1);
        assert_true(i < 1000);
    }
    assert_true(x->out.bytes >= LIMIT_NET_STREAM_BYTES);
    client_run(cl);
    /* the stream's window is used up, and that of the connection as well; headers still pass */
    int32_t other = client_ask(cl, "GET", "/none", NULL);
    client_run(cl);
    check_done(cl, other, 204, "");
    assert_int_equal(cl->wire.drained, 0);
    for (int i = 0; i < 5; i++) {
        client_consume(cl, id, 60000);
        client_run(cl);
    }
    assert_int_equal(cl->wire.drained, 1);
    client_close(cl);
}

static void test_a_peer_that_never_reads_a_stream_loses_it(void **state) {
    struct client *cl = open_client();
    (void)state;
    int32_t id = client_ask(cl, "GET", "/large", NULL);
    client_run(cl);
    wire_pass(&cl->wire, LIMIT_NET_STALL_SECONDS * CLOCK_SECOND);
    client_run(cl);
    assert_int_equal(client_stream(cl, id)->error, NGHTTP2_CANCEL);
    assert_int_equal(cl->wire.worker->counters.writes_stalled, 1);
    assert_int_equal(cl->wire.released, 2);
    assert_non_null(cl->wire.c);
    client_close(cl);
}

static void test_a_body_is_bounded(void **state) {
    struct client *cl = open_client();
    static char bytes[4000];
    struct client_body body = {.left = {bytes, sizeof bytes}};
    (void)state;
    int32_t id = client_ask(cl, "POST", "/echo", &body);
    client_run(cl);
    check_answer(cl, id, 413, "too large");
    client_close(cl);
}

/* A handler that has not asked for the body is not sent more than the window. */
static void test_a_body_that_nobody_reads_fills_the_window(void **state) {
    struct client *cl = open_client();
    static char bytes[LIMIT_NET_WINDOW_BYTES + 1000];
    struct client_body body = {.left = {bytes, sizeof bytes}};
    (void)state;
    client_run(cl); /* the server's settings */
    int32_t id = client_ask(cl, "POST", "/hold", &body);
    client_run(cl);
    struct net_exchange *x = cl->wire.held[0];
    assert_int_equal(x->body.n, LIMIT_NET_WINDOW_BYTES);
    assert_int_equal(net_exchange_read_body(x, SIZE_MAX), NET_BODY_LATER);
    client_run(cl);
    assert_int_equal(client_stream(cl, id)->status, 200);
    assert_int_equal(cl->wire.held_count, 0);
    client_close(cl);
}

static void test_a_body_must_come_in_time(void **state) {
    struct client *cl = open_client();
    struct client_body body = {.left = STR("hel"), .never_ends = true};
    (void)state;
    int32_t id = client_ask(cl, "POST", "/echo", &body);
    client_run(cl);
    wire_pass(&cl->wire, LIMIT_NET_BODY_SECONDS * CLOCK_SECOND);
    client_run(cl);
    assert_int_equal(client_stream(cl, id)->error, NGHTTP2_CANCEL);
    assert_int_equal(cl->wire.worker->counters.bodies_timed_out, 1);
    assert_int_equal(cl->wire.closed, 1);
    client_close(cl);
}

static void test_an_early_answer_ends_the_body(void **state) {
    struct client *cl = open_client();
    struct client_body body = {.left = STR("hel"), .never_ends = true};
    (void)state;
    int32_t id = client_ask(cl, "POST", "/none", &body);
    client_run(cl);
    check_answer(cl, id, 204, "");
    assert_true(client_stream(cl, id)->is_closed);
    client_close(cl);
}

/* curl 7.88 does not see an answer whose stream is reset while it sends. */
static void test_a_short_rest_of_a_body_may_come(void **state) {
    struct client *cl = open_client();
    struct client_body body = {.left = STR("hel"), .never_ends = true, .announced = "5"};
    (void)state;
    int32_t id = client_ask(cl, "POST", "/none", &body);
    client_run(cl);
    check_answer(cl, id, 204, "");
    assert_false(client_stream(cl, id)->is_closed);
    wire_pass(&cl->wire, LIMIT_NET_HANDSHAKE_SECONDS * CLOCK_SECOND);
    client_run(cl);
    assert_true(client_stream(cl, id)->is_closed);
    assert_int_equal(client_stream(cl, id)->error, NGHTTP2_NO_ERROR);
    client_close(cl);
}

static void test_streams_of_a_connection_are_limited(void **state) {
    struct client *cl = open_client();
    (void)state;
    for (int i = 0; i < LIMIT_NET_STREAMS + 5; i++)
        client_ask(cl, "GET", "/hold", NULL);
    client_run(cl);
    assert_int_equal(cl->wire.held_count, LIMIT_NET_STREAMS);
    assert_int_equal(cl->wire.worker->counters.streams_refused, 5);
    wire_text(cl->wire.held[0], 200, STR("first"));
    wire_forget(&cl->wire, cl->wire.held[0]);
    client_run(cl);
    int32_t id = client_ask(cl, "GET", "/hold", NULL);
    client_run(cl);
    assert_int_equal(cl->wire.held_count, LIMIT_NET_STREAMS);
    assert_false(client_stream(cl, id)->is_closed);
    client_close(cl);
}

/* A flood of requests in one packet is handled over several turns. */
static void test_others_have_their_turn(void **state) {
    struct client *cl = open_client();
    (void)state;
    for (int i = 0; i < 90; i++)
        client_ask(cl, "GET", "/hold", NULL);
    const uint8_t *bytes;
    ssize_t n;
    struct buf all = BUF_INIT(SIZE_MAX);
    while ((n = nghttp2_session_mem_send(cl->session, &bytes)) > 0)
        buf_add(&all, (struct str){(const char *)bytes, (size_t)n});
    net__conn_feed(&cl->wire.c->conn, buf_view(&all));
    assert_true(cl->wire.held_count < 90);
    buf_release(&all);
    for (int i = 0; i < 4; i++)
        net_loop_turn(cl->wire.loop, 0);
    assert_int_equal(cl->wire.held_count, 90);
    client_close(cl);
}

static void test_rapid_resets_end_the_connection(void **state) {
    struct client *cl = open_client();
    (void)state;
    client_run(cl);
    int resets = 0;
    for (; resets < 2 * LIMIT_NET_RESETS && cl->wire.c; resets++) {
        int32_t id = client_ask(cl, "GET", "/hold", NULL);
        client_run(cl);
        nghttp2_submit_rst_stream(cl->session, 0, id, NGHTTP2_CANCEL);
        client_run(cl);
    }
    /* nghttp2 counts by the machine's clock: each second of this test allows some more. */
    enum { MOST_SECONDS = 20 };
    assert_in_range(resets, LIMIT_NET_RESETS,
                    LIMIT_NET_RESETS + MOST_SECONDS * LIMIT_NET_RESETS_PER_SECOND);
    assert_null(cl->wire.c);
    assert_int_equal(cl->wire.closed, resets);
    assert_int_equal(cl->wire.worker->counters.floods, 1);
    client_close(cl);
}

static void test_pings_that_are_not_read_end_the_connection(void **state) {
    struct client *cl = open_client();
    static const char ping[17] = {0, 0, 8, 6, 0, 0, 0, 0, 0};
    (void)state;
    client_run(cl);
    cl->wire.window = 0;
    struct buf many = BUF_INIT(1 << 20);
    for (int i = 0; i < LIMIT_NET_ACKS + 1; i++)
        buf_add(&many, (struct str){ping, sizeof ping});
    wire_feed(&cl->wire, buf_view(&many));
    assert_null(cl->wire.c);
    assert_int_equal(cl->wire.worker->counters.floods, 1);
    buf_release(&many);
    client_close(cl);
}

static void test_heads_are_limited(void **state) {
    struct net_limits limits = net_limits_default;
    limits.headers = 6;
    (void)state;
    for (int beyond = 0; beyond < 2; beyond++) {
        struct client *cl = &the_client;
        client_open(cl, &limits);
        nghttp2_nv nv[] = {client_nv(":method", "GET"),  client_nv(":path", "/none"),
                           client_nv(":scheme", "http"), client_nv(":authority", "a"),
                           client_nv("b", "c"),          client_nv("d", "e"),
                           client_nv("f", "g")};
        int32_t id = nghttp2_submit_request(cl->session, NULL, nv, 6 + (size_t)beyond, NULL, NULL);
        client_run(cl);
        check_done(cl, id, beyond ? 431 : 204, "");
        client_close(cl);
    }
    limits = net_limits_default;
    limits.head_bytes = 40;
    client_open(&the_client, &limits);
    int32_t id = client_ask(&the_client, "GET", "/none-that-is-so-long", NULL);
    client_run(&the_client);
    check_done(&the_client, id, 431, "");
    assert_int_equal(the_client.wire.worker->counters.heads_too_large, 1);
    client_close(&the_client);
}

static void test_an_unfinished_head_must_come_in_time(void **state) {
    struct client *cl = open_client();
    /* HEADERS without END_HEADERS on stream 1, ":method: GET" */
    static const char frame[] = {0, 0, 1, 1, 1, 0, 0, 0, 1, (char)0x82};
    (void)state;
    client_run(cl);
    wire_feed(&cl->wire, (struct str){frame, sizeof frame});
    wire_pass(&cl->wire, LIMIT_NET_HEAD_SECONDS * CLOCK_SECOND);
    assert_null(cl->wire.c);
    assert_int_equal(cl->wire.worker->counters.heads_timed_out, 1);
    client_close(cl);
}

static void test_idle_connections_end_and_watches_do_not(void **state) {
    struct client *cl = open_client();
    (void)state;
    int32_t id = client_ask(cl, "GET", "/watch", NULL);
    client_run(cl);
    wire_pass(&cl->wire, 24 * 3600 * CLOCK_SECOND);
    assert_non_null(cl->wire.c);
    nghttp2_submit_rst_stream(cl->session, 0, id, NGHTTP2_CANCEL);
    client_run(cl);
    assert_int_equal(cl->wire.closed, 1);
    wire_pass(&cl->wire, LIMIT_NET_IDLE_SECONDS * CLOCK_SECOND);
    client_run(cl);
    assert_null(cl->wire.c);
    assert_true(cl->wire.is_finished);
    assert_true(cl->has_goaway);
    assert_int_equal(cl->goaway_error, NGHTTP2_NO_ERROR);
    client_close(cl);
}

/* A connection that ends while its peer takes nothing waits for it, and not for ever. */
static void test_an_end_that_cannot_be_sent_waits(void **state) {
    struct client *cl = open_client();
    (void)state;
    client_run(cl);
    cl->wire.window = 0;
    wire_pass(&cl->wire, (LIMIT_NET_IDLE_SECONDS + 1) * CLOCK_SECOND);
    assert_non_null(cl->wire.c);
    assert_true(cl->wire.c->conn.is_ending);
    wire_pass(&cl->wire, LIMIT_NET_STALL_SECONDS * CLOCK_SECOND);
    assert_null(cl->wire.c);
    assert_false(cl->wire.is_finished);
    client_close(cl);
}

static void test_close_in_an_answer_ends_the_connection(void **state) {
    struct client *cl = open_client();
    (void)state;
    int32_t hold = client_ask(cl, "GET", "/hold", NULL);
    int32_t id = client_ask(cl, "GET", "/close", NULL);
    client_run(cl);
    check_done(cl, id, 200, "");
    assert_true(cl->has_goaway);
    wire_text(cl->wire.held[0], 200, STR("last"));
    wire_forget(&cl->wire, cl->wire.held[0]);
    client_run(cl);
    check_done(cl, hold, 200, "last");
    assert_true(cl->wire.is_finished);
    client_close(cl);
}

static void test_shutdown_lets_streams_finish(void **state) {
    struct client *cl = open_client();
    (void)state;
    int32_t id = client_ask(cl, "GET", "/watch", NULL);
    client_run(cl);
    net__conn_shutdown(&cl->wire.c->conn);
    assert_int_equal(cl->wire.shut_down, 1);
    client_run(cl);
    assert_true(cl->has_goaway);
    net_stream_end(cl->wire.held[0]);
    wire_forget(&cl->wire, cl->wire.held[0]);
    client_run(cl);
    check_done(cl, id, 200, "");
    assert_true(cl->wire.is_finished);
    client_close(cl);
}

static void test_an_unfinished_answer_resets_the_stream(void **state) {
    struct client *cl = open_client();
    (void)state;
    int32_t id = client_ask(cl, "GET", "/watch", NULL);
    client_run(cl);
    wire_forget(&cl->wire, cl->wire.held[0]);
    client_run(cl);
    assert_int_equal(client_stream(cl, id)->error, NGHTTP2_INTERNAL_ERROR);
    assert_non_null(cl->wire.c);
    client_close(cl);
}

static void test_nonsense_ends_the_connection(void **state) {
    struct client *cl = open_client();
    (void)state;
    client_run(cl);
    wire_feed(&cl->wire, STR("GET / HTTP/1.1\r\n\r\n this is not HTTP/2 at all, is it"));
    assert_null(cl->wire.c);
    assert_int_equal(cl->wire.worker->counters.malformed, 1);
    client_close(cl);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_answered),
        cmocka_unit_test(test_answers_do_not_depend_on_splits),
        cmocka_unit_test(test_large_answers_wait_for_windows),
        cmocka_unit_test(test_streams_are_written_bit_by_bit),
        cmocka_unit_test(test_a_full_stream_is_told_and_others_go_on),
        cmocka_unit_test(test_a_peer_that_never_reads_a_stream_loses_it),
        cmocka_unit_test(test_a_body_is_bounded),
        cmocka_unit_test(test_a_body_that_nobody_reads_fills_the_window),
        cmocka_unit_test(test_a_body_must_come_in_time),
        cmocka_unit_test(test_an_early_answer_ends_the_body),
        cmocka_unit_test(test_a_short_rest_of_a_body_may_come),
        cmocka_unit_test(test_streams_of_a_connection_are_limited),
        cmocka_unit_test(test_others_have_their_turn),
        cmocka_unit_test(test_rapid_resets_end_the_connection),
        cmocka_unit_test(test_pings_that_are_not_read_end_the_connection),
        cmocka_unit_test(test_heads_are_limited),
        cmocka_unit_test(test_an_unfinished_head_must_come_in_time),
        cmocka_unit_test(test_idle_connections_end_and_watches_do_not),
        cmocka_unit_test(test_an_end_that_cannot_be_sent_waits),
        cmocka_unit_test(test_close_in_an_answer_ends_the_connection),
        cmocka_unit_test(test_shutdown_lets_streams_finish),
        cmocka_unit_test(test_an_unfinished_answer_resets_the_stream),
        cmocka_unit_test(test_nonsense_ends_the_connection),
    };
    return cmocka_run_group_tests_name("net/http2", tests, NULL, NULL);
}
