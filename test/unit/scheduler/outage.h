/*
 * For tests of the scheduler: a client of a server that goes away and comes back. While it is away
 * requests have no answer and watches end; requests that are under way when it goes may have been
 * executed, though nobody is told.
 */
#ifndef TEST_SCHEDULER_OUTAGE_H
#define TEST_SCHEDULER_OUTAGE_H

#include "scene.h"

struct outage {
    struct client base;
    struct client *real;
    struct outage__watch *watches;
    bool loses_answers; /* of what is sent now: it is executed */
    bool is_away;
};

/* A request; `real` is under way, or NULL: the answer "no server" is. */
struct outage__call {
    struct client_call base;
    struct client_call *real;
    client_answer_fn *done; /* NULL: nobody waits */
    void *arg;
    bool is_lost;
};

struct outage__watch {
    struct client_watch base;
    struct client_watch *real; /* NULL: it has ended */
    bool is_stopped;
    bool is_posted; /* the end is on its way to be told */
    client_event_fn *tell;
    void *arg;
    struct outage__watch *next, **link;
};

static inline struct outage *outage__of(struct client *c) {
    return heap_entry(c, struct outage, base);
}

/* ---- requests ---- */

static inline void outage__no_answer(void *arg) {
    struct outage__call *c = arg;
    if (c->done)
        c->done(c->arg, &(struct client_answer){.code = ERR_UNAVAILABLE, .message = STR("gone")});
    free(c);
}

static inline void outage__answer(void *arg, const struct client_answer *answer) {
    struct outage__call *c = arg;
    if (c->is_lost) {
        outage__no_answer(c);
        return;
    }
    c->done(c->arg, answer);
    free(c);
}

static inline struct client_call *outage__send(struct client *client,
                                               const struct client_request *request,
                                               client_answer_fn *done, void *arg) {
    struct outage *o = outage__of(client);
    struct outage__call *c = xcalloc(1, sizeof *c);
    *c = (struct outage__call){.base = {client}, .done = done, .arg = arg};
    c->is_lost = o->loses_answers;
    if (!o->is_away) {
        c->real = client_send(o->real, request, outage__answer, c);
    } else {
        api_object_free(request->object);
        net_loop_post(client->loop, outage__no_answer, c);
    }
    return &c->base;
}

/* What is lost is executed whoever waits for it. */
static inline void outage__cancel(struct client_call *call) {
    struct outage__call *c = heap_entry(call, struct outage__call, base);
    c->done = NULL;
    if (c->real && !c->is_lost) {
        client_cancel(c->real);
        free(c);
    }
}

/* ---- watches ---- */

static inline void outage__watch_free(struct outage__watch *w) {
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    free(w);
}

static inline void outage__tell_end(void *arg) {
    struct outage__watch *w = arg;
    w->is_posted = false;
    if (w->is_stopped)
        outage__watch_free(w);
    else
        w->tell(w->arg, &(struct client_event){
                            .type = CLIENT_ENDED, .code = ERR_UNAVAILABLE, .message = STR("gone")});
}

static inline void outage__end_watch(struct outage__watch *w) {
    if (w->real)
        client_watch_stop(w->real);
    w->real = NULL;
    w->is_posted = true;
    net_loop_post(w->base.client->loop, outage__tell_end, w);
}

static inline struct client_watch *outage__watch_start(struct client *client,
                                                       const struct api_kind *kind,
                                                       const struct client_selection *selection,
                                                       client_event_fn *tell, void *arg) {
    struct outage *o = outage__of(client);
    struct outage__watch *w = xcalloc(1, sizeof *w);
    *w = (struct outage__watch){.base = {client}, .tell = tell, .arg = arg, .next = o->watches};
    w->link = &o->watches;
    if (w->next)
        w->next->link = &w->next;
    o->watches = w;
    if (o->is_away)
        outage__end_watch(w);
    else
        w->real = client_watch_start(o->real, kind, selection, tell, arg);
    return &w->base;
}

static inline void outage__watch_stop(struct client_watch *base) {
    struct outage__watch *w = heap_entry(base, struct outage__watch, base);
    w->is_stopped = true;
    if (w->real)
        client_watch_stop(w->real);
    w->real = NULL;
    if (!w->is_posted)
        outage__watch_free(w);
}

static const struct client_carrier outage__carrier = {.send = outage__send,
                                                      .cancel = outage__cancel,
                                                      .watch_start = outage__watch_start,
                                                      .watch_stop = outage__watch_stop};

/* ---- what tests do ---- */

static inline void outage_init(struct outage *o, struct scene *x) {
    *o = (struct outage){.base = {.carrier = &outage__carrier, .loop = x->w.loop},
                         .real = x->w.client};
}

/* Makes a scheduler whose server may go away, in the place of the one that was ended, with these
 * informers of o->base, which are taken. */
static inline void outage_begin_scheduler(struct scene *x, struct outage *o,
                                          struct informers *informers) {
    informers_free(x->w.informers);
    x->w.informers = informers;
    x->w.client = &o->base;
    scene_begin_scheduler(x);
    x->w.client = o->real;
}

/* The server goes: requests of the next few turns are executed, but nobody is told. */
static inline void outage_start(struct outage *o, unsigned turns) {
    o->loses_answers = true;
    for (struct outage__watch *w = o->watches; w; w = w->next)
        if (w->real)
            outage__end_watch(w);
    while (turns--)
        net_loop_turn(o->base.loop, 0);
    o->is_away = true;
}

static inline void outage_end(struct outage *o) {
    o->loses_answers = o->is_away = false;
}

#endif
