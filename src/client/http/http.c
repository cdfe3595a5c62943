/* Calls, and when they may be sent. */
#include "client/http.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "client/http/http_int.h"

#define TIMEOUT         (60 * CLOCK_SECOND)
#define LONGEST_TIMEOUT (INT64_MAX / 2) /* a century, so that its end is a time */

struct client__http *client__http_of(struct client *c) {
    return heap_entry(c, struct client__http, base);
}

/* ---- what waits to be sent ---- */

void client__http_queue(struct client__http *h, struct client__waiting *w) {
    w->next = NULL;
    w->link = h->queue_end;
    *h->queue_end = w;
    h->queue_end = &w->next;
    net_loop_defer(h->base.loop, &h->pump);
}

void client__http_unqueue(struct client__http *h, struct client__waiting *w) {
    if (!w->link)
        return;
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    else
        h->queue_end = w->link;
    w->link = NULL;
}

static double most_of(const struct client__http *h) {
    return h->opts.burst > 1 ? h->opts.burst : 1;
}

/* Fills the bucket with what the time since then has brought. */
static void fill(const struct client__http *h, struct client__bucket *b) {
    int64_t now = net_loop_now(h->base.loop);
    b->tokens += (double)(now - b->filled_at) / (double)CLOCK_SECOND * h->opts.qps;
    b->tokens = b->tokens < most_of(h) ? b->tokens : most_of(h);
    b->filled_at = now;
}

/* Has the queue looked at again when the bucket has something, if not earlier. */
static void await(struct client__http *h, const struct client__bucket *b) {
    double seconds = (1 - b->tokens) / h->opts.qps;
    int64_t at = b->filled_at + (int64_t)(seconds * (double)CLOCK_SECOND) + 1;
    if (!net_timer_is_running(&h->again) || at < h->again.at)
        net_timer_start(h->base.loop, &h->again, at);
}

/* May another one be sent? If not, the timer tells when. */
static bool take_token(struct client__http *h, struct client__bucket *b) {
    if (!b || h->opts.qps <= 0)
        return true;
    if (b->is_empty)
        return false;
    fill(h, b);
    if (b->tokens >= 1) {
        b->tokens -= 1;
        return true;
    }
    b->is_empty = true;
    await(h, b);
    return false;
}

/* The first that may be sent; NULL: none may. */
static struct client__waiting *next_to_send(struct client__http *h) {
    struct client__waiting *w = client__hub_takes(&h->hub) ? h->queue : NULL;
    h->bucket.is_empty = h->events.is_empty = false;
    while (w && !take_token(h, w->bucket))
        w = w->next;
    return w;
}

static void pump(void *arg) {
    struct client__http *h = arg;
    struct client__credential as;
    struct err err;
    while (h->queue) {
        enum client__credentials_state state = client__credentials_get(h->credentials, &as, &err);
        if (state == CLIENT__CREDENTIALS_AWAITED)
            return;
        struct client__waiting *w = next_to_send(h);
        if (!w)
            return;
        client__http_unqueue(h, w);
        if (state == CLIENT__CREDENTIALS_READY)
            w->send(w, &as);
        else
            w->refuse(w, &err);
    }
}

/* ---- calls ---- */

struct client__http_call {
    struct client_call base;
    struct arena arena;
    enum registry_verb verb;
    const struct api_kind *kind;
    struct client__message message;
    struct client__transfer transfer;
    struct client__waiting waiting;
    struct net_timer again; /* when the server has said to come again */
    uint32_t retries;
    int64_t until; /* when its time is over, with all retries; set when it is first sent */
    client_answer_fn *done;
    void *arg;
    struct client__http_call *next, **link; /* of the client */
};

static void call_free(struct client__http_call *call) {
    net_timer_stop(call->base.client->loop, &call->again);
    client__http_unqueue(client__http_of(call->base.client), &call->waiting);
    client__transfer_stop(&call->transfer);
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    arena_release(&call->arena);
    free(call);
}

static void answer(struct client__http_call *call, const struct client_answer *a) {
    call->done(call->arg, a);
    call_free(call);
}

static void send_call(struct client__waiting *w, const struct client__credential *as) {
    struct client__http_call *call = heap_entry(w, struct client__http_call, waiting);
    int64_t now = net_loop_now(call->base.client->loop);
    if (!call->retries)
        call->until = now + client__http_of(call->base.client)->opts.timeout;
    int64_t left = (call->until - now) / (CLOCK_SECOND / 1000);
    client__transfer_start(&call->transfer, &call->message, as, left > 1 ? (long)left : 1);
}

static void refuse_call(struct client__waiting *w, const struct err *err) {
    struct client__http_call *call = heap_entry(w, struct client__http_call, waiting);
    answer(call, &(struct client_answer){.code = err->code, .message = str_of(err->msg)});
}

/* Follows k8s.io/client-go rest, func (*withRetry) IsNextRetry.
 *
 * Other than there, a wait that would not end in time is not begun, and what the server has said is
 * told. */
static bool comes_again(struct client__http_call *call) {
    const struct client__transfer *t = &call->transfer;
    struct net_loop *loop = call->base.client->loop;
    int64_t at = net_loop_now(loop) + t->retry_after * CLOCK_SECOND;
    bool is_busy = t->status == 429 || t->status >= 500;
    if (!is_busy || t->retry_after <= 0 || call->retries >= LIMIT_CLIENT_RETRIES)
        return false;
    if (t->retry_after > LIMIT_CLIENT_RETRY_SECONDS || at >= call->until)
        return false;
    call->retries++;
    net_timer_start(loop, &call->again, at);
    return true;
}

static void send_again(void *arg) {
    struct client__http_call *call = arg;
    client__http_queue(client__http_of(call->base.client), &call->waiting);
}

/* No answer, or more of one than is read. */
static void tell_failure(struct client__http_call *call, CURLcode result) {
    const struct client__transfer *t = &call->transfer;
    struct client_answer a = {.code = ERR_UNAVAILABLE, .message = str_of(t->why)};
    if (t->got.full) {
        a.code = ERR_TOO_LARGE;
        a.status = t->status;
    } else if (result == CURLE_OPERATION_TIMEDOUT)
        a.code = ERR_TIMEOUT;
    answer(call, &a);
}

static void call_over(struct client__transfer *t, CURLcode result) {
    struct client__http_call *call = heap_entry(t, struct client__http_call, transfer);
    struct client__result r;
    if (result != CURLE_OK) {
        tell_failure(call, result);
        return;
    }
    if (t->status == 401)
        client__credentials_refused(client__http_of(call->base.client)->credentials);
    if (comes_again(call))
        return;
    struct client__reply reply = {t->status, buf_view(&t->got), t->retry_after};
    client__result_read(&call->arena, call->verb, call->kind, &reply, &r);
    call->done(call->arg, &r.answer);
    client__result_release(&r);
    call_free(call);
}

static bool is_event(const struct api_kind *kind) {
    return kind && kind->type == &api_types[API_T_event];
}

static struct client_call *http_send(struct client *c, const struct client_request *r,
                                     client_answer_fn *done, void *arg) {
    struct client__http *h = client__http_of(c);
    struct client__http_call *call = xcalloc(1, sizeof *call);
    call->base.client = c;
    call->verb = r->verb;
    call->kind = r->kind;
    call->message = client__message_of(&call->arena, r);
    call->transfer = (struct client__transfer){
        .hub = &h->hub, .most = LIMIT_CLIENT_ANSWER_BYTES, .over = call_over};
    call->waiting = (struct client__waiting){.bucket = is_event(r->kind) ? &h->events : &h->bucket,
                                             .send = send_call,
                                             .refuse = refuse_call};
    call->again = (struct net_timer){.fn = send_again, .arg = call};
    call->done = done;
    call->arg = arg;
    call->next = h->calls;
    call->link = &h->calls;
    if (call->next)
        call->next->link = &call->next;
    h->calls = call;
    api_object_free(r->object);
    client__http_queue(h, &call->waiting);
    return &call->base;
}

static void cancel(struct client_call *call) {
    call_free(heap_entry(call, struct client__http_call, base));
}

/* ---- the client ---- */

static void http_free(struct client *c) {
    struct client__http *h = client__http_of(c);
    for (struct client__http_call *call = h->calls, *next; call; call = next) {
        next = call->next;
        call_free(call);
    }
    net_loop_undefer(c->loop, &h->pump);
    net_timer_stop(c->loop, &h->again);
    client__credentials_free(h->credentials);
    client__hub_release(&h->hub);
    free(h);
}

static void write_metrics(const struct client *c, struct buf *out) {
    client__hub_write_metrics(&((const struct client__http *)(const void *)c)->hub, out);
}

static const struct client_carrier carrier = {
    .write_metrics = write_metrics,
    .send = http_send,
    .cancel = cancel,
    .watch_start = client__http_watch_start,
    .watch_stop = client__http_watch_stop,
    .free = http_free,
};

struct client *client_http_new(const struct client_http_opts *opts, struct err *err) {
    struct client__http *h = xcalloc(1, sizeof *h);
    h->base = (struct client){.carrier = &carrier, .loop = opts->loop};
    h->opts = *opts;
    h->opts.timeout = opts->timeout > 0 ? opts->timeout : TIMEOUT;
    if (h->opts.timeout > LONGEST_TIMEOUT)
        h->opts.timeout = LONGEST_TIMEOUT;
    h->queue_end = &h->queue;
    h->bucket = h->events =
        (struct client__bucket){.tokens = most_of(h), .filled_at = net_loop_now(opts->loop)};
    h->chance = map_random_seed();
    h->pump = (struct net_deferred){.fn = pump, .arg = h};
    h->again = (struct net_timer){.fn = pump, .arg = h};
    if (client__hub_init(&h->hub, opts->loop, opts->access, opts->user_agent, &h->pump, err) < 0) {
        free(h);
        return NULL;
    }
    h->credentials = client__credentials_new(opts->loop, opts->access, pump, h);
    return &h->base;
}
