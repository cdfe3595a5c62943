/*
 * Requests to an API server as data: the one way in which components speak with it.
 *
 * A client has a carrier: the server in the same process, without encoding (client/local.h), or a
 * connection. Whichever it is, components see the same: a request is sent, and its answer comes in
 * a later turn of the client's loop; a watch tells events until it ends. Everything here belongs to
 * the thread of that loop.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "api/object.h"
#include "base/err.h"
#include "registry/registry.h"

struct buf;
struct client;
struct client_call;
struct client_watch;
struct workqueue;

/* The kind by which objects of a type are asked for: the first version of it; never NULL. */
const struct api_kind *client_kind(enum api_type_id type);

/* ---- requests ---- */

enum client_patch { CLIENT_PATCH_JSON, CLIENT_PATCH_MERGE, CLIENT_PATCH_STRATEGIC, CLIENT_APPLY };

/* Which objects of a kind. All texts may be empty. */
struct client_selection {
    struct str namespace; /* empty: all */
    struct str label_selector, field_selector;
    struct str resource_version; /* of a list: at least that old; of a watch: behind it */
    struct str continue_token;
    int64_t limit; /* 0: none */
};

/* Under which conditions and how an object is deleted; empty and unset: as the server does it. */
struct client_deletion {
    struct str uid, resource_version, propagation;
    struct api_opt_i64 grace_seconds;
};

/* What is asked. All but `object` is borrowed for the call of client_send. */
struct client_request {
    enum registry_verb verb;     /* but WATCH, which is client_watch_start */
    const struct api_kind *kind; /* NULL: GET of `path`, which is no object: /version */
    struct str path;             /* only a connection has it */
    const char *subresource;     /* NULL: the object itself */
    struct str namespace, name;  /* of a list: selection.namespace */
    struct api_object *object;   /* taken: what is created, or replaces what is there */
    enum client_patch patch_type;
    struct str patch; /* JSON */
    struct client_deletion deletion;
    struct client_selection selection; /* of lists and deletions of collections */
    struct str field_manager;          /* empty: by the user agent */
    bool force;                        /* of CLIENT_APPLY: conflicts are decided for this manager */
};

/* What came of it; borrowed for the call of client_answer_fn. */
struct client_answer {
    enum err_code code;              /* ERR_NONE: it was done */
    int status;                      /* of HTTP; 0: no server answered */
    struct str message;              /* why it was not done */
    int32_t retry_after;             /* seconds; 0: not said */
    const struct api_object *object; /* as it is now, or was last; NULL: the answer has none */
    const struct api_object *const *items; /* of a list */
    size_t item_count;
    struct str resource_version, continue_token; /* of a list */
    struct str text;                             /* of a path: the body as it came */
};

/* Is told what came of a request. */
typedef void client_answer_fn(void *arg, const struct client_answer *answer);

/* Sends a request; done(arg, answer) is called once, in a later turn of the loop, unless the call
 * is cancelled or the client freed before. */
struct client_call *client_send(struct client *c, const struct client_request *request,
                                client_answer_fn *done, void *arg);

/* Nobody waits for the answer any more; the request may have been executed. Not to be called after
 * the answer. */
void client_cancel(struct client_call *call);

/* ---- watches ---- */

enum client_event_type {
    CLIENT_ADDED,
    CLIENT_MODIFIED,
    CLIENT_DELETED,
    CLIENT_BOOKMARK,
    CLIENT_ENDED, /* nothing more will come: the time was over, the connection lost, or `code` */
};

/* What a watch tells; borrowed for the call. */
struct client_event {
    enum client_event_type type;
    const struct api_object *object; /* of the first three */
    uint64_t revision;               /* of a BOOKMARK: all up to here was told */
    bool ends_initial_events;        /* this BOOKMARK stands behind all that was there */
    enum err_code code;              /* of ENDED: why; ERR_EXPIRED: what was asked for is gone */
    struct str message;
};

/* Is told what a watch tells. */
typedef void client_event_fn(void *arg, const struct client_event *event);

/* Watches a kind. Without a resource version, all that is there is told first, up to a BOOKMARK
 * that says so. Events come in later turns of the loop until ENDED, or until it is stopped. */
struct client_watch *client_watch_start(struct client *c, const struct api_kind *kind,
                                        const struct client_selection *selection,
                                        client_event_fn *tell, void *arg);

/* Ends a watch. To be called once, also behind ENDED; not within `tell`. */
void client_watch_stop(struct client_watch *w);

/* ---- carriers ---- */

/* What a carrier must be able to do: the functions above. */
struct client_carrier {
    struct client_call *(*send)(struct client *c, const struct client_request *request,
                                client_answer_fn *done, void *arg);
    void (*cancel)(struct client_call *call);
    struct client_watch *(*watch_start)(struct client *c, const struct api_kind *kind,
                                        const struct client_selection *selection,
                                        client_event_fn *tell, void *arg);
    void (*watch_stop)(struct client_watch *w);
    void (*free)(struct client *c);
    /* Appends what it has counted; NULL: nothing. */
    void (*write_metrics)(const struct client *c, struct buf *out);
};

/* What every client begins with, and every call and watch. */
struct client {
    const struct client_carrier *carrier;
    struct net_loop *loop;    /* borrowed */
    struct workqueue *queues; /* that write through it, for their figures */
};

struct client_call {
    struct client *client;
};

struct client_watch {
    struct client *client;
};

/* Frees a client whose watches were stopped; answers that have not come yet do not come any more.
 * NULL is fine. */
void client_free(struct client *c);

/* The loop on which answers and events come. */
struct net_loop *client_loop(const struct client *c);

/* Appends the figures of a client and of the work queues that write through it, as Prometheus reads
 * them. */
void client_metrics_write(const struct client *c, struct buf *out);

#endif
