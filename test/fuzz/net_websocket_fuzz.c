/*
 * Any bytes on a WebSocket, whole and in pieces: the connection ends in the same way. (A pong may
 * be left out when a close follows its ping in the same piece.) Zeros behind them end a ping or a
 * close that was begun: wslay says earlier or later, by the pieces, that the reason of a close is
 * no text.
 */
#include "../unit/net/wire.h"

#include "check.h"

enum { LONGEST_CONTROL = 2 + 4 + 125 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(struct wire *w, struct str bytes, uint32_t draw) {
    wire_feed(w, STR("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                     "Sec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"));
    CHECK(w->held_count == 1);
    wire_write(w->held[0], STR("first"));
    wire_turn(w);
    while (bytes.n) {
        size_t n = draw ? 1 + (draw >> 16) % 16 : bytes.n;
        wire_feed(w, str_sub(bytes, 0, n));
        bytes = str_sub(bytes, n, bytes.n);
        draw = draw ? (draw * 1664525 + 1013904223) | 1 : 0;
    }
    if (w->held_count) {
        net_stream_end(w->held[0]);
        wire_forget(w, w->held[0]);
    }
    wire_turn(w);
    CHECK(!w->c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct wire whole, pieces;
    if (size == 0)
        return 0;
    struct buf padded = BUF_INIT(SIZE_MAX);
    buf_add(&padded, (struct str){(const char *)data + 1, size - 1});
    memset(buf_room(&padded, LONGEST_CONTROL), 0, LONGEST_CONTROL);
    padded.n += LONGEST_CONTROL;
    struct str bytes = buf_view(&padded);
    wire_open(&whole, &(struct net_limits){0});
    wire_open(&pieces, &(struct net_limits){0});
    feed(&whole, bytes, 0);
    feed(&pieces, bytes, 1 + data[0] * 7919U);
    CHECK(whole.closed == pieces.closed);
    CHECK(whole.is_finished && pieces.is_finished);
    wire_close(&whole);
    wire_close(&pieces);
    buf_release(&padded);
    return 0;
}
