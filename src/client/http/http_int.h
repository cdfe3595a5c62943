/* What calls and watches of the carrier by HTTP share: when they may be sent. */
#ifndef CLIENT_HTTP_INT_H
#define CLIENT_HTTP_INT_H

#include "client/http.h"
#include "client/http/transfer_int.h"

/* Something that is to be sent, embedded in its owner; the functions are set once. */
struct client__waiting {
    struct client__bucket *bucket; /* that it takes of; NULL: it may be sent at any time */
    /* Sends it now, with these credentials. */
    void (*send)(struct client__waiting *w, const struct client__credential *as);
    /* There are no credentials. */
    void (*refuse)(struct client__waiting *w, const struct err *err);
    struct client__waiting *next, **link; /* of the queue; link NULL: it does not wait */
};

/* Requests that may be sent now, as the time since the last ones has brought them. */
struct client__bucket {
    double tokens;
    int64_t filled_at; /* when these were counted */
    bool is_empty;     /* was found so in this turn */
};

struct client__http {
    struct client base;
    struct client_http_opts opts;
    struct client__hub hub;
    struct client__credentials *credentials;
    struct client__waiting *queue, **queue_end;
    struct client__bucket bucket, events; /* of all requests but events, and of these */
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
