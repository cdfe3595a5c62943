/* What is answered beside what is stored: ways to whatever runs, and keys of tokens. */
#ifndef SERVER_ASIDE_INT_H
#define SERVER_ASIDE_INT_H

#include "server/server_int.h"

/* ---- who.c ---- */

/* Might whoever asks do the same with this verb? *reason tells what the rules say. */
bool server__may(struct server__call *c, struct str verb, struct str *reason);

/* ---- connecting.c ---- */

/* Answers a request to be led to something that runs; false: it is none. */
bool server__connect(struct server__call *c);

/* ---- container_log.c ---- */

/* What of a log is wanted, and how. */
struct server__log_options {
    bool follow, timestamps;
    bool has_output;                /* of the output, and not of errors alone */
    struct api_opt_i64 tail, limit; /* lines and bytes */
    int64_t since;                  /* wall time in nanoseconds */
};

/* Answers with a log, whose texts live in the call's arena, and takes the call. */
void server__log(struct server__call *c, const struct server__log_options *options,
                 const struct apiserver_stream *stream, const struct apiserver_log *log);

/* There are news, a bit for each stored resource: if pods have changed, what containers print may
 * have, too. */
void server__log_news(struct server__worker *w, const uint64_t *news);

/* ---- openid.c ---- */

/* Answers with a document by which others verify tokens; false: the path is none. */
bool server__openid(struct server__call *c);

#endif
