/*
 * A conversation of HTTP/2, drawn from the input byte by byte: frames of the peer, well formed or
 * raw, and what the server does meanwhile: streams are written to, ended or given up, time passes,
 * the socket takes nothing for a while, the server shuts down.
 */
#include "../unit/net/wire.h"

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *p, *end;
};

static uint8_t draw(struct input *in) {
    return in->p < in->end ? *in->p++ : 0;
}

static struct str draw_bytes(struct input *in, size_t n) {
    size_t left = (size_t)(in->end - in->p);
    struct str bytes = {(const char *)in->p, n < left ? n : left};
    in->p += bytes.n;
    return bytes;
}

static void feed_frame(struct wire *w, uint8_t type, uint8_t flags, uint8_t stream,
                       struct str payload) {
    const char head[9] = {(char)(payload.n >> 16),
                          (char)(payload.n >> 8),
                          (char)payload.n,
                          (char)type,
                          (char)flags,
                          0,
                          0,
                          0,
                          (char)stream};
    wire_feed(w, (struct str){head, sizeof head});
    wire_feed(w, payload);
}

/* GET or POST of a path that the handler knows, in HPACK without a table. */
static void feed_request(struct wire *w, struct input *in) {
    static const struct str paths[] = {STR_INIT("/echo"), STR_INIT("/hold"),  STR_INIT("/watch"),
                                       STR_INIT("/none"), STR_INIT("/large"), STR_INIT("/close"),
                                       STR_INIT("/head"), STR_INIT("odd")};
    uint8_t what = draw(in), stream = draw(in);
    struct str path = paths[what % 8];
    struct buf block = BUF_INIT(256);
    buf_add_char(&block, what & 8 ? (char)0x82 : (char)0x83); /* :method GET or POST */
    buf_add_char(&block, (char)0x86);                         /* :scheme http */
    buf_add_char(&block, 0x04);                               /* :path, literal */
    buf_add_char(&block, (char)path.n);
    buf_add(&block, path);
    feed_frame(w, 1, (uint8_t)(0x4 | (what & 16 ? 1 : 0)), stream | 1, buf_view(&block));
    buf_release(&block);
}

static void act_on_stream(struct wire *w, struct input *in) {
    if (w->held_count == 0)
        return;
    struct net_exchange *x = w->held[draw(in) % w->held_count];
    uint8_t what = draw(in);
    struct net_part part = wire_shared(w, (size_t)(what / 4) * 4096);
    if (x->answer == NET__ANSWER_NONE && what % 4 == 0 && !x->body_is_asked && x->head) {
        enum net_body outcome = net_exchange_read_body(x, 4096);
        net__parts_drop(&part, 1);
        if (outcome != NET_BODY_LATER)
            wire_body(x, w, outcome);
    } else if (x->answer == NET__ANSWER_NONE && what % 4 == 1) {
        net_respond(x, 200, (struct net_headers){0}, &part, 1);
        wire_forget(w, x);
    } else if (x->answer == NET__ANSWER_BEGUN && what % 4 != 3) {
        net_stream_write(x, &part, 1);
        if (what % 4 == 2) {
            net_stream_end(x);
            wire_forget(w, x);
        }
    } else {
        net__parts_drop(&part, 1);
        if (what % 4 == 3)
            wire_forget(w, x);
    }
    wire_turn(w);
}

static void step(struct wire *w, struct input *in) {
    uint8_t op = draw(in);
    switch (op % 8) {
    case 0:
    case 1:
        feed_request(w, in);
        break;
    case 2: {
        uint8_t type = draw(in), flags = draw(in), stream = draw(in), length = draw(in);
        feed_frame(w, type % 12, flags, stream, draw_bytes(in, length));
        break;
    }
    case 3:
        wire_feed(w, draw_bytes(in, draw(in)));
        break;
    case 4:
    case 5:
        act_on_stream(w, in);
        break;
    case 6:
        wire_pass(w, draw(in) * CLOCK_SECOND);
        break;
    case 7:
        w->window = op & 8 ? SIZE_MAX : (size_t)draw(in) * 1024;
        if (op == 0xff && w->c)
            net__conn_shutdown(&w->c->conn);
        if (w->c)
            net__conn_wake(&w->c->conn);
        wire_turn(w);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct wire w;
    struct input in = {data, data + size};
    wire_open(&w, &(struct net_limits){0});
    wire_feed(&w, STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"));
    while (in.p < in.end && w.c && w.sent.n < WIRE_SENT_BYTES / 2)
        step(&w, &in);
    CHECK(w.held_count <= WIRE_MOST_EXCHANGES);
    CHECK(!w.c || w.c->conn.out.bytes < 4 << 20);
    wire_close(&w);
    return 0;
}
