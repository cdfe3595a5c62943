/* What calls and watches of the carrier by HTTP share: when they may be sent. */
#ifndef CLIENT_HTTP_INT_H
#define CLIENT_HTTP_INT_H

#include "client/http.h"
#include "client/http/transfer_int.h"

/* Something that is to be sent, embedded in its owner; the functions are set once. */
struct client__waiting {
    bool is_limited; /* it counts among the requests of a second */
    /* Sends it now, with these credentials. */
    void (*send)(struct client__waiting *w, const struct client__credential *as);
    /* There are no credentials. */
    void (*refuse)(struct client__waiting *w, const struct err *err);
    struct client__waiting *next, **link; /* of the queue; link NULL: it does not wait */
};

struct client__http {
    struct client base;
    struct client_http_opts opts;
    struct client__hub hub;
    struct client__credentials *credentials;
    struct client__waiting *queue, **queue_end;
    double tokens;     /* requests that may be sent now */
    int64_t filled_at; /* when these were counted */
    struct net_deferred pump;
    struct net_timer again; /* when the next request may be sent */
    struct client__http_call *calls;
    uint64_t chance;
};

/* The client that a carrier's function was called with. */
struct client__http *client__http_of(struct client *c);

/* Has it sent as soon as it may; and takes it back, if it still waits. */
void client__http_queue(struct client__http *h, struct client__waiting *w);
void client__http_unqueue(struct client__http *h, struct client__waiting *w);

/* Watches: two functions of the carrier. */
struct client_watch *client__http_watch_start(struct client *c, const struct api_kind *kind,
                                              const struct client_selection *selection,
                                              client_event_fn *tell, void *arg);
void client__http_watch_stop(struct client_watch *w);

#endif
