/* What the files of this module share. */
#ifndef SERVER_SERVER_INT_H
#define SERVER_SERVER_INT_H

#include <pthread.h>

#include "auth/rbac.h"
#include "auth/review.h"
#include "base/ascii.h"
#include "openapi/openapi.h"
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
    struct server__stream *streams; /* the watches of this thread */
    uint64_t news[LIMIT_STORE_RESOURCES / 64]; /* atomic: resources that have new events */
    bool posted;                               /* atomic: the loop will look at the news */
};

struct server {
    struct server_opts opts;
    struct net_server *net;
    struct server__worker *workers;
    size_t worker_count;

    /* of the core's thread */
    struct server__call *written, **written_end; /* calls of the open batch */
    struct net_deferred commit;                  /* at the end of the turn */
    struct auth_rbac *rbac;
    uint64_t rbac_read[4]; /* how far the logs of roles and bindings were read */
    struct net_timer expiry;
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
    struct apiserver_request r;
    struct apiserver_response response;
    struct api_strs warnings;
    struct server__call *next;
};

/* ---- call.c ---- */

/* Takes a request that has come in. */
void server__request(void *self, struct net_exchange *x);

/* Frees a call whose answer was given. */
void server__call_free(struct server__call *c);

/* ---- who.c ---- */

/* Finds out who asks and whether they may; fills the call's user. */
struct registry_failure server__identify(struct server__call *c);

/* Might whoever asks do the same with this verb? *reason tells what the rules say. */
bool server__may(struct server__call *c, struct str verb, struct str *reason);

/* ---- connect.c ---- */

/* Answers a request to be led to something that runs; false: it is none. */
bool server__connect(struct server__call *c);

/* ---- payload.c ---- */

/* Reads the body into the request: an object, a patch or options. False: it was refused and the
 * answer given. */
bool server__body_read(struct server__call *c, struct str body);

/* ---- answer.c ---- */

/* Answers and frees the call. */
void server__answer(struct server__call *c);
void server__answer_failure(struct server__call *c, struct registry_failure failure);
void server__answer_text(struct server__call *c, int status, struct str text);
void server__answer_json(struct server__call *c, int status, const struct json *tree);

/* Objects as a Table. */
struct server__table {
    struct str meta; /* the members of its metadata, in JSON */
    const struct api_object *const *objects;
    size_t n;
    bool has_columns; /* later tables of a watch have none */
};
void server__table_write(struct server__call *c, struct buf *b, const struct server__table *t);

/* ---- stream.c ---- */

/* Begins a watch and takes the call. */
void server__watch(struct server__call *c);

/* Tells the streams of a worker of news; posted to its loop. */
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

/* ---- openid.c ---- */

/* Answers with a document by which others verify tokens; false: the path is none. */
bool server__openid(struct server__call *c);

/* ---- documents.c ---- */

/* Answers with a document of discovery. */
void server__discovery(struct server__call *c);

/* Answers with an OpenAPI document; false: the path is none. */
bool server__documents(struct server__call *c);

#endif
