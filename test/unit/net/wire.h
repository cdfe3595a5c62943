/*
 * A connection without a socket for tests and fuzzers: bytes in, bytes out, virtual time, and a
 * handler that does what the path says.
 */
#ifndef TEST_UNIT_NET_WIRE_H
#define TEST_UNIT_NET_WIRE_H

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/conn_int.h"

enum { WIRE_MOST_EXCHANGES = 2048, WIRE_SENT_BYTES = 64 << 20 };

struct wire {
    struct clock_manual clock;
    struct net_loop *loop;
    struct net__worker *worker;
    struct wire_conn {
        struct net__conn conn;
        struct wire *wire;
    } * c;            /* NULL when it is closed */
    struct buf sent;  /* what the peer got */
    size_t window;    /* how much the carrier takes; SIZE_MAX unless a test says so */
    bool is_finished; /* the server closed in good order */
    size_t body_limit;
    struct net_exchange *held[WIRE_MOST_EXCHANGES]; /* by /hold and /watch */
    size_t held_count;
    int closed, shut_down, drained, released; /* events, and releases of parts */
};

/* ------------------------------------------------------------------------------------- carrier */

static inline bool wire_send(struct net__conn *c) {
    struct wire *w = ((struct wire_conn *)c)->wire;
    struct iovec iov[16];
    while (c->out.bytes && w->window) {
        size_t n = net__out_peek(&c->out, iov, 16);
        assert(n > 0);
        size_t part = iov[0].iov_len < w->window ? iov[0].iov_len : w->window;
        buf_add(&w->sent, (struct str){iov[0].iov_base, part});
        net__out_skip(&c->out, part);
        if (w->window != SIZE_MAX)
            w->window -= part;
    }
    assert(!w->sent.full);
    return true;
}

static inline void wire_settle(struct net__conn *c) {
    (void)c;
}

static inline void wire_finish(struct net__conn *c) {
    ((struct wire_conn *)c)->wire->is_finished = true;
    net__conn_break(c);
}

static inline void wire_free(struct net__conn *c) {
    ((struct wire_conn *)c)->wire->c = NULL;
    free(c);
}

static const struct net__carrier wire_carrier = {
    .send = wire_send,
    .settle = wire_settle,
    .finish = wire_finish,
    .free = wire_free,
};

/* ------------------------------------------------------------------------------------- handler */

static inline void wire_note_release(void *owner) {
    ((struct wire *)owner)->released++;
}

/* Bytes for answers that are shared and not copied. */
static inline struct net_part wire_shared(struct wire *w, size_t n) {
    static char bytes[1 << 20];
    if (!bytes[0])
        memset(bytes, 'x', sizeof bytes);
    assert(n <= sizeof bytes);
    return (struct net_part){{bytes, n}, wire_note_release, w};
}

static inline void wire_text(struct net_exchange *x, int status, struct str text) {
    const struct net_header headers[] = {{STR("Content-Type"), STR("text/plain")}};
    const struct net_part part = {.bytes = text};
    net_respond(x, status, (struct net_headers){headers, 1}, &part, 1);
}

static inline void wire_forget(struct wire *w, struct net_exchange *x) {
    for (size_t i = 0; i < w->held_count; i++) {
        if (w->held[i] == x) {
            w->held[i] = w->held[--w->held_count];
            break;
        }
    }
    net_exchange_release(x);
}

static inline void wire_body(struct net_exchange *x, void *arg, enum net_body outcome) {
    if (outcome == NET_BODY_WHOLE)
        wire_text(x, 200, net_exchange_body(x));
    else
        wire_text(x, 413, STR("too large"));
    wire_forget(arg, x);
}

static inline void wire_closed(struct net_exchange *x, void *arg) {
    ((struct wire *)arg)->closed++;
    assert(net_exchange_is_closed(x));
    wire_forget(arg, x);
}

static inline void wire_drained(struct net_exchange *x, void *arg) {
    (void)x;
    ((struct wire *)arg)->drained++;
}

static inline void wire_shut_down(struct net_exchange *x, void *arg) {
    (void)x;
    ((struct wire *)arg)->shut_down++;
}

static const struct net_exchange_events wire_events = {
    .body = wire_body,
    .closed = wire_closed,
    .drained = wire_drained,
    .shutdown = wire_shut_down,
};

static inline void wire_hold(struct wire *w, struct net_exchange *x) {
    net_exchange_listen(x, &wire_events, w);
    assert(w->held_count < WIRE_MOST_EXCHANGES);
    w->held[w->held_count++] = x;
}

static inline void wire_write(struct net_exchange *x, struct str text) {
    net_stream_write(x, &(struct net_part){.bytes = text}, 1);
}

static inline void wire_answer_whole(struct wire *w, struct net_exchange *x, struct str path) {
    static const struct net_header close_header = {STR_INIT("Connection"), STR_INIT("close")};
    struct net_part parts[] = {wire_shared(w, 3000), {.bytes = STR("|")}, wire_shared(w, 100000)};
    if (str_eq(path, STR("/large"))) {
        net_respond(x, 200, (struct net_headers){0}, parts, 3);
        return;
    }
    net__parts_drop(parts, 3);
    if (str_eq(path, STR("/close")))
        net_respond(x, 200, (struct net_headers){&close_header, 1}, NULL, 0);
    else if (str_eq(path, STR("/none")))
        net_respond(x, 204, (struct net_headers){0}, NULL, 0);
    else
        wire_text(x, 404, path);
}

static inline bool wire_stream(struct wire *w, struct net_exchange *x, struct str path) {
    const struct net_request *request = net_exchange_request(x);
    if (str_eq(path, STR("/ws")) && net_websocket_is_asked(request))
        net_websocket_accept(x, STR("base64.binary.k8s.io"));
    else if (str_eq(path, STR("/watch")))
        net_stream_begin(x, 200, (struct net_headers){0});
    else
        return false;
    net_exchange_drop_request(x);
    wire_hold(w, x);
    return true;
}

/* /hold is kept, /echo reads a body, /watch and /ws begin streams; /head tells of the request. */
static inline void wire_request(void *self, struct net_exchange *x) {
    struct wire *w = self;
    const struct net_request *r = net_exchange_request(x);
    if (str_eq(r->path, STR("/hold"))) {
        wire_hold(w, x);
    } else if (str_eq(r->path, STR("/echo"))) {
        wire_hold(w, x);
        enum net_body outcome = net_exchange_read_body(x, w->body_limit);
        if (outcome != NET_BODY_LATER)
            wire_body(x, w, outcome);
    } else if (!wire_stream(w, x, r->path)) {
        if (str_eq(r->path, STR("/head"))) {
            struct buf text = BUF_INIT(64 << 10);
            buf_addf(&text, "%.*s %.*s?%.*s %.*s", STR_ARG(r->method), STR_ARG(r->path),
                     STR_ARG(r->query), STR_ARG(r->authority));
            for (size_t i = 0; i < r->headers.n; i++)
                buf_addf(&text, " [%.*s=%.*s]", STR_ARG(r->headers.v[i].name),
                         STR_ARG(r->headers.v[i].value));
            wire_text(x, 200, buf_view(&text));
            buf_release(&text);
        } else {
            wire_answer_whole(w, x, r->path);
        }
        net_exchange_release(x);
    }
}

/* ---------------------------------------------------------------------------------- connection */

static inline void wire_connect(struct wire *w) {
    assert(!w->c);
    w->c = xmalloc(sizeof *w->c);
    w->c->wire = w;
    w->is_finished = false;
    net__conn_init(&w->c->conn, w->worker, &wire_carrier,
                   net__peer_new(STR("127.0.0.1:1"), false, NULL));
}

static inline void wire_open(struct wire *w, const struct net_limits *limits) {
    *w = (struct wire){.sent = BUF_INIT(WIRE_SENT_BYTES), .window = SIZE_MAX, .body_limit = 1000};
    clock_manual_init(&w->clock, 784111777 * CLOCK_SECOND); /* Sun, 06 Nov 1994 08:49:37 GMT */
    w->loop = net_loop_new(&w->clock.clock);
    w->worker = net__worker_new(w->loop, limits, wire_request, w);
    wire_connect(w);
}

static inline void wire_turn(struct wire *w) {
    net_loop_turn(w->loop, 0);
    net_loop_turn(w->loop, 0);
}

static inline void wire_feed(struct wire *w, struct str bytes) {
    while (bytes.n && w->c) {
        size_t n = bytes.n < NET__READ_BYTES ? bytes.n : NET__READ_BYTES;
        if (net__conn_wants_bytes(&w->c->conn))
            net__conn_feed(&w->c->conn, str_sub(bytes, 0, n));
        bytes = str_sub(bytes, n, bytes.n);
        wire_turn(w);
    }
}

/* Lets time pass. */
static inline void wire_pass(struct wire *w, int64_t ns) {
    net_loop_run_virtual(w->loop, &w->clock, w->clock.mono_ns + ns);
}

static inline void wire_close(struct wire *w) {
    if (w->c)
        net__conn_free(&w->c->conn);
    while (w->held_count)
        net_exchange_release(w->held[--w->held_count]);
    buf_release(&w->sent);
    net__worker_free(w->worker);
    net_loop_free(w->loop);
}

#endif
