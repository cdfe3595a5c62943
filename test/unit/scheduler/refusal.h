/* For tests of the scheduler: a client that refuses some requests before the server sees them. */
#ifndef TEST_SCHEDULER_REFUSAL_H
#define TEST_SCHEDULER_REFUSAL_H

#include "scene.h"

struct refusal {
    struct client base;
    struct client *real;
    enum registry_verb verb; /* which requests */
    const char *subresource; /* of these; NULL: of objects themselves */
    enum err_code code;      /* of the answer */
    int times;               /* that it refuses */
    int seen;
};

/* A request that was refused; its answer is on the way. */
struct refusal__call {
    struct client_call base;
    client_answer_fn *done;
    void *arg;
};

static inline void refusal__answer(void *arg) {
    struct refusal__call *c = arg;
    const struct refusal *r = heap_entry(c->base.client, struct refusal, base);
    if (c->done)
        c->done(c->arg, &(struct client_answer){.code = r->code,
                                                .status = err_http_status(r->code),
                                                .message = STR("not now")});
    free(c);
}

static inline void refusal__cancel(struct client_call *call) {
    heap_entry(call, struct refusal__call, base)->done = NULL;
}

static inline bool refusal__is_meant(const struct refusal *r, const struct client_request *q) {
    if (q->verb != r->verb || !q->subresource != !r->subresource)
        return false;
    return !q->subresource || strcmp(q->subresource, r->subresource) == 0;
}

static inline struct client_call *refusal__send(struct client *client,
                                                const struct client_request *request,
                                                client_answer_fn *done, void *arg) {
    struct refusal *r = heap_entry(client, struct refusal, base);
    if (!refusal__is_meant(r, request) || ++r->seen > r->times)
        return client_send(r->real, request, done, arg);
    struct refusal__call *c = xcalloc(1, sizeof *c);
    *c = (struct refusal__call){{client}, done, arg};
    api_object_free(request->object);
    net_loop_post(client->loop, refusal__answer, c);
    return &c->base;
}

static const struct client_carrier refusal__carrier = {.send = refusal__send,
                                                       .cancel = refusal__cancel};

/* The scheduler, but not its informers and events, speaks through it from now on; and it through
 * what was there before. */
static inline void refusal_start(struct scene *x, struct refusal *r) {
    r->base = (struct client){.carrier = &refusal__carrier, .loop = x->w.loop};
    r->real = x->s->client;
    x->s->client = &r->base;
}

#endif
