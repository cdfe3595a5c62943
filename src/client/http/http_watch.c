/*
 * Watches by HTTP. All that is there comes first with the watch itself (WatchList); a server that
 * refuses that is asked for lists, page by page, and for a watch behind them.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "client/http/http_int.h"
#include "client/http/watch_lines_int.h"
#include "client/lister.h"

/* A server is asked to end a watch after five to ten minutes, so that they spread over its
 * instances; one that has not ended so much later is not there any more. */
enum { WATCH_SECONDS = 300, LATE_SECONDS = 30 };

struct http_watch {
    struct client_watch base;
    struct arena arena; /* of what is asked */
    struct client__watching asked;
    struct client__message message;
    struct client__transfer transfer;
    struct client__waiting waiting;
    struct net_timer late;
    struct client__lines lines;
    struct client_lists lists; /* of the one below: what is there before the watch */
    struct client_list list;
    bool has_ended;
    client_event_fn *tell;
    void *arg;
};

static struct client__http *http_of(struct http_watch *w) {
    return client__http_of(w->base.client);
}

/* ---- the end ---- */

static void end(struct http_watch *w, enum err_code code, struct str message) {
    w->has_ended = true;
    net_timer_stop(w->base.client->loop, &w->late);
    w->tell(w->arg, &(struct client_event){.type = CLIENT_ENDED, .code = code, .message = message});
    client__transfer_stop(&w->transfer);
}

static void on_late(void *arg) {
    end(arg, ERR_TIMEOUT, STR("the server has not ended the watch in time"));
}

/* ---- events ---- */

static int on_line(void *arg, struct str line, struct err *err) {
    struct http_watch *w = arg;
    AUTO(arena_release) struct arena a = {0};
    struct client_event e;
    if (w->has_ended)
        return 0;
    if (client__event_read(&a, w->asked.kind, line, &e, err) < 0)
        return -1;
    if (e.type == CLIENT_ENDED)
        end(w, e.code, e.message);
    else
        w->tell(w->arg, &e);
    api_object_unref(e.object);
    return 0;
}

static void on_taken(struct client__transfer *t) {
    struct http_watch *w = heap_entry(t, struct http_watch, transfer);
    struct err err;
    struct buf got = t->got;
    if (t->status != 200 || w->has_ended)
        return; /* a failure is read when all of it is there */
    t->got = BUF_INIT(got.max);
    if (client__lines_feed(&w->lines, buf_view(&got), on_line, w, &err) < 0)
        end(w, ERR_INTERNAL, str_of(err.msg));
    buf_release(&got);
}

/* ---- a list before a watch ---- */

static void ask(struct http_watch *w);

static void tell_listed(void *arg, const struct api_object *o) {
    struct http_watch *w = arg;
    w->tell(w->arg, &(struct client_event){.type = CLIENT_ADDED, .object = o});
}

static void on_listed(void *arg) {
    struct http_watch *w = arg;
    struct str version = arena_str(&w->arena, buf_view(&w->list.version));
    int64_t revision = 0;
    if (w->list.failure.code || !str_to_i64(version, &revision)) {
        end(w, w->list.failure.code ? w->list.failure.code : ERR_INTERNAL,
            str_of(w->list.failure.msg));
        return;
    }
    client_list_take(&w->list, tell_listed, w);
    w->tell(w->arg, &(struct client_event){.type = CLIENT_BOOKMARK,
                                           .revision = (uint64_t)revision,
                                           .ends_initial_events = true});
    w->asked.selection.resource_version = version;
    ask(w);
}

/* Follows k8s.io/client-go tools/pager, func (*ListPager) ListWithAlloc. */
static void ask_list(struct http_watch *w) {
    w->asked.begins = false;
    w->list = (struct client_list){
        .kind = w->asked.kind, .selection = w->asked.selection, .is_whole_if_expired = true};
    w->lists = (struct client_lists){
        .client = w->base.client, .v = &w->list, .n = 1, .done = on_listed, .arg = w};
    client_lists_start(&w->lists);
}

/* ---- the watch itself ---- */

/* xorshift: when a watch ends matters to nobody. */
static int draw_seconds(struct client__http *h) {
    h->chance ^= h->chance << 13;
    h->chance ^= h->chance >> 7;
    h->chance ^= h->chance << 17;
    return WATCH_SECONDS + (int)(h->chance % WATCH_SECONDS);
}

static void ask(struct http_watch *w) {
    w->asked.seconds = draw_seconds(http_of(w));
    w->message = client__watch_message(&w->arena, &w->asked);
    client__http_queue(http_of(w), &w->waiting);
}

static void send_watch(struct client__waiting *waiting, const struct client__credential *as) {
    struct http_watch *w = heap_entry(waiting, struct http_watch, waiting);
    struct net_loop *loop = w->base.client->loop;
    net_timer_start(loop, &w->late,
                    net_loop_now(loop) + (w->asked.seconds + LATE_SECONDS) * CLOCK_SECOND);
    client__transfer_start(&w->transfer, &w->message, as, 0);
}

static void refuse_watch(struct client__waiting *waiting, const struct err *err) {
    end(heap_entry(waiting, struct http_watch, waiting), err->code, str_of(err->msg));
}

/* The server has answered with something else than events. */
static void on_failure(struct http_watch *w) {
    AUTO(arena_release) struct arena a = {0};
    const struct client__transfer *t = &w->transfer;
    struct client__reply reply = {t->status, buf_view(&t->got), t->retry_after};
    struct client__result r;
    if (t->status == 401)
        client__credentials_refused(http_of(w)->credentials);
    client__result_read(&a, REGISTRY_VERB_WATCH, w->asked.kind, &reply, &r);
    bool knows_no_lists = r.answer.code == ERR_UNPROCESSABLE || r.answer.code == ERR_INVALID;
    if (w->asked.begins && knows_no_lists)
        ask_list(w);
    else
        end(w, r.answer.code ? r.answer.code : ERR_INTERNAL, r.answer.message);
    client__result_release(&r);
}

static void on_over(struct client__transfer *t, CURLcode result) {
    struct http_watch *w = heap_entry(t, struct http_watch, transfer);
    net_timer_stop(w->base.client->loop, &w->late);
    if (t->status == 200)
        on_taken(t);
    if (w->has_ended)
        return;
    if (result != CURLE_OK)
        end(w, ERR_UNAVAILABLE, str_of(t->why));
    else if (t->status == 200)
        end(w, ERR_NONE, STR(""));
    else
        on_failure(w);
}

/* ---- the carrier's functions ---- */

static struct client_selection keep_selection(struct arena *a, const struct client_selection *s) {
    return (struct client_selection){
        .namespace = arena_str(a, s->namespace),
        .label_selector = arena_str(a, s->label_selector),
        .field_selector = arena_str(a, s->field_selector),
        .resource_version = arena_str(a, s->resource_version),
    };
}

struct client_watch *client__http_watch_start(struct client *c, const struct api_kind *kind,
                                              const struct client_selection *selection,
                                              client_event_fn *tell, void *arg) {
    struct http_watch *w = xcalloc(1, sizeof *w);
    w->base.client = c;
    w->tell = tell;
    w->arg = arg;
    w->asked = (struct client__watching){.kind = kind,
                                         .selection = keep_selection(&w->arena, selection),
                                         .begins = !selection->resource_version.n};
    w->transfer = (struct client__transfer){.hub = &client__http_of(c)->hub,
                                            .most = LIMIT_CLIENT_EVENT_BYTES * 4,
                                            .taken = on_taken,
                                            .over = on_over};
    w->waiting = (struct client__waiting){.send = send_watch, .refuse = refuse_watch};
    w->late = (struct net_timer){.fn = on_late, .arg = w};
    ask(w);
    return &w->base;
}

void client__http_watch_stop(struct client_watch *base) {
    struct http_watch *w = heap_entry(base, struct http_watch, base);
    client_lists_release(&w->lists);
    client__http_unqueue(http_of(w), &w->waiting);
    net_timer_stop(base->client->loop, &w->late);
    client__transfer_stop(&w->transfer);
    client__lines_release(&w->lines);
    arena_release(&w->arena);
    free(w);
}
