/* HTTP/1.1: what is answered to which bytes, however these are split; and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <stdio.h>

#include "base/limits.h"
#include "wire.h"

#define DATE       "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define TEXT       "Content-Type: text/plain\r\n"
#define OK(n)      "HTTP/1.1 200 OK\r\n" TEXT "Content-Length: " #n "\r\n" DATE
#define HOST       "Host: a\r\n"
#define GET(path)  "GET " path " HTTP/1.1\r\n" HOST
#define POST(path) "POST " path " HTTP/1.1\r\n" HOST
#define REFUSED(line)                                                  \
    "HTTP/1.1 " line "\r\nContent-Type: text/plain; charset=utf-8\r\n" \
    "Connection: close\r\n\r\n" line
#define BAD REFUSED("400 Bad Request")

/* What is sent, and all that comes back; `ends`: the server closes. */
static const struct {
    const char *in, *out;
    bool ends;
} cases[] = {
    {GET("/head?x=%20&y") "\r\n", OK(28) "\r\nGET /head?x=%20&y a [Host=a]", false},
    {GET("/head") "A:  b c \r\nB:\r\n\r\n", OK(34) "\r\nGET /head? a [Host=a] [A=b c] [B=]", false},
    {GET("http://b/head") "\r\n", OK(21) "\r\nGET /head? a [Host=a]", false},
    {"\r\n\r\n" GET("/head") "\r\n", OK(21) "\r\nGET /head? a [Host=a]", false},
    {GET("/none") "\r\n", "HTTP/1.1 204 No Content\r\n" DATE "\r\n", false},
    {"HEAD /head HTTP/1.1\r\n" HOST "\r\n", OK(22) "\r\n", false},
    /* keep-alive, pipelining, close */
    {GET("/head") "\r\n" GET("/none") "\r\n" GET("/head") "\r\n",
     OK(21) "\r\nGET /head? a [Host=a]HTTP/1.1 204 No Content\r\n" DATE
            "\r\n" OK(21) "\r\nGET /head? a [Host=a]",
     false},
    {GET("/none") "Connection: close\r\n\r\n" GET("/none") "\r\n",
     "HTTP/1.1 204 No Content\r\n" DATE "Connection: close\r\n\r\n", true},
    {GET("/close") "\r\n",
     "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" DATE "Connection: close\r\n\r\n", true},
    {"GET /none HTTP/1.0\r\n\r\n", "HTTP/1.1 204 No Content\r\n" DATE "Connection: close\r\n\r\n",
     true},
    {"GET /none HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
     "HTTP/1.1 204 No Content\r\n" DATE "Connection: keep-alive\r\n\r\n", false},
    /* bodies */
    {POST("/echo") "Content-Length: 5\r\n\r\nhello" GET("/none") "\r\n",
     OK(5) "\r\nhelloHTTP/1.1 204 No Content\r\n" DATE "\r\n", false},
    {POST("/echo") "Content-Length: 0\r\n\r\n", OK(0) "\r\n", false},
    {POST("/echo") "\r\n", OK(0) "\r\n", false},
    {POST("/echo") "Transfer-Encoding: Chunked\r\n\r\n2\r\nhe\r\n003\r\nllo\r\n0\r\n\r\n" GET(
         "/none") "\r\n",
     OK(5) "\r\nhelloHTTP/1.1 204 No Content\r\n" DATE "\r\n", false},
    {POST("/none") "Content-Length: 5\r\n\r\nhello" GET("/head") "\r\n",
     "HTTP/1.1 204 No Content\r\n" DATE "\r\n" OK(21) "\r\nGET /head? a [Host=a]", false},
    {POST("/none") "Content-Length: 300000\r\n\r\nhello",
     "HTTP/1.1 204 No Content\r\n" DATE "Connection: close\r\n\r\n", true},
    {POST("/none") "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n",
     "HTTP/1.1 204 No Content\r\n" DATE "Connection: close\r\n\r\n", true},
    {POST("/echo") "Content-Length: 1001\r\n\r\n",
     "HTTP/1.1 413 Request Entity Too Large\r\n" TEXT "Content-Length: 9\r\n" DATE "\r\ntoo large",
     false},
    /* what is refused */
    {"GET / HTTP/1.1\n" HOST "\n\n\r\n\r\n", BAD, true},
    {"GET / HTTP/1.1\r\nHost: a\nB: c\r\n\r\n", BAD, true},
    {POST("/none") "Content-Length: 5\r\n\n" HOST "\r\n", BAD, true},
    {GET("/none") "\n" HOST "\r\n", BAD, true},
    {GET("/") "A : b\r\n\r\n", BAD, true},
    {GET("/") " A: b\r\n\r\n", BAD, true},
    {GET("/") "A: b\r\n c\r\n\r\n", BAD, true},
    {GET("/") "A: b\r\n\tc\r\n\r\n", BAD, true},
    {GET("/") ": b\r\n\r\n", BAD, true},
    {GET("/") "A\r\n\r\n", BAD, true},
    {GET("/") "A: b\x01\r\n\r\n", BAD, true},
    {GET("/") "A: b\rc\r\n\r\n", BAD, true},
    {"GET / HTTP/1.1\r\n\r\n", BAD, true},
    {GET("/") "Host: b\r\n\r\n", BAD, true},
    {"GET  / HTTP/1.1\r\n" HOST "\r\n", BAD, true},
    {"GET /\r\n" HOST "\r\n", BAD, true},
    {"GET / HTTP/0.9\r\n" HOST "\r\n", BAD, true},
    {"GET a HTTP/1.1\r\n" HOST "\r\n", BAD, true},
    {"SOURCE / ICE/1.0\r\n" HOST "\r\n", BAD, true},
    {"GET / HTTP/1.2\r\n" HOST "\r\n", REFUSED("505 HTTP Version Not Supported"), true},
    {"FOO / HTTP/1.1\r\n" HOST "\r\n", REFUSED("501 Not Implemented"), true},
    {"CONNECT a:1 HTTP/1.1\r\n" HOST "\r\n", REFUSED("501 Not Implemented"), true},
    {GET("/") "Expect: tea\r\n\r\n", REFUSED("417 Expectation Failed"), true},
    {POST("/echo") "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", BAD, true},
    {POST("/echo") "Content-Length: 1, 1\r\n\r\na", BAD, true},
    {POST("/echo") "Content-Length: +1\r\n\r\na", BAD, true},
    {POST("/echo") "Content-Length: 99999999999999999999\r\n\r\na", BAD, true},
    {POST("/echo") "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", BAD, true},
    {POST("/echo") "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", BAD, true},
    {POST("/echo") "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", BAD,
     true},
    {POST("/echo") "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
     REFUSED("501 Not Implemented"), true},
    {POST("/echo") "Transfer-Encoding: identity\r\n\r\n", BAD, true},
    {"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", BAD, true},
    {POST("/echo") "Transfer-Encoding: chunked\r\n\r\n1\na\n0\n\n", BAD, true},
    {POST("/echo") "Transfer-Encoding: chunked\r\n\r\n1\r\naXX0\r\n\r\n", BAD, true},
    {POST("/echo") "Transfer-Encoding: chunked\r\n\r\n1;a=b\r\na\r\n0\r\n\r\n", BAD, true},
    {POST("/echo") "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nTrailer: x\r\n\r\n", BAD,
     true},
    {POST("/echo") "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\na", BAD, true},
};

static void fail_case(struct str in, struct str out, const char *expected) {
    fprintf(stderr, "in:\n%.*s\nout:\n%.*s\nexpected:\n%s\n", STR_ARG(in), STR_ARG(out), expected);
    fail();
}

/* Feeds `in` in two pieces, or byte by byte when `at` is beyond its end. */
static void check_split(size_t i, size_t at) {
    struct wire w;
    struct str in = str_of(cases[i].in);
    wire_open(&w, &(struct net_limits){0});
    if (at > in.n) {
        for (size_t k = 0; k < in.n; k++)
            wire_feed(&w, str_sub(in, k, k + 1));
    } else {
        wire_feed(&w, str_sub(in, 0, at));
        wire_feed(&w, str_sub(in, at, in.n));
    }
    if (!str_is(buf_view(&w.sent), cases[i].out) || cases[i].ends != w.is_finished)
        fail_case(in, buf_view(&w.sent), cases[i].out);
    assert_int_equal(w.held_count, 0);
    wire_close(&w);
}

static void test_answers_do_not_depend_on_splits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t at = 0; at <= strlen(cases[i].in) + 1; at++)
            check_split(i, at);
    }
}

/* ------------------------------------------------------------------------- limits of the head */

static void feed_repeated(struct wire *w, struct str text, size_t times) {
    for (size_t i = 0; i < times; i++)
        wire_feed(w, text);
}

static void check_sent(const struct wire *w, const char *prefix) {
    if (!str_starts(buf_view(&w->sent), str_of(prefix)))
        fail_case(STR("(made)"), buf_view(&w->sent), prefix);
}

static void test_head_bytes_are_limited(void **state) {
    struct str pad =
        STR("A: 0123456789012345678901234567890123456789012345678901234567890123456789"
            "0123456789012345678901234567890123456789012345678901234567890123456789\r\n");
    (void)state;
    for (int beyond = 0; beyond < 2; beyond++) {
        struct wire w;
        struct net_limits limits = net_limits_default;
        limits.headers = SIZE_MAX;
        wire_open(&w, &limits);
        struct str start = STR(GET("/none"));
        wire_feed(&w, start);
        size_t left = LIMIT_NET_HEAD_BYTES - start.n - 2, lines = left / pad.n - 1;
        feed_repeated(&w, pad, lines);
        left -= lines * pad.n;
        wire_feed(&w, STR("B: "));
        feed_repeated(&w, STR("b"), left - 5 + (size_t)beyond);
        wire_feed(&w, STR("\r\n\r\n"));
        check_sent(&w, beyond ? "HTTP/1.1 431 " : "HTTP/1.1 204 ");
        assert_int_equal(w.worker->counters.heads_too_large, beyond);
        assert_int_equal(w.is_finished, beyond);
        wire_close(&w);
    }
}

static void test_a_head_without_end_is_limited(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(GET("/none") "A: "));
    for (size_t i = 0; i < 2 * LIMIT_NET_HEAD_BYTES / 16 && w.c; i++)
        wire_feed(&w, STR("aaaaaaaaaaaaaaaa"));
    check_sent(&w, "HTTP/1.1 431 ");
    assert_null(w.c);
    wire_close(&w);
}

static void test_headers_are_counted(void **state) {
    (void)state;
    for (int beyond = 0; beyond < 2; beyond++) {
        struct wire w;
        wire_open(&w, &(struct net_limits){0});
        wire_feed(&w, STR(GET("/none")));
        feed_repeated(&w, STR("A: b\r\n"), LIMIT_NET_HEADERS - 1 + (size_t)beyond);
        wire_feed(&w, STR("\r\n"));
        check_sent(&w, beyond ? "HTTP/1.1 431 " : "HTTP/1.1 204 ");
        wire_close(&w);
    }
}

/* ------------------------------------------------------------------------------------- timeouts */

static void test_a_head_must_come_in_time(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR("GET / HT"));
    wire_pass(&w, (LIMIT_NET_HEAD_SECONDS - 1) * CLOCK_SECOND);
    wire_feed(&w, STR("T")); /* another byte does not help */
    assert_int_equal(w.sent.n, 0);
    wire_pass(&w, CLOCK_SECOND);
    check_sent(&w, "HTTP/1.1 408 ");
    assert_true(w.is_finished);
    assert_int_equal(w.worker->counters.heads_timed_out, 1);
    wire_close(&w);
}

static void test_a_silent_connection_is_closed(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_pass(&w, LIMIT_NET_HEAD_SECONDS * CLOCK_SECOND);
    assert_null(w.c);
    wire_connect(&w);
    wire_feed(&w, STR(GET("/none") "\r\n"));
    wire_pass(&w, LIMIT_NET_IDLE_SECONDS * CLOCK_SECOND - 1);
    assert_non_null(w.c);
    wire_pass(&w, 1);
    assert_null(w.c);
    assert_int_equal(w.worker->counters.idle_timed_out, 1);
    wire_close(&w);
}

static void test_a_body_must_come_in_time(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(POST("/echo") "Content-Length: 5\r\n\r\nhell"));
    wire_pass(&w, LIMIT_NET_BODY_SECONDS * CLOCK_SECOND - 1);
    assert_int_equal(w.closed, 0);
    wire_pass(&w, 1);
    assert_int_equal(w.closed, 1);
    check_sent(&w, "HTTP/1.1 408 ");
    assert_int_equal(w.worker->counters.bodies_timed_out, 1);
    wire_close(&w);
}

/* The rest of a body that nobody wants must come in time as well, and is not kept. */
static void test_the_rest_of_a_body_is_thrown_away(void **state) {
    struct wire w;
    char head[256];
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    snprintf(head, sizeof head, POST("/none") "Content-Length: %u\r\n\r\n", LIMIT_NET_REST_BYTES);
    wire_feed(&w, str_of(head));
    check_sent(&w, "HTTP/1.1 204 No Content\r\n" DATE "\r\n");
    feed_repeated(&w, STR("0123456789abcdef"), LIMIT_NET_REST_BYTES / 16 - 1);
    assert_int_equal(w.c->conn.in.n, 0);
    buf_clear(&w.sent);
    wire_feed(&w, STR("0123456789abcdef" GET("/none") "\r\n"));
    check_sent(&w, "HTTP/1.1 204 No Content\r\n" DATE "\r\n");
    wire_feed(&w, STR(POST("/none") "Content-Length: 9\r\n\r\n"));
    wire_pass(&w, LIMIT_NET_HEAD_SECONDS * CLOCK_SECOND);
    assert_null(w.c);
    wire_close(&w);
}

/* --------------------------------------------------------------------------------- large bodies */

static void test_a_body_beyond_the_limit_is_told_at_once(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(POST("/echo") "Transfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < 100 && w.sent.n == 0; i++)
        wire_feed(&w, STR("10\r\n0123456789abcdef\r\n"));
    check_sent(&w, "HTTP/1.1 413 ");
    assert_true(w.is_finished);
    assert_int_equal(w.worker->counters.bodies_too_large, 1);
    wire_close(&w);
}

static void test_continue_is_said_when_the_body_is_wanted(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(POST("/echo") "Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n"));
    check_sent(&w, "HTTP/1.1 100 Continue\r\n\r\n");
    wire_feed(&w, STR("ok"));
    check_sent(&w, "HTTP/1.1 100 Continue\r\n\r\n" OK(2) "\r\nok");
    buf_clear(&w.sent);
    wire_feed(&w, STR(POST("/echo") "Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n"));
    check_sent(&w, "HTTP/1.1 413 ");
    assert_true(w.is_finished); /* the body may come or not: nothing can follow */
    wire_close(&w);
}

/* ----------------------------------------------------------------------------- handlers that wait
 */

static void test_answers_come_in_order(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(GET("/hold") "\r\n" GET("/none") "\r\n"));
    assert_int_equal(w.held_count, 1);
    assert_int_equal(w.sent.n, 0);
    wire_text(w.held[0], 200, STR("first"));
    wire_forget(&w, w.held[0]);
    wire_turn(&w);
    check_sent(&w, OK(5) "\r\nfirstHTTP/1.1 204 No Content\r\n" DATE "\r\n");
    wire_close(&w);
}

/* No value ends its header early. */
static void test_headers_cannot_be_smuggled(void **state) {
    const struct net_header headers[] = {{STR("A"), STR("b")}, {STR("C"), STR("d\r\nE: f\0g")}};
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(GET("/hold") "\r\n"));
    net_respond(w.held[0], 204, (struct net_headers){headers, 2}, NULL, 0);
    wire_turn(&w);
    check_sent(&w, "HTTP/1.1 204 No Content\r\nA: b\r\nC: d  E: f g\r\n" DATE "\r\n");
    wire_close(&w);
}

/* A peer that sends many requests and reads no answers: few are looked at. */
static void test_pipelines_are_bounded(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    w.window = 0;
    for (int i = 0; i < 1000; i++)
        wire_feed(&w, STR(GET("/large") "\r\n"));
    assert_true(w.worker->counters.requests_http1 < 5);
    assert_true(w.c->conn.in.n <= 2 * NET__READ_BYTES);
    assert_true(w.c->conn.out.bytes < 2 * LIMIT_NET_OUT_BYTES);
    wire_pass(&w, LIMIT_NET_STALL_SECONDS * CLOCK_SECOND);
    assert_null(w.c);
    assert_int_equal(w.worker->counters.writes_stalled, 1);
    wire_close(&w);
}

static void test_a_stream_is_chunked(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(GET("/watch") "\r\n"));
    wire_write(w.held[0], STR("one"));
    wire_write(w.held[0], STR(""));
    wire_write(w.held[0], STR("0123456789abcdef"));
    net_stream_end(w.held[0]);
    wire_forget(&w, w.held[0]);
    wire_feed(&w, STR(GET("/none") "\r\n"));
    check_sent(&w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" DATE
                   "\r\n3\r\none\r\n10\r\n0123456789abcdef\r\n0\r\n\r\nHTTP/1.1 204 ");
    wire_close(&w);
}

static void test_a_stream_to_an_old_client_ends_with_the_connection(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR("GET /watch HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    wire_write(w.held[0], STR("one"));
    net_stream_end(w.held[0]);
    wire_forget(&w, w.held[0]);
    wire_turn(&w);
    assert_true(
        str_is(buf_view(&w.sent), "HTTP/1.1 200 OK\r\n" DATE "Connection: close\r\n\r\none"));
    assert_true(w.is_finished);
    wire_close(&w);
}

static void test_a_full_stream_is_told_and_drains(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(GET("/watch") "\r\n"));
    w.window = 0;
    struct net_part part = wire_shared(&w, LIMIT_NET_STREAM_BYTES - 20);
    net_stream_write(w.held[0], &part, 1);
    wire_turn(&w);
    assert_false(net_stream_is_full(w.held[0]));
    wire_write(w.held[0], STR("01234567890123456789"));
    assert_true(net_stream_is_full(w.held[0]));
    wire_turn(&w);
    assert_int_equal(w.drained, 0);
    assert_int_equal(w.released, 0);
    w.window = SIZE_MAX;
    net__conn_wake(&w.c->conn);
    wire_turn(&w);
    assert_int_equal(w.drained, 1);
    assert_int_equal(w.released, 1);
    assert_false(net_stream_is_full(w.held[0]));
    wire_close(&w);
}

/* An exchange whose peer has gone stays valid, and takes answers. */
static void test_answers_to_nobody_are_dropped(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(GET("/hold") "\r\n"));
    struct net_exchange *x = w.held[0];
    net_exchange_listen(x, NULL, NULL);
    net__conn_break(&w.c->conn);
    wire_turn(&w);
    assert_null(w.c);
    assert_true(net_exchange_is_closed(x));
    assert_true(str_eq(net_exchange_request(x)->path, STR("/hold")));
    struct net_part part = wire_shared(&w, 100000);
    net_respond(x, 200, (struct net_headers){0}, &part, 1);
    assert_int_equal(w.released, 1);
    assert_int_equal(w.worker->counters.exchanges_now, 0);
    wire_close(&w);
}

static void test_an_unfinished_answer_breaks_the_connection(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(GET("/watch") "\r\n"));
    wire_write(w.held[0], STR("one"));
    wire_forget(&w, w.held[0]);
    wire_turn(&w);
    assert_null(w.c);
    assert_false(w.is_finished);
    wire_close(&w);
}

static void test_shutdown_lets_requests_finish(void **state) {
    struct wire w;
    (void)state;
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR(GET("/hold") "\r\n"));
    net__conn_shutdown(&w.c->conn);
    assert_int_equal(w.shut_down, 1);
    wire_turn(&w);
    wire_text(w.held[0], 200, STR("last"));
    wire_forget(&w, w.held[0]);
    wire_turn(&w);
    assert_true(str_is(buf_view(&w.sent), OK(4) "Connection: close\r\n\r\nlast"));
    assert_true(w.is_finished);
    wire_connect(&w);
    wire_feed(&w, STR(GET("/none") "\r\n"));
    net__conn_shutdown(&w.c->conn);
    wire_turn(&w);
    assert_true(w.is_finished);
    wire_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_do_not_depend_on_splits),
        cmocka_unit_test(test_head_bytes_are_limited),
        cmocka_unit_test(test_a_head_without_end_is_limited),
        cmocka_unit_test(test_headers_are_counted),
        cmocka_unit_test(test_a_head_must_come_in_time),
        cmocka_unit_test(test_a_silent_connection_is_closed),
        cmocka_unit_test(test_a_body_must_come_in_time),
        cmocka_unit_test(test_the_rest_of_a_body_is_thrown_away),
        cmocka_unit_test(test_a_body_beyond_the_limit_is_told_at_once),
        cmocka_unit_test(test_continue_is_said_when_the_body_is_wanted),
        cmocka_unit_test(test_answers_come_in_order),
        cmocka_unit_test(test_headers_cannot_be_smuggled),
        cmocka_unit_test(test_pipelines_are_bounded),
        cmocka_unit_test(test_a_stream_is_chunked),
        cmocka_unit_test(test_a_stream_to_an_old_client_ends_with_the_connection),
        cmocka_unit_test(test_a_full_stream_is_told_and_drains),
        cmocka_unit_test(test_answers_to_nobody_are_dropped),
        cmocka_unit_test(test_an_unfinished_answer_breaks_the_connection),
        cmocka_unit_test(test_shutdown_lets_requests_finish),
    };
    return cmocka_run_group_tests_name("net/http1", tests, NULL, NULL);
}
