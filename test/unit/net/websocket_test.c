/* WebSockets: the handshake, messages, pings, closes, and what a peer may send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/limits.h"
#include "wire.h"

/* The example of RFC 6455, section 1.3. */
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define ASK "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\n"
#define UP  "Upgrade: websocket\r\n"
#define V13 "Sec-WebSocket-Version: 13\r\n"
#define HEAD                                                     \
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" \
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"     \
    "Sec-WebSocket-Protocol: base64.binary.k8s.io\r\n"           \
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: Upgrade\r\n\r\n"

static void open_socket(struct wire *w) {
    wire_open(w, &(struct net_limits){0});
    wire_feed(w, STR(ASK UP V13 KEY "\r\n"));
    assert_true(str_is(buf_view(&w->sent), HEAD));
    buf_clear(&w->sent);
}

/* A frame of a client, masked with zeroes. */
static void feed_frame(struct wire *w, uint8_t first, struct str payload) {
    struct buf frame = BUF_INIT(1 << 20);
    buf_add_char(&frame, (char)first);
    if (payload.n < 126) {
        buf_add_char(&frame, (char)(0x80 | payload.n));
    } else {
        buf_add_char(&frame, (char)(0x80 | 127));
        for (int i = 7; i >= 0; i--)
            buf_add_char(&frame, (char)((uint64_t)payload.n >> (8 * i)));
    }
    buf_add_fill(&frame, 0, 4);
    buf_add(&frame, payload);
    wire_feed(w, buf_view(&frame));
    buf_release(&frame);
}

static void check_sent(struct wire *w, struct str expected) {
    assert_int_equal(w->sent.n, expected.n);
    assert_memory_equal(w->sent.p, expected.p, expected.n);
    buf_clear(&w->sent);
}

static void test_the_handshake_must_be_whole(void **state) {
    static const char *const requests[] = {
        ASK UP KEY "\r\n",
        ASK V13 KEY "\r\n",
        ASK UP V13 "\r\n",
        ASK UP V13 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\r\n\r\n",
        ASK UP V13 "Sec-WebSocket-Key: d?hlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        ASK UP "Sec-WebSocket-Version: 8\r\n" KEY "\r\n",
        "POST /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n" UP V13 KEY "\r\n",
        "GET /ws HTTP/1.1\r\nHost: a\r\n" UP V13 KEY "\r\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct wire w;
        wire_open(&w, &(struct net_limits){0});
        wire_feed(&w, str_of(requests[i]));
        assert_true(str_starts(buf_view(&w.sent), STR("HTTP/1.1 404 ")));
        wire_feed(&w, STR("GET /none HTTP/1.1\r\nHost: a\r\n\r\n")); /* the connection goes on */
        assert_int_equal(w.worker->counters.requests_http1, 2);
        wire_close(&w);
    }
}

/* What follows the head is either a body or frames. */
static void test_a_request_with_a_body_gets_no_socket(void **state) {
    static const char *const requests[] = {
        ASK UP V13 KEY "Content-Length: 1\r\n\r\nx",
        ASK UP V13 KEY "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct wire w;
        wire_open(&w, &(struct net_limits){0});
        wire_feed(&w, str_of(requests[i]));
        assert_true(str_starts(buf_view(&w.sent), STR("HTTP/1.1 404 ")));
        wire_close(&w);
    }
}

static void test_writes_are_messages(void **state) {
    struct wire w;
    (void)state;
    open_socket(&w);
    wire_write(w.held[0], STR("one"));
    wire_turn(&w);
    check_sent(&w, STR("\x81\x03one"));
    struct net_part two[] = {{.bytes = STR("t")}, {.bytes = STR("wo")}};
    net_websocket_write_binary(w.held[0], two, 2);
    wire_turn(&w);
    check_sent(&w, STR("\x82\x03two"));
    struct net_part part = wire_shared(&w, 300);
    net_stream_write(w.held[0], &part, 1);
    wire_turn(&w);
    assert_int_equal(w.sent.n, 304);
    assert_memory_equal(w.sent.p, "\x81\x7e\x01\x2cx", 5);
    buf_clear(&w.sent);
    part = wire_shared(&w, 70000);
    net_stream_write(w.held[0], &part, 1);
    wire_turn(&w);
    assert_int_equal(w.sent.n, 70010);
    assert_memory_equal(w.sent.p, "\x81\x7f\0\0\0\0\0\x01\x11\x70x", 11);
    assert_int_equal(w.released, 2);
    wire_close(&w);
}

static void test_the_server_closes(void **state) {
    struct wire w;
    (void)state;
    open_socket(&w);
    wire_write(w.held[0], STR("last"));
    net_stream_end(w.held[0]);
    wire_forget(&w, w.held[0]);
    wire_turn(&w);
    check_sent(&w, STR("\x81\x04last\x88\x02\x03\xe8"));
    assert_true(w.is_finished);
    assert_int_equal(w.closed, 0);
    wire_close(&w);
}

static void test_the_peer_closes(void **state) {
    struct wire w;
    (void)state;
    open_socket(&w);
    feed_frame(&w, 0x88, STR("\x03\xe8"));
    check_sent(&w, STR("\x88\x02\x03\xe8"));
    assert_true(w.is_finished);
    assert_int_equal(w.closed, 1);
    wire_close(&w);
}

static void test_pings_are_answered_and_messages_ignored(void **state) {
    struct wire w;
    (void)state;
    open_socket(&w);
    feed_frame(&w, 0x89, STR("hi"));
    check_sent(&w, STR("\x8a\x02hi"));
    feed_frame(&w, 0x81, STR("to be ignored"));
    feed_frame(&w, 0x01, STR("in two "));
    feed_frame(&w, 0x80, STR("pieces"));
    feed_frame(&w, 0x8a, STR("a pong of no ping"));
    check_sent(&w, STR(""));
    assert_non_null(w.c);
    wire_close(&w);
}

static void test_messages_of_peers_are_bounded(void **state) {
    static char bytes[LIMIT_NET_WEBSOCKET_BYTES + 1];
    (void)state;
    for (size_t beyond = 0; beyond < 2; beyond++) {
        struct wire w;
        open_socket(&w);
        feed_frame(&w, 0x82, (struct str){bytes, LIMIT_NET_WEBSOCKET_BYTES + beyond});
        check_sent(&w, beyond ? STR("\x88\x02\x03\xf1") : STR(""));
        assert_int_equal(w.is_finished, beyond);
        wire_close(&w);
    }
}

static void test_nonsense_is_refused(void **state) {
    static const struct {
        struct str bytes, close;
    } cases[] = {
        {STR_INIT("\x81\x03one"), STR_INIT("\x88\x02\x03\xea")},          /* not masked */
        {STR_INIT("\x83\x80\0\0\0\0"), STR_INIT("\x88\x02\x03\xea")},     /* no opcode */
        {STR_INIT("\xc1\x80\0\0\0\0"), STR_INIT("\x88\x02\x03\xea")},     /* reserved bit */
        {STR_INIT("\x81\x81\0\0\0\0\xff"), STR_INIT("\x88\x02\x03\xef")}, /* not UTF-8 */
        {STR_INIT("\x89\xfe\x01\x00\0\0\0\0"), STR_INIT("\x88\x00")},     /* a long ping */
        {STR_INIT("\x82\xfe\x00\x01\0\0\0\0x"), STR_INIT("\x88\x00")},    /* a long length */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire w;
        open_socket(&w);
        wire_feed(&w, cases[i].bytes);
        check_sent(&w, cases[i].close);
        assert_null(w.c);
        assert_true(w.is_finished);
        assert_int_equal(w.closed, 1);
        wire_close(&w);
    }
}

/* A day of silence is fine. */
static void test_silence_is_allowed(void **state) {
    struct wire w;
    (void)state;
    open_socket(&w);
    wire_pass(&w, 24 * 3600 * CLOCK_SECOND);
    assert_non_null(w.c);
    net__conn_shutdown(&w.c->conn);
    assert_int_equal(w.shut_down, 1);
    wire_close(&w);
}

static void test_a_socket_that_is_given_up_breaks(void **state) {
    struct wire w;
    (void)state;
    open_socket(&w);
    wire_forget(&w, w.held[0]);
    wire_turn(&w);
    assert_null(w.c);
    assert_false(w.is_finished);
    wire_close(&w);
}

/* Messages that are not read fill the stream; those to a peer that has gone are dropped. */
static void test_messages_that_nobody_reads(void **state) {
    struct wire w;
    (void)state;
    open_socket(&w);
    struct net_exchange *x = w.held[0];
    net_exchange_listen(x, NULL, NULL);
    w.window = 0;
    struct net_part part = wire_shared(&w, LIMIT_NET_STREAM_BYTES);
    net_websocket_write_binary(x, &part, 1);
    assert_true(net_stream_is_full(x));
    wire_turn(&w);
    wire_pass(&w, LIMIT_NET_STALL_SECONDS * CLOCK_SECOND);
    assert_null(w.c);
    assert_int_equal(w.released, 1);
    assert_false(net_stream_is_full(x));
    net_websocket_write_binary(x, &part, 1);
    net_stream_write(x, &part, 1);
    assert_int_equal(w.released, 3);
    net_stream_end(x);
    wire_close(&w);
}

/* A flood of pings that nobody reads the answers of stops to be read. */
static void test_pings_are_bounded(void **state) {
    struct wire w;
    (void)state;
    open_socket(&w);
    w.window = 0;
    for (int i = 0; i < 20000; i++)
        feed_frame(&w, 0x89, STR("0123456789012345678901234567890123456789"));
    assert_true(w.c->conn.out.bytes < 2 * LIMIT_NET_OUT_BYTES);
    assert_false(net__conn_wants_bytes(&w.c->conn));
    wire_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_handshake_must_be_whole),
        cmocka_unit_test(test_a_request_with_a_body_gets_no_socket),
        cmocka_unit_test(test_writes_are_messages),
        cmocka_unit_test(test_the_server_closes),
        cmocka_unit_test(test_the_peer_closes),
        cmocka_unit_test(test_pings_are_answered_and_messages_ignored),
        cmocka_unit_test(test_messages_of_peers_are_bounded),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_silence_is_allowed),
        cmocka_unit_test(test_a_socket_that_is_given_up_breaks),
        cmocka_unit_test(test_messages_that_nobody_reads),
        cmocka_unit_test(test_pings_are_bounded),
    };
    return cmocka_run_group_tests_name("net/websocket", tests, NULL, NULL);
}
