/*
 * Long answers in gzip. They are packed piece by piece, as the peer takes them, so that nobody else
 * of the thread waits for a list of many megabytes.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "server/server_int.h"

/* What is packed before others have their turn: a millisecond or two. */
enum { PACKED_AT_ONCE = 256 << 10 };

struct packed {
    struct server__call *call;
    struct net_part *parts; /* in the call's arena */
    size_t n, at;           /* parts, and the one that is packed next */
    size_t done;            /* bytes of it that are */
    struct net_gzip *gzip;
    struct net_deferred next;
};

static void free_packed(struct packed *p) {
    for (; p->at < p->n; p->at++)
        if (p->parts[p->at].release)
            p->parts[p->at].release(p->parts[p->at].owner);
    net_loop_undefer(p->call->worker->loop, &p->next);
    net_gzip_free(p->gzip);
    server__call_free(p->call);
    free(p);
}

/* Packs a piece of one part, at most this long; returns how long it is. */
static size_t pack_piece(struct packed *p, size_t most, struct buf *out) {
    const struct net_part *part = &p->parts[p->at];
    size_t left = part->bytes.n - p->done, n = left < most ? left : most;
    net_gzip_add(p->gzip, str_sub(part->bytes, p->done, p->done + n), false, out);
    p->done += n;
    if (p->done < part->bytes.n)
        return n;
    if (part->release)
        part->release(part->owner);
    p->at++;
    p->done = 0;
    return n;
}

static void send_piece(struct packed *p, struct buf *out) {
    struct net_part part = {buf_view(out), free, out->p};
    if (part.bytes.n)
        net_stream_write(p->call->x, &part, 1);
    else
        buf_release(out);
}

static void pump(void *arg) {
    struct packed *p = arg;
    struct net_exchange *x = p->call->x;
    struct buf out = BUF_INIT(SIZE_MAX);
    if (net_stream_is_full(x))
        return;
    for (size_t done = 0; p->at < p->n && done < PACKED_AT_ONCE;)
        done += pack_piece(p, PACKED_AT_ONCE - done, &out);
    bool is_last = p->at == p->n;
    if (is_last)
        net_gzip_add(p->gzip, STR(""), true, &out);
    send_piece(p, &out);
    if (!is_last) {
        net_loop_defer(p->call->worker->loop, &p->next);
        return;
    }
    net_stream_end(x);
    free_packed(p);
}

static void on_drained(struct net_exchange *x, void *arg) {
    (void)x;
    pump(arg);
}

static void on_closed(struct net_exchange *x, void *arg) {
    (void)x;
    free_packed(arg);
}

static const struct net_exchange_events packed_events = {.drained = on_drained,
                                                         .closed = on_closed};

/* Those without release live on the caller's stack if there is one, else in the call's arena. */
static struct net_part *keep_parts(struct server__call *c, const struct net_part *parts, size_t n) {
    struct net_part *kept = arena_copy(&c->arena, parts, n * sizeof *parts);
    if (n == 1 && !parts->release)
        kept->bytes = arena_str(&c->arena, parts->bytes);
    return kept;
}

void server__pack(struct server__call *c, int status, struct server__headers *h,
                  const struct net_part *parts, size_t n) {
    struct packed *p = xcalloc(1, sizeof *p);
    *p = (struct packed){.call = c,
                         .parts = keep_parts(c, parts, n),
                         .n = n,
                         .gzip = net_gzip_new(),
                         .next = {.fn = pump, .arg = p}};
    server__header_add(h, "Content-Encoding", STR("gzip"));
    server__header_add(h, "Vary", STR("Accept-Encoding"));
    net_exchange_listen(c->x, &packed_events, p);
    net_stream_begin(c->x, status, (struct net_headers){h->v, h->n});
    if (net_exchange_is_closed(c->x))
        free_packed(p);
    else
        pump(p);
}
