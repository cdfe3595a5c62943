/* Clients, whatever carries them. */
#include "client/client.h"

#include <assert.h>

#include "client/workqueue.h"

const struct api_kind *client_kind(enum api_type_id type) {
    const struct api_kind *kind = api_kinds;
    while (kind->kind && kind->type != &api_types[type])
        kind++;
    assert(kind->kind);
    return kind;
}

struct client_call *client_send(struct client *c, const struct client_request *request,
                                client_answer_fn *done, void *arg) {
    return c->carrier->send(c, request, done, arg);
}

void client_cancel(struct client_call *call) {
    call->client->carrier->cancel(call);
}

struct client_watch *client_watch_start(struct client *c, const struct api_kind *kind,
                                        const struct client_selection *selection,
                                        client_event_fn *tell, void *arg) {
    return c->carrier->watch_start(c, kind, selection, tell, arg);
}

void client_watch_stop(struct client_watch *w) {
    w->client->carrier->watch_stop(w);
}

void client_free(struct client *c) {
    if (c)
        c->carrier->free(c);
}

struct net_loop *client_loop(const struct client *c) {
    return c->loop;
}

void client_metrics_write(const struct client *c, struct buf *out) {
    if (c->carrier->write_metrics)
        c->carrier->write_metrics(c, out);
    workqueues_metrics_write(c->queues, out);
}
