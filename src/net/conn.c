/* Connections: between a carrier of bytes and a protocol, with one flush per turn. */
#include "net/conn_int.h"

#include <assert.h>

#include "base/clock.h"
#include "base/limits.h"

/* Rounds of making and sending output in one turn, so that a fast peer does not keep others
 * waiting. */
enum { FLUSH_ROUNDS = 16 };

/* Requests of one connection in one turn, likewise: those of HTTP/2 can be a dozen bytes long. */
enum { TURN_REQUESTS = 64 };

/* --------------------------------------------------------- which protocol does the peer speak? */

static const struct str preface = STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

static size_t sniff(struct net__conn *c, struct str bytes) {
    size_t n = bytes.n < preface.n ? bytes.n : preface.n;
    bool is_http2 = memcmp(bytes.p, preface.p, n) == 0;
    if (is_http2 && n < preface.n)
        return 0;
    net__conn_speak(c, is_http2 ? &net__http2 : &net__http1);
    return c->protocol->feed(c, bytes);
}

static bool sniff_wants_bytes(const struct net__conn *c) {
    (void)c;
    return true;
}

static int64_t sniff_expire(struct net__conn *c, int64_t now) {
    int64_t deadline = c->started + c->worker->limits.head;
    if (now < deadline)
        return deadline;
    net__count(c->worker, heads_timed_out, 1);
    net__conn_break(c);
    return INT64_MAX;
}

static void sniff_release(struct net__conn *c) {
    (void)c;
}

static const struct net__protocol sniffing = {
    .feed = sniff,
    .wants_bytes = sniff_wants_bytes,
    .expire = sniff_expire,
    .shutdown = net__conn_break,
    .release = sniff_release,
};

void net__conn_speak(struct net__conn *c, const struct net__protocol *protocol) {
    c->protocol = protocol;
    protocol->start(c);
    if (c->is_shut_down)
        protocol->shutdown(c);
}

/* ---------------------------------------------------------------------------------- life cycle */

static void flush(void *arg) {
    net__conn_flush(arg);
}

static void expire(void *arg) {
    struct net__conn *c = arg;
    int64_t now = net_loop_now(c->worker->loop);
    int64_t next = c->protocol->expire(c, now);
    if (c->was_waiting) {
        int64_t stalled = c->progress + c->worker->limits.stall;
        if (now >= stalled) {
            net__count(c->worker, writes_stalled, 1);
            net__conn_break(c);
        } else if (stalled < next) {
            next = stalled;
        }
    }
    if (next != INT64_MAX)
        net__conn_expect(c, next);
    net__conn_wake(c);
}

void net__conn_init(struct net__conn *c, struct net__worker *worker,
                    const struct net__carrier *carrier, struct net__peer *peer) {
    *c = (struct net__conn){.worker = worker,
                            .next = worker->conns,
                            .place = &worker->conns,
                            .carrier = carrier,
                            .protocol = &sniffing,
                            .peer = peer,
                            .started = net_loop_now(worker->loop)};
    if (c->next)
        c->next->place = &c->next;
    worker->conns = c;
    c->in.max = worker->limits.head_bytes + 2 * NET__READ_BYTES;
    c->flush = (struct net_deferred){.fn = flush, .arg = c};
    c->timer = (struct net_timer){.fn = expire, .arg = c};
    net__conn_expect(c, c->started + worker->limits.head);
    net__count(worker, connections, 1);
    net__count(worker, connections_now, 1);
}

void net__conn_set_peer(struct net__conn *c, struct net__peer *peer) {
    net__peer_unref(c->peer);
    c->peer = peer;
}

void net__conn_free(struct net__conn *c) {
    struct net__worker *worker = c->worker;
    c->is_broken = true;
    while (c->exchanges)
        net__exchange_detach(c->exchanges);
    c->protocol->release(c);
    net_timer_stop(worker->loop, &c->timer);
    net_loop_undefer(worker->loop, &c->flush);
    net__out_release(&c->out);
    buf_release(&c->in);
    net__peer_unref(c->peer);
    *c->place = c->next;
    if (c->next)
        c->next->place = c->place;
    net__count(worker, connections_now, -1);
    c->carrier->free(c);
    if (worker->closed.fn)
        worker->closed.fn(worker->closed.arg);
}

void net__conn_wake(struct net__conn *c) {
    net_loop_defer(c->worker->loop, &c->flush);
}

void net__conn_end(struct net__conn *c) {
    if (!c->is_ending)
        net__conn_wake(c);
    c->is_ending = true;
}

void net__conn_break(struct net__conn *c) {
    c->is_broken = true;
    net__conn_wake(c);
}

void net__conn_expect(struct net__conn *c, int64_t at) {
    if (!net_timer_is_running(&c->timer) || c->timer.at > at)
        net_timer_start(c->worker->loop, &c->timer, at);
}

void net__conn_shutdown(struct net__conn *c) {
    struct net_exchange *next;
    if (c->is_shut_down)
        return;
    c->is_shut_down = true;
    for (struct net_exchange *x = c->exchanges; x; x = next) {
        next = x->next;
        if (!x->is_released && x->events && x->events->shutdown)
            x->events->shutdown(x, x->arg);
    }
    c->protocol->shutdown(c);
    net__conn_wake(c);
}

/* --------------------------------------------------------------------------------------- input */

static bool is_over(const struct net__conn *c) {
    return c->is_ending || c->is_broken;
}

/* Offers bytes to the protocol for as long as it takes some; returns how many it took. */
static size_t offer(struct net__conn *c, struct str bytes) {
    size_t used = 0, n = 1;
    while (n > 0 && used < bytes.n && !is_over(c)) {
        n = c->protocol->feed(c, str_sub(bytes, used, bytes.n));
        used += n;
    }
    return used;
}

static void offer_again(struct net__conn *c) {
    size_t used = offer(c, buf_view(&c->in));
    c->in.n -= used;
    if (is_over(c) || c->in.n == 0)
        buf_release(&c->in);
    else if (used)
        memmove(c->in.p, c->in.p + used, c->in.n);
}

void net__conn_feed(struct net__conn *c, struct str bytes) {
    if (is_over(c))
        return;
    net__count(c->worker, bytes_in, bytes.n);
    if (c->in.n) {
        buf_add(&c->in, bytes);
        offer_again(c);
    } else {
        size_t used = offer(c, bytes);
        if (!is_over(c))
            buf_add(&c->in, str_sub(bytes, used, bytes.n));
    }
    assert(!c->in.full);
    net__conn_wake(c);
}

bool net__conn_has_had_its_turn(const struct net__conn *c) {
    return c->turn_requests >= TURN_REQUESTS;
}

bool net__conn_wants_bytes(const struct net__conn *c) {
    return !is_over(c) && !net__conn_is_full(c) && c->protocol->wants_bytes(c);
}

/* -------------------------------------------------------------------------------------- output */

static size_t bytes_waiting(const struct net__conn *c) {
    return c->out.bytes + c->unsent;
}

bool net__conn_is_full(const struct net__conn *c) {
    return bytes_waiting(c) >= LIMIT_NET_OUT_BYTES;
}

static void tell_drained(struct net__conn *c) {
    struct net_exchange *next;
    for (struct net_exchange *x = c->exchanges; x; x = next) {
        next = x->next;
        net__exchange_check_drained(x);
    }
}

/* Sends once; false when there is nothing left to do now. */
static bool send_some(struct net__conn *c) {
    size_t before = bytes_waiting(c);
    if (before == 0)
        return false;
    if (!c->was_waiting)
        c->progress = net_loop_now(c->worker->loop);
    if (!c->carrier->send(c)) {
        net__conn_break(c);
        return false;
    }
    size_t after = bytes_waiting(c); /* encryption makes bytes more */
    size_t sent = after < before ? before - after : 0;
    if (sent) {
        c->progress = net_loop_now(c->worker->loop);
        net__count(c->worker, bytes_out, sent);
        tell_drained(c);
    }
    c->was_waiting = after > 0;
    return after == 0;
}

static void make_output(struct net__conn *c) {
    if (c->in.n && !is_over(c))
        offer_again(c);
    if (c->protocol->produce && !c->is_broken)
        c->protocol->produce(c);
}

void net__conn_flush(struct net__conn *c) {
    int rounds = 0;
    do
        make_output(c);
    while (!c->is_broken && send_some(c) && ++rounds < FLUSH_ROUNDS);
    if (c->is_broken) {
        net__conn_free(c);
        return;
    }
    if (rounds == FLUSH_ROUNDS || (c->in.n && net__conn_has_had_its_turn(c)))
        net__conn_wake(c);
    c->turn_requests = 0;
    if (bytes_waiting(c))
        net__conn_expect(c, c->progress + c->worker->limits.stall);
    else if (c->is_ending && !c->is_finished) {
        c->is_finished = true;
        c->carrier->finish(c);
    }
    c->carrier->settle(c);
}
