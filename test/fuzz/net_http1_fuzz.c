/*
 * Any bytes on a connection, fed whole and then in pieces whose lengths the first byte draws: what
 * comes back is the same, nothing is left behind, and what waits is bounded.
 */
#include "../unit/net/wire.h"

#include "base/limits.h"
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_bounds(const struct wire *w) {
    if (!w->c)
        return;
    CHECK(w->c->conn.in.n <= LIMIT_NET_HEAD_BYTES + NET__READ_BYTES);
    CHECK(w->c->conn.out.bytes == 0);
}

/* Feeds pieces of 1 to 32 bytes, or of any length when draw is 0. */
static void feed(struct wire *w, struct str bytes, uint32_t draw) {
    while (bytes.n) {
        size_t n = draw ? 1 + (draw >> 16) % 32 : bytes.n;
        wire_feed(w, str_sub(bytes, 0, n));
        check_bounds(w);
        bytes = str_sub(bytes, n, bytes.n);
        draw = draw ? (draw * 1664525 + 1013904223) | 1 : 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct wire whole, pieces;
    struct str bytes = {(const char *)data + 1, size ? size - 1 : 0};
    if (size == 0 || str_starts(bytes, STR("PRI * HTTP/2.0\r\n"))) /* has a fuzzer of its own */
        return 0;
    wire_open(&whole, &(struct net_limits){0});
    wire_open(&pieces, &(struct net_limits){0});
    feed(&whole, bytes, 0);
    feed(&pieces, bytes, 1 + data[0] * 7919U);
    CHECK(whole.held_count == pieces.held_count);
    CHECK((whole.c != NULL) == (pieces.c != NULL));
    if (whole.worker->counters.websockets == 0) /* those have a fuzzer, too */
        CHECK(str_eq(buf_view(&whole.sent), buf_view(&pieces.sent)));
    wire_close(&whole);
    wire_close(&pieces);
    return 0;
}
