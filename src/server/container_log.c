/*
 * The log of a container: what it has printed, and, for those who follow it, what it prints until
 * it ends. A follower looks again when pods have changed, or when the next line is due.
 *
 * Follows k8s.io/cri-client pkg/logs, func ReadLogs.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "codec/base64.h"
#include "codec/time.h"
#include "server/aside_int.h"

/* Changes of pods are looked at so often at most: with many followers each is worth little. */
#define LOOK_EVERY (CLOCK_SECOND / 10)

struct server__log {
    struct server__worker *worker;
    struct server__call *call;
    struct server__log_options options;
    struct apiserver_stream stream;
    struct str run; /* the one that is followed; in the call's arena */
    size_t told;    /* lines of it */
    int64_t left;   /* bytes that may be told yet */
    bool is_websocket, is_base64;
    uint32_t pods; /* where they are stored */
    struct net_timer again;
    int64_t looked;                   /* the loop's time at which it was last read */
    struct server__log *next, **link; /* in the worker's list */
};

static void log_free(struct server__log *l) {
    net_timer_stop(l->worker->loop, &l->again);
    server__count_interest(l->worker, l->pods, -1);
    *l->link = l->next;
    if (l->next)
        l->next->link = l->link;
    server__account_end(l->call);
    server__call_free(l->call);
    free(l);
}

static void finish(struct server__log *l) {
    net_stream_end(l->call->x);
    log_free(l);
}

/* ---- lines ---- */

/* The time as runtimes write it: always with nine digits. */
static void write_time(struct buf *b, int64_t at) {
    struct time_civil t = time_to_civil(at / CLOCK_SECOND);
    buf_addf(b, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d.%09" PRId64 "Z ", t.year, t.month, t.day,
             t.hour, t.minute, t.second, at % CLOCK_SECOND);
}

static void write_line(struct server__log *l, struct buf *b,
                       const struct apiserver_log_line *line) {
    size_t before = b->n;
    if (line->at < l->options.since || !l->options.has_output)
        return;
    if (l->options.timestamps)
        write_time(b, line->at);
    buf_add(b, line->text);
    buf_add_char(b, '\n');
    if ((int64_t)(b->n - before) > l->left)
        b->n = before + (size_t)l->left;
    l->left -= (int64_t)(b->n - before);
}

static void send(struct server__log *l, struct str bytes) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct net_part part = {.bytes = bytes};
    if (!bytes.n)
        return;
    if (l->is_base64) {
        base64_write(&text, bytes);
        part.bytes = buf_view(&text);
    }
    if (l->is_websocket && !l->is_base64)
        net_websocket_write_binary(l->call->x, &part, 1);
    else
        net_stream_write(l->call->x, &part, 1);
}

/* Tells the lines that were not told. */
static void tell(struct server__log *l, const struct apiserver_log *log) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (; l->told < log->n; l->told++)
        write_line(l, &text, &log->lines[l->told]);
    send(l, buf_view(&text));
}

/* ---- following ---- */

static void wait_until(struct server__log *l, int64_t at) {
    if (!net_timer_is_running(&l->again) || at < l->again.at)
        net_timer_start(l->worker->loop, &l->again, at);
}

/* Tells what is new; true: there will be more. */
static bool go_on(struct server__log *l, const struct apiserver_log *log) {
    const struct server__call *c = l->call;
    tell(l, log);
    if (!l->options.follow || log->is_over || l->left == 0)
        return false;
    if (log->next != INT64_MAX) {
        const struct clock *clock = c->s->opts.clock;
        int64_t delay = clock_wait(clock, log->next - clock_wall(clock));
        wait_until(l, net_loop_now(l->worker->loop) + (delay > 0 ? delay : 1));
    }
    return true;
}

/* The log as it is now, in the arena; false: there is none any more. */
static bool read_log(struct server__log *l, struct arena *a, struct apiserver_log *log) {
    struct server__call *c = l->call;
    c->r.arena = a;
    struct registry_failure f = apiserver_connect(c->s->opts.api, &c->r, &l->stream, log);
    c->r.arena = &c->arena;
    return !f.code && str_eq(log->run, l->run);
}

/* A container that was restarted meanwhile shows the end of this run as that of its last one. */
static void look(void *arg) {
    AUTO(arena_release) struct arena a = {0};
    struct server__log *l = arg;
    struct apiserver_log log;
    if (net_stream_is_full(l->call->x))
        return;
    l->looked = net_loop_now(l->worker->loop);
    bool is_there = read_log(l, &a, &log);
    if (!is_there && !l->stream.is_previous) {
        l->stream.is_previous = true;
        is_there = read_log(l, &a, &log);
    }
    if (!is_there || !go_on(l, &log))
        finish(l);
}

void server__log_news(struct server__worker *w, const uint64_t *news) {
    for (struct server__log *l = w->logs; l; l = l->next)
        if (news[l->pods / 64] >> l->pods % 64 & 1)
            wait_until(l, l->looked + LOOK_EVERY);
}

static void on_drained(struct net_exchange *x, void *arg) {
    (void)x;
    look(arg);
}

static void on_closed(struct net_exchange *x, void *arg) {
    (void)x;
    log_free(arg);
}

static void on_shutdown(struct net_exchange *x, void *arg) {
    (void)x;
    finish(arg);
}

static const struct net_exchange_events events = {
    .drained = on_drained, .closed = on_closed, .shutdown = on_shutdown};

/* ---- beginning ---- */

/* Bytes, unless only base64 is offered. */
static struct str choose_protocol(struct str offered, bool *is_base64) {
    struct str item;
    *is_base64 = false;
    for (bool more = offered.n > 0; more;) {
        more = str_cut(offered, ',', &item, &offered);
        item = str_trim(item);
        *is_base64 = str_is(item, "base64.binary.k8s.io");
        if (*is_base64 || str_is(item, "binary.k8s.io"))
            return item;
    }
    return STR("");
}

static void begin(struct server__log *l) {
    struct server__call *c = l->call;
    const struct net_request *request = net_exchange_request(c->x);
    struct server__headers h;
    l->is_websocket = net_websocket_is_asked(request);
    server__account_stream(c, l->is_websocket ? 101 : 200);
    server_inflight_give(&c->s->inflight, c->account.seat); /* it may take for ever */
    c->account.seat = SERVER_SEAT_NONE;
    net_exchange_listen(c->x, &events, l);
    if (l->is_websocket) {
        struct str offered = net_headers_find(request->headers, STR("Sec-WebSocket-Protocol"));
        net_websocket_accept(c->x, choose_protocol(offered, &l->is_base64));
        return;
    }
    server__headers_start(c, &h, STR("text/plain"));
    net_stream_begin(c->x, 200, (struct net_headers){h.v, h.n});
}

void server__log(struct server__call *c, const struct server__log_options *options,
                 const struct apiserver_stream *stream, const struct apiserver_log *log) {
    struct server__log *l = xcalloc(1, sizeof *l);
    *l = (struct server__log){.worker = c->worker,
                              .call = c,
                              .options = *options,
                              .stream = *stream,
                              .run = log->run,
                              .left = options->limit.set ? options->limit.v : INT64_MAX,
                              .pods = c->r.resource->storage,
                              .again = {.fn = look, .arg = l},
                              .next = c->worker->logs,
                              .link = &c->worker->logs};
    if (l->next)
        l->next->link = &l->next;
    c->worker->logs = l;
    if (options->tail.set && options->tail.v < (int64_t)log->n)
        l->told = log->n - (size_t)options->tail.v;
    begin(l);
    server__count_interest(c->worker, l->pods, 1);
    if (go_on(l, log))
        wait_until(l, net_loop_now(c->worker->loop)); /* it was read before news of it were told */
    else
        finish(l);
}
