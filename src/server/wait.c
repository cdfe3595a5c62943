/*
 * Reads of a revision that lies ahead: they wait for it, but not for long.
 *
 * Follows k8s.io/apiserver pkg/storage/cacher, func (*watchCache) waitUntilFreshLocked.
 */
#include "server/server_int.h"

/* As long as upstream's caches let somebody wait. */
#define WAIT_LONGEST (3 * CLOCK_SECOND)

bool server__is_ahead(const struct registry_failure *f) {
    return f->code == ERR_TIMEOUT && f->further_count == 1 &&
           str_is(f->further[0].reason, "ResourceVersionTooLarge");
}

static void unlink_call(struct server__call *c) {
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    c->link = NULL;
    c->next = NULL;
    __atomic_store_n(&c->worker->waits, c->worker->waiting != NULL, __ATOMIC_RELEASE);
    net_timer_stop(c->worker->loop, &c->deadline);
    net_exchange_listen(c->x, &server__not_waiting, NULL);
}

/* The revision is there, or the time is over: what is said now is said for good. */
static void go_on(struct server__call *c) {
    unlink_call(c);
    c->has_waited = true;
    if (c->r.verb == REGISTRY_VERB_WATCH)
        server__watch(c);
    else
        server__read(c);
}

static void on_time(void *arg) {
    go_on(arg);
}

static void on_closed(struct net_exchange *x, void *arg) {
    struct server__call *c = arg;
    (void)x;
    unlink_call(c);
    server__call_drop(c);
}

static const struct net_exchange_events while_waiting = {.closed = on_closed};

/* The number is one: it was compared with the store's. */
static uint64_t number_of(struct str text) {
    uint64_t v = 0;
    for (size_t i = 0; i < text.n; i++)
        v = v * 10 + (uint64_t)(text.p[i] - '0');
    return v;
}

void server__wait(struct server__call *c) {
    struct server__worker *w = c->worker;
    int64_t latest = net_loop_now(w->loop) + WAIT_LONGEST;
    c->revision = number_of(c->r.options.resource_version);
    c->next = w->waiting;
    c->link = &w->waiting;
    if (c->next)
        c->next->link = &c->next;
    w->waiting = c;
    __atomic_store_n(&w->waits, true, __ATOMIC_RELEASE);
    net_exchange_listen(c->x, &while_waiting, c);
    c->deadline = (struct net_timer){.fn = on_time, .arg = c};
    net_timer_start(w->loop, &c->deadline, c->due && c->due < latest ? c->due : latest);
    if (c->revision <= store_revision(w->s->opts.store)) /* nobody need tell of it any more */
        go_on(c);
}

void server__read(struct server__call *c) {
    apiserver_response_release(&c->response);
    apiserver_read(c->s->opts.api, &c->r, &c->response);
    bool is_ahead =
        c->response.answer == APISERVER_FAILURE && server__is_ahead(&c->response.failure);
    if (is_ahead && !c->has_waited)
        server__wait(c);
    else
        server__answer(c);
}

void server__wait_news(struct server__worker *w) {
    if (!w->waiting)
        return;
    uint64_t revision = store_revision(w->s->opts.store);
    for (struct server__call *c = w->waiting, *next; c; c = next) {
        next = c->next;
        if (c->revision <= revision)
            go_on(c);
    }
}
