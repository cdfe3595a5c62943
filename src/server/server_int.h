/* What the files of this module share. */
#ifndef SERVER_SERVER_INT_H
#define SERVER_SERVER_INT_H

#include <pthread.h>

#include "auth/rbac.h"
#include "auth/review.h"
#include "base/ascii.h"
#include "feature/feature.h"
#include "openapi/openapi.h"
#include "server/account_int.h"
#include "server/media.h"
#include "server/query.h"
#include "server/route.h"
#include "server/server.h"

/* A thread with a loop and its connections. Belongs to that thread but for `news` and `posted`. */
struct server__worker {
    struct server *s;
    struct net_loop *loop;
    pthread_t thread;
    const struct auth_rules *rules; /* held: what everybody may do, as the core told it last */
    struct openapi *openapi;        /* documents that were made here */
    struct buf index;               /* the answer to /, when it was asked for */
    struct server__stream *streams; /* the watches of this thread */
    struct server__log *logs;       /* those that are followed on this thread */
    struct server__call *waiting;   /* reads of a revision that lies ahead */
    struct server_counts *counts;   /* what was counted here; read by others too */
    struct log_limit refusals;      /* lines about refusals */
    uint64_t chance;                /* of identifiers of requests, which nobody need guess */
    uint32_t interested[LIMIT_STORE_RESOURCES]; /* streams and followed logs of each resource */
    /* atomic, and read by who tells of news: a thread that is not interested is not woken. They are
     * set before the store is looked at, so what comes meanwhile is either seen there or told. */
    uint64_t interest[LIMIT_STORE_RESOURCES / 64]; /* resources that somebody is interested in */
    bool waits;                                    /* there are calls that wait */
    uint64_t news[LIMIT_STORE_RESOURCES / 64];     /* resources that have new events */
    bool posted;                                   /* the loop will look at the news */
};

struct server {
    struct server_opts opts;
    struct net_server *net;
    struct server__worker *workers;
    size_t worker_count;
    char public_address[64]; /* host and port for clients, once it listens */

    /* of the core's thread */
    struct auth_rbac *rbac;
    uint64_t rbac_read[4]; /* how far the logs of roles and bindings were read */

    bool has_roles;   /* those that every cluster has were stored and read */
    bool is_stopping; /* atomic: whoever asks whether the server is ready is told that it is not */
    struct net_timer stopping;
    int64_t grace;
    struct server_inflight inflight;    /* of all threads */
    struct server_audit_policy *policy; /* NULL: nothing is audited */
    struct server_audit_log *audit_log; /* NULL likewise */
    int64_t started;                    /* wall time */
};

/* A request on its way, from its head to its answer. Belongs to its worker's thread, and to the
 * core's while it is posted there. */
struct server__call {
    struct server *s;
    struct server__worker *worker;
    struct net_exchange *x;
    struct arena arena;
    struct server_route route;
    struct server_query query;
    struct server_media media;
    struct auth_user user;
    struct str selected;    /* the only name that a list or watch asks for by its selector */
    struct auth_user asker; /* who wants to be `user`; without a name: nobody else does */
    struct server__account account;
    struct net_timer deadline;
    int64_t due;        /* the loop's time at which it is over; 0: never */
    bool has_verb;      /* the method is known, and r.verb says what it asks for */
    bool is_acceptable; /* something that the client accepts can be made of the answer */
    bool has_handler;   /* the types fit: it has come to what warns of deprecated kinds */
    bool is_refused;    /* by who asks: nobody counts it */
    bool is_with_core;  /* posted there, and not back */
    bool is_late;       /* the deadline has answered; the core has the call still */
    bool has_waited;    /* for `revision` */
    uint64_t revision;  /* that a read waits for */
    struct server__call *next, **link; /* in the worker's list of those who wait */
    struct apiserver_request r;
    struct apiserver_response response;
    struct api_strs warnings;
    struct apiserver_job job; /* while it is with the core */
};

/* ---- call.c ---- */

/* Takes a request that has come in. */
void server__request(void *self, struct net_exchange *x);

/* Frees a call whose answer was given. */
void server__call_free(struct server__call *c);

/* Frees a call whose peer has gone before its answer. */
void server__call_drop(struct server__call *c);

/* Stops to listen for what happens to the exchange. */
void server__call_detach(struct server__call *c);
extern const struct net_exchange_events server__not_waiting;

/* The failures of what a resource, or the whole server, does not have. */
struct registry_failure server__no_method(void);

/* The failure of a request whose Accept header has none of these types, for what go-restful
 * serves. */
struct registry_failure server__not_available(struct arena *a, const char *types);

/* The failure of a request whose Accept header leaves nothing that the handler can write. */
struct registry_failure server__not_acceptable(const struct server__call *c);

/* ---- who.c ---- */

/* Finds out who asks and whether they may; fills the call's user. */
struct registry_failure server__identify(struct server__call *c);

/* What is asked, as a question to the rules; texts live in the call's arena or longer. */
struct auth_attributes server__question(struct server__call *c);

/* ---- payload.c ---- */

/* Reads the options of the request's verb from its query. */
struct registry_failure server__options_read(struct server__call *c);

/* Reads the body into the request: an object, a patch or options. False: it was refused and the
 * answer given. */
bool server__body_read(struct server__call *c, struct str body);

/* ---- respond.c ---- */

enum { SERVER__HEADERS_MOST = 8 };

struct server__headers {
    struct net_header v[SERVER__HEADERS_MOST + API_MOST_FAULTS];
    size_t n;
};

/* The headers that every answer has: its type, how it may be cached, Audit-Id and warnings. */
void server__headers_start(struct server__call *c, struct server__headers *h, struct str type);
void server__header_add(struct server__headers *h, const char *name, struct str value);

/* Gives another value to a header that is there. */
void server__header_set(struct server__headers *h, const char *name, struct str value);

/* Answers with bytes as they are, but for compression, and frees the call. What of the parts has a
 * release is taken. */
void server__respond(struct server__call *c, int status, struct server__headers *h,
                     struct net_part *parts, size_t n);

/* Answers with JSON, or with what the client wants to have made of it: for people, or YAML. */
void server__respond_json(struct server__call *c, int status, struct server__headers *h,
                          struct net_part *parts, size_t n);

/* The text up to so many characters. */
struct str server__cut(struct str text, size_t most);

/* ---- packed.c ---- */

/* The same in gzip, over as many turns as it takes. Parts without release are borrowed for the call
 * if there is one, and live in the call's arena if there are more. */
void server__pack(struct server__call *c, int status, struct server__headers *h,
                  const struct net_part *parts, size_t n);

/* ---- deadline.c ---- */

/* Reads how long the request may take. */
struct registry_failure server__deadline_read(struct server__call *c);

/* The call waits: for its body, or, written, for the core. */
void server__deadline_start(struct server__call *c);
void server__deadline_write(struct server__call *c);
void server__deadline_stop(struct server__call *c);

/* ---- wait.c ---- */

/* Executes a read; one of a revision that lies ahead waits for it, but not for long. */
void server__read(struct server__call *c);

/* Is it refused because its revision lies ahead? Then it can wait, once. */
bool server__is_ahead(const struct registry_failure *f);
void server__wait(struct server__call *c);

/* Looks after those who wait, when there are news. */
void server__wait_news(struct server__worker *w);

/* ---- encoded.c ---- */

/* The bytes of an object in JSON or protobuf, which hang at it for those who come later; the caller
 * has a reference. */
struct api_bytes *server__encoded(struct server__call *c, const struct api_object *o,
                                  bool is_proto);

/* A part of these bytes, whose reference is taken. */
struct net_part server__bytes_part(struct api_bytes *bytes, struct str part);

/* ---- answer.c ---- */

/* Answers and frees the call. */
void server__answer(struct server__call *c);
void server__answer_failure(struct server__call *c, struct registry_failure failure);
void server__answer_text(struct server__call *c, int status, struct str text);
void server__answer_json(struct server__call *c, int status, const struct json *tree);

/* The Status of a failure as an object; the caller has a reference. */
const struct api_object *server__status_object(struct arena *a, const struct registry_failure *f);

/* Objects as a Table. */
struct server__table {
    struct str meta; /* the members of its metadata, in JSON */
    const struct api_object *const *objects;
    size_t n;
    bool has_columns; /* later tables of a watch have none */
};

/* Refuses options of a table that nobody knows, if a table is asked for. */
struct registry_failure server__table_options(struct server__call *c);

/* Writes a table. */
void server__table_write(struct server__call *c, struct buf *b, const struct server__table *t);

/* ---- stream.c ---- */

/* Begins a watch and takes the call. */
void server__watch(struct server__call *c);

/* One more, or one less, is interested in news of what is stored as this resource. What came before
 * it was counted is not told. */
void server__count_interest(struct server__worker *w, uint32_t resource, int by);

/* Tells the streams, followed logs and waiting calls of a worker of news; posted to its loop. */
void server__stream_news(void *worker);

/* ---- core.c ---- */

/* Posts a call to the core, which executes it and posts it back. */
void server__submit(struct server__call *c);

/* Starts what the core does on its own: rules, expiry. And ends it. */
void server__core_start(struct server *s);
void server__core_stop(struct server *s);

/* ---- special.c ---- */

/* Answers what is neither a resource nor discovery, or is not served at all. */
void server__special(struct server__call *c);

/* 404 page not found. */
void server__answer_nothing(struct server__call *c);

/* ---- health.c ---- */

/* Answers /healthz, /livez, /readyz and their checks; false: the path is none of them. */
bool server__health(struct server__call *c);

/* Adds these paths to an array. */
void server__health_paths(struct arena *a, struct json *out);

/* ---- figures.c ---- */

/* Answers /metrics. */
void server__figures(struct server__call *c);

/* ---- documents.c ---- */

/* Answers with a document of discovery. */
void server__discovery(struct server__call *c);

/* Answers with an OpenAPI document; false: the path is none. */
bool server__documents(struct server__call *c);

/* Appends a document of discovery, which is given in JSON, in protobuf. */
void server__discovery_proto(struct buf *out, const struct json *tree);

#endif
